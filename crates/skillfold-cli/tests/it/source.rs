//! The toolset that the third of the sources explains, as it is written there.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use skillfold::run::Prepare;
use skillfold_testkit::in_checkout;

use crate::command::{World, skillfold};

/// Returns the blocks of code of a section, without their fences.
fn blocks<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let (_, section) = page.split_once(heading).unwrap();
    let parts = section.split("```").skip(1).step_by(2);
    parts.map(|part| part.split_once('\n').unwrap().1).collect()
}

fn source() -> String {
    let files = fs::read_dir(in_checkout("..").join("shared/sources"))
        .expect("the sources are beside the checkout");
    let mut paths = files.map(|file| file.unwrap().path());
    let is_third = |path: &PathBuf| path.to_string_lossy().contains("/003_");
    fs::read_to_string(paths.find(is_third).unwrap()).unwrap()
}

/// Runs with the folder of Bun in the variable `TYPESCRIPT_FOLDER`, and the npm of the system.
#[test]
#[ignore = "needs the sources beside the checkout, Bun, and the registry of npm"]
fn toolset_from_the_source_page_runs_unchanged() {
    let (bun, page) = (std::env::var("TYPESCRIPT_FOLDER").unwrap(), source());
    let [_, manifest, module, ..] = blocks(&page, "## Creating a Skill")[..] else {
        panic!("the source has a folder, a manifest and a module");
    };
    let world = World::new("//- app/README.md\n");
    let folder = world.path("person/.agent/skills/my-skill");
    fs::create_dir_all(folder.join("toolsets")).unwrap();
    fs::write(folder.join("SKILL.md"), manifest).unwrap();
    fs::write(folder.join("toolsets/index.ts"), module).unwrap();

    let command = |arguments: &[&str]| {
        let mut command = skillfold(&world.path("app"), &world.path("person"));
        let output = command.args(arguments).env("PATH", &bun).output();
        world.shown(&output.unwrap())
    };
    let piped = command(&["run", "my-skill", "--prepare"]);
    assert!(
        piped.contains("packages, not installed: zod@latest"),
        "{piped}"
    );
    assert!(piped.ends_with("exit 4\n"), "{piped}");
    let early = command(&["tools", "my-skill", "my-tool", r#"{"input": "x"}"#]);
    assert!(early.ends_with("exit 4\n"), "{early}");

    let prepared = at_terminal(&world, "run my-skill --prepare", &bun);
    assert!(prepared.contains("zod@latest"), "{prepared}");
    assert!(
        prepared.contains("Install these packages, and let `my-skill` run this? [y/N]"),
        "{prepared}"
    );
    assert!(
        prepared.contains("1 package for `toolsets/index.ts`: zod "),
        "{prepared}"
    );
    assert!(prepared.contains("Its tools: my-tool"), "{prepared}");
    let called = command(&["tools", "my-skill", "my-tool", r#"{"input": "x"}"#]);
    assert_eq!(called, "Processed: x\nexit 0\n");
    let listed = command(&["tools", "my-skill"]);
    assert!(
        listed.contains("my-skill__my-tool  Does something useful"),
        "{listed}"
    );
}

/// Runs the command on a real terminal, which `script` makes, and answers yes.
fn at_terminal(world: &World, arguments: &str, path: &str) -> String {
    let command = format!("{} {arguments}", env!("CARGO_BIN_EXE_skillfold"));
    let known = Prepare::variables().iter();
    let variables = known.filter_map(|name| Some((name, std::env::var(name).ok()?)));
    let mut script = Command::new("/usr/bin/script")
        .args(["-qec", &command, "/dev/null"])
        .current_dir(world.path("app"))
        .env_clear()
        .env("HOME", world.path("person"))
        .env("SKILLFOLD_NO_HOME_LOOKUP", "1")
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .envs(variables)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = script.stdin.take().unwrap();
    input.write_all(b"y\n").unwrap();
    let output = script.wait_with_output().unwrap();
    drop(input);
    String::from_utf8_lossy(&output.stdout).into_owned()
}
