//! The outcome of a skill, as a host reports it, is logged with how the skill was chosen.

use skillfold_core::bind::Visibility;
use skillfold_core::disclose::{Feedback, Mode};
use skillfold_core::{
    Agent, Catalog, CatalogOptions, ContextLifetime, ErrorKind, LoadOptions, Loader, Matcher,
    MemorySource, Policy, Root, Scope, SessionState,
};
use skillfold_testkit::far_future;

use crate::log::Log;

struct World {
    matcher: Matcher,
    loader: Loader,
    policy: Policy,
}

fn world(names: &[String]) -> World {
    let files = names.iter().map(|name| {
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
        policy: Policy::default(),
    }
}

fn small() -> World {
    world(&["alpha", "beta", "delta", "epsilon", "gamma"].map(str::to_owned))
}

impl World {
    fn say(&self, session: &mut SessionState, message: &str) {
        session.turn(&self.matcher, &self.loader, &self.policy, message);
    }

    fn load(&self, session: &mut SessionState, id: &str) {
        let catalog = self.matcher.catalog();
        let loaded = session.load(catalog, &self.loader, &self.policy, id, "");
        loaded.unwrap();
    }

    /// Returns what is logged where the same is said of skills.
    fn outcome(&self, session: &SessionState, ids: &[&str], feedback: Feedback) -> String {
        let log = Log::default();
        tracing::subscriber::with_default(log.clone(), || {
            for id in ids {
                session
                    .record_feedback(self.matcher.catalog(), id, feedback)
                    .unwrap();
            }
        });
        log.lines()
    }
}

#[test]
fn outcome_records_how_a_skill_was_chosen_without_content() {
    let world = small();
    let mut session = SessionState::new(ContextLifetime::History);
    world.say(&mut session, "gammaword of a secret");
    world.say(&mut session, "all, and $beta");
    world.load(&mut session, "gamma");
    let ids = ["beta", "alpha", "epsilon", "Gamma"];
    let said = world.outcome(&session, &ids, Feedback::Used);
    insta::assert_snapshot!(said, @r#"
    INFO message=feedback on a skill skill="beta" feedback="used" chosen.by="mention" chosen.rank=1 chosen.told="full" chosen.turn=2 turn=2 
    INFO message=feedback on a skill skill="alpha" feedback="used" chosen.by="trigger" chosen.rank=3 chosen.told="full" chosen.turn=2 turn=2 
    INFO message=feedback on a skill skill="epsilon" feedback="used" chosen.by="trigger" chosen.rank=5 chosen.told="line" chosen.turn=2 turn=2 
    INFO message=feedback on a skill skill="gamma" feedback="used" chosen.by="trigger" chosen.rank=2 chosen.told="full" chosen.turn=2 turn=2
    "#);
}

#[test]
fn outcome_of_an_unselected_skill_says_where_it_came_from() {
    let world = small();
    let mut session = SessionState::new(ContextLifetime::History);
    let mut said = world.outcome(&session, &["alpha"], Feedback::Missed);
    session.listing(world.matcher.catalog(), &world.policy);
    said += "\n";
    said += &world.outcome(&session, &["alpha"], Feedback::Missed);
    world.load(&mut session, "alpha");
    said += "\n";
    said += &world.outcome(&session, &["alpha"], Feedback::Unused);
    let agent = Agent::new("writer")
        .with_skills(["beta"])
        .with_visibility(Visibility::All);
    let seen = world.matcher.catalog().view_for(&agent);
    let session = SessionState::for_agent(ContextLifetime::History, &seen);
    said += "\n";
    said += &world.outcome(&session, &["beta"], Feedback::Used);
    insta::assert_snapshot!(said, @r#"
    INFO message=feedback on a skill skill="alpha" feedback="missed" turn=0 
    INFO message=feedback on a skill skill="alpha" feedback="missed" chosen.by="listing" chosen.told="line" turn=0 
    INFO message=feedback on a skill skill="alpha" feedback="unused" chosen.by="model" chosen.told="full" chosen.turn=0 turn=0 
    INFO message=feedback on a skill skill="beta" feedback="used" chosen.by="agent" chosen.told="full" turn=0
    "#);
}

#[test]
fn outcome_for_a_hidden_skill_is_an_error() {
    let world = small();
    let catalog = world.matcher.catalog();
    let session = SessionState::new(ContextLifetime::History);
    let error = session.record_feedback(catalog, "alpah", Feedback::Used);
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(&*error.nearest()[0], "alpha");
    let child = session.child(catalog, ["alpha"]).unwrap();
    assert!(
        child
            .record_feedback(catalog, "alpha", Feedback::Used)
            .is_ok()
    );
    let error = child
        .record_feedback(catalog, "beta", Feedback::Used)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(!error.to_string().contains("About"));
}

#[test]
fn selection_history_survives_removal_and_restart() {
    let world = small();
    let mut session = SessionState::new(ContextLifetime::Transient);
    world.say(&mut session, "alphaword");
    // It is given again, which is no new choice.
    world.say(&mut session, "and now?");
    let written = serde_json::to_string(&session).unwrap();
    let session: SessionState = serde_json::from_str(&written).unwrap();
    let empty = self::world(&[]);
    let said = empty.outcome(&session, &["alpha"], Feedback::Used);
    insta::assert_snapshot!(said, @r#"INFO message=feedback on a skill skill="alpha" feedback="used" chosen.by="trigger" chosen.rank=1 chosen.told="full" chosen.turn=1 turn=2"#);
    let old = r#"{"format":1,"lifetime":"history","turn":3,"spent":0,"skills":{},"visible":null}"#;
    let old: SessionState = serde_json::from_str(old).unwrap();
    assert_eq!(old.turns(), 3);
}

#[test]
fn selection_history_is_bounded() {
    let names: Vec<String> = (0..400).map(|number| format!("s{number:03}")).collect();
    let world = World {
        policy: Policy::default().with_mode(Mode::Triggered),
        ..world(&names)
    };
    let mut session = SessionState::new(ContextLifetime::History);
    let count = |session: &SessionState| {
        let written = serde_json::to_value(session).unwrap();
        written["chosen"].as_object().unwrap().len()
    };
    world.say(&mut session, "all");
    assert_eq!(count(&session), 20);
    for name in &names {
        world.say(&mut session, &format!("{name}word"));
    }
    assert_eq!(count(&session), 256);
    let first = world.outcome(&session, &["s000"], Feedback::Used);
    assert!(!first.contains("chosen.by"), "{first}");
    let last = world.outcome(&session, &["s399"], Feedback::Used);
    assert!(last.contains("chosen.by=\"trigger\""), "{last}");
}
