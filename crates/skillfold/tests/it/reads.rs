//! What is read of skills, and when: nothing before it is needed, and nothing twice.

use std::time::{Duration, Instant};

use skillfold::core::catalog::Filter;
use skillfold::core::search::{Query, SearchCoverage, SearchIndex};
use skillfold::core::{ContextLifetime, ErrorKind, Scope};
use skillfold::{Session, Skills};

use crate::counting::{Asked, Counting};

/// A thousand skills; of every hundred one is about PDF, by its description alone.
fn many() -> Counting {
    let names: Vec<String> = (0..1_000).map(|number| format!("s{number:03}")).collect();
    Counting::new(names.iter().enumerate().map(|(number, name)| {
        let fields = match number % 100 {
            7 => "description: Helps with PDF processing of forms\ntriggers: [acroform]",
            _ => "description: Sorts letters by their sender",
        };
        let body = format!("Word{number} is said here and PDF is everywhere.\n");
        (name.as_str(), fields.to_owned(), body)
    }))
}

fn session(skills: &Skills) -> Session {
    skills.session(skills.report().settings.policy(), ContextLifetime::History)
}

/// Fails if none of five runs takes less time than a person notices.
#[track_caller]
fn at_once(run: impl Fn()) {
    let runs = (0..5).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    let fastest = runs.min().unwrap();
    assert!(fastest < Duration::from_millis(100), "{fastest:?}");
}

#[test]
fn discovery_reads_the_head_of_each_file_and_keeps_no_instructions() {
    let long = "A sentence of long instructions.\n".repeat(10_000);
    let fields = "description: d".to_owned();
    let names = ["a", "b", "c"];
    let source = Counting::new(names.map(|name| (name, fields.clone(), long.clone())));
    let skills = source.host().discover().unwrap().skills;
    let asked = source.asked();
    assert_eq!((skills.catalog().len(), asked.reads), (3, 3));
    assert!(asked.bytes <= 3 * 4_096, "{asked:?}");
    let catalog = skills.catalog();
    assert!(!format!("{:?}", catalog.get("a").unwrap().skill()).contains("A sentence"));
    assert_eq!(skills.load("a", "").unwrap().body(), long);
}

#[test]
fn filters_by_source_name_and_description_read_no_file() {
    let source = many();
    let skills = source.host().discover().unwrap().skills;
    source.asked();
    let catalog = skills.catalog();
    let found = |filter: &Filter| catalog.page(filter, None, 1_000).entries.len();
    let filter = Filter::default;
    at_once(|| {
        assert_eq!(found(&filter().scope(Scope::Bundled)), 1_000);
        assert_eq!(found(&filter().scope(Scope::User)), 0);
        assert_eq!(found(&filter().name("^s[0-4]07$").unwrap()), 5);
        assert_eq!(found(&filter().words("PDF processing")), 10);
        assert_eq!(found(&filter().words("word7")), 0);
    });
    assert_eq!(source.asked(), Asked::default());
}

#[test]
fn description_search_reads_no_file() {
    let source = many();
    let skills = source.host().discover().unwrap().skills;
    source.asked();
    let catalog = skills.catalog();
    let index = SearchIndex::new(&catalog, SearchCoverage::Metadata);
    let query = Query::new("PDF processing");
    at_once(|| {
        let found = index.search(&query, 100, |_| true);
        let ids: Vec<&str> = found.hits.iter().map(|hit| hit.entry.id()).collect();
        let expected: Vec<String> = (0..10).map(|number| format!("s{number}07")).collect();
        assert_eq!(ids, expected);
    });
    assert_eq!(source.asked(), Asked::default());
}

#[test]
fn lookup_by_id_lists_no_folder() {
    let source = many();
    let skills = source.host().discover().unwrap().skills;
    assert!(source.asked().lists > 0);
    for id in ["s007", "S007", "bundled:s007"] {
        assert_eq!(skills.load(id, id).unwrap().id(), "s007");
        let asked = source.asked();
        assert_eq!((asked.lists, asked.reads), (0, 1), "{id}");
    }
    assert!(skills.load("s7777", "").is_err());
    assert!(skills.read("s007", "SKILL.md").is_ok());
    let asked = source.asked();
    assert_eq!((asked.lists, asked.reads), (0, 1));
    let path = skills
        .catalog()
        .get("s007")
        .unwrap()
        .skill()
        .folder
        .path()
        .to_owned();
    assert_eq!(path, "s007");
}

#[test]
fn instructions_are_read_only_on_demand() {
    let source = many();
    let skills = source
        .host()
        .set("matching", "keyword")
        .discover()
        .unwrap()
        .skills;
    source.asked();
    let mut asking = session(&skills);
    asking.listing();
    for request in ["What is 2+2?", "PDF processing", "s007", "what can you do?"] {
        asking.turn(request);
    }
    assert_eq!(source.asked(), Asked::default());
    asking.turn("Fill in this acroform");
    // The first three that match are given.
    assert_eq!(source.asked().reads, 3);
    asking.load("s000", "").unwrap();
    assert_eq!(source.asked().reads, 1);
}

#[test]
fn search_reads_each_file_once_and_loads_none() {
    let source = many();
    let skills = source.host().discover().unwrap().skills;
    source.asked();
    let mut asking = session(&skills);
    asking.turn("What is 2+2?");
    assert_eq!(source.asked().reads, 1_000);
    for request in ["What is 3+3?", "Thanks!", "And now?"] {
        asking.turn(request);
        assert_eq!(source.asked(), Asked::default(), "{request}");
    }
    // Words are kept, no instructions.
    assert_eq!(
        (skills.cache_stats().entries, skills.cache_stats().misses),
        (0, 0)
    );
}

#[test]
fn catalog_lookup_and_listing_read_no_file_and_wait_for_no_scan() {
    let source = many();
    let skills = source.host().discover().unwrap().skills;
    let mut session = session(&skills);
    source.asked();
    let held = source.hold_scans();
    std::thread::scope(|scope| {
        let refreshed = scope.spawn(|| skills.refresh());
        while source.asked().lists == 0 {
            std::thread::yield_now();
        }
        // The refresh has the lock and waits for its scan.
        assert_eq!(skills.catalog().len(), 1_000);
        assert!(skills.get("s007").is_ok());
        assert!(session.listing().listed > 0);
        assert!(!session.tools().is_empty());
        assert_eq!(source.asked(), Asked::default());
        drop(held);
        refreshed.join().unwrap().unwrap();
    });
}

#[test]
fn conversation_reads_and_searches_only_visible_skills() {
    let skill = |name: &str| (name.to_owned(), "description: Sorts letters".to_owned());
    let skills = ["mail", "post"].map(skill);
    let source = Counting::new(
        (skills.iter()).map(|(name, fields)| (&**name, fields.clone(), "Sort.\n".to_owned())),
    );
    let skills = source.host().discover().unwrap().skills;
    let parent = session(&skills);
    let mut child = parent.child(["post"]).unwrap();
    let found = |session: &Session| {
        let hits = session.search("sorts letters", 10).hits.into_iter();
        let mut ids: Vec<String> = hits.map(|hit| hit.id.into()).collect();
        ids.sort();
        ids
    };
    assert_eq!(found(&parent), ["mail", "post"]);
    assert_eq!(found(&child), ["post"]);
    for session in [&parent, &child] {
        assert!(session.read("post", "SKILL.md").is_ok());
        assert!(session.files("post", None, 10).is_ok());
    }
    assert!(parent.read("mail", "SKILL.md").is_ok());
    let errors = [
        child.read("mail", "SKILL.md").unwrap_err(),
        child.read_range("mail", "SKILL.md", ..10).unwrap_err(),
        child.files("mail", None, 10).unwrap_err(),
        child.load("mail", "").unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
}
