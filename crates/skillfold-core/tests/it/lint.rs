//! The verdicts of the linter.

use skillfold_core::{Folder, Limits, MemorySource, Profile, Severity, lint, lint_skill};
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
fn skill_in_order_has_no_findings() {
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
    2:7-2:72 error[SF301]: Name is 65 characters long, the limit is 64: `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`
    2:7-2:72 error[SF305]: Name `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` differs from the folder's name `a`
    ");
}

#[test]
fn profile_decides_between_error_and_warning() {
    let text = "---\nname: Other\ndescription: b\ntags: [x]\n---\nBody\n";
    insta::assert_snapshot!(check(text, Profile::Lenient), @"
    2:7-2:12 warning[SF303]: Name has upper-case letters: `Other`
    2:7-2:12 warning[SF305]: Name `Other` differs from the folder's name `a`
    4:1-4:5 warning[SF308]: Field `tags` is not in the specification
    ");
    insta::assert_snapshot!(check(text, Profile::Spec), @"
    2:7-2:12 error[SF303]: Name has upper-case letters: `Other`
    2:7-2:12 error[SF305]: Name `Other` differs from the folder's name `a`
    4:1-4:5 error[SF308]: Field `tags` is not in the specification
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
    insta::assert_snapshot!(spec("homepage: x"), @"4:1-4:9 error[SF308]: Field `homepage` is not in the specification");
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
fn findings_over_the_limit_are_counted() {
    let body = "[a](b)\n".repeat(5_000);
    let source = MemorySource::new([(
        "a/SKILL.md",
        format!("---\nname: a\ndescription: b\n---\n{body}"),
    )]);
    let findings = lint_skill(
        &source,
        &Folder::new("a").unwrap(),
        Profile::Spec,
        &Limits::default(),
    )
    .unwrap();
    assert_eq!(findings.len(), 1_001);
    assert_eq!(findings[1_000].code, skillfold_core::Code::MoreFindings);
}

#[test]
fn file_longer_than_is_looked_at_is_reported() {
    let source = MemorySource::new([(
        "a/SKILL.md",
        "---\nname: a\ndescription: b\n---\nBody and more\n",
    )]);
    let limits = Limits {
        read_bytes: 36,
        ..Limits::default()
    };
    let findings = lint_skill(&source, &Folder::new("a").unwrap(), Profile::Spec, &limits).unwrap();
    assert_eq!(
        findings[0].to_string(),
        "warning[SF518]: File has 45 bytes, and only the first 36 were looked at"
    );
}

#[test]
fn size_of_a_file_is_the_same_in_every_finding() {
    let body = "More. ".repeat(20_000);
    let text = format!("---\nname: a\ndescription: b\n---\n{body}");
    let source = MemorySource::new([("a/SKILL.md", &*text)]);
    let tokens = |read_bytes| {
        let limits = Limits {
            read_bytes,
            ..Limits::default()
        };
        let folder = Folder::new("a").unwrap();
        let findings = lint_skill(&source, &folder, Profile::Spec, &limits).unwrap();
        let mut messages = findings.iter().map(ToString::to_string);
        messages.find(|message| message.contains("SF207")).unwrap()
    };
    assert_eq!(tokens(60_000), tokens(1_000_000));
}

#[test]
fn file_without_frontmatter_is_an_error() {
    insta::assert_snapshot!(check("# Title\n", Profile::Lenient), @"1:1-1:1 error[SF001]: Expected `---`, found `# Title`");
}

#[test]
fn links_lead_to_files_of_the_skill() {
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
    6:5-6:5 warning[SF405]: Link leads to no file that can be read: `references/gone.md`
    6:36-6:36 warning[SF405]: Link leads to no file that can be read: `assets/none.png`
    7:5-7:5 warning[SF409]: Link leads out of the folder: `../b/SKILL.md`
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
