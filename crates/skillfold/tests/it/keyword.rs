//! `matching = "keyword"`: triggers alone bring instructions, as an agent with nothing but triggers would have it.

use skillfold::core::disclose::Turn;
use skillfold::core::disclose::{SkillOutcome, Tier};
use skillfold::core::{ContextLifetime, MemorySource};
use skillfold::{Environment, Host, Session};

const GREET: (&str, &str, &str) = ("greet", "triggers: [bonjour, greet]", "Say it in French.");
const WEATHER: (&str, &str, &str) = ("weather", "triggers: [forecast]", "Look outside.");
/// It has no triggers, and what it is about is plain.
const INVOICES: (&str, &str, &str) = ("write-invoices", "", "Number each invoice.");

const SILENT: [(&str, &str); 3] = [
    ("disclosure", "triggered"),
    ("style", "markdown"),
    ("breadcrumb", "off"),
];

/// Begins a conversation by settings, each skill with its triggers and its instructions.
fn session(matching: &str, settings: &[(&str, &str)], of: &[(&str, &str, &str)]) -> Session {
    session_that(ContextLifetime::History, matching, settings, of)
}

fn session_that(
    lives: ContextLifetime,
    matching: &str,
    settings: &[(&str, &str)],
    of: &[(&str, &str, &str)],
) -> Session {
    let files = of.iter().map(|(name, triggers, body)| {
        let about = name.replace('-', " ");
        let text = format!("---\nname: {name}\ndescription: Helps to {about} for customers\n{triggers}\n---\n{body}\n");
        (format!("{name}/SKILL.md"), text)
    });
    let mut host = Host::new(Environment::new("/nowhere")).set("matching", matching);
    for (key, value) in settings {
        host = host.set(*key, *value);
    }
    let skills = host.bundled("built in", MemorySource::new(files));
    let skills = skills.discover().unwrap().skills;
    let policy = skills.report().settings.policy();
    skills.session(policy, lives)
}

/// Returns what a request adds in a conversation that has said nothing yet.
fn say(of: &[(&str, &str, &str)], request: &str) -> Turn {
    session("keyword", &SILENT, of).turn(request)
}

#[test]
fn text_is_the_heading_and_matched_skills_in_catalog_order() {
    let phrase = (
        "zz-letters",
        "triggers: [forecast for alice]",
        "Write letters.",
    );
    let turn = say(
        &[phrase, WEATHER, GREET],
        "Greet her: the forecast for Alice",
    );
    assert_eq!(
        turn.text.as_deref(),
        Some(
            "\n\n## Available Skills\n\n# greet\nSay it in French.\n\n\n# weather\nLook outside.\n\n\n# zz-letters\nWrite letters.\n"
        )
    );
    assert_eq!(turn.tier, Tier::Full);
}

#[test]
fn request_without_a_trigger_gets_nothing() {
    let of = [GREET, WEATHER, INVOICES];
    for request in [
        "What is 2+2?",
        "Calculate pi to 10 digits",
        "Write invoices for customers",
        "Use the `write-invoices` skill",
        "/write-invoices for May",
        "",
    ] {
        let turn = say(&of, request);
        assert_eq!((turn.text, turn.tier), (None, Tier::Nothing), "{request}");
        assert_eq!((turn.tokens, turn.decisions.len()), (0, 0), "{request}");
    }
    // What a search or a name asks for is given where they count.
    for request in [
        "Write invoices for customers",
        "Use the `write-invoices` skill",
    ] {
        let turn = session("hybrid", &SILENT, &of).turn(request);
        assert!(
            turn.text.unwrap().contains("Number each invoice."),
            "{request}"
        );
    }
}

#[test]
fn skill_without_triggers_is_listed_in_breadcrumbs_and_never_given() {
    let of = [GREET, INVOICES];
    let settings = [("disclosure", "triggered"), ("style", "tiers")];
    let turn = session("keyword", &settings, &of).turn("What is 2+2?");
    insta::assert_snapshot!(turn.text.unwrap(), @"
    ## Available Skills
    - **write-invoices**: Helps to write invoices for customers

    Call `load_skill` with a name to get its documentation.

    [1 skills available]
    ");
    // Where search is on it finds the skill, and the list would say nothing new.
    let turn = session("hybrid", &settings, &of).turn("What is 2+2?");
    assert_eq!(turn.text.as_deref(), Some("[2 skills available]"));
    for triggers in ["triggers: []", "triggers:", "triggers: ['']"] {
        let of = [("write-invoices", triggers, "Number each invoice.")];
        for style in ["markdown", "tiers", "xml-rules"] {
            for disclosure in ["triggered", "hybrid"] {
                let settings = [("disclosure", disclosure), ("style", style)];
                let mut session = session("keyword", &settings, &of);
                let listing = session.listing().text;
                let told = session.turn("Write invoices, /write-invoices").text;
                let told = listing + &told.unwrap_or_default();
                assert!(
                    !told.contains("Number each"),
                    "{triggers} {style} {disclosure}"
                );
            }
        }
    }
}

#[test]
fn at_most_three_skills_are_given_and_the_rest_omitted() {
    let names = ["a", "b", "c", "d", "e"];
    let of = names.map(|name| (name, "triggers: [report]", "Write it."));
    let turn = say(&of, "the report");
    assert_eq!(
        turn.text.as_deref(),
        Some("\n\n## Available Skills\n\n# a\nWrite it.\n\n\n# b\nWrite it.\n\n\n# c\nWrite it.\n")
    );
    // The host is told of all that matched.
    let told = turn.decisions.iter().map(|one| one.outcome.as_str());
    assert_eq!(
        told.collect::<Vec<_>>(),
        ["given", "given", "given", "later", "later"]
    );
    let one = [SILENT.as_slice(), &[("max_per_request", "1")]].concat();
    let turn = session("keyword", &one, &of).turn("the report");
    assert_eq!(
        turn.text.as_deref(),
        Some("\n\n## Available Skills\n\n# a\nWrite it.\n")
    );
}

#[test]
fn triggers_match_in_any_case_inside_words_and_with_punctuation() {
    let punctuated = ("cpp", "triggers: [c++, '.net', 'what?!']", "Compile it.");
    for request in [
        "BONJOUR",
        "regreeting",
        "I write C++",
        "an ASP.NET page",
        "WHAT?!",
    ] {
        let turn = say(&[GREET, punctuated], request);
        assert_eq!(turn.decisions.len(), 1, "{request}");
        assert!(
            matches!(turn.decisions[0].outcome, SkillOutcome::Given(..)),
            "{request}"
        );
    }
    for request in ["c plus plus", "bon jour", "net", "what"] {
        assert_eq!(say(&[GREET, punctuated], request).text, None, "{request}");
    }
}

#[test]
fn trigger_match_takes_precedence_over_a_mention() {
    let turn = say(
        &[("greet-all", "triggers: [bonjour]", "Greet.")],
        "greet-all: bonjour",
    );
    let [decision] = &turn.decisions[..] else {
        panic!("{turn:?}");
    };
    assert_eq!(
        (decision.signal.as_str(), &*decision.evidence),
        ("trigger", "bonjour")
    );
}

#[test]
fn instructions_last_only_while_requests_match() {
    // What is given lives in one call, as where a provider is asked before each.
    let mut session = session_that(
        ContextLifetime::Transient,
        "keyword",
        &SILENT,
        &[GREET, WEATHER],
    );
    for (request, is_given) in [
        ("Say bonjour", true),
        ("What is 2+2?", false),
        ("Say bonjour again", true),
        ("Thanks", false),
        ("The forecast?", true),
    ] {
        let text = session.turn(request).text;
        assert_eq!(text.is_some(), is_given, "{request}: {text:?}");
    }
}

#[test]
fn capability_question_gets_the_listing_without_instructions() {
    for matching in ["keyword", "hybrid"] {
        let turn = session(matching, &SILENT, &[GREET, WEATHER]).turn("What can you do?");
        let text = turn.text.unwrap();
        assert!(
            text.contains("- **greet**") && text.contains("- **weather**"),
            "{text}"
        );
        assert!(!text.contains("Say it in French."), "{text}");
        assert_eq!((turn.tier, turn.decisions.len()), (Tier::Registry, 0));
    }
}
