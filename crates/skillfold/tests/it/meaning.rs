//! What means the same is found though no word is the same, where something tells meanings.

#[cfg(feature = "model")]
use std::path::PathBuf;
use std::sync::Arc;

use skillfold::core::choose::Signal;
use skillfold::core::search::Embedder;
use skillfold::core::{ContextLifetime, Error, Policy};
use skillfold::{Host, Settings};

use crate::world::World;

const SKILLS: &str = "
    //- person/.agents/skills/car/SKILL.md
    ---
    name: car
    description: Repairs a car
    ---
    Look at the motor.
    //- person/.agents/skills/cake/SKILL.md
    ---
    name: cake
    description: Bakes a cake
    ---
    Look at the oven.
";

/// Knows that some words are about the same.
struct Thesaurus;

impl Embedder for Thesaurus {
    fn id(&self) -> &'static str {
        "thesaurus-1"
    }

    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        let has = |text: &str, words: [&str; 2]| -> f32 {
            let is_there = words.iter().any(|word| text.to_lowercase().contains(word));
            if is_there { 1.0 } else { 0.01 }
        };
        let vector = |text: &&str| {
            let (car, cake) = (
                has(text, ["car", "automobile"]),
                has(text, ["cake", "gateau"]),
            );
            vec![car, cake, 1.01 - car.max(cake)]
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fn found(host: Host, request: &str) -> Vec<String> {
    let found = host.discover().unwrap().skills.search(request, 10);
    assert_eq!(found.problem, None);
    found.hits.iter().map(|hit| hit.id.to_string()).collect()
}

#[test]
fn search_with_a_host_embedder_finds_synonyms() {
    let world = World::new(SKILLS);
    let request = "My automobile is broken";
    assert_eq!(found(world.host(), request), [""; 0]);
    let host = world.host().embedder(Arc::new(Thesaurus));
    assert_eq!(found(host, request)[0], "car");
    let host = world.host().embedder(Arc::new(Thesaurus));
    assert_eq!(found(host, "A gateau, please")[0], "cake");
}

#[test]
fn turn_ranks_by_meaning_if_an_embedder_is_available() {
    let skill = |name: &str| {
        format!(
            "//- person/.agents/skills/{name}/SKILL.md\n---\nname: {name}\ndescription: Repairs a {name} in the workshop\n---\nLook.\n"
        )
    };
    let world = World::new(&["bike", "car", "clock"].map(skill).concat());
    let say = |host: Host, matching: &str| {
        let host = host
            .set("disclosure", "triggered")
            .set("matching", matching);
        let skills = host.discover().unwrap().skills;
        let mut policy = skills.report().settings.policy();
        if let Some(suggesting) = &mut policy.suggestions {
            // The host wants to hear of what is unlikely too.
            suggesting.show_from = 0.01;
        }
        let mut session = skills.session(policy, ContextLifetime::History);
        let turn = session.turn("Please repair my automobile in the workshop");
        assert_eq!(skills.search_problem(), None);
        let brought = turn.decisions.iter();
        let brought = brought.map(|one| (one.id.to_string(), one.signal, one.confidence.unwrap()));
        brought.collect::<Vec<_>>()
    };
    // By words they are alike.
    let by_words = say(world.host(), "hybrid");
    assert_eq!(by_words[0].0, "bike", "{by_words:?}");
    let told = || world.host().embedder(Arc::new(Thesaurus));
    let by_meaning = say(told(), "hybrid");
    let (id, signal, confidence) = &by_meaning[0];
    assert_eq!((&**id, *signal), ("car", Signal::Search), "{by_meaning:?}");
    assert!(*confidence > by_words[0].2, "{by_words:?} {by_meaning:?}");
    assert_eq!(say(told(), "keyword"), []);
}

/// Fails for single texts, which are requests, until it is told not to.
#[derive(Default)]
struct Flaky(std::sync::atomic::AtomicBool);

impl Embedder for Flaky {
    fn id(&self) -> &'static str {
        Thesaurus.id()
    }

    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        if texts.len() == 1 && !self.0.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(Error::not_found("model"));
        }
        Thesaurus.embed_documents(texts)
    }
}

#[test]
fn search_whose_request_was_not_embedded_says_so_and_is_not_cached() {
    let world = World::new(SKILLS);
    let flaky = Arc::new(Flaky::default());
    let host = world.host().embedder(Arc::<Flaky>::clone(&flaky));
    let skills = host.discover().unwrap().skills;
    let mut session = skills.session(Policy::default(), ContextLifetime::History);
    let mut search = || {
        let arguments = serde_json::json!({ "query": "My automobile is broken" });
        session.call("list_skills", &arguments.to_string()).text()
    };
    let by_words = search();
    assert!(by_words.contains("only by its words"), "{by_words}");
    assert!(!by_words.contains("Repairs a car"), "{by_words}");
    flaky.0.store(true, std::sync::atomic::Ordering::Relaxed);
    let by_meaning = search();
    assert!(by_meaning.contains("Repairs a car"), "{by_meaning}");
    assert!(!by_meaning.contains("only by its words"), "{by_meaning}");
}

#[test]
fn unusable_model_is_reported_and_word_search_still_works() {
    let world = World::new(SKILLS);
    let host = world.host().set("model", "~/no-model");
    let skills = host.set("matching", "semantic").discover().unwrap().skills;
    assert_eq!(skills.search_problem(), None);
    let mut session = skills.session(skills.report().settings.policy(), ContextLifetime::History);
    session.turn("Repair my car");
    let problem = skills.search_problem().unwrap();
    assert!(problem.contains("no-model"), "{problem}");
    let found = skills.search("Repair my car", 10);
    assert_eq!(&*found.hits[0].id, "car");
    assert_eq!(found.problem, Some(problem));
}

#[test]
fn word_search_needs_no_model() {
    assert_eq!(Settings::default().model.value, None);
    let world = World::new(SKILLS);
    let mut session = world
        .skills()
        .session(Policy::triggered(), ContextLifetime::History);
    let turn = session.turn("Can you please repair a car?");
    assert_eq!(&*turn.decisions[0].id, "car");
}

/// The real thing: a static model that tests are given the folder of.
#[cfg(feature = "model")]
#[test]
#[ignore = "needs a model"]
#[expect(
    clippy::disallowed_methods,
    reason = "the folder is told by the environment"
)]
fn search_with_the_configured_model_finds_synonyms() {
    let models = std::env::var_os("TEST_MODELS").expect("TEST_MODELS names the folder of models");
    let model = PathBuf::from(models).join("static");
    let world = World::new(SKILLS);
    let host = |cache: &str| {
        let model = model.display().to_string();
        let host = world.host().set("model", model).cache(world.path(cache));
        host.set("matching", "semantic")
    };
    for _ in 0..2 {
        assert_eq!(found(host("cache"), "My automobile is broken")[0], "car");
    }
    // What was computed is kept beside the other caches, and is used again.
    assert!(world.path("cache/vectors").is_dir());
}
