//! One conversation: nothing is given twice that is still there, and nothing is seen that is not allowed.

use skillfold_core::bind::Visibility;
use skillfold_core::choose::Signal;
use skillfold_core::disclose::{Mode, SkillOutcome, Style, Tier};
use skillfold_core::{
    Agent, Budget, Catalog, CatalogOptions, ContextLifetime, ErrorKind, LoadOptions, Loader,
    Matcher, MemorySource, Policy, Root, Scope, SessionState,
};
use skillfold_testkit::far_future;

use crate::fake_source::{FakeSource, File, NOW, SECOND, at};

struct World {
    matcher: Matcher,
    loader: Loader,
    policy: Policy,
}

fn world(mode: Mode) -> World {
    let files = ["alpha", "beta", "gamma"].map(|name| {
        let text = format!(
            "---\nname: {name}\ndescription: About {name}\ntriggers: [{name}word, all]\n---\nDo {name}.\n"
        );
        (format!("{name}/SKILL.md"), text)
    });
    let root = Root::new(Scope::User, "mine", MemorySource::new(files));
    let catalog = Catalog::discover(vec![root], CatalogOptions::default(), far_future());
    World {
        matcher: Matcher::new(&catalog),
        loader: Loader::new(LoadOptions::default(), far_future),
        policy: Policy::default().with_mode(mode).with_style(Style::Tiers),
    }
}

impl World {
    fn say(&self, session: &mut SessionState, message: &str) -> Option<String> {
        let turn = session.turn(&self.matcher, &self.loader, &self.policy, message);
        turn.text
    }
}

#[test]
fn body_in_the_history_is_not_repeated() {
    let world = world(Mode::Hybrid);
    let mut session = SessionState::new(ContextLifetime::History);
    assert!(
        world
            .say(&mut session, "alphaword")
            .unwrap()
            .contains("Do alpha.")
    );
    let spent = session.tokens_spent();
    assert!(spent > 0);
    assert_eq!(world.say(&mut session, "alphaword again"), None);
    assert_eq!((session.tokens_spent(), session.turns()), (spent, 2));
}

#[test]
fn dropped_body_is_given_again_for_three_more_turns() {
    let world = world(Mode::Triggered);
    let mut session = SessionState::new(ContextLifetime::Transient);
    let mut has = |message: &str| {
        let text = world.say(&mut session, message).unwrap_or_default();
        text.contains("Do alpha.")
    };
    let given = ["alphaword", "alphaword", "x", "x", "x", "x"].map(&mut has);
    assert_eq!(given, [true, true, true, true, true, false]);
}

#[test]
fn body_loaded_by_the_model_is_not_repeated_in_transient_context() {
    let world = world(Mode::Triggered);
    let mut session = SessionState::new(ContextLifetime::Transient);
    let catalog = world.matcher.catalog().clone();
    world.say(&mut session, "alphaword");
    let loaded = session.load(&catalog, &world.loader, &world.policy, "alpha", "");
    assert!(loaded.is_ok());
    let says = |session: &mut SessionState, message: &str| {
        let text = world.say(session, message).unwrap_or_default();
        text.contains("Do alpha.")
    };
    assert!(!says(&mut session, "alphaword"));
    assert!(!says(&mut session, "x"));
    let written = serde_json::to_string(&session).unwrap();
    let mut session: SessionState = serde_json::from_str(&written).unwrap();
    assert!(!says(&mut session, "alphaword"));
    // A compaction drops the answer of the tool too; what it gives again is dropped like the text of a turn.
    let budget = Budget::tokens(1_000);
    let again = session.after_compaction(&catalog, &world.loader, &world.policy, budget, &[]);
    assert!(again.text.unwrap().contains("Do alpha."));
    assert!(says(&mut session, "alphaword"));
}

#[test]
fn skill_that_a_compaction_kept_is_not_given_again() {
    let world = world(Mode::Hybrid);
    let mut session = SessionState::new(ContextLifetime::History);
    world.say(&mut session, "alphaword betaword");
    let (catalog, budget) = (world.matcher.catalog(), Budget::tokens(1_000));
    let kept = ["alpha"];
    let again = session.after_compaction(catalog, &world.loader, &world.policy, budget, &kept);
    let text = again.text.unwrap();
    assert!(
        text.contains("Do beta.") && !text.contains("Do alpha."),
        "{text}"
    );
    assert_eq!(world.say(&mut session, "alphaword betaword"), None);
}

#[test]
fn changed_body_is_given_again() {
    let fake = FakeSource::default();
    let put = |body: &str, inode: u64| {
        let mut file = File::new("alpha", "d");
        file.text =
            format!("---\nname: alpha\ndescription: d\ntriggers: [alphaword]\n---\n{body}\n");
        file.revision.inode = inode;
        fake.put("alpha", file);
    };
    put("Old.", 1);
    let catalog = fake.discover(NOW);
    let loader = Loader::new(LoadOptions::default(), || at(NOW + 60 * SECOND));
    let policy = Policy::default();
    let mut session = SessionState::new(ContextLifetime::History);
    let matcher = Matcher::new(&catalog);
    let mut say = |matcher: &Matcher| session.turn(matcher, &loader, &policy, "alphaword").text;
    assert!(say(&matcher).unwrap().contains("Old."));
    assert_eq!(say(&matcher), None);
    put("New.", 2);
    let refreshed = matcher.refresh(&fake.refresh(&catalog, NOW).catalog);
    assert!(say(&refreshed).unwrap().contains("New."));
}

#[test]
fn explicit_load_always_returns_the_whole_body() {
    let world = world(Mode::Hybrid);
    let mut session = SessionState::new(ContextLifetime::History);
    world.say(&mut session, "alphaword");
    let catalog = world.matcher.catalog();
    let text = session
        .load(catalog, &world.loader, &world.policy, "alpha", "")
        .unwrap();
    assert_eq!(text.body(), "Do alpha.\n");
    assert_eq!(world.say(&mut session, "alphaword"), None);
}

#[test]
fn most_recently_used_skill_comes_first() {
    let mut world = world(Mode::Triggered);
    world.policy.max_skills = 1;
    let mut session = SessionState::new(ContextLifetime::Transient);
    world.say(&mut session, "gammaword");
    let turn = session.turn(&world.matcher, &world.loader, &world.policy, "all");
    assert_eq!(&*turn.decisions[0].id, "gamma");
    assert!(matches!(turn.decisions[1].outcome, SkillOutcome::Later));
}

#[test]
fn skills_restored_after_compaction_fit_the_budget() {
    let world = world(Mode::Hybrid);
    let mut session = SessionState::new(ContextLifetime::History);
    for message in ["alphaword", "betaword", "gammaword", "alphaword"] {
        world.say(&mut session, message);
    }
    let catalog = world.matcher.catalog().clone();
    let budget = Budget::characters(140);
    let spent = session.tokens_spent();
    let again = session.after_compaction(&catalog, &world.loader, &world.policy, budget, &[]);
    let outcomes = again.decisions.iter();
    let outcomes: Vec<_> = outcomes
        .map(|one| (&*one.id, one.outcome.as_str()))
        .collect();
    assert_eq!(
        outcomes,
        [("alpha", "given"), ("gamma", "given"), ("beta", "no_room")]
    );
    let text = again.text.unwrap();
    assert!(text.chars().count() <= 140, "{text}");
    assert!(text.contains("Do gamma.") && text.contains("1 more: call"));
    assert_eq!(session.tokens_spent(), spent + again.tokens);
    // What did not fit is given when it is asked for.
    assert!(
        world
            .say(&mut session, "betaword")
            .unwrap()
            .contains("Do beta.")
    );
    assert_eq!(world.say(&mut session, "gammaword"), None);
}

#[test]
fn child_session_is_narrowed_and_never_widened() {
    let world = world(Mode::Triggered);
    let parent = SessionState::new(ContextLifetime::History);
    let catalog = world.matcher.catalog();
    let child = parent.child(catalog, ["Alpha", "beta"]).unwrap();
    let outside = child.child(catalog, ["beta", "gamma"]).unwrap_err();
    assert_eq!(outside.kind(), ErrorKind::NotFound);
    let mut grandchild = child.child(catalog, ["BETA"]).unwrap();
    let listing = grandchild.listing(catalog, &world.policy);
    assert_eq!(listing.skills, 1);
    let text = world
        .say(&mut grandchild, "alphaword betaword gammaword")
        .unwrap();
    assert!(text.contains("Do beta.") && !text.contains("alpha") && !text.contains("gamma"));
    for hidden in ["gamma", "gama"] {
        let error = grandchild
            .load(catalog, &world.loader, &world.policy, hidden, "")
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(!error.nearest().contains(&"gamma".into()));
    }
    let mut nothing = parent.child(catalog, []).unwrap();
    let turn = nothing.turn(&world.matcher, &world.loader, &world.policy, "all");
    assert_eq!((turn.tier, turn.text), (Tier::Nothing, None));
}

#[test]
fn session_can_be_saved_and_resumed() {
    let world = world(Mode::Hybrid);
    let catalog = world.matcher.catalog();
    let whole = SessionState::new(ContextLifetime::History);
    let mut session = whole.child(catalog, ["alpha", "beta"]).unwrap();
    world.say(&mut session, "alphaword");
    let written = serde_json::to_string(&session).unwrap();
    let mut again: SessionState = serde_json::from_str(&written).unwrap();
    assert_eq!(again, session);
    assert_eq!(world.say(&mut again, "alphaword"), None);
}

#[test]
fn listing_is_byte_identical_in_every_turn() {
    let world = world(Mode::Hybrid);
    let mut session = SessionState::new(ContextLifetime::History);
    let catalog = world.matcher.catalog().clone();
    let first = session.listing(&catalog, &world.policy);
    for number in 0..1_000 {
        let message = ["alphaword", "x", "all"][number % 3];
        world.say(&mut session, message);
        assert_eq!(session.listing(&catalog, &world.policy), first);
    }
}

#[test]
fn earlier_skill_has_its_own_signal() {
    let world = world(Mode::Triggered);
    let mut session = SessionState::new(ContextLifetime::Transient);
    world.say(&mut session, "alphaword");
    let turn = session.turn(&world.matcher, &world.loader, &world.policy, "betaword");
    let signals: Vec<_> = turn.decisions.iter().map(|one| one.signal).collect();
    assert_eq!(signals, [Signal::Trigger, Signal::Earlier]);
}

#[test]
fn narrowed_session_restores_no_hidden_skill() {
    let world = world(Mode::Hybrid);
    let mut session = SessionState::new(ContextLifetime::History);
    world.say(&mut session, "alphaword");
    let mut written = serde_json::to_value(&session).unwrap();
    written["visible"] = serde_json::json!(["beta"]);
    let mut narrowed: SessionState = serde_json::from_value(written).unwrap();
    let catalog = world.matcher.catalog().clone();
    let again = narrowed.after_compaction(
        &catalog,
        &world.loader,
        &world.policy,
        Budget::tokens(1_000),
        &[],
    );
    assert_eq!(again.text, None);
    assert!(matches!(
        again.decisions[0].outcome,
        SkillOutcome::Failed(_)
    ));
}

#[test]
fn user_only_skill_does_not_exist_for_a_model() {
    let file = "---\nname: deploy\ndescription: d\ndisable-model-invocation: true\n---\nDeploy.\n";
    let root = Root::new(
        Scope::User,
        "mine",
        MemorySource::new([("deploy/SKILL.md", file)]),
    );
    let catalog = Catalog::discover(vec![root], CatalogOptions::default(), far_future());
    let loader = Loader::new(LoadOptions::default(), far_future);
    let mut session = SessionState::new(ContextLifetime::History);
    for id in ["deploy", "deplo"] {
        let error = session
            .load(&catalog, &loader, &Policy::default(), id, "")
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.nearest().is_empty());
    }
}

#[test]
fn hostile_numbers_in_a_saved_session_are_harmless() {
    let text = format!(
        r#"{{"format":1,"lifetime":"history","turn":{0},"spent":{0},"skills":{{}},"visible":null}}"#,
        u64::MAX
    );
    let mut session: SessionState = serde_json::from_str(&text).unwrap();
    let world = world(Mode::Hybrid);
    assert!(world.say(&mut session, "alphaword").is_some());
    assert_eq!(session.tokens_spent(), u64::MAX);
}

#[test]
fn skill_is_given_again_with_the_arguments_of_its_load() {
    let file = "---\nname: greet\ndescription: d\ntriggers: [hello]\n---\nGreet $ARGUMENTS.\n";
    let source = MemorySource::new([("greet/SKILL.md", file)]);
    let root = Root::new(Scope::User, "mine", source);
    let catalog = Catalog::discover(vec![root], CatalogOptions::default(), far_future());
    let (matcher, policy) = (Matcher::new(&catalog), Policy::triggered());
    let loader = Loader::new(LoadOptions::default(), far_future);
    for lives in [ContextLifetime::History, ContextLifetime::Transient] {
        let mut session = SessionState::new(lives);
        let greet = session.load(&catalog, &loader, &policy, "greet", "Alice");
        assert_eq!(greet.unwrap().text(), "Greet Alice.\n");
        let budget = Budget::tokens(1_000);
        let again = session.after_compaction(&catalog, &loader, &policy, budget, &[]);
        assert!(again.text.unwrap().contains("Greet Alice."));
        let kept = session.turn(&matcher, &loader, &policy, "x").text;
        let is_repeated = kept.is_some_and(|text| text.contains("Greet Alice."));
        assert_eq!(is_repeated, lives == ContextLifetime::Transient);
    }
}

/// Returns three skills, then one gone, one changed and one new.
fn before_and_after() -> (FakeSource, Catalog, Catalog) {
    let fake = FakeSource::default();
    for name in ["alpha", "beta", "gamma"] {
        fake.put(name, File::new(name, "Old words"));
    }
    let before = fake.discover(NOW);
    fake.remove("alpha");
    let mut beta = File::new("beta", "New words");
    beta.revision.inode = 77;
    fake.put("beta", beta);
    fake.put("delta", File::new("delta", "Just made"));
    let after = fake.refresh(&before, NOW).catalog;
    (fake, before, after)
}

#[test]
fn reload_announces_only_the_difference() {
    let (_told, before, after) = before_and_after();
    let loader = Loader::new(LoadOptions::default(), || at(NOW + 60 * SECOND));
    let (old, new) = (Matcher::new(&before), Matcher::new(&after));
    let mut all = String::new();
    for style in Style::ALL {
        let policy = Policy::default().with_style(style);
        let mut session = SessionState::new(ContextLifetime::History);
        let listing = session.listing(&before, &policy);
        assert_eq!(session.turn(&old, &loader, &policy, "x").text, None);
        let turn = session.turn(&new, &loader, &policy, "x");
        let ids = [
            turn.announced.added,
            turn.announced.changed,
            turn.announced.gone,
        ];
        assert_eq!(ids, [["delta".into()], ["beta".into()], ["alpha".into()]]);
        let text = turn.text.unwrap();
        assert!(!text.contains("gamma"), "{text}");
        all += &format!("-- {style}\n{text}");
        // It is said once, and the listing is as it was.
        assert_eq!(session.turn(&new, &loader, &policy, "x").text, None);
        assert_eq!(
            SessionState::new(ContextLifetime::History).listing(&before, &policy),
            listing
        );
    }
    insta::assert_snapshot!(all);
}

#[test]
fn difference_is_repeated_in_every_call_in_transient_context() {
    let (_told, before, after) = before_and_after();
    let loader = Loader::new(LoadOptions::default(), || at(NOW + 60 * SECOND));
    let (new, policy) = (Matcher::new(&after), Policy::default());
    let mut session = SessionState::new(ContextLifetime::Transient);
    session.listing(&before, &policy);
    for _ in 0..3 {
        let text = session.turn(&new, &loader, &policy, "x").text.unwrap();
        assert!(text.contains("delta"));
    }
    session.listing(&after, &policy);
    assert_eq!(session.turn(&new, &loader, &policy, "x").text, None);
}

#[test]
fn difference_covers_only_visible_skills() {
    let (_told, before, after) = before_and_after();
    let loader = Loader::new(LoadOptions::default(), || at(NOW + 60 * SECOND));
    let policy = Policy::catalog(Budget::characters(8_000));
    let whole = SessionState::new(ContextLifetime::History);
    let mut session = whole.child(&before, ["beta", "gamma"]).unwrap();
    session.listing(&before, &policy);
    let turn = session.turn(&Matcher::new(&after), &loader, &policy, "x");
    let announced = turn.announced;
    assert_eq!(
        (
            announced.added.len(),
            announced.changed.len(),
            announced.gone.len()
        ),
        (0, 1, 0)
    );
    assert_eq!(turn.tier, Tier::Registry);
}

#[test]
fn difference_of_all_skills_stays_within_the_budget() {
    let fake = FakeSource::default();
    for number in 0..200 {
        fake.put(
            &format!("old-{number}"),
            File::new(&format!("old-{number}"), "Words ".repeat(20).trim()),
        );
    }
    let before = fake.discover(NOW);
    for number in 0..200 {
        fake.remove(&format!("old-{number}"));
        fake.put(
            &format!("new-{number}"),
            File::new(&format!("new-{number}"), "Words ".repeat(20).trim()),
        );
    }
    let after = fake.refresh(&before, NOW).catalog;
    let loader = Loader::new(LoadOptions::default(), || at(NOW + 60 * SECOND));
    let policy = Policy::hybrid(Budget::characters(2_000));
    let mut session = SessionState::new(ContextLifetime::History);
    session.listing(&before, &policy);
    let turn = session.turn(&Matcher::new(&after), &loader, &policy, "x");
    let text = turn.text.unwrap();
    assert!(text.chars().count() <= 2_000);
    assert!(text.contains("more: call `search_skills`"), "{text}");
    let announced = turn.announced;
    assert_eq!((announced.added.len(), announced.gone.len()), (200, 200));
    assert!(announced.left_out.len() > 200);
    // What is gone is told of, sooner or later: no search finds it.
    let mut told = text;
    for _ in 0..50 {
        let turn = session.turn(&Matcher::new(&after), &loader, &policy, "x");
        let Some(text) = turn.text else { break };
        assert!(text.chars().count() <= 2_000);
        told += &text;
    }
    let untold = (0..200).find(|number| !told.contains(&format!("- old-{number}: ")));
    assert_eq!(untold, None);
}

#[test]
fn removed_skills_are_announced_before_new_ones() {
    let fake = FakeSource::default();
    fake.put("zeta", File::new("zeta", "Old words"));
    let before = fake.discover(NOW);
    fake.remove("zeta");
    for number in 0..300 {
        let name = format!("new-{number}");
        fake.put(&name, File::new(&name, "New words"));
    }
    let after = fake.refresh(&before, NOW).catalog;
    let loader = Loader::new(LoadOptions::default(), || at(NOW + 60 * SECOND));
    let policy = Policy::hybrid(Budget::characters(2_000));
    let mut session = SessionState::new(ContextLifetime::History);
    session.listing(&before, &policy);
    let turn = session.turn(&Matcher::new(&after), &loader, &policy, "x");
    assert!(turn.text.unwrap().contains("zeta"));
    assert!(!turn.announced.left_out.contains(&"zeta".into()));
}

#[test]
fn difference_is_announced_again_after_compaction() {
    let (_told, before, after) = before_and_after();
    let loader = Loader::new(LoadOptions::default(), || at(NOW + 60 * SECOND));
    let (new, policy) = (Matcher::new(&after), Policy::default());
    let mut session = SessionState::new(ContextLifetime::History);
    session.listing(&before, &policy);
    let first = session.turn(&new, &loader, &policy, "x").text.unwrap();
    assert_eq!(session.turn(&new, &loader, &policy, "x").text, None);
    session.after_compaction(&after, &loader, &policy, Budget::tokens(1_000), &[]);
    let again = session.turn(&new, &loader, &policy, "x").text.unwrap();
    assert_eq!(again, first);
}

#[test]
fn difference_that_does_not_fit_adds_no_text() {
    let (_told, before, after) = before_and_after();
    let loader = Loader::new(LoadOptions::default(), || at(NOW + 60 * SECOND));
    let new = Matcher::new(&after);
    for limit in 0..10 {
        let policy = Policy::hybrid(Budget::characters(limit));
        let mut session = SessionState::new(ContextLifetime::History);
        session.listing(&before, &policy);
        assert_eq!(session.turn(&new, &loader, &policy, "x").text, None);
    }
}

#[test]
fn preview_does_not_change_the_session() {
    let world = world(Mode::Hybrid);
    let session = SessionState::new(ContextLifetime::History);
    let before = session.clone();
    let turn = session.preview(&world.matcher, &world.loader, &world.policy, "alphaword");
    assert!(turn.text.is_some());
    assert_eq!(session, before);
}

#[test]
fn agent_session_is_limited_to_what_the_agent_sees() {
    let world = world(Mode::Hybrid);
    let catalog = world.matcher.catalog();
    let clerk = Agent::new("clerk")
        .with_skills(["beta"])
        .with_visibility(Visibility::Used);
    let seen = catalog.view_for(&clerk);
    let mut session = SessionState::for_agent(ContextLifetime::History, &seen);
    assert_eq!(session.listing(catalog, &world.policy).skills, 1);
    // What it uses stands in the text that it begins with, and what it does not see is not there.
    assert_eq!(world.say(&mut session, "alphaword betaword"), None);
    assert_eq!(session.tokens_spent(), 0);
    // What the agent begins with stays there.
    let budget = Budget::tokens(1_000);
    let again = session.after_compaction(catalog, &world.loader, &world.policy, budget, &[]);
    assert_eq!((again.text, again.decisions.len()), (None, 0));
    let free = catalog.view_for(&Agent::new("free"));
    let mut session = SessionState::for_agent(ContextLifetime::History, &free);
    assert_eq!(session.listing(catalog, &world.policy).skills, 3);
}
