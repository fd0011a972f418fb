//! Reads zip archives.
//!
//! Programs differ in whether they believe the central directory, the header before each entry, or the descriptor behind
//! it. So all of them must agree, and together they must cover every byte of the archive.

use flate2::{Crc, Decompress, FlushDecompress, Status};
use skillfold_core::{Error, Refusal};

use crate::archive::unpacking::{CHUNK_BYTES, Kind, Unpacking};

const LOCAL: &[u8] = b"PK\x03\x04";
const CENTRAL: &[u8] = b"PK\x01\x02";
const DESCRIPTOR: &[u8] = b"PK\x07\x08";
const END: &[u8] = b"PK\x05\x06";
const ZIP64_LOCATOR: &[u8] = b"PK\x06\x07";

const LOCAL_BYTES: usize = 30;
const CENTRAL_BYTES: usize = 46;
const END_BYTES: usize = 22;
const ZIP64_LOCATOR_BYTES: usize = 20;

/// The sizes and the checksum follow the content.
const HAS_DESCRIPTOR: u16 = 1 << 3;
const IS_UTF8: u16 = 1 << 11;
/// Encrypted, strongly encrypted, or with a hidden header.
const IS_ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
/// How hard the writer compressed.
const EFFORT: u16 = 1 << 1 | 1 << 2;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

const ZIP64: u16 = 0x0001;
const UNICODE_PATH: u16 = 0x7075;
const AES: u16 = 0x9901;
/// Times and owners: of Info-ZIP, of NTFS; and the mark of Java.
const IGNORED_FIELDS: [u16; 6] = [0x5455, 0x5855, 0x7855, 0x7875, 0x000a, 0xcafe];

/// Returns whether the bytes start or end as a zip archive.
pub(super) fn is_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(LOCAL) || bytes.starts_with(END) || ends(bytes).next().is_some()
}

/// Reads a zip archive.
pub(super) fn read(bytes: &[u8], unpacking: &mut Unpacking<'_>) -> Result<(), Error> {
    "the archive".clone_into(&mut unpacking.place);
    let mut reader = ZipReader { bytes, unpacking };
    let (start, end) = reader.find_central_directory()?;
    let mut entries = reader.central_directory(start, end)?;
    entries.sort_by_key(|entry| entry.offset);
    let mut at = 0;
    for entry in entries {
        reader.unpacking.enter(entry.name);
        if entry.offset < at {
            return Err(reader.unpacking.invalid("overlaps with another entry"));
        }
        if entry.offset > at {
            return Err(reader.unpacking.invalid("has unlisted data before it"));
        }
        at = reader.entry(&entry, start)?;
    }
    if at != start {
        "the central directory".clone_into(&mut reader.unpacking.place);
        return Err(reader.unpacking.invalid("has unlisted data before it"));
    }
    Ok(())
}

/// Returns where end records are whose comment reaches to the last byte.
fn ends(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let first = bytes
        .len()
        .saturating_sub(END_BYTES + usize::from(u16::MAX));
    (first..bytes.len()).filter(move |at| {
        let record = slice(bytes, *at, END_BYTES);
        record.is_some_and(|record| {
            let length = END_BYTES + usize::from(u16_at(record, 20));
            record.starts_with(END) && bytes.len() - at == length
        })
    })
}

/// An entry of the central directory.
struct Entry<'b> {
    name: &'b [u8],
    flags: u16,
    method: u16,
    crc: u32,
    packed_bytes: usize,
    bytes: usize,
    offset: usize,
    attributes: u32,
    extra: &'b [u8],
}

struct ZipReader<'r, 'a> {
    bytes: &'r [u8],
    unpacking: &'r mut Unpacking<'a>,
}

impl<'r> ZipReader<'r, '_> {
    /// Returns where the central directory starts and ends.
    fn find_central_directory(&self) -> Result<(usize, usize), Error> {
        let mut ends = ends(self.bytes);
        let Some(at) = ends.next() else {
            let problem = "has no end record, or data after it; it may be cut off";
            return Err(self.unpacking.invalid(problem));
        };
        let (record, comment) = self.bytes[at..].split_at(END_BYTES);
        // A program that looks for the last mark would find the one in the comment.
        if ends.next().is_some() || comment.windows(END.len()).any(|bytes| bytes == END) {
            return Err(self.unpacking.invalid("has several end records"));
        }
        let locator = at.checked_sub(ZIP64_LOCATOR_BYTES);
        let is_zip64 = locator.is_some_and(|at| self.bytes[at..].starts_with(ZIP64_LOCATOR));
        let has_large = u32_at(record, 12) == u32::MAX || u32_at(record, 16) == u32::MAX;
        if is_zip64 || has_large {
            return Err(self.unpacking.invalid("is a ZIP64 archive"));
        }
        if u32_at(record, 4) != 0 {
            let problem = "is one part of a split archive";
            return Err(self.unpacking.invalid(problem));
        }
        let (length, start) = (usize_at(record, 12), usize_at(record, 16));
        if start.checked_add(length) != Some(at) {
            let problem = "has data before it, or between its central directory and its end record";
            return Err(self.unpacking.invalid(problem));
        }
        Ok((start, at))
    }

    fn central_directory(&mut self, start: usize, end: usize) -> Result<Vec<Entry<'r>>, Error> {
        let mut entries = Vec::new();
        let mut rest = &self.bytes[start..end];
        while !rest.is_empty() {
            let Some((entry, after)) = central_entry(rest) else {
                let problem = "has a malformed central directory";
                return Err(self.unpacking.invalid(problem));
            };
            self.unpacking.enter(entry.name);
            self.check_extra(entry.extra)?;
            entries.push(entry);
            rest = after;
        }
        "the archive".clone_into(&mut self.unpacking.place);
        let declared = [u16_at(self.bytes, end + 8), u16_at(self.bytes, end + 10)];
        if declared
            .iter()
            .any(|count| usize::from(*count) != entries.len())
        {
            let problem = "has a different number of entries than its end record says";
            return Err(self.unpacking.invalid(problem));
        }
        Ok(entries)
    }

    /// Reads an entry. Returns where it ends, at most where the central directory starts.
    fn entry(&mut self, entry: &Entry<'_>, limit: usize) -> Result<usize, Error> {
        let kind = self.kind(entry)?;
        let path = self.unpacking.check(entry.name, kind)?;
        let start = self.local_header(entry)?;
        let packed = slice(&self.bytes[..limit], start, entry.packed_bytes);
        let packed = packed.ok_or_else(|| self.unpacking.invalid("is cut off"))?;
        self.unpacking.check_room(entry.bytes as u64)?;
        let content = match entry.method {
            STORED => self.copy(packed, entry.bytes)?,
            DEFLATED => self.inflate(packed, entry.bytes)?,
            method => {
                let problem = format!("is compressed by an unknown method, `{method}`");
                return Err(self.unpacking.invalid(&problem));
            }
        };
        let mut crc = Crc::new();
        crc.update(&content);
        if crc.sum() != entry.crc {
            return Err(self.unpacking.invalid("has a wrong checksum"));
        }
        if kind == Kind::Folder && !content.is_empty() {
            return Err(self.unpacking.invalid("is a folder with content"));
        }
        if let Some(path) = path {
            let content = (kind == Kind::File).then_some(content);
            self.unpacking.entries.insert(path, content);
        }
        let end = start + packed.len();
        match entry.flags & HAS_DESCRIPTOR {
            0 => Ok(end),
            _ => Ok(end + self.descriptor(&self.bytes[end..limit], entry)?),
        }
    }

    /// Returns which kind of entry it is, by its name, its attributes and its flags.
    fn kind(&self, entry: &Entry<'_>) -> Result<Kind, Error> {
        if entry.flags & IS_ENCRYPTED != 0 {
            return Err(self.unpacking.invalid("is encrypted"));
        }
        if entry.flags & !(HAS_DESCRIPTOR | IS_UTF8 | EFFORT) != 0 {
            return Err(self.unpacking.invalid("has unknown flags"));
        }
        if entry.flags & IS_UTF8 == 0 && !entry.name.is_ascii() {
            let rule = "Names that are not ASCII must be marked as UTF-8, as `git archive` does";
            return Err(self.unpacking.refused(Refusal::Traversal, rule));
        }
        let kind = if entry.name.ends_with(b"/") {
            Kind::Folder
        } else {
            Kind::File
        };
        // The attributes of DOS and NTFS are below, and the mode of Unix above.
        let mode = entry.attributes >> 16 & 0o170_000;
        if mode == 0o120_000 || entry.attributes & 0x400 != 0 {
            return Err(self.unpacking.unwanted(Refusal::Link, "a symbolic link"));
        }
        if !matches!(mode, 0 | 0o040_000 | 0o100_000) || entry.attributes & 0x08 != 0 {
            let noun = "a device or another special file";
            return Err(self.unpacking.unwanted(Refusal::NotAFile, noun));
        }
        let is_other = match kind {
            Kind::File => mode == 0o040_000 || entry.attributes & 0x10 != 0,
            Kind::Folder => mode == 0o100_000,
        };
        if is_other {
            let problem =
                "is a file by its name and a folder by its attributes, or the other way round";
            return Err(self.unpacking.invalid(problem));
        }
        Ok(kind)
    }

    /// Compares an entry with the header before its content. Returns where the content starts.
    fn local_header(&self, entry: &Entry<'_>) -> Result<usize, Error> {
        let header = slice(self.bytes, entry.offset, LOCAL_BYTES);
        let Some(header) = header.filter(|header| header.starts_with(LOCAL)) else {
            return Err(self.unpacking.invalid("has no header before its content"));
        };
        let name_at = entry.offset + LOCAL_BYTES;
        let extra_at = name_at + usize::from(u16_at(header, 26));
        let extra_bytes = usize::from(u16_at(header, 28));
        // Where a descriptor follows, the header may have zeros; but then only compressed content says where it ends.
        let is_later = |at| entry.flags & HAS_DESCRIPTOR != 0 && u32_at(header, at) == 0;
        let is_size_later = |at| is_later(at) && entry.method != STORED;
        let is_equal = slice(self.bytes, name_at, extra_at - name_at) == Some(entry.name)
            && u16_at(header, 6) == entry.flags
            && u16_at(header, 8) == entry.method
            && (is_later(14) || u32_at(header, 14) == entry.crc)
            && (is_size_later(18) || usize_at(header, 18) == entry.packed_bytes)
            && (is_size_later(22) || usize_at(header, 22) == entry.bytes);
        if !is_equal {
            let problem = "has a header that differs from the central directory";
            return Err(self.unpacking.invalid(problem));
        }
        let Some(extra) = slice(self.bytes, extra_at, extra_bytes) else {
            return Err(self.unpacking.invalid("is cut off"));
        };
        self.check_extra(extra)?;
        Ok(extra_at + extra_bytes)
    }

    /// Refuses extra fields that change what an entry is, or that are unknown.
    fn check_extra(&self, extra: &[u8]) -> Result<(), Error> {
        let mut rest = extra;
        while !rest.is_empty() {
            let after = (rest.len() >= 4)
                .then(|| rest.get(4 + usize::from(u16_at(rest, 2))..))
                .flatten();
            let Some(after) = after else {
                return Err(self.unpacking.invalid("has malformed extra fields"));
            };
            match u16_at(rest, 0) {
                id if IGNORED_FIELDS.contains(&id) => rest = after,
                ZIP64 => return Err(self.unpacking.invalid("has the sizes of a ZIP64 archive")),
                UNICODE_PATH => return Err(self.unpacking.invalid("has a second path")),
                AES => return Err(self.unpacking.invalid("is encrypted")),
                id => {
                    let problem = format!("has an unknown extra field, `{id:#06x}`");
                    return Err(self.unpacking.invalid(&problem));
                }
            }
        }
        Ok(())
    }

    fn copy(&mut self, packed: &[u8], bytes: usize) -> Result<Vec<u8>, Error> {
        if packed.len() != bytes {
            return Err(self
                .unpacking
                .invalid("has a different size than its headers say"));
        }
        self.unpacking.grow(bytes as u64)?;
        Ok(packed.to_vec())
    }

    /// Decompresses content. Memory grows with what is there, not with what the headers claim.
    fn inflate(&mut self, packed: &[u8], bytes: usize) -> Result<Vec<u8>, Error> {
        let mut inflater = Decompress::new(false);
        let mut content = Vec::new();
        let mut rest = packed;
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut status = Status::Ok;
        while status != Status::StreamEnd {
            let (read, written) = (inflater.total_in(), inflater.total_out());
            status = inflater
                .decompress(rest, &mut chunk, FlushDecompress::None)
                .map_err(|_| self.unpacking.invalid("has damaged compressed data"))?;
            let (read, written) = (inflater.total_in() - read, inflater.total_out() - written);
            self.unpacking.grow(written)?;
            let fits = "the slice is at least as long";
            rest = &rest[usize::try_from(read).expect(fits)..];
            content.extend_from_slice(&chunk[..usize::try_from(written).expect(fits)]);
            let is_stuck = read == 0 && written == 0 && status != Status::StreamEnd;
            if is_stuck || content.len() > bytes {
                break;
            }
        }
        if status != Status::StreamEnd || !rest.is_empty() || content.len() != bytes {
            return Err(self
                .unpacking
                .invalid("has a different size than its headers say"));
        }
        content.shrink_to_fit();
        Ok(content)
    }

    /// Compares an entry with the descriptor behind its content, whose mark is optional. Returns the descriptor's length.
    fn descriptor(&self, bytes: &[u8], entry: &Entry<'_>) -> Result<usize, Error> {
        let is_equal = |at: usize| {
            slice(bytes, at, 12).is_some_and(|fields| {
                u32_at(fields, 0) == entry.crc
                    && usize_at(fields, 4) == entry.packed_bytes
                    && usize_at(fields, 8) == entry.bytes
            })
        };
        if bytes.starts_with(DESCRIPTOR) && is_equal(DESCRIPTOR.len()) {
            return Ok(DESCRIPTOR.len() + 12);
        }
        if is_equal(0) {
            return Ok(12);
        }
        let problem = "has a descriptor that differs from the central directory";
        Err(self.unpacking.invalid(problem))
    }
}

/// Reads an entry of the central directory. Returns it and what follows.
fn central_entry(bytes: &[u8]) -> Option<(Entry<'_>, &[u8])> {
    let (header, rest) = bytes.split_at_checked(CENTRAL_BYTES)?;
    let is_in_this_file = u16_at(header, 34) == 0;
    if !header.starts_with(CENTRAL) || !is_in_this_file {
        return None;
    }
    let (name, rest) = rest.split_at_checked(usize::from(u16_at(header, 28)))?;
    let (extra, rest) = rest.split_at_checked(usize::from(u16_at(header, 30)))?;
    let (_comment, rest) = rest.split_at_checked(usize::from(u16_at(header, 32)))?;
    let entry = Entry {
        name,
        flags: u16_at(header, 8),
        method: u16_at(header, 10),
        crc: u32_at(header, 16),
        packed_bytes: usize_at(header, 20),
        bytes: usize_at(header, 24),
        offset: usize_at(header, 42),
        attributes: u32_at(header, 38),
        extra,
    };
    Some((entry, rest))
}

fn slice(bytes: &[u8], at: usize, length: usize) -> Option<&[u8]> {
    bytes.get(at..)?.get(..length)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn usize_at(bytes: &[u8], at: usize) -> usize {
    // No supported system has smaller pointers; a size that is too large is refused in any case.
    usize::try_from(u32_at(bytes, at)).unwrap_or(usize::MAX)
}
