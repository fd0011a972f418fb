//! `trust`

use std::io::Write;
use std::process::{Command, Stdio};

use crate::command::{World, skill};

fn world() -> World {
    let world = World::new("//- app/README.md\n");
    world.write(&format!(
        "\n//- app/.agents/skills/pdf/SKILL.md\n{}\n//- app/.agents/skills/pdf/forms.md\nx\n//- app/.agents/skills/odd/SKILL.md\n---\nname: odd\ndescription: Use when: it is odd \u{202e}\n---\n",
        skill("pdf", "Fills in forms")
    ));
    world
}

#[test]
fn what_would_be_trusted_is_shown_and_nothing_is_done_without_a_word() {
    let world = world();
    insta::assert_snapshot!(world.run(&["trust"]), @r#"
    ROOT/app
      odd  1 file   Use when: it is odd \u{202e}
      pdf  2 files  Fills in forms
      .agents/skills/odd/SKILL.md: warning[SF406] at 3:14: Invisible character U+202E
      3 warnings of style and format; `skillfold check` shows them
    ! Trust is by path: models get every skill that is in this folder, now or later
    ! error: Refused to trust `ROOT/app`
    ! hint: There is no terminal to ask on; review what is shown, then pass `--yes`
    exit 4
    "#);
    assert!(!world.path("person/.local").exists());
    insta::assert_snapshot!(world.run(&["trust", "--json"]), @r#"
    {
      "view": 1,
      "kind": "error",
      "error": "refused",
      "refusal": "trust",
      "message": "Refused to trust `ROOT/app`",
      "hint": "There is no terminal to ask on; review what is shown, then pass `--yes`"
    }
    ! ROOT/app
    !   odd  1 file   Use when: it is odd \u{202e}
    !   pdf  2 files  Fills in forms
    !   .agents/skills/odd/SKILL.md: warning[SF406] at 3:14: Invisible character U+202E
    !   3 warnings of style and format; `skillfold check` shows them
    ! Trust is by path: models get every skill that is in this folder, now or later
    exit 4
    "#);
}

#[test]
fn trust_lasts_until_it_is_taken_back() {
    let world = world();
    insta::assert_snapshot!(world.run(&["trust", "--yes"]), @r#"
    ROOT/app
      odd  1 file   Use when: it is odd \u{202e}
      pdf  2 files  Fills in forms
      .agents/skills/odd/SKILL.md: warning[SF406] at 3:14: Invisible character U+202E
      3 warnings of style and format; `skillfold check` shows them
    ! Trust is by path: models get every skill that is in this folder, now or later
    ! Trusted: ROOT/app; `skillfold trust --remove` takes it back
    exit 0
    "#);
    insta::assert_snapshot!(world.run(&["trust"]), @"
    ! Nothing to do: it is trusted already, by ROOT/app
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["list"]), @r"
    odd  project  Use when: it is odd \u{202e}
    pdf  project  Fills in forms
    ! 2 skills
    ! The project is trusted by `skillfold trust`: ROOT/app
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["trust", "--list"]), @"
    ROOT/app
    ! 1 folder is trusted by ROOT/person/.local/state/skillfold/trusted.toml
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["trust", "--remove"]), @"
    ROOT/app
    ! It is no longer trusted
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["trust", "--remove"]), @"
    ! It is not in the list of trusted folders; `skillfold trust --list` shows them
    ! error: Could not find `ROOT/app`
    ! hint: Check the name or the path; it may have changed since
    exit 3
    ");
    assert!(world.run(&["list"]).contains("2 untrusted"));
}

#[test]
fn folder_of_projects_and_what_cannot_be_trusted() {
    let world = world();
    world.write("\n//- code/one/.git/HEAD\n//- code/one/.agents/skills/a/SKILL.md\n---\nname: a\ndescription: Does a\n---\n");
    insta::assert_snapshot!(world.run(&["trust", "../code", "--yes"]), @"
    ROOT/code
      no skills are visible from here
      projects in it are not searched; name one to see its skills
    ! Trust is by path: models get every skill of every project in this folder, now or later
    ! Trusted: ROOT/code; `skillfold trust --remove` takes it back
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["-C", "../code/one", "list"]), @"
    a  project  Does a
    ! 1 skill
    ! The project is trusted by `skillfold trust`: ROOT/code
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["-C", "../code/one", "trust", "--remove"]), @"
    ! It is trusted by ROOT/code
    ! error: Could not find `ROOT/code/one`
    ! hint: Check the name or the path; it may have changed since
    exit 3
    ");
    insta::assert_snapshot!(world.run(&["trust", "../person", "--yes"]), @"
    ! error: Refused to trust `ROOT/app/../person`
    ! hint: Your home is in it, and so is everything of yours; name a project, or a folder of projects
    exit 4
    ");
    insta::assert_snapshot!(world.run(&["trust", "nowhere", "--yes"]), @"
    ! error: Could not find `ROOT/app/nowhere`
    ! hint: Check the name or the path; it may have changed since
    exit 3
    ");
    insta::assert_snapshot!(world.run(&["trust", "--list", "--yes"]), @"
    ! error: the argument '--list' cannot be used with '--yes'
    ! 
    ! Usage: skillfold trust --list [FOLDER]
    ! 
    ! For more information, try '--help'.
    exit 2
    ");
}

/// Runs the command on a real terminal, and types an answer.
fn answered(world: &World, arguments: &str, answer: &str) -> String {
    let command = format!(
        "{} {arguments} --color=never",
        env!("CARGO_BIN_EXE_skillfold")
    );
    let mut child = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .current_dir(world.path("app"))
        .env("HOME", world.path("person"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(answer.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn person_is_asked_and_only_a_clear_yes_is_one() {
    let world = world();
    for answer in ["n\n", "\n", "yesterday\n", "\u{4}"] {
        let shown = answered(&world, "trust", answer);
        assert!(shown.contains("Trust this folder? [y/N]"), "{shown}");
        assert!(shown.contains("Cancelled; nothing was changed"), "{shown}");
        assert!(!world.path("person/.local").exists(), "{answer:?}");
    }
    let shown = answered(&world, "trust", "y\n");
    assert!(shown.contains("Trusted: "), "{shown}");
    assert!(
        world
            .run(&["list"])
            .contains("The project is trusted by `skillfold trust`")
    );
}

#[test]
fn person_sees_what_is_asked_about_also_where_the_answer_is_json() {
    let world = world();
    for (arguments, question, seen) in [
        (
            "trust --json",
            "Trust this folder?",
            "pdf  2 files  Fills in forms",
        ),
        (
            "setup vscode --project --json",
            "Write this?",
            "\"command\": \"skillfold\"",
        ),
    ] {
        let shown = answered(&world, arguments, "n\n");
        let (before, after) = shown.split_once(question).unwrap();
        assert!(before.contains(seen), "{shown}");
        assert!(after.contains("Cancelled; nothing was changed"), "{shown}");
    }
}

#[test]
fn trust_is_offered_only_where_nothing_else_would_be_trusted() {
    let world = World::new("//- app/README.md\n//- app/.git/HEAD\n");
    // Without a terminal nothing is asked, so the question is looked for on one.
    let offers = |arguments: &str| {
        let command = format!("{} {arguments}", env!("CARGO_BIN_EXE_skillfold"));
        let output = std::process::Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .current_dir(world.path("app"))
            .env("HOME", world.path("person"))
            .env("TERM", "xterm")
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).contains("[y/N]")
    };
    assert!(offers("new first"));
    assert!(!offers("new second"), "the first was not shown");
    assert!(!offers("init"), "neither was shown");
    let world = World::new("//- app/.git/HEAD\n//- app/.agents/skills/broken/SKILL.md\n# Broken\n");
    let shown = world.run(&["init"]);
    assert!(
        shown.contains("No model gets the project's skills"),
        "{shown}"
    );
}

#[test]
fn json_of_new_and_init_is_one_document_and_trusts_all_the_same() {
    let world = World::new("//- app/.git/HEAD\n");
    for arguments in [
        &["init", "--trust", "--json"][..],
        &["new", "a", "--trust", "--json"],
    ] {
        let printed = world.data(arguments);
        serde_json::from_str::<serde_json::Value>(&printed).expect(&printed);
        assert!(
            world
                .run(&["trust", "--list"])
                .contains("1 folder is trusted"),
            "{printed}"
        );
        world.run(&["trust", "--remove"]);
    }
}
