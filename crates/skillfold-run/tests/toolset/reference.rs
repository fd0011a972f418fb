//! How toolsets are referenced and found, and how their tools are named.

use proptest::prelude::*;
use skillfold_run::toolset::{ToolsetRef, collisions, qualified_name};

use crate::skill::{show_error, skill};

fn parse(text: &str) -> String {
    match text.parse::<ToolsetRef>() {
        Ok(reference) => format!("{} {:?}", reference.path(), reference.name()),
        Err(error) => show_error(&error),
    }
}

#[test]
fn name_follows_the_last_colon() {
    assert_eq!(
        parse("toolsets/index:HelloToolset"),
        r#"toolsets/index Some("HelloToolset")"#
    );
    assert_eq!(parse("./toolsets/index.ts"), "toolsets/index.ts None");
    insta::assert_snapshot!(parse("a:b:C"), @r"
    invalid_toolset: Not a toolset: `a:b:C`. Path has a backslash or a colon
    hint: Write it as `path:Name`, such as `toolsets/index:HelloToolset`
    ");
}

#[test]
fn path_stays_in_the_skill_and_name_is_an_identifier() {
    insta::assert_snapshot!(parse("../index:A"), @r"
    invalid_toolset: Not a toolset: `../index:A`. Path traversal detected
    hint: Write it as `path:Name`, such as `toolsets/index:HelloToolset`
    ");
    insta::assert_snapshot!(parse("/etc/index:A"), @r"
    invalid_toolset: Not a toolset: `/etc/index:A`. Path is absolute or has an empty component
    hint: Write it as `path:Name`, such as `toolsets/index:HelloToolset`
    ");
    insta::assert_snapshot!(parse("index:"), @r"
    invalid_toolset: Not a toolset: `index:`. A name has letters, digits, `_` and `$`, does not start with a digit, and has at most 64 characters
    hint: Write it as `path:Name`, such as `toolsets/index:HelloToolset`
    ");
    insta::assert_snapshot!(parse("index:a b\u{1b}[31m"), @r"
    invalid_toolset: Not a toolset: `index:a b\u{1b}[31m`. A name has letters, digits, `_` and `$`, does not start with a digit, and has at most 64 characters
    hint: Write it as `path:Name`, such as `toolsets/index:HelloToolset`
    ");
}

fn resolve(files: &[&str], reference: &str) -> String {
    let files: Vec<(&str, &str)> = files.iter().map(|path| (*path, "")).collect();
    match reference
        .parse::<ToolsetRef>()
        .unwrap()
        .resolve(&skill(&files))
    {
        Ok(path) => path.to_string(),
        Err(error) => show_error(&error),
    }
}

#[test]
fn file_is_the_path_or_adds_an_extension_or_index() {
    let all = [
        "a",
        "a.js",
        "a.ts",
        "b.py",
        "b.ts",
        "c/index.py",
        "c/index.json",
    ];
    let found = ["a:T", "a.ts:T", "b:T", "c:T"].map(|reference| resolve(&all, reference));
    assert_eq!(found, ["a", "a.ts", "b.ts", "c/index.py"]);
}

#[test]
fn missing_toolset_lists_the_paths_tried() {
    insta::assert_snapshot!(resolve(&["toolsets/index.rb"], "toolsets/index:A"), @r"
    invalid_toolset: Toolset `toolsets/index:A` is not in the skill: there is no file `toolsets/index`, none with an extension of mjs, js, cjs, mts, ts, cts, py, json, wasm, and no `toolsets/index/index` with one of them
    hint: Correct the path under `toolsets` in SKILL.md; it starts at the skill's folder
    ");
}

#[test]
fn colliding_names_are_reported() {
    let tools = [
        ("a", "b__c"),
        ("a__b", "c"),
        ("a", "b"),
        ("a", "ü"),
        ("a", "ö"),
    ];
    insta::assert_debug_snapshot!(collisions(tools).unwrap(), @r#"
    [
        Collision {
            name: "a___",
            tools: [
                (
                    "a",
                    "ü",
                ),
                (
                    "a",
                    "ö",
                ),
            ],
        },
        Collision {
            name: "a__b__c",
            tools: [
                (
                    "a",
                    "b__c",
                ),
                (
                    "a__b",
                    "c",
                ),
            ],
        },
    ]
    "#);
}

#[test]
fn long_name_is_shortened_to_a_unique_one() {
    let long = "long-".repeat(20);
    let names =
        [format!("{long}a"), format!("{long}b")].map(|tool| qualified_name("pdf", &tool).unwrap());
    insta::assert_debug_snapshot!(names, @r#"
    [
        "pdf__long-long-long-long-long-long-long-long-long-long-_e9160c15",
        "pdf__long-long-long-long-long-long-long-long-long-long-_ee228184",
    ]
    "#);
}

proptest! {
    #[test]
    fn every_tool_name_for_a_model_is_valid(skill_id in ".{1,80}", tool in ".{1,80}") {
        let name = qualified_name(&skill_id, &tool).unwrap();
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        prop_assert!(name.len() <= 64 && name.chars().all(allowed), "{}", name);
        prop_assert_eq!(name, qualified_name(&skill_id, &tool).unwrap());
    }

    #[test]
    fn parsed_reference_round_trips(text in "\\PC{0,40}|[a-z./:$]{0,20}") {
        if let Ok(reference) = text.parse::<ToolsetRef>() {
            prop_assert_eq!(reference.to_string().parse::<ToolsetRef>().unwrap(), reference);
        }
    }
}
