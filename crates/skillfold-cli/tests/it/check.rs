//! `check`, its formats and `--fix`

#[cfg(target_os = "linux")]
use std::io::Read;

use serde_json::Value;

use crate::command::{World, skill, skillfold};

const BROKEN: &str = "---\nname: pdf # as the folder\n# What it does:\ndescription: Use when: filling in forms\n---\nRead [this](missing.md).\n";

fn world(text: &str) -> World {
    let world = World::new("//- app/README.md\n");
    world.write(&format!("\n//- app/.agents/skills/pdf/SKILL.md\n{text}"));
    world
}

#[test]
fn finding_is_shown_and_underlined() {
    insta::assert_snapshot!(world(BROKEN).run(&["check"]), @"
    warning[SF101]: Value of `description` has an unquoted `: `
     --> .agents/skills/pdf/SKILL.md:4:14
      |
    4 | description: Use when: filling in forms
      |              ^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: Put the value in quotes

    warning[SF010]: Mapping values are not allowed in this context
     --> .agents/skills/pdf/SKILL.md:4:22
      |
    4 | description: Use when: filling in forms
      |                      ^
      |
      = help: Correct the line; other clients may drop this skill

    warning[SF405]: Link target is missing or unreadable: `missing.md`
     --> .agents/skills/pdf/SKILL.md:6:6
      |
    6 | Read [this](missing.md).
      |      ^
      |
      = help: Add the file, or correct the link; paths are relative to the skill's folder

    ! 1 skill: 3 warnings; `--fix` fixes 2
    exit 0
    ");
}

#[test]
fn exit_code_reflects_the_findings() {
    let code = |text: &str, arguments: &[&str]| {
        let shown = world(text).run(arguments);
        shown.lines().last().unwrap().to_owned()
    };
    let good = skill("pdf", "Fills in forms");
    assert_eq!(code(&good, &["check"]), "exit 0");
    assert_eq!(code(BROKEN, &["check"]), "exit 0");
    assert_eq!(code(BROKEN, &["check", "--strict"]), "exit 1");
    assert_eq!(code(BROKEN, &["check", "--profile", "spec"]), "exit 1");
    assert_eq!(code("no skill\n", &["check"]), "exit 1");
    assert_eq!(code("\0 is not text\n", &["doctor"]), "exit 1");
    assert_eq!(code(BROKEN, &["check", "nothing-like-it"]), "exit 3");
    assert_eq!(code(BROKEN, &["check", "--profil", "spec"]), "exit 1");
    assert_eq!(code(BROKEN, &["check", "--profile", "spek"]), "exit 2");
}

#[test]
fn fix_keeps_comments() {
    let world = world(BROKEN);
    insta::assert_snapshot!(world.run(&["check", "--fix"]), @"
    fixed[SF101]: Value of `description` has an unquoted `: ` (.agents/skills/pdf/SKILL.md:4:14)
    fixed[SF010]: Mapping values are not allowed in this context (.agents/skills/pdf/SKILL.md:4:22)
    warning[SF405]: Link target is missing or unreadable: `missing.md`
     --> .agents/skills/pdf/SKILL.md:6:6
      |
    6 | Read [this](missing.md).
      |      ^
      |
      = help: Add the file, or correct the link; paths are relative to the skill's folder

    ! 1 skill: 1 warning; 2 fixed
    exit 0
    ");
    insta::assert_snapshot!(world.read("app/.agents/skills/pdf/SKILL.md"), @"
    ---
    name: pdf # as the folder
    # What it does:
    description: 'Use when: filling in forms'
    ---
    Read [this](missing.md).
    ");
    let again = world.run(&["check", "--fix"]);
    assert!(again.contains("; 0 fixed"), "{again}");
}

#[test]
fn skill_is_named_by_path_or_by_id() {
    let world = world(&skill("pdf", "Fills in forms"));
    for named in [
        "pdf",
        "project:pdf",
        ".agents/skills/pdf",
        ".agents/skills/pdf/SKILL.md",
        ".agents",
        ".",
    ] {
        let shown = world.run(&["check", named]);
        assert!(
            shown.contains("1 skill, nothing to report"),
            "{named}: {shown}"
        );
    }
    let several = world.run(&["check", "pdf", "PDF", ".agents", "."]);
    assert!(
        several.contains("1 skill, nothing to report"),
        "each file once: {several}"
    );
    insta::assert_snapshot!(world.run(&["check", "README.md"]), @"
    ! error: `README.md` is a file, and not named `SKILL.md`
    exit 2
    ");
    world.write("\n//- app/empty/README.md\n//- app/pdf/README.md\n");
    insta::assert_snapshot!(world.run(&["check", "empty"]), @"
    ! error: Could not find `empty/SKILL.md`
    ! hint: Check the name or the path; it may have changed since
    exit 3
    ");
    let by_id = world.run(&["check", "pdf"]);
    assert!(
        by_id.contains("1 skill"),
        "a folder of that name is not meant: {by_id}"
    );
}

#[test]
fn paths_are_relative_to_the_working_directory() {
    let world = world(&skill("pdf", "Fills in forms"));
    let output = skillfold(&world.path(""), &world.path("person"))
        .args(["-C", "app", "check", ".agents/skills/pdf"])
        .output()
        .unwrap();
    insta::assert_snapshot!(world.shown(&output), @"
    ! 1 skill, nothing to report
    exit 0
    ");
}

#[test]
fn fix_without_a_name_stays_in_the_project() {
    let world = world(BROKEN);
    world.write(&format!(
        "\n//- person/.agents/skills/mail/SKILL.md\n{}",
        skill("mail", "Sends: mail")
    ));
    world.write(&format!(
        "\n//- elsewhere/SKILL.md\n{}",
        skill("elsewhere", "Far: away")
    ));
    std::os::unix::fs::symlink(
        world.path("elsewhere"),
        world.path("app/.agents/skills/elsewhere"),
    )
    .unwrap();
    let before = [
        world.read("person/.agents/skills/mail/SKILL.md"),
        world.read("elsewhere/SKILL.md"),
    ];
    // Links of a project that nobody trusts are not followed at all.
    let shown = world.run(&["check", "--fix", "--trust-project"]);
    for named in ["~/.agents/skills/mail", "ROOT/elsewhere"] {
        let said = format!("`skillfold check {named} --fix` fixes 2 in 1 skill elsewhere");
        assert!(shown.contains(&said), "{shown}");
    }
    assert_eq!(
        before,
        [
            world.read("person/.agents/skills/mail/SKILL.md"),
            world.read("elsewhere/SKILL.md")
        ]
    );
    let shown = world.run(&["check", "--fix", "--trust-project", "."]);
    let said = "`skillfold check ROOT/elsewhere --fix` fixes 2 in 1 skill elsewhere";
    assert!(shown.contains(said), "{shown}");
    assert_eq!(before[1], world.read("elsewhere/SKILL.md"));
    // A link of a project leads nowhere that is written, whatever names it.
    for named in ["elsewhere", ".agents/skills/elsewhere"] {
        let shown = world.run(&["check", "--fix", "--trust-project", named]);
        assert!(
            shown.contains("A link leaves the folder that may be fixed")
                && shown.ends_with("exit 4\n"),
            "{shown}"
        );
    }
    assert_eq!(before[1], world.read("elsewhere/SKILL.md"));
    world.run(&["check", "--fix", "mail", "../elsewhere"]);
    assert!(
        world
            .read("person/.agents/skills/mail/SKILL.md")
            .contains("'Sends: mail'")
    );
    assert!(world.read("elsewhere/SKILL.md").contains("'Far: away'"));
}

#[test]
fn partially_read_file_is_never_written() {
    let world = world(BROKEN);
    let file = world.path("app/.agents/skills/pdf/SKILL.md");
    let large = format!("{BROKEN}{}", "More. ".repeat(3_000_000));
    std::fs::write(&file, &large).unwrap();
    let shown = world.run(&["check", "--fix"]);
    assert!(
        shown.contains("hint: The file is too large to fix") && shown.ends_with("exit 4\n"),
        "{shown}"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap().len(), large.len());
}

#[test]
fn fix_keeps_the_body_byte_for_byte() {
    let world = world(BROKEN);
    let file = world.path("app/.agents/skills/pdf/SKILL.md");
    let bytes = [BROKEN.as_bytes(), b"\xff\xfe \x80 no text\x00\n"].concat();
    std::fs::write(&file, &bytes).unwrap();
    world.run(&["check", "--fix"]);
    let fixed = std::fs::read(&file).unwrap();
    assert_ne!(fixed, bytes);
    assert!(fixed.ends_with(b"Read [this](missing.md).\n\xff\xfe \x80 no text\x00\n"));
}

#[test]
fn unwritable_skill_does_not_stop_the_others() {
    use std::os::unix::fs::PermissionsExt;

    let world = world(BROKEN);
    for name in ["aa", "zz"] {
        world.write(&format!(
            "\n//- app/.agents/skills/{name}/SKILL.md\n{}",
            skill(name, "Does: it")
        ));
    }
    let file = world.path("app/.agents/skills/pdf/SKILL.md");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
    let shown = world.run(&["check", "--fix"]);
    assert!(
        shown.contains("hint: The file is read-only") && shown.ends_with("exit 4\n"),
        "{shown}"
    );
    for name in ["aa", "zz"] {
        assert!(
            world
                .read(&format!("app/.agents/skills/{name}/SKILL.md"))
                .contains("'Does: it'")
        );
    }
    assert_eq!(world.read("app/.agents/skills/pdf/SKILL.md"), BROKEN);
}

#[test]
fn unwritable_skill_is_still_checked() {
    use std::os::unix::fs::PermissionsExt;

    let world = world(&skill("pdf", "Fills in: forms"));
    let file = world.path("app/.agents/skills/pdf/SKILL.md");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
    insta::assert_snapshot!(world.run(&["check", "--fix"]), @"
    warning[SF101]: Value of `description` has an unquoted `: `
     --> .agents/skills/pdf/SKILL.md:3:14
      |
    3 | description: Fills in: forms
      |              ^^^^^^^^^^^^^^^
      |
      = help: Put the value in quotes

    warning[SF010]: A second `: ` on the line of a field
     --> .agents/skills/pdf/SKILL.md:3:22
      |
    3 | description: Fills in: forms
      |                      ^
      |
      = help: Correct the line; other clients may drop this skill

    ! 1 skill: 2 warnings; 0 fixed; 1 skill could not be fixed
    ! error: Refused to write `ROOT/app/.agents/skills/pdf/SKILL.md`
    ! hint: The file is read-only; make it writable first
    exit 4
    ");
    let view: Value = serde_json::from_str(&world.data(&["check", "--fix", "--json"])).unwrap();
    assert_eq!(
        view["files"][0]["diagnostics"][0]["code"], "SF101",
        "{view}"
    );
}

#[test]
fn path_cannot_inject_terminal_escapes() {
    let world = World::new("//- app/README.md\n");
    world.write(&format!("\n//- app/r\u{1b}]0;x/a/SKILL.md\n{BROKEN}"));
    for arguments in [
        ["check", "r\u{1b}]0;x"],
        ["show", "r\u{1b}]0;x"],
        ["list", "--root=r\u{1b}]0;x"],
        ["new", "r\u{1b}x"],
    ] {
        let shown = world.run(&[arguments[0], "--color=always", arguments[1]]);
        assert!(
            !shown.contains("\u{1b}]") && !shown.contains("\u{1b}x"),
            "{shown:?}"
        );
    }
}

#[test]
fn failure_is_json_with_the_json_option() {
    let world = world(BROKEN);
    for arguments in [
        &["--json", "check", "nothing-like-it"][..],
        &["check", "--format", "json", "nothing-like-it"],
        &["--json", "check", "README.md"],
        &["--json", "--set", "links", "list"],
        &["--json", "--set", "links=maybe", "list"],
        &["--json", "show", "nothing-like-it"],
        &["--json", "man", "nothing-like-it"],
        &["--json", "new", "Not A Name"],
        &["--json", "config", "set", "nothing", "x"],
    ] {
        let view: Value = serde_json::from_str(&world.data(arguments)).unwrap();
        assert_eq!(view["kind"], "error", "{arguments:?}");
    }
    for arguments in [
        &["--json", "new", "made"][..],
        &["--json", "config", "set", "links", "follow"],
    ] {
        let view: Value = serde_json::from_str(&world.data(arguments)).unwrap();
        assert_eq!(view["kind"], "written", "{arguments:?}");
    }
}

#[test]
fn sarif_has_rules_and_locations() {
    let log: Value =
        serde_json::from_str(&world(BROKEN).data(&["check", "--format", "sarif"])).unwrap();
    let run = &log["runs"][0];
    let result = &run["results"][0];
    insta::assert_snapshot!(format!("{result:#}"), @r#"
    {
      "level": "warning",
      "locations": [
        {
          "physicalLocation": {
            "artifactLocation": {
              "uri": ".agents/skills/pdf/SKILL.md"
            },
            "region": {
              "endColumn": 40,
              "endLine": 4,
              "startColumn": 14,
              "startLine": 4
            }
          }
        }
      ],
      "message": {
        "text": "Value of `description` has an unquoted `: `. Put the value in quotes"
      },
      "ruleId": "SF101",
      "ruleIndex": 19
    }
    "#);
    let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(
        run["tool"]["driver"]["rules"][index]["id"],
        result["ruleId"]
    );
}

#[test]
fn json_output_is_the_check_view() {
    let world = world(BROKEN);
    let as_flag = world.data(&["check", "--json"]);
    assert_eq!(as_flag, world.data(&["check", "--format", "json"]));
    let view: Value = serde_json::from_str(&as_flag).unwrap();
    assert_eq!(
        (&view["view"], &view["kind"]),
        (&Value::from(2), &Value::from("check"))
    );
    assert_eq!(view["summary"]["warnings"], 3);
}

/// Runs `check --format sarif`, and returns what is printed and the most memory in KiB that was held until the last tenth.
#[cfg(target_os = "linux")]
fn sarif_and_memory(world: &World, length: usize) -> (String, u64) {
    let mut child = skillfold(&world.path("app"), &world.path("person"))
        .args(["check", "--format", "sarif"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    // Who has not printed all waits for the reader.
    let mut text = vec![0; length / 10 * 9];
    stdout.read_exact(&mut text).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.split_whitespace().next()?.parse().ok());
    stdout.read_to_end(&mut text).unwrap();
    child.wait().unwrap();
    (String::from_utf8(text).unwrap(), peak.unwrap_or_default())
}

#[cfg(target_os = "linux")]
#[test]
fn sarif_of_many_files_takes_bounded_memory() {
    let memory = |files: usize| {
        let world = World::new("//- app/README.md\n");
        let links = "[x](gone.md)\n".repeat(200);
        for number in 0..files {
            let text = format!("---\nname: s{number}\ndescription: b\n---\n{links}");
            world.write(&format!(
                "\n//- app/.agents/skills/s{number}/SKILL.md\n{text}"
            ));
        }
        let (whole, _) = sarif_and_memory(&world, 0);
        let log: Value = serde_json::from_str(&whole).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap().len();
        assert_eq!(results, files * 200);
        sarif_and_memory(&world, whole.len()).1
    };
    let (few, many) = (memory(20), memory(100));
    // The results of eighty files more take 20 MB and more where they are held.
    assert!(
        few > 0 && many < few + 8_000,
        "{many} KiB for 100 files, {few} KiB for 20"
    );
}

#[test]
fn watch_rechecks_after_a_change_in_the_folder_and_survives_removal_of_the_skill() {
    let world = World::new(
        "//- app/.agents/skills/a/SKILL.md\n---\nname: a\ndescription: Does it\n---\n[x](references/x.md)\n//- app/.agents/skills/a/references/y.md\ny\n",
    );
    let mut child = skillfold(&world.path("app"), &world.path("person"))
        .args(["check", "a", "--watch"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let said = child.stderr.take().unwrap();
    let mut said = std::io::BufRead::lines(std::io::BufReader::new(said)).map(Result::unwrap);
    let mut wait_for = |text: &str| assert!(said.any(|line| line.contains(text)), "{text}");
    wait_for("1 skill: 1 warning");
    wait_for("Waiting");
    std::fs::write(world.path("app/.agents/skills/a/references/x.md"), "x").unwrap();
    wait_for("nothing to report");
    wait_for("Waiting");
    std::fs::rename(world.path("app/.agents/skills/a"), world.path("app/b")).unwrap();
    wait_for("There is no skill `a`");
    std::fs::rename(world.path("app/b"), world.path("app/.agents/skills/a")).unwrap();
    wait_for("nothing to report");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn many_escaping_links_in_one_skill_do_not_bury_errors_of_another() {
    let links = "[x](../../x.md)\n".repeat(12);
    let world = World::new(&format!(
        "//- app/.agents/skills/a/SKILL.md\n---\nname: a\ndescription: Does it\n---\n{links}//- app/.agents/skills/b/SKILL.md\n# No frontmatter\n"
    ));
    insta::assert_snapshot!(world.run(&["check"]), @"
    warning[SF409]: Link points outside the skill's folder: `../../x.md`
      .agents/skills/a/SKILL.md:5:1
    error[SF001]: Expected `---`, found `# No frontmatter`
      .agents/skills/b/SKILL.md:1:1

    warning[SF409]     12  in 1 skill  A link points outside the skill's folder
    warning[SF116]      1  in 1 skill  The skill does not describe itself; it is described by the first sentence of its instructions, or by its name
    ! 2 skills: 1 error, 13 warnings
    ! `--all` shows each with its line, `--only CODE` those of one kind, `skillfold check ID` those of one skill
    exit 1
    ");
}

#[test]
fn fix_corrects_exactly_what_check_announces() {
    let world = World::new("//- app/README.md\n");
    for name in ["mail", "notes"] {
        let text = skill(name, "Far: away");
        world.write(&format!(
            "\n//- person/.agents/skills/{name}/SKILL.md\n{text}"
        ));
    }
    let said = "! `skillfold check ~/.agents/skills --fix` fixes 4 in 2 skills elsewhere\n";
    for arguments in [&["check"][..], &["check", "--fix"]] {
        let shown = world.run(arguments);
        assert!(shown.contains(said), "{shown}");
        assert!(!shown.contains("`--fix` fixes"), "{shown}");
    }
    let folder = world.path("person/.agents/skills");
    let shown = world.run(&["check", "--fix", folder.to_str().unwrap()]);
    assert!(
        shown.contains("! 2 skills, nothing to report; 4 fixed\n"),
        "{shown}"
    );
}
