//! What Seatbelt guarantees, tested from the inside. Only macOS has it.
#![cfg(target_os = "macos")]
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests read and write files of their own, and fail at any error"
)]

use std::fs;
use std::path::Path;

use skillfold_run::{Outcome, Permissions, Protected, Run, RunOptions, SkillCopy, layers};

fn run(text: &str, permissions: Permissions, directory: Option<&Path>) -> Outcome {
    let path = "scripts/a.sh".parse().unwrap();
    let copy = SkillCopy::new([("scripts/a.sh".parse().unwrap(), text.into())]).unwrap();
    let mut options = RunOptions::default().with_permissions(permissions);
    if let Some(directory) = directory {
        options = options.with_directory(directory);
    }
    Run::new(&copy, &path).with_options(options).run().unwrap()
}

#[test]
fn seatbelt_is_the_sandbox_here() {
    assert_eq!(&*layers().sandbox, "Seatbelt");
    assert!(layers().is_complete(), "{:?}", layers());
}

#[test]
fn script_sees_its_skill_and_a_scratch_folder_and_nothing_of_the_user() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().canonicalize().unwrap().join("secret");
    fs::write(&secret, "CANARY").unwrap();
    let text = format!(
        "cat scripts/a.sh >/dev/null && echo skill\necho x > $TMPDIR/x && echo scratch\n\
         cat '{0}' && echo secret\necho x > '{0}' && echo written\nls ~ && echo home\n\
         curl -s -m 2 http://127.0.0.1:1; test $? = 7 && echo network\ntrue\n",
        secret.display()
    );
    let outcome = run(&text, Permissions::default(), None);
    assert_eq!(
        outcome.stdout_text(),
        "skill\nscratch\n",
        "{}",
        outcome.stderr_text()
    );
    assert_eq!(fs::read_to_string(&secret).unwrap(), "CANARY");
}

#[test]
fn script_writes_to_a_granted_project_but_not_to_its_repository() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap();
    fs::create_dir(project.join(".git")).unwrap();
    let protected =
        Protected::default().with_read_only_names([".git", ".mcp.json"].map(str::to_owned));
    let permissions = Permissions::default()
        .with_write(&project)
        .with_protected(protected);
    let text = "echo x > a.txt && echo written\necho x > .git/config && echo repository\n\
                echo x > .MCP.json && echo settings\ntrue\n";
    let outcome = run(text, permissions, Some(&project));
    assert_eq!(
        outcome.stdout_text(),
        "written\n",
        "{}",
        outcome.stderr_text()
    );
    assert!(project.join("a.txt").exists());
    assert!(!project.join(".git/config").exists());
}
