//! The digest of a whole skill.

use skillfold_core::load::{Digest, FileDigests, skill_digest};
use skillfold_core::source::Folder;
use skillfold_core::{ErrorKind, FsSource, MemorySource};

/// The files of a skill, by path.
const FILES: [(&str, &[u8]); 4] = [
    ("SKILL.md", b"---\nname: pdf\n---\n"),
    ("a b.md", b""),
    ("references/forms.md", b"Forms\n"),
    ("z", b"\x00x"),
];

fn digest(files: &[(&str, &[u8])]) -> String {
    let files = files
        .iter()
        .map(|(path, bytes)| (format!("pdf/{path}"), bytes.to_vec()));
    let source = MemorySource::new(files);
    let folder = Folder::new("pdf").unwrap();
    skill_digest(&source, &folder).unwrap().to_string()
}

#[test]
fn digest_has_its_golden_value_in_any_file_order() {
    let expected = "sha256:080aa866725096a42fe7159fc848d5019f4474a991fc866077575fa3426cd1ea";
    assert_eq!(digest(&FILES), expected);
    let mut others = FILES;
    others.reverse();
    assert_eq!(digest(&others), expected);
    let disk = tempfile::tempdir().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let files = FILES.map(|(path, bytes)| (format!("pdf/{path}"), text(bytes)));
    skillfold_testkit::write(disk.path(), &files);
    let source = FsSource::open(disk.path()).unwrap();
    let folder = Folder::new("pdf").unwrap();
    let on_disk = skill_digest(&source, &folder).unwrap();
    assert_eq!(on_disk.to_string(), expected);
}

#[test]
fn golden_digests_match_toolhive() {
    let skill: [(&str, &[u8]); 2] = [("SKILL.md", b"# Skill"), ("refs/guide.md", b"guide")];
    let golden = "sha256:9b46342aaebede490f12bf67a5ecb4be507c7684ee5e11a0511b54c701f464bd";
    assert_eq!(digest(&skill), golden);
    let golden = "sha256:79d1b89c9733bc5a3c51bd715612a85ab13add6933cb9aa7cc1ae44fd5d181a3";
    assert_eq!(digest(&[("a.txt", b"hello world")]), golden);
}

#[test]
fn digest_covers_hidden_files_but_not_version_control() {
    let disk = tempfile::tempdir().unwrap();
    let golden = skillfold_testkit::write_golden_skill(disk.path());
    let source = FsSource::open(disk.path()).unwrap();
    let folder = Folder::new("golden").unwrap();
    assert_eq!(skill_digest(&source, &folder).unwrap().to_string(), golden);
}

#[test]
fn file_digest_list_round_trips_and_other_bytes_are_rejected() {
    let files = FILES.map(|(path, bytes)| (path.parse().unwrap(), Digest::sha256(bytes)));
    let files = FileDigests::from_iter(files);
    let list = files.to_bytes();
    assert_eq!(FileDigests::from_bytes(&list), Some(files));
    for end in 1..list.len() {
        // A list ends where a file ends.
        let is_list =
            list[..end].ends_with(b"\n") && FileDigests::from_bytes(&list[..end]).is_some();
        assert_eq!(
            FileDigests::from_bytes(&list[..end]).is_some(),
            is_list,
            "{end}"
        );
    }
    assert_eq!(FileDigests::from_bytes(b"../a\0"), None);
}

#[test]
fn skill_with_a_non_portable_file_name_has_no_digest() {
    let disk = skillfold_testkit::folder("//- pdf/SKILL.md\nx\n//- pdf/notes:v2.md\nx\n");
    let source = FsSource::open(disk.path()).unwrap();
    let error = skill_digest(&source, &Folder::new("pdf").unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Invalid `pdf`: Path has a backslash or a colon: `notes:v2.md`"
    );
}

#[test]
fn every_byte_and_every_name_changes_the_digest() {
    let known = digest(&FILES);
    for (index, (path, bytes)) in FILES.iter().enumerate() {
        let mut changed = FILES;
        let longer = [bytes, &b"x"[..]].concat();
        changed[index].1 = &longer;
        assert_ne!(digest(&changed), known, "{path}");
        if *path == "SKILL.md" {
            continue;
        }
        let mut renamed = FILES;
        renamed[index].0 = "another";
        assert_ne!(digest(&renamed), known, "{path}");
        let fewer: Vec<_> = FILES
            .iter()
            .filter(|file| file.0 != *path)
            .copied()
            .collect();
        assert_ne!(digest(&fewer), known, "{path}");
    }
}

#[test]
fn file_longer_than_one_read_is_hashed_in_full() {
    let long = vec![b'x'; 3 * 1024 * 1024];
    let mut other = long.clone();
    other[2 * 1024 * 1024 + 1] = b'y';
    assert_ne!(
        digest(&[FILES[0], ("long", &long)]),
        digest(&[FILES[0], ("long", &other)])
    );
    let exact = vec![b'x'; 1024 * 1024];
    assert_ne!(
        digest(&[FILES[0], ("long", &exact)]),
        digest(&[FILES[0], ("long", &long)])
    );
}

#[test]
fn skill_that_cannot_be_read_in_full_has_no_digest() {
    let files = (0..10_001).map(|number| (format!("pdf/{number}"), Vec::new()));
    let source = MemorySource::new(files);
    let folder = Folder::new("pdf").unwrap();
    let error = skill_digest(&source, &folder).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    let deep = "a/".repeat(70);
    let disk = skillfold_testkit::folder(&format!("//- pdf/SKILL.md\nx\n//- pdf/{deep}b.md\nx\n"));
    let source = FsSource::open(disk.path()).unwrap();
    let error = skill_digest(&source, &folder).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}
