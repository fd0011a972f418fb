//! Tar archives that hide, claim or break something.

use super::Hostile;
use super::build::{
    GNU, POSIX, ZipEntry, end_record, extension, gzip, header, member, patched, pax, pax_record,
    tar, tar_file, tar_folder, zip,
};

pub(super) fn all() -> Vec<Hostile> {
    let mut all = Vec::new();
    let mut add = |what: String, archive: Vec<u8>| {
        all.push((format!("{what}, with gzip"), gzip(&archive)));
        all.push((what, archive));
    };
    for (what, archive) in kinds()
        .into_iter()
        .chain(headers())
        .chain(pax_headers())
        .chain(extensions())
    {
        add(what, archive);
    }
    for (what, archive) in sequences().into_iter().chain(ends()) {
        add(what, archive);
    }
    all.extend(truncated());
    all.extend(damaged());
    all.extend(in_two_formats());
    all
}

/// Every type that is not a file's or a folder's.
fn kinds() -> Vec<Hostile> {
    let kinds = (1..=u8::MAX).filter(|kind| !matches!(kind, b'0' | b'5' | b'x' | b'g' | b'L'));
    let mut all: Vec<Hostile> = kinds
        .flat_map(|kind| {
            [(POSIX, "posix"), (GNU, "gnu")].map(|(magic, format)| {
                let member = member(&header(magic, b"a", kind, 0), b"");
                let what = format!("{format}: type {}", char::from(kind).escape_default());
                (what, tar(&[&member, &tar_file(POSIX, b"b", b"")]))
            })
        })
        .collect();
    for kind in [b'1', b'2', b'7', b'S'] {
        let header = header(GNU, b"a", kind, 3);
        let header = patched(&header, 157, b"/etc/passwd");
        all.push((
            format!("type {kind} with content"),
            tar(&[&member(&header, b"abc")]),
        ));
    }
    all
}

fn headers() -> Vec<Hostile> {
    let file = header(POSIX, b"a", b'0', 0);
    let mut all = Vec::new();
    for (what, at, bytes) in [
        ("size in binary", 124, &b"\x80\0\0\0\0\0\0\0\0\0\0\0"[..]),
        ("negative size", 124, &[0xff; 12]),
        ("size with a sign", 124, b"-0000000001\0"),
        ("size with a plus", 124, b"+0000000000\0"),
        ("size with letters", 124, b"0000000000x\0"),
        ("size in decimal", 124, b"00000000009\0"),
        ("size with a gap", 124, b"0000000 000\0"),
        ("size after a zero", 124, b"0000\x000000000"),
        ("no size", 124, &[0; 12]),
        ("blank size", 124, &[b' '; 12]),
        ("size of 8 GiB", 124, b"77777777777\0"),
        ("size with one block missing", 124, b"00000002001\0"),
        ("unknown version", 263, b"99"),
        ("version of GNU with POSIX", 262, b"\0 \0"),
        ("no version", 263, b"\0\0"),
        ("times in the prefix", 500, b"00000000000 "),
        ("mark of an old writer", 508, b"tar\0"),
    ] {
        all.push((what.to_owned(), tar(&[&patched(&file, at, bytes)])));
    }
    for at in (0..148).chain(156..257).chain(265..512) {
        let mut file = tar_file(POSIX, b"a", b"content");
        file[at] ^= 1;
        all.push((format!("wrong checksum at {at}"), tar(&[&file])));
    }
    for checksum in [
        &b"        "[..],
        b"\0\0\0\0\0\0\0\0",
        b"-0001234",
        b"\x80\0\0\0\0\0\0\0",
        b"7777777\0",
    ] {
        let mut file = file;
        file[148..156].copy_from_slice(checksum);
        all.push((
            format!("checksum {}", checksum.escape_ascii()),
            tar(&[&file]),
        ));
    }
    // Some programs sum signed bytes; a name that is not ASCII tells them apart.
    let mut signed = header(POSIX, "ä".as_bytes(), b'0', 0);
    let sum: i32 = signed
        .iter()
        .enumerate()
        .map(|(at, byte)| {
            if (148..156).contains(&at) {
                32
            } else {
                i32::from(byte.cast_signed())
            }
        })
        .sum();
    signed[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    all.push(("signed checksum".to_owned(), tar(&[&signed])));
    let folder = header(POSIX, b"a/", b'5', 3);
    all.push((
        "folder with content".to_owned(),
        tar(&[&member(&folder, b"abc")]),
    ));
    for content in [&b"a"[..], &[b'a'; 511], &[b'a'; 513]] {
        let mut hidden = tar_file(POSIX, b"a", content);
        *hidden.last_mut().unwrap() = b'x';
        all.push((
            format!("hidden data after {} bytes", content.len()),
            tar(&[&hidden]),
        ));
    }
    all
}

/// Pax records that are malformed, or that programs read differently.
const MALFORMED_PAX: &[(&str, &[u8])] = &[
    ("no length", b"path=x\n"),
    ("empty line", b"\n10 path=x\n"),
    ("short length", b"9 path=x\n\n"),
    ("long length", b"11 path=x\n"),
    ("no line break", b"9 path=x "),
    ("no key", b"5 xy\n"),
    ("negative length", b"-9 path=x\n"),
    ("length with a plus", b"+11 path=x\n"),
    ("length zero", b"0 path=x\n"),
    ("huge length", b"99999999999999999999999 path=x\n"),
    ("length alone", b"3 \n"),
    ("no space", b"10path=xy\n"),
    ("line break in a value", b"25 comment=\n13 path=../x\n"),
    ("line break in a key", b"15 a\npath=../x\n"),
    ("twice", b"9 path=x\n9 path=y\n"),
    ("twice, spelled apart", b"9 path=x\n011 path=y\n"),
    ("key that is not UTF-8", b"6 \xff=x\n"),
    ("zero after the records", b"9 path=x\n\0"),
    ("path that is not UTF-8", b"9 path=\xff\n"),
    ("empty path", b"8 path=\n"),
];

/// Pax headers whose records are malformed or not accepted.
fn pax_headers() -> Vec<Hostile> {
    let file = tar_file(POSIX, b"a", b"abc");
    let mut all = Vec::new();
    let mut add = |what: &str, members: &[&[u8]]| all.push((what.to_owned(), tar(members)));
    for value in [
        "4",
        "2",
        "0",
        "-3",
        "+3",
        "3 ",
        " 3",
        "0x3",
        "",
        "three",
        "3.0",
        "18446744073709551615",
        "99999999999999999999",
        "1024",
    ] {
        add(
            &format!("pax size `{value}`"),
            &[&pax("size", value.as_bytes()), &file],
        );
        let second = [
            &pax_record("path", b"c")[..],
            &pax_record("size", value.as_bytes()),
        ]
        .concat();
        add(
            &format!("pax path and size `{value}`"),
            &[&extension(b'x', &second), &file],
        );
    }
    for key in [
        "linkpath",
        "GNU.sparse.size",
        "GNU.sparse.name",
        "GNU.sparse.major",
        "GNU.sparse.map",
        "GNU.sparse.realsize",
        "hdrcharset",
        "charset",
        "SCHILY.filetype",
        "SCHILY.realsize",
        "SCHILY.devmajor",
        "MSWINDOWS.rawsd",
        "unknown",
        "Path",
        "path ",
        " path",
        "",
        "SIZE",
    ] {
        add(&format!("pax key `{key}`"), &[&pax(key, b"1"), &file]);
    }
    for (what, record) in MALFORMED_PAX {
        add(
            &format!("pax record with {what}"),
            &[&extension(b'x', record), &file],
        );
    }
    all
}

/// Extension headers in the wrong place or number.
fn extensions() -> Vec<Hostile> {
    let file = tar_file(POSIX, b"a", b"abc");
    let next = tar_file(POSIX, b"b", b"");
    let mut all = Vec::new();
    let mut add = |what: &str, members: &[&[u8]]| all.push((what.to_owned(), tar(members)));
    let long = vec![b'a'; 65 << 10];
    for kind in [b'x', b'L', b'K', b'g'] {
        let shown = char::from(kind);
        add(
            &format!("{shown} without content"),
            &[&extension(kind, b""), &file],
        );
        add(
            &format!("{shown} with 65 KiB"),
            &[&extension(kind, &long), &file],
        );
        add(
            &format!("{shown} with a malformed size"),
            &[
                &patched(&header(POSIX, b"h", kind, 0), 124, &[0xff; 12]),
                &file,
            ],
        );
        add(
            &format!("{shown} and then the end"),
            &[&next, &extension(kind, &pax_record("path", b"c"))],
        );
        for other in [b'x', b'L', b'K', b'g'] {
            let [first, second] = [(kind, "c"), (other, "d")].map(|(kind, path)| match kind {
                b'L' | b'K' => extension(kind, path.as_bytes()),
                _ => extension(kind, &pax_record("path", path.as_bytes())),
            });
            add(
                &format!("{shown} and {}", char::from(other)),
                &[&first, &second, &file],
            );
        }
    }
    for key in [
        "path",
        "size",
        "linkpath",
        "mtime",
        "uid",
        "uname",
        "hdrcharset",
        "GNU.sparse.major",
    ] {
        let global = extension(b'g', &pax_record(key, b"3"));
        add(&format!("global {key}"), &[&global, &file]);
        let both = [pax_record("comment", b"x"), pax_record(key, b"3")].concat();
        add(
            &format!("global comment and {key}"),
            &[&extension(b'g', &both), &file],
        );
    }
    let comment = extension(b'g', &pax_record("comment", b"0123"));
    add("global comment in the middle", &[&next, &comment, &file]);
    add("two global comments", &[&comment, &comment, &file]);
    add(
        "global header that is malformed",
        &[&extension(b'g', b"comment"), &file],
    );
    add(
        "long target of a link",
        &[
            &extension(b'K', b"/etc/passwd\0"),
            &header(GNU, b"a", b'2', 0),
        ],
    );
    add(
        "two zeros after a long name",
        &[&extension(b'L', b"a\0\0"), &file],
    );
    all
}

/// Returns entries that are each fine, but not together.
fn sequences() -> Vec<Hostile> {
    let file = |name: &str| tar_file(POSIX, name.as_bytes(), name.as_bytes());
    let folder = |name: &str| tar_folder(name.as_bytes());
    let by_pax = |name: &str| [pax("path", name.as_bytes()), file("z")].concat();
    let by_gnu = |name: &str| [extension(b'L', name.as_bytes()), file("z")].concat();
    let top = tar_folder(b"./");
    let cases: [(&str, Vec<Vec<u8>>); 22] = [
        ("a file twice", vec![file("a"), file("a")]),
        ("a file twice, apart", vec![file("a"), file("b"), file("a")]),
        ("a file twice, by pax", vec![file("a"), by_pax("a")]),
        ("a file twice, by a long name", vec![by_gnu("a"), file("a")]),
        ("a file twice, with `./`", vec![file("./a"), file("a")]),
        ("a folder twice", vec![folder("a/"), folder("a/")]),
        (
            "a folder twice, without slash",
            vec![folder("a/"), folder("a")],
        ),
        ("the top folder twice", vec![top.clone(), top.clone()]),
        ("the top folder late", vec![file("a"), top]),
        (
            "a folder twice, with a file between",
            vec![folder("a"), file("a/b"), folder("a")],
        ),
        ("a file, then a folder", vec![file("a"), folder("a/")]),
        ("a folder, then a file", vec![folder("a/"), file("a")]),
        ("a file, then a file below", vec![file("a"), file("a/b")]),
        ("a file below, then a file", vec![file("a/b"), file("a")]),
        (
            "a file far below, then a file",
            vec![file("a/b/c/d"), file("a/b")],
        ),
        (
            "a file, then a file far below",
            vec![file("a/b"), file("a/b/c/d")],
        ),
        (
            "a file, then a folder below",
            vec![file("a"), folder("a/b")],
        ),
        (
            "a folder below, then a file",
            vec![folder("a/b"), file("a")],
        ),
        (
            "neighbours between",
            vec![file("a!"), file("a/b"), file("a0"), file("a")],
        ),
        ("a file below, by pax", vec![file("a"), by_pax("a/b")]),
        (
            "a file below, by a long name",
            vec![by_gnu("a/b"), file("a")],
        ),
        (
            "a folder far below a file",
            vec![file("a"), folder("a/b/c")],
        ),
    ];
    cases
        .into_iter()
        .map(|(what, members)| {
            let members: Vec<&[u8]> = members.iter().map(Vec::as_slice).collect();
            (what.to_owned(), tar(&members))
        })
        .collect()
}

/// Returns archives that end too early, or do not end where the mark is.
fn ends() -> Vec<Hostile> {
    let file = tar_file(POSIX, b"a", b"abc");
    let other = tar(&[&tar_file(POSIX, b"../evil", b"evil")]);
    let whole = tar(&[&file]);
    let zeros = |count: usize| vec![0; count];
    [
        ("no end", file.clone()),
        ("half an end", [file.clone(), zeros(512)].concat()),
        (
            "part of a block at the end",
            [whole.clone(), zeros(100)].concat(),
        ),
        (
            "another archive at the end",
            [whole.clone(), other.clone()].concat(),
        ),
        (
            "another archive far after the end",
            [whole.clone(), zeros(8192), other.clone()].concat(),
        ),
        (
            "another archive after one block",
            [file, zeros(512), other].concat(),
        ),
        ("text after the end", [&whole[..], &[b'x'; 512]].concat()),
        ("one byte after the end", [&whole[..], b"x"].concat()),
        ("one byte in the second block", {
            let mut bytes = whole.clone();
            *bytes.last_mut().unwrap() = 1;
            bytes
        }),
        ("the same archive again", [whole.clone(), whole].concat()),
    ]
    .map(|(what, bytes)| (what.to_owned(), bytes))
    .into()
}

/// A file after a long name, a pax path and a folder.
fn sample() -> Vec<u8> {
    tar(&[
        &extension(b'g', &pax_record("comment", b"0123456789")),
        &tar_folder(b"top/"),
        &[
            pax("path", b"top/SKILL.md"),
            tar_file(POSIX, b"x", &[b'a'; 700]),
        ]
        .concat(),
        &[extension(b'L', b"top/long\0"), tar_file(GNU, b"x", b"abc")].concat(),
    ])
}

fn truncated() -> Vec<Hostile> {
    let whole = sample();
    let packed = gzip(&whole);
    let mut all: Vec<Hostile> = (0..whole.len())
        .step_by(37)
        .chain((0..whole.len()).step_by(512))
        .map(|at| (format!("cut at {at}"), whole[..at].to_vec()))
        .collect();
    all.extend((0..packed.len()).map(|at| (format!("gzip cut at {at}"), packed[..at].to_vec())));
    all.extend((0..whole.len()).step_by(61).map(|at| {
        let archive = gzip(&whole[..at]);
        (format!("cut at {at}, then gzip"), archive)
    }));
    all
}

/// Returns archives with one bit changed that a checksum covers.
fn damaged() -> Vec<Hostile> {
    let packed = gzip(&sample());
    let mut all = Vec::new();
    for at in packed.len() - 8..packed.len() {
        let mut archive = packed.clone();
        archive[at] ^= 0x10;
        all.push((format!("wrong checksum or size of gzip at {at}"), archive));
    }
    let second = gzip(&tar(&[&tar_file(POSIX, b"b", b"")]));
    for (what, after) in [
        ("text", b"text".to_vec()),
        ("zeros", vec![0; 512]),
        ("another archive", second),
        ("half a header", b"\x1f\x8b\x08".to_vec()),
        ("a zip", zip(&[ZipEntry::stored(b"b", b"")])),
    ] {
        all.push((
            format!("{what} after gzip"),
            [packed.clone(), after].concat(),
        ));
    }
    all
}

/// Returns archives that are tar to some programs and zip to others.
fn in_two_formats() -> Vec<Hostile> {
    let inner = zip(&[ZipEntry::stored(b"b", b"")]);
    let record = |comment: usize| end_record(0, 0, 0, &vec![0; comment]);
    let mut all = vec![
        ("zip inside, up to the end", {
            let file = tar_file(POSIX, b"a", &inner);
            let mut bytes = tar(&[&file]);
            let at = 512 + inner.len() - 2;
            let rest = u16::try_from(bytes.len() - at - 2).unwrap();
            bytes[at..at + 2].copy_from_slice(&rest.to_le_bytes());
            bytes
        }),
        (
            "zip after the end",
            [tar(&[&tar_file(POSIX, b"a", b"")]), inner.clone()].concat(),
        ),
        ("end record in the padding", {
            let mut bytes = tar(&[&tar_file(POSIX, b"a", b"a")]);
            let record = record(bytes.len() - 600 - 22);
            bytes[600..600 + record.len()].copy_from_slice(&record);
            bytes
        }),
        (
            "name that starts as a zip",
            tar(&[&tar_file(POSIX, b"PK\x03\x04", b"")]),
        ),
        (
            "name that starts as a gzip",
            tar(&[&tar_file(POSIX, b"\x1f\x8b\x08", b"")]),
        ),
        ("zip with a tar header inside", {
            let tar = tar_file(POSIX, b"a", b"");
            let mut name = tar[30..].to_vec();
            name.truncate(400);
            zip(&[ZipEntry::stored(&name, b"")])
        }),
    ];
    let mut gzip = gzip(&tar(&[&tar_file(POSIX, b"a", b"")]));
    gzip.extend(&inner);
    all.push(("zip after gzip", gzip));
    all.into_iter()
        .map(|(what, bytes)| (what.to_owned(), bytes))
        .collect()
}
