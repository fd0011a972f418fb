//! The files of a skill: all of them, and none outside.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests lay out hostile folders")]

use std::fs;
use std::os::unix::fs::symlink;

use skillfold_core::name::ResourcePath;
use skillfold_core::source::{Cursor, Folder, ResourceKind};
use skillfold_core::{ErrorKind, FsSource, Limits, MemorySource, Source};
use skillfold_testkit::{files, folder};

const TREE: &str = "
    //- pdf/SKILL.md
    ---
    //- pdf/references/forms.md
    Forms
    //- pdf/a/b/c/d/e/deep.txt
    deep
    //- pdf/scripts/run.py
    print()
";

fn path(text: &str) -> ResourcePath {
    text.parse().unwrap()
}

fn listed(source: &dyn Source, cursor: Option<&Cursor>) -> String {
    let resources = source
        .resources(&Folder::new("pdf").unwrap(), &Limits::default(), cursor)
        .unwrap();
    let files = resources
        .files
        .iter()
        .map(|file| format!("{} {}\n", file.path, file.size));
    files
        .chain(
            resources
                .findings
                .iter()
                .map(|finding| format!("{}\n", finding.diagnostic)),
        )
        .collect()
}

#[test]
fn disk_and_memory_list_files_five_folders_deep() {
    let root = folder(TREE);
    let disk = FsSource::open(root.path()).unwrap();
    let memory = MemorySource::new(files(TREE));
    insta::assert_snapshot!(listed(&disk, None), @"
    SKILL.md 4
    a/b/c/d/e/deep.txt 5
    references/forms.md 6
    scripts/run.py 8
    ");
    assert_eq!(listed(&disk, None), listed(&memory, None));
    let cursor = Cursor::after("references/forms.md");
    assert_eq!(listed(&disk, Some(&cursor)), "scripts/run.py 8\n");
    assert_eq!(listed(&memory, Some(&cursor)), "scripts/run.py 8\n");
}

#[test]
fn file_five_folders_deep_is_read() {
    let root = folder(TREE);
    let source = FsSource::open(root.path()).unwrap();
    let content = source
        .read(
            &Folder::new("pdf").unwrap(),
            &path("a/b/c/d/e/deep.txt"),
            0..100,
        )
        .unwrap();
    assert_eq!(content.bytes, b"deep\n");
}

#[test]
fn range_is_read_up_to_the_end_of_the_file() {
    let root = folder(TREE);
    let disk = FsSource::open(root.path()).unwrap();
    let memory = MemorySource::new(files(TREE));
    for source in [&disk as &dyn Source, &memory] {
        let read = |range| {
            source
                .read(
                    &Folder::new("pdf").unwrap(),
                    &path("references/forms.md"),
                    range,
                )
                .unwrap()
                .bytes
        };
        assert_eq!(read(1..4), b"orm");
        assert_eq!(read(4..u64::MAX), b"s\n");
        assert_eq!(read(90..95), b"");
        #[expect(clippy::reversed_empty_ranges, reason = "hostile on purpose")]
        let reversed = 5..2;
        assert_eq!(read(reversed), b"");
    }
}

#[test]
fn kind_of_a_path_is_reported() {
    let root = folder(TREE);
    let disk = FsSource::open(root.path()).unwrap();
    let memory = MemorySource::new(files(TREE));
    for source in [&disk as &dyn Source, &memory] {
        let kind = |text| source.kind(&Folder::new("pdf").unwrap(), &path(text));
        assert_eq!(kind("references").unwrap(), ResourceKind::Folder);
        assert_eq!(kind("references/forms.md").unwrap(), ResourceKind::File);
        assert_eq!(
            kind("references/none.md").unwrap_err().kind(),
            ErrorKind::NotFound
        );
    }
}

#[test]
fn links_and_pipes_inside_a_skill_are_refused() {
    let root = folder(TREE);
    fs::write(root.path().join("secret"), "key").unwrap();
    symlink("../secret", root.path().join("pdf/link.md")).unwrap();
    symlink("..", root.path().join("pdf/up")).unwrap();
    symlink("references", root.path().join("pdf/inside")).unwrap();
    skillfold_testkit::make_pipe(&root.path().join("pdf/pipe"));
    let source = FsSource::open(root.path()).unwrap();
    for name in [
        "link.md",
        "up/secret",
        "inside/forms.md",
        "pipe",
        "references",
    ] {
        let error = source
            .read(&Folder::new("pdf").unwrap(), &path(name), 0..10)
            .unwrap_err();
        assert_eq!(
            error.kind(),
            ErrorKind::Refused,
            "{name}: {error}, {}",
            error.hint()
        );
    }
    insta::assert_snapshot!(listed(&source, None), @"
    SKILL.md 4
    a/b/c/d/e/deep.txt 5
    references/forms.md 6
    scripts/run.py 8
    info[SF509]: Link is not followed: `inside`
    info[SF509]: Link is not followed: `link.md`
    error[SF504]: Not a regular file: `pipe`
    info[SF509]: Link is not followed: `up`
    ");
}

#[test]
fn folder_outside_the_source_cannot_be_built() {
    for path in [
        "",
        "..",
        "../..",
        "a/../..",
        "/etc",
        "a//b",
        "./a",
        "a\nb",
        "a\u{202e}b",
    ] {
        assert!(Folder::new(path).is_err(), "{path:?}");
    }
    assert!(Folder::new("group/My skill: v1.").is_ok());
}

#[test]
fn disk_and_memory_report_unprintable_names_alike() {
    let root = folder(TREE);
    fs::write(root.path().join("pdf/a:b"), "x").unwrap();
    let mut tree = files(TREE);
    tree.push(("pdf/a:b".to_owned(), "x".to_owned()));
    for source in [
        &FsSource::open(root.path()).unwrap() as &dyn Source,
        &MemorySource::new(tree),
    ] {
        assert!(listed(source, None).contains("SF502"));
    }
}

/// Returns all pages of the files of the skill: paths, a line `--` after each page, and the codes of findings.
fn pages(source: &dyn Source, limits: &Limits) -> String {
    let (mut text, mut cursor) = (String::new(), None);
    loop {
        let page = source
            .resources(&Folder::new("pdf").unwrap(), limits, cursor.as_ref())
            .unwrap();
        assert!(page.files.len() <= limits.resources.max(1));
        for file in page.files {
            text += &format!("{}\n", file.path);
        }
        for finding in page.findings {
            text += &format!("{} {}\n", finding.diagnostic.code, finding.path);
        }
        let Some(next) = page.next else { return text };
        assert_ne!(cursor.as_ref(), Some(&next));
        text += "--\n";
        cursor = Some(next);
    }
}

#[test]
fn files_are_paged_in_path_order() {
    let mut tree = files(TREE);
    for name in ["a-b/x", "a.md", "a/b.md", "references/a.md"] {
        tree.push((format!("pdf/{name}"), String::new()));
    }
    let root = tempfile::tempdir().unwrap();
    skillfold_testkit::write(root.path(), &tree);
    let disk = FsSource::open(root.path()).unwrap();
    let limits = Limits::default().with_resources(3);
    insta::assert_snapshot!(pages(&disk, &limits), @"
    SKILL.md
    a-b/x
    a.md
    --
    a/b.md
    a/b/c/d/e/deep.txt
    references/a.md
    --
    references/forms.md
    scripts/run.py
    ");
    let memory = MemorySource::new(tree);
    for resources in [0, 1, 2, 3, 7, 8, 9, 100] {
        let limits = Limits::default().with_resources(resources);
        assert_eq!(pages(&disk, &limits), pages(&memory, &limits));
    }
}

#[test]
fn findings_are_on_the_first_page() {
    let root = folder(TREE);
    symlink("..", root.path().join("pdf/up")).unwrap();
    let limits = Limits::default().with_resources(2).with_resource_depth(4);
    let source = FsSource::open(root.path()).unwrap();
    insta::assert_snapshot!(pages(&source, &limits), @"
    SKILL.md
    references/forms.md
    SF509 up
    SF507 a/b/c/d/e
    --
    scripts/run.py
    ");
}

#[test]
fn directory_order_never_drops_a_file() {
    let root = folder(TREE);
    for number in 0..300 {
        let file = root
            .path()
            .join(format!("pdf/scripts/{:03}", (number * 7) % 300));
        fs::write(file, "").unwrap();
    }
    let source = FsSource::open(root.path()).unwrap();
    let limits = Limits::default().with_resources(10);
    let all = pages(&source, &limits);
    let scripts: Vec<_> = all
        .lines()
        .filter_map(|line| line.strip_prefix("scripts/"))
        .collect();
    assert_eq!(scripts.len(), 301);
    assert!(scripts.is_sorted());
}

#[test]
fn folder_at_the_limit_is_listed_completely_or_not_at_all() {
    let root = folder(TREE);
    for name in ["1", "2", "3", "4"] {
        fs::write(root.path().join("pdf/references").join(name), "").unwrap();
    }
    let source = FsSource::open(root.path()).unwrap();
    let listed = |walk_entries| {
        let limits = Limits::default().with_walk_entries(walk_entries);
        pages(&source, &limits)
    };
    insta::assert_snapshot!(listed(3), @"SF507");
    insta::assert_snapshot!(listed(13), @"
    SKILL.md
    a/b/c/d/e/deep.txt
    SF507 references
    ");
    insta::assert_snapshot!(listed(14), @"
    SKILL.md
    a/b/c/d/e/deep.txt
    references/1
    references/2
    references/3
    references/4
    references/forms.md
    SF507 scripts
    ");
    assert!(!listed(15).contains("SF507"));
}

#[test]
fn findings_over_the_limit_are_counted() {
    let root = folder(TREE);
    for number in 0..5 {
        symlink("none", root.path().join(format!("pdf/link{number}"))).unwrap();
    }
    let limits = Limits::default().with_findings(2);
    let source = FsSource::open(root.path()).unwrap();
    let page = source.resources(&Folder::new("pdf").unwrap(), &limits, None);
    let findings = page.unwrap().findings;
    assert_eq!(findings.len(), 3);
    insta::assert_snapshot!(findings[2].diagnostic, @"warning[SF514]: 3 more findings are not listed");
}

#[test]
fn version_control_files_are_neither_listed_nor_read() {
    let tree = "
        //- pdf/SKILL.md
        ----
        //- pdf/.git/config
        url = https://user:secret@example.org
        //- pdf/sub/.GIT/config
        secret
        //- pdf/.github/notes.md
        Fine.
        //- pdf/.gitignore
        target
    ";
    let root = folder(tree);
    for source in [
        &FsSource::open(root.path()).unwrap() as &dyn Source,
        &MemorySource::new(files(tree)),
    ] {
        let listed = listed(source, None);
        assert!(listed.contains(".github/notes.md") && listed.contains(".gitignore"));
        assert!(!listed.contains("config "), "{listed}");
        assert!(listed.contains("info[SF517]"), "{listed}");
    }
    for path in [
        ".git/config",
        "sub/.GIT/config",
        ".hg",
        "a/.svn/entries",
        "git~1/config",
        "sub/GIT~12/config",
        "gi7EBA~1/config",
        "hg~1/hgrc",
        "svn~1/entries",
        ".g\u{200c}it/config",
    ] {
        assert!(path.parse::<ResourcePath>().is_err(), "{path}");
    }
}
