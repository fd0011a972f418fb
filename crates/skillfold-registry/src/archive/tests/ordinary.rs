//! Archives as tools write them.

use super::build::{
    GNU, POSIX, ZipEntry, extension, gzip, header, join_zip, member, patched, pax, pax_record, tar,
    tar_file, tar_folder, zip,
};
use super::check;

#[test]
fn archive_of_git_keeps_its_top_folder() {
    let archive = tar(&[
        &extension(b'g', &pax_record("comment", b"710b6f62e6dd")),
        &tar_folder(b"skills-main/"),
        &tar_file(POSIX, b"skills-main/.gitignore", b"target"),
        &tar_file(POSIX, b"skills-main/pdf/SKILL.md", b"---\nname: pdf\n---\n"),
    ]);
    insta::assert_snapshot!(check(&gzip(&archive)), @r"
    skills-main/.gitignore: target
    skills-main/pdf/SKILL.md: ---\nname: pdf\n---\n
    ");
    assert_eq!(check(&gzip(&archive)), check(&archive));
}

#[test]
fn leading_dot_of_tar_is_not_part_of_the_path() {
    let archive = tar(&[
        &tar_folder(b"./"),
        &tar_folder(b"./pdf/"),
        &tar_file(GNU, b"./pdf/SKILL.md", b"a"),
        &tar_file(GNU, b"b", b"b"),
    ]);
    insta::assert_snapshot!(check(&archive), @r"
    b: b
    pdf/SKILL.md: a
    ");
}

#[test]
fn every_way_to_write_a_name_is_read() {
    let old_file = member(&header(POSIX, b"old", 0, 3), b"abc");
    let prefixed = patched(&header(POSIX, b"file", b'0', 0), 345, b"a/prefix");
    let spaced = patched(&header(POSIX, b"spaces", b'0', 0), 124, b"         0 \0");
    let full = [b'n'; 100];
    let times = [pax_record("mtime", b"1.5"), pax_record("size", b"3")].concat();
    let archive = tar(&[
        &old_file,
        &prefixed,
        &spaced,
        &tar_file(POSIX, &full, b""),
        &[pax("path", "pax/ä".as_bytes()), tar_file(POSIX, b"x", b"")].concat(),
        &[extension(b'x', &times), tar_file(POSIX, b"times", b"abc")].concat(),
        &[extension(b'L', b"gnu/long\0"), tar_file(GNU, b"x", b"")].concat(),
        &[extension(b'L', b"gnu/unended"), tar_file(GNU, b"x", b"")].concat(),
        &[pax("path", b"folder/"), tar_folder(b"x")].concat(),
    ]);
    insta::assert_snapshot!(check(&archive), @r"
    a/prefix/file: 
    gnu/long: 
    gnu/unended: 
    nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn: 
    old: abc
    pax/ä: 
    spaces: 
    times: abc
    ");
}

#[test]
fn gzip_in_several_members_is_one_archive() {
    let archive = tar(&[&tar_file(POSIX, b"a", &[b'x'; 600])]);
    let (first, second) = archive.split_at(700);
    let members = [gzip(first), gzip(b""), gzip(second), gzip(&[0; 512])].concat();
    assert_eq!(check(&members), check(&archive));
}

#[test]
fn zip_is_read_with_comments_descriptors_and_times() {
    let times = [0x55, 0x54, 5, 0, 1, 0, 0, 0, 0];
    let mut annotated = ZipEntry::deflated(b"times", b"abc");
    annotated.local_extra = times.to_vec();
    annotated.central_extra = [&times[..], &[0xfe, 0xca, 0, 0]].concat();
    annotated.comment = b"comment".to_vec();
    let folder = ZipEntry {
        attributes: 0o040_755 << 16 | 0x10,
        ..ZipEntry::deflated(b"folder/", b"").with_descriptor(b"PK\x07\x08")
    };
    let entries = [
        folder,
        ZipEntry::stored(b"folder/stored", b"abc"),
        ZipEntry::deflated("folder/ä".as_bytes(), b"abc").with_descriptor(b"PK\x07\x08"),
        ZipEntry::deflated(b"folder/deflated", b"abc").with_descriptor(b""),
        annotated,
    ];
    let (mut locals, mut centrals) = (Vec::new(), Vec::new());
    for entry in &entries {
        centrals.push(entry.central_part(locals.len()));
        locals.extend(entry.local_part());
    }
    // The directory may list the entries in any order.
    centrals.reverse();
    let archive = join_zip(&locals, &centrals.concat(), entries.len(), b"710b6f62e6dd");
    insta::assert_snapshot!(check(&archive), @r"
    folder/deflated: abc
    folder/stored: abc
    folder/ä: abc
    times: abc
    ");
}

#[test]
fn archive_in_an_archive_is_just_a_file() {
    let inner = zip(&[ZipEntry::stored(b"../evil", b"evil")]);
    let in_tar = tar(&[&tar_file(POSIX, b"inner.zip", &inner)]);
    for archive in [
        gzip(&in_tar),
        in_tar,
        zip(&[ZipEntry::stored(b"inner.zip", &inner)]),
    ] {
        let files = super::files(&archive).unwrap();
        assert_eq!(files.get("inner.zip"), Some(&inner));
    }
    let inner = gzip(&tar(&[&tar_file(POSIX, b"../evil", b"evil")]));
    let files = super::files(&zip(&[ZipEntry::stored(b"inner.tgz", &inner)])).unwrap();
    assert_eq!(files.get("inner.tgz"), Some(&inner));
}

#[test]
fn archive_of_nothing_has_no_files() {
    assert_eq!(check(&zip(&[])), "");
    assert_eq!(check(&tar(&[&tar_folder(b"a/")])), "");
}

#[test]
fn name_in_a_message_is_short_and_visible() {
    let name = format!("\u{1b}[2J{}/../x", "long".repeat(40));
    let archive = tar(&[&pax("path", name.as_bytes()), &tar_file(POSIX, b"x", b"")]);
    insta::assert_snapshot!(check(&archive), @r"
    Refused to open `x`: `\u{1b}[2Jlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglong…`
    hint: Path has control characters
    ");
}
