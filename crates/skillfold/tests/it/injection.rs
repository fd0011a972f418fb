//! Instructions come with the request that needs them, and with no other.

use skillfold::core::choose::Signal;
use skillfold::core::disclose::Turn;
use skillfold::core::disclose::{Breadcrumb, Mode, SkillOutcome, Style, Tier};
use skillfold::core::{ContextLifetime, MemorySource, Policy};
use skillfold::{Environment, Host, Session, Settings, Skills, settings::Matching};

const GREET: (&str, &str, &str) = ("greet", "triggers: [bonjour, greet]", "Say it in French.");
const WEATHER: (&str, &str, &str) = ("weather", "triggers: [forecast]", "Look outside.");

/// Returns skills, each with its triggers and its instructions.
fn skills(skills: &[(&str, &str, &str)]) -> Skills {
    let files = skills.iter().map(|(name, triggers, body)| {
        let text =
            format!("---\nname: {name}\ndescription: About {name}\n{triggers}\n---\n{body}\n");
        (format!("{name}/SKILL.md"), text)
    });
    let source = MemorySource::new(files);
    let host = Host::new(Environment::new("/nowhere")).bundled("built in", source);
    host.discover().unwrap().skills
}

/// Returns the policy that puts instructions into a request that matches, and nothing into any other.
fn silent() -> Policy {
    Policy::default()
        .with_mode(Mode::Triggered)
        .with_style(Style::Markdown)
        .with_breadcrumb(Breadcrumb::Off)
}

fn session(of: &[(&str, &str, &str)]) -> Session {
    skills(of).session(silent(), ContextLifetime::History)
}

fn say(of: &[(&str, &str, &str)], message: &str) -> Turn {
    session(of).turn(message)
}

#[test]
fn injects_relevant_skill_only() {
    let turn = say(&[GREET, WEATHER], "What is the forecast?");
    assert_eq!(turn.tier, Tier::Full);
    let text = "\n\n## Available Skills\n\n# weather\nLook outside.\n";
    assert_eq!(turn.text.as_deref(), Some(text));
}

#[test]
fn no_skills_matched_returns_empty_context() {
    let turn = say(&[GREET, WEATHER], "What is 2+2?");
    assert_eq!((turn.text, turn.tokens), (None, 0));
    assert_eq!((turn.tier, turn.decisions.len()), (Tier::Nothing, 0));
}

#[test]
fn multiple_skills_matched_respects_max_limit() {
    let names = ["a", "b", "c", "d", "e"];
    let of = names.map(|name| (name, "triggers: [report]", "Write it."));
    let turn = say(&of, "the report");
    let given = |turn: &Turn| {
        let given = turn.decisions.iter();
        let given = given.filter(|one| matches!(one.outcome, SkillOutcome::Given(..)));
        given.map(|one| one.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(given(&turn), ["a", "b", "c"]);
    let one = silent().with_max_skills(1);
    let turn = skills(&of)
        .session(one, ContextLifetime::History)
        .turn("the report");
    assert_eq!(given(&turn), ["a"]);
    assert_eq!(turn.text.unwrap().matches("Write it.").count(), 1);
}

#[test]
fn keyword_matching_case_insensitive() {
    for message in ["BONJOUR Alice", "Bonjour Alice", "bonjour alice"] {
        assert!(say(&[GREET], message).text.is_some(), "{message}");
    }
    let upper = ("greet", "triggers: [BonJour]", "Say it.");
    assert!(say(&[upper], "bonjour").text.is_some());
}

#[test]
fn partial_keyword_matches() {
    for message in ["Send my greetings", "regreet", "bonjour!", "a greeter"] {
        assert!(say(&[GREET], message).text.is_some(), "{message}");
    }
    assert!(say(&[GREET], "gre et").text.is_none());
}

#[test]
fn loader_returns_registry() {
    let skills = skills(&[GREET, WEATHER]);
    let catalog = skills.catalog();
    let ids: Vec<_> = catalog.entries().map(|entry| entry.id()).collect();
    assert_eq!(ids, ["greet", "weather"]);
    // Nothing was loaded to know of them.
    assert_eq!(skills.cache_stats().misses, 0);
}

#[test]
fn registry_contains_triggers_and_instructions() {
    let skills = skills(&[GREET]);
    let catalog = skills.catalog();
    let triggers = catalog.get("greet").unwrap().manifest().triggers();
    insta::assert_snapshot!(format!("{:?}", triggers.unwrap()), @r#"Flat(["bonjour", "greet"])"#);
    assert_eq!(
        skills.load("greet", "").unwrap().body(),
        "Say it in French.\n"
    );
}

#[test]
fn provider_created_iff_skills_exist() {
    for policy in [silent(), Policy::default(), Policy::triggered()] {
        let mut without = skills(&[]).session(policy.clone(), ContextLifetime::History);
        assert_eq!(without.listing().text, "");
        for request in ["Say bonjour", "What can you do?", ""] {
            let turn = without.turn(request);
            assert_eq!((turn.text, turn.tokens), (None, 0), "{request}");
        }
        let mut with = skills(&[GREET]).session(policy, ContextLifetime::History);
        assert!(!with.listing().text.is_empty());
        assert!(with.turn("Say bonjour").text.is_some());
    }
}

#[test]
fn skill_instructions_not_present_for_irrelevant_request() {
    let mut session = session(&[GREET, WEATHER]);
    for request in ["What is 2+2?", "Calculate pi to 10 digits", ""] {
        assert_eq!(session.turn(request).text, None, "{request}");
    }
    assert_eq!(session.state().tokens_spent(), 0);
}

#[test]
fn skill_instructions_present_for_relevant_request() {
    let text = say(&[GREET, WEATHER], "Say bonjour to Alice").text.unwrap();
    assert!(text.contains("# greet\nSay it in French."), "{text}");
    assert!(!text.contains("Look outside."), "{text}");
}

#[test]
fn token_usage_lower_without_skills() {
    let mut session = session(&[GREET, WEATHER]);
    let (unrelated, related) = (session.turn("What is 2+2?"), session.turn("Say bonjour"));
    assert_eq!(unrelated.tokens, 0);
    assert!(related.tokens > 0);
    assert_eq!(session.state().tokens_spent(), related.tokens);
}

#[test]
fn matched_skills_are_injected_in_order() {
    let message = "Greet Alice, then tell her the forecast";
    let text = say(&[WEATHER, GREET], message).text.unwrap();
    let (greet, weather) = (text.find("# greet\n"), text.find("# weather\n"));
    assert!(greet.is_some() && greet < weather, "{text}");
}

#[test]
fn one_call_before_each_request_returns_text_or_nothing() {
    let mut session = session(&[GREET, WEATHER]);
    let requests = ["Hi", "Say bonjour", "What is 2+2?", "The forecast?"];
    let told = requests.map(|request| session.turn(request).text);
    assert_eq!(
        told.each_ref().map(Option::is_some),
        [false, true, false, true]
    );
    assert_eq!(session.state().turns(), 4);
}

#[test]
fn latest_message_is_matched() {
    let mut session = session(&[GREET, WEATHER]);
    assert!(session.turn("Say bonjour").text.is_some());
    // What the earlier message asked for is not asked for by this one.
    let turn = session.turn("And what is 2+2?");
    assert_eq!((turn.text, turn.decisions.len()), (None, 0));
    // Without a message there is nothing to match.
    let turn = session.turn("");
    assert_eq!((turn.text, turn.decisions.len()), (None, 0));
}

#[test]
fn other_host_messages_are_neither_matched_nor_changed() {
    let skills = skills(&[GREET, WEATHER]);
    let mut session = skills.session(Policy::default(), ContextLifetime::History);
    // A host's own prompt and its memory speak of skills too; only the request is looked at.
    let own = ["You are kind.", "Remember: Alice likes bonjour."];
    let mut messages: Vec<String> = own.map(str::to_owned).into();
    messages.push(session.listing().text);
    for request in [
        "What is 2+2?",
        "Say bonjour",
        "What is 2+2?",
        "The forecast?",
    ] {
        messages.extend(session.turn(request).text);
        messages.push(request.to_owned());
        // The listing stays as it was, to the byte, and a prompt cache holds.
        assert_eq!(session.listing().text, messages[2]);
    }
    assert_eq!(messages.len(), 3 + 4 + 2);
    // The conversation can be written down and taken up between two requests, as the host's own is.
    let mut resumed = skills.resume(Policy::default(), session.state().clone());
    assert_eq!(resumed.turn("Say bonjour").text, None);
}

#[test]
fn listing_in_the_system_prompt_has_no_instructions() {
    let of = skills(&[GREET, WEATHER]);
    for mode in [Mode::Catalog, Mode::Triggered, Mode::Hybrid] {
        for style in Style::ALL {
            let policy = Policy::default().with_mode(mode).with_style(style);
            let mut session = of.session(policy, ContextLifetime::History);
            session.turn("Say bonjour");
            let listing = session.listing().text;
            assert!(listing.contains("greet"), "{listing}");
            assert!(!listing.contains("Say it in French."), "{listing}");
        }
    }
}

#[test]
fn default_settings_match_without_embeddings() {
    let settings = Settings::default();
    assert_eq!(settings.matching.value, Matching::Hybrid);
    assert_eq!(settings.model.value, None);
    let mut session =
        skills(&[GREET, WEATHER]).session(settings.policy(), ContextLifetime::History);
    // It means the same, and a model or an embedding would find it.
    assert_eq!(session.turn("Will it rain tomorrow?").text, None);
    assert!(session.turn("The forecast for tomorrow?").text.is_some());
}

/// Begins a conversation by the settings of a person.
fn by_settings(of: &[(&str, &str, &str)], settings: &[(&str, &str)]) -> Session {
    let mut host = Host::new(Environment::new("/nowhere"));
    for (key, value) in settings {
        host = host.set(*key, *value);
    }
    let files = of.iter().map(|(name, triggers, body)| {
        let text = format!("---\nname: {name}\ndescription: Helps with {name}, as customers ask for it\n{triggers}\n---\n{body}\n");
        (format!("{name}/SKILL.md"), text)
    });
    let skills = host
        .bundled("built in", MemorySource::new(files))
        .discover()
        .unwrap()
        .skills;
    let policy = skills.report().settings.policy();
    skills.session(policy, ContextLifetime::History)
}

#[test]
fn request_gets_one_of_four_tiers_in_hybrid_and_keyword_mode() {
    let tiers = [("disclosure", "triggered"), ("style", "tiers")];
    for matching in ["hybrid", "keyword"] {
        let settings = [tiers.as_slice(), &[("matching", matching)]].concat();
        let say =
            |of: &[(&str, &str, &str)], request: &str| by_settings(of, &settings).turn(request);
        let nothing = say(&[], "What is 2+2?");
        assert_eq!(
            (nothing.tier, nothing.text),
            (Tier::Nothing, None),
            "{matching}"
        );
        let breadcrumb = say(&[GREET, WEATHER], "What is 2+2?");
        assert_eq!(breadcrumb.tier, Tier::Breadcrumb, "{matching}");
        assert_eq!(
            breadcrumb.text.as_deref(),
            Some("[2 skills available]"),
            "{matching}"
        );
        assert!(breadcrumb.tokens <= 10, "{matching}: {}", breadcrumb.tokens);
        for question in ["What can you do?", "list skills"] {
            let registry = say(&[GREET, WEATHER], question);
            assert_eq!(registry.tier, Tier::Registry, "{matching}");
            let text = registry.text.unwrap();
            let lines: Vec<&str> = text
                .lines()
                .filter(|line| line.starts_with("- **"))
                .collect();
            assert_eq!(lines.len(), 2, "{matching}: {text}");
            for line in lines {
                let tokens = Policy::default().counter.count(line);
                assert!(tokens <= 20, "{matching}: {tokens} tokens: {line}");
            }
            assert!(!text.contains("Look outside."), "{matching}: {text}");
        }
        let full = say(&[GREET, WEATHER], "The forecast, please");
        assert_eq!(full.tier, Tier::Full, "{matching}");
        assert!(full.text.unwrap().contains("Look outside."), "{matching}");
    }
    // Skills without triggers are listed where nothing else finds them, and counted where search does.
    let silent = ("letters", "", "Write them.");
    let say = |matching: &str| {
        let settings = [tiers.as_slice(), &[("matching", matching)]].concat();
        by_settings(&[GREET, silent], &settings).turn("What is 2+2?")
    };
    let (keyword, hybrid) = (say("keyword"), say("hybrid"));
    assert_eq!(
        (keyword.tier, hybrid.tier),
        (Tier::Registry, Tier::Breadcrumb)
    );
    let text = keyword.text.unwrap();
    assert!(
        text.contains("- **letters**: Helps") && text.ends_with("[1 skills available]"),
        "{text}"
    );
    assert_eq!(hybrid.text.as_deref(), Some("[2 skills available]"));
}

#[test]
fn only_matched_skills_get_instructions() {
    let of = [
        GREET,
        WEATHER,
        ("invoices", "", "Number each invoice."),
        ("contracts", "triggers: []", "Ask a lawyer."),
    ];
    let requests = [
        "What is 2+2?",
        "Thanks, that looks good",
        "Say bonjour to Alice",
        "The forecast, and greet her",
        "Help with invoices, as customers ask for it",
        "Help with contracts, as customers ask for it",
        "Use the `contracts` skill",
        "Nothing about any of it",
    ];
    let mut by_search = 0;
    for matching in ["hybrid", "keyword"] {
        for disclosure in ["triggered", "hybrid"] {
            for request in requests {
                let settings = [("matching", matching), ("disclosure", disclosure)];
                let mut session = by_settings(&of, &settings);
                let told = session.listing().text;
                let turn = session.turn(request);
                let told = told + turn.text.as_deref().unwrap_or_default();
                for (name, triggers, body) in of {
                    let decision = turn.decisions.iter().find(|one| &*one.id == name);
                    let given =
                        decision.filter(|one| matches!(one.outcome, SkillOutcome::Given(..)));
                    assert_eq!(
                        told.contains(body),
                        given.is_some(),
                        "{settings:?} {request} {name}"
                    );
                    let Some(given) = given else { continue };
                    match given.signal {
                        Signal::Trigger => {
                            assert!(request.to_lowercase().contains(&*given.evidence));
                        }
                        // A skill without triggers comes by search, or by its name, where these count.
                        Signal::Search => {
                            assert_eq!(matching, "hybrid", "{request} {name}");
                            assert!(given.confidence.unwrap() >= 0.7, "{given:?}");
                            by_search += usize::from(!triggers.contains("bonjour"));
                        }
                        Signal::Mention => assert_eq!((matching, name), ("hybrid", "contracts")),
                        signal => panic!("{request}: {signal:?}"),
                    }
                }
            }
        }
    }
    assert!(
        by_search > 0,
        "search gives nothing, and so nothing is proved of it"
    );
}

#[test]
fn confidence_of_matches_follows_their_rank() {
    let of = [
        ("a-word", "triggers: [report]", "One."),
        ("b-phrase", "triggers: [annual report]", "Two."),
        ("c-name", "triggers: [nothing]", "Three."),
    ];
    let turn = by_settings(&of, &[]).turn("c-name: the annual report");
    let matched: Vec<_> = turn
        .decisions
        .iter()
        .map(|one| (&*one.id, one.signal, one.confidence.unwrap()))
        .collect();
    let [
        (_, Signal::Mention, named),
        (_, Signal::Phrase, said),
        (_, Signal::Trigger, part),
    ] = matched[..]
    else {
        panic!("{matched:?}");
    };
    assert!(
        1.0 >= named && named > said && said > part && part > 0.0,
        "{matched:?}"
    );
}
