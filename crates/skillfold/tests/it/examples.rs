//! The worked examples: what they inject, and what they cost.

use skillfold::core::disclose::Tier;
use skillfold::core::disclose::Turn;
use skillfold::core::read::Profile;
use skillfold::core::{ContextLifetime, Policy};
use skillfold::{Skills, author::CheckTarget};
use skillfold_testkit::lay_out;

use crate::world::World;

const UNRELATED: [&str; 2] = ["What is 2+2?", "Calculate pi to 10 digits"];
const RELATED: [&str; 2] = ["Say bonjour to Alice", "Greet Alice in French"];

fn world(example: &str) -> World {
    let world = World::new("");
    let to = world.path("person/.agents/skills");
    lay_out(&format!("examples/skills/{example}"), &to.join(example));
    world
}

/// Returns what a policy of the settings tells for a request, and the tokens of the listing.
fn say(skills: &Skills, policy: &Policy, request: &str) -> (Turn, u64) {
    let mut session = skills.session(policy.clone(), ContextLifetime::History);
    let listing = session.listing().tokens;
    (session.turn(request), listing)
}

#[test]
fn worked_examples_inject_hello_extended_when_requested() {
    let world = world("hello-extended");
    let host = world.host().set("disclosure", "triggered");
    let skills = host.set("breadcrumb", "off").discover().unwrap().skills;
    let policy = skills.report().settings.policy();
    for request in UNRELATED {
        let (turn, _) = say(&skills, &policy, request);
        assert_eq!((turn.text, turn.tokens), (None, 0), "{request}");
        assert_eq!(turn.tier, Tier::Nothing, "{request}");
    }
    for request in RELATED {
        let (turn, _) = say(&skills, &policy, request);
        let text = turn.text.unwrap();
        assert!(text.contains("# Greeting people\n"), "{request}: {text}");
        assert!(turn.tokens > 1_000, "{request}: {}", turn.tokens);
    }
}

#[test]
fn unrelated_requests_cost_at_least_60_percent_less_than_full_context() {
    let world = world("hello-extended");
    let skills = world.skills();
    let eager = skills
        .session(Policy::default(), ContextLifetime::History)
        .eager_tokens();
    for policy in [Policy::default(), Policy::triggered()] {
        // In this mode there is no listing to pay for.
        let listed = |listing: u64| match policy.mode {
            skillfold::core::disclose::Mode::Triggered => 0,
            _ => listing,
        };
        for request in UNRELATED {
            let (turn, listing) = say(&skills, &policy, request);
            let cost = turn.tokens + listed(listing);
            assert!(cost * 100 <= eager * 40, "{request}: {cost} of {eager}");
        }
        for (unrelated, related) in UNRELATED.iter().zip(RELATED) {
            let (cheap, _) = say(&skills, &policy, unrelated);
            let (dear, _) = say(&skills, &policy, related);
            assert!(dear.tokens > cheap.tokens, "{unrelated}, {related}");
        }
    }
}

#[test]
fn hello_extended_has_about_1200_tokens() {
    let world = world("hello-extended");
    let session = world
        .skills()
        .session(Policy::default(), ContextLifetime::History);
    let tokens = session.eager_tokens();
    assert!((1_100..=1_300).contains(&tokens), "{tokens}");
}

#[test]
fn examples_have_no_findings() {
    for example in ["code-review", "extension-development", "hello-extended"] {
        let world = world(example);
        let skills = world.skills();
        for target in CheckTarget::all_in(&skills.catalog()) {
            let checked = target.check(Profile::Lenient, &skillfold::core::Limits::default());
            let findings = checked.unwrap().findings;
            assert!(findings.is_empty(), "{example}: {findings:?}");
        }
    }
}
