//! Zip archives that hide, claim or break something.

use std::slice;

use super::Hostile;
use super::build::{ZipEntry, crc, deflate, end_record, join_zip, zip};

const CONTENT: &[u8] = b"content content content";

pub(super) fn all() -> Vec<Hostile> {
    let mut all = kinds();
    all.extend(mismatches());
    all.extend(contents());
    all.extend(streams());
    all.extend(descriptors());
    all.extend(extras());
    all.extend(sequences());
    all.extend(layouts());
    all.extend(ends());
    all.extend(truncated());
    all
}

fn file() -> ZipEntry {
    ZipEntry::deflated(b"a", CONTENT)
}

/// Every mode, attribute, flag and method that is refused.
fn kinds() -> Vec<Hostile> {
    let mut all = Vec::new();
    for mode in (1..16_u32).filter(|mode| !matches!(mode, 0o04 | 0o10)) {
        let attributes = (mode << 12 | 0o644) << 16;
        let folder = ZipEntry {
            attributes,
            ..ZipEntry::stored(b"a/", b"")
        };
        all.push((
            format!("file with mode {mode:o}"),
            zip(&[ZipEntry {
                attributes,
                ..file()
            }]),
        ));
        all.push((format!("folder with mode {mode:o}"), zip(&[folder])));
    }
    for attributes in [
        0x10,
        0x08,
        0x400,
        0x18,
        0o040_755 << 16,
        0o100_644 << 16 | 0x10,
        0o120_777 << 16 | 0x20,
    ] {
        all.push((
            format!("attributes {attributes:#x}"),
            zip(&[ZipEntry {
                attributes,
                ..file()
            }]),
        ));
    }
    let attributes = 0o100_644 << 16;
    let folder = ZipEntry {
        attributes,
        ..ZipEntry::stored(b"a/", b"")
    };
    all.push(("folder with the mode of a file".to_owned(), zip(&[folder])));
    for entry in [
        ZipEntry::stored(b"a/", CONTENT),
        ZipEntry::deflated(b"a/", CONTENT),
    ] {
        all.push(("folder with content".to_owned(), zip(&[entry])));
    }
    for bit in [0, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15] {
        let entry = ZipEntry {
            flags: 1 << bit | 1 << 11,
            ..file()
        };
        all.push((format!("flag {bit}"), zip(&[entry])));
    }
    for method in (1..=25)
        .chain([93, 94, 95, 96, 97, 98, 99, 1000, u16::MAX])
        .filter(|method| *method != 8)
    {
        all.push((
            format!("method {method}"),
            zip(&[ZipEntry { method, ..file() }]),
        ));
    }
    all
}

/// Every field of the local header, other than in the central directory.
fn mismatches() -> Vec<Hostile> {
    let mut all = Vec::new();
    for base in [
        file(),
        ZipEntry::stored(b"a", CONTENT),
        file().with_descriptor(b"PK\x07\x08"),
    ] {
        for at in (0..4).chain(6..10).chain(14..31) {
            for bit in [0x01, 0x80] {
                let mut entry = base.clone();
                let byte = entry.local_part()[at] ^ bit;
                entry.local.push((at, vec![byte]));
                all.push((format!("local byte {at} ^ {bit}"), zip(&[entry])));
            }
        }
        for at in (0..4).chain(8..12).chain(16..36).chain(42..47) {
            let mut entry = base.clone();
            let byte = entry.central_part(0)[at] ^ 0x80;
            entry.central.push((at, vec![byte]));
            all.push((format!("central byte {at}"), zip(&[entry])));
        }
    }
    for size in [0, 1, 22, 24, 1000, u32::MAX - 1, u32::MAX] {
        for at in [18, 22] {
            let mut entry = file();
            entry.local.push((at, size.to_le_bytes().to_vec()));
            all.push((format!("local size {size} at {at}"), zip(&[entry.clone()])));
            entry.central.push((at + 2, size.to_le_bytes().to_vec()));
            all.push((format!("size {size} at {at}"), zip(&[entry])));
        }
    }
    let names: [(&[u8], &[u8]); 4] = [
        (b"a", b"b"),
        (b"ok", b".."),
        (b"a.md", b"A.md"),
        (b"a/b", b"a\\b"),
    ];
    for (name, local) in names {
        let mut entry = ZipEntry::deflated(name, CONTENT);
        entry.local.push((30, local.to_vec()));
        all.push((
            format!("other name {}", local.escape_ascii()),
            zip(&[entry]),
        ));
    }
    all
}

/// Content that is not what the headers say.
fn contents() -> Vec<Hostile> {
    let mut all = Vec::new();
    let mut add = |what: &str, entry: ZipEntry| all.push((what.to_owned(), zip(&[entry])));
    for bytes in [0, 1, 22, 24, 1 << 20, u32::MAX - 1] {
        add("deflated with another size", ZipEntry { bytes, ..file() });
        add(
            "stored with another size",
            ZipEntry {
                bytes,
                ..ZipEntry::stored(b"a", CONTENT)
            },
        );
    }
    for checksum in [0, 1, !crc(CONTENT), crc(b"other")] {
        add(
            "deflated with a wrong checksum",
            ZipEntry {
                crc: checksum,
                ..file()
            },
        );
        add(
            "stored with a wrong checksum",
            ZipEntry {
                crc: checksum,
                ..ZipEntry::stored(b"a", CONTENT)
            },
        );
    }
    all
}

/// Deflate that is damaged, cut off, or followed by something.
fn streams() -> Vec<Hostile> {
    let mut all = Vec::new();
    let mut add = |what: &str, packed: Vec<u8>| {
        let entry = ZipEntry { packed, ..file() };
        all.push((what.to_owned(), zip(&[entry])));
    };
    let packed = deflate(CONTENT);
    for at in 0..packed.len() {
        let mut damaged = packed.clone();
        damaged[at] ^= 0x55;
        add("damaged content", damaged);
        add("cut content", packed[..at].to_vec());
    }
    add("data after deflate", [&packed[..], b"x"].concat());
    add("two deflate streams", [&packed[..], &packed].concat());
    // A stored block that is not marked as the last one.
    let length = u16::try_from(CONTENT.len()).unwrap();
    let block = [
        &[0][..],
        &length.to_le_bytes(),
        &(!length).to_le_bytes(),
        CONTENT,
    ]
    .concat();
    add("deflate without an end", block);
    add("deflate of nothing", Vec::new());
    all
}

fn descriptors() -> Vec<Hostile> {
    let mut all = Vec::new();
    let mut add = |what: &str, entry: ZipEntry| all.push((what.to_owned(), zip(&[entry])));
    let descriptor = file().with_descriptor(b"PK\x07\x08").after;
    for at in 0..descriptor.len() {
        let mut entry = file().with_descriptor(b"PK\x07\x08");
        entry.after[at] ^= 1;
        add("wrong descriptor", entry);
        let mut entry = file().with_descriptor(b"PK\x07\x08");
        entry.after.truncate(at);
        add("cut descriptor", entry);
    }
    for at in 0..12 {
        let mut entry = file().with_descriptor(b"");
        entry.after[at] ^= 1;
        add("wrong descriptor without mark", entry);
    }
    let mut entry = file().with_descriptor(b"PK\x07\x08");
    entry.after.extend([0; 8]);
    add("descriptor of ZIP64", entry);
    let entry = file().with_descriptor(b"PK\x07\x08");
    add(
        "descriptor without its flag",
        ZipEntry { flags: 0, ..entry },
    );
    // Whoever reads from the start cannot know where it ends.
    let stored = ZipEntry::stored(b"a", CONTENT);
    add(
        "stored without a size before it",
        stored.with_descriptor(b"PK\x07\x08"),
    );
    all
}

fn extras() -> Vec<Hostile> {
    let mut all = Vec::new();
    let field = |id: u16, content: &[u8]| {
        let length = u16::try_from(content.len()).unwrap();
        [&id.to_le_bytes()[..], &length.to_le_bytes(), content].concat()
    };
    let unicode = [&[1][..], &crc(b"a").to_le_bytes(), b"../evil"].concat();
    let mut extras: Vec<Vec<u8>> = [
        0x0007, 0x000d, 0x0017, 0x0065, 0x2605, 0x4690, 0x756e, 0x6375, 0xa11e, 0xffff,
    ]
    .map(|id| field(id, b"1234"))
    .into();
    extras.extend([
        field(0x0001, &[0; 16]),
        field(0x0001, b""),
        field(0x7075, &unicode),
        field(0x7075, b""),
        field(0x9901, b"\x02\0AE\x03\x08\0"),
        vec![0],
        vec![0; 3],
        vec![0; 4],
        field(0x5455, b"12345")[..8].to_vec(),
        [field(0x5455, b"1"), vec![0]].concat(),
        [field(0x5455, b"1"), field(0x7075, &unicode)].concat(),
    ]);
    for extra in extras {
        let shown = extra.escape_ascii().to_string();
        let local = ZipEntry {
            local_extra: extra.clone(),
            ..file()
        };
        all.push((format!("local extra {shown}"), zip(slice::from_ref(&local))));
        let both = ZipEntry {
            central_extra: extra.clone(),
            ..local
        };
        all.push((format!("both extra {shown}"), zip(&[both])));
        all.push((
            format!("central extra {shown}"),
            zip(&[ZipEntry {
                central_extra: extra,
                ..file()
            }]),
        ));
    }
    all
}

/// Returns entries that are each fine, but not together.
fn sequences() -> Vec<Hostile> {
    let names: [&[&str]; 13] = [
        &["a", "a"],
        &["a", "b", "a"],
        &["./a", "a"],
        &["a/", "a/"],
        &["a", "a/"],
        &["a/", "a"],
        &["a", "a/b"],
        &["a/b", "a"],
        &["a/b/c/d", "a/b"],
        &["a/b", "a/b/c/d"],
        &["a", "a/b/"],
        &["a/b/", "a"],
        &["a", "./"],
    ];
    names
        .iter()
        .map(|names| {
            let entries: Vec<_> = names
                .iter()
                .map(|name| ZipEntry::stored(name.as_bytes(), b""))
                .collect();
            (format!("together {}", names.join(", ")), zip(&entries))
        })
        .collect()
}

/// Returns archives whose parts overlap, or leave room for others.
fn layouts() -> Vec<Hostile> {
    let (first, second) = (file(), ZipEntry::deflated(b"b", b"other"));
    let locals = [first.local_part(), second.local_part()].concat();
    let at = first.local_part().len();
    let archive = |locals: &[u8], offsets: [usize; 2]| {
        let centrals = [
            first.central_part(offsets[0]),
            second.central_part(offsets[1]),
        ]
        .concat();
        join_zip(locals, &centrals, 2, b"")
    };
    let mut all = Vec::new();
    for offset in (0..at).chain(at + 1..at + 20).chain([1 << 20, 0x7fff_ffff]) {
        all.push((
            format!("second entry at {offset}"),
            archive(&locals, [0, offset]),
        ));
    }
    for gap in [1, 4, 30, 512] {
        let hidden = vec![b'x'; gap];
        let before = [&hidden[..], &locals].concat();
        all.push((
            format!("{gap} bytes before"),
            archive(&before, [gap, at + gap]),
        ));
        all.push((
            format!("{gap} bytes prepended"),
            [&hidden[..], &archive(&locals, [0, at])].concat(),
        ));
        let between = [&locals[..at], &hidden, &locals[at..]].concat();
        all.push((
            format!("{gap} bytes between"),
            archive(&between, [0, at + gap]),
        ));
        let after = [&locals[..], &hidden].concat();
        all.push((format!("{gap} bytes after"), archive(&after, [0, at])));
        all.push((
            format!("{gap} bytes appended"),
            [&archive(&locals, [0, at])[..], &hidden].concat(),
        ));
    }
    let unlisted = join_zip(&locals, &first.central_part(0), 1, b"");
    all.push(("entry that is not listed".to_owned(), unlisted));
    let unlisted = join_zip(&locals, &second.central_part(at), 1, b"");
    all.push(("first entry that is not listed".to_owned(), unlisted));
    // A thousand names for the same compressed bytes.
    let big = ZipEntry::deflated(b"00000", &vec![0; 1 << 20]);
    let centrals: Vec<u8> = (0..1000)
        .flat_map(|number| {
            let name = format!("{number:05}").into_bytes();
            ZipEntry {
                name,
                ..big.clone()
            }
            .central_part(0)
        })
        .collect();
    all.push((
        "one content, a thousand names".to_owned(),
        join_zip(&big.local_part(), &centrals, 1000, b""),
    ));
    // Each entry's stored content contains the next entry.
    let mut locals = ZipEntry::deflated(b"n0", &vec![0; 1 << 20]).local_part();
    let mut entries = vec![ZipEntry::deflated(b"n0", &vec![0; 1 << 20])];
    for number in 1..9 {
        let entry = ZipEntry::stored(format!("n{number}").as_bytes(), &locals);
        locals = entry.local_part();
        entries.push(entry);
    }
    let length = locals.len();
    let centrals: Vec<u8> = entries
        .iter()
        .flat_map(|entry| entry.central_part(length - entry.local_part().len()))
        .collect();
    all.push((
        "entries within entries".to_owned(),
        join_zip(&locals, &centrals, entries.len(), b""),
    ));
    all
}

/// Returns archives whose end record lies, or that have several.
fn ends() -> Vec<Hostile> {
    let whole = zip(&[file()]);
    let end = whole.len() - 22;
    let (locals, central) = (file().local_part(), file().central_part(0));
    let evil = zip(&[ZipEntry::stored(b"../evil", b"")]);
    let mut all = Vec::new();
    for at in 0..22 {
        for bit in [0x01, 0x80, 0xff] {
            let mut archive = whole.clone();
            archive[end + at] ^= bit;
            all.push((format!("end byte {at} ^ {bit}"), archive));
        }
    }
    let mut add = |what: &str, archive: Vec<u8>| all.push((what.to_owned(), archive));
    add("two archives", [whole.clone(), whole.clone()].concat());
    add(
        "an archive after another",
        [evil.clone(), whole.clone()].concat(),
    );
    add(
        "archive in the comment",
        join_zip(&locals, &central, 1, &evil),
    );
    add(
        "mark in the comment",
        join_zip(&locals, &central, 1, b"x PK\x05\x06 x"),
    );
    let second = end_record(0, 0, 0, b"");
    add(
        "end record in the comment",
        join_zip(&locals, &central, 1, &second),
    );
    add("two end records", [&whole[..], &second].concat());
    let commented = end_record(central.len(), locals.len(), 1, &second);
    add(
        "end record in the comment of another",
        [&locals[..], &central, &commented].concat(),
    );
    // An end record in an entry's comment, whose own comment is the rest of the archive.
    let length = 22 + 22;
    let hidden = end_record(0, 0, 0, &[0; 22]);
    let mut entry = file();
    entry.comment = hidden[..22].to_vec();
    let mut archive = zip(&[entry]);
    let at = archive.len() - length;
    archive[at + 20..at + 22].copy_from_slice(&22_u16.to_le_bytes());
    add("end record in an entry's comment", archive);
    let mut entry = file();
    entry.comment = [b"PK\x06\x07", &[0; 16][..]].concat();
    add("locator of ZIP64 in an entry's comment", zip(&[entry]));
    let locator = [b"PK\x06\x07", &[0; 16][..]].concat();
    let parts = [&locals[..], &central, &locator, &whole[end..]].concat();
    add("locator of ZIP64", parts);
    let large = end_record(u32::MAX as usize, u32::MAX as usize, 0xffff, b"");
    add("values of ZIP64", [&locals[..], &central, &large].concat());
    let small = end_record(central.len(), locals.len(), 0, b"");
    add(
        "no entries counted",
        [&locals[..], &central, &small].concat(),
    );
    add("entries counted without any", join_zip(b"", b"", 3, b""));
    let padded = [&central[..], b"x"].concat();
    add(
        "data after the directory",
        join_zip(&locals, &padded, 1, b""),
    );
    add("no directory", join_zip(&locals, b"", 0, b""));
    add("no end", [&locals[..], &central].concat());
    all
}

fn truncated() -> Vec<Hostile> {
    let whole = zip(&[
        ZipEntry::stored(b"top/", b""),
        ZipEntry::deflated(b"top/SKILL.md", CONTENT),
        ZipEntry::deflated(b"top/a", CONTENT).with_descriptor(b""),
    ]);
    let mut all: Vec<Hostile> = (0..whole.len())
        .map(|at| (format!("cut at {at}"), whole[..at].to_vec()))
        .collect();
    all.extend(
        (1..whole.len())
            .step_by(7)
            .map(|at| (format!("cut before {at}"), whole[at..].to_vec())),
    );
    all
}
