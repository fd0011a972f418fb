//! `trust SKILL`, and the skills that are held until then.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::command::{World, skill};

/// A user with one skill, who holds what comes from now on, and a skill that came.
fn world() -> World {
    let world = World::new("//- app/README.md\n");
    world.write(&format!(
        "\n//- person/.agents/skills/pdf/SKILL.md\n{}",
        skill("pdf", "Fills in forms")
    ));
    world.run(&["config", "set", "new_skills", "hold"]);
    world.write(
        "\n//- person/.agents/skills/mail/SKILL.md\n---\nname: mail\ndescription: Sends mail \u{202e}\nallowed-tools: Bash\n---\nSend it.\n\
         //- person/.agents/skills/mail/scripts/send.sh\nx\n",
    );
    world
}

#[test]
fn existing_skills_are_trusted_when_new_ones_are_held() {
    let world = World::new("//- app/README.md\n");
    world.write(&format!(
        "\n//- person/.agents/skills/pdf/SKILL.md\n{}\n//- app/.agents/skills/ours/SKILL.md\n{}",
        skill("pdf", "Fills in forms"),
        skill("ours", "Ours")
    ));
    insta::assert_snapshot!(world.run(&["config", "set", "new_skills", "hold"]), @"
    ROOT/person/.config/skillfold/config.toml
    ! 1 skill that is here now is trusted; those of other projects are held until you run `skillfold trust --held` there
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["trust", "--list", "--held"]), @"
    ROOT/person/.agents/skills/pdf
    ! 1 skill is trusted by ROOT/person/.local/state/skillfold/trusted_skills.toml
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["list"]), @r"
    ours  project, untrusted  Ours
    pdf   user                Fills in forms
    ! 2 skills, 1 untrusted; `skillfold doctor` says why
    exit 0
    ");
    // Once more accepts nothing that came meanwhile.
    world.write(&format!(
        "\n//- person/.agents/skills/mail/SKILL.md\n{}",
        skill("mail", "Sends mail")
    ));
    insta::assert_snapshot!(world.run(&["config", "set", "new_skills", "hold"]), @"
    ROOT/person/.config/skillfold/config.toml
    ! 1 skill is held until you trust it: `skillfold trust --held` shows it and asks
    exit 0
    ");
    // Who trusts the project has seen its skills.
    insta::assert_snapshot!(world.run(&["trust", "--yes"]), @"
    ROOT/app
      ours  1 file  Ours
    ! Trust is by path: models get the skills above; new ones are held until you trust them
    ! 1 skill in it is trusted; new ones are held until you run `skillfold trust --held`
    ! Trusted: ROOT/app; `skillfold trust --remove` undoes it
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["list"]), @"
    mail  user, held  Sends mail
    ours  project     Ours
    pdf   user        Fills in forms
    ! 3 skills, 1 held; `skillfold doctor` says why
    ! 1 skill is held until you trust it: `skillfold trust --held` shows it and asks
    ! The project is trusted by `skillfold trust`: ROOT/app
    exit 0
    ");
}

#[test]
fn hand_written_setting_holds_everything_and_every_command_prints_the_fix() {
    let world = World::new("//- app/README.md\n");
    world.write(&format!(
        "\n//- person/.agents/skills/pdf/SKILL.md\n{}\n//- person/.config/skillfold/config.toml\nnew_skills = \"hold\"\n",
        skill("pdf", "Fills in forms")
    ));
    insta::assert_snapshot!(world.run(&["list"]), @"
    pdf  user, held  Fills in forms
    ! 1 skill, 1 held; `skillfold doctor` says why
    ! 1 skill is held until you trust it: `skillfold trust --held` shows it and asks
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["doctor"]), @"
    Skills
      pdf  found, parsed, held
          info[SF606]: Skill `pdf` is new, and held
          hint: Review the skill, then trust it with `skillfold trust SKILL`

    Roots
      ~/.agents/skills  user  1 skill
      searched too, but missing: ~/.claude/skills, ~/.agent/skills, ~/.skillfold/skills, .agents/skills, .claude/skills, .agent/skills, .skillfold/skills, folders of single clients

    Program
      PROGRAM
          built by cargo and not installed; to update, build it again from the newer sources

    ! 1 found: 1 parsed, 1 held
    ! 1 skill is held until you trust it: `skillfold trust --held` shows it and asks
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["why", "Fill in the form", "--skill", "pdf"]), @"
    no skill is selected
    -  pdf
       it is new and held
       hint: review the skill, then trust it with `skillfold trust --held`
    ! hybrid mode, 0 tokens (estimate)
    ! 1 skill is held until you trust it: `skillfold trust --held` shows it and asks
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["show", "pdf"]), @"
    pdf
    Fills in forms

           status  held
            scope  user (~/.agents/skills)
             file  ROOT/person/.agents/skills/pdf/SKILL.md
     instructions  8 bytes, about 2 tokens
           digest  sha256:00f0e92382a7333da251aa5cd1b95811a329a6d9565c0f77f4b3ec481be55d9b

    info[SF606]: Skill `pdf` is new, and held
    hint: Review the skill, then trust it with `skillfold trust SKILL`
    exit 0
    ");
    insta::assert_snapshot!(world.run(&[]), @"
    Skills   0 of 1 for models, 1 held
    Project  ROOT/app: no skills of its own
    Clients  none found

    Next
      skillfold trust --held  review new skills, and let models have them
      skillfold list          see all skills
    ! `skillfold help` lists all commands
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["load", "pdf"]), @"
    ! error: Refused to open `pdf`
    ! hint: The skill is new and held until you trust it; review it with `skillfold trust --held`
    exit 4
    ");
    for arguments in [
        &["search", "forms"][..],
        &["prompt", "Fill in the form"],
        &["overlap"],
        &["test"],
    ] {
        let shown = world.run(arguments);
        assert!(shown.contains("`skillfold trust --held`"), "{shown}");
    }
    let json = world.data(&["list", "--json"]);
    assert!(json.contains("\"status\": \"held\""), "{json}");
    let json = world.data(&["doctor", "--json"]);
    assert!(json.contains("\"held\": 1"), "{json}");
    let trusted = world.run(&["trust", "--held", "--yes"]);
    assert!(trusted.contains("Trusted: 1 skill"), "{trusted}");
    assert!(world.run(&["list"]).contains("pdf  user  Fills in forms"));
}

#[test]
fn held_skills_are_shown_and_not_trusted_without_a_yes() {
    let world = world();
    insta::assert_snapshot!(world.run(&["trust", "--held"]), @r"
      mail  2 files  Sends mail \u{202e}
          has scripts: scripts/send.sh
          wants to use tools without asking: Bash
      ROOT/person/.agents/skills/mail/SKILL.md: warning[SF406] at 3:14: Invisible character U+202E
    ! Trust is by path: models get whatever is in each folder, now or later
    ! error: Refused to trust `ROOT/person/.agents/skills/mail`
    ! hint: There is no terminal to ask on; review what is shown, then pass `--yes`
    exit 4
    ");
    insta::assert_snapshot!(world.run(&["trust", "mail"]), @r"
      mail  2 files  Sends mail \u{202e}
          has scripts: scripts/send.sh
          wants to use tools without asking: Bash
      ROOT/person/.agents/skills/mail/SKILL.md: warning[SF406] at 3:14: Invisible character U+202E
    ! Trust is by path: models get whatever is in each folder, now or later
    ! error: Refused to trust `ROOT/person/.agents/skills/mail`
    ! hint: There is no terminal to ask on; review what is shown, then pass `--yes`
    exit 4
    ");
    insta::assert_snapshot!(world.run(&["trust", "--held", "--json"]), @r#"
    {
      "view": 2,
      "kind": "error",
      "error": "refused",
      "refusal": "trust",
      "message": "Refused to trust `ROOT/person/.agents/skills/mail`",
      "hint": "There is no terminal to ask on; review what is shown, then pass `--yes`"
    }
    !   mail  2 files  Sends mail \u{202e}
    !       has scripts: scripts/send.sh
    !       wants to use tools without asking: Bash
    !   ROOT/person/.agents/skills/mail/SKILL.md: warning[SF406] at 3:14: Invisible character U+202E
    ! Trust is by path: models get whatever is in each folder, now or later
    exit 4
    "#);
    assert!(world.run(&["list"]).contains("mail  user, held"));
}

#[test]
fn skill_is_trusted_until_trust_is_removed() {
    let world = world();
    insta::assert_snapshot!(world.run(&["trust", "mail", "--yes"]), @r"
      mail  2 files  Sends mail \u{202e}
          has scripts: scripts/send.sh
          wants to use tools without asking: Bash
      ROOT/person/.agents/skills/mail/SKILL.md: warning[SF406] at 3:14: Invisible character U+202E
    ! Trust is by path: models get whatever is in each folder, now or later
    ! Trusted: 1 skill; `skillfold trust --remove SKILL` holds one again
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["trust", "mail", "--yes"]), @r"
    ! `mail` is not held
    ! Nothing to do: no skill is held
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["list"]), @r"
    mail  user  Sends mail \u{202e}
    pdf   user  Fills in forms
    ! 2 skills
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["trust", "--remove", "mail"]), @r"
    ROOT/person/.agents/skills/mail
    ! 1 skill is held again
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["trust", "--remove", "mail"]), @"
    ! It is not in the list of trusted skills; `skillfold trust --list --held` shows them
    ! error: Could not find `ROOT/person/.agents/skills/mail`
    ! hint: Check the name or the path; it may have changed since
    exit 3
    ");
    insta::assert_snapshot!(world.run(&["trust", "--held", "--yes", "--json"]), @r#"
    {
      "view": 2,
      "kind": "trusted_skills",
      "file": "ROOT/person/.local/state/skillfold/trusted_skills.toml",
      "folders": [
        {
          "path": "ROOT/person/.agents/skills/mail",
          "state": "trusted"
        },
        {
          "path": "ROOT/person/.agents/skills/pdf",
          "state": "trusted"
        }
      ],
      "findings": []
    }
    exit 0
    "#);
    // What is gone is taken out by its path.
    std::fs::remove_dir_all(world.path("person/.agents/skills/mail")).unwrap();
    let listed = world.run(&["trust", "--list", "--held"]);
    insta::assert_snapshot!(listed, @"
    ROOT/person/.agents/skills/mail  gone
    ROOT/person/.agents/skills/pdf
    ! 2 skills are trusted by ROOT/person/.local/state/skillfold/trusted_skills.toml
    exit 0
    ");
    let gone = world
        .path("person")
        .canonicalize()
        .unwrap()
        .join(".agents/skills/mail");
    insta::assert_snapshot!(world.run(&["trust", "--remove", gone.to_str().unwrap()]), @"
    ROOT/person/.agents/skills/mail
    ! 1 skill is held again
    exit 0
    ");
}

#[test]
fn untrustable_skill_is_refused_with_a_hint() {
    let world = world();
    world.write(&format!(
        "\n//- app/.agents/skills/ours/SKILL.md\n{}",
        skill("ours", "Ours")
    ));
    insta::assert_snapshot!(world.run(&["trust", "ours", "--yes"]), @"
    ! error: Refused to trust `ours`
    ! hint: Its project is not trusted; `skillfold trust` without a name trusts the project
    exit 4
    ");
    insta::assert_snapshot!(world.run(&["trust", "mial", "--yes"]), @r"
    ! error: There is no skill `mial`
    ! hint: Did you mean `mail`?
    exit 3
    ");
    insta::assert_snapshot!(world.run(&["trust", "--remove"]), @"
    ! It is not in the list of trusted folders; `skillfold trust --list` shows them
    ! error: Could not find `ROOT/app`
    ! hint: Check the name or the path; it may have changed since
    exit 3
    ");
    world.run(&["config", "unset", "new_skills"]);
    insta::assert_snapshot!(world.run(&["trust", "mail", "--yes"]), @"
    ! `mail` is not held
    ! Nothing to do: models get new skills at once. `skillfold config set new_skills hold` holds new ones from now on
    exit 0
    ");
    insta::assert_snapshot!(world.run(&["trust", "--remove", "pdf"]), @"
    ROOT/person/.agents/skills/pdf
    ! 1 skill is no longer trusted; this has no effect while `new_skills` is `show`
    exit 0
    ");
}

#[test]
fn created_skill_is_held_and_reported() {
    let world = world();
    insta::assert_snapshot!(world.run(&["new", "notes", "--user"]), @r"
    ROOT/person/.agents/skills/notes/SKILL.md
    ! Write the agent's instructions in it, then run `skillfold check`
    ! It is held like every new skill; `skillfold trust notes` lets models have it
    exit 0
    ");
}

#[test]
fn user_is_asked_before_a_skill_is_trusted() {
    let world = world();
    let answered = |answer: &str| {
        let command = format!(
            "{} trust mail --color=never",
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
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(answer.as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    for answer in ["n\n", "\n", "\u{4}"] {
        let shown = answered(answer);
        assert!(shown.contains("Trust this skill? [y/N]"), "{shown}");
        assert!(shown.contains("Cancelled; nothing was changed"), "{shown}");
        assert!(world.run(&["list"]).contains("mail  user, held"));
    }
    assert!(answered("y\n").contains("Trusted: 1 skill"));
    assert!(!world.run(&["list"]).contains("held"));
}
