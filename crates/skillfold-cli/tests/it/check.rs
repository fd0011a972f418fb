//! `check`, its formats and `--fix`

use serde_json::Value;

use crate::command::{World, skill};

const BROKEN: &str = "---\nname: pdf # as the folder\n# What it does:\ndescription: Use when: filling in forms\n---\nRead [this](missing.md).\n";

fn world(text: &str) -> World {
    let world = World::new("//- app/README.md\n");
    world.write(&format!("\n//- app/.agents/skills/pdf/SKILL.md\n{text}"));
    world
}

#[test]
fn finding_is_shown_with_its_place_underlined() {
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

    warning[SF405]: Link leads to no file that can be read: `missing.md`
     --> .agents/skills/pdf/SKILL.md:6:6
      |
    6 | Read [this](missing.md).
      |      ^
      |
      = help: Add the file, or correct the link; paths are relative to the skill's folder

    ! 1 skill: 3 warnings; `--fix` corrects 2
    exit 0
    ");
}

#[test]
fn exit_code_says_whether_something_is_wrong() {
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
    assert_eq!(code("no skill\n", &["doctor"]), "exit 1");
    assert_eq!(code(BROKEN, &["check", "nothing-like-it"]), "exit 3");
    assert_eq!(code(BROKEN, &["check", "--profil", "spec"]), "exit 1");
    assert_eq!(code(BROKEN, &["check", "--profile", "spek"]), "exit 2");
}

#[test]
fn fix_corrects_and_keeps_comments() {
    let world = world(BROKEN);
    insta::assert_snapshot!(world.run(&["check", "--fix"]), @"
    corrected[SF101]: Value of `description` has an unquoted `: ` (.agents/skills/pdf/SKILL.md:4:14)
    corrected[SF010]: Mapping values are not allowed in this context (.agents/skills/pdf/SKILL.md:4:22)
    warning[SF405]: Link leads to no file that can be read: `missing.md`
     --> .agents/skills/pdf/SKILL.md:6:6
      |
    6 | Read [this](missing.md).
      |      ^
      |
      = help: Add the file, or correct the link; paths are relative to the skill's folder

    ! 1 skill: 1 warning; 2 corrected
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
    assert!(again.contains("; 0 corrected"), "{again}");
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
        // The folder `.agents` is hidden inside the project, but it is no secret when it is named.
        let expected = if named == "." {
            "There is no skill in `.`"
        } else {
            "1 skill, nothing to report"
        };
        assert!(shown.contains(expected), "{named}: {shown}");
    }
    insta::assert_snapshot!(world.run(&["check", "README.md"]), @"
    ! error: Could not read `README.md`: Not a directory (os error 20)
    ! hint: Check that the file may be read
    exit 5
    ");
}

#[test]
fn sarif_names_rules_and_places() {
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
fn json_is_the_view() {
    let world = world(BROKEN);
    let as_flag = world.data(&["check", "--json"]);
    assert_eq!(as_flag, world.data(&["check", "--format", "json"]));
    let view: Value = serde_json::from_str(&as_flag).unwrap();
    assert_eq!(
        (&view["view"], &view["kind"]),
        (&Value::from(1), &Value::from("check"))
    );
    assert_eq!(view["summary"]["warnings"], 3);
}
