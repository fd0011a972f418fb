//! Writes archives byte by byte, so that anything in them can be wrong.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};

pub(super) const POSIX: [u8; 8] = *b"ustar\x0000";
pub(super) const GNU: [u8; 8] = *b"ustar  \0";

pub(super) type TarHeader = [u8; 512];

/// Returns a header with a right checksum. A longer name is cut.
pub(super) fn header(magic: [u8; 8], name: &[u8], kind: u8, size: usize) -> TarHeader {
    let mut header = [0; 512];
    let length = name.len().min(100);
    header[..length].copy_from_slice(&name[..length]);
    header[100..108].copy_from_slice(b"0000644\0");
    header[108..116].copy_from_slice(b"0000000\0");
    header[116..124].copy_from_slice(b"0000000\0");
    header[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
    header[136..148].copy_from_slice(b"00000000000\0");
    header[156] = kind;
    header[257..265].copy_from_slice(&magic);
    seal(&mut header);
    header
}

/// Corrects a header's checksum.
pub(super) fn seal(header: &mut TarHeader) {
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

/// Returns a changed header with a right checksum.
pub(super) fn patched(header: &TarHeader, at: usize, bytes: &[u8]) -> TarHeader {
    let mut header = *header;
    header[at..at + bytes.len()].copy_from_slice(bytes);
    seal(&mut header);
    header
}

/// Returns a header with content and zeros up to the next block.
pub(super) fn member(header: &TarHeader, content: &[u8]) -> Vec<u8> {
    let mut bytes = [header, content].concat();
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

pub(super) fn tar_file(magic: [u8; 8], name: &[u8], content: &[u8]) -> Vec<u8> {
    member(&header(magic, name, b'0', content.len()), content)
}

pub(super) fn tar_folder(name: &[u8]) -> Vec<u8> {
    member(&header(POSIX, name, b'5', 0), b"")
}

/// Returns an extension header: `x`, `g`, `L` or `K`.
pub(super) fn extension(kind: u8, content: &[u8]) -> Vec<u8> {
    let (magic, name) = match kind {
        b'L' | b'K' => (GNU, "././@LongLink"),
        _ => (POSIX, "pax_header"),
    };
    member(
        &header(magic, name.as_bytes(), kind, content.len()),
        content,
    )
}

pub(super) fn pax_record(key: &str, value: &[u8]) -> Vec<u8> {
    let body = [b" ", key.as_bytes(), b"=", value, b"\n"].concat();
    let mut length = body.len();
    while length != body.len() + length.to_string().len() {
        length = body.len() + length.to_string().len();
    }
    [length.to_string().as_bytes(), &body].concat()
}

/// Returns a pax header with one record.
pub(super) fn pax(key: &str, value: &[u8]) -> Vec<u8> {
    extension(b'x', &pax_record(key, value))
}

/// Joins members to an archive.
pub(super) fn tar(members: &[&[u8]]) -> Vec<u8> {
    [&members.concat(), &[0; 1024][..]].concat()
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// Bytes that replace others.
pub(super) type Patch = (usize, Vec<u8>);

/// An entry of a zip archive. The fields go into both headers; then the patches are applied.
#[derive(Clone, Debug)]
pub(super) struct ZipEntry {
    pub(super) name: Vec<u8>,
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) packed: Vec<u8>,
    pub(super) crc: u32,
    pub(super) bytes: u32,
    pub(super) attributes: u32,
    pub(super) local_extra: Vec<u8>,
    pub(super) central_extra: Vec<u8>,
    pub(super) comment: Vec<u8>,
    pub(super) local: Vec<Patch>,
    pub(super) central: Vec<Patch>,
    /// What follows the content.
    pub(super) after: Vec<u8>,
}

impl ZipEntry {
    pub(super) fn stored(name: &[u8], content: &[u8]) -> Self {
        Self {
            name: name.to_vec(),
            flags: 1 << 11,
            method: 0,
            packed: content.to_vec(),
            crc: crc(content),
            bytes: u32::try_from(content.len()).unwrap(),
            attributes: 0,
            local_extra: Vec::new(),
            central_extra: Vec::new(),
            comment: Vec::new(),
            local: Vec::new(),
            central: Vec::new(),
            after: Vec::new(),
        }
    }

    pub(super) fn deflated(name: &[u8], content: &[u8]) -> Self {
        Self {
            method: 8,
            packed: deflate(content),
            ..Self::stored(name, content)
        }
    }

    /// Moves checksum and sizes behind the content; the mark of the descriptor may be empty.
    pub(super) fn with_descriptor(mut self, mark: &[u8]) -> Self {
        self.flags |= 1 << 3;
        self.local.push((14, vec![0; 12]));
        self.after = [mark, &self.sizes()].concat();
        self
    }

    fn sizes(&self) -> Vec<u8> {
        let packed = u32::try_from(self.packed.len()).unwrap();
        let fields = [self.crc, packed, self.bytes];
        fields
            .iter()
            .flat_map(|field| field.to_le_bytes())
            .collect()
    }

    pub(super) fn local_part(&self) -> Vec<u8> {
        let mut header = b"PK\x03\x04\x14\0".to_vec();
        header.extend(self.flags.to_le_bytes());
        header.extend(self.method.to_le_bytes());
        header.extend([0, 0, 0x21, 0]);
        header.extend(self.sizes());
        header.extend(length(&self.name));
        header.extend(length(&self.local_extra));
        header.extend(&self.name);
        header.extend(&self.local_extra);
        apply(&mut header, &self.local);
        [&header[..], &self.packed, &self.after].concat()
    }

    pub(super) fn central_part(&self, offset: usize) -> Vec<u8> {
        let mut header = b"PK\x01\x02\x14\x03\x14\0".to_vec();
        header.extend(self.flags.to_le_bytes());
        header.extend(self.method.to_le_bytes());
        header.extend([0, 0, 0x21, 0]);
        header.extend(self.sizes());
        header.extend(length(&self.name));
        header.extend(length(&self.central_extra));
        header.extend(length(&self.comment));
        header.extend([0; 4]);
        header.extend(self.attributes.to_le_bytes());
        header.extend(u32::try_from(offset).unwrap().to_le_bytes());
        header.extend(&self.name);
        header.extend(&self.central_extra);
        header.extend(&self.comment);
        apply(&mut header, &self.central);
        header
    }
}

fn length(bytes: &[u8]) -> [u8; 2] {
    u16::try_from(bytes.len()).unwrap().to_le_bytes()
}

fn apply(header: &mut [u8], patches: &[Patch]) {
    for (at, bytes) in patches {
        header[*at..at + bytes.len()].copy_from_slice(bytes);
    }
}

pub(super) fn zip(entries: &[ZipEntry]) -> Vec<u8> {
    let (mut locals, mut centrals) = (Vec::new(), Vec::new());
    for entry in entries {
        centrals.extend(entry.central_part(locals.len()));
        locals.extend(entry.local_part());
    }
    join_zip(&locals, &centrals, entries.len(), b"")
}

/// Joins the parts of a zip archive with an end record.
pub(super) fn join_zip(locals: &[u8], centrals: &[u8], count: usize, comment: &[u8]) -> Vec<u8> {
    let end = end_record(centrals.len(), locals.len(), count, comment);
    [locals, centrals, &end].concat()
}

pub(super) fn end_record(bytes: usize, offset: usize, count: usize, comment: &[u8]) -> Vec<u8> {
    let count = u16::try_from(count).unwrap().to_le_bytes();
    let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
    end.extend(count);
    end.extend(count);
    end.extend(u32::try_from(bytes).unwrap().to_le_bytes());
    end.extend(u32::try_from(offset).unwrap().to_le_bytes());
    end.extend(length(comment));
    end.extend(comment);
    end
}
