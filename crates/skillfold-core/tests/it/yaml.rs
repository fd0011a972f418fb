//! What is refused of YAML, and where.

use skillfold_core::read::{Agreement, FrontmatterReader, parse, parse_with, readers_agree};
use skillfold_core::{Code, Limits};

use crate::show::{check, findings};

fn with(fields: &str) -> String {
    findings(&format!("---\nname: a\ndescription: b\n{fields}\n---\n"))
}

#[test]
fn alias_is_refused_and_its_source_kept() {
    insta::assert_snapshot!(check("---\nname: a\ndescription: b\nx: &anchor [1, 2]\ny: *anchor\nz: *unknown\n---\n"), @r#"
    a: "b"
      other = {x: Text("&anchor [1, 2]"), y: Text("*anchor"), z: Text("*unknown")}
    4:4-4:4 error[SF012]: Anchor on a value
    4:4-4:18 warning[SF103]: Value of `x` starts with a character YAML reserves
    5:4-5:4 error[SF011]: Alias to an unknown anchor
    5:4-5:11 warning[SF103]: Value of `y` starts with a character YAML reserves
    6:4-6:4 error[SF011]: Alias to an unknown anchor
    6:4-6:12 warning[SF103]: Value of `z` starts with a character YAML reserves
    "#);
}

#[test]
fn alias_bomb_is_refused_immediately() {
    let mut text = "---\nname: a\ndescription: b\nl0: &l0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let below = format!("*l{}, ", level - 1).repeat(9);
        text += &format!("l{level}: &l{level} [{below}]\n");
    }
    let parsed = parse((text + "---\n").as_bytes(), "a");
    assert!(
        parsed
            .diagnostics
            .iter()
            .any(|finding| finding.code == Code::YamlAnchor)
    );
    assert!(parsed.manifest.is_some());
}

#[test]
fn tag_is_refused_and_its_source_kept() {
    insta::assert_snapshot!(check("---\nname: a\ndescription: !!python/object:os.system rm\nx: !local y\n---\n"), @r#"
    a: "!!python/object:os.system rm"
      other = {x: Text("!local y")}
    3:14-3:14 error[SF013]: Tag on a value
    3:14-3:42 warning[SF103]: Value of `description` starts with a character YAML reserves
    4:4-4:4 error[SF013]: Tag on a value
    4:4-4:12 warning[SF103]: Value of `x` starts with a character YAML reserves
    "#);
}

#[test]
fn merge_key_is_not_applied() {
    insta::assert_snapshot!(check("---\nname: a\ndescription: b\n<<: {license: MIT}\n---\n"), @r#"
    a: "b"
      other = {<<: {license: Text("MIT")}}
    4:1-4:3 error[SF014]: Merge key is not applied
    "#);
}

#[test]
fn duplicate_key_keeps_the_first_value_and_reports_the_second() {
    insta::assert_snapshot!(check("---\nname: a\ndescription: first\ndescription: second\nmetadata:\n  x: 1\n  x: 2\n---\n"), @r#"
    a: "first"
      metadata = {x: Integer(1), x: Integer(2)}
      other = {description: Text("second")}
    4:1-4:12 error[SF015]: Field `description` is already given on line 3
    7:3-7:4 error[SF015]: Field `x` is already given on line 6
    "#);
}

#[test]
fn second_document_is_refused() {
    insta::assert_snapshot!(check("---\nname: a\ndescription: b\n...\nlicense: MIT\n---\n"), @r#"
    a: "b"
      license = "MIT"
    5:1-5:1 error[SF016]: A second document starts here
    "#);
    insta::assert_snapshot!(check("---\nname: a\ndescription: b\n--- x\nlicense: MIT\n---\n"), @r#"
    a: "b"
      license = "MIT"
    4:1-4:1 error[SF016]: A second document starts here
    4:1-4:6 error[SF113]: Line `--- x` belongs to no field
    "#);
}

#[test]
fn nesting_over_the_limit_is_kept_as_text() {
    let deep = format!("x: {}{}", "[".repeat(40), "]".repeat(40));
    insta::assert_snapshot!(with(&deep), @"
    4:35-4:35 error[SF017]: Nested deeper than 32 levels
    4:4-4:84 warning[SF103]: Value of `x` starts with a character YAML reserves
    ");
}

#[test]
fn fields_over_the_limit_are_dropped_and_reported() {
    let many: String = (0..600).map(|number| format!("f{number}: x\n")).collect();
    let text = format!("---\nname: a\ndescription: b\n{many}---\n");
    insta::assert_snapshot!(findings(&text), @"
    514:1-514:1 error[SF018]: More than 512 fields
    514:1-514:1 error[SF018]: More than 512 fields; the rest was left out
    ");
}

#[test]
fn non_string_key_is_refused() {
    insta::assert_snapshot!(with("? [a, b]\n: c"), @"
    4:3-4:3 error[SF019]: A list or mapping where a field's name is expected
    4:1-4:9 error[SF113]: Line `? [a, b]` belongs to no field
    5:1-5:4 error[SF113]: Line `: c` belongs to no field
    ");
    insta::assert_snapshot!(with("x: {{placeholder}}"), @"
    4:5-4:5 error[SF019]: A list or mapping where a field's name is expected
    4:4-4:19 warning[SF103]: Value of `x` starts with a character YAML reserves
    ");
}

#[test]
fn frontmatter_that_is_not_a_mapping_is_refused_with_its_position() {
    insta::assert_snapshot!(check("---\n- a\n- b\n---\n"), @r#"
    a: "a"
    2:3-3:4 error[SF005]: Frontmatter is not a mapping of fields
    4:1-4:1 error[SF006]: Skill has no `name`; the folder's name `a` is used
    4:1-4:1 error[SF007]: Skill has no `description`
    4:1-4:1 warning[SF116]: Description is the skill's name: `a`
    "#);
    insta::assert_snapshot!(check("---\njust text\n---\n"), @r#"
    a: "a"
    2:1-2:10 error[SF005]: Frontmatter is not a mapping of fields
    3:1-3:1 error[SF006]: Skill has no `name`; the folder's name `a` is used
    3:1-3:1 error[SF007]: Skill has no `description`
    3:1-3:1 warning[SF116]: Description is the skill's name: `a`
    "#);
    insta::assert_snapshot!(check("---\n*bold*\n---\n"), @r#"
    a: "a"
    2:1-2:1 error[SF011]: Alias to an unknown anchor
    2:1-2:1 error[SF005]: Frontmatter has no field
    3:1-3:1 error[SF006]: Skill has no `name`; the folder's name `a` is used
    3:1-3:1 error[SF007]: Skill has no `description`
    3:1-3:1 warning[SF116]: Description is the skill's name: `a`
    "#);
    insta::assert_snapshot!(check("---\n# only a comment\n---\n"), @r#"
    a: "a"
    3:1-3:1 error[SF006]: Skill has no `name`; the folder's name `a` is used
    3:1-3:1 error[SF007]: Skill has no `description`
    3:1-3:1 warning[SF116]: Description is the skill's name: `a`
    "#);
    insta::assert_snapshot!(check("---\n---\n"), @r#"
    a: "a"
    2:1-2:1 error[SF006]: Skill has no `name`; the folder's name `a` is used
    2:1-2:1 error[SF007]: Skill has no `description`
    2:1-2:1 warning[SF116]: Description is the skill's name: `a`
    "#);
}

#[test]
fn every_scalar_style_has_its_yaml_value() {
    insta::assert_snapshot!(
        check("---\nname: 'a'\ndescription: >-\n  folded\n  text\n\n  second paragraph\nlicense: |\n  one\n  two\nmodel: \"tab\\there\"\nversion: 1.10\ncompatibility: plain\n  goes on\n---\n"),
        @r#"
    a: "folded text\nsecond paragraph"
      license = "one\ntwo\n"
      compatibility = "plain goes on"
      version = "1.10"
      model = "tab\there"
    12:10-12:14 info[SF204]: Version `1.10` is not of the form `1.0.0`
    "#
    );
}

#[test]
fn both_readers_agree_on_the_same_limits() {
    let limits = Limits::default().with_yaml_keys(2);
    let text = b"---\nname: a\ndescription: b\nlicense: c\n---\n";
    assert_eq!(
        parse_with(text, "a", FrontmatterReader::Lines, &limits),
        parse_with(text, "a", FrontmatterReader::Yaml, &limits)
    );
}

#[test]
fn line_reader_regressions_stay_fixed() {
    let blocks = [
        // A carriage return ends the line for the parser, and with it the value that seemed to have a second colon.
        "a: it''s''\rb: \"x\":\n at \" y\"\n",
        // A control character in a block of text makes the parser give up.
        "d: |\n  text \u{1} text\n",
        // Where a block of text ends is decided by the line after it.
        "d: |\nn: x\n",
        "a:\n  b:\n   |\nc: d\n",
        // A carriage return changes the count of lines.
        "e:\n \r [U,Y]\nx:\n",
    ];
    for block in blocks {
        assert_ne!(readers_agree(block), Agreement::Different, "{block:?}");
    }
}
