//! What we read is what other programs read: the crates `tar` and `zip`.

use std::io::{Cursor, Read as _, Write as _};

use flate2::bufread::MultiGzDecoder;
use proptest::prelude::*;
use skillfold_core::name::ResourcePath;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::build::{POSIX, ZipEntry, extension, gzip, pax_record, seal, tar_file, zip};
use super::{Files, files};

fn any_path() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        6 => "[a-c]{1,2}",
        2 => "[A-Za-z0-9 ._~%äß漢-]{1,20}",
        1 => "[a-z]{80,120}",
    ];
    prop::collection::vec(name, 1..5).prop_map(|names| names.join("/"))
}

/// Generates files with legal paths, none of which is a folder too.
fn any_files() -> impl Strategy<Value = Files> {
    let content = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..40),
        2 => prop::collection::vec(any::<u8>(), 500..1100),
        1 => (0_usize..200_000).prop_map(|length| vec![b'a'; length]),
    ];
    prop::collection::vec((any_path(), content), 1..8).prop_map(|files| {
        let mut known = Files::new();
        for (path, content) in files {
            let is_inside = |inner: &str, outer: &str| inner.starts_with(&format!("{outer}/"));
            let conflicts = known
                .keys()
                .any(|other| is_inside(&path, other) || is_inside(other, &path));
            if !conflicts && path.parse::<ResourcePath>().is_ok() {
                known.insert(path, content);
            }
        }
        known
    })
}

#[derive(Clone, Copy, Debug)]
enum Writer {
    Gnu,
    Pax,
    Stored,
    Deflated,
    Streamed,
}

fn any_writer() -> impl Strategy<Value = Writer> {
    use Writer::{Deflated, Gnu, Pax, Stored, Streamed};

    prop::sample::select(vec![Gnu, Pax, Stored, Deflated, Streamed])
}

fn write(writer: Writer, files: &Files) -> Vec<u8> {
    match writer {
        Writer::Gnu | Writer::Pax => write_tar(writer, files),
        Writer::Streamed => {
            let mut zip = ZipWriter::new_stream(Vec::new());
            write_zip(&mut zip, CompressionMethod::Deflated, files);
            zip.finish().unwrap().into_inner()
        }
        Writer::Stored | Writer::Deflated => {
            let method = match writer {
                Writer::Stored => CompressionMethod::Stored,
                _ => CompressionMethod::Deflated,
            };
            let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
            write_zip(&mut zip, method, files);
            zip.finish().unwrap().into_inner()
        }
    }
}

fn write_tar(writer: Writer, files: &Files) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = match writer {
            Writer::Gnu => tar::Header::new_gnu(),
            _ => tar::Header::new_ustar(),
        };
        header.set_size(content.len() as u64);
        header.set_mode(0o755);
        if matches!(writer, Writer::Gnu) {
            builder
                .append_data(&mut header, path, &content[..])
                .unwrap();
            continue;
        }
        if header.set_path(path).is_err() || path.len() % 2 == 0 {
            let records = [("path", path.as_bytes()), ("mtime", b"1.25")];
            builder.append_pax_extensions(records).unwrap();
            header.set_path("short").unwrap();
        }
        header.set_cksum();
        builder.append(&header, &content[..]).unwrap();
    }
    builder.into_inner().unwrap()
}

fn write_zip<W: std::io::Write + std::io::Seek>(
    zip: &mut ZipWriter<W>,
    method: CompressionMethod,
    files: &Files,
) {
    let options = SimpleFileOptions::default().compression_method(method);
    for (path, content) in files {
        zip.start_file(path.as_str(), options).unwrap();
        zip.write_all(content).unwrap();
    }
}

/// Reads an archive with the other readers.
fn read_with_others(archive: &[u8]) -> Result<Files, String> {
    if archive.starts_with(b"PK") {
        return read_zip(archive).map_err(|error| error.to_string());
    }
    let mut bytes = archive.to_vec();
    if archive.starts_with(&[0x1f, 0x8b]) {
        bytes.clear();
        let mut decoder = MultiGzDecoder::new(archive);
        decoder
            .read_to_end(&mut bytes)
            .map_err(|error| error.to_string())?;
    }
    read_tar(&bytes).map_err(|error| error.to_string())
}

fn read_tar(bytes: &[u8]) -> std::io::Result<Files> {
    let mut files = Files::new();
    for entry in tar::Archive::new(bytes).entries()? {
        let mut entry = entry?;
        let name = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
        let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
        let kind = entry.header().entry_type();
        if kind.is_file() {
            let mut content = Vec::new();
            entry.read_to_end(&mut content)?;
            assert!(files.insert(name, content).is_none());
        } else {
            assert!(kind.is_dir() || kind.is_pax_global_extensions(), "{kind:?}");
        }
    }
    Ok(files)
}

fn read_zip(bytes: &[u8]) -> zip::result::ZipResult<Files> {
    let mut files = Files::new();
    let mut archive = ZipArchive::new(Cursor::new(bytes))?;
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at)?;
        assert!(!entry.is_symlink());
        let name = entry.name()?;
        let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
        if entry.is_file() {
            let mut content = Vec::new();
            entry.read_to_end(&mut content)?;
            assert!(files.insert(name, content).is_none());
        }
    }
    Ok(files)
}

/// A change of an archive; positions are parts of its length.
#[derive(Clone, Debug)]
enum Mutation {
    Flip(f64, u8),
    Insert(f64, Vec<u8>),
    Remove(f64, usize),
    /// Copies bytes over others.
    Copy(f64, f64, usize),
    /// Copies a block of tar over another, or inserts it there.
    Block(f64, f64),
    InsertBlock(f64, f64),
}

fn any_mutation() -> impl Strategy<Value = Mutation> {
    let at = || 0.0..1.0;
    prop_oneof![
        4 => (at(), 1..=255_u8).prop_map(|(at, bits)| Mutation::Flip(at, bits)),
        1 => (at(), prop::collection::vec(any::<u8>(), 1..5)).prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        1 => (at(), 1..600_usize).prop_map(|(at, length)| Mutation::Remove(at, length)),
        1 => (at(), at(), 1..50_usize).prop_map(|(from, to, length)| Mutation::Copy(from, to, length)),
        1 => (at(), at()).prop_map(|(from, to)| Mutation::Block(from, to)),
        1 => (at(), at()).prop_map(|(from, to)| Mutation::InsertBlock(from, to)),
    ]
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a part of a length"
)]
fn position(part: f64, length: usize) -> usize {
    (part * length as f64) as usize
}

fn mutate(bytes: &mut Vec<u8>, mutation: &Mutation) {
    let length = bytes.len();
    let block = |part: f64| {
        let at = position(part, length / 512) * 512;
        at..(at + 512).min(length)
    };
    if length < 2048 {
        return;
    }
    match mutation {
        Mutation::Flip(at, bits) => bytes[position(*at, length)] ^= bits,
        Mutation::Insert(at, new) => {
            let at = position(*at, length);
            bytes.splice(at..at, new.iter().copied());
        }
        Mutation::Remove(at, count) => {
            let at = position(*at, length);
            bytes.drain(at..(at + count).min(length));
        }
        Mutation::Copy(from, to, count) => {
            let (from, to) = (position(*from, length), position(*to, length));
            let count = (*count).min(length - from.max(to));
            bytes.copy_within(from..from + count, to);
        }
        Mutation::Block(from, to) => bytes.copy_within(block(*from), block(*to).start),
        Mutation::InsertBlock(from, to) => {
            let copy = bytes[block(*from)].to_vec();
            let at = block(*to).start;
            bytes.splice(at..at, copy);
        }
    }
}

/// Corrects the checksums of all headers of tar, so that more than the checksum has to notice the change.
fn seal_all(bytes: &mut [u8]) {
    for block in bytes.chunks_exact_mut(512) {
        if block[257..].starts_with(b"ustar") {
            let header = block.try_into().unwrap();
            seal(header);
        }
    }
}

fn compare(archive: &[u8]) {
    if let Ok(ours) = files(archive) {
        assert_eq!(read_with_others(archive), Ok(ours));
    }
}

/// Generates what a field may be, mostly something legal.
fn field<T: Clone + std::fmt::Debug + 'static>(
    legal: impl Into<Vec<T>>,
    any: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = T> {
    prop_oneof![8 => prop::sample::select(legal.into()), 1 => any]
}

/// Generates extra fields: the times and owners that tools write, or anything. Those have a legal form, because other
/// readers look at them.
fn any_extra() -> impl Strategy<Value = Vec<u8>> {
    let owner = [1, 4, 0, 0, 0, 0, 4, 0, 0, 0, 0];
    let ntfs = [&[0; 4][..], &[1, 0, 24, 0], &[0; 24]].concat();
    let known = [
        (0x5455_u16, vec![1, 0, 0, 0, 0]),
        (0x5855, vec![0; 8]),
        (0x7875, owner.to_vec()),
        (0x000a, ntfs),
        (0xcafe, Vec::new()),
    ];
    let other = (any::<u16>(), prop::collection::vec(any::<u8>(), 0..12));
    let record = field(known, other).prop_map(|(id, content)| {
        let length = u8::try_from(content.len()).unwrap();
        [&id.to_le_bytes()[..], &[length, 0], &content].concat()
    });
    prop::collection::vec(record, 0..3).prop_map(|records| records.concat())
}

fn any_zip_entry() -> impl Strategy<Value = ZipEntry> {
    let name = field(
        ["a", "b", "c/d", "c/e", "./f", "g/", "ä"].map(|name| name.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..5),
    );
    let flags = field(
        [0, 1 << 11, 1 << 3, 1 << 3 | 1 << 11, 1 << 1 | 1 << 2],
        any::<u16>(),
    );
    let attributes = field(
        [0, 0x20, 0o100_644 << 16, 0o040_755 << 16 | 0x10],
        any::<u32>(),
    );
    let mark = prop::sample::select(vec![&b"PK\x07\x08"[..], b""]);
    let kind = (name, flags, attributes, mark, any::<bool>());
    let byte = (0..30_usize, any::<u8>()).prop_map(|(at, byte)| (at, vec![byte]));
    let patches = || prop::collection::vec(byte.clone(), 0..2);
    let patches = prop_oneof![3 => Just((Vec::new(), Vec::new())), 1 => (patches(), patches())];
    (kind, any_extra(), any_extra(), patches).prop_map(
        |((name, flags, attributes, mark, is_stored), local_extra, central_extra, patches)| {
            let content = if name.ends_with(b"/") {
                &b""[..]
            } else {
                b"content content"
            };
            let entry = if is_stored {
                ZipEntry::stored(&name, content)
            } else {
                ZipEntry::deflated(&name, content)
            };
            let mut entry = match flags & 1 << 3 {
                0 => entry,
                _ => entry.with_descriptor(mark),
            };
            entry.local.extend(patches.0);
            entry.central.extend(patches.1);
            ZipEntry {
                flags,
                attributes,
                local_extra,
                central_extra,
                ..entry
            }
        },
    )
}

fn any_pax() -> impl Strategy<Value = Vec<u8>> {
    let keys = [
        "path",
        "size",
        "mtime",
        "comment",
        "uid",
        "uname",
        "SCHILY.xattr.a",
    ];
    let key = field(keys.map(str::to_owned), "[a-z\n= ]{0,5}");
    let value = field(
        ["a", "b/c", "15", "015", "x\n9 path=y", ""].map(|value| value.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..6),
    );
    let record = (key, value).prop_map(|(key, value)| pax_record(&key, &value));
    let record = prop_oneof![9 => record, 1 => "[0-9]{1,2} ?[a-z]{0,4}=?[a-z]\n?".prop_map(String::into_bytes)];
    prop::collection::vec(record, 1..4).prop_map(|records| extension(b'x', &records.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_other_programs_write_is_read_unchanged(expected in any_files(), writer in any_writer()) {
        prop_assume!(!expected.is_empty());
        let archive = write(writer, &expected);
        prop_assert_eq!(&files(&archive).unwrap(), &expected);
        if matches!(writer, Writer::Gnu | Writer::Pax) {
            prop_assert_eq!(&files(&gzip(&archive)).unwrap(), &expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn changed_archive_is_refused_or_read_as_others_read_it(
        content in any_files(),
        writer in any_writer(),
        mutations in prop::collection::vec(any_mutation(), 1..4),
        is_sealed in any::<bool>(),
    ) {
        let mut archive = write(writer, &content);
        for mutation in &mutations {
            mutate(&mut archive, mutation);
        }
        compare(&archive);
        if is_sealed && matches!(writer, Writer::Gnu | Writer::Pax) {
            seal_all(&mut archive);
            compare(&archive);
            compare(&gzip(&archive));
        }
    }

    #[test]
    fn zip_with_unusual_fields_is_refused_or_read_as_others_read_it(
        entries in prop::collection::vec(any_zip_entry(), 1..4),
        comment in prop::collection::vec(any::<u8>(), 0..10),
    ) {
        let mut archive = zip(&entries);
        compare(&archive);
        let at = archive.len() - 2;
        archive[at] = u8::try_from(comment.len()).unwrap();
        archive.extend(comment);
        compare(&archive);
    }

    #[test]
    fn pax_header_is_refused_or_read_as_others_read_it(headers in prop::collection::vec(any_pax(), 1..3)) {
        let mut members: Vec<u8> = Vec::new();
        for (number, header) in headers.iter().enumerate() {
            members.extend(header);
            let name = format!("file-{number}");
            members.extend(tar_file(POSIX, name.as_bytes(), b"content content"));
        }
        compare(&super::build::tar(&[&members]));
    }
}
