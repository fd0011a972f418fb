//! Colours, pipes, completions and the manual page.

use std::io::Read;
use std::path::Path;
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
fn permissions_that_are_not_seen_whole_cannot_be_allowed() {
    let world = world();
    let folders: Vec<String> = (0..12).map(|number| format!("~/notes-{number}")).collect();
    let text = format!(
        "---\nname: many\ndescription: Reads notes.\npermissions: {{read: [{}]}}\n---\n",
        folders.join(", ")
    );
    world.write(&format!(
        "\n//- person/.agents/skills/many/SKILL.md\n{text}"
    ));
    world.write("\n//- person/.agents/skills/many/scripts/a.sh\necho ran\n");
    for folder in &folders {
        world.write(&format!("\n//- person/{}/x\n", &folder[2..]));
    }
    let asked = |size: &str, arguments: &str| {
        let command = format!(
            "stty {size}; {} {arguments}",
            env!("CARGO_BIN_EXE_skillfold")
        );
        let output = Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .current_dir(world.path("app"))
            .env("HOME", world.path("person"))
            .env("TERM", "xterm-256color")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let shown = asked("rows 40 cols 80", "allow many");
    assert!(
        shown.contains("asks for read access to ~/notes-11"),
        "{shown}"
    );
    assert!(shown.contains("[y/N]"), "{shown}");
    for (size, arguments) in [
        ("rows 12 cols 80", "allow many"),
        // Wrapped lines take more rows.
        ("rows 20 cols 20", "allow many"),
        ("rows 40 cols 80", "allow many > out.txt"),
        ("rows 12 cols 80", "run many scripts/a.sh"),
    ] {
        let shown = asked(size, arguments);
        assert!(!shown.contains("[y/N]"), "{size} {arguments}: {shown}");
        assert!(
            shown.contains("Refused to approve `many`"),
            "{size} {arguments}: {shown}"
        );
    }
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
fn skill_text_cannot_control_the_terminal() {
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
fn argument_cannot_control_the_terminal() {
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
                said.starts_with("error: ") && (said.contains("--help") || said.contains("hint: ")),
                "{said}"
            );
        }
    }
}

#[test]
fn missing_skill_argument_is_an_error_without_a_terminal() {
    let world = world();
    let said = |arguments: &[&str]| world.run(arguments).replace("! \n", "");
    insta::assert_snapshot!(said(&["show"]), @"
    ! error: the following required arguments were not provided:
    !   <ID>
    ! Usage: skillfold show [ID]
    ! For more information, try '--help'.
    exit 2
    ");
    insta::assert_snapshot!(said(&["why", "Fill in a form", "--skill"]), @"
    ! error: the following required arguments were not provided:
    !   --skill <ID>
    ! Usage: skillfold why [OPTIONS] [REQUEST]
    ! For more information, try '--help'.
    exit 2
    ");
    for arguments in [&["load", "--envelope", "plain"][..], &["files", "--json"]] {
        assert!(said(arguments).contains("!   <ID>\n"), "{arguments:?}");
    }
}

#[test]
fn closed_pipe_is_not_a_failure() {
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
fn completions_and_man_page_cover_every_command() {
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
        assert!(text.contains("SKILLFOLD_COMPLETE"), "{shell}: {text}");
    }
    let manual = world.data(&["man"]);
    assert!(manual.starts_with(".ie") && commands.iter().all(|command| manual.contains(command)));
    assert!(world.data(&["man", "check"]).contains("sarif"));
}

/// Returns what bash offers for the last word of a line.
fn offered(world: &World, line: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_skillfold"));
    let words: Vec<_> = line.split(' ').collect();
    let script = format!(
        "source <(skillfold completions bash); COMP_WORDS=({}); COMP_CWORD={}; COMP_TYPE=9; _clap_complete_skillfold skillfold '{}'; echo \"${{COMPREPLY[@]}}\"",
        words
            .iter()
            .map(|word| format!("'{word}'"))
            .collect::<Vec<_>>()
            .join(" "),
        words.len() - 1,
        words[words.len() - 1]
    );
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(world.path("app"))
        .env("HOME", world.path("person"))
        .env("PATH", path)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn shell_completes_commands_ids_codes_and_settings() {
    let world = world();
    assert_eq!(offered(&world, "skillfold che"), "check");
    assert_eq!(offered(&world, "skillfold show p"), "pdf");
    assert_eq!(offered(&world, "skillfold check p"), "pdf");
    assert_eq!(
        offered(&world, "skillfold check --only SF40"),
        "SF401 SF402 SF403 SF404 SF405 SF406 SF407 SF408 SF409"
    );
    assert_eq!(offered(&world, "skillfold config get disclo"), "disclosure");
    assert_eq!(offered(&world, "skillfold setup cur"), "cursor");
}

#[test]
fn slow_work_shows_progress_on_a_terminal_after_a_second() {
    let world = World::new("//- app/README.md\n");
    let tree: String = (0..3_000)
        .map(|number| {
            let skill = skill(&format!("s-{number}"), "Does it");
            format!("//- app/.agents/skills/s-{number}/SKILL.md\n{skill}")
        })
        .collect();
    world.write(&format!("\n{tree}"));
    // The command waits for a reader of its trace, so that no machine is too fast for the test.
    let program = env!("CARGO_BIN_EXE_skillfold");
    let command = format!(
        "rm -f trace; mkfifo trace; (sleep 1.3; cat trace >/dev/null) & {program} check --trust-project --trace trace"
    );
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(world.path("app"))
            .env("HOME", world.path("person"))
            .env("TERM", "xterm")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let shown = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&shown).into_owned()
    };
    let shown = run("script", &["-qec", &command, "/dev/null"]);
    assert!(shown.contains(" skills: "), "{shown}");
    assert!(
        shown.contains("\r\u{1b}[K3000 skills, nothing to report"),
        "{shown}"
    );
    let shown = run("sh", &["-c", &command]);
    assert_eq!(shown, "3000 skills, nothing to report\n");
}

#[test]
fn output_fits_the_terminal() {
    let world = World::new("//- app/README.md\n");
    for (name, description) in [
        ("pdf".to_owned(), "Fills in forms ".repeat(20)),
        ("x".repeat(60), "Long".to_owned()),
        ("wide".to_owned(), "部署、监控和管理".repeat(20)),
    ] {
        let skill = skill(&name, &description);
        world.write(&format!(
            "\n//- app/.agents/skills/{name}/SKILL.md\n{skill}"
        ));
    }
    for columns in [80, 120] {
        for arguments in [
            "",
            "list",
            "search forms",
            "why cake",
            "check",
            "doctor",
            "trust --yes",
            "config --explain",
            "help check",
        ] {
            let command = format!(
                "stty rows 50 cols {columns}; {} {arguments}",
                env!("CARGO_BIN_EXE_skillfold")
            );
            let output = Command::new("script")
                .args(["-qec", &command, "/dev/null"])
                .current_dir(world.path("app"))
                .env("HOME", world.path("person"))
                .env("TERM", "xterm")
                .env("NO_COLOR", "1")
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let shown = String::from_utf8_lossy(&output.stdout)
                .replace(&*world.path("").to_string_lossy(), "/w");
            for line in shown.lines().map(|line| line.trim_end_matches('\r')) {
                let width: usize = line
                    .chars()
                    .map(|c| if c > '\u{2e80}' { 2 } else { 1 })
                    .sum();
                assert!(width <= columns, "{arguments} at {columns}: {line}");
            }
        }
    }
}
