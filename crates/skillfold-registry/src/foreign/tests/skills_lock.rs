use proptest::prelude::*;
use serde_json::{Value, json};

use super::show_error;
use crate::foreign::{SkillsLock, SkillsLockEntry, SkillsLockKind};

use SkillsLockKind::{Global, Project};

fn parse(text: &str, kind: SkillsLockKind) -> SkillsLock {
    SkillsLock::parse(text, kind, kind.file_name()).unwrap()
}

fn check_error(text: &str, kind: SkillsLockKind) -> String {
    show_error(&SkillsLock::parse(text, kind, kind.file_name()).unwrap_err())
}

fn first_line(text: &str) -> String {
    let error = check_error(text, Project);
    error.lines().next().unwrap_or_default().to_owned()
}

/// `npx skills` 1.7.4 made the second file from the first, by `add` of one skill.
#[test]
fn adding_a_skill_to_a_project_writes_what_the_real_tool_writes() {
    let mut lock = parse(include_str!("npx-skills/project-before.json"), Project);
    let after = include_str!("npx-skills/project-after.json");
    let mut entry = SkillsLockEntry::new("new-skill", "../src", "local");
    entry.computed_hash = parse(after, Project)
        .get("new-skill")
        .unwrap()
        .computed_hash;
    lock.set(entry);
    assert_eq!(lock.to_text(), after);
    assert!(lock.remove("new-skill"));
    assert!(!lock.remove("new-skill"));
    assert_eq!(
        lock.to_text(),
        parse(include_str!("npx-skills/project-before.json"), Project).to_text()
    );
}

#[test]
fn adding_a_skill_for_the_user_writes_what_the_real_tool_writes() {
    let mut lock = parse(include_str!("npx-skills/global-before.json"), Global);
    let after = include_str!("npx-skills/global-after.json");
    let entry = parse(after, Global).get("new-skill").unwrap();
    lock.set(entry);
    assert_eq!(lock.to_text(), after);
}

#[test]
fn file_of_the_real_tool_is_written_back_byte_for_byte() {
    for (text, kind) in [
        (include_str!("npx-skills/project-after.json"), Project),
        (include_str!("npx-skills/global-after.json"), Global),
    ] {
        let mut lock = parse(text, kind);
        assert_eq!(lock.to_text(), text);
        let entries: Vec<SkillsLockEntry> = lock.entries().collect();
        for entry in entries {
            lock.set(entry);
        }
        assert_eq!(
            lock.to_text(),
            text,
            "also if every entry is set to what it is"
        );
    }
}

#[test]
fn new_file_is_as_the_real_tool_writes_it() {
    insta::assert_snapshot!(SkillsLock::new(Project).to_text(), @r#"
    {
      "version": 1,
      "skills": {}
    }
    "#);
    insta::assert_snapshot!(SkillsLock::new(Global).to_text(), @r#"
    {
      "version": 3,
      "skills": {},
      "dismissed": {}
    }
    "#);
}

#[test]
fn fields_of_an_entry_are_read() {
    let lock = parse(include_str!("npx-skills/global-before.json"), Global);
    insta::assert_debug_snapshot!(lock.get("zeta"), @r#"
    Some(
        SkillsLockEntry {
            name: "zeta",
            source: "a/b",
            source_type: "github",
            source_url: Some(
                "https://github.com/a/b.git",
            ),
            git_ref: None,
            skill_path: Some(
                "skills/zeta/SKILL.md",
            ),
            computed_hash: None,
            skill_folder_hash: Some(
                "0123456789abcdef0123456789abcdef01234567",
            ),
            source_base_url: None,
            well_known_digest: None,
            plugin_name: Some(
                "p",
            ),
            installed_at: Some(
                "2026-01-01T00:00:00.000Z",
            ),
            updated_at: Some(
                "2026-01-02T00:00:00.000Z",
            ),
        },
    )
    "#);
    assert_eq!(
        lock.entries().map(|entry| entry.name).collect::<Vec<_>>(),
        ["zeta", "alpha"]
    );
    assert_eq!(lock.get("gone"), None);
}

#[test]
fn changed_entry_keeps_what_is_unknown_and_the_order_of_fields() {
    let text = r#"{"version": 1, "skills": {"pdf": {"own": 1, "source": "a/b", "sourceType": "github", "ref": "v1", "computedHash": "0", "via": {"x": 2}}}}"#;
    let mut lock = parse(text, Project);
    let mut entry = lock.get("pdf").unwrap();
    entry.git_ref = None;
    entry.skill_path = Some("skills/pdf/SKILL.md".to_owned());
    entry.source_url = Some("https://example.com/b.git".to_owned());
    entry.computed_hash = Some("1".to_owned());
    lock.set(entry);
    insta::assert_snapshot!(lock.to_text(), @r#"
    {
      "version": 1,
      "skills": {
        "pdf": {
          "own": 1,
          "source": "a/b",
          "sourceUrl": "https://example.com/b.git",
          "sourceType": "github",
          "skillPath": "skills/pdf/SKILL.md",
          "computedHash": "1",
          "via": {
            "x": 2
          }
        }
      }
    }
    "#);
}

#[test]
fn new_entry_has_the_fields_in_the_order_of_the_real_tool() {
    let mut entry = SkillsLockEntry::new("pdf", "a/b", "github");
    for (field, slot) in entry.optional_fields() {
        *slot = Some(field.to_uppercase());
    }
    for kind in [Project, Global] {
        let mut lock = SkillsLock::new(kind);
        lock.set(entry.clone());
        match kind {
            Project => insta::assert_snapshot!(lock.to_text(), @r#"
            {
              "version": 1,
              "skills": {
                "pdf": {
                  "source": "a/b",
                  "sourceUrl": "SOURCEURL",
                  "ref": "REF",
                  "sourceType": "github",
                  "skillPath": "SKILLPATH",
                  "computedHash": "COMPUTEDHASH",
                  "skillFolderHash": "SKILLFOLDERHASH",
                  "sourceBaseUrl": "SOURCEBASEURL",
                  "wellKnownDigest": "WELLKNOWNDIGEST",
                  "pluginName": "PLUGINNAME",
                  "installedAt": "INSTALLEDAT",
                  "updatedAt": "UPDATEDAT"
                }
              }
            }
            "#),
            Global => insta::assert_snapshot!(lock.to_text(), @r#"
            {
              "version": 3,
              "skills": {
                "pdf": {
                  "source": "a/b",
                  "sourceType": "github",
                  "sourceUrl": "SOURCEURL",
                  "ref": "REF",
                  "skillPath": "SKILLPATH",
                  "computedHash": "COMPUTEDHASH",
                  "skillFolderHash": "SKILLFOLDERHASH",
                  "sourceBaseUrl": "SOURCEBASEURL",
                  "wellKnownDigest": "WELLKNOWNDIGEST",
                  "pluginName": "PLUGINNAME",
                  "installedAt": "INSTALLEDAT",
                  "updatedAt": "UPDATEDAT"
                }
              },
              "dismissed": {}
            }
            "#),
        }
    }
}

#[test]
fn broken_file_is_an_error_and_never_empty() {
    insta::assert_snapshot!(check_error("{broken", Project), @r"
    Lock file `skills-lock.json` is broken: it is not valid JSON, key must be a string at line 1 column 2
    hint: Correct it or restore it from version control; it was left as it is
    ");
    let texts = [
        "",
        "null",
        "[]",
        "{}",
        r#"{"version": "1", "skills": {}}"#,
        r#"{"version": 1}"#,
        r#"{"version": 1, "skills": []}"#,
        r#"{"version": 1, "skills": null}"#,
        r#"{"version": 1, "skills": {"a": 1}}"#,
        r#"{"version": 1, "skills": {"a": {"sourceType": "github"}}}"#,
        r#"{"version": 1, "skills": {"a": {"source": "x"}}}"#,
        r#"{"version": 1, "skills": {"a": {"source": "x", "sourceType": "github", "ref": 1}}}"#,
        r#"{"version": 1, "skills": {"a": {"source": "x", "sourceType": "y"}, "a": {}}}"#,
        r#"{"version": 1, "skills": {}} {}"#,
        r#"{"version": 1, "skills": {}, "x": "\ud800"}"#,
        "<<<<<<< HEAD\n{}",
    ];
    insta::assert_snapshot!(texts.map(first_line).join("\n"), @r#"
    Lock file `skills-lock.json` is broken: it is not valid JSON, EOF while parsing a value at line 1 column 0
    Lock file `skills-lock.json` is broken: it is not an object
    Lock file `skills-lock.json` is broken: it is not an object
    Lock file `skills-lock.json` is broken: `version` is not a number
    Lock file `skills-lock.json` is broken: `version` is not a number
    Lock file `skills-lock.json` is broken: `skills` is not an object
    Lock file `skills-lock.json` is broken: `skills` is not an object
    Lock file `skills-lock.json` is broken: `skills` is not an object
    Lock file `skills-lock.json` is broken: `skills.a` is not an object
    Lock file `skills-lock.json` is broken: `skills.a` has no `source`
    Lock file `skills-lock.json` is broken: `skills.a` has no `sourceType`
    Lock file `skills-lock.json` is broken: `skills.a.ref` is not a string
    Lock file `skills-lock.json` is broken: it is not valid JSON, field "a" is given twice at line 1 column 75
    Lock file `skills-lock.json` is broken: it is not valid JSON, trailing characters at line 1 column 30
    Lock file `skills-lock.json` is broken: it is not valid JSON, unexpected end of hex escape at line 1 column 42
    Lock file `skills-lock.json` is broken: it is not valid JSON, expected value at line 1 column 1
    "#);
    insta::assert_snapshot!(first_line(&"[".repeat(100_000)), @"Lock file `skills-lock.json` is broken: it is not valid JSON, recursion limit exceeded at line 1 column 128");
}

#[test]
fn unknown_version_is_an_error_and_never_empty() {
    insta::assert_snapshot!(check_error(r#"{"version": 2, "skills": {}}"#, Project), @r"
    Lock file `skills-lock.json` has version 2, Skillfold knows 1
    hint: Update Skillfold, or the tool that wrote the file if its version is older; it was left as it is
    ");
    insta::assert_snapshot!(check_error(r#"{"version": 2, "skills": {}, "dismissed": {}}"#, Global), @r"
    Lock file `.skill-lock.json` has version 2, Skillfold knows 3
    hint: Update Skillfold, or the tool that wrote the file if its version is older; it was left as it is
    ");
    insta::assert_snapshot!(check_error(r#"{"version": 3.5, "skills": {}}"#, Global), @r"
    Lock file `.skill-lock.json` has version 3.5, Skillfold knows 3
    hint: Update Skillfold, or the tool that wrote the file if its version is older; it was left as it is
    ");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e30..1e30_f64).prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-c0-9é\"]{1,3}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in r#"(\{|\}|"version"|"skills"|"source"|:|,|1|3|\[|\]|"|\\u00|.)*"#) {
        for kind in [Project, Global] {
            _ = SkillsLock::parse(&text, kind, "x");
        }
    }

    #[test]
    fn what_is_unknown_is_kept(
        top in any_json(),
        own in any_json(),
        names in prop::collection::btree_set("[a-zA-Z0-9é～😀]{1,3}", 1..5),
    ) {
        for (kind, version) in [(Project, 1), (Global, 3)] {
            let entry = |name: &String| (name.clone(), json!({"source": "a/b", "sourceType": "x", "own": own}));
            let skills: serde_json::Map<String, Value> = names.iter().map(entry).collect();
            let file = json!({"version": version, "skills": skills, "top": top});
            let mut lock = parse(&file.to_string(), kind);
            let text = lock.to_text();
            prop_assert_eq!(&parse(&text, kind).to_text(), &text);
            // Numbers may be spelled otherwise: `1.0` becomes `1`.
            let same = |text: &str| {
                let read: Value = serde_json::from_str(text).unwrap();
                let spelled = |value: &Value| parse(&json!({"version": version, "skills": {}, "x": value}).to_string(), kind).to_text();
                spelled(&read) == spelled(&file)
            };
            prop_assert!(same(&text));
            lock.set(SkillsLockEntry::new("new one", "c/d", "github"));
            prop_assert!(lock.remove("new one"));
            let first = names.first().unwrap();
            lock.set(lock.get(first).unwrap());
            prop_assert_eq!(&lock.to_text(), &text);
        }
    }
}
