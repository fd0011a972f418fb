//! Every attack by a path, in every format, as every kind of entry.

use super::Hostile;
use super::build::{GNU, POSIX, ZipEntry, extension, gzip, header, member, patched, pax, tar, zip};

/// Names that lead out of a folder, or mean something else on some system.
const NAMES: &[&str] = &[
    "..",
    "../x",
    "../../x",
    "a/../x",
    "a/../../x",
    "a/..",
    "./../x",
    "././x",
    "a/./x",
    "a/.",
    "a//x",
    "/x",
    "//x",
    "/etc/passwd",
    "///",
    "//server/share/x",
    "/../x",
    "..\\x",
    "a\\x",
    "\\x",
    "\\\\server\\share",
    "\\\\?\\C:\\x",
    "C:",
    "C:/x",
    "C:x",
    "C:\\x",
    "file:///x",
    "a:b",
    "SKILL.md:hidden",
    "SKILL.md::$DATA",
    "a\nb",
    "a\rb",
    "a\tb",
    "\u{1b}[2J",
    "\u{7f}",
    "\u{85}",
    "a.",
    "a ",
    "a./x",
    "a /x",
    "... ",
    "a/...",
    " ",
    "CON",
    "con.md",
    "PRN",
    "AUX",
    "aux.txt",
    "NUL",
    "a/nul/x",
    "COM1",
    "com9.md",
    "COM¹",
    "LPT1.tar.gz",
    "LPT³",
    "CLOCK$",
    "CONIN$",
    "conout$",
    "NUL .txt",
    ".git",
    ".git/config",
    ".git/hooks/post-checkout",
    "a/.git/config",
    ".GIT/config",
    ".Git/config",
    ".g\u{200c}it/config",
    ".git\u{200d}/config",
    "git~1/config",
    "GIT~1/config",
    ".hg/hgrc",
    ".svn/entries",
];

/// Returns these names, and others that are too long, too deep or no text.
fn names() -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = NAMES.iter().map(|name| name.as_bytes().to_vec()).collect();
    names.extend([
        vec![b'a'; 256],
        ["d/"; 16].concat().into_bytes(),
        ["d/"; 16]
            .concat()
            .into_bytes()
            .into_iter()
            .chain(*b"x")
            .collect(),
        "dd/".repeat(1400).into_bytes(),
        b"\xff".to_vec(),
        b"caf\xe9.md".to_vec(),
        b"\xc0\xae\xc0\xae/x".to_vec(),
        b"a\xed\xa0\x80".to_vec(),
        b"a/\xf8\x88\x80\x80\x80/x".to_vec(),
    ]);
    names
}

/// Kinds of entries: the type of tar, the attributes of zip.
const KINDS: [(&str, u8, u32); 6] = [
    ("file", b'0', 0o100_644 << 16),
    ("folder", b'5', 0o040_755 << 16 | 0x10),
    ("hard link", b'1', 0o100_644 << 16),
    ("symbolic link", b'2', 0o120_777 << 16),
    ("device", b'3', 0o020_644 << 16),
    ("named pipe", b'6', 0o010_644 << 16),
];

pub(super) fn all() -> Vec<Hostile> {
    let mut all = Vec::new();
    for name in names() {
        for (kind, tar_kind, attributes) in KINDS {
            let mut name = name.clone();
            if kind == "folder" {
                name.push(b'/');
            }
            for (format, archive) in in_every_format(&name, tar_kind, attributes) {
                let shown = name.escape_ascii();
                all.push((format!("{format}: {kind} {shown:.40}"), archive));
            }
        }
    }
    // These are ordinary as a folder, or cannot be written as a name of tar.
    for name in [&b""[..], b".", b"./", b"a/", b"a\0b", b"a\0/../x", b"\0"] {
        for format in ["pax", "gnu", "zip"] {
            let name = [name, b"\0"].concat();
            let archive = match format {
                "pax" => tar(&[
                    &pax("path", &name[..name.len() - 1]),
                    &header(POSIX, b"x", b'0', 0),
                ]),
                "gnu" => tar(&[&extension(b'L', &name), &header(GNU, b"x", b'0', 0)]),
                _ => zip(&[ZipEntry {
                    attributes: 0o100_644 << 16,
                    ..ZipEntry::stored(&name[..name.len() - 1], b"")
                }]),
            };
            all.push((format!("{format}: file {}", name.escape_ascii()), archive));
        }
    }
    all
}

fn in_every_format(name: &[u8], kind: u8, attributes: u32) -> Vec<(&'static str, Vec<u8>)> {
    let mut archives = Vec::new();
    let is_short = name.len() <= 100;
    if is_short {
        archives.push(("posix", tar(&[&header(POSIX, name, kind, 0)])));
        archives.push(("gnu", tar(&[&header(GNU, name, kind, 0)])));
    }
    if let Some(slash) = name[..name.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'/')
        && (1..=155).contains(&slash)
        && name.len() - slash <= 101
    {
        let header = header(POSIX, &name[slash + 1..], kind, 0);
        let header = patched(&header, 345, &name[..slash]);
        archives.push(("prefix", tar(&[&header])));
    }
    let long = [name, b"\0"].concat();
    archives.push((
        "pax",
        tar(&[&pax("path", name), &header(POSIX, b"x", kind, 0)]),
    ));
    archives.push((
        "long name",
        tar(&[&extension(b'L', &long), &header(GNU, b"x", kind, 0)]),
    ));
    let compressed: Vec<_> = archives
        .iter()
        .map(|(_, archive)| ("with gzip", gzip(archive)))
        .collect();
    archives.extend(compressed);
    // Zip has no hard links.
    if kind != b'1' {
        for entry in [ZipEntry::stored(name, b""), ZipEntry::deflated(name, b"")] {
            let unmarked = ZipEntry {
                flags: 0,
                attributes,
                ..entry.clone()
            };
            archives.push((
                "zip",
                zip(&[ZipEntry {
                    attributes,
                    ..entry
                }]),
            ));
            archives.push(("zip without mark", zip(&[unmarked])));
        }
    }
    archives
}

/// Returns what is no archive, or one that is not read.
pub(super) fn other_formats() -> Vec<Hostile> {
    let tar = tar(&[&member(&header(POSIX, b"a", b'0', 0), b"")]);
    let old = [&tar[..257], &[0; 255], &tar[512..]].concat();
    let mut all: Vec<Hostile> = [
        ("nothing", &b""[..]),
        ("one byte", b"P"),
        ("text", b"<!DOCTYPE html>"),
        ("zeros", &[0; 10240]),
        ("zstd", b"\x28\xb5\x2f\xfd\x24\x00\x01\x00\x00"),
        ("xz", b"\xfd7zXZ\0\0\x04"),
        ("bzip2", b"BZh91AY&SY"),
        ("7z", b"7z\xbc\xaf\x27\x1c"),
        ("rar", b"Rar!\x1a\x07\x00"),
        ("compress", b"\x1f\x9d\x90"),
        ("part of a zip", b"PK\x07\x08PK\x03\x04"),
        ("tar without magic", &old),
        ("gzip of nothing", &gzip(b"")),
        ("gzip of text", &gzip(&[b'a'; 600])),
        ("gzip of gzip", &gzip(&gzip(&tar))),
        ("gzip of tar without magic", &gzip(&old)),
        ("gzip of zip", &gzip(&zip(&[ZipEntry::stored(b"a", b"")]))),
    ]
    .into_iter()
    .map(|(what, bytes)| (what.to_owned(), bytes.to_vec()))
    .collect();
    let mut other_method = gzip(&tar);
    other_method[2] = 7;
    all.push(("gzip with another method".to_owned(), other_method));
    all
}
