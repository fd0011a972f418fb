//! What is corrected, how it is written then, and what stays.

use proptest::prelude::*;
use skillfold_core::Diagnostic;
use skillfold_core::author::{fix, is_fixable, lint};
use skillfold_core::read::{Profile, parse};

/// Returns the frontmatter as it is corrected, and the codes of what is gone and of what is left.
fn check(text: &str, profile: Profile) -> String {
    let fixed = fix(text.as_bytes(), "a", profile);
    let codes = |findings: &[Diagnostic]| {
        findings
            .iter()
            .map(|finding| finding.code.number())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let text = fixed
        .bytes
        .as_ref()
        .map_or("unchanged\n".into(), |bytes| String::from_utf8_lossy(bytes));
    let shown = text
        .replace('\r', "<cr>")
        .replace('\t', "<tab>")
        .replace('\u{feff}', "<mark>");
    format!(
        "{shown}fixed: {}\nleft: {}",
        codes(&fixed.fixed),
        codes(&fixed.remaining)
    )
}

fn lenient(fields: &str) -> String {
    check(
        &format!("---\n# above\nname: a # beside\n{fields}\n# below\nlicense: MIT\n---\nBody\n"),
        Profile::Lenient,
    )
}

fn spec(fields: &str) -> String {
    check(
        &format!("---\nname: a\ndescription: b\n{fields}\n---\nBody\n"),
        Profile::Spec,
    )
}

#[test]
fn length_findings_alone_are_not_fixable() {
    let findings = |fields: &str| {
        let text = format!("---\nname: a\n{fields}\n---\nBody\n");
        let findings = lint(text.as_bytes(), "a", Profile::Lenient);
        assert!(!findings.is_empty(), "{fields}");
        findings
    };
    let long = format!("description: {}", "word ".repeat(5_000));
    assert!(!is_fixable(&findings(&long)));
    assert!(is_fixable(&findings(&format!(
        "{long}\nAllowed_Tools: Bash"
    ))));
    assert!(is_fixable(&findings("description: Use when: asked")));
}

#[test]
fn value_with_a_colon_is_quoted() {
    insta::assert_snapshot!(lenient("description: Use when: asked # really"), @"
    ---
    # above
    name: a # beside
    description: 'Use when: asked # really'
    # below
    license: MIT
    ---
    Body
    fixed: SF101 SF010
    left:
    ");
    insta::assert_snapshot!(lenient("description: It's this: that"), @r#"
    ---
    # above
    name: a # beside
    description: "It's this: that"
    # below
    license: MIT
    ---
    Body
    fixed: SF101 SF010
    left:
    "#);
    insta::assert_snapshot!(lenient("description: It's \"this\": that"), @r#"
    ---
    # above
    name: a # beside
    description: 'It''s "this": that'
    # below
    license: MIT
    ---
    Body
    fixed: SF101 SF010
    left:
    "#);
}

#[test]
fn multiline_value_becomes_a_block_scalar_with_the_same_lines() {
    insta::assert_snapshot!(lenient("description: Use when: one\n    and goes on: two\n\n    and on"), @"
    ---
    # above
    name: a # beside
    description: >-
        Use when: one
        and goes on: two

        and on
    # below
    license: MIT
    ---
    Body
    fixed: SF101 SF010
    left:
    ");
    insta::assert_snapshot!(lenient("description: Handles:\n- one\n# between\n- two"), @"
    ---
    # above
    name: a # beside
    description: >-
      Handles:
      - one
      - two
    # between
    # below
    license: MIT
    ---
    Body
    fixed: SF101 SF010
    left:
    ");
    insta::assert_snapshot!(lenient("description:\n  \"Handles\" one: two"), @r#"
    ---
    # above
    name: a # beside
    description: >-
      "Handles" one: two
    # below
    license: MIT
    ---
    Body
    fixed: SF101 SF010
    left:
    "#);
}

#[test]
fn text_after_a_block_scalar_indicator_is_moved_into_the_block() {
    insta::assert_snapshot!(lenient("description: > Folded text"), @"
    ---
    # above
    name: a # beside
    description: 'Folded text'
    # below
    license: MIT
    ---
    Body
    fixed: SF010 SF102
    left:
    ");
    insta::assert_snapshot!(lenient("description: >+ Folded text\n  and more"), @"
    ---
    # above
    name: a # beside
    description: >-
      Folded text
      and more
    # below
    license: MIT
    ---
    Body
    fixed: SF010 SF102
    left:
    ");
    insta::assert_snapshot!(lenient("description: | Literal text\n   second line"), @"
    ---
    # above
    name: a # beside
    description: |-
       Literal text
       second line
    # below
    license: MIT
    ---
    Body
    fixed: SF010 SF102
    left:
    ");
}

#[test]
fn reserved_character_is_quoted() {
    insta::assert_snapshot!(lenient("description: @mention someone"), @"
    ---
    # above
    name: a # beside
    description: '@mention someone'
    # below
    license: MIT
    ---
    Body
    fixed: SF010 SF103
    left:
    ");
    insta::assert_snapshot!(lenient("description: # a heading"), @"
    ---
    # above
    name: a # beside
    description: '# a heading'
    # below
    license: MIT
    ---
    Body
    fixed: SF103
    left:
    ");
    insta::assert_snapshot!(lenient("description: b\nallowed-tools: [Read, @types/node, \"a b\"]"), @"
    ---
    # above
    name: a # beside
    description: b
    allowed-tools: ['Read', '@types/node', 'a b']
    # below
    license: MIT
    ---
    Body
    fixed: SF103 SF010
    left: SF310
    ");
    insta::assert_snapshot!(lenient("description: *bold* text"), @"
    ---
    # above
    name: a # beside
    description: '*bold* text'
    # below
    license: MIT
    ---
    Body
    fixed: SF011 SF103
    left:
    ");
}

#[test]
fn tabs_become_the_spaces_they_were_read_as() {
    insta::assert_snapshot!(lenient("description: b\nmetadata:\n\tauthor: me # you\n\tdeep:\n\t\tkey: value"), @"
    ---
    # above
    name: a # beside
    description: b
    metadata:
      author: me # you
      deep:
        key: value
    # below
    license: MIT
    ---
    Body
    fixed: SF104 SF010
    left: SF309
    ");
    insta::assert_snapshot!(lenient("description: b\nmetadata:\n\t# inside\n\tgood: yes\n\tbad: one: two\n\tlist:\n\t\t- fine\n\t\t- @broken"), @"
    ---
    # above
    name: a # beside
    description: b
    metadata:
      # inside
      good: yes
      bad: 'one: two'
      list:
        - fine
        - '@broken'
    # below
    license: MIT
    ---
    Body
    fixed: SF010 SF101 SF104 SF103
    left: SF309
    ");
}

#[test]
fn byte_order_mark_and_blank_lines_before_the_fence_are_removed() {
    insta::assert_snapshot!(check("\u{feff}\n \n---\nname: a\ndescription: b\n---\n\n# A\n", Profile::Lenient), @"
    ---
    name: a
    description: b
    ---

    # A
    fixed: SF105 SF111
    left:
    ");
}

#[test]
fn crlf_becomes_lf_in_the_whole_file() {
    insta::assert_snapshot!(check("---\r\nname: a\r\ndescription: b: c\r\n---\r\n\r\n# A\r\nlone \r return\r\n", Profile::Lenient), @"
    ---
    name: a
    description: 'b: c'
    ---

    # A
    lone <cr> return
    fixed: SF106 SF101 SF010
    left: SF410
    ");
    insta::assert_snapshot!(check("---\nname: a\r\ndescription: b: c\r\n---\r\n# A\r\n", Profile::Lenient), @"
    ---
    name: a<cr>
    description: 'b: c'<cr>
    ---<cr>
    # A<cr>
    fixed: SF101 SF010
    left:
    ");
}

#[test]
fn broken_quotes_are_fixed() {
    insta::assert_snapshot!(lenient("description: \"never closed"), @"
    ---
    # above
    name: a # beside
    description: 'never closed'
    # below
    license: MIT
    ---
    Body
    fixed: SF010 SF107
    left:
    ");
    insta::assert_snapshot!(lenient("description: 'it's fine'"), @r#"
    ---
    # above
    name: a # beside
    description: "it's fine"
    # below
    license: MIT
    ---
    Body
    fixed: SF107 SF010
    left:
    "#);
    insta::assert_snapshot!(lenient("description: \"Use \"this\" tool\""), @r#"
    ---
    # above
    name: a # beside
    description: 'Use "this" tool'
    # below
    license: MIT
    ---
    Body
    fixed: SF107 SF010
    left:
    "#);
    insta::assert_snapshot!(lenient("description: \"a \\d+ pattern\\n and 'so' on\""), @r#"
    ---
    # above
    name: a # beside
    description: "a \\d+ pattern\n and 'so' on"
    # below
    license: MIT
    ---
    Body
    fixed: SF010 SF107
    left:
    "#);
    insta::assert_snapshot!(lenient("description: \"first line\nsecond line\""), @"
    ---
    # above
    name: a # beside
    description: >-
      first line
      second line
    # below
    license: MIT
    ---
    Body
    fixed: SF010 SF107
    left:
    ");
}

#[test]
fn control_characters_are_removed_from_the_frontmatter_only() {
    insta::assert_snapshot!(check("---\nname: a\ndescription: be\u{7}ll # \u{1b}\n---\nBo\u{8}dy\n", Profile::Lenient).replace('\u{8}', "<control>"), @"
    ---
    name: a
    description: bell # 
    ---
    Bo<control>dy
    fixed: SF108
    left: SF410
    ");
    insta::assert_snapshot!(lenient("description: \"red \\e[31m\" # beside"), @"
    ---
    # above
    name: a # beside
    description: 'red [31m' # beside
    # below
    license: MIT
    ---
    Body
    fixed: SF108
    left:
    ");
}

#[test]
fn closing_fence_is_inserted_where_the_frontmatter_ended() {
    insta::assert_snapshot!(check("---\nname: a\ndescription: b\n\n# Title\n", Profile::Lenient), @"
    ---
    name: a
    description: b

    ---
    # Title
    fixed: SF109
    left:
    ");
    insta::assert_snapshot!(check("---\nname: a\ndescription: b\n---# Title\n", Profile::Lenient), @"
    ---
    name: a
    description: b
    ---
    # Title
    fixed: SF109
    left:
    ");
    insta::assert_snapshot!(check("---\nname: a\ndescription: b", Profile::Lenient), @"
    ---
    name: a
    description: b
    ---
    fixed: SF109
    left: SF403
    ");
}

#[test]
fn text_that_yaml_rejects_is_written_as_a_block() {
    insta::assert_snapshot!(lenient("description: First line\nsecond line in the first column"), @"
    ---
    # above
    name: a # beside
    description: >-
      First line
      second line in the first column
    # below
    license: MIT
    ---
    Body
    fixed: SF110 SF010
    left:
    ");
}

#[test]
fn field_gets_its_column_its_space_and_its_correct_name() {
    insta::assert_snapshot!(check("---\nname: a\n description: b: c\n version:1.0.0 # one\nallowedTools: Read\n---\nBody\n", Profile::Lenient), @"
    ---
    name: a
    description: 'b: c'
    version: 1.0.0 # one
    allowedTools: Read
    ---
    Body
    fixed: SF115 SF010 SF101 SF115 SF112
    left: SF114 SF308
    ");
    insta::assert_snapshot!(lenient("description：Full width\n\"Model\" : x"), @r#"
    ---
    # above
    name: a # beside
    description: Full width
    "Model" : x
    # below
    license: MIT
    ---
    Body
    fixed: SF112 SF010
    left: SF114 SF308
    "#);
    insta::assert_snapshot!(check("---\n  name: a\n  metadata:\n    x: y\ndescription: b\n---\nBody\n", Profile::Lenient), @"
    ---
    name: a
    metadata:
      x: y
    description: b
    ---
    Body
    fixed: SF010
    left:
    ");
}

#[test]
fn nested_values_are_fixed_in_place() {
    insta::assert_snapshot!(lenient("description: b\nhooks:\n  - name: good\n    value: 1\n  # between\n  - name: bad: x\n    value: 2\n  - @item"), @"
    ---
    # above
    name: a # beside
    description: b
    hooks:
      - name: good
        value: 1
      # between
      - name: 'bad: x'
        value: 2
      - '@item'
    # below
    license: MIT
    ---
    Body
    fixed: SF101 SF010 SF103
    left:
    ");
}

#[test]
fn json_surrogate_pairs_are_written_as_characters() {
    insta::assert_snapshot!(lenient("description: b\nmetadata: {\"emoji\": \"\\ud83d\\udde3\"} # so"), @r#"
    ---
    # above
    name: a # beside
    description: b
    metadata: {"emoji": "🗣"} # so
    # below
    license: MIT
    ---
    Body
    fixed: SF010
    left:
    "#);
}

#[test]
fn healthy_fields_beside_a_broken_one_stay_byte_for_byte() {
    insta::assert_snapshot!(lenient("description: |\n  two spaces  \n  at an end\n\ntags: [ a,b ]\nmodel: x: y"), @"
    ---
    # above
    name: a # beside
    description: |
      two spaces  
      at an end

    tags: [ a,b ]
    model: 'x: y'
    # below
    license: MIT
    ---
    Body
    fixed: SF101 SF010
    left:
    ");
}

#[test]
fn findings_for_the_author_to_decide_are_left() {
    insta::assert_snapshot!(check("---\nname: B\ndescription: b\nauthor: x\n---\n", Profile::Spec), @"
    unchanged
    fixed: 
    left: SF303 SF305 SF308 SF403
    ");
    insta::assert_snapshot!(lenient("description: b\nmetadata: {\"a\": [}"), @"
    unchanged
    fixed: 
    left: SF103 SF201 SF310 SF010
    ");
    insta::assert_snapshot!(check("---\nstray text\nname: a\ndescription: b: c\n---\nBody\n", Profile::Lenient), @"
    ---
    stray text
    name: a
    description: 'b: c'
    ---
    Body
    fixed: SF101
    left: SF113 SF010
    ");
    insta::assert_snapshot!(check("# No frontmatter\n", Profile::Lenient), @"
    unchanged
    fixed: 
    left: SF001 SF116
    ");
    insta::assert_snapshot!(check("\u{feff}---\nname: @a\n---\nBody\n", Profile::Lenient), @"
    ---
    name: '@a'
    ---
    Body
    fixed: SF105 SF010 SF103
    left: SF302 SF007 SF116
    ");
}

#[test]
fn lists_of_words_move_under_metadata_in_the_strict_profile() {
    insta::assert_snapshot!(spec("tags: [x, y] # beside\n# above\nrequires:\n  - other\n  - \"it's\"\nlicense: MIT"), @r#"
    ---
    name: a
    description: b
    # above
    metadata:
      tags: 'x, y' # beside
      requires: "other, it's"
    license: MIT
    ---
    Body
    fixed: SF308 SF308
    left:
    "#);
    insta::assert_snapshot!(spec("requires: [z]\nmetadata: # mine\n    author: \"me\"\ntags:\n- x"), @r#"
    ---
    name: a
    description: b
    metadata: # mine
        tags: 'x'
        requires: 'z'
        author: "me"
    ---
    Body
    fixed: SF308 SF308
    left:
    "#);
    insta::assert_snapshot!(spec("metadata:\nTags: [x]"), @"
    ---
    name: a
    description: b
    metadata:
      tags: 'x'
    ---
    Body
    fixed: SF114 SF308
    left:
    ");
}

#[test]
fn list_that_a_string_cannot_represent_does_not_move() {
    for fields in [
        "tags: [two words]",
        "tags: [\"a,b\"]",
        "tags: []",
        "tags: x, y",
        "tags:\n  - x # beside\n  - y",
        "tags: [x]\nmetadata: {a: \"b\"}",
        "tags: [x]\nmetadata:\n  tags: y",
    ] {
        let text = format!("---\nname: a\ndescription: b\n{fields}\n---\nBody\n");
        assert_eq!(
            fix(text.as_bytes(), "a", Profile::Spec).bytes,
            None,
            "{fields}"
        );
    }
    let text = "---\nname: a\ndescription: b\ntags: [x]\n---\nBody\n";
    assert_eq!(fix(text.as_bytes(), "a", Profile::Lenient).bytes, None);
}

/// What every correction must keep.
fn promises(bytes: &[u8], profile: Profile) -> Result<(), TestCaseError> {
    let fixed = fix(bytes, "a", profile);
    let Some(corrected) = fixed.bytes else {
        prop_assert!(fixed.fixed.is_empty());
        return Ok(());
    };
    prop_assert!(!fixed.fixed.is_empty());
    prop_assert_eq!(fix(&corrected, "a", profile).bytes, None);
    let (before, after) = (parse(bytes, "a"), parse(&corrected, "a"));
    let body = |bytes: &[u8], start: Option<usize>| {
        String::from_utf8_lossy(&bytes[start.unwrap_or(0)..]).replace("\r\n", "\n")
    };
    prop_assert_eq!(
        body(bytes, before.body_start),
        body(&corrected, after.body_start)
    );
    prop_assert!(before.repaired || !after.repaired);
    let comments = |bytes| String::from_utf8_lossy(bytes).matches("# keep").count();
    prop_assert_eq!(comments(bytes), comments(&corrected));
    match (profile, before.manifest, after.manifest) {
        (Profile::Spec, Some(before), Some(after)) => {
            prop_assert_eq!(before.name(), after.name());
            prop_assert_eq!(before.description(), after.description());
            prop_assert_eq!(before.tags(), after.tags());
            prop_assert_eq!(before.requires(), after.requires());
            prop_assert_eq!(before.license(), after.license());
            prop_assert_eq!(before.model(), after.model());
            prop_assert_eq!(before.allowed_tools(), after.allowed_tools());
            prop_assert_eq!(before.triggers(), after.triggers());
            prop_assert_eq!(before.other(), after.other());
        }
        (_, before, after) => prop_assert_eq!(before, after),
    }
    Ok(())
}

#[test]
fn repeated_input_up_to_the_limit_never_panics() {
    for base in [
        "x: y: z\n",
        "\tx:\n",
        "- ",
        "a: \"\n",
        "a: '",
        "{",
        "\u{7}",
        "\r\n",
        "a: *b\n",
        "a:\n - @\n",
    ] {
        let filling = base.repeat(4_000 / base.len());
        let text = format!("---\nname: a\ndescription: b: c\n{filling}\n---\n");
        let fixed = fix(text.as_bytes(), "a", Profile::Spec);
        let corrected = fixed.bytes.unwrap_or_default();
        assert_eq!(fix(&corrected, "a", Profile::Spec).bytes, None, "{base:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn fix_preserves_the_meaning_of_any_bytes(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), fences in any::<bool>()) {
        if fences {
            bytes.splice(..0, *b"---\nname: a\ndescription: ");
            bytes.extend(b"\n---\n");
        }
        promises(&bytes, Profile::Lenient)?;
    }

    #[test]
    fn fix_preserves_the_meaning_of_almost_yaml(text in "(\u{feff})?(\n)?---\r?\n( ?[a-z]{1,3}:?[ \t]?[>|'\"\\[{&*!@`#-]{0,2}[a-z:,# \\\\\u{7}]{0,12}[\"'\\]}]?\r?\n|[\t ]{1,3}(- )?[a-z]{1,2}: [a-z:' ]{0,6}\n|description:[ >|]?[a-z:' ]{1,9}( # keep)?\n|Tags: ?\\[x, ?y\\]( # keep)?\n|tags:\n  - x\n|  - [\"'@]?y[\"']?( # keep)?\n|[ \t]{0,2}# keep\n|x: \"\\\\e\"( # keep)?\n|\n){0,8}(---\r?\n)?[a-z# \n]{0,9}") {
        promises(text.as_bytes(), Profile::Lenient)?;
        promises(text.as_bytes(), Profile::Spec)?;
    }
}
