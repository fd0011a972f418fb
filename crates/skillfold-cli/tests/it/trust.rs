//! `trust`

use std::io::Write;
use std::process::{Command, Stdio};

use skillfold::store::{Approval, Author, NewProposal, SkillPath, Store};

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
fn trust_shows_the_skills_and_changes_nothing_without_consent() {
    let world = world();
    insta::assert_snapshot!(world.run(&["trust"]), @r#"
    ROOT/app
      odd  1 file   Use when: it is odd \u{202e}
      pdf  2 files  Fills in forms
      .agents/skills/odd/SKILL.md: warning[SF406] at 3:14: Invisible character U+202E
      3 style warnings; run `skillfold check` for details
    ! Trust is by path: models get every skill that is in this folder, now or later
    ! error: Refused to trust `ROOT/app`
    ! hint: There is no terminal to ask on; review what is shown, then pass `--yes`
    exit 4
    "#);
    assert!(!world.path("person/.local").exists());
    insta::assert_snapshot!(world.run(&["trust", "--json"]), @r#"
    {
      "view": 2,
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
    !   3 style warnings; run `skillfold check` for details
    ! Trust is by path: models get every skill that is in this folder, now or later
    exit 4
    "#);
}

#[test]
fn trust_lasts_until_revoked() {
    let world = world();
    insta::assert_snapshot!(world.run(&["trust", "--yes"]), @r#"
    ROOT/app
      odd  1 file   Use when: it is odd \u{202e}
      pdf  2 files  Fills in forms
      .agents/skills/odd/SKILL.md: warning[SF406] at 3:14: Invisible character U+202E
      3 style warnings; run `skillfold check` for details
    ! Trust is by path: models get every skill that is in this folder, now or later
    ! Trusted: ROOT/app; `skillfold trust --remove` undoes it
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
fn projects_folder_can_be_trusted_and_untrustable_paths_are_refused() {
    let world = world();
    world.write("\n//- code/one/.git/HEAD\n//- code/one/.agents/skills/a/SKILL.md\n---\nname: a\ndescription: Does a\n---\n");
    insta::assert_snapshot!(world.run(&["trust", "../code", "--yes"]), @"
    ROOT/code
      no skills are visible from here
      projects in it are not searched; name one to see its skills
    ! Trust is by path: models get every skill of every project in this folder, now or later
    ! Trusted: ROOT/code; `skillfold trust --remove` undoes it
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
    ! hint: It contains your home and everything in it; name a project, or a folder of projects
    exit 4
    ");
    insta::assert_snapshot!(world.run(&["trust", "nowhere", "--yes"]), @"
    ! error: There is no skill `nowhere`
    ! hint: Check the id against the list of skills
    exit 3
    ");
    insta::assert_snapshot!(world.run(&["trust", "--list", "--yes"]), @"
    ! error: the argument '--list' cannot be used with '--yes'
    ! 
    ! Usage: skillfold trust --list [FOLDER|SKILL]...
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
fn user_is_asked_and_only_an_explicit_yes_counts() {
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
fn user_sees_what_the_prompt_is_about_even_with_json_output() {
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
fn trust_is_offered_only_if_nothing_else_would_become_trusted() {
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
fn new_and_init_print_one_json_document_and_still_trust() {
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

#[test]
fn trust_names_the_skills_that_get_shadowed() {
    let world = World::new(
        "//- app/.git/HEAD\n//- person/.config/skillfold/config.toml\nroots = [\"acme=~/plugin\"]\n",
    );
    let pdf = skill("pdf", "Fills in forms");
    let folders = [
        "app/.agents/skills",
        "app/.claude/skills",
        "person/.agents/skills",
        "person/plugin",
    ];
    for folder in folders {
        world.write(&format!("\n//- {folder}/pdf/SKILL.md\n{pdf}"));
    }
    let shown = world.run(&["trust"]);
    let replaced: Vec<_> = shown
        .lines()
        .filter(|line| line.contains("replaces"))
        .collect();
    insta::assert_snapshot!(replaced.join("\n"), @"
    replaces `pdf` of .claude/skills
    replaces your `pdf` of ~/.agents/skills
    replaces `pdf` of the plugin `acme`
    ");
}

#[test]
fn digest_of_a_skill_is_the_same_everywhere() {
    let world = World::new("//- app/README.md\n");
    let mine = world.path("person/.agents/skills");
    let golden = skillfold_testkit::write_golden_skill(&mine);
    skillfold_testkit::write_golden_skill(&world.path("app/.agents/skills"));
    world.run(&["trust", "--pin", "--yes"]);
    let list = world.read("person/.local/state/skillfold/trusted.toml");
    assert!(list.contains(golden), "{list}");
    for id in ["user:golden", "project:golden"] {
        let shown = world.data(&["show", id, "--json"]);
        assert!(shown.contains(golden), "{shown}");
    }
    let scripts = world.data(&["run", "user:golden", "--json"]);
    assert!(scripts.contains(golden), "{scripts}");

    let store = Store::open(&world.path("person/.local/share/skillfold")).unwrap();
    let place = SkillPath::new(&mine, &mine.join("golden")).unwrap();
    let diff = "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -5 +5 @@\n-# Skill\n+# Skills\n";
    let new = NewProposal {
        skill: "golden",
        place: &place,
        diff,
        author: Author::named("me"),
        justification: "wrong",
        evidence: None,
        checks: &[],
    };
    let now = std::time::SystemTime::now();
    let proposal = store.propose(&new, now).unwrap().proposal;
    let approval = Approval::by_host("test");
    store
        .approve(proposal.digest, proposal.base, &approval, now)
        .unwrap();
    let history = world.data(&["history", "user:golden", "--json"]);
    assert!(history.contains(golden), "{history}");
}

#[test]
fn pinned_trust_lasts_until_a_skill_changes() {
    let world = world();
    insta::assert_snapshot!(world.run(&["trust", "--pin", "--yes"]), @r"
    ROOT/app
      odd  1 file   Use when: it is odd \u{202e}
      pdf  2 files  Fills in forms
      .agents/skills/odd/SKILL.md: warning[SF406] at 3:14: Invisible character U+202E
      3 style warnings; run `skillfold check` for details
    ! Trust is pinned: models get these skills as they are now; if any skill changes or a new one appears, trust ends
    ! Trusted: ROOT/app, pinned; `skillfold trust --remove` undoes it
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["trust", "--list"]), @r"
    ROOT/app  pinned
    ! 1 folder is trusted by ROOT/person/.local/state/skillfold/trusted.toml
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["trust", "--pin"]), @r"
    ! Nothing to do: it is trusted already, by ROOT/app, pinned
    exit 0
    ");
    world.write("\n//- app/.agents/skills/pdf/forms.md\nchanged\n");
    insta::assert_snapshot!(world.run(&["list"]), @r"
    odd  project, untrusted  Use when: it is odd \u{202e}
    pdf  project, untrusted  Fills in forms
    ! warning[SF711]: Skills of the pinned folder `ROOT/app` differ: `.agents/skills/pdf` (changed) (ROOT/person/.local/state/skillfold/trusted.toml:6)
    ! hint: Review its skills, then trust it again with `skillfold trust`
    ! 2 skills, 2 untrusted; `skillfold doctor` says why
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["trust", "--list"]), @r"
    ROOT/app  changed
    ! 0 folders are trusted by ROOT/person/.local/state/skillfold/trusted.toml
    exit 0
    ");
    let json = world.data(&["trust", "--list", "--json"]);
    assert!(json.contains("\"state\": \"changed\""), "{json}");
    // Who trusts it again pins it again.
    insta::assert_snapshot!(world.run(&["trust", "--yes"]), @r"
    ROOT/app
      odd  1 file   Use when: it is odd \u{202e}
      pdf  2 files  Fills in forms
      .agents/skills/odd/SKILL.md: warning[SF406] at 3:14: Invisible character U+202E
      3 style warnings; run `skillfold check` for details
    ! Trust is pinned: models get these skills as they are now; if any skill changes or a new one appears, trust ends
    ! Trusted: ROOT/app, pinned; `skillfold trust --remove` undoes it
    exit 0
    ");
    assert!(world.run(&["trust", "--list"]).contains("ROOT/app  pinned"));
    insta::assert_snapshot!(world.run(&["trust", "--remove"]), @r"
    ROOT/app
    ! It is no longer trusted
    exit 0
    ");
}

#[test]
fn unpinnable_folder_is_refused_with_a_hint() {
    let world = world();
    world.write("\n//- code/one/.git/HEAD\n");
    insta::assert_snapshot!(world.run(&["trust", "../code", "--pin", "--yes"]), @r"
    ! error: Refused to trust `ROOT/code`
    ! hint: It has no skills to pin; name a project that has some
    exit 4
    ");
    world.write(&format!(
        "\n//- code/one/.agents/skills/a/SKILL.md\n{}",
        skill("a", "Does a")
    ));
    world.run(&["trust", "../code", "--yes"]);
    insta::assert_snapshot!(world.run(&["trust", "../code/one", "--pin", "--yes"]), @r"
    ! error: Refused to trust `ROOT/code/one`
    ! hint: A parent folder is trusted with everything in it; `skillfold trust --list` shows it, and `--remove` undoes it
    exit 4
    ");
    // What is trusted by its path can be pinned.
    world.run(&["trust", "--yes"]);
    insta::assert_snapshot!(world.run(&["trust", "--pin", "--yes"]), @r"
    ROOT/app
      odd  1 file   Use when: it is odd \u{202e}
      pdf  2 files  Fills in forms
      .agents/skills/odd/SKILL.md: warning[SF406] at 3:14: Invisible character U+202E
      3 style warnings; run `skillfold check` for details
    ! Trust is pinned: models get these skills as they are now; if any skill changes or a new one appears, trust ends
    ! Trusted: ROOT/app, pinned; `skillfold trust --remove` undoes it
    exit 0
    ");
}
