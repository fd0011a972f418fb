//! Colours, pipes, completions and the manual page.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::command::{World, skill, skillfold};

fn world() -> World {
    let world = World::new("//- app/README.md\n");
    world.write(&format!(
        "\n//- app/.agents/skills/pdf/SKILL.md\n{}",
        skill("pdf", "Fills in: forms")
    ));
    world
}

/// Runs the command on a real terminal, which `script` makes.
fn on_terminal(world: &World, arguments: &str, variables: &[(&str, &str)]) -> String {
    let command = format!("{} {arguments}", env!("CARGO_BIN_EXE_skillfold"));
    let output = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .current_dir(world.path("app"))
        .env("HOME", world.path("person"))
        .env("TERM", "xterm-256color")
        .env_remove("NO_COLOR")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn colours_are_for_a_terminal_only() {
    let world = world();
    for arguments in ["list", "check", "doctor", "show pdf"] {
        let typed: Vec<_> = arguments.split(' ').collect();
        assert!(
            on_terminal(&world, arguments, &[]).contains("\u{1b}["),
            "{arguments}"
        );
        assert!(
            !on_terminal(&world, arguments, &[("NO_COLOR", "1")]).contains("\u{1b}["),
            "{arguments}"
        );
        assert!(!world.run(&typed).contains("\u{1b}["), "{arguments}");
    }
    assert!(world.run(&["list", "--color=always"]).contains("\u{1b}["));
    assert!(!on_terminal(&world, "list --color=never", &[]).contains("\u{1b}["));
}

#[test]
fn text_of_a_skill_cannot_act_on_a_terminal() {
    let world = world();
    world.write("\n//- app/.agents/skills/pdf/red.md\n\u{1b}[31mred\u{202e}\n");
    let shown = on_terminal(&world, "read pdf red.md --trust-project", &[]);
    assert_eq!(shown.trim_end(), "\\u{1b}[31mred\\u{202e}");
    let bytes = world.path("app/.agents/skills/pdf/x.bin");
    std::fs::write(bytes, b"\x1b[31m\xff").unwrap();
    let shown = on_terminal(&world, "read pdf x.bin --trust-project --color=never", &[]);
    assert!(shown.starts_with("error: `x.bin` is not text"), "{shown}");
}

#[test]
fn argument_cannot_act_on_a_terminal() {
    let world = world();
    for hostile in [
        "--a\u{202e}b",
        "--c\u{9b}31m",
        "check\r",
        "--\u{200b}",
        "--x\u{1b}[2J",
    ] {
        for arguments in [
            vec![hostile],
            vec!["list", "--scope", hostile],
            vec!["setup", hostile],
        ] {
            let (app, person) = (world.path("app"), world.path("person"));
            let run = skillfold(&app, &person).args(&arguments).output().unwrap();
            assert_eq!(run.status.code(), Some(2), "{arguments:?}");
            let said = String::from_utf8(run.stderr).unwrap();
            let is_bad = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{200b}".contains(c));
            assert!(!said.contains(is_bad), "{said:?}");
            assert!(
                said.starts_with("error: ") && said.contains("--help"),
                "{said}"
            );
        }
    }
}

#[test]
fn reader_that_leaves_early_is_no_failure() {
    let world = World::new("//- app/README.md\n");
    let tree: String = (0..2_000)
        .map(|number| {
            format!(
                "//- app/.agents/skills/s-{number}/SKILL.md\n{}",
                skill(&format!("s-{number}"), "Does it")
            )
        })
        .collect();
    world.write(&format!("\n{tree}"));
    let mut child = skillfold(&world.path("app"), &world.path("person"))
        .args(["list", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut start = [0; 10];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut start).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn completions_and_manual_name_every_command() {
    let world = world();
    let commands = [
        "list",
        "show",
        "check",
        "new",
        "doctor",
        "config",
        "setup",
        "trust",
        "completions",
        "man",
    ];
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = world.data(&["completions", shell]);
        for command in commands {
            assert!(text.contains(command), "{shell}: {command}");
        }
    }
    let manual = world.data(&["man"]);
    assert!(manual.starts_with(".ie") && commands.iter().all(|command| manual.contains(command)));
    assert!(world.data(&["man", "check"]).contains("sarif"));
}

#[test]
fn bash_takes_the_completions() {
    let world = world();
    let script = format!(
        "source <({} completions bash); COMP_WORDS=(skillfold che); COMP_CWORD=1; _skillfold skillfold che skillfold; echo \"${{COMPREPLY[@]}}\"",
        env!("CARGO_BIN_EXE_skillfold")
    );
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(world.path("app"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "check");
}
