//! Reads tar archives: POSIX (ustar and pax) and GNU.

use std::io::{self, Read};

use skillfold_core::{Error, Refusal};

use crate::archive::unpacking::{CHUNK_BYTES, Kind, Unpacking};

const BLOCK_BYTES: usize = 512;
/// Maximum size of an extension header, so that it fits in memory; the longest path takes 4 KiB.
const MAX_EXTENSION_BYTES: u64 = 64 << 10;

/// Returns whether the bytes start with a tar header.
pub(super) fn is_tar(bytes: &[u8]) -> bool {
    bytes.get(257..262) == Some(b"ustar")
}

/// Reads a tar archive from a stream.
pub(super) fn read(stream: &mut dyn Read, unpacking: &mut Unpacking<'_>) -> Result<(), Error> {
    let mut reader = Reader { stream, unpacking };
    let mut extension: Option<Extension> = None;
    let mut is_first = true;
    while let Some(header) = reader.header()? {
        match header.kind() {
            kind @ (b'x' | b'L' | b'K') => {
                if extension.is_some() {
                    let problem =
                        "has two extension headers, which programs understand differently";
                    return Err(reader.unpacking.invalid(problem));
                }
                let bytes = reader.extension(&header)?;
                extension = Some(match kind {
                    b'x' => reader.pax(&bytes)?,
                    b'L' => Extension::long_name(&bytes),
                    _ => Extension::LINK,
                });
            }
            b'g' if is_first => {
                let bytes = reader.extension(&header)?;
                reader.check_global(&bytes)?;
            }
            _ => reader.entry(&header, extension.take().unwrap_or_default())?,
        }
        is_first = false;
    }
    if extension.is_some() {
        let problem = "is only an extension header; the archive may be cut off";
        return Err(reader.unpacking.invalid(problem));
    }
    reader.finish()
}

/// What an extension header says about the entry after it.
#[derive(Default)]
struct Extension {
    path: Option<Vec<u8>>,
    size: Option<u64>,
    /// What the entry is, if it is no file or folder.
    unwanted: Option<(Refusal, &'static str)>,
}

impl Extension {
    const LINK: Self = Self {
        path: None,
        size: None,
        unwanted: Some((Refusal::Link, "a link")),
    };

    /// Reads a GNU header with a name. The zero at its end may be missing.
    fn long_name(bytes: &[u8]) -> Self {
        Self {
            path: Some(bytes.strip_suffix(&[0]).unwrap_or(bytes).to_vec()),
            ..Self::default()
        }
    }
}

struct Reader<'r, 'a> {
    stream: &'r mut dyn Read,
    unpacking: &'r mut Unpacking<'a>,
}

impl Reader<'_, '_> {
    /// Reads the next header, if this is not the end.
    fn header(&mut self) -> Result<Option<Header>, Error> {
        let mut header = Header([0; BLOCK_BYTES]);
        self.fill(&mut header.0)?;
        if header.0.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        if !header.has_known_format() {
            return Err(self.unpacking.invalid("has an unknown tar header"));
        }
        if header.checksum() != Some(header.sum()) {
            let problem = "has a header with a wrong checksum";
            return Err(self.unpacking.invalid(problem));
        }
        Ok(Some(header))
    }

    /// Reads the content of an extension header.
    fn extension(&mut self, header: &Header) -> Result<Vec<u8>, Error> {
        let Some(size @ 1..=MAX_EXTENSION_BYTES) = header.size() else {
            let problem = "has an extension header that is empty, malformed or longer than 64 KiB";
            return Err(self.unpacking.invalid(problem));
        };
        self.content(size)
    }

    fn pax(&self, bytes: &[u8]) -> Result<Extension, Error> {
        let mut extension = Extension::default();
        for (key, value) in self.pax_records(bytes)? {
            match key {
                "path" => extension.path = Some(value.to_vec()),
                "size" => {
                    let size = str::from_utf8(value).ok().and_then(decimal);
                    let problem = "has a pax header with a malformed size";
                    extension.size = Some(size.ok_or_else(|| self.unpacking.invalid(problem))?);
                }
                "linkpath" => extension.unwanted = Extension::LINK.unwanted,
                key if key.starts_with("GNU.sparse.") => {
                    extension.unwanted = Some((Refusal::NotAFile, "a sparse file"));
                }
                key if is_ignored(key) => {}
                key => {
                    let problem = format!("has a pax header with the unknown key `{key}`");
                    return Err(self.unpacking.invalid(&problem));
                }
            }
        }
        Ok(extension)
    }

    /// `git archive` writes the commit in a global header at the start. Any other could rename what follows.
    fn check_global(&self, bytes: &[u8]) -> Result<(), Error> {
        let is_comment = |(key, _): &(&str, &[u8])| *key == "comment";
        if !self.pax_records(bytes)?.iter().all(is_comment) {
            let problem = "has a global pax header with more than a comment";
            return Err(self.unpacking.invalid(problem));
        }
        Ok(())
    }

    fn pax_records<'b>(&self, bytes: &'b [u8]) -> Result<Vec<(&'b str, &'b [u8])>, Error> {
        let mut records: Vec<(&str, &[u8])> = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let record = pax_record(rest).filter(|(key, _, _)| {
                let is_repeated = records.iter().any(|(known, _)| known == key);
                !is_repeated
            });
            let Some((key, value, after)) = record else {
                let problem = "has a pax header that is malformed or repeats a key";
                return Err(self.unpacking.invalid(problem));
            };
            records.push((key, value));
            rest = after;
        }
        Ok(records)
    }

    /// Reads a file or folder.
    fn entry(&mut self, header: &Header, extension: Extension) -> Result<(), Error> {
        let name = extension.path.unwrap_or_else(|| header.name());
        self.unpacking.enter(&name);
        let kind = match (extension.unwanted, header.kind()) {
            (None, b'0' | 0) => Kind::File,
            (None, b'5') => Kind::Folder,
            (unwanted, kind) => {
                let (refusal, noun) = unwanted.unwrap_or_else(|| describe(kind));
                return Err(self.unpacking.unwanted(refusal, noun));
            }
        };
        let Some(size) = header.size() else {
            return Err(self.unpacking.invalid("has a malformed size"));
        };
        if extension.size.is_some_and(|other| other != size) {
            let problem = "has two different sizes in its headers";
            return Err(self.unpacking.invalid(problem));
        }
        if kind == Kind::Folder && size != 0 {
            return Err(self.unpacking.invalid("is a folder with content"));
        }
        let path = self.unpacking.check(&name, kind)?;
        let content = self.content(size)?;
        if let Some(path) = path {
            let content = (kind == Kind::File).then_some(content);
            self.unpacking.entries.insert(path, content);
        }
        self.unpacking.place = format!("the entry after {}", self.unpacking.place);
        Ok(())
    }

    /// Reads content and the zeros that fill its last block. Memory grows with what is there, not with what the header
    /// claims.
    fn content(&mut self, size: u64) -> Result<Vec<u8>, Error> {
        self.unpacking.check_room(size)?;
        let mut content = Vec::new();
        let mut left = size;
        let mut chunk = [0; CHUNK_BYTES];
        while left > 0 {
            let length = usize::try_from(left).map_or(CHUNK_BYTES, |left| left.min(CHUNK_BYTES));
            self.fill(&mut chunk[..length])?;
            content.extend_from_slice(&chunk[..length]);
            left -= length as u64;
        }
        content.shrink_to_fit();
        let padding = &mut chunk[..content.len().next_multiple_of(BLOCK_BYTES) - content.len()];
        self.fill(padding)?;
        if padding.iter().any(|byte| *byte != 0) {
            let problem = "has data hidden after its content";
            return Err(self.unpacking.invalid(problem));
        }
        Ok(content)
    }

    /// Reads to the end, where only zeros may be: the second of the two blocks that end an archive, and what fills the
    /// last record.
    fn finish(&mut self) -> Result<(), Error> {
        "the end of the archive".clone_into(&mut self.unpacking.place);
        let mut block = [0; BLOCK_BYTES];
        self.fill(&mut block)?;
        loop {
            if block.iter().any(|byte| *byte != 0) {
                return Err(self.unpacking.invalid("has data after it"));
            }
            match self.fill_or_end(&mut block)? {
                0 => return Ok(()),
                BLOCK_BYTES => {}
                _ => return Err(self.unpacking.invalid("is cut off")),
            }
        }
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Error> {
        let length = self.fill_or_end(buffer)?;
        if length == buffer.len() {
            return Ok(());
        }
        Err(self.unpacking.invalid("is cut off"))
    }

    /// Fills the buffer as far as the stream goes, and counts what came.
    fn fill_or_end(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut length = 0;
        while length < buffer.len() {
            match self.stream.read(&mut buffer[length..]) {
                Ok(0) => break,
                Ok(read) => {
                    length += read;
                    self.unpacking.grow(read as u64)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Err(self.unpacking.invalid("is cut off"));
                }
                Err(_) => {
                    let problem =
                        "cannot be read: the gzip data is damaged, or other data follows it";
                    return Err(self.unpacking.invalid(problem));
                }
            }
        }
        Ok(length)
    }
}

/// A tar header. The fields are those of POSIX; GNU has no prefix.
struct Header([u8; BLOCK_BYTES]);

impl Header {
    fn has_known_format(&self) -> bool {
        // Some old writers put times where POSIX has the end of the prefix, and mark that by `tar` at the end.
        self.is_posix() && self.0[500..].iter().all(|byte| *byte == 0)
            || self.0[257..265] == *b"ustar  \0"
    }

    fn is_posix(&self) -> bool {
        self.0[257..265] == *b"ustar\x0000"
    }

    fn kind(&self) -> u8 {
        self.0[156]
    }

    fn size(&self) -> Option<u64> {
        octal(&self.0[124..136])
    }

    fn checksum(&self) -> Option<u64> {
        octal(&self.0[148..156])
    }

    /// Returns the sum of the header's bytes, where those of the checksum itself count as spaces.
    fn sum(&self) -> u64 {
        let bytes = self.0.iter().enumerate();
        bytes
            .map(|(at, byte)| match at {
                148..156 => u64::from(b' '),
                _ => u64::from(*byte),
            })
            .sum()
    }

    fn name(&self) -> Vec<u8> {
        let name = until_zero(&self.0[..100]);
        let prefix = until_zero(&self.0[345..500]);
        if self.is_posix() && !prefix.is_empty() {
            return [prefix, b"/", name].concat();
        }
        name.to_vec()
    }
}

fn until_zero(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Reads an octal number: leading spaces, digits, then only spaces and zeros. Numbers in binary, for sizes over 8 GiB,
/// are none.
fn octal(field: &[u8]) -> Option<u64> {
    let field = field.trim_ascii_start();
    let end = field.iter().position(|byte| !(b'0'..=b'7').contains(byte));
    let (digits, rest) = field.split_at(end.unwrap_or(field.len()));
    if !rest.iter().all(|byte| matches!(byte, b' ' | 0)) {
        return None;
    }
    u64::from_str_radix(str::from_utf8(digits).ok()?, 8).ok()
}

fn decimal(text: &str) -> Option<u64> {
    // `parse` would accept a sign.
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

/// Reads one `length key=value` with its line break. Returns the key, the value and what follows.
fn pax_record(bytes: &[u8]) -> Option<(&str, &[u8], &[u8])> {
    let space = bytes.iter().position(|byte| *byte == b' ')?;
    let length = str::from_utf8(&bytes[..space]).ok().and_then(decimal)?;
    let (record, after) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    let body = record.get(space + 1..)?.strip_suffix(b"\n")?;
    // Some programs read lines and not lengths.
    if body.contains(&b'\n') {
        return None;
    }
    let equals = body.iter().position(|byte| *byte == b'=')?;
    let key = str::from_utf8(&body[..equals]).ok()?;
    Some((key, &body[equals + 1..], after))
}

/// Returns whether a pax key is about times, owners, attributes or the writer's disk.
fn is_ignored(key: &str) -> bool {
    let attributes = ["SCHILY.xattr.", "LIBARCHIVE.xattr."];
    matches!(
        key,
        "mtime" | "atime" | "ctime" | "uid" | "gid" | "uname" | "gname" | "comment"
    ) || matches!(
        key,
        "LIBARCHIVE.creationtime" | "SCHILY.dev" | "SCHILY.ino" | "SCHILY.nlink" | "SCHILY.fflags"
    ) || attributes.iter().any(|prefix| key.starts_with(prefix))
}

/// Returns what an entry is that is no file or folder.
fn describe(kind: u8) -> (Refusal, &'static str) {
    match kind {
        b'1' => (Refusal::Link, "a hard link"),
        b'2' => (Refusal::Link, "a symbolic link"),
        b'3' | b'4' => (Refusal::NotAFile, "a device"),
        b'6' => (Refusal::NotAFile, "a named pipe"),
        b'S' => (Refusal::NotAFile, "a sparse file"),
        b'g' => (
            Refusal::NotAFile,
            "a global header, which is accepted only at the start",
        ),
        _ => (Refusal::NotAFile, "an entry of unknown kind"),
    }
}
