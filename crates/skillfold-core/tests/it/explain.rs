//! Why skills are chosen for a message, and why others are not.

use skillfold_core::catalog::{Toggle, Trust};
use skillfold_core::disclose::{Mode, Style};
use skillfold_core::explain::{Explanation, UnmatchedSkill};
use skillfold_core::{
    Catalog, CatalogOptions, ContextLifetime, LoadOptions, Loader, Matcher, MemorySource, Policy,
    Root, Scope, SessionState,
};
use skillfold_testkit::far_future;

fn skill(name: &str, more: &str) -> (String, String) {
    let text = format!("---\nname: {name}\ndescription: About {name}\n{more}\n---\nDo {name}.\n");
    (format!("{name}/SKILL.md"), text)
}

fn catalog() -> Catalog {
    let mine = MemorySource::new([
        skill("forms", "triggers: [fill in the form, 'c++']"),
        skill(
            "mail",
            "triggers: { keywords: [inbox], patterns: ['order #\\d+', '('] }",
        ),
        skill(
            "deploy",
            "disable-model-invocation: true\ntriggers: [deploy]",
        ),
        skill("plain", ""),
        skill("off", "triggers: [switch]"),
    ]);
    let theirs = MemorySource::new([skill("foreign", "triggers: [fill]"), skill("mail", "")]);
    let mut rules = CatalogOptions::default();
    rules.enablement.set("off", Toggle::Off);
    let roots = vec![
        Root::new(Scope::User, "mine", mine),
        Root::new(Scope::Bundled, "built in", theirs).with_trust(Trust::Untrusted),
    ];
    Catalog::discover(roots, rules, far_future())
}

fn why(policy: &Policy, message: &str, ids: &[&str]) -> Explanation {
    let loader = Loader::new(LoadOptions::default(), far_future);
    let session = SessionState::new(ContextLifetime::History);
    let explained = session.why(&Matcher::new(&catalog()), &loader, policy, message, ids);
    explained.unwrap()
}

fn reasons(explanation: &Explanation) -> Vec<(&str, &str)> {
    let absent = explanation.unmatched.iter();
    absent.map(|one| (&*one.id, one.reason.as_str())).collect()
}

#[test]
fn each_requested_skill_has_its_reason() {
    let asked = ["forms", "mail", "deploy", "plain", "off", "foreign"];
    let explained = why(
        &Policy::default(),
        "Please FILL IN the form, order #12",
        &asked,
    );
    assert_eq!(
        reasons(&explained),
        [
            ("deploy", "person_only"),
            ("plain", "no_triggers"),
            ("off", "disabled"),
            ("foreign", "untrusted"),
        ]
    );
}

#[test]
fn evidence_points_at_its_position_in_the_message() {
    let message = "Ähm: FILL IN the form, order #12";
    let explained = why(&Policy::default(), message, &[]);
    let places = explained.details.iter().map(|details| {
        let place = details.position.clone().unwrap();
        &message[place]
    });
    assert_eq!(
        places.collect::<Vec<_>>(),
        ["FILL IN the form", "order #12"]
    );
}

#[test]
fn near_miss_lists_found_and_missing_words() {
    let explained = why(&Policy::default(), "fill the form", &["forms", "mail"]);
    let absent = &explained.unmatched[0];
    assert_eq!(absent.reason.as_str(), "no_match");
    let near = &absent.near_misses[0];
    assert_eq!(&*near.trigger, "fill in the form");
    assert_eq!(near.found, ["fill", "the", "form"].map(Box::from));
    assert_eq!(near.missing, ["in".into()]);
    let kinds: Vec<_> = explained.unmatched[1]
        .near_misses
        .iter()
        .map(|near| near.kind.as_str())
        .collect();
    assert_eq!(kinds, ["words", "pattern", "bad_pattern"]);
}

#[test]
fn mode_without_automatic_selection_is_a_reason() {
    let policy = Policy::default().with_mode(Mode::Catalog);
    let explained = why(&policy, "fill in the form", &["forms"]);
    assert_eq!(reasons(&explained), [("forms", "mode")]);
}

#[test]
fn tokens_of_skills_not_given_are_counted_too() {
    let policy = Policy::default().with_max_skills(1);
    let explained = why(&policy, "fill in the form, order #12", &[]);
    let outcomes: Vec<_> = explained
        .turn
        .decisions
        .iter()
        .map(|one| one.outcome.as_str())
        .collect();
    assert_eq!(outcomes, ["given", "later"]);
    assert!(
        explained
            .details
            .iter()
            .all(|details| details.tokens.is_some_and(|tokens| tokens > 5))
    );
}

#[test]
fn skill_hidden_from_the_conversation_is_a_reason() {
    let catalog = catalog();
    let loader = Loader::new(LoadOptions::default(), far_future);
    let whole = SessionState::new(ContextLifetime::History);
    let session = whole.child(&catalog, ["mail"]).unwrap();
    let matcher = Matcher::new(&catalog);
    let policy = Policy::default();
    let explained = session.why(&matcher, &loader, &policy, "fill in the form", &["forms"]);
    assert_eq!(reasons(&explained.unwrap()), [("forms", "unseen")]);
    let unknown = session
        .why(&matcher, &loader, &policy, "x", &["form"])
        .unwrap_err();
    assert_eq!(unknown.nearest()[0], "forms".into());
}

/// Returns why one skill with some frontmatter does not come.
fn absent(frontmatter: &str, message: &str) -> UnmatchedSkill {
    let root = Root::new(
        Scope::User,
        "mine",
        MemorySource::new([skill("one", frontmatter)]),
    );
    let catalog = Catalog::discover(vec![root], CatalogOptions::default(), far_future());
    let loader = Loader::new(LoadOptions::default(), far_future);
    let (matcher, policy) = (Matcher::new(&catalog), Policy::default());
    let session = SessionState::new(ContextLifetime::History);
    let explained = session.why(&matcher, &loader, &policy, message, &["one"]);
    explained.unwrap().unmatched.remove(0)
}

#[test]
fn nearest_trigger_is_found_among_all_triggers() {
    let others: String = (0..60).map(|number| format!("other{number}, ")).collect();
    let triggers = format!("triggers: {{ keywords: [{others}fill in the form] }}");
    let absent = absent(&triggers, "fill the form");
    assert_eq!(&*absent.near_misses[0].trigger, "fill in the form");
    assert_eq!((absent.near_misses.len(), absent.triggers), (50, 61));
}

#[test]
fn keyword_near_misses_count_whole_words_only() {
    let absent = absent(
        "triggers: { keywords: [art in form] }",
        "starting information platform",
    );
    assert!(absent.near_misses[0].found.is_empty());
}

#[test]
fn unused_pattern_is_distinguished_from_one_without_a_match() {
    let patterns: String = (0..60)
        .map(|number| format!("'order{number} #', "))
        .collect();
    let absent = absent(
        &format!("triggers: {{ patterns: [{patterns}] }}"),
        "order55 #12",
    );
    let kinds = absent.near_misses.iter().map(|near| near.kind.as_str());
    assert!(kinds.clone().all(|kind| kind == "pattern"));
    assert_eq!(absent.triggers, 60);
}

#[test]
fn tokens_are_counted_the_same_for_every_outcome() {
    for style in Style::ALL {
        let policy = Policy::default().with_style(style).with_max_skills(1);
        let files = ["aaaa", "bbbb"].map(|name| skill(name, "triggers: [both]"));
        let root = Root::new(Scope::User, "mine", MemorySource::new(files));
        let catalog = Catalog::discover(vec![root], CatalogOptions::default(), far_future());
        let loader = Loader::new(LoadOptions::default(), far_future);
        let session = SessionState::new(ContextLifetime::History);
        let matcher = Matcher::new(&catalog);
        let explained = session
            .why(&matcher, &loader, &policy, "both", &[])
            .unwrap();
        let tokens: Vec<_> = explained.details.iter().map(|one| one.tokens).collect();
        assert_eq!(tokens[0], tokens[1], "{style}");
    }
}
