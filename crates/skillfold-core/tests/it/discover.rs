//! What is found in a folder, and what is said about the rest.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests lay out hostile folders")]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use skillfold_core::name::ResourcePath;
use skillfold_core::read::{Discovery, ReadOptions, discover};
use skillfold_core::source::{
    Cursor, FileBytes, FileState, Folder, FolderPage, HiddenPolicy, LinkPolicy, ListedFolder,
    ResourceKind, Resources, Revision, Stability, WalkOptions,
};
use skillfold_core::{Code, Error, FsSource, Limits, MemorySource, Source};
use skillfold_testkit::{files, folder};

use crate::show;

fn find(path: &Path) -> Discovery {
    find_with(path, WalkOptions::default())
}

fn find_with(path: &Path, walk: WalkOptions) -> Discovery {
    let source = FsSource::open(path).unwrap();
    discover(&[&source], &ReadOptions::default().with_walk(walk))
}

fn shown(path: &Path) -> String {
    show::discovery(&find(path))
}

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: b\n---\nBody\n")
}

fn write_skill(path: &Path, name: &str) {
    fs::create_dir_all(path).unwrap();
    fs::write(path.join("SKILL.md"), skill(name)).unwrap();
}

#[test]
fn skills_are_found_at_any_depth_in_folder_order() {
    let root = folder(
        "
        //- b/SKILL.md
        ---
        name: b
        description: second
        ---
        //- a-z/SKILL.md
        ---
        name: a-z
        description: x
        ---
        //- a/deep/er/skill/SKILL.md
        ---
        name: skill
        description: nested
        ---
        //- a/README.md
        no skill
    ",
    );
    insta::assert_snapshot!(shown(root.path()), @"
    a-z in a-z
    skill in a/deep/er/skill
    b in b
    ");
}

#[test]
fn discovery_does_not_descend_into_a_skill() {
    let root = folder("//- .keep\n");
    write_skill(&root.path().join("outer"), "outer");
    write_skill(&root.path().join("outer/examples/inner"), "inner");
    insta::assert_snapshot!(shown(root.path()), @"outer in outer");
}

#[test]
fn root_that_is_itself_a_skill_is_one_skill() {
    let root = folder("//- .keep\n");
    write_skill(&root.path().join("solo"), "solo");
    insta::assert_snapshot!(shown(&root.path().join("solo")), @"solo in solo");
}

#[test]
fn broken_skill_never_hides_a_good_one() {
    let root = folder(
        "
        //- bad/SKILL.md
        # No frontmatter
        //- good/SKILL.md
        ---
        name: good
        description: b
        ---
    ",
    );
    insta::assert_snapshot!(shown(root.path()), @"
    bad in bad
      error[SF001]: Expected `---`, found `# No frontmatter`
      warning[SF116]: Description is the first sentence of the instructions: `No frontmatter`
    good in good
    ");
}

#[test]
fn folder_reached_by_two_paths_is_one_skill() {
    let root = folder("//- .keep\n");
    write_skill(&root.path().join("real"), "real");
    symlink("real", root.path().join("alias")).unwrap();
    insta::assert_snapshot!(shown(root.path()), @"
    real in real
    info[SF508]: Same folder as `real`: `alias`
    ");

    let (first, second) = (
        FsSource::open(root.path()).unwrap(),
        FsSource::open(root.path().join(".")).unwrap(),
    );
    let found = discover(&[&first, &second], &ReadOptions::default());
    assert_eq!(found.skills.len(), 1);
}

#[test]
fn hard_links_of_one_file_in_two_folders_are_two_skills() {
    let root = folder("//- .keep\n");
    write_skill(&root.path().join("a"), "a");
    fs::create_dir(root.path().join("b")).unwrap();
    fs::hard_link(
        root.path().join("a/SKILL.md"),
        root.path().join("b/SKILL.md"),
    )
    .unwrap();
    assert_eq!(find(root.path()).skills.len(), 2);
}

#[test]
fn link_loops_terminate() {
    let root = folder("//- group/.keep\n");
    symlink("..", root.path().join("group/up")).unwrap();
    symlink("self", root.path().join("self")).unwrap();
    symlink("gone", root.path().join("dangling")).unwrap();
    write_skill(&root.path().join("group/a"), "a");
    insta::assert_snapshot!(shown(root.path()), @"
    a in group/a
    warning[SF515]: Link target does not exist: `dangling`
    warning[SF512]: Link forms a loop: `self`
    warning[SF512]: Folder was already searched by another path: `group/up`
    ");
}

#[test]
fn skill_file_that_is_not_a_regular_file_is_refused_without_blocking() {
    let root = folder(
        "//- fifo/.keep\n//- socket/.keep\n//- folder/SKILL.md/.keep\n//- link/.keep\n//- target.md\n---\n",
    );
    skillfold_testkit::make_pipe(&root.path().join("fifo/SKILL.md"));
    let _socket =
        std::os::unix::net::UnixListener::bind(root.path().join("socket/SKILL.md")).unwrap();
    symlink("../target.md", root.path().join("link/SKILL.md")).unwrap();
    insta::assert_snapshot!(shown(root.path()), @"
    error[SF504]: `SKILL.md` is not a regular file: `fifo`
    error[SF504]: `SKILL.md` is not a regular file: `folder`
    error[SF503]: `SKILL.md` is a link: `link`
    error[SF504]: `SKILL.md` is not a regular file: `socket`
    ");
    let listed = FsSource::open(root.path())
        .unwrap()
        .list(&WalkOptions::default(), None)
        .unwrap();
    assert_eq!(
        listed.findings.len(),
        4,
        "a listing says the same as a scan"
    );
}

#[test]
fn only_the_head_of_a_huge_file_is_read() {
    let root = folder("//- .keep\n");
    write_skill(&root.path().join("huge"), "huge");
    let file = fs::File::options()
        .write(true)
        .open(root.path().join("huge/SKILL.md"))
        .unwrap();
    file.set_len(1 << 40).unwrap();
    let found = find(root.path());
    assert_eq!(found.skills[0].diagnostics[0].code, Code::Oversize);
    assert_eq!(found.skills[0].revision.size(), 1 << 40);
}

#[test]
fn frontmatter_longer_than_the_head_is_read_in_full() {
    let root = folder("//- .keep\n");
    for (name, length) in [("page", 5_000), ("pages", 40_000), ("over", 70_000)] {
        let path = root.path().join(name);
        fs::create_dir(&path).unwrap();
        let text = format!(
            "---\nname: {name}\nlicense: {}\ndescription: last\n---\nBody\n",
            "x".repeat(length)
        );
        fs::write(path.join("SKILL.md"), text).unwrap();
    }
    insta::assert_snapshot!(shown(root.path()), @"
    page in page
    pages in pages
      warning[SF207]: File has about 10013 tokens, the limit is 8000
    refused over
      error[SF003]: Frontmatter is not closed within 65536 bytes
    ");
}

#[test]
fn discovery_with_zero_limits_terminates() {
    let root = folder("//- .keep\n");
    write_skill(&root.path().join("a"), "a");
    let limits = Limits::default()
        .with_head_bytes(0)
        .with_frontmatter_bytes(0)
        .with_yaml_depth(0)
        .with_yaml_keys(0);
    let found = find_with(
        root.path(),
        WalkOptions::default().with_limits(limits).with_page(0),
    );
    assert_eq!(found.skills.len() + found.refused.len(), 1);
}

#[test]
fn reaching_a_limit_exactly_is_not_reported() {
    let root = folder("//- .keep\n");
    write_skill(&root.path().join("a"), "a");
    let limits = Limits::default().with_skills(1);
    assert_eq!(
        find_with(root.path(), WalkOptions::default().with_limits(limits))
            .findings
            .len(),
        0
    );
}

#[test]
fn line_at_the_edge_of_the_head_is_not_cut() {
    let edge = Limits::default().head_bytes;
    let blank = format!(
        "{}---\nname: a\ndescription: b\n---\nBody\n",
        "\n".repeat(edge - 2)
    );
    let start = "---\nname: a\ndescription: b\nx: ";
    let pad = |end: usize| "x".repeat(end - start.len() - 1);
    let dashes = format!("{start}{}\n--------\n---\nBody\n", pad(edge - 3));
    let fence = format!("{start}{}\n---\nBody\n", pad(edge - 3));
    let bare = format!("{}\n{}", "# Title".repeat(edge / 8), "word ".repeat(edge));
    let fields = format!("---\nname: a\nx: {}\n---\n{bare}", "x".repeat(edge / 2));
    let long = format!("---\nname: a\nx: {}\n---\nText.\n", "x".repeat(60_000));
    for text in [blank, dashes, fence, bare, fields, long] {
        let source = MemorySource::new([("a/SKILL.md", text.clone())]);
        let found = discover(&[&source], &ReadOptions::default());
        let whole = skillfold_core::read::parse(text.as_bytes(), "a");
        assert_eq!(
            found.skills.first().map(|skill| &skill.manifest),
            whole.manifest.as_ref()
        );
        assert_eq!(
            found.skills.first().map(|skill| skill.body_start),
            whole.body_start.map(|body| body as u64)
        );
    }
}

#[test]
fn truncated_search_is_reported_even_when_findings_are_full() {
    let root = folder("//- a/1/2/3/4/5/x\n//- .h1/x\n//- .h2/x\n");
    for name in ["s1", "s2", "s3"] {
        write_skill(&root.path().join("z").join(name), name);
    }
    let limits = Limits::default().with_skills(2).with_findings(1);
    insta::assert_snapshot!(show::discovery(&find_with(root.path(), WalkOptions::default().with_limits(limits))), @"
    s1 in z/s1
    s2 in z/s2
    info[SF510]: Folder was not searched: `.h1`
    warning[SF507]: Search stopped after 2 skills, before `z/s3`
    warning[SF514]: 2 more findings are not listed
    ");
}

#[test]
fn many_links_to_one_folder_are_one_skill_and_extra_findings_are_counted() {
    let root = folder("//- big/a/x\n");
    for number in 0..30 {
        symlink("big", root.path().join(format!("l{number:02}"))).unwrap();
    }
    let limits = Limits::default().with_findings(3);
    let found = find_with(
        root.path(),
        WalkOptions::default().with_limits(limits.clone()),
    );
    assert_eq!(found.findings.len(), 4);
    write_skill(&root.path().join("big"), "big");
    let found = find_with(root.path(), WalkOptions::default().with_limits(limits));
    insta::assert_snapshot!(show::discovery(&found), @"
    big in big
    info[SF508]: Same folder as `big`: `l00`
    info[SF508]: Same folder as `big`: `l01`
    info[SF508]: Same folder as `big`: `l02`
    warning[SF514]: 27 more findings are not listed
    ");
}

#[test]
fn largest_limits_do_not_overflow() {
    let source = MemorySource::new([("a/SKILL.md", skill("a"))]);
    let root = folder("//- .keep\n");
    write_skill(&root.path().join("a"), "a");
    let disk = FsSource::open(root.path()).unwrap();
    let most = usize::MAX;
    let limits = Limits::default()
        .with_head_bytes(most)
        .with_frontmatter_bytes(most)
        .with_walk_entries(most)
        .with_findings(most)
        .with_resources(most);
    let walk = WalkOptions::default().with_limits(limits).with_page(most);
    assert_eq!(
        discover(&[&source, &disk], &ReadOptions::default().with_walk(walk))
            .skills
            .len(),
        2
    );
}

#[test]
fn unnamed_root_skill_has_no_findings() {
    let source = MemorySource::new([("SKILL.md", skill("pdf"))]);
    insta::assert_snapshot!(show::discovery(&discover(&[&source], &ReadOptions::default())), @"pdf in");
}

#[test]
fn unprintable_folder_names_are_reported() {
    let root = folder("//- .keep\n");
    write_skill(
        &root.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9")),
        "a",
    );
    write_skill(&root.path().join("line\nbreak"), "a");
    insta::assert_snapshot!(shown(root.path()), @r"
    error[SF502]: Folder name is not printable: `caf\xe9`
    error[SF502]: Folder name is not printable: `line break`
    ");
}

#[test]
fn skipped_folders_are_reported() {
    let root = folder(
        "//- .hidden/a/SKILL.md\n---\n//- node_modules/a/SKILL.md\n---\n//- wrong/skill.md\n---\n",
    );
    symlink("/", root.path().join("link")).unwrap();
    let source = FsSource::open_with(root.path(), LinkPolicy::Refuse).unwrap();
    insta::assert_snapshot!(show::discovery(&discover(&[&source], &ReadOptions::default())), @"
    info[SF510]: Folder was not searched: `.hidden`
    info[SF510]: Folder was not searched: `node_modules`
    info[SF509]: Link was not followed: `link`
    warning[SF511]: File is not named `SKILL.md`: `wrong/skill.md`
    ");
    let walk = WalkOptions::default().with_hidden(HiddenPolicy::Search);
    let found = discover(&[&source], &ReadOptions::default().with_walk(walk));
    assert_eq!(found.skills.len(), 1);
}

#[test]
fn temporary_folders_of_a_change_are_never_skills() {
    let root = folder(
        "//- .skillfold-write-1/SKILL.md\n---\n//- .skillfold-write-1.old/SKILL.md\n---\n//- .skillfold-kept-2/SKILL.md\n---\n",
    );
    for hidden in [HiddenPolicy::Skip, HiddenPolicy::Search] {
        let found = find_with(root.path(), WalkOptions::default().with_hidden(hidden));
        insta::allow_duplicates! {
            insta::assert_snapshot!(show::discovery(&found), @r"
            warning[SF520]: Edit was saved aside: `.skillfold-kept-2`
            info[SF510]: Folder was not searched: `.skillfold-write-1`
            info[SF510]: Folder was not searched: `.skillfold-write-1.old`
            ");
        }
    }
}

#[test]
fn limits_are_reported_where_they_are_reached() {
    let root = folder("//- a/b/c/d/e/f/SKILL.md\n---\n//- x/.keep\n//- y/.keep\n//- z/.keep\n");
    write_skill(&root.path().join("s1"), "s1");
    write_skill(&root.path().join("s2"), "s2");
    let limited = |limits: Limits| {
        show::discovery(&find_with(
            root.path(),
            WalkOptions::default().with_limits(limits),
        ))
    };
    insta::assert_snapshot!(limited(Limits::default()), @"
    s1 in s1
    s2 in s2
    warning[SF507]: Folder is nested too deep and was not searched: `a/b/c/d/e`
    ");
    insta::assert_snapshot!(limited(Limits::default().with_skills(1)), @"
    s1 in s1
    warning[SF507]: Search stopped after 1 skills, before `s2`
    ");
    insta::assert_snapshot!(limited(Limits::default().with_walk_entries(7)), @"
    s1 in s1
    s2 in s2
    warning[SF507]: Search stopped after 7 entries, before `a/b`
    ");
    insta::assert_snapshot!(limited(Limits::default().with_walk_folders(1)), @"
    s1 in s1
    s2 in s2
    warning[SF507]: Search stopped after 1 folders without a skill, before `a/b/c`
    ");
    let hidden: String = (0..9).map(|number| format!("//- .h{number}/x\n")).collect();
    let many = folder(&hidden);
    let limits = Limits::default().with_findings(2);
    insta::assert_snapshot!(show::discovery(&find_with(many.path(), WalkOptions::default().with_limits(limits))), @"
    info[SF510]: Folder was not searched: `.h0`
    info[SF510]: Folder was not searched: `.h1`
    warning[SF514]: 7 more findings are not listed
    ");
}

#[test]
fn missing_root_is_a_finding_and_discovery_continues() {
    let root = folder("//- a/SKILL.md\n---\n");
    let source = FsSource::open(root.path()).unwrap();
    drop(root);
    assert_eq!(
        discover(&[&source], &ReadOptions::default()).skills.len(),
        0
    );
    assert!(FsSource::open("/nonexistent-root").is_err());
}

#[test]
fn memory_and_disk_sources_find_the_same_skills() {
    let text = "
        //- a/SKILL.md
        ---
        name: a
        description: one
        ---
        //- a/nested/SKILL.md
        ---
        name: nested
        description: no skill of its own
        ---
        //- group/b/SKILL.md
        ---
        name: b
        description: two
        ---
    ";
    let disk = folder(text);
    let memory = MemorySource::new(files(text));
    let from_memory = discover(&[&memory], &ReadOptions::default());
    assert_eq!(show::discovery(&from_memory), shown(disk.path()));
}

#[test]
fn paged_folder_listing_equals_a_single_page() {
    let root = folder("//- .keep\n");
    for number in 0..7 {
        write_skill(&root.path().join(format!("s{number}")), "s");
    }
    let memory =
        MemorySource::new((0..7).map(|number| (format!("s{number}/SKILL.md"), skill("s"))));
    for source in [
        &FsSource::open(root.path()).unwrap() as &dyn Source,
        &memory,
    ] {
        let walk = WalkOptions::default().with_page(3);
        let (mut cursor, mut folders, mut pages) = (None, Vec::new(), 0);
        loop {
            let page: FolderPage = source.list(&walk, cursor.as_ref()).unwrap();
            folders.extend(
                page.folders
                    .into_iter()
                    .map(|listed| listed.folder.to_string()),
            );
            pages += 1;
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(
            (pages, folders.join(" ")),
            (3, "s0 s1 s2 s3 s4 s5 s6".to_owned())
        );
    }
}

/// A source whose files fail in the ways that files do.
#[derive(Debug)]
struct Failing;

impl Source for Failing {
    fn list(&self, _: &WalkOptions, cursor: Option<&Cursor>) -> Result<FolderPage, Error> {
        let revision = Revision::default();
        let mut listing = FolderPage::default();
        listing.folders = ["gone", "changing", "locked"]
            .map(|name| ListedFolder::new(Folder::new(name).unwrap(), revision))
            .into();
        // A cursor that never moves must not keep the search going.
        listing.next = Some(Cursor::after("locked"));
        if cursor.is_some() {
            listing.folders.clear();
        }
        Ok(listing)
    }

    fn head(&self, folder: &Folder, _: usize, into: &mut Vec<u8>) -> Result<FileState, Error> {
        match folder.name() {
            "gone" => Err(Error::not_found("gone/SKILL.md")),
            "locked" => Err(Error::read(
                "locked/SKILL.md",
                std::io::ErrorKind::PermissionDenied.into(),
            )),
            name => {
                into.extend_from_slice(skill(name).as_bytes());
                let revision = Revision::new(into.len() as u64);
                Ok(FileState::new(revision, Stability::Changing))
            }
        }
    }

    fn read(
        &self,
        _: &Folder,
        path: &ResourcePath,
        _: std::ops::Range<u64>,
    ) -> Result<FileBytes, Error> {
        Err(Error::not_found(path.as_str()))
    }

    fn resources(&self, _: &Folder, _: &Limits, _: Option<&Cursor>) -> Result<Resources, Error> {
        Ok(Resources::default())
    }

    fn kind(&self, _: &Folder, path: &ResourcePath) -> Result<ResourceKind, Error> {
        Err(Error::not_found(path.as_str()))
    }
}

#[test]
fn files_that_vanish_change_or_are_locked_are_reported() {
    insta::assert_snapshot!(show::discovery(&discover(&[&Failing], &ReadOptions::default())), @"
    changing in changing
      warning[SF506]: File kept changing while it was read
    refused locked
      error[SF513]: `SKILL.md` could not be read: Could not read `locked/SKILL.md`: permission denied
    warning[SF505]: Skill vanished while it was read: `gone`
    ");
}

#[test]
#[ignore = "needs a user whom permissions bind"]
fn unreadable_folder_is_reported() {
    let root = folder("//- locked/a/SKILL.md\n---\n");
    fs::set_permissions(
        root.path().join("locked"),
        std::os::unix::fs::PermissionsExt::from_mode(0o0),
    )
    .unwrap();
    let found = find(root.path());
    fs::set_permissions(
        root.path().join("locked"),
        std::os::unix::fs::PermissionsExt::from_mode(0o700),
    )
    .unwrap();
    assert!(matches!(
        found.findings[0].finding.diagnostic.code,
        Code::SkillFileUnreadable | Code::FolderUnreadable
    ));
}

#[test]
fn revision_is_taken_from_the_file_that_was_read() {
    let root = folder("//- .keep\n");
    write_skill(&root.path().join("a"), "a");
    let first = find(root.path()).skills[0].revision;
    assert_eq!(first, find(root.path()).skills[0].revision);
    let listed = FsSource::open(root.path())
        .unwrap()
        .list(&WalkOptions::default(), None)
        .unwrap();
    assert_eq!(first, listed.folders[0].revision);
    fs::rename(root.path().join("a/SKILL.md"), root.path().join("old")).unwrap();
    write_skill(&root.path().join("a"), "a");
    assert_ne!(first, find(root.path()).skills[0].revision);
}
