//! The verdicts of the linter.

use skillfold_core::author::{
    ClientField, DESCRIPTION_PLACEHOLDER, FieldForm, FieldLevel, lint, lint_skill,
};
use skillfold_core::diagnostic::Severity;
use skillfold_core::read::Profile;
use skillfold_core::source::Folder;
use skillfold_core::text::is_invisible;
use skillfold_core::{Code, Limits, MemorySource};
use skillfold_testkit::files;

use crate::show::diagnostic;

fn check(text: &str, profile: Profile) -> String {
    lint(text.as_bytes(), "a", profile)
        .iter()
        .map(diagnostic)
        .collect()
}

fn spec(fields: &str) -> String {
    check(
        &format!("---\nname: a\ndescription: b\n{fields}\n---\nBody\n"),
        Profile::Spec,
    )
}

#[test]
fn valid_skill_has_no_findings() {
    let text = "---\nname: a\ndescription: b\nlicense: MIT\ncompatibility: Needs git\nallowed-tools: Read\nmetadata:\n  author: \"me\"\n---\nBody\n";
    assert_eq!(check(text, Profile::Spec), "");
    assert_eq!(check(text, Profile::Lenient), "");
}

#[test]
fn name_rules_of_the_specification() {
    let name = |name: &str| {
        check(
            &format!("---\nname: {name}\ndescription: b\n---\nBody\n"),
            Profile::Spec,
        )
    };
    insta::assert_snapshot!(name("B"), @"
    2:7-2:8 error[SF303]: Name has upper-case letters: `B`
    2:7-2:8 error[SF305]: Name `B` differs from the folder's name `a`
    ");
    insta::assert_snapshot!(name("-a"), @"
    2:7-2:9 error[SF304]: Name has a hyphen at an end or two in a row: `-a`
    2:7-2:9 error[SF305]: Name `-a` differs from the folder's name `a`
    ");
    insta::assert_snapshot!(name("a--b"), @"
    2:7-2:11 error[SF304]: Name has a hyphen at an end or two in a row: `a--b`
    2:7-2:11 error[SF305]: Name `a--b` differs from the folder's name `a`
    ");
    insta::assert_snapshot!(name("a_b"), @"
    2:7-2:10 error[SF302]: Name has the character `_`: `a_b`
    2:7-2:10 error[SF305]: Name `a_b` differs from the folder's name `a`
    ");
    insta::assert_snapshot!(name("claude-größe"), @"
    2:7-2:19 error[SF305]: Name `claude-größe` differs from the folder's name `a`
    2:7-2:19 info[SF402]: Name has letters outside a to z: `claude-größe`
    2:7-2:19 info[SF408]: Name contains `claude`: `claude-größe`
    ");
    insta::assert_snapshot!(name(&"x".repeat(65)), @"
    2:7-2:72 error[SF301]: Name is 65 characters long, the limit is 64: `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`; the folder's name `a` is used
    ");
}

#[test]
fn profile_decides_between_error_and_warning() {
    let text = "---\nname: Other\ndescription: b\nauthor: me\n---\nBody\n";
    insta::assert_snapshot!(check(text, Profile::Lenient), @"
    2:7-2:12 warning[SF303]: Name has upper-case letters: `Other`
    2:7-2:12 warning[SF305]: Name `Other` differs from the folder's name `a`
    4:1-4:7 warning[SF308]: Field `author` is not in the specification
    ");
    insta::assert_snapshot!(check(text, Profile::Spec), @"
    2:7-2:12 error[SF303]: Name has upper-case letters: `Other`
    2:7-2:12 error[SF305]: Name `Other` differs from the folder's name `a`
    4:1-4:7 error[SF308]: Field `author` is not in the specification
    ");
}

#[test]
fn repair_is_an_error_in_the_strict_profile() {
    let text = "---\nname: a\ndescription: b: c\n---\nBody\n";
    let worst = |profile| {
        lint(text.as_bytes(), "a", profile)
            .iter()
            .map(|finding| finding.severity)
            .max()
    };
    assert_eq!(worst(Profile::Lenient), Some(Severity::Warning));
    assert_eq!(worst(Profile::Spec), Some(Severity::Error));
}

#[test]
fn field_rules_of_the_specification() {
    insta::assert_snapshot!(spec("author: x"), @"4:1-4:7 error[SF308]: Field `author` is not in the specification");
    insta::assert_snapshot!(spec("metadata:\n  version: 1.0\n  nested:\n    x: y\n  on: true"), @"
    5:12-5:15 warning[SF309]: Value of `version` under `metadata` is a number, not a string: `1.0`
    7:5-7:9 error[SF309]: Value of `nested` under `metadata` is not a string
    8:7-8:11 warning[SF309]: Value of `on` under `metadata` is true or false, not a string: `true`
    ");
    insta::assert_snapshot!(spec("metadata: text"), @"
    4:11-4:15 warning[SF201]: Field `metadata` has an unexpected value
    4:11-4:15 error[SF310]: Field `metadata` is not a mapping
    ");
    insta::assert_snapshot!(spec("allowed-tools: [Read]\nlicense: {name: MIT}"), @"
    4:17-4:21 error[SF310]: Field `allowed-tools` is not a string
    5:11-5:20 warning[SF201]: Field `license` has an unexpected value
    5:11-5:20 error[SF310]: Field `license` is not a string
    ");
    insta::assert_snapshot!(spec(&format!("compatibility: {}", "x".repeat(501))), @"4:16-4:517 error[SF307]: Field `compatibility` is 501 characters long; 1 to 500 are allowed");
    insta::assert_snapshot!(spec("compatibility: ''"), @"4:16-4:18 error[SF307]: Field `compatibility` is 0 characters long; 1 to 500 are allowed");
}

#[test]
fn field_that_a_known_client_reads_is_never_advised_to_move() {
    for field in ClientField::ALL {
        let value = match (field.name, field.form) {
            ("version", _) => "1.0.0",
            ("toolsets", _) => "['a.py:b']",
            ("engines", _) => "'x 1.0'",
            (_, FieldForm::YesOrNo) => "true",
            (_, FieldForm::List) => "[x]",
            (_, FieldForm::Mapping) => "{x: y}",
            _ => "'x'",
        };
        let line = match field.level {
            FieldLevel::Metadata => format!("metadata:\n  {}: {value}", field.name),
            _ => format!("{}: {value}", field.name),
        };
        let text = format!("---\nname: a\ndescription: b\n{line}\n---\nBody\n");
        let codes = |profile| {
            lint(text.as_bytes(), "a", profile)
                .into_iter()
                .map(|finding| finding.code)
                .collect::<Vec<_>>()
        };
        // A list of tools is good for every client and not a string.
        let lenient = if field.name == "allowed-tools" {
            vec![Code::FieldForm]
        } else {
            vec![]
        };
        assert_eq!(codes(Profile::Lenient), lenient, "{text}");
        let strict = codes(Profile::Spec);
        let may_move = field.level == FieldLevel::Either && field.clients == ["Skillfold"];
        assert_eq!(strict.contains(&Code::UnexpectedField), may_move, "{text}");
    }
    assert!(!Code::ClientField.hint().contains("metadata"));
    insta::assert_snapshot!(spec("disable-model-invocation: true\ntags: [x]\nuserInvocable: false\ntriggers: [a]"), @"
    4:1-4:25 error[SF311]: Field `disable-model-invocation` is not in the specification; read by Claude Code, Cursor, OpenClaw, Skillfold and VS Code
    5:1-5:5 error[SF308]: Field `tags` is not in the specification; Skillfold reads it under `metadata` too
    6:1-6:14 error[SF308]: Field `userInvocable` is not in the specification; `user-invocable` is read by Claude Code, OpenClaw and VS Code
    7:1-7:9 error[SF311]: Field `triggers` is not in the specification; read by OpenHands and Skillfold
    ");
}

#[test]
fn template_placeholder_text_is_reported() {
    for description in [
        DESCRIPTION_PLACEHOLDER,
        "TODO: what it does",
        "'[TODO: say it]'",
    ] {
        let text = format!("---\nname: a\ndescription: {description}\n---\nBody\n");
        assert!(
            check(&text, Profile::Spec).contains("warning[SF411]"),
            "{description}"
        );
    }
    let text = "---\nname: a\ndescription: Lists every TODO\n---\nTODO: never mind\n";
    assert_eq!(check(text, Profile::Spec), "");
}

#[test]
fn description_rules() {
    let description = |text: &str| {
        check(
            &format!("---\nname: a\ndescription: \"{text}\"\n---\nBody\n"),
            Profile::Spec,
        )
    };
    insta::assert_snapshot!(description(&"x".repeat(1025)), @"
    3:14-3:1041 error[SF306]: Description is 1025 characters long, the limit is 1024
    3:14-3:1041 info[SF401]: Description is 1025 characters long; some clients accept 500
    ");
    insta::assert_snapshot!(description(&"x".repeat(1024)), @"3:14-3:1040 info[SF401]: Description is 1024 characters long; some clients accept 500");
    insta::assert_snapshot!(description(&"x".repeat(501)), @"3:14-3:517 info[SF401]: Description is 501 characters long; some clients accept 500");
    assert_eq!(description(&"x".repeat(500)), "");
    insta::assert_snapshot!(description("uses <xml> tags"), @"3:14-3:31 info[SF407]: Description has angle brackets");
    insta::assert_snapshot!(description("hidden \u{200b} text"), @"3:14-3:29 warning[SF406]: Invisible character U+200B");
}

#[test]
fn body_rules() {
    insta::assert_snapshot!(check("---\nname: a\ndescription: b\n---\n\n", Profile::Spec), @"5:1-5:1 warning[SF403]: Skill has no instructions");
    insta::assert_snapshot!(check(&format!("---\nname: a\ndescription: b\n---\n{}", "x\n".repeat(497)), Profile::Spec), @"5:1-5:1 info[SF404]: File has 501 lines, more than 500");
    insta::assert_snapshot!(check("---\nname: a\ndescription: b\n---\nfine\nright\u{202e}left\n", Profile::Spec), @"6:6-6:6 warning[SF406]: Invisible character U+202E");
    insta::assert_snapshot!(check(&format!("---\nname: a\ndescription: b\n---\n{}\n", "x".repeat(40_000)), Profile::Spec), @"1:1-1:1 warning[SF207]: File has about 10008 tokens, the limit is 8000");
}

#[test]
fn invisible_and_control_characters_are_reported_anywhere() {
    for c in ('\0'..=char::MAX).filter(|c| is_invisible(*c)) {
        let body = format!("---\nname: a\ndescription: b\n---\nfine\nab{c}cd\n");
        let hidden = format!(
            "6:3-6:3 warning[SF406]: Invisible character U+{:04X}\n",
            u32::from(c)
        );
        assert_eq!(check(&body, Profile::Lenient), hidden);
        let fields = format!("---\nname: a\ndescription: b\nmetadata:\n  x: \"{c}\"\n---\nBody\n");
        assert!(check(&fields, Profile::Lenient).contains("SF406"), "{c:?}");
        let comment = format!("---\nname: a\ndescription: b # {c}\n---\nBody\n");
        assert!(check(&comment, Profile::Lenient).contains("SF406"), "{c:?}");
    }
    for c in ('\0'..='\u{9f}').filter(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        let body = format!("---\nname: a\ndescription: b\n---\nfine\nab{c}cd\n");
        let control = format!(
            "6:3-6:3 warning[SF410]: Control character U+{:04X}\n",
            u32::from(c)
        );
        assert_eq!(check(&body, Profile::Lenient), control);
    }
}

#[test]
fn hidden_sentence_is_one_finding_with_its_length() {
    let tags: String = "Ignore all"
        .chars()
        .filter_map(|c| char::from_u32(0xe_0000 + u32::from(c)))
        .collect();
    insta::assert_snapshot!(check(&format!("---\nname: a\ndescription: b\n---\nDo\u{200b} it.{tags}\n\u{1b}[8mx\u{8}\r\n"), Profile::Lenient), @"
    5:3-5:3 warning[SF406]: 11 invisible characters, such as U+200B, U+E0049, U+E0067, U+E006E
    6:1-6:1 warning[SF410]: 2 control characters, such as U+001B, U+0008
    ");
    insta::assert_snapshot!(check("---\nname: a\ndescription: b\ncompatibility: \"x\\u200b\"\n---\nDo it.\n", Profile::Lenient), @"4:16-4:25 warning[SF406]: Invisible character U+200B");
}

#[test]
fn emoji_and_joined_letters_are_not_hidden_text() {
    let text = "---\nname: a\ndescription: ⚠\u{fe0f} b\n---\n👨\u{200d}👩\u{200d}👧 1\u{fe0f}\u{20e3} می\u{200c}خواهم\n";
    assert_eq!(check(text, Profile::Spec), "");
}

#[test]
fn findings_over_the_limit_are_counted() {
    let check = |body: String| {
        let source = MemorySource::new([(
            "a/SKILL.md",
            format!("---\nname: a\ndescription: b\n---\n{body}"),
        )]);
        let folder = Folder::new("a").unwrap();
        let limits = Limits::default();
        let findings = lint_skill(&source, &folder, Profile::Spec, &limits).unwrap();
        assert_eq!(findings.len(), 1_001);
        findings[1_000].to_string()
    };
    let links = |count: usize| check("[a](b) ".repeat(count));
    insta::assert_snapshot!(links(4_000), @"warning[SF514]: 3000 more findings are not listed");
    insta::assert_snapshot!(links(50_000), @"warning[SF514]: At least 9000 more findings are not listed");
}

#[test]
fn escaping_link_is_reported_after_any_number_of_dead_links() {
    let body = format!("{}é [a](../c)\n", "[a](b)\n[a](b) ".repeat(20_000));
    let source = MemorySource::new([(
        "a/SKILL.md",
        format!("---\nname: a\ndescription: b\n---\n{body}"),
    )]);
    let folder = Folder::new("a").unwrap();
    let findings = lint_skill(&source, &folder, Profile::Spec, &Limits::default()).unwrap();
    let outside = findings
        .iter()
        .find(|finding| finding.code == Code::LinkOutside);
    let span = outside.unwrap().span.unwrap();
    assert_eq!((span.start.line, span.start.column), (20_005, 10));
}

#[test]
fn file_longer_than_the_read_limit_is_reported() {
    let source = MemorySource::new([(
        "a/SKILL.md",
        "---\nname: a\ndescription: b\n---\nBody and more\n",
    )]);
    let limits = Limits::default().with_read_bytes(36);
    let findings = lint_skill(&source, &Folder::new("a").unwrap(), Profile::Spec, &limits).unwrap();
    assert_eq!(
        findings[0].to_string(),
        "warning[SF518]: File has 45 bytes, and only the first 36 were checked"
    );
}

#[test]
fn size_of_a_file_is_the_same_in_every_finding() {
    let body = "More. ".repeat(20_000);
    let text = format!("---\nname: a\ndescription: b\n---\n{body}");
    let source = MemorySource::new([("a/SKILL.md", &*text)]);
    let tokens = |read_bytes| {
        let limits = Limits::default().with_read_bytes(read_bytes);
        let folder = Folder::new("a").unwrap();
        let findings = lint_skill(&source, &folder, Profile::Spec, &limits).unwrap();
        let mut messages = findings.iter().map(ToString::to_string);
        messages.find(|message| message.contains("SF207")).unwrap()
    };
    assert_eq!(tokens(60_000), tokens(1_000_000));
}

#[test]
fn file_without_frontmatter_is_an_error() {
    insta::assert_snapshot!(check("# Title\n", Profile::Lenient), @"
    1:1-1:1 error[SF001]: Expected `---`, found `# Title`
    1:1-1:1 warning[SF116]: Description is the first sentence of the instructions: `Title`
    ");
}

#[test]
fn links_are_checked_against_the_files_of_the_skill() {
    let source = MemorySource::new(files(
        "
        //- a/SKILL.md
        ---
        name: a
        description: b
        ---
        See [forms](references/forms.md#top), [folder](references/), [here](./references/forms.md).
        See [gone](references/gone.md) and ![picture](assets/none.png).
        See [out](../b/SKILL.md), [web](https://example.org/x.md), [anchor](#top), [root](/etc/hosts), [mail](mailto:a@b.c).
        See <me@example.org>, [self](./), [again](references/../SKILL.md), [decoded](f%C3%BCr.md), [odd](a:b.md), [double](references//forms.md).
        `[code](no/link.md)` and [placeholder]({path}/x.md)
        //- a/references/forms.md
        x
        //- a/für.md
        x
    ",
    ));
    let findings = lint_skill(
        &source,
        &Folder::new("a").unwrap(),
        Profile::Spec,
        &Limits::default(),
    )
    .unwrap();
    insta::assert_snapshot!(findings.iter().map(diagnostic).collect::<String>(), @"
    6:5-6:5 warning[SF405]: Link target is missing or unreadable: `references/gone.md`
    6:36-6:36 warning[SF405]: Link target is missing or unreadable: `assets/none.png`
    7:5-7:5 warning[SF409]: Link points outside the skill's folder: `../b/SKILL.md`
    ");
    assert!(
        lint_skill(
            &source,
            &Folder::new("none").unwrap(),
            Profile::Spec,
            &Limits::default()
        )
        .is_err()
    );
}
