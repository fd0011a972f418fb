//! Ways around what stays read-only, each tried by scripts of an ordinary user, one after the other.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, RenameFlags, flock, renameat_with};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde_json::json;
use skillfold_run::{Permissions, Protected, Run, RunLimits, RunOptions};

use crate::host::open_up;
use crate::probes::{as_child, run_as, users};
use crate::skill::{path, skill};

const NAMES: [&str; 4] = [".git", ".claude", ".mcp.json", ".github/hooks"];

/// What an attack is tried with.
#[derive(Clone, Copy, Default)]
struct Attack<'a> {
    /// Shell commands that make the project, as the user.
    setup: &'a str,
    /// The scripts, each in a run of its own.
    scripts: &'a [&'a str],
    /// Shell commands that look at the project afterwards.
    then: &'a str,
    /// Most open files of the host; 0 for the usual number.
    open_files: u64,
}

impl Attack<'_> {
    /// Returns what the scripts print, what the host says, and what is found afterwards.
    fn told(self) -> String {
        self.told_by("guard_attacks::child_that_attacks")
    }

    fn told_by(self, child: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        open_up(folder.path());
        let root = folder.path().canonicalize().unwrap();
        let (_, user) = users().pop().unwrap();
        let input = json!({
            "root": root, "setup": self.setup, "scripts": self.scripts, "then": self.then,
            "open_files": self.open_files, "result": root.join("result"),
        });
        let report = run_as(&root, &user, child, &input);
        let text = report["told"].as_str().unwrap();
        text.replace(&*root.to_string_lossy(), "ROOT")
    }
}

fn shell(folder: &Path, commands: &str) -> String {
    let mut shell = Command::new("/bin/bash");
    let output = shell.args(["-c", commands]).current_dir(folder).output();
    let output = output.unwrap();
    let (out, errors) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(&[&**out, errors].concat()).into_owned()
}

fn protected(project: &Path) -> Protected {
    Protected::default()
        .with_read_only_names(NAMES.map(str::to_owned))
        .with_read_only_paths([project.join("tools/my-skills")])
}

fn told(permissions: Permissions, directory: &Path, script: &str) -> String {
    let (copy, file) = (skill(&[("a.sh", script)]), path("a.sh"));
    let limits = RunLimits::default().with_wall_time(Duration::from_secs(5));
    let options = RunOptions::default()
        .with_permissions(permissions)
        .with_limits(limits)
        .with_directory(directory);
    match Run::new(&copy, &file).with_options(options).run() {
        Ok(outcome) => {
            let corrections = outcome.corrections.iter().map(|it| format!("{it}\n"));
            let errors = outcome.stderr_text().replace("/skill/a.sh: ", "");
            let corrections: String = corrections.collect();
            format!("{}{errors}{corrections}", outcome.stdout_text())
        }
        Err(error) => format!("refused: {error}\n{}\n", error.hint()),
    }
}

#[test]
#[ignore = "the tests above run it as a process of its own"]
fn child_that_attacks() {
    as_child(|input| {
        let text = |field: &str| input[field].as_str().unwrap();
        let project = PathBuf::from(text("root")).join("project");
        fs::create_dir(&project).unwrap();
        let mut said = shell(&project, text("setup"));
        if let Some(limit @ 1..) = input["open_files"].as_u64() {
            let limit = Rlimit {
                current: Some(limit),
                maximum: Some(limit),
            };
            setrlimit(Resource::Nofile, limit).unwrap();
        }
        for script in input["scripts"].as_array().unwrap() {
            let permissions = Permissions::default()
                .with_write(&project)
                .with_protected(protected(&project));
            said += &told(permissions, &project, script.as_str().unwrap());
        }
        said += &shell(&project, text("then"));
        json!({ "told": said })
    });
}

#[test]
fn folder_that_a_run_closed_to_the_search_hides_nothing_from_the_next() {
    needs_sandbox!();
    for mode in ["0400", "0600", "0000"] {
        let close = format!("chmod {mode} sub");
        let attack = Attack {
            setup: "mkdir -p sub/.git; echo kept > sub/.git/config",
            scripts: &[&close, "chmod 700 sub; echo evil > sub/.git/config"],
            then: "cat sub/.git/config",
            ..Attack::default()
        };
        assert_eq!(
            attack.told(),
            "1: cannot create sub/.git/config: Read-only file system\nkept\n"
        );
    }
}

#[test]
fn what_a_run_created_in_a_folder_that_it_closed_is_moved_aside() {
    needs_sandbox!();
    for mode in ["0400", "0600", "0300"] {
        let close = format!("mkdir -p s/t/.claude; chmod {mode} s/t; chmod {mode} s");
        let attack = Attack {
            scripts: &[&close],
            then: "ls -A s/t",
            ..Attack::default()
        };
        assert_eq!(
            attack.told(),
            "The script created `ROOT/project/s/t/.claude`, which no skill may; it is now `ROOT/project/s/t/.claude.removed-by-skillfold`\n\
             .claude.removed-by-skillfold\n"
        );
    }
    let attack = Attack {
        scripts: &["mkdir .git; chmod 0 ."],
        then: "ls -A",
        ..Attack::default()
    };
    insta::assert_snapshot!(attack.told(), @"
    The script created `ROOT/project/.git`, which no skill may; it is now `ROOT/project/.git.removed-by-skillfold`
    .git.removed-by-skillfold
    ");
}

#[test]
fn folder_that_cannot_be_searched_is_not_written_to() {
    for setup in [
        "mkdir -p sub/.git; chmod 400 sub",
        "mkdir -p sub/.git; chmod 100 sub",
    ] {
        let attack = Attack {
            setup,
            scripts: &["echo ran"],
            ..Attack::default()
        };
        insta::allow_duplicates! {
            insta::assert_snapshot!(attack.told(), @"
            refused: Folder cannot be searched for what stays read-only in it: `ROOT/project/sub`
            Make it readable for yourself, or allow another folder
            ");
        }
    }
}

#[test]
fn search_that_fails_is_said() {
    needs_sandbox!();
    // Each folder takes a descriptor.
    let deep = "mkdir -p $(printf 'd/%.0s' $(seq 60))";
    let attack = Attack {
        setup: deep,
        scripts: &["echo ran"],
        open_files: 55,
        ..Attack::default()
    };
    let told = attack.told();
    assert!(
        told.starts_with(
            "refused: Folder cannot be searched for what stays read-only in it (Too many open files"
        ),
        "{told}"
    );
    let make = format!("{deep}; mkdir $(printf 'd/%.0s' $(seq 60))/.git");
    let attack = Attack {
        scripts: &[&make],
        open_files: 55,
        ..Attack::default()
    };
    let told = attack.told();
    assert!(
        told.starts_with(
            "refused: The script may have created what no skill may in `ROOT/project/d/d"
        ),
        "{told}"
    );
}

#[test]
fn name_in_a_folder_of_another_is_not_made_by_renaming_that_folder() {
    needs_sandbox!();
    let attack = Attack {
        scripts: &[
            "mkdir -p x/hooks; sleep 0.3",
            "echo evil > x/hooks/a; sleep 0.3",
            "mv x .github",
        ],
        then: "ls -A .github",
        ..Attack::default()
    };
    insta::assert_snapshot!(attack.told(), @"
    The script created `ROOT/project/.github/hooks`, which no skill may; it is now `ROOT/project/.github/hooks.removed-by-skillfold`
    hooks.removed-by-skillfold
    ");
}

#[test]
fn link_that_leads_nowhere_is_not_created_by_a_script() {
    needs_sandbox!();
    for target in ["tools/claude", "none/../tools/claude", ".claude"] {
        let setup = format!("ln -s {target} .claude");
        let attack = Attack {
            setup: &setup,
            scripts: &["mkdir -p tools/claude none"],
            then: "ls -A",
            ..Attack::default()
        };
        insta::allow_duplicates! {
            insta::assert_snapshot!(attack.told(), @"
            refused: Link leads nowhere, and a script could create what it leads to: `ROOT/project/.claude`
            Remove it, or create what it leads to
            .claude
            ");
        }
    }
    // Nothing can be created where no skill may write.
    let attack = Attack {
        setup: "mkdir .claude; ln -s user@host.1 .claude/.#lock; ln -s /none/at/all .mcp.json",
        scripts: &["echo ran"],
        ..Attack::default()
    };
    assert_eq!(attack.told(), "ran\n");
}

#[test]
fn what_a_link_leads_to_is_not_replaced_with_the_folder_around_it() {
    needs_sandbox!();
    let attack = Attack {
        setup: "mkdir -p config/claude; ln -s config/claude .claude",
        scripts: &["mv config x; mkdir -p config/claude; echo evil > config/claude/settings.json"],
        then: "ls -A . config; cat .claude/settings.json",
        ..Attack::default()
    };
    insta::assert_snapshot!(attack.told(), @"
    The script created `ROOT/project/config/claude`, which no skill may; it is now `ROOT/project/config/claude.removed-by-skillfold`
    .:
    .claude
    config
    x

    config:
    claude.removed-by-skillfold
    cat: .claude/settings.json: No such file or directory
    ");
    let attack = Attack {
        setup: "mkdir -p config/claude other/claude; ln -s config/claude .claude",
        scripts: &["mv config x; ln -s other config"],
        then: "ls -A other; cat .claude",
        ..Attack::default()
    };
    insta::assert_snapshot!(attack.told(), @"
    The script created `ROOT/project/other/claude`, which no skill may; it is now `ROOT/project/other/claude.removed-by-skillfold`
    claude.removed-by-skillfold
    cat: .claude: No such file or directory
    ");
    // Two that lead there, and one that leads into it.
    let attack = Attack {
        setup: "mkdir -p config/claude/a .claude; ln -s ../config/claude .claude/one; ln -s ../config/claude/a .claude/two; ln -s config/claude .git",
        scripts: &["mv config x; mkdir -p config/claude/a"],
        ..Attack::default()
    };
    insta::assert_snapshot!(attack.told(), @"The script created `ROOT/project/config/claude`, which no skill may; it is now `ROOT/project/config/claude.removed-by-skillfold`");
    // Nothing is left to put right.
    let attack = Attack {
        setup: "mkdir -p config/claude; ln -s config/claude .claude",
        scripts: &["mv config x", "mkdir -p config/claude"],
        ..Attack::default()
    };
    insta::assert_snapshot!(attack.told(), @"
    refused: The script changed `ROOT/project/.claude`, which no skill may, and it could not be put right
    Check the folder before you use it, and do not let this skill write to it
    refused: Link leads nowhere, and a script could create what it leads to: `ROOT/project/.claude`
    Remove it, or create what it leads to
    ");
}

#[test]
fn skills_are_not_replaced_with_the_folder_around_them() {
    needs_sandbox!();
    let attack = Attack {
        setup: "mkdir -p tools/my-skills/a",
        scripts: &["mv tools x; mkdir -p tools/my-skills/evil"],
        then: "ls -A tools",
        ..Attack::default()
    };
    insta::assert_snapshot!(attack.told(), @"
    The script created `ROOT/project/tools/my-skills`, which no skill may; it is now `ROOT/project/tools/my-skills.removed-by-skillfold`
    my-skills.removed-by-skillfold
    ");
    let attack = Attack {
        scripts: &["mkdir -p tools/my-skills/evil"],
        then: "ls -A tools",
        ..Attack::default()
    };
    insta::assert_snapshot!(attack.told(), @"
    The script created `ROOT/project/tools/my-skills`, which no skill may; it is now `ROOT/project/tools/my-skills.removed-by-skillfold`
    my-skills.removed-by-skillfold
    ");
}

#[test]
fn link_that_was_moved_is_put_back() {
    needs_sandbox!();
    let attack = Attack {
        setup: "mkdir -p config/claude; ln -s config/claude .claude",
        scripts: &["mkdir -p sub/config/claude; mv .claude sub"],
        then: "ls -A sub; readlink .claude",
        ..Attack::default()
    };
    insta::assert_snapshot!(attack.told(), @"
    The script created `ROOT/project/sub/.claude`, which no skill may; it is now `ROOT/project/sub/.claude.removed-by-skillfold`
    The script removed the link `ROOT/project/.claude`, which no skill may; it is back
    .claude.removed-by-skillfold
    config
    config/claude
    ");
    // In a folder that was moved it may lead to something else.
    let attack = Attack {
        setup: "mkdir -p config/claude sub; ln -s ../config/claude sub/.claude",
        scripts: &["mkdir -p deep/config/claude; mv sub deep"],
        then: "ls -A deep/sub; readlink sub/.claude",
        ..Attack::default()
    };
    insta::assert_snapshot!(attack.told(), @"
    The script created `ROOT/project/deep/sub/.claude`, which no skill may; it is now `ROOT/project/deep/sub/.claude.removed-by-skillfold`
    The script removed the link `ROOT/project/sub/.claude`, which no skill may; it is back
    .claude.removed-by-skillfold
    ../config/claude
    ");
    let attack = Attack {
        setup: "mkdir -p config/claude sub; ln -s ../config/claude sub/.claude",
        scripts: &["mv sub renamed"],
        then: "ls -A; readlink renamed/.claude",
        ..Attack::default()
    };
    assert_eq!(attack.told(), "config\nrenamed\n../config/claude\n");
}

#[test]
fn links_in_what_stays_read_only_lead_to_what_does_too() {
    needs_sandbox!();
    let attack = Attack {
        setup: "mkdir -p .claude common/deep; ln -s ../common/deep .claude/skills",
        scripts: &["echo evil > common/deep/x; mv common x; mkdir -p common/deep/evil"],
        then: "ls -A common x/deep",
        ..Attack::default()
    };
    insta::assert_snapshot!(attack.told(), @"
    1: cannot create common/deep/x: Read-only file system
    The script created `ROOT/project/common/deep`, which no skill may; it is now `ROOT/project/common/deep.removed-by-skillfold`
    common:
    deep.removed-by-skillfold

    x/deep:
    ");
    for setup in ["ln -s . .claude", "mkdir .claude; ln -s ../.. .claude/x"] {
        let attack = Attack {
            setup,
            scripts: &["echo ran"],
            ..Attack::default()
        };
        let told = attack.told();
        assert!(
            told.starts_with("refused: Link leads to the folder that a script could write to"),
            "{told}"
        );
    }
}

#[test]
fn repository_under_another_name_stays_read_only() {
    needs_sandbox!();
    for setup in [
        "mkdir -p meta/hooks; echo 'gitdir: ./meta' > .git",
        "mkdir -p meta/hooks meta/objects meta/refs; echo ref > meta/HEAD",
        "mkdir -p meta/hooks; echo ref > meta/HEAD; echo .. > meta/commondir",
    ] {
        let attack = Attack {
            setup,
            scripts: &["echo evil > meta/hooks/pre-commit", "rm -r meta; ls meta"],
            ..Attack::default()
        };
        let told = attack.told();
        assert!(told.contains("meta/hooks/pre-commit: Read-only"), "{told}");
        assert!(
            told.ends_with("hooks\n") || told.contains("\nhooks\n"),
            "{told}"
        );
    }
    let attack = Attack {
        setup: "mkdir -p in/meta/objects in/meta/refs; echo ref > in/meta/HEAD; echo 'gitdir: ./in/meta' > .git",
        scripts: &["mv in x; mkdir -p in/meta/hooks"],
        then: "ls -A in",
        ..Attack::default()
    };
    insta::assert_snapshot!(attack.told(), @"
    The script created `ROOT/project/in/meta`, which no skill may; it is now `ROOT/project/in/meta.removed-by-skillfold`
    meta.removed-by-skillfold
    ");
}

#[test]
fn repository_that_a_run_created_under_another_name_is_none_afterwards() {
    needs_sandbox!();
    let attack = Attack {
        scripts: &[
            "mkdir -p x/objects x/refs; echo ref > x/HEAD",
            "mkdir -p y/z; echo ref > y/z/HEAD; echo .. > y/z/commondir; chmod 400 y/z",
            "mkdir -p objects refs; echo ref > HEAD",
        ],
        ..Attack::default()
    };
    insta::assert_snapshot!(attack.told(), @"
    The script created `ROOT/project/x/HEAD`, which no skill may; it is now `ROOT/project/x/HEAD.removed-by-skillfold`
    The script created `ROOT/project/y/z/HEAD`, which no skill may; it is now `ROOT/project/y/z/HEAD.removed-by-skillfold`
    The script created `ROOT/project/HEAD`, which no skill may; it is now `ROOT/project/HEAD.removed-by-skillfold`
    ");
    let attack = Attack {
        setup: "mkdir objects refs; echo ref > HEAD",
        scripts: &["echo ran"],
        ..Attack::default()
    };
    insta::assert_snapshot!(attack.told(), @"
    refused: Path cannot be granted to be written, it is protected: `ROOT/project`
    Repositories, the settings of clients and skills stay read-only; ask for a folder of its own instead
    ");
}

#[test]
fn names_that_are_taken_do_not_keep_anything_in_its_place() {
    needs_sandbox!();
    let attack = Attack {
        scripts: &[
            "mkdir .git .git.removed-by-skillfold; for i in $(seq 2 200); do mkdir .git.removed-by-skillfold-$i; done",
        ],
        then: "test -e .git || echo gone",
        ..Attack::default()
    };
    let told = attack.told();
    assert!(told.ends_with("gone\n"), "{told}");
    assert!(
        told.contains("it is now `ROOT/project/.git.removed-by-skillfold-"),
        "{told}"
    );
}

#[test]
fn folder_that_is_granted_twice_is_locked_once_and_read_only_under_both_names() {
    needs_sandbox!();
    let attack = Attack {
        setup: "mkdir -p sub/.git; echo kept > sub/.git/config; ln -s project ../link; ln -s project/sub ../sub",
        then: "cat sub/.git/config",
        ..Attack::default()
    };
    let told = attack.told_by("guard_attacks::child_with_a_folder_twice");
    insta::assert_snapshot!(told, @"
    1: cannot create ROOT/project/sub/.git/config: Read-only file system
    2: cannot create ROOT/link/sub/.git/config: Read-only file system
    3: cannot create ROOT/sub/.git/config: Read-only file system
    The script created `ROOT/link/.mcp.json`, which no skill may; it is now `ROOT/link/.mcp.json.removed-by-skillfold`
    kept
    ");
}

#[test]
#[ignore = "the test above runs it as a process of its own"]
fn child_with_a_folder_twice() {
    as_child(|input| {
        let root = PathBuf::from(input["root"].as_str().unwrap());
        let project = root.join("project");
        fs::create_dir(&project).unwrap();
        let mut said = shell(&project, input["setup"].as_str().unwrap());
        let permissions = Permissions::default()
            .with_write(&project)
            .with_write(root.join("link"))
            .with_write(root.join("sub"))
            .with_protected(protected(&project));
        let script = "echo evil > ROOT/project/sub/.git/config\necho evil > ROOT/link/sub/.git/config\n\
            echo evil > ROOT/sub/.git/config\necho > ROOT/link/.mcp.json";
        let script = script.replace("ROOT", &root.to_string_lossy());
        said += &told(permissions, &project, &script);
        said += &shell(&project, input["then"].as_str().unwrap());
        json!({ "told": said })
    });
}

#[test]
fn locks_of_others_on_folders_that_no_run_may_write_keep_none_waiting() {
    needs_sandbox!();
    // Any user can do this.
    let whole = File::open("/").unwrap();
    flock(&whole, FlockOperation::LockExclusive).unwrap();
    let attack = Attack {
        scripts: &["echo ran"],
        ..Attack::default()
    };
    assert_eq!(attack.told(), "ran\n");
}

#[test]
fn folder_that_is_swapped_with_a_link_while_it_is_searched_leaves_others_as_they_are() {
    let attack = Attack {
        setup: "mkdir ../victim locked; chmod 555 ../victim; ln -s ../victim link",
        then: "stat -c %a ../victim",
        ..Attack::default()
    };
    assert_eq!(attack.told_by("guard_attacks::child_that_swaps"), "555\n");
}

#[test]
#[ignore = "the test above runs it as a process of its own"]
fn child_that_swaps() {
    as_child(|input| {
        let project = PathBuf::from(input["root"].as_str().unwrap()).join("project");
        fs::create_dir(&project).unwrap();
        shell(&project, input["setup"].as_str().unwrap());
        let (locked, link) = (project.join("locked"), project.join("link"));
        let here = rustix::fs::CWD;
        for _ in 0..60 {
            let folder = if link.is_symlink() { &locked } else { &link };
            open_up(folder);
            let is_over = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        renameat_with(here, &locked, here, &link, RenameFlags::EXCHANGE).unwrap();
                    }
                });
                let permissions = Permissions::default()
                    .with_write(&project)
                    .with_protected(protected(&project));
                told(permissions, &project, "chmod 0 locked link");
                is_over.store(true, Ordering::Relaxed);
            });
        }
        json!({ "told": shell(&project, input["then"].as_str().unwrap()) })
    });
}
