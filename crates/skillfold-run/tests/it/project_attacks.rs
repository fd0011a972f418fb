//! Hundreds of attacks on a project that a script may write, as root and as an ordinary user.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use skillfold_run::{Outcome, Permissions, Protected, Run, RunError};

use crate::host::{CANARY, open_all, open_up};
use crate::probes::{run_as, users};
use crate::skill::{path, run_options, skill};

const NAMES: [&str; 5] = [".git", ".claude", ".mcp.json", ".vscode", ".github/hooks"];

/// What stays read-only in the project, as it is at first.
const KEPT: [&str; 7] = [
    ".git/config",
    "sub/.git/config",
    "deep/er/.git/config",
    ".claude/settings.json",
    ".mcp.json",
    "config/vscode/tasks.json",
    "my-skills/x/SKILL.md",
];

/// Writes a project, and a secret beside it. Everybody may write everything: only the sandbox is in the way.
fn project(root: &Path) -> PathBuf {
    let project = root.join("project");
    for file in KEPT.iter().map(|file| project.join(file)) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, format!("kept {}\n", file.display())).unwrap();
    }
    symlink("config/vscode", project.join(".vscode")).unwrap();
    symlink("../secret", project.join("outside")).unwrap();
    fs::create_dir(root.join("secret")).unwrap();
    fs::write(root.join("secret/key"), CANARY).unwrap();
    open_all(root);
    project
}

fn permissions(project: &Path) -> Permissions {
    let protected = Protected::default()
        .with_read_only_names(NAMES.map(str::to_owned))
        .with_read_only_paths([project.join("my-skills")]);
    Permissions::default()
        .with_write(project)
        .with_protected(protected)
}

fn run(project: &Path, script: &str, text: &str, input: &Value) -> Result<Outcome, RunError> {
    run_with(permissions(project), project, script, text, input)
}

fn run_with(
    permissions: Permissions,
    project: &Path,
    script: &str,
    text: &str,
    input: &Value,
) -> Result<Outcome, RunError> {
    let (copy, file) = (
        skill(&[("SKILL.md", "0123456789"), (script, text)]),
        path(script),
    );
    let options = run_options()
        .with_permissions(permissions)
        .with_directory(project);
    let run = Run::new(&copy, &file).with_input(input.to_string());
    run.with_options(options).run()
}

/// Returns the paths below a folder, without following links.
fn all_paths(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            all_paths(&path, into);
        }
        into.push(path);
    }
}

#[test]
fn no_attack_on_a_writable_project_succeeds_as_root_or_user() {
    needs_sandbox!();
    for (user, prefix) in users() {
        let folder = tempfile::tempdir().unwrap();
        open_up(folder.path());
        let root = folder.path().canonicalize().unwrap();
        let project = project(&root);
        let input = json!({ "project": project, "root": root, "result": root.join("result") });
        let child = "project_attacks::child_that_attacks_a_project";
        let report = run_as(&root, &prefix, child, &input);
        let output: Value = serde_json::from_str(report["stdout"].as_str().unwrap_or_default())
            .unwrap_or_else(|_| panic!("as {user}: {report}"));
        let results: BTreeMap<String, Option<String>> =
            serde_json::from_value(output["results"].clone()).unwrap();
        let successes: Vec<_> = results.iter().filter(|(_, got)| got.is_some()).collect();
        assert!(successes.is_empty(), "as {user}: {successes:#?}");
        let made = usize::try_from(output["made"].as_u64().unwrap()).unwrap();
        assert!(
            results.len() + made >= 300 && made >= 50,
            "as {user}: {made} of {}",
            results.len()
        );
        // Everything is as it was, and what no run may create is gone.
        for file in KEPT.map(|file| project.join(file)) {
            let text = fs::read_to_string(&file).unwrap();
            assert_eq!(text, format!("kept {}\n", file.display()), "as {user}");
        }
        assert_eq!(
            fs::read_link(project.join(".vscode")).unwrap(),
            Path::new("config/vscode")
        );
        let mut paths = Vec::new();
        all_paths(&project.join("made"), &mut paths);
        let has_name = |path: &&PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().to_lowercase();
            NAMES.contains(&&*name)
                || name == "hooks" && path.parent().unwrap().ends_with(".github")
        };
        let left: Vec<_> = paths.iter().filter(has_name).collect();
        assert!(left.is_empty(), "as {user}: {left:#?}");
        assert_eq!(
            report["corrections"].as_array().unwrap().len(),
            made,
            "as {user}"
        );
        println!(
            "{user}: {} attacks, 0 succeed; {made} names moved aside",
            results.len() + made
        );
    }
}

#[test]
fn attacks_succeed_where_nothing_stays_read_only() {
    needs_sandbox!();
    let folder = tempfile::tempdir().unwrap();
    open_up(folder.path());
    let root = folder.path().canonicalize().unwrap();
    let project = project(&root);
    // One after the other, since an attack that succeeds leaves nothing for the next.
    for attack in [
        "echo evil > .git/config",
        "rm -r .claude",
        "mv sub away",
        "mkdir a && mkdir a/.git",
    ] {
        let permissions = Permissions::default().with_write(&project);
        let outcome = run_with(permissions, &project, "a.sh", attack, &Value::Null).unwrap();
        assert!(
            outcome.is_success() && outcome.corrections.is_empty(),
            "{attack}: {outcome:?}"
        );
    }
    assert!(project.join("a/.git").is_dir() && !project.join(".claude").exists());
}

#[test]
#[ignore = "the test above runs it as a process of its own"]
fn child_that_attacks_a_project() {
    crate::probes::as_child(|input| {
        let project = PathBuf::from(input["project"].as_str().unwrap());
        let root = PathBuf::from(input["root"].as_str().unwrap());
        let input = json!({
            "canary": CANARY.chars().rev().collect::<String>(), "secret": root.join("secret/key"),
        });
        match run(&project, "a.py", include_str!("project_attacks.py"), &input) {
            Ok(outcome) => json!({
                "stdout": outcome.stdout_text(), "stderr": outcome.stderr_text(),
                "corrections": outcome.corrections.iter().map(ToString::to_string).collect::<Vec<_>>(),
            }),
            Err(error) => json!({ "error": error.to_string() }),
        }
    });
}

/// Runs a script again and again while another thread swaps things, and returns how often it was refused.
fn race(project: &Path, script: &str, swap: impl Fn() + Sync) -> usize {
    /// Ends the other thread, also if this one panics.
    struct Over<'a>(&'a AtomicBool);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let is_over = AtomicBool::new(false);
    // Allowed before the race.
    let granted = permissions(project);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                swap();
            }
        });
        let _over = Over(&is_over);
        let run = || run_with(granted.clone(), project, "a.sh", script, &Value::Null);
        let refused = (0..40).filter(|_| match run() {
            Ok(outcome) => {
                let told = format!("{}{}", outcome.stdout_text(), outcome.stderr_text());
                assert!(!told.contains(CANARY), "{told}");
                false
            }
            Err(error) => {
                assert!(!error.to_string().contains(CANARY), "{error}");
                true
            }
        });
        refused.count()
    })
}

fn exchange(one: &Path, other: &Path) {
    let flags = rustix::fs::RenameFlags::EXCHANGE;
    let here = rustix::fs::CWD;
    rustix::fs::renameat_with(here, one, here, other, flags).unwrap();
}

#[test]
fn project_that_is_swapped_while_a_run_starts_gives_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    open_up(folder.path());
    let root = folder.path().canonicalize().unwrap();
    let project = project(&root);
    let secret = root.join("secret");
    let link = root.join("link");
    symlink(&secret, &link).unwrap();
    // The project's place holds the secret, or a link to it, half of the time.
    race(&project, "cat key", || {
        exchange(&project, &link);
        exchange(&project, &link);
    });
    race(&project, "cat sub/key outside/key", || {
        let sub = project.join("sub");
        exchange(&sub, &link);
        exchange(&sub, &link);
    });
    assert_eq!(fs::read_to_string(secret.join("key")).unwrap(), CANARY);
}

#[test]
fn two_runs_cannot_help_each_other_to_change_a_repository() {
    let folder = tempfile::tempdir().unwrap();
    open_up(folder.path());
    let root = folder.path().canonicalize().unwrap();
    let project = project(&root);
    let (sub, bait) = (project.join("sub"), project.join("bait"));
    fs::create_dir_all(bait.join(".git")).unwrap();
    fs::write(bait.join(".git/config"), "bait\n").unwrap();
    open_all(&project);
    let kept = fs::read_to_string(sub.join(".git/config")).unwrap();
    // One swaps folders, so that the search before the other could miss one.
    let swaps = "import ctypes, time\nlibc = ctypes.CDLL(None)\nend = time.time() + 0.2\n\
        while time.time() < end:\n    libc.renameat2(-100, b'sub', -100, b'bait', 2)\n    libc.renameat2(-100, b'sub', -100, b'bait', 2)\n";
    let writes = "for it in sub bait; do echo evil > $it/.git/config; done";
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..3).for_each(|_| drop(run(&project, "a.py", swaps, &Value::Null))));
            scope.spawn(|| (0..10).for_each(|_| drop(run(&project, "a.sh", writes, &Value::Null))));
        }
    });
    assert_eq!(fs::read_to_string(sub.join(".git/config")).unwrap(), kept);
    assert_eq!(
        fs::read_to_string(bait.join(".git/config")).unwrap(),
        "bait\n"
    );
}

#[test]
fn repository_that_the_search_missed_stays_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    open_up(folder.path());
    let root = folder.path().canonicalize().unwrap();
    let project = project(&root);
    let (sub, bait) = (project.join("sub"), project.join("bait"));
    fs::create_dir_all(bait.join(".git")).unwrap();
    open_all(&project);
    thread::sleep(Duration::from_millis(300));
    // The user renames folders while runs start.
    race(&project, "true", || {
        exchange(&sub, &bait);
        exchange(&sub, &bait);
    });
    assert!(sub.join(".git/config").exists() && bait.join(".git").exists());
}
