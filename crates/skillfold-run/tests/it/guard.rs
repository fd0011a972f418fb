//! What stays read-only in a folder that a run may write.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use skillfold_run::{Help, Outcome, Permissions, Protected, Run, RunOptions, help};
use tempfile::TempDir;

use crate::skill::{path, run_options, skill};

/// A project that root's sandbox can also write to.
fn project() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    open(&real);
    (folder, real)
}

fn open(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
}

fn folder(path: impl AsRef<Path>) {
    fs::create_dir_all(&path).unwrap();
    open(path.as_ref());
}

fn options(project: &Path) -> RunOptions {
    let names = [".git", ".claude", ".mcp.json", ".github/hooks"].map(str::to_owned);
    let protected = Protected::default()
        .with_read_only_names(names)
        .with_read_only_paths([project.join("my-skills")]);
    let permissions = Permissions::default()
        .with_write(project)
        .with_protected(protected);
    run_options()
        .with_permissions(permissions)
        .with_directory(project)
}

fn run_in(project: &Path, script: &str) -> Outcome {
    let (copy, file) = (skill(&[("a.sh", script)]), path("a.sh"));
    let run = Run::new(&copy, &file).with_options(options(project));
    run.run().unwrap()
}

/// Returns what a run printed and what was put right after it.
fn told(project: &Path, script: &str) -> String {
    let outcome = run_in(project, script);
    let corrections = outcome.corrections.iter().map(|it| format!("{it}\n"));
    let text = format!(
        "{}{}{}",
        outcome.stdout_text(),
        outcome.stderr_text(),
        corrections.collect::<String>()
    );
    text.replace(&*project.to_string_lossy(), "PROJECT")
        .replace("/skill/a.sh: ", "")
}

#[test]
fn run_works_in_the_project_under_its_own_path() {
    needs_sandbox!();
    let (_folder, project) = project();
    fs::write(project.join("a.txt"), "one two\n").unwrap();
    assert_eq!(
        told(&project, "cat a.txt; pwd; echo new > b.txt"),
        "one two\nPROJECT\n"
    );
    assert_eq!(fs::read_to_string(project.join("b.txt")).unwrap(), "new\n");
}

#[test]
fn repository_and_settings_stay_read_only_anywhere_in_the_project() {
    needs_sandbox!();
    let (_folder, project) = project();
    for place in [
        ".git/hooks",
        "deep/er/.git",
        ".claude/skills",
        ".github/hooks",
        "my-skills/x",
    ] {
        folder(project.join(place));
    }
    folder(project.join(".github/workflows"));
    folder(project.join(".github"));
    folder(project.join("deep/er"));
    fs::write(project.join(".mcp.json"), "{}").unwrap();
    fs::set_permissions(project.join(".mcp.json"), fs::Permissions::from_mode(0o666)).unwrap();
    insta::assert_snapshot!(told(&project, r"
        for file in .git/hooks/pre-commit deep/er/.git/config .claude/settings.json .mcp.json \
            .github/hooks/a my-skills/x/SKILL.md .github/workflows/ci.yml other.txt; do
            (echo evil > $file) 2>/dev/null && echo wrote $file
        done
        rm -rf .git .mcp.json deep my-skills 2>/dev/null
        mv .git old 2>/dev/null || mv .mcp.json old 2>/dev/null || echo kept
    "), @r"
    wrote .github/workflows/ci.yml
    wrote other.txt
    kept
    ");
    assert_eq!(fs::read_to_string(project.join(".mcp.json")).unwrap(), "{}");
    assert!(project.join(".git/hooks").is_dir());
    assert!(project.join("deep/er/.git").is_dir());
    assert!(project.join("my-skills/x").is_dir());
}

#[test]
fn what_a_run_may_not_create_is_moved_aside_before_its_answer() {
    needs_sandbox!();
    let (_folder, project) = project();
    folder(project.join("sub"));
    insta::assert_snapshot!(told(&project, "
        mkdir -p .git/hooks sub/.Claude sub/.github/hooks && echo evil > .git/hooks/pre-commit
        echo '{}' > .mcp.json
        ln -s /etc sub/.git
    "), @r"
    The script created `PROJECT/.git`, which no skill may; it is now `PROJECT/.git.removed-by-skillfold`
    The script created `PROJECT/.mcp.json`, which no skill may; it is now `PROJECT/.mcp.json.removed-by-skillfold`
    The script created `PROJECT/sub/.Claude`, which no skill may; it is now `PROJECT/sub/.Claude.removed-by-skillfold`
    The script created `PROJECT/sub/.git`, which no skill may; it is now `PROJECT/sub/.git.removed-by-skillfold`
    The script created `PROJECT/sub/.github/hooks`, which no skill may; it is now `PROJECT/sub/.github/hooks.removed-by-skillfold`
    ");
    assert!(!project.join(".git").exists());
    assert!(
        project
            .join(".git.removed-by-skillfold/hooks/pre-commit")
            .exists()
    );
    // Nothing is overwritten.
    assert!(told(&project, "mkdir .git").contains(".git.removed-by-skillfold-2"));
}

#[test]
fn renaming_the_folder_around_a_repository_gives_no_new_one() {
    needs_sandbox!();
    let (_folder, project) = project();
    folder(project.join("sub/.git"));
    open(&project.join("sub"));
    insta::assert_snapshot!(told(&project, "mv sub old && mkdir -p sub/.git/hooks && echo done"), @r"
    done
    The script created `PROJECT/sub/.git`, which no skill may; it is now `PROJECT/sub/.git.removed-by-skillfold`
    ");
    assert!(project.join("old/.git").is_dir());
}

#[test]
fn link_with_a_guarded_name_is_put_back_and_its_target_stays_read_only() {
    needs_sandbox!();
    let (_folder, project) = project();
    folder(project.join("config/claude"));
    open(&project.join("config"));
    symlink("config/claude", project.join(".claude")).unwrap();
    insta::assert_snapshot!(told(&project, "
        (echo evil > config/claude/settings.json) 2>/dev/null || echo read-only
        rm .claude && mkdir .claude && echo evil > .claude/settings.json
    "), @r"
    read-only
    The script created `PROJECT/.claude`, which no skill may; it is now `PROJECT/.claude.removed-by-skillfold`
    The script removed the link `PROJECT/.claude`, which no skill may; it is back
    ");
    assert_eq!(
        fs::read_link(project.join(".claude")).unwrap(),
        Path::new("config/claude")
    );
}

#[test]
fn folder_that_the_run_locked_is_searched_all_the_same() {
    needs_sandbox!();
    let (_folder, project) = project();
    let told = told(
        &project,
        "mkdir -p a/b/.git && chmod 000 a/b && chmod 000 a",
    );
    assert!(told.contains("a/b/.git.removed-by-skillfold"), "{told}");
}

#[test]
fn runs_that_write_to_the_same_folder_wait_for_each_other() {
    needs_sandbox!();
    let (_folder, project) = project();
    folder(project.join("sub"));
    let inside = project.join("sub");
    // Each would see the file of the other.
    let script = "test -e busy && echo together; touch busy; sleep 0.1; rm busy";
    let both = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| told(&project, script)))
            .collect();
        runs.into_iter()
            .map(|run| run.join().unwrap())
            .collect::<String>()
    });
    assert_eq!(both, "");
    // A folder inside it is part of it.
    let slow = std::thread::scope(|scope| {
        let outer = scope.spawn(|| told(&project, "touch busy; sleep 0.5; rm busy"));
        while !project.join("busy").exists() {
            std::thread::yield_now();
        }
        run_in(&inside, "true");
        let is_over = !project.join("busy").exists();
        outer.join().unwrap();
        is_over
    });
    assert!(slow, "both wrote at once");
}

#[test]
fn folder_too_deep_to_search_is_not_written_to() {
    needs_sandbox!();
    let (_folder, project) = project();
    // Left by an earlier run: the next one could move it to where a client looks.
    let told_of = told(&project, "mkdir -p $(printf 'd/%.0s' $(seq 70)).git");
    assert_eq!(told_of, "");
    let permissions = Permissions::default()
        .with_write(&project)
        .with_protected(Protected::default().with_read_only_names([".git".to_owned()]));
    let (copy, file) = (skill(&[("a.sh", "mv d/d/d/d/d/d/d/d/d/d e")]), path("a.sh"));
    let options = run_options().with_permissions(permissions);
    let refused = Run::new(&copy, &file)
        .with_options(options)
        .run()
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("Folder is more than 64 folders deep"),
        "{refused}"
    );
}

#[test]
fn many_files_do_not_hide_what_a_run_created() {
    needs_sandbox!();
    let (_folder, project) = project();
    let script = "mkdir a && cd a && for i in $(seq 3000); do : > $i; done; mkdir -p ../z/.git";
    let told = told(&project, script);
    assert!(told.contains("z/.git.removed-by-skillfold"), "{told}");
}

#[test]
fn process_that_is_ended_says_what_was_put_right() {
    needs_sandbox!();
    let (_folder, project) = project();
    let (copy, file) = (
        skill(&[("a.sh", "mkdir .git; echo made; sleep 60")]),
        path("a.sh"),
    );
    let run = Run::new(&copy, &file).with_options(options(&project));
    let mut running = run.start().unwrap();
    let mut line = String::new();
    let stdout = running.take_stdout().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    assert_eq!(running.end().iter().count(), 1);
    assert!(!project.join(".git").exists());
}

#[test]
fn usage_of_a_script_changes_nothing() {
    needs_sandbox!();
    let (_folder, project) = project();
    fs::write(project.join("a.txt"), "read\n").unwrap();
    let script = "mkdir .git new 2>/dev/null; cat a.txt";
    let (copy, file) = (skill(&[("a.sh", script)]), path("a.sh"));
    let printed = help(&copy, &file, options(&project)).unwrap();
    assert_eq!(printed, Help::Printed("read\n".to_owned()));
    let left: Vec<_> = fs::read_dir(&project).unwrap().collect();
    assert_eq!(left.len(), 1);
}

#[test]
fn many_corrections_are_counted_instead_of_kept() {
    needs_sandbox!();
    let (_folder, project) = project();
    let outcome = run_in(&project, "for i in $(seq 150); do mkdir -p $i/.git; done");
    let corrections = outcome.corrections;
    assert_eq!((corrections.iter().count(), corrections.more()), (100, 50));
    assert_eq!(corrections.notes().len(), 6);
}
