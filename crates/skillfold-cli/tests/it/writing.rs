//! What is written goes where it should, whoever writes at the same time.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use skillfold_testkit::{RaceOutcome, SECRET, Swap, expect_no_leak};

use crate::command::{World, skillfold};

const BROKEN: &str = "---\nname: pdf\ndescription: Use when: filling in forms\n---\nDo it.\n";

/// Returns every file below a folder with its content, and every folder.
fn all_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(all_below(&path));
            all.push((path, Vec::new()));
        } else {
            let content = fs::read(&path).unwrap();
            all.push((path, content));
        }
    }
    all.sort();
    all
}

/// Runs a command again and again while a folder of the project and a link to `outside` change places. `prepare` is
/// given the real folder, wherever it is at that moment.
fn race(name: &str, swapped: &str, tree: &str, command: &[&str], prepare: impl Fn(&Path)) {
    let world = World::new("//- app/README.md\n");
    world.write(tree);
    fs::create_dir_all(world.path(swapped)).unwrap();
    fs::create_dir_all(world.path("outside")).unwrap();
    symlink(world.path("outside"), world.path("link")).unwrap();
    let handle = File::open(world.path(swapped)).unwrap();
    let real = PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd()));
    let outside = all_below(&world.path("outside"));
    let counts = Swap::new(world.path(swapped), world.path("link")).race(|| {
        prepare(&real);
        let before = all_below(&real);
        let output = skillfold(&world.path("app"), &world.path("person"))
            .args(command)
            .output()
            .unwrap();
        if all_below(&world.path("outside")) != outside {
            return RaceOutcome::Given(SECRET.into());
        }
        assert!(
            matches!(output.status.code(), Some(0 | 3..=5)),
            "{}",
            world.shown(&output)
        );
        if all_below(&real) == before {
            RaceOutcome::Refused
        } else {
            RaceOutcome::Given(Vec::new())
        }
    });
    expect_no_leak(name, counts);
    for (path, _) in all_below(&world.path("")) {
        let name = path.file_name().unwrap().to_string_lossy();
        assert!(!name.starts_with(".skillfold-write-"), "{}", path.display());
    }
}

fn remove(path: &Path) {
    let removed = if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    if let Err(error) = removed {
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    }
}

#[test]
fn skill_swapped_during_fix_does_not_redirect_the_write() {
    let tree = format!("\n//- outside/SKILL.md\n{BROKEN}");
    for named in [&[][..], &["pdf"], &[".agents/skills/pdf"]] {
        let command = [&["check", "--fix"][..], named].concat();
        race(
            &format!("{command:?}"),
            "app/.agents/skills/pdf",
            &tree,
            &command,
            |real| fs::write(real.join("SKILL.md"), BROKEN).unwrap(),
        );
    }
}

#[test]
fn skills_folder_swapped_during_fix_does_not_redirect_the_write() {
    race(
        "check --fix",
        "app/.agents/skills",
        &format!("\n//- outside/pdf/SKILL.md\n{BROKEN}"),
        &["check", "--fix"],
        |real| {
            fs::create_dir_all(real.join("pdf")).unwrap();
            fs::write(real.join("pdf/SKILL.md"), BROKEN).unwrap();
        },
    );
}

#[test]
fn project_swapped_during_setup_does_not_redirect_the_write() {
    let command = ["setup", "vscode", "--project", "--yes"];
    for tree in ["", "\n//- outside/mcp.json\n{}\n"] {
        race("setup", "app/.vscode", tree, &command, |real| {
            remove(&real.join("mcp.json"));
        });
        race("setup", "app/.vscode", tree, &command, |real| {
            fs::write(real.join("mcp.json"), "{}\n").unwrap();
        });
    }
}

#[test]
fn project_swapped_during_config_set_does_not_redirect_the_write() {
    let command = ["config", "set", "--project", "disable", "pdf"];
    for tree in ["", "\n//- outside/config.toml\ndisable = []\n"] {
        race("config set", "app/.skillfold", tree, &command, |real| {
            remove(&real.join("config.toml"));
        });
        race("config set", "app/.skillfold", tree, &command, |real| {
            fs::write(real.join("config.toml"), "disable = []\n").unwrap();
        });
    }
}

#[test]
fn project_swapped_during_new_does_not_redirect_the_write() {
    let command = ["new", "pdf"];
    race("new", "app/.agents", "", &command, |real| {
        remove(&real.join("skills"));
    });
}

#[test]
fn link_in_a_project_is_not_written_through() {
    let world = World::new(
        "//- app/README.md\n//- person/.agents/skills/keep\n//- person/mine/config.toml\nlinks = \"refuse\"\n",
    );
    for (name, target) in [
        (".skillfold", "person/mine"),
        (".agents", "person/.agents"),
        (".vscode", "person/mine"),
    ] {
        symlink(world.path(target), world.path("app").join(name)).unwrap();
    }
    let before = all_below(&world.path("person"));
    for arguments in [
        &["config", "set", "--project", "disable", "a"][..],
        &["new", "pdf"],
        &["new", "pdf", "--in", ".agents/skills"],
        &["setup", "vscode", "--project", "--yes"],
    ] {
        let shown = world.run(arguments);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(
            lines.contains(
                &"! hint: A parent folder is a symbolic link; replace the link with a folder, or name the file by its \
                  real path"
            ) && lines.last() == Some(&"exit 4"),
            "{shown}"
        );
    }
    remove(&world.path("person/.local"));
    assert_eq!(all_below(&world.path("person")), before);
}

fn start(world: &World, arguments: &[&str]) -> Child {
    skillfold(&world.path("app"), &world.path("person"))
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn succeeded(mut child: Child) {
    assert!(child.wait().unwrap().success());
}

#[test]
fn concurrent_trust_loses_no_folder() {
    let world = World::new("//- app/README.md\n");
    let folders: Vec<String> = (0..12).map(|number| format!("../p{number:02}")).collect();
    for folder in &folders {
        world.write(&format!("\n//- app/{folder}/.git/HEAD\n"));
    }
    let started: Vec<Child> = folders
        .iter()
        .map(|folder| start(&world, &["trust", folder, "--yes"]))
        .collect();
    started.into_iter().for_each(succeeded);
    let mut listed: Vec<String> = world
        .data(&["trust", "--list"])
        .lines()
        .map(|line| line.rsplit('/').next().unwrap().to_owned())
        .collect();
    listed.sort();
    let names: Vec<&str> = folders.iter().map(|folder| &folder[3..]).collect();
    assert_eq!(listed, names);
}

#[test]
fn revocation_survives_concurrent_trust() {
    let world = World::new("//- a/.git/HEAD\n//- b/.git/HEAD\n");
    for turn in 0..20 {
        world.run(&["trust", "../a", "--yes"]);
        world.run(&["trust", "--remove", "../b"]);
        let both = [
            start(&world, &["trust", "--remove", "../a"]),
            start(&world, &["trust", "../b", "--yes"]),
        ];
        both.into_iter().for_each(succeeded);
        let listed = world.data(&["trust", "--list"]);
        assert!(
            !listed.contains("/a\n") && listed.contains("/b\n"),
            "{turn}: {listed}"
        );
    }
}

#[test]
fn concurrent_config_set_loses_no_setting() {
    for (options, other, file) in [
        (&[][..], "enable", "person/.config/skillfold/config.toml"),
        (&["--project"], "roots", "app/.skillfold/config.toml"),
    ] {
        let world = World::new("//- app/README.md\n");
        for turn in 0..20 {
            let value = format!("a{turn}");
            let both = ["disable", other].map(|key| {
                let arguments = [&["config", "set"], options, &[key, &value]].concat();
                start(&world, &arguments)
            });
            both.into_iter().for_each(succeeded);
            let text = world.read(file);
            let kept = text.matches(&format!("[\"{value}\"]")).count();
            assert_eq!(kept, 2, "{turn}: {text}");
        }
    }
}

#[test]
fn link_in_place_of_the_lock_file_is_refused() {
    let world = World::new("//- app/README.md\n");
    world.run(&["config", "set", "links", "refuse"]);
    let lock = world.path("person/.local/state/skillfold/lock");
    fs::remove_file(&lock).unwrap();
    symlink(world.path("elsewhere"), &lock).unwrap();
    let shown = world.run(&["config", "set", "links", "follow"]);
    insta::assert_snapshot!(shown, @"
    ! error: Refused to write `ROOT/person/.local/state/skillfold/lock`
    ! hint: The lock's path is a link or not a regular file; remove it and try again
    exit 4
    ");
    assert!(
        world
            .read("person/.config/skillfold/config.toml")
            .contains("refuse")
    );
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

#[test]
fn trust_list_is_private_whatever_the_umask() {
    for umask in ["000", "077", "022"] {
        let world = World::new("//- app/README.md\n");
        let command = format!(
            "umask {umask}; {} trust --yes",
            env!("CARGO_BIN_EXE_skillfold")
        );
        let output = Command::new("sh")
            .args(["-c", &command])
            .current_dir(world.path("app"))
            .env_clear()
            .env("HOME", world.path("person"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", world.shown(&output));
        let state = world.path("person/.local/state/skillfold");
        assert_eq!(mode(&state), 0o700, "umask {umask}");
        assert_eq!(mode(&state.join("trusted.toml")), 0o600, "umask {umask}");
        assert_eq!(
            mode(&world.path("person/.local/state")) & 0o022,
            0,
            "umask {umask}"
        );
    }
}

/// Trusts a project, then changes the folder and the file of the list, if that may be done.
fn with_list(change: impl Fn(&Path, &Path) -> std::io::Result<()>) -> Option<World> {
    let world = World::new(
        "//- app/.agents/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Fills in forms\n---\nDo it.\n",
    );
    world.run(&["trust", "--yes"]);
    let state = world.path("person/.local/state/skillfold");
    change(&state, &state.join("trusted.toml")).ok()?;
    Some(world)
}

#[test]
fn trust_list_writable_by_others_trusts_nothing() {
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    let world = with_list(|folder, _| set(folder, 0o777)).unwrap();
    insta::assert_snapshot!(world.run(&["list"]), @"
    pdf  project, untrusted  Fills in forms
    ! warning[SF709]: List of trusted folders is not used: others can write to the folder (mode 0777) (ROOT/person/.local/state/skillfold/trusted.toml:1)
    ! hint: Make the folder and the file yours alone with `chown` and `chmod go-w`; then check its content
    ! 1 skill, 1 untrusted; `skillfold doctor` says why
    exit 0
    ");
    for arguments in [&["trust", "--yes"][..], &["trust", "--remove"]] {
        let shown = world.run(arguments);
        assert!(
            shown.contains(
                "! hint: It belongs to another user or is writable by others; fix the folder and the file"
            ) && shown.ends_with("exit 4\n"),
            "{shown}"
        );
    }
    assert_eq!(mode(&world.path("person/.local/state/skillfold")), 0o777);
    let nothing = "not used: others can write to the file (mode 0620)";
    let world = with_list(|_, file| set(file, 0o620)).unwrap();
    assert!(world.run(&["list"]).contains(nothing));
    set(
        &world.path("person/.local/state/skillfold/trusted.toml"),
        0o600,
    )
    .unwrap();
    assert!(!world.run(&["list"]).contains("SF709"));
}

#[test]
fn trust_list_owned_by_another_user_trusts_nothing() {
    let chown = |path: &Path| std::os::unix::fs::chown(path, Some(12_345), None);
    for (world, what) in [
        (with_list(|folder, _| chown(folder)), "folder"),
        (with_list(|_, file| chown(file)), "file"),
    ] {
        let Some(world) = world else {
            eprintln!("skipped: run as an administrator to see the file of another user");
            return;
        };
        let shown = world.run(&["list"]);
        let why = format!("not used: the {what} belongs to another user (12345), not to you");
        assert!(
            shown.contains(&why) && shown.contains("untrusted"),
            "{shown}"
        );
    }
}

#[test]
fn read_only_file_is_not_fixed() {
    use std::os::unix::process::CommandExt;

    const NOBODY: u32 = 65_534;
    let world = World::new("//- app/README.md\n");
    world.write(&format!("\n//- app/.agents/skills/pdf/SKILL.md\n{BROKEN}"));
    let folder = world.path("app/.agents/skills/pdf");
    let file = folder.join("SKILL.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(world.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    if std::os::unix::fs::chown(&folder, Some(NOBODY), None).is_err() {
        eprintln!("skipped: run as an administrator to see the file of another user");
        return;
    }
    // The folder is nobody's, so that it could put another file in the place of this one.
    let output = skillfold(&world.path("app"), &world.path("person"))
        .args(["check", "--fix"])
        .uid(NOBODY)
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: the command is where only its owner may start it");
        return;
    };
    let shown = world.shown(&output);
    assert!(
        shown.contains("! hint: The file is read-only; make it writable first")
            && shown.ends_with("exit 4\n"),
        "{shown}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), BROKEN);
}

#[test]
fn revocation_works_with_broken_settings() {
    let world = World::new("//- app/README.md\n");
    world.run(&["trust", "--yes"]);
    world.write("\n//- person/.config/skillfold/config.toml\nlinks = \"maybe\"\n");
    insta::assert_snapshot!(world.run(&["trust", "--remove"]), @"
    ROOT/app
    ! It is no longer trusted
    exit 0
    ");
}
