//! Which skills a message asks for.

use proptest::prelude::*;
use skillfold_core::catalog::{Toggle, Trust};
use skillfold_core::choose::{Signal, check_triggers, rank};
use skillfold_core::{Catalog, CatalogOptions, Matcher, MemorySource, Root, Scope};
use skillfold_testkit::far_future;

use crate::fake_source::{FakeSource, File, NOW};

/// Returns a catalog of skills, each with the rest of its frontmatter.
fn catalog(skills: &[(&str, &str)]) -> Catalog {
    let files = skills.iter().map(|(name, fields)| {
        let text = format!("---\nname: {name}\ndescription: d\n{fields}\n---\n");
        (format!("{name}/SKILL.md"), text)
    });
    let root = Root::new(Scope::User, "mine", MemorySource::new(files));
    Catalog::discover(vec![root], CatalogOptions::default(), far_future())
}

/// Returns the ids that match, in the order of the catalog.
fn ids(matcher: &Matcher, message: &str) -> Vec<String> {
    let found = matcher.matches(message);
    let ids = found.candidates.iter();
    ids.map(|candidate| candidate.entry.id().to_owned())
        .collect()
}

fn matcher(skills: &[(&str, &str)]) -> Matcher {
    Matcher::new(&catalog(skills))
}

#[test]
fn injects_relevant_skill_only() {
    let matcher = matcher(&[
        ("hello-extended", "triggers: [bonjour, greet]"),
        ("weather", "triggers: [forecast]"),
    ]);
    assert_eq!(ids(&matcher, "Say bonjour to Alice"), ["hello-extended"]);
    assert_eq!(ids(&matcher, "The forecast for Paris"), ["weather"]);
}

/// A capital sigma has two small forms, by where it stands in a word.
#[test]
fn all_forms_of_sigma_are_equal() {
    let catalog = catalog(&[("ΟΔΟΣ", ""), ("b", "triggers: [ΛΟΓΟΣ]")]);
    let matcher = Matcher::new(&catalog);
    for name in ["ΟΔΟΣ", "οδος", "οδοσ"] {
        assert_eq!(ids(&matcher, &format!("${name}")), ["ΟΔΟΣ"], "{name}");
        assert_eq!(catalog.resolve_or_suggest(name).unwrap().id(), "ΟΔΟΣ");
    }
    assert_eq!(ids(&matcher, "ο λόγος, ΛΟΓΟΣ"), ["b"]);
    assert_eq!(ids(&matcher, "λογος"), ["b"]);
}

#[test]
fn no_skills_matched() {
    let matcher = matcher(&[("hello-extended", "triggers: [bonjour]")]);
    assert!(ids(&matcher, "What is 2+2?").is_empty());
    assert!(ids(&matcher, "").is_empty());
}

#[test]
fn keyword_matching_case_insensitive() {
    let matcher = matcher(&[
        ("a", "triggers: [BonJour]"),
        ("b", "triggers:\n  keywords: [ÄPFEL]\n  patterns: ['grüß']"),
    ]);
    assert_eq!(ids(&matcher, "bonjour BONJOUR"), ["a"]);
    assert_eq!(ids(&matcher, "Fünf äpfel"), ["b"]);
    assert_eq!(ids(&matcher, "GRÜß dich"), ["b"]);
}

#[test]
fn partial_keyword_matches() {
    let matcher = matcher(&[("greet", "triggers: [greet]")]);
    assert_eq!(ids(&matcher, "Send greetings to Alice"), ["greet"]);
}

#[test]
fn keywords_and_verbs_match_whole_words() {
    let matcher = matcher(&[("form", "triggers:\n  keywords: [pdf]\n  verbs: [fill in]")]);
    assert_eq!(ids(&matcher, "Open the PDF."), ["form"]);
    assert_eq!(ids(&matcher, "please fill in the blanks"), ["form"]);
    for message in ["pdfs", "mypdf", "pdf_x", "refill in", "fill into"] {
        assert!(ids(&matcher, message).is_empty(), "{message}");
    }
}

#[test]
fn trigger_with_punctuation_matches_literally() {
    let matcher = matcher(&[
        ("cpp", "triggers:\n  keywords: ['c++']"),
        ("dotnet", "triggers:\n  keywords: ['.net']"),
        ("star", "triggers: ['a.*b', '(x)']"),
    ]);
    assert_eq!(ids(&matcher, "Port it to C++."), ["cpp"]);
    assert_eq!(ids(&matcher, "c++20 and c+++"), ["cpp"]);
    assert_eq!(ids(&matcher, "asp.net core"), ["dotnet"]);
    assert_eq!(ids(&matcher, "f(x) = 1"), ["star"]);
    assert!(ids(&matcher, "aXXb, magic++ and .network").is_empty());
}

#[test]
fn skill_without_triggers_never_matches() {
    let matcher = matcher(&[
        ("plain", ""),
        ("empty", "triggers: []"),
        ("blank", "triggers: ['', ' ']"),
    ]);
    assert!(ids(&matcher, "plain empty blank and everything else").is_empty());
}

#[test]
fn skill_matches_once_with_its_best_reason() {
    let matcher = matcher(&[("pdf-forms", "triggers: [pdf, fill in forms]")]);
    let message = "With PDF-Forms fill in forms of a PDF";
    let found = matcher.matches(message);
    assert_eq!(found.candidates.len(), 1);
    let best = &found.candidates[0];
    assert_eq!(
        (best.signal, best.evidence()),
        (Signal::Mention, "pdf-forms")
    );
    assert_eq!(&message[best.range(message)], "PDF-Forms");
    let phrase = matcher.matches("Fill in forms");
    assert_eq!(phrase.candidates[0].signal, Signal::Phrase);
    let part = matcher.matches("Refill in formsheets");
    assert_eq!(part.candidates[0].signal, Signal::Trigger);
}

#[test]
fn name_counts_as_a_mention_only_in_mention_syntax() {
    let matcher = matcher(&[("review", ""), ("pdf-forms", "")]);
    for message in [
        "/review this",
        "use $review",
        "run `review` on it",
        "use the review skill",
        "use skill review, please",
    ] {
        assert_eq!(ids(&matcher, message), ["review"], "{message}");
    }
    for message in [
        "pdf-forms please",
        "use PDF_Forms",
        "(pdf-forms)",
        "pdf-forms.",
    ] {
        assert_eq!(ids(&matcher, message), ["pdf-forms"], "{message}");
    }
    for message in [
        "review this pull request",
        "my-pdf-forms",
        "pdf-forms-2",
        "see src/review/mod.rs",
        "and/or review",
        "pdf-forms.md",
        "prereview skill",
    ] {
        assert!(ids(&matcher, message).is_empty(), "{message}");
    }
}

#[test]
fn keyword_matches_in_scripts_without_spaces() {
    let matcher = matcher(&[
        ("form", "triggers:\n  keywords: [表格, フォーム, pdf]"),
        ("cafe", "triggers:\n  keywords: [cafe]"),
    ]);
    for message in [
        "请帮我填写表格",
        "このフォームに記入して",
        "PDF를 열어줘",
        "この PDFを開く",
    ] {
        assert_eq!(ids(&matcher, message), ["form"], "{message}");
    }
    assert!(ids(&matcher, "cafe\u{301}s").is_empty());
}

#[test]
fn words_that_only_resemble_a_name_are_not_mentions() {
    let matcher = matcher(&[
        ("in the", ""),
        ("--", ""),
        ("review", ""),
        ("pdf-forms", ""),
    ]);
    for message in [
        "what is in the sandbox",
        "cargo test -- x",
        "please review skillfully",
        "upskill review",
        "use $user:pdf-forms",
    ] {
        assert!(ids(&matcher, message).is_empty(), "{message}");
    }
}

#[test]
fn patterns_of_one_skill_are_bounded() {
    let patterns: Vec<String> = (0..80).map(|number| format!("'x{number}y'")).collect();
    let fields = format!("triggers:\n  patterns: [{}]", patterns.join(", "));
    let matcher = matcher(&[("many", &fields)]);
    assert_eq!(ids(&matcher, "x49y"), ["many"]);
    assert!(ids(&matcher, "x50y").is_empty());
    assert_eq!(matcher.findings().len(), 1);
}

#[test]
fn bad_pattern_is_reported_and_the_others_still_match() {
    let matcher = matcher(&[
        (
            "bad",
            "triggers:\n  keywords: [word]\n  patterns: ['(', '(?<=a)b', 'x{1000}{1000}{1000}']",
        ),
        ("good", "triggers:\n  patterns: ['order #\\d+']"),
    ]);
    assert_eq!(ids(&matcher, "Where is order #12?"), ["good"]);
    assert_eq!(ids(&matcher, "a word"), ["bad"]);
    let findings: Vec<_> = matcher
        .findings()
        .into_iter()
        .map(|(entry, finding)| format!("{}: {}", entry.id(), finding.code))
        .collect();
    assert_eq!(findings, ["bad: SF751"; 3]);
}

#[test]
fn common_word_trigger_is_reported() {
    let fields = "triggers: [merge, merge pdf files, review this, kubectl]";
    let catalog = catalog(&[("pdf", fields)]);
    let entry = catalog.entries().next().unwrap();
    let findings = check_triggers(entry.manifest());
    let findings: Vec<_> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(findings, ["info[SF752]: Trigger `merge` is a common word"]);
}

#[test]
fn common_word_match_is_not_weak_with_a_second_trigger() {
    let matcher = matcher(&[("git", "triggers: [merge, kubectl]")]);
    let is_weak = |message: &str| matcher.matches(message).candidates[0].is_weak();
    assert!(is_weak("merge the thing"));
    assert!(!is_weak("merge the thing with kubectl"));
    assert!(!is_weak("use kubectl to merge"));
    assert!(is_weak("merge, and merge again"));
}

#[test]
fn hundreds_of_patterns_match_in_several_sets() {
    let fields: Vec<_> = (0..450)
        .map(|number| {
            (
                format!("s-{number:03}"),
                format!("triggers:\n  patterns: ['code {number}\\b']"),
            )
        })
        .collect();
    let skills: Vec<_> = fields
        .iter()
        .map(|(name, fields)| (&**name, &**fields))
        .collect();
    let matcher = matcher(&skills);
    assert_eq!(ids(&matcher, "code 7 and code 449"), ["s-007", "s-449"]);
}

#[test]
fn skills_a_model_may_not_use_do_not_match() {
    let skills = [
        ("a", "triggers: [word]"),
        ("b", "triggers: [word]\ndisable-model-invocation: true"),
    ];
    assert_eq!(ids(&matcher(&skills), "word"), ["a"]);
    let file = "---\nname: a\ndescription: d\ntriggers: [word]\n---\n";
    let source = MemorySource::new([("a/SKILL.md", file)]);
    let root = Root::new(Scope::Project, "ours", source).with_trust(Trust::Untrusted);
    let untrusted = Catalog::discover(vec![root.clone()], CatalogOptions::default(), far_future());
    assert!(ids(&Matcher::new(&untrusted), "word").is_empty());
    let mut rules = CatalogOptions::default();
    rules.enablement.set("a", Toggle::Off);
    let disabled = Catalog::discover(vec![root.with_trust(Trust::Trusted)], rules, far_future());
    assert!(ids(&Matcher::new(&disabled), "word").is_empty());
}

#[test]
fn rank_is_mention_then_phrase_then_recency_then_id() {
    let matcher = matcher(&[
        ("e-five", "triggers: [word]"),
        ("d-four", "triggers: [word]"),
        ("c-three", "triggers: [word]"),
        ("b-two", "triggers: [a whole phrase]"),
        ("z-named", "triggers: [word]"),
    ]);
    let found = matcher.matches("a word, a whole phrase and z-named");
    let used = |id: &str| match id {
        "e-five" => Some(2),
        "d-four" => Some(1),
        _ => None,
    };
    let ranked = rank(found.candidates, used);
    let ids: Vec<_> = ranked
        .iter()
        .map(|candidate| candidate.entry.id())
        .collect();
    assert_eq!(ids, ["z-named", "b-two", "e-five", "d-four", "c-three"]);
}

#[test]
fn capability_question_is_recognised() {
    let matcher = matcher(&[("a", "triggers: [word]")]);
    assert!(matcher.matches("What can you do?").asks_for_list);
    assert!(!matcher.matches("What is 2+2?").asks_for_list);
}

#[test]
fn refreshed_matcher_equals_a_new_one() {
    let fake = FakeSource::default();
    let put = |name: &str, trigger: &str, inode: u64| {
        let mut file = File::new(name, "d");
        file.text = format!("---\nname: {name}\ndescription: d\ntriggers: [{trigger}]\n---\n");
        file.revision.inode = inode;
        fake.put(name, file);
    };
    for number in 0..100 {
        put(
            &format!("s-{number:03}"),
            &format!("word{number:03}"),
            number,
        );
    }
    let mut catalog = fake.discover(NOW);
    let mut matcher = Matcher::new(&catalog);
    for round in 0..40_u64 {
        put(
            &format!("s-{:03}", round * 2),
            &format!("changed{round}"),
            1_000 + round,
        );
        put(&format!("new-{round}"), "word050", 2_000 + round);
        fake.remove(&format!("s-{:03}", round * 2 + 1));
        catalog = fake.refresh(&catalog, NOW).catalog;
        matcher = matcher.refresh(&catalog);
        let fresh = Matcher::new(&catalog);
        for message in ["word050 word003", "changed3 changed30 word099", "word001"] {
            assert_eq!(
                ids(&matcher, message),
                ids(&fresh, message),
                "{round}: {message}"
            );
        }
    }
}

#[test]
fn refresh_without_changes_leaves_the_matcher_unchanged() {
    let fake = FakeSource::default();
    let put = |name: &str, inode: u64| {
        let mut file = File::new(name, "d");
        file.text = format!("---\nname: {name}\ndescription: d\ntriggers: [{name}word]\n---\n");
        file.revision.inode = inode;
        fake.put(name, file);
    };
    put("first", 1);
    let catalog = fake.discover(NOW);
    let matcher = Matcher::new(&catalog);
    put("second", 2);
    let catalog = fake.refresh(&catalog, NOW).catalog;
    let matcher = matcher.refresh(&catalog).refresh(&catalog);
    assert_eq!(ids(&matcher, "firstword secondword"), ["first", "second"]);
    // No text of a skill is in what a log may hold.
    let shown = format!("{matcher:?}");
    assert_eq!(shown, "Matcher { layers: [1, 1], .. }");
}

#[test]
fn patterns_over_the_size_limit_are_split_into_several_sets() {
    let fields: Vec<_> = (0..40)
        .map(|number| {
            (
                format!("s-{number:03}"),
                format!("triggers:\n  patterns: ['order {number}: [a-z]{{200}}']"),
            )
        })
        .collect();
    let skills: Vec<_> = fields
        .iter()
        .map(|(name, fields)| (&**name, &**fields))
        .collect();
    let matcher = matcher(&skills);
    assert_eq!(matcher.findings().len(), 0);
    for number in [0, 19, 20, 39] {
        let message = format!("order {number}: {}", "a".repeat(200));
        assert_eq!(ids(&matcher, &message), [format!("s-{number:03}")]);
    }
}

proptest! {
    #[test]
    fn literal_matching_equals_naive_substring_search(
        triggers in proptest::collection::vec("[a-c+ .]{1,4}", 1..12),
        message in "[a-cA-C+ ._]{0,40}",
    ) {
        let fields: Vec<_> = triggers.iter().enumerate().map(|(number, trigger)| {
            (format!("s{number:02}"), format!("triggers: ['{trigger}']"))
        }).collect();
        let skills: Vec<_> = fields.iter().map(|(name, fields)| (&**name, &**fields)).collect();
        let expected: Vec<_> = triggers.iter().enumerate()
            .filter(|(_, trigger)| !trigger.trim().is_empty())
            .filter(|(_, trigger)| message.to_lowercase().contains(&trigger.trim().to_lowercase()))
            .map(|(number, _)| format!("s{number:02}"))
            .collect();
        prop_assert_eq!(ids(&matcher(&skills), &message), expected);
    }

    #[test]
    fn hostile_message_is_matched_without_a_panic(message in "\\PC{0,200}") {
        let matcher = matcher(&[
            ("pdf-forms", "triggers:\n  keywords: [ä, 'c++', İ]\n  patterns: ['.*x', 'é+']"),
            ("review", "triggers: [ß, '…', 'ffi']"),
        ]);
        for candidate in matcher.matches(&message).candidates {
            prop_assert!(message.get(candidate.range(&message)).is_some());
        }
    }
}

#[test]
fn truncating_a_long_message_creates_no_match() {
    let catalog = catalog(&[(
        "cut",
        "triggers: { keywords: [catalyst], patterns: ['delete\\s+everything'] }",
    )]);
    let matcher = Matcher::new(&catalog);
    for at in 0..40 {
        let filled = "x".repeat(32 * 1024 - 20 + at);
        let long = format!("{filled} catalysts {}", "word ".repeat(20_000));
        assert!(matcher.matches(&long).candidates.is_empty(), "{at}");
        let filled = "x".repeat(4 * 1024 - 20 + at);
        let long = format!(
            "{filled} delete {} everything else {filled}",
            "word ".repeat(4_000)
        );
        assert!(matcher.matches(&long).candidates.is_empty(), "{at}");
    }
}

#[test]
fn end_of_a_long_message_is_matched() {
    let catalog = catalog(&[(
        "end",
        "triggers: { keywords: [catalyst], patterns: ['order #\\d+'] }",
    )]);
    let matcher = Matcher::new(&catalog);
    let long = "word ".repeat(40_000);
    for last in ["a catalyst", "order #12"] {
        let message = format!("{long}{last}");
        let found = matcher.matches(&message);
        let place = found.candidates[0].range(&message);
        assert!(last.contains(&message[place]), "{last}");
        assert!(found.unread.is_some() && found.unread_by_patterns.is_some());
    }
}
