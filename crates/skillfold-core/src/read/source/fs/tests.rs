//! The portable tree gives what the native one gives, and the fallback refuses what the kernel refuses.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests lay out hostile folders")]

use std::cell::Cell;
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;
use crate::read::discover::{Discovery, Reading, discover};

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
    fs::write(at("broken/SKILL.md"), "no frontmatter").unwrap();
    fs::write(at("secret"), "key").unwrap();
    symlink("../a/SKILL.md", at("linked/SKILL.md")).unwrap();
    symlink("a", at("same")).unwrap();
    symlink("..", at("group/up")).unwrap();
    symlink("../secret", at("a/link")).unwrap();
    symlink("..", at("a/up")).unwrap();
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("pipe/SKILL.md"),
        rustix::fs::FileType::Fifo,
        mode,
        0,
    )
    .unwrap();
    root
}

fn outline(found: &Discovery) -> Vec<String> {
    let skills = found
        .skills
        .iter()
        .map(|skill| format!("{} {}", skill.folder, skill.revision.size));
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
fn portable_tree_finds_what_the_native_tree_finds() {
    let root = hostile();
    let native = discover(
        &[&FsSource::open(root.path()).unwrap()],
        &Reading::default(),
    );
    let portable = discover(
        &[&FsSource::portable(root.path()).unwrap()],
        &Reading::default(),
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
fn fallback_walk_opens_and_refuses_what_the_kernel_does() {
    let root = hostile();
    let skill = rustix::fs::openat(
        rustix::fs::CWD,
        root.path().join("a"),
        unix::FOLDER,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    for flags in [unix::READ, unix::beneath::LOOK] {
        for path in [
            "references/forms.md",
            "references",
            "link",
            "up/secret",
            "up",
            "none",
            "SKILL.md/x",
        ] {
            let kernel = unix::beneath::open(skill.as_fd(), path, flags)
                .map(|_| ())
                .map_err(|error| error.raw_os_error());
            let walk = unix::beneath::walk(skill.as_fd(), path, flags)
                .map(|_| ())
                .map_err(|error| error.raw_os_error());
            assert_eq!(kernel, walk, "{path}");
        }
    }
}

#[test]
fn link_put_in_place_of_a_folder_is_refused_where_links_are() {
    let root = hostile();
    let path: ResourcePath = "references/forms.md".parse().unwrap();
    let (folder, moved) = (Folder::new("a").unwrap(), root.path().join("moved"));
    fs::rename(root.path().join("a"), &moved).unwrap();
    symlink("moved", root.path().join("a")).unwrap();
    for (links, allowed) in [(Links::Follow, true), (Links::Refuse, false)] {
        let source = FsSource::open_with(root.path(), links).unwrap();
        assert_eq!(source.read(&folder, &path, 0..9).is_ok(), allowed);
        assert_eq!(source.head(&folder, 9, &mut Vec::new()).is_ok(), allowed);
        assert_eq!(source.kind(&folder, &path).is_ok(), allowed);
    }
    let portable = portable::PortableTree::open(root.path(), Links::Refuse).unwrap();
    assert!(
        portable
            .read_beneath("a", &path, &(0..9), &mut Vec::new())
            .is_err()
    );
}

#[test]
fn file_that_changes_while_it_is_read_is_read_once_more() {
    let revision = |size| Revision {
        device: 1,
        inode: 1,
        size,
        modified_ns: 0,
        changed_ns: 0,
    };
    let reads = Cell::new(0);
    let mut bytes = Vec::new();
    let state = steady(&mut bytes, |into| {
        reads.set(reads.get() + 1);
        into.push(b'x');
        Ok((revision(0), revision(u64::from(reads.get() == 1))))
    })
    .unwrap();
    assert_eq!(
        (reads.get(), bytes.len(), state.steadiness),
        (2, 1, Steadiness::Steady)
    );
    let state = steady(&mut Vec::new(), |_| Ok((revision(0), revision(1)))).unwrap();
    assert_eq!(state.steadiness, Steadiness::Changing);
}
