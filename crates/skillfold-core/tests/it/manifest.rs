//! Every field of the format, at the top and under `metadata`.

use skillfold_core::diagnostic::Severity;
use skillfold_core::load::read_body;
use skillfold_core::read::{ReadOptions, discover, parse};
use skillfold_core::{Code, MemorySource};

use crate::show::{check, findings};

fn with(fields: &str) -> String {
    check(&format!("---\nname: a\ndescription: b\n{fields}\n---\n"))
}

#[test]
fn skill_is_a_folder_with_frontmatter_and_instructions() {
    let source = MemorySource::new([(
        "pdf/SKILL.md",
        "---\nname: pdf\ndescription: Fills in forms\n---\n# PDF\n\nDo it.\n",
    )]);
    let found = discover(&[&source], &ReadOptions::default());
    let body = read_body(
        &source,
        &found.skills[0],
        &ReadOptions::default().walk.limits,
    )
    .unwrap();
    assert_eq!(body.bytes, b"# PDF\n\nDo it.\n");
    assert_eq!(found.skills[0].body_bytes(), 14);
}

#[test]
fn missing_name_and_description_have_distinct_codes() {
    let codes = |text: &str| {
        parse(text.as_bytes(), "a")
            .diagnostics
            .iter()
            .map(|finding| finding.code)
            .collect::<Vec<_>>()
    };
    assert_eq!(codes("---\ndescription: b\n---\n"), [Code::MissingName]);
    let described = [Code::MissingDescription, Code::DescriptionFromBody];
    assert_eq!(codes("---\nname: a\n---\n"), described);
    assert_eq!(
        codes("---\nname:\ndescription: ''\n---\n"),
        [
            Code::MissingName,
            Code::MissingDescription,
            Code::DescriptionFromBody
        ]
    );
}

#[test]
fn file_without_frontmatter_is_a_skill_with_its_folders_name() {
    insta::assert_snapshot!(check("# Forms\n\nFills in forms. Signs them.\n"), @r#"
    a: "Fills in forms."
    1:1-1:1 error[SF001]: Expected `---`, found `# Forms`
    1:1-1:1 warning[SF116]: Description is the first sentence of the instructions: `Fills in forms.`
    "#);
    insta::assert_snapshot!(check("# Forms\n"), @r#"
    a: "Forms"
    1:1-1:1 error[SF001]: Expected `---`, found `# Forms`
    1:1-1:1 warning[SF116]: Description is the first sentence of the instructions: `Forms`
    "#);
    insta::assert_snapshot!(check(""), @r#"
    a: "a"
    1:1-1:1 error[SF001]: File is empty
    1:1-1:1 warning[SF116]: Description is the skill's name: `a`
    "#);
    insta::assert_snapshot!(check("---\nFills in forms.\n"), @r#"
    a: "Fills in forms."
    1:1-1:1 error[SF002]: Frontmatter is not closed
    1:1-1:1 warning[SF116]: Description is the first sentence of the instructions: `Fills in forms.`
    "#);
    let source = MemorySource::new([("pdf/SKILL.md", "# Forms\n\nFills in forms.\n")]);
    let found = discover(&[&source], &ReadOptions::default());
    assert_eq!(found.skills[0].body_bytes(), 25);
    assert_eq!(parse(b"\xef\xbb\xbfForms", "a").body_start, Some(3));
}

#[test]
fn skill_without_a_description_is_described_by_its_instructions() {
    insta::assert_snapshot!(check("---\nname: b\ntriggers: [x]\n---\nFills in forms. Signs them.\n"), @r#"
    b: "Fills in forms."
      triggers = ["x"]
    4:1-4:1 error[SF007]: Skill has no `description`
    4:1-4:1 warning[SF116]: Description is the first sentence of the instructions: `Fills in forms.`
    2:7-2:8 warning[SF305]: Name `b` differs from the folder's name `a`
    "#);
    insta::assert_snapshot!(check("---\n- b\n---\nFills in forms.\n"), @r#"
    a: "Fills in forms."
    2:3-2:4 error[SF005]: Frontmatter is not a mapping of fields
    3:1-3:1 error[SF006]: Skill has no `name`; the folder's name `a` is used
    3:1-3:1 error[SF007]: Skill has no `description`
    3:1-3:1 warning[SF116]: Description is the first sentence of the instructions: `Fills in forms.`
    "#);
    insta::assert_snapshot!(check("---\n---\nFills in forms.\n"), @r#"
    a: "Fills in forms."
    2:1-2:1 error[SF006]: Skill has no `name`; the folder's name `a` is used
    2:1-2:1 error[SF007]: Skill has no `description`
    2:1-2:1 warning[SF116]: Description is the first sentence of the instructions: `Fills in forms.`
    "#);
}

#[test]
fn description_from_the_instructions_adds_no_other_field() {
    let parsed = parse(b"triggers: [x]\ndisable-model-invocation: false\n", "a");
    let manifest = parsed.manifest.unwrap();
    assert_eq!(manifest.triggers(), None);
    assert!(manifest.tags().is_empty() && manifest.other().is_empty());
}

#[test]
fn link_that_git_checked_out_as_text_is_told_apart() {
    insta::assert_snapshot!(check("../pdf/SKILL.md"), @r#"
    a: "../pdf/SKILL.md"
    1:1-1:1 error[SF001]: Expected `---`, found `../pdf/SKILL.md`
    1:1-1:1 warning[SF117]: File is the path of another file, written by git for a symbolic link
    1:1-1:1 warning[SF116]: Description is the first sentence of the instructions: `../pdf/SKILL.md`
    "#);
}

#[test]
fn file_that_is_not_text_is_refused() {
    insta::assert_snapshot!(check("\u{89}PNG\r\n\0\0"), @"
    refused
    1:1-1:1 error[SF009]: File is not encoded as UTF-8
    ");
    insta::assert_snapshot!(check("#\0 \0T\0"), @"
    refused
    1:1-1:1 error[SF009]: File is not encoded as UTF-8
    ");
}

#[test]
fn skill_without_a_name_takes_its_folders_name() {
    insta::assert_snapshot!(check("---\ndescription: b\n---\n"), @r#"
    a: "b"
    3:1-3:1 error[SF006]: Skill has no `name`; the folder's name `a` is used
    "#);
    insta::assert_snapshot!(check("---\nname: org/skill\ndescription: b\n---\n"), @r#"
    a: "b"
    2:7-2:16 error[SF008]: Name has a slash: `org/skill`; the folder's name `a` is used
    "#);
    insta::assert_snapshot!(check("---\nname: [x]\ndescription: b\n---\n"), @r#"
    a: "b"
      other = {name: [Text("x")]}
    2:8-2:9 warning[SF201]: Field `name` has an unexpected value
    4:1-4:1 error[SF006]: Skill has no `name`; the folder's name `a` is used
    "#);
}

#[test]
fn name_is_checked_for_length_and_characters() {
    insta::assert_snapshot!(findings(&format!("---\nname: {}\ndescription: b\n---\n", "x".repeat(65))), @"
    2:7-2:72 error[SF301]: Name is 65 characters long, the limit is 64: `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`; the folder's name `a` is used
    ");
    insta::assert_snapshot!(findings("---\nname: My Skill!\ndescription: b\n---\n"), @"
    2:7-2:16 warning[SF303]: Name has upper-case letters: `My Skill!`
    2:7-2:16 error[SF302]: Name has a space: `My Skill!`; the folder's name `a` is used
    ");
    insta::assert_snapshot!(findings("---\nname: under_score\ndescription: b\n---\n"), @"
    2:7-2:18 warning[SF302]: Name has the character `_`: `under_score`
    2:7-2:18 warning[SF305]: Name `under_score` differs from the folder's name `a`
    ");
    insta::assert_snapshot!(findings("---\nname: -a--b\ndescription: b\n---\n"), @"
    2:7-2:12 warning[SF304]: Name has a hyphen at an end or two in a row: `-a--b`
    2:7-2:12 warning[SF305]: Name `-a--b` differs from the folder's name `a`
    ");
}

#[test]
fn skill_with_an_invalid_name_takes_its_folders_name() {
    let name = |text: &str, folder: &str| {
        let file = format!("---\nname: {text}\ndescription: b\n---\n");
        let parsed = parse(file.as_bytes(), folder);
        let errors = parsed.diagnostics.iter();
        let errors = errors.filter(|finding| finding.severity == Severity::Error);
        let codes: Vec<_> = errors.map(|finding| finding.code.number()).collect();
        let name = parsed.manifest.unwrap().name().to_string();
        format!("{name} {}", codes.join(" "))
    };
    assert_eq!(name("My Skill!", "pdf"), "pdf SF302");
    assert_eq!(name("pdf@2", "pdf"), "pdf SF302");
    assert_eq!(name(&"x".repeat(65), "pdf"), "pdf SF301");
    assert_eq!(name(&"x".repeat(64), "pdf"), format!("{} ", "x".repeat(64)));
    assert_eq!(name("PDF_Tools", "pdf"), "PDF_Tools ");
    assert_eq!(name("größe", "pdf"), "größe ");
}

#[test]
fn long_description_is_read_and_reported() {
    let text = format!("---\nname: a\ndescription: {}\n---\n", "x".repeat(1025));
    insta::assert_snapshot!(findings(&text), @"3:14-3:1039 warning[SF306]: Description is 1025 characters long, the limit is 1024");
    assert!(parse(text.as_bytes(), "a").manifest.is_some());
}

#[test]
fn version_is_kept_verbatim() {
    insta::assert_snapshot!(with("version: 1.0.0"), @r#"
    a: "b"
      version = "1.0.0"
    "#);
    insta::assert_snapshot!(with("version: 1.10"), @r#"
    a: "b"
      version = "1.10"
    4:10-4:14 info[SF204]: Version `1.10` is not of the form `1.0.0`
    "#);
    insta::assert_snapshot!(with("metadata:\n  version: \"2.0.0-rc.1\""), @r#"
    a: "b"
      version = "2.0.0-rc.1"
      metadata = {version: Text("2.0.0-rc.1")}
    "#);
}

#[test]
fn allowed_tools_are_read_in_both_spellings_as_string_or_list() {
    insta::assert_snapshot!(with("allowed-tools: Bash(git add:*) Bash(jq:*), Read"), @r#"
    a: "b"
      allowed_tools = ["Bash(git add:*)", "Bash(jq:*)", "Read"]
    "#);
    insta::assert_snapshot!(with("allowed_tools: Read, Grep"), @r#"
    a: "b"
      allowed_tools = ["Read", "Grep"]
    "#);
    insta::assert_snapshot!(with("allowed-tools: [Read, Grep]"), @r#"
    a: "b"
      allowed_tools = ["Read", "Grep"]
    "#);
    insta::assert_snapshot!(with("allowed_tools:\n  - Read\n  - Bash(git:*)"), @r#"
    a: "b"
      allowed_tools = ["Read", "Bash(git:*)"]
    "#);
    insta::assert_snapshot!(with("metadata:\n  allowed-tools: Read Grep"), @r#"
    a: "b"
      allowed_tools = ["Read", "Grep"]
      metadata = {allowed-tools: Text("Read Grep")}
    "#);
}

#[test]
fn optional_fields_have_their_defaults() {
    let manifest = parse(b"---\nname: a\ndescription: b\n---\n", "a")
        .manifest
        .unwrap();
    assert!(manifest.default_enabled() && !manifest.disable_model_invocation());
    assert!(
        manifest.tags().is_empty()
            && manifest.requires().is_empty()
            && manifest.triggers().is_none()
    );
    assert_eq!(
        (manifest.version(), manifest.model(), manifest.license()),
        (None, None, None)
    );
}

#[test]
fn model_and_flags_are_read() {
    insta::assert_snapshot!(with("model: opus\ndisable-model-invocation: yes\ndefault_enabled: off"), @r#"
    a: "b"
      model = "opus"
      disable_model_invocation = true
      default_enabled = false
    "#);
    insta::assert_snapshot!(with("disable_model_invocation: maybe"), @r#"
    a: "b"
      other = {disable_model_invocation: Text("maybe")}
    4:27-4:32 warning[SF203]: Field `disable_model_invocation` has an unexpected value
    "#);
    insta::assert_snapshot!(with("metadata:\n  model: small\n  default-enabled: \"0\""), @r#"
    a: "b"
      model = "small"
      default_enabled = false
      metadata = {model: Text("small"), default-enabled: Text("0")}
    "#);
}

#[test]
fn triggers_are_read_as_a_list() {
    insta::assert_snapshot!(with("triggers: [pdf form, c++]"), @r#"
    a: "b"
      triggers = ["pdf form", "c++"]
    "#);
    insta::assert_snapshot!(with("triggers:\n  - pdf\n  - ''\n  - \"fill: in\""), @r#"
    a: "b"
      triggers = ["pdf", "fill: in"]
    5:5-7:15 warning[SF202]: List has an empty entry
    "#);
    insta::assert_snapshot!(with("metadata:\n  triggers: pdf form, invoice"), @r#"
    a: "b"
      triggers = ["pdf form", "invoice"]
      metadata = {triggers: Text("pdf form, invoice")}
    "#);
}

#[test]
fn triggers_are_read_as_a_mapping() {
    insta::assert_snapshot!(with("triggers:\n  keywords: [hello, greet]\n  verbs: say, wave\n  patterns: [\"greet\\\\s+\\\\w{1,3}\"]\n  moods: [happy]"), @r#"
    a: "b"
      triggers = keywords ["hello", "greet"] verbs ["say", "wave"] patterns ["greet\\s+\\w{1,3}"]
      other = {triggers: {moods: [Text("happy")]}}
    8:3-8:8 warning[SF206]: Key `moods` under `triggers` is not known
    "#);
}

#[test]
fn toolsets_and_scripts_are_read_and_not_run() {
    insta::assert_snapshot!(with("toolsets:\n  - \"toolsets/index:HelloToolset\"\n  - nocolon\nscripts:\n  - scripts/run.py\n  - {path: x.sh, timeout: 5}"), @r#"
    a: "b"
      toolsets = ["toolsets/index:HelloToolset", "nocolon"]
      scripts = [Text("scripts/run.py"), {path: Text("x.sh"), timeout: Integer(5)}]
    5:5-6:12 warning[SF205]: Toolset `nocolon` is not of the form `path:Name`
    "#);
}

#[test]
fn script_or_toolset_outside_the_skill_is_reported_and_dropped() {
    insta::assert_snapshot!(with("toolsets: ['../evil:Tools', ':Tools', 'ok:Tools']\nscripts: [../evil.sh, /bin/sh, {timeout: 5}, ok.sh]"), @r#"
    a: "b"
      toolsets = ["../evil:Tools", ":Tools", "ok:Tools"]
      scripts = [Text("../evil.sh"), Text("/bin/sh"), {timeout: Integer(5)}, Text("ok.sh")]
    4:12-4:49 warning[SF205]: Toolset `../evil:Tools` is not of the form `path:Name`
    4:12-4:49 warning[SF205]: Toolset `:Tools` is not of the form `path:Name`
    5:11-5:51 warning[SF209]: Script is not a path inside the skill: `../evil.sh`
    5:11-5:51 warning[SF209]: Script is not a path inside the skill: `/bin/sh`
    5:11-5:51 warning[SF209]: Script is not a path inside the skill: An entry without `path`
    "#);
}

#[test]
fn tags_and_requires_are_read_at_top_level_and_under_metadata() {
    insta::assert_snapshot!(with("tags: [pdf, forms]\nrequires: [extension-development]"), @r#"
    a: "b"
      tags = ["pdf", "forms"]
      requires = ["extension-development"]
    "#);
    insta::assert_snapshot!(with("metadata:\n  tags: pdf, office forms\n  requires: one two"), @r#"
    a: "b"
      tags = ["pdf", "office forms"]
      requires = ["one", "two"]
      metadata = {tags: Text("pdf, office forms"), requires: Text("one two")}
    "#);
    insta::assert_snapshot!(with("tags: top\nmetadata:\n  tags: below\nrequires:\n  bins: [curl]"), @r#"
    a: "b"
      tags = ["top"]
      metadata = {tags: Text("below")}
      other = {requires: {bins: [Text("curl")]}}
    8:3-8:14 warning[SF201]: Field `requires` has an unexpected value
    "#);
}

#[test]
fn brief_defaults_to_the_first_sentence() {
    let brief = |fields: &str| {
        parse(format!("---\nname: a\n{fields}\n---\n").as_bytes(), "a")
            .manifest
            .unwrap()
            .brief()
            .into_owned()
    };
    assert_eq!(
        brief("description: Fills in forms. Use for PDF."),
        "Fills in forms."
    );
    assert_eq!(
        brief("description: Fills in forms.\nbrief_description: Forms,  quickly"),
        "Forms, quickly"
    );
    assert_eq!(
        brief("description: >\n  Fills in\n  forms. More"),
        "Fills in forms."
    );
}

#[test]
fn folded_and_literal_descriptions_are_one_line_in_brief() {
    insta::assert_snapshot!(check("---\nname: a\ndescription: |\n  First line\n  second line.\n\n  Another paragraph.\n---\n"), @r#"a: "First line\nsecond line.\n\nAnother paragraph.""#);
}

#[test]
fn nothing_in_the_frontmatter_is_lost() {
    insta::assert_snapshot!(
        with("user-invocable: true\nhooks:\n  PreToolUse:\n    - matcher: Bash\npaths: ['src/**', \"*.rs\"]\nversion: {major: 1}\ntags: a\ntags: b\nempty:\nwhen_to_use: |\n  at night\nmetadata:\n  openclaw: {emoji: \"x\", requires: {bins: [uv]}}"),
        @r#"
    a: "b"
      tags = ["a"]
      metadata = {openclaw: {emoji: Text("x"), requires: {bins: [Text("uv")]}}}
      other = {user-invocable: Bool(true), hooks: {PreToolUse: [{matcher: Text("Bash")}]}, paths: [Text("src/**"), Text("*.rs")], version: {major: Integer(1)}, tags: Text("b"), empty: Null, when_to_use: Text("at night\n")}
    11:1-11:5 error[SF015]: Field `tags` is already given on line 10
    9:11-9:19 warning[SF201]: Field `version` has an unexpected value
    "#
    );
}

#[test]
fn field_in_two_spellings_keeps_the_first_and_reports_the_second() {
    insta::assert_snapshot!(with("allowed-tools: Read\nallowed_tools: Write"), @r#"
    a: "b"
      allowed_tools = ["Read"]
      other = {allowed_tools: Text("Write")}
    5:1-5:14 error[SF015]: Field `allowed_tools` is already given in another spelling
    "#);
}

#[test]
fn correct_spelling_wins_over_a_similar_field() {
    insta::assert_snapshot!(check("---\nName: x\nname: a\ndescription-中文: 中文\ndescription: English\nDESCRIPTION: loud\n---\n"), @r#"
    a: "English"
      other = {Name: Text("x"), description-中文: Text("中文"), DESCRIPTION: Text("loud")}
    "#);
}

#[test]
fn empty_value_counts_as_absent() {
    let manifest = parse(b"---\nname: a\ndescription: One. Two\nbrief_description: ''\nlicense: ''\ntags:\nmetadata:\n  tags: x\n---\n", "a").manifest.unwrap();
    assert_eq!(
        (
            &*manifest.brief(),
            manifest.brief_description(),
            manifest.license()
        ),
        ("One.", None, None)
    );
    assert_eq!(manifest.tags(), ["x".into()]);
}

#[test]
fn duplicate_trigger_list_is_kept_but_not_read() {
    insta::assert_snapshot!(with("triggers:\n  keywords: a\n  keywords: b"), @r#"
    a: "b"
      triggers = keywords ["a"] verbs [] patterns []
      other = {triggers: {keywords: Text("b")}}
    6:3-6:11 error[SF015]: Field `keywords` is already given on line 5
    "#);
}

#[test]
fn misspelt_fields_are_read_and_checked_like_the_correct_ones() {
    insta::assert_snapshot!(check("---\nName: PDF\nDescription: b\nMetadata:\n  tags: x\ntags:\n---\n"), @r#"
    PDF: "b"
      tags = ["x"]
      metadata = {tags: Text("x")}
    2:1-2:5 warning[SF114]: Field `Name` is read as `name`
    3:1-3:12 warning[SF114]: Field `Description` is read as `description`
    4:1-4:9 warning[SF114]: Field `Metadata` is read as `metadata`
    2:7-2:10 warning[SF303]: Name has upper-case letters: `PDF`
    2:7-2:10 warning[SF305]: Name `PDF` differs from the folder's name `a`
    "#);
}

#[test]
fn standard_fields_of_other_clients_are_kept_verbatim() {
    insta::assert_snapshot!(with("license: Apache-2.0\ncompatibility: Needs git\nargument-hint: \"[file]\"\ncontext: fork\nagent: Explore"), @r#"
    a: "b"
      license = "Apache-2.0"
      compatibility = "Needs git"
      other = {argument-hint: Text("[file]"), context: Text("fork"), agent: Text("Explore")}
    "#);
}

#[test]
fn oversize_is_estimated_from_the_size_of_the_file() {
    let text = |bytes: usize| format!("---\nname: a\ndescription: b\n---\n{}", "x".repeat(bytes));
    insta::assert_snapshot!(findings(&text(40_000)), @"1:1-1:1 warning[SF207]: File has about 10007 tokens, the limit is 8000");
    assert_eq!(findings(&text(31_000)), "");
}
