//! The portable tree behaves like the native one, and the fallback refuses what the kernel refuses.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests create hostile folders")]

mod attack;
mod faults;

use std::cell::Cell;
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;
use crate::codes::Code;
use crate::read::discover::{Discovery, ReadOptions, discover};
use crate::source::Stability;

fn hostile() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let at = |path: &str| root.path().join(path);
    for folder in [
        "a/references",
        "group/b",
        "broken",
        "linked",
        "pipe",
        "outer/inner",
    ] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    for folder in ["a", "group/b", "outer", "outer/inner"] {
        fs::write(
            at(folder).join("SKILL.md"),
            format!("---\nname: {folder}\ndescription: x\n---\n"),
        )
        .unwrap();
    }
    fs::write(at("a/references/forms.md"), "Forms").unwrap();
    fs::write(at("broken/SKILL.md"), "\0 is not text").unwrap();
    fs::write(at("secret"), "key").unwrap();
    symlink("../a/SKILL.md", at("linked/SKILL.md")).unwrap();
    symlink("a", at("same")).unwrap();
    symlink("..", at("group/up")).unwrap();
    symlink("../secret", at("a/link")).unwrap();
    symlink("..", at("a/up")).unwrap();
    skillfold_testkit::make_pipe(&at("pipe/SKILL.md"));
    root
}

fn outline(found: &Discovery) -> Vec<String> {
    let skills = found
        .skills
        .iter()
        .map(|skill| format!("{} {}", skill.folder, skill.revision.size()));
    let refused = found
        .refused
        .iter()
        .map(|refused| format!("refused {}", refused.folder));
    let findings = found
        .findings
        .iter()
        .map(|finding| finding.finding.diagnostic.to_string());
    skills.chain(refused).chain(findings).collect()
}

#[test]
fn portable_tree_finds_the_same_as_the_native_tree() {
    let root = hostile();
    let native = discover(
        &[&FsSource::open(root.path()).unwrap()],
        &ReadOptions::default(),
    );
    let portable = discover(
        &[&FsSource::portable(root.path()).unwrap()],
        &ReadOptions::default(),
    );
    assert_eq!(outline(&native), outline(&portable));
    assert_eq!(native.skills.len(), 3);
}

#[test]
fn portable_tree_refuses_links_inside_a_skill() {
    let root = hostile();
    let source = FsSource::portable(root.path()).unwrap();
    let read = |path: &str| source.read(&Folder::new("a").unwrap(), &path.parse().unwrap(), 0..10);
    assert_eq!(read("references/forms.md").unwrap().bytes, b"Forms");
    for path in ["link", "up/secret", "up"] {
        assert_eq!(
            read(path).unwrap_err().kind(),
            crate::ErrorKind::Refused,
            "{path}"
        );
    }
    let native = FsSource::open(root.path())
        .unwrap()
        .resources(&Folder::new("a").unwrap(), &Limits::default(), None)
        .unwrap();
    let portable = source
        .resources(&Folder::new("a").unwrap(), &Limits::default(), None)
        .unwrap();
    assert_eq!(native.files, portable.files);
    assert_eq!(native.findings.len(), portable.findings.len());
}

#[test]
fn fallback_walk_agrees_with_the_kernel() {
    let root = hostile();
    let skill = rustix::fs::openat(
        rustix::fs::CWD,
        root.path().join("a"),
        beneath::FOLDER_FLAGS,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    for flags in [beneath::READ_FLAGS, beneath::STAT_FLAGS] {
        for path in [
            "references/forms.md",
            "references",
            "link",
            "up/secret",
            "up",
            "none",
            "SKILL.md/x",
        ] {
            let kernel = beneath::open(skill.as_fd(), path, flags)
                .map(|_| ())
                .map_err(|error| error.raw_os_error());
            let walk = beneath::open_stepwise(skill.as_fd(), path, flags)
                .map(|_| ())
                .map_err(|error| error.raw_os_error());
            assert_eq!(kernel, walk, "{path}");
        }
    }
}

/// Makes every kind of request for a skill after it was listed.
fn request_all(source: &FsSource, folder: &Folder) -> [(&'static str, Result<(), Error>); 4] {
    let path: ResourcePath = "references/forms.md".parse().unwrap();
    [
        ("read", source.read(folder, &path, 0..9).map(|_| ())),
        ("head", source.head(folder, 9, &mut Vec::new()).map(|_| ())),
        ("kind", source.kind(folder, &path).map(|_| ())),
        (
            "resources",
            source
                .resources(folder, &Limits::default(), None)
                .map(|_| ()),
        ),
    ]
}

/// Opens the folder with the native and the portable implementation.
fn sources(root: &TempDir) -> [FsSource; 2] {
    [
        FsSource::open(root.path()).unwrap(),
        FsSource::portable(root.path()).unwrap(),
    ]
}

/// Returns the folder of a skill as listed by the walk.
fn find_folder(source: &FsSource, path: &str) -> Folder {
    let listing = source.list(&WalkOptions::default(), None).unwrap();
    let mut folders = listing.folders.into_iter().map(|listed| listed.folder);
    folders.find(|folder| folder.path() == path).unwrap()
}

#[track_caller]
fn expect_refused(answers: [(&str, Result<(), Error>); 4], rule: AccessRule) {
    for (name, answer) in answers {
        let error = answer.expect_err(name);
        assert_eq!(
            (error.kind(), error.hint()),
            (crate::ErrorKind::Refused, rule.message()),
            "{name}: {error}"
        );
    }
}

#[test]
fn link_replacing_a_discovered_folder_is_refused() {
    for which in 0..2 {
        let root = hostile();
        let source = &sources(&root)[which];
        let folder = find_folder(source, "a");
        for (name, answer) in request_all(source, &folder) {
            assert!(answer.is_ok(), "{name}");
        }
        fs::rename(root.path().join("a"), root.path().join("moved")).unwrap();
        symlink("moved", root.path().join("a")).unwrap();
        expect_refused(request_all(source, &folder), AccessRule::LinkOnPath);
        // A new walk finds it again, behind a link.
        assert!(
            request_all(source, &find_folder(source, "a"))
                .iter()
                .all(|(_, answer)| answer.is_ok())
        );
    }
}

#[test]
fn link_replacing_a_parent_of_a_discovered_folder_is_refused() {
    for which in 0..2 {
        let root = hostile();
        let source = &sources(&root)[which];
        let folder = find_folder(source, "group/b");
        fs::rename(root.path().join("group"), root.path().join("moved")).unwrap();
        symlink("moved", root.path().join("group")).unwrap();
        expect_refused(request_all(source, &folder), AccessRule::LinkOnPath);
    }
}

#[test]
fn skill_behind_a_link_is_readable_while_the_link_points_to_a_skill() {
    for which in 0..2 {
        let (root, outside) = (tempfile::tempdir().unwrap(), hostile());
        symlink(outside.path().join("a"), root.path().join("linked")).unwrap();
        symlink(outside.path(), root.path().join("all")).unwrap();
        let source = &sources(&root)[which];
        for path in ["linked", "all/a"] {
            let folder = find_folder(source, path);
            for (name, answer) in request_all(source, &folder) {
                assert!(answer.is_ok(), "{path} {name}");
            }
        }
        let (linked, below) = (find_folder(source, "linked"), find_folder(source, "all/a"));
        fs::remove_file(outside.path().join("a/SKILL.md")).unwrap();
        expect_refused(request_all(source, &linked), AccessRule::LinkToNonSkill);
        expect_refused(request_all(source, &below), AccessRule::LinkToNonSkill);
        // A link instead of the file does not count as a `SKILL.md` either.
        symlink("../secret", outside.path().join("a/SKILL.md")).unwrap();
        expect_refused(request_all(source, &linked), AccessRule::LinkToNonSkill);
    }
}

#[test]
fn link_replacing_a_folder_is_not_searched_if_links_are_refused() {
    let root = hostile();
    let followed = find_folder(&sources(&root)[0], "a");
    fs::rename(root.path().join("a"), root.path().join("moved")).unwrap();
    symlink("moved", root.path().join("a")).unwrap();
    let linked = find_folder(&sources(&root)[0], "a");
    let native = FsSource::open_with(root.path(), LinkPolicy::Refuse).unwrap();
    expect_refused(request_all(&native, &followed), AccessRule::LinkOnPath);
    expect_refused(request_all(&native, &linked), AccessRule::LinkOnPath);
    let portable = portable::PortableTree::open(root.path(), LinkPolicy::Refuse).unwrap();
    let path: ResourcePath = "references/forms.md".parse().unwrap();
    let read = portable.read_beneath(&linked, &path, &(0..9), &mut Vec::new());
    assert_eq!(
        AccessRule::from_error(&read.unwrap_err()),
        Some(AccessRule::LinkOnPath)
    );
}

/// Replaces the `SKILL.md` of a skill.
fn replace_skill_file(root: &TempDir, create: impl FnOnce(&Path)) {
    let file = root.path().join("a/SKILL.md");
    fs::remove_file(&file).unwrap();
    create(&file);
}

#[test]
fn head_is_read_only_from_regular_files() {
    let creators: [fn(&Path); 4] = [
        |file| fs::create_dir(file).unwrap(),
        |file| symlink("../secret", file).unwrap(),
        |file| drop(std::os::unix::net::UnixListener::bind(file).unwrap()),
        |file| skillfold_testkit::make_pipe(file),
    ];
    for create in creators {
        let root = hostile();
        let folder = Folder::new("a").unwrap();
        replace_skill_file(&root, create);
        for source in sources(&root) {
            let mut bytes = Vec::new();
            let head = source.head(&folder, 100, &mut bytes).unwrap_err();
            let revision = source.revision(&folder).unwrap_err();
            assert_eq!(head.kind(), crate::ErrorKind::Refused, "{head:?}");
            assert_eq!(revision.kind(), crate::ErrorKind::Refused, "{revision:?}");
            assert!(bytes.is_empty());
        }
    }
}

#[test]
fn head_allocates_at_most_the_request_or_the_file_size() {
    let root = hostile();
    let source = FsSource::open(root.path()).unwrap();
    let folder = Folder::new("a").unwrap();
    let mut bytes = Vec::new();
    source.head(&folder, usize::MAX, &mut bytes).unwrap();
    assert!(bytes.capacity() < 1024, "{}", bytes.capacity());
    let file = fs::OpenOptions::new()
        .write(true)
        .open(root.path().join("a/SKILL.md"));
    file.unwrap().set_len(1 << 40).unwrap();
    let mut bytes = Vec::new();
    source.head(&folder, 4096, &mut bytes).unwrap();
    assert!(bytes.capacity() < 8192, "{}", bytes.capacity());
}

#[test]
fn revision_equals_the_revision_from_reading_the_head() {
    let root = hostile();
    symlink("a", root.path().join("b")).unwrap();
    for source in sources(&root) {
        for path in ["a", "b", "group/b"] {
            let folder = find_folder(&source, path);
            let head = source.head(&folder, 1, &mut Vec::new()).unwrap();
            assert_eq!(source.revision(&folder).unwrap(), head.revision, "{path}");
        }
        let none = source.revision(&Folder::new("none").unwrap()).unwrap_err();
        assert_eq!(none.kind(), crate::ErrorKind::NotFound);
    }
}

#[test]
fn file_with_several_hard_links_is_refused_in_strict_mode() {
    let root = hostile();
    let path: ResourcePath = "references/key.md".parse().unwrap();
    let at = |path: &str| root.path().join(path);
    fs::hard_link(at("secret"), at("a/references/key.md")).unwrap();
    let folder = Folder::new("a").unwrap();
    for links in [LinkPolicy::Follow, LinkPolicy::Refuse] {
        let source = FsSource::open_with(root.path(), links).unwrap();
        assert_eq!(source.read(&folder, &path, 0..9).unwrap().bytes, b"key");
    }
    let strict = FsSource::open_with(root.path(), LinkPolicy::Strict).unwrap();
    for refused in [
        strict.read(&folder, &path, 0..9).map(|_| ()),
        strict.kind(&folder, &path).map(|_| ()),
    ] {
        let error = refused.unwrap_err();
        assert_eq!(error.hint(), AccessRule::HardLinked.message());
        assert_eq!(error.kind(), crate::ErrorKind::Refused);
    }
    let resources = strict.resources(&folder, &Limits::default(), None).unwrap();
    assert!(resources.files.iter().all(|file| file.path != path));
    let codes = resources
        .findings
        .iter()
        .map(|finding| finding.diagnostic.code);
    assert_eq!(codes.filter(|code| *code == Code::HardLinks).count(), 1);
}

#[test]
fn skill_file_with_several_hard_links_is_refused_in_strict_mode() {
    let root = hostile();
    let folder = Folder::new("a").unwrap();
    fs::hard_link(root.path().join("a/SKILL.md"), root.path().join("other")).unwrap();
    let strict = FsSource::open_with(root.path(), LinkPolicy::Strict).unwrap();
    let found = discover(&[&strict], &ReadOptions::default());
    assert!(found.skills.iter().all(|skill| skill.folder != folder));
    let codes = found.findings.iter();
    let codes = codes.map(|finding| (&*finding.finding.path, finding.finding.diagnostic.code));
    assert!(
        codes.clone().any(|code| code == ("a", Code::HardLinks)),
        "{codes:?}"
    );
    let head = strict.head(&folder, 9, &mut Vec::new()).unwrap_err();
    let revision = strict.revision(&folder).unwrap_err();
    assert_eq!(
        [head.hint(), revision.hint()],
        [AccessRule::HardLinked.message(); 2]
    );
    // Symbolic links are refused too.
    assert!(
        found
            .skills
            .iter()
            .all(|skill| skill.folder.path() != "same")
    );
}

#[test]
fn folders_are_ordered_by_path_whatever_links_to_them() {
    use crate::source::folder::Reached;

    let mut folders = [
        Folder::from_walk("b", Reached::Direct),
        Folder::from_walk("a", Reached::Linked),
        Folder::from_walk("a/b", Reached::Direct),
    ];
    folders.sort();
    assert_eq!(folders.each_ref().map(Folder::path), ["a", "a/b", "b"]);
}

#[test]
fn file_that_changes_during_a_read_is_read_once_more() {
    let revision = |size| Revision {
        device: 1,
        inode: 1,
        size,
        modified_ns: 0,
        changed_ns: 0,
    };
    let reads = Cell::new(0);
    let mut bytes = Vec::new();
    let state = read_stable(&mut bytes, |into| {
        reads.set(reads.get() + 1);
        into.push(b'x');
        Ok((revision(0), revision(u64::from(reads.get() == 1))))
    })
    .unwrap();
    assert_eq!(
        (reads.get(), bytes.len(), state.stability),
        (2, 1, Stability::Stable)
    );
    let state = read_stable(&mut Vec::new(), |_| Ok((revision(0), revision(1)))).unwrap();
    assert_eq!(state.stability, Stability::Changing);
}
