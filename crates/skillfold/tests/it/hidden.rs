//! What a model may not get is not there: every call for a model answers as if the skill did not exist.

use serde_json::json;
use skillfold::core::bind::Visibility;
use skillfold::core::disclose::Feedback;
use skillfold::core::{Agent, Budget, ContextLifetime, Envelope, Error, Policy};
use skillfold::{AgentSkills, Host, Session, Skills};
use skillfold_testkit::{
    CANARY, HIDDEN_ID, HIDING_SETTINGS, VISIBLE_SKILLS, accepted_list, hidden_skills,
    queries_for_hidden,
};

use crate::world::{World, value};

/// The form of instructions and errors that is asked for.
const FORM: Envelope = Envelope::SkillContext;

fn world(more: &str) -> World {
    let world = World::new(VISIBLE_SKILLS);
    world.write(more);
    world.write(&accepted_list(&world.path("")));
    world
}

fn skills(world: &World) -> Skills {
    let mut host: Host = world.host();
    for (key, value) in HIDING_SETTINGS {
        host = host.set(key, value);
    }
    host.discover().unwrap().skills
}

/// What was asked, and what the answer was.
type Answers = Vec<(String, String)>;

/// Asks for skills in every way that there is for a model, and returns the answers as text.
fn answers(skills: &Skills) -> Answers {
    let policy = Policy::hybrid(Budget::tokens(4_000));
    let mut session = skills.session(policy.clone(), ContextLifetime::History);
    let orchestrator = skills.bind(Agent::new("any"));
    let clerk = skills.bind(
        Agent::new("clerk")
            .with_skills(["plover"])
            .with_visibility(Visibility::Used),
    );
    let seen = orchestrator.with_view(|seen| format!("{seen:?}"));
    let mut answers = vec![
        ("listing".to_owned(), format!("{:?}", session.listing())),
        ("visible".to_owned(), visible(skills)),
        ("seen".to_owned(), format!("{seen:?}")),
    ];
    for word in queries_for_hidden() {
        let mut note = |asked: &str, answer| answers.push((format!("{asked} {word}"), answer));
        by_handle(skills, &word, &mut note);
        by_session(&mut session, &word, &mut note);
        by_agent(&orchestrator, &word, &mut note);
        by_agent(&clerk, &word, &mut note);
        for message in [
            format!("{word} please"),
            format!("/{word}"),
            format!("${word} {CANARY}"),
        ] {
            for (policy, lives) in [
                (policy.clone(), ContextLifetime::History),
                (Policy::triggered(), ContextLifetime::Transient),
            ] {
                let turn = skills.session(policy, lives).turn(&message);
                note("turn", format!("{:?}", turn.text));
            }
        }
    }
    answers
}

fn by_handle(skills: &Skills, word: &str, note: &mut impl FnMut(&str, String)) {
    note(
        "load",
        text(skills.load(word, ""), |is| is.text().to_owned()),
    );
    note("render", text(skills.render(word, "", FORM), |is| is.text));
    note(
        "files",
        text(skills.files(word, None, 10), |is| format!("{is:?}")),
    );
    note(
        "publish",
        text(skills.publish(word), |is| format!("{is:?}")),
    );
    note(
        "going out",
        text(skills.published_files(word), |is| format!("{is:?}")),
    );
    for path in ["SKILL.md", "notes.md", "../heron/SKILL.md"] {
        note(path, text(skills.read(word, path), |is| format!("{is:?}")));
    }
    // Scores are for the host: they go by all skills that there are.
    let found = skills.search(word, 10);
    let ids: Vec<_> = found.hits.iter().map(|hit| &hit.id).collect();
    note("search", format!("{ids:?} of {}", found.searched));
    let catalog = skills.catalog();
    note(
        "requires",
        text(catalog.resolve_requires(word), |is| format!("{is:?}")),
    );
}

fn by_session(session: &mut Session, word: &str, note: &mut impl FnMut(&str, String)) {
    note(
        "session load",
        text(session.load(word, ""), |is| is.text().to_owned()),
    );
    for (tool, arguments) in [
        ("load_skill", json!({ "skill_id": word })),
        ("read_skill", json!({ "skill_id": word })),
        (
            "read_skill_resource",
            json!({ "skill_id": word, "path": "SKILL.md" }),
        ),
        ("search_skills", json!({ "query": word })),
        ("list_skills", json!({ "query": word })),
        ("list_skills", json!({})),
    ] {
        let answer = session.call(tool, &arguments.to_string());
        note(tool, format!("{} {}", answer.text(), value(&answer)));
    }
    note(
        "outcome",
        text(session.record_feedback(word, Feedback::Missed), |()| {
            String::new()
        }),
    );
    note(
        "child",
        text(session.child([word]), |is| format!("{:?}", is.state())),
    );
}

fn by_agent(agent: &AgentSkills, word: &str, note: &mut impl FnMut(&str, String)) {
    note(
        "agent load",
        text(agent.load(word, ""), |is| is.text().to_owned()),
    );
    note(
        "agent render",
        text(agent.render(word, "", FORM), |is| is.text),
    );
    note(
        "agent files",
        text(agent.files(word, None, 10), |is| format!("{is:?}")),
    );
    note(
        "agent read",
        text(agent.read(word, "notes.md"), |is| format!("{is:?}")),
    );
}

fn visible(skills: &Skills) -> String {
    let catalog = skills.catalog();
    let ids: Vec<&str> = catalog.visible().map(|entry| entry.id()).collect();
    ids.join(", ")
}

fn text<T>(answer: Result<T, Error>, show: impl FnOnce(T) -> String) -> String {
    match answer {
        Ok(answer) => show(answer),
        Err(error) => format!("{error}; {}; {:?}", error.hint(), error.nearest()),
    }
}

fn shown(world: &World, answers: Answers) -> Answers {
    // Times and places of files are no part of what is told.
    let shown = |(asked, answer): (String, String)| (asked, world.shown(&answer));
    answers.into_iter().map(shown).collect()
}

#[test]
fn models_cannot_distinguish_hidden_skills_from_missing_ones() {
    let without = world("");
    let nothing = shown(&without, answers(&skills(&without)));
    assert!(nothing.iter().any(|(_, answer)| answer.contains("plover")));
    for (why, tree) in hidden_skills() {
        let world = world(&tree);
        let hidden = shown(&world, answers(&skills(&world)));
        for ((asked, answer), (_, expected)) in hidden.iter().zip(&nothing) {
            assert!(!answer.contains(CANARY), "{why}: {asked}: {answer}");
            assert_eq!(answer, expected, "{why}: {asked}");
        }
    }
}

#[test]
fn change_of_a_hidden_skill_is_not_announced() {
    for (why, tree) in hidden_skills() {
        let world = world("");
        let skills = skills(&world);
        let mut session = skills.session(
            Policy::hybrid(Budget::tokens(4_000)),
            ContextLifetime::History,
        );
        session.listing();
        for tree in [&tree, &tree.replace("Hunts", "Catches")] {
            world.write(tree);
            skills.refresh().unwrap();
            let turn = session.turn("What is the weather?");
            assert_eq!(turn.text, None, "{why}");
            assert!(turn.announced.is_empty(), "{why}");
        }
    }
}

#[test]
fn skill_hidden_later_disappears_from_its_conversation() {
    let (_, tree) = hidden_skills().swap_remove(0);
    let open = tree.replace("disable-model-invocation: true", "license: MIT");
    let world = world(&open);
    let skills = skills(&world);
    let policy = Policy::hybrid(Budget::tokens(4_000));
    let mut session = skills.session(policy, ContextLifetime::Transient);
    session.listing();
    assert!(session.load(HIDDEN_ID, "").unwrap().text().contains(CANARY));
    world.write(&tree);
    skills.refresh().unwrap();
    let turn = session.turn("What is the weather?");
    let said = turn.text.unwrap();
    assert!(
        said.contains(HIDDEN_ID) && said.contains("removed"),
        "{said}"
    );
    assert!(!said.contains(CANARY), "{said}");
    let again = session.after_compaction(Budget::tokens(4_000), &[]);
    assert!(!format!("{:?}", again.text).contains(CANARY));
    assert!(session.load(HIDDEN_ID, "").is_err());
}

#[test]
fn user_gets_user_only_skills_and_the_reason_for_refusals() {
    let (_, people_only) = hidden_skills().swap_remove(0);
    let world = world(&people_only);
    let person = skills(&world).for_user();
    assert!(person.load(HIDDEN_ID, "").unwrap().text().contains(CANARY));
    assert_eq!(person.files(HIDDEN_ID, None, 10).unwrap().total, 2);
    assert!(person.read(HIDDEN_ID, "notes.md").is_ok());
    for (why, id, said) in [
        ("switched off", "kestrel-off", "disabled"),
        ("incompatible", HIDDEN_ID, "needs another version"),
        ("held", HIDDEN_ID, "held until you trust it"),
        ("untrusted", HIDDEN_ID, "not trusted"),
    ] {
        let (_, tree) = hidden_skills()
            .into_iter()
            .find(|(name, _)| *name == why)
            .unwrap();
        let world = self::world(&tree);
        let error = skills(&world).for_user().load(id, "").unwrap_err();
        assert!(error.hint().contains(said), "{error}: {}", error.hint());
    }
}

#[test]
fn agent_bound_to_a_hidden_skill_gets_only_the_others() {
    for (why, tree) in hidden_skills() {
        let world = world(&tree);
        for sees in Visibility::ALL {
            let agent = Agent::new("clerk")
                .with_skills([HIDDEN_ID, "plover"])
                .with_visibility(sees);
            let clerk = skills(&world).bind(agent);
            let composed = clerk.compose("", "").unwrap();
            assert!(composed.text.starts_with("Skill: plover\n"), "{why}");
            assert!(!composed.text.contains(CANARY), "{why}");
            assert!(clerk.load("plover", "").is_ok(), "{why}");
            let error = clerk.load(HIDDEN_ID, "").unwrap_err();
            assert_eq!(
                error.with_cause(),
                format!("There is no skill `{HIDDEN_ID}`")
            );
            // Whoever wrote the agent learns the reason.
            assert_eq!(clerk.missing(), composed.missing);
            assert_eq!(&*composed.missing[0].id, HIDDEN_ID);
        }
    }
}
