//! What is repaired, to what, and with which words.

use proptest::prelude::*;
use skillfold_core::Diagnostic;
use skillfold_core::diagnostic::Severity;
use skillfold_core::read::{FrontmatterReader, parse, parse_with};

use crate::show::check;

fn describe(value: &str) -> String {
    check(&format!(
        "---\nname: a\ndescription: {value}\nlicense: MIT\n---\n"
    ))
}

#[test]
fn unquoted_colon_is_read_as_a_string() {
    insta::assert_snapshot!(describe("Use when: the user asks: now # really"), @r#"
    a: "Use when: the user asks: now # really"
      license = "MIT"
    3:22-3:22 warning[SF010]: A second `: ` on the line of a field
    3:14-3:51 warning[SF101]: Value of `description` has an unquoted `: `
    "#);
    insta::assert_snapshot!(describe("Ends with a colon:"), @r#"
    a: "Ends with a colon:"
      license = "MIT"
    3:31-3:31 warning[SF010]: Mapping values are not allowed in this context
    3:14-3:32 warning[SF101]: Value of `description` has an unquoted `: `
    "#);
    insta::assert_snapshot!(describe("Use when: one\n  and goes on: two"), @r#"
    a: "Use when: one and goes on: two"
      license = "MIT"
    3:22-3:22 warning[SF010]: A second `: ` on the line of a field
    3:14-4:19 warning[SF101]: Value of `description` has an unquoted `: `
    "#);
}

#[test]
fn text_after_a_block_scalar_indicator_is_read_as_the_value() {
    insta::assert_snapshot!(describe("> Folded text on one line"), @r#"
    a: "Folded text on one line"
      license = "MIT"
    3:16-3:16 warning[SF010]: Text on the line where a block scalar starts
    3:14-3:39 warning[SF102]: Text of `description` is on the same line as its `>` or `|`
    "#);
    insta::assert_snapshot!(describe(">- Folded text: with a colon\n  and more"), @r#"
    a: "Folded text: with a colon and more"
      license = "MIT"
    3:17-3:17 warning[SF010]: Text on the line where a block scalar starts
    3:14-4:11 warning[SF102]: Text of `description` is on the same line as its `>` or `|`
    "#);
    insta::assert_snapshot!(describe("| Literal text\n  second line"), @r#"
    a: "Literal text\nsecond line"
      license = "MIT"
    3:16-3:16 warning[SF010]: Text on the line where a block scalar starts
    3:14-4:14 warning[SF102]: Text of `description` is on the same line as its `>` or `|`
    "#);
}

#[test]
fn value_starting_with_a_reserved_character_is_read_as_a_string() {
    for value in [
        "@mention someone",
        "`code` first",
        "%percent",
        "*bold* text",
        "**Bold** text",
        "&and so on",
        "!important",
        "- dash first: yes",
        "[Tag] then text",
        "{name} is a placeholder",
        "? what",
        ", comma",
        "# a heading",
        "]",
        "| ",
    ] {
        let shown = describe(value);
        let kept = if value == "| " { "SF116" } else { value };
        assert!(shown.contains(kept), "{value}: {shown}");
    }
    insta::assert_snapshot!(describe("@mention someone"), @r#"
    a: "@mention someone"
      license = "MIT"
    3:14-3:14 warning[SF010]: Unexpected character: `@'
    3:14-3:30 warning[SF103]: Value of `description` starts with a character YAML reserves
    "#);
    insta::assert_snapshot!(describe("# a heading"), @r##"
    a: "# a heading"
      license = "MIT"
    3:14-3:25 warning[SF103]: Value of `description` starts with a character YAML reserves
    "##);
}

#[test]
fn list_with_items_that_yaml_rejects_is_read_as_a_list() {
    insta::assert_snapshot!(check("---\nname: a\ndescription: b\nallowed-tools: [Read, @types/node, Bash(git: *, x), \"quo\"ted]\nargument-hint: [file] [mode]\n---\n"), @r#"
    a: "b"
      allowed_tools = ["Read", "@types/node", "Bash(git: *, x)", "\"quo\"ted"]
      other = {argument-hint: Text("[file] [mode]")}
    4:23-4:23 warning[SF010]: Unexpected character: `@'
    4:16-4:62 warning[SF103]: Value of `allowed-tools` starts with a character YAML reserves
    5:16-5:29 warning[SF103]: Value of `argument-hint` starts with a character YAML reserves
    "#);
}

#[test]
fn tabs_are_read_as_spaces() {
    insta::assert_snapshot!(check("---\nname: a\ndescription: b\nmetadata:\n\tauthor: me\n\tdeep:\n\t\tkey: value\n---\n"), @r#"
    a: "b"
      metadata = {author: Text("me"), deep: {key: Text("value")}}
    5:2-5:2 warning[SF010]: Tabs disallowed within this context (block indentation)
    5:1-5:2 warning[SF104]: Tabs in the indentation
    "#);
}

#[test]
fn byte_order_mark_and_crlf_are_tolerated() {
    insta::assert_snapshot!(check("\u{feff}---\r\nname: a\r\ndescription: >\r\n  two\r\n  lines\r\n---\r\nBody\r\n"), @r#"
    a: "two lines"
    1:1-1:1 info[SF105]: File starts with a byte-order mark
    1:1-1:1 info[SF106]: Lines end with carriage return and line feed
    "#);
}

#[test]
fn unclosed_and_inner_quotes_are_read_as_strings() {
    insta::assert_snapshot!(describe("\"never closed"), @r#"
    a: "never closed"
      license = "MIT"
    3:14-3:14 warning[SF010]: Invalid indentation in quoted scalar
    3:14-3:27 warning[SF107]: Quotes of `description` do not match
    "#);
    insta::assert_snapshot!(describe("'it's fine'"), @r#"
    a: "it's fine"
      license = "MIT"
    3:18-3:18 warning[SF010]: Invalid trailing content after double-quoted scalar
    3:14-3:25 warning[SF107]: Quotes of `description` do not match
    "#);
    insta::assert_snapshot!(describe("\"Use \"this\" tool\""), @r#"
    a: "Use \"this\" tool"
      license = "MIT"
    3:20-3:20 warning[SF010]: Invalid trailing content after double-quoted scalar
    3:14-3:31 warning[SF107]: Quotes of `description` do not match
    "#);
    insta::assert_snapshot!(describe("\"one\" and \"two\""), @r#"
    a: "\"one\" and \"two\""
      license = "MIT"
    3:20-3:20 warning[SF010]: Invalid trailing content after double-quoted scalar
    3:14-3:29 warning[SF107]: Quotes of `description` do not match
    "#);
    insta::assert_snapshot!(describe("\"a \\d+ pattern and a \\\"quote\\\"\""), @r#"
    a: "a \\d+ pattern and a \"quote\""
      license = "MIT"
    3:14-3:14 warning[SF010]: While parsing a quoted scalar, found unknown escape character
    3:14-3:45 warning[SF107]: Quotes of `description` do not match
    "#);
    insta::assert_snapshot!(describe("\"first line\nsecond line\""), @r#"
    a: "first line second line"
      license = "MIT"
    3:14-3:14 warning[SF010]: Invalid indentation in quoted scalar
    3:14-4:13 warning[SF107]: Quotes of `description` do not match
    "#);
}

#[test]
fn control_characters_are_removed() {
    insta::assert_snapshot!(describe("bell \u{7} and escape \u{1b}[31m"), @r#"
    a: "bell  and escape [31m"
      license = "MIT"
    3:19-3:19 warning[SF108]: Control character U+0007
    "#);
}

#[test]
fn escaped_control_characters_are_removed_too() {
    insta::assert_snapshot!(describe("\"red \\e[31m and \\x07\""), @r#"
    a: "red [31m and"
      license = "MIT"
    3:14-3:35 warning[SF108]: Escaped control character U+001B
    "#);
}

#[test]
fn continuation_in_the_first_column_is_read_as_text() {
    insta::assert_snapshot!(describe("Manages:\n- droplets\n- zones"), @r#"
    a: "Manages: - droplets - zones"
      license = "MIT"
    3:21-3:21 warning[SF010]: Mapping values are not allowed in this context
    3:14-5:8 warning[SF101]: Value of `description` has an unquoted `: `
    "#);
    insta::assert_snapshot!(describe("First line\nsecond line in the first column"), @r#"
    a: "First line second line in the first column"
      license = "MIT"
    5:1-5:1 warning[SF010]: Simple key expect ':'
    3:14-4:32 warning[SF110]: Value of `description` is not valid YAML: Simple key expect ':'
    "#);
}

#[test]
fn invalid_utf8_costs_one_character() {
    let parsed = parse(b"---\nname: a\ndescription: caf\xe9 au lait\n---\n", "a");
    insta::assert_snapshot!(crate::show::parsed(&parsed), @r#"
    a: "caf� au lait"
    3:17-3:17 warning[SF004]: Byte 0xe9 is not UTF-8
    "#);
}

#[test]
fn missing_closing_fence_is_inferred_where_the_instructions_start() {
    insta::assert_snapshot!(check("---\nname: a\ndescription: b\n\n# Title\n\nText: with colon\n"), @r#"
    a: "b"
    1:1-1:1 warning[SF109]: Frontmatter is not closed
    "#);
    insta::assert_snapshot!(check("---\nname: a\ndescription: b\n---# Title\n"), @r#"
    a: "b"
    1:1-1:1 warning[SF109]: Frontmatter is not closed
    "#);
}

#[test]
fn misindented_and_misspelt_fields_are_found() {
    insta::assert_snapshot!(check("---\nname: a\n description: b: c\n version:1.0.0\nallowedTools: Read\n---\n"), @r#"
    a: "b: c"
      version = "1.0.0"
      allowed_tools = ["Read"]
    3:13-3:13 warning[SF010]: Mapping values are not allowed in this context
    3:2-3:2 warning[SF115]: Field `description` is indented unlike the others
    3:15-3:19 warning[SF101]: Value of `description` has an unquoted `: `
    4:2-4:2 warning[SF115]: Field `version` is indented unlike the others
    4:2-4:9 warning[SF112]: No space after the colon of `version`
    5:1-5:13 warning[SF114]: Field `allowedTools` is read as `allowed-tools`
    "#);
}

#[test]
fn broken_nested_values_do_not_affect_others() {
    insta::assert_snapshot!(check("---\nname: a\ndescription: b\nmetadata:\n  good: yes\n  bad: one: two\n  list:\n    - fine\n    - @broken\n---\n"), @r#"
    a: "b"
      metadata = {good: Text("yes"), bad: Text("one: two"), list: [Text("fine"), Text("@broken")]}
    6:11-6:11 warning[SF010]: Mapping values are not allowed in this context
    6:8-6:16 warning[SF101]: Value of `bad` has an unquoted `: `
    9:7-9:14 warning[SF103]: Value of `item` starts with a character YAML reserves
    "#);
}

#[test]
fn line_outside_any_field_is_reported() {
    insta::assert_snapshot!(check("---\nstray text\nname: a\ndescription: b: c\n---\n"), @r#"
    a: "b: c"
    3:5-3:5 warning[SF010]: Mapping values are not allowed in this context
    2:1-2:11 error[SF113]: Line `stray text` belongs to no field
    4:14-4:18 warning[SF101]: Value of `description` has an unquoted `: `
    "#);
}

#[test]
fn json_surrogate_pairs_are_joined() {
    insta::assert_snapshot!(check("---\nname: a\ndescription: b\nmetadata: {\"emoji\": \"\\ud83d\\udde3\", \"broken\": \"\\ud83d\"}\nother: {\"x\": \"\\ud83d\\udde3\"}\n---\n"), @r#"
    a: "b"
      other = {metadata: Text("{\"emoji\": \"\\ud83d\\udde3\", \"broken\": \"\\ud83d\"}"), other: {x: Text("🗣")}}
    4:21-4:21 warning[SF010]: While parsing a quoted scalar, found invalid Unicode character escape code
    4:11-4:56 warning[SF103]: Value of `metadata` starts with a character YAML reserves
    4:11-4:56 warning[SF201]: Field `metadata` has an unexpected value
    "#);
}

#[test]
fn multiline_json_is_not_split_at_known_field_names() {
    insta::assert_snapshot!(check("---\nname: a\ndescription: b: c\nmetadata: {\n    \"requires\": [\"x\"],\n    \"homepage\":\"y\"\n  }\n---\n"), @r#"
    a: "b: c"
      requires = ["x"]
      metadata = {requires: [Text("x")], homepage: Text("y")}
    3:15-3:15 warning[SF010]: A second `: ` on the line of a field
    3:14-3:18 warning[SF101]: Value of `description` has an unquoted `: `
    "#);
}

#[test]
fn healthy_fields_beside_a_broken_one_stay_fields() {
    insta::assert_snapshot!(check("---\nname: x\na.b: c\n2fa: yes\ndescription: u: v\nMy own field: z\n---\n"), @r#"
    x: "u: v"
      other = {a.b: Text("c"), 2fa: Text("yes"), My own field: Text("z")}
    5:15-5:15 warning[SF010]: Mapping values are not allowed in this context
    5:14-5:18 warning[SF101]: Value of `description` has an unquoted `: `
    2:7-2:8 warning[SF305]: Name `x` differs from the folder's name `a`
    "#);
}

#[test]
fn prose_in_the_first_column_stays_text() {
    insta::assert_snapshot!(check("---\nname: x\ndescription: Use it: now\n1. First step: read\nSee the docs. Then: go\n---\n"), @r#"
    x: "Use it: now 1. First step: read See the docs. Then: go"
    3:20-3:20 warning[SF010]: A second `: ` on the line of a field
    3:14-5:23 warning[SF101]: Value of `description` has an unquoted `: `
    2:7-2:8 warning[SF305]: Name `x` differs from the folder's name `a`
    "#);
}

#[test]
fn comments_are_not_part_of_a_broken_value() {
    insta::assert_snapshot!(check("---\nname: x\ndescription: Use when: asked\n# TODO: internal note\nlicense: MIT\n---\n"), @r#"
    x: "Use when: asked"
      license = "MIT"
    3:22-3:22 warning[SF010]: A second `: ` on the line of a field
    3:14-4:22 warning[SF101]: Value of `description` has an unquoted `: `
    2:7-2:8 warning[SF305]: Name `x` differs from the folder's name `a`
    "#);
}

#[test]
fn healthy_items_beside_a_broken_one_stay_mappings() {
    insta::assert_snapshot!(check("---\nname: x\ndescription: b\nhooks:\n  - name: good\n    value: 1\n  - name: bad: x\n    value: 2\n---\n"), @r#"
    x: "b"
      other = {hooks: [{name: Text("good"), value: Integer(1)}, {name: Text("bad: x"), value: Integer(2)}]}
    7:14-7:14 warning[SF010]: Mapping values are not allowed in this context
    7:11-7:17 warning[SF101]: Value of `name` has an unquoted `: `
    2:7-2:8 warning[SF305]: Name `x` differs from the folder's name `a`
    "#);
}

#[test]
fn trailing_whitespace_in_a_healthy_block_is_kept() {
    insta::assert_snapshot!(check("---\nname: a\ndescription: |\n  two spaces  \n  at an end\nmodel: x: y\n---\n"), @r#"
    a: "two spaces  \nat an end"
      model = "x: y"
    6:9-6:9 warning[SF010]: Mapping values are not allowed in this context
    6:8-6:12 warning[SF101]: Value of `model` has an unquoted `: `
    "#);
}

#[test]
fn repair_never_builds_a_name_from_several_lines() {
    for value in [
        "ok\n  bad: [indent",
        "\"ok\n  bad: \"indent",
        "| ok\n  bad: [indent",
        "> ok\n  bad: [indent",
        "[ok,\n  bad: indent",
        "{ok:\n  bad: indent",
    ] {
        let file = format!("---\nname: {value}\ndescription: b\n---\n");
        let parsed = parse(file.as_bytes(), "a");
        assert!(parsed.repaired, "{value}");
        assert_eq!(parsed.manifest.unwrap().name().as_str(), "a", "{value}");
        let has_error = |finding: &Diagnostic| finding.severity == Severity::Error;
        assert!(parsed.diagnostics.iter().any(has_error), "{value}");
    }
}

#[test]
fn escapes_outside_quotes_are_left_alone() {
    insta::assert_snapshot!(check("---\nname: x: y\ndescription: |\n  Matches \\ud83d\\ude00 escapes\nother: {\"a\": \"\\uD83D\\uDE00 and \\ud83d\\ude00\"}\n---\n"), @r#"
    a: "Matches \\ud83d\\ude00 escapes"
      other = {other: {a: Text("😀 and 😀")}}
    2:8-2:8 warning[SF010]: A second `: ` on the line of a field
    2:7-2:11 warning[SF101]: Value of `name` has an unquoted `: `
    2:7-2:11 error[SF302]: Name has the character `:`: `x: y`; the folder's name `a` is used
    "#);
}

#[test]
fn positions_inside_a_repaired_field_refer_to_the_file() {
    insta::assert_snapshot!(check("---\nname: x\ndescription: b\nmetadata:\n  bad: a: b\n  good: {a: 1, a: 2}\n---\n"), @r#"
    x: "b"
      metadata = {bad: Text("a: b"), good: {a: Integer(1), a: Integer(2)}}
    5:9-5:9 warning[SF010]: Mapping values are not allowed in this context
    5:8-5:12 warning[SF101]: Value of `bad` has an unquoted `: `
    6:16-6:17 error[SF015]: Field `a` is already given on line 6
    2:7-2:8 warning[SF305]: Name `x` differs from the folder's name `a`
    "#);
}

#[test]
fn repeated_input_up_to_the_limit_never_panics() {
    let bases = [
        "\t", " ", "x\n", "- ", "[", "{", "'", "\"", "\\uD", "\\ud83d", ": ", "a: ", "a:\n",
        "a: b\n", "#", "&a ", "*a ", "!t ", "|", ">", "? ", ",", "(", "é", "\u{85}", "\r",
    ];
    let frames = [
        "",
        "license: MIT\n",
        "tags: [",
        "description: a: b\nlicense: MIT\n",
        "a:\n b:\n  c:\n   d: ",
        "x: \"",
        "- ",
    ];
    for base in bases {
        for frame in frames {
            let filling = base.repeat(60_000 / base.len());
            let text = format!("---\nname: a\n{frame}{filling}x\n---\n");
            let parsed = parse(text.as_bytes(), "a");
            assert!(
                parsed.diagnostics.len() <= 1_010,
                "{frame:?} {base:?}: {}",
                parsed.diagnostics.len()
            );
        }
    }
}

#[test]
fn repair_keeps_every_word_of_the_description() {
    for value in [
        "Use when: x",
        "> text",
        "\"open",
        "@at",
        "'it's'",
        "a\n  b: c",
    ] {
        let parsed = parse(
            format!("---\nname: a\ndescription: {value}\n---\n").as_bytes(),
            "a",
        );
        let manifest = parsed.manifest.expect("repaired");
        let words = |text: &str| {
            text.split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(words(manifest.description()), words(value), "{value}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn parse_never_panics_and_refusals_have_a_position(mut bytes in proptest::collection::vec(any::<u8>(), 0..400), fences in any::<bool>()) {
        if fences {
            bytes.splice(..0, *b"---\nname: a\ndescription: ");
            bytes.extend(b"\n---\n");
        }
        let parsed = parse(&bytes, "a");
        prop_assert!(parsed.manifest.is_some() || parsed.diagnostics.iter().any(|finding| finding.span.is_some()));
    }

    #[test]
    fn parse_never_panics_on_almost_yaml(text in "(---\n)?([a-z]{1,3}:?[ \t]?[>|'\"\\[{&*!@`#-]{0,2}[a-z:,# ]{0,12}[\"'\\]}]?\n){0,8}(---\n)?") {
        let lines = parse_with(text.as_bytes(), "a", FrontmatterReader::Lines, &skillfold_core::Limits::default());
        let yaml = parse_with(text.as_bytes(), "a", FrontmatterReader::Yaml, &skillfold_core::Limits::default());
        let codes = |parsed: &skillfold_core::read::Parsed| parsed.diagnostics.iter().map(|finding| finding.code).collect::<Vec<_>>();
        prop_assert_eq!(codes(&lines), codes(&yaml));
        prop_assert_eq!(lines.manifest, yaml.manifest);
    }

    #[test]
    fn plain_words_are_read_verbatim(words in "[a-zA-Z][a-zA-Z0-9 ,.()/-]{0,80}[a-z]") {
        let parsed = parse(format!("---\nname: a\ndescription: {words}\n---\n").as_bytes(), "a");
        let manifest = parsed.manifest.unwrap();
        prop_assert_eq!(manifest.description(), words.as_str());
        prop_assert!(!parsed.repaired);
    }
}
