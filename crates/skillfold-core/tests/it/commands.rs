//! Commands of Claude Code: each file is a skill.

use std::fs;

use skillfold_core::load::read_body;
use skillfold_core::read::{ReadOptions, discover};
use skillfold_core::source::{CommandSource, Folder, LinkPolicy};
use skillfold_core::{ErrorKind, FsSource, Limits, Source};
use skillfold_testkit::folder;

use crate::show;

fn commands(path: &std::path::Path) -> CommandSource {
    CommandSource::new(FsSource::open_with(path, LinkPolicy::Follow).unwrap())
}

#[test]
fn each_markdown_file_is_a_skill_without_other_files() {
    let root = folder(
        "
        //- commit.md
        ---
        description: Writes a commit
        allowed-tools: Bash(git *)
        ---
        Commit $ARGUMENTS.
        //- git/review.md
        Reviews a branch. Then stops.
        //- deep/SKILL.md
        ---
        description: A skill among commands
        ---
        //- notes.txt
        Not a command.
        //- .hidden/secret.md
        Hidden.
        ",
    );
    let source = commands(root.path());
    let found = discover(&[&source], &ReadOptions::default());
    insta::assert_snapshot!(show::discovery(&found), @"
    commit in commit
    deep in deep
    review in git/review
      warning[SF116]: Description is the first sentence of the instructions: `Reviews a branch.`
    info[SF510]: Command was skipped: `.hidden/secret.md`
    ");
    let skill = &found.skills[0];
    let body = read_body(&source, skill, &Limits::default()).unwrap();
    assert_eq!(body.bytes, b"Commit $ARGUMENTS.\n");
    let files = source.resources(&skill.folder, &Limits::default(), None);
    let files = files.unwrap().files;
    assert_eq!((files.len(), files[0].path.as_str()), (1, "SKILL.md"));
    let file = source.file_path(&skill.folder).unwrap();
    assert_eq!(file, root.path().join("commit.md"));
}

#[test]
fn nothing_but_the_command_is_read() {
    let root = folder("//- commit.md\nCommit.\n//- commit/other.md\nOther.\n");
    let source = commands(root.path());
    let folder = Folder::new("commit").unwrap();
    for path in ["other.md", "commit.md", "x"] {
        let path = path.parse().unwrap();
        let error = source.read(&folder, &path, 0..10).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(source.kind(&folder, &path).is_err());
    }
    let missing = Folder::new("missing").unwrap();
    assert!(source.revision(&missing).is_err());
}

#[cfg(unix)]
#[test]
fn command_that_is_a_link_is_not_followed() {
    let root = folder("//- in/a.md\nA.\n//- out/secret.md\nSecret.\n");
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, root.path().join(at)).unwrap();
    link("../out/secret.md", "in/b.md");
    link("../out", "in/c");
    let source = commands(&root.path().join("in"));
    let found = discover(&[&source], &ReadOptions::default());
    insta::assert_snapshot!(show::discovery(&found), @"
    a in a
      warning[SF116]: Description is the first sentence of the instructions: `A.`
    info[SF509]: Link is not followed: `b.md`
    info[SF509]: Link is not followed: `c`
    ");
    fs::remove_file(root.path().join("in/a.md")).unwrap();
    link("../out/secret.md", "in/a.md");
    let folder = Folder::new("a").unwrap();
    let error = source.head(&folder, 10, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
}

#[test]
fn number_of_commands_is_limited() {
    let root = folder("//- a.md\nA.\n//- b.md\nB.\n//- c.md\nC.\n");
    let mut options = ReadOptions::default();
    options.walk.limits.skills = 2;
    let found = discover(&[&commands(root.path())], &options);
    assert_eq!(found.skills.len(), 2);
    insta::assert_snapshot!(found.findings[0].finding.diagnostic, @"warning[SF507]: Search stopped after too many files in `.`");
}
