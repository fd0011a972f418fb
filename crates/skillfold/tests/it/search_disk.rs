//! A host that has a place for it searches many skills on disk, and finds what it would find in memory.
#![expect(
    clippy::disallowed_methods,
    reason = "skills are changed, and the cache is broken, from outside"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use skillfold::core::search::SearchCoverage;
use skillfold::core::{FsSource, Root, Scope};
use skillfold::{Environment, Host, Skills};
use tempfile::TempDir;

const WORDS: [&str; 8] = [
    "invoices", "weather", "letters", "tables", "forms", "pictures", "music", "taxes",
];
const REQUESTS: [&str; 4] = [
    "sort the invoices by customer 17",
    "letters and pictures",
    "music for number 1044, please",
    "what do taxes have to do with the weather?",
];

/// Folders of skills and of a cache.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new(skills: usize) -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for number in 0..skills {
            let (one, other) = (WORDS[number % 8], WORDS[number / 8 % 8]);
            let text = format!("Sorts {one} of number {number}");
            place.put(number, &text, &format!("Look at {other}.\n"));
        }
        place
    }

    fn put(&self, number: usize, description: &str, body: &str) {
        let folder = self.skills().join(format!("s{number}"));
        fs::create_dir_all(&folder).unwrap();
        let text = format!("---\nname: s{number}\ndescription: {description}\n---\n{body}");
        fs::write(folder.join("SKILL.md"), text).unwrap();
    }

    fn skills(&self) -> PathBuf {
        self.folder.path().join("skills")
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn host(&self) -> Host {
        let source = FsSource::open(self.skills()).unwrap();
        let environment = Environment::new(self.folder.path());
        Host::new(environment).root(Root::new(Scope::User, "many", source))
    }

    fn start(&self) -> Skills {
        self.host().cache(self.cache()).discover().unwrap().skills
    }

    /// Returns the files of the index, each with its size.
    fn files(&self) -> BTreeMap<PathBuf, u64> {
        let mut files = BTreeMap::new();
        gather(&self.cache().join("search"), &mut files);
        files
    }
}

fn gather(folder: &Path, files: &mut BTreeMap<PathBuf, u64>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let metadata = entry.metadata().unwrap();
        if metadata.is_dir() {
            gather(&entry.path(), files);
        } else {
            files.insert(entry.path(), metadata.len());
        }
    }
}

fn ids(skills: &Skills, request: &str) -> Vec<String> {
    let found = skills.search(request, 10);
    assert_eq!(found.problem, None, "{request}");
    assert_eq!(found.coverage, SearchCoverage::Bodies);
    found.hits.iter().map(|hit| hit.id.to_string()).collect()
}

#[test]
fn disk_index_finds_the_same_as_the_memory_index() {
    let place = Place::new(1_200);
    let (memory, disk) = (place.host().discover().unwrap().skills, place.start());
    for request in REQUESTS {
        assert_eq!(ids(&disk, request), ids(&memory, request), "{request}");
    }
    assert!(!place.files().is_empty());
    assert_eq!(memory.search("invoices", 10).searched, 1_200);
}

#[test]
fn next_start_writes_nothing_if_nothing_changed() {
    let place = Place::new(1_000);
    let first = ids(&place.start(), REQUESTS[0]);
    let files = place.files();
    assert_eq!(ids(&place.start(), REQUESTS[0]), first);
    assert_eq!(place.files(), files);
}

#[test]
fn changed_skill_is_found_by_its_new_text() {
    let place = Place::new(1_000);
    let skills = place.start();
    assert_eq!(ids(&skills, "zebras"), [""; 0]);
    place.put(3, "Draws zebras and other animals", "");
    skills.refresh().unwrap();
    assert_eq!(ids(&skills, "zebras"), ["s3"]);
    fs::remove_dir_all(place.skills().join("s3")).unwrap();
    skills.refresh().unwrap();
    assert_eq!(ids(&skills, "zebras"), [""; 0]);
    assert_eq!(ids(&place.start(), "zebras"), [""; 0]);
}

#[test]
fn damaged_index_is_rebuilt_and_reported() {
    let place = Place::new(1_000);
    let whole = ids(&place.start(), REQUESTS[1]);
    for file in place.files().into_keys() {
        fs::write(file, "no index").unwrap();
    }
    let found = place.start().search(REQUESTS[1], 10);
    let problem = found.problem.unwrap();
    assert!(problem.ends_with("it was rebuilt"), "{problem}");
    let hits: Vec<&str> = found.hits.iter().map(|hit| &*hit.id).collect();
    assert_eq!(hits, whole);
    assert_eq!(ids(&place.start(), REQUESTS[1]), whole);
}

#[test]
fn index_damaged_during_a_search_is_reported_and_rebuilt() {
    let place = Place::new(1_000);
    place.put(7, "Draws zebras", "Mind the okapi.\n");
    let skills = place.start();
    assert_eq!(ids(&skills, "okapi"), ["s7"]);
    std::thread::sleep(std::time::Duration::from_millis(12));
    for file in place.files().into_keys() {
        let file = fs::File::options().write(true).open(file).unwrap();
        file.set_len(10).unwrap();
    }
    let found = skills.search("zebras", 10);
    assert_eq!(found.hits.len(), 1, "never silence");
    assert!(found.is_fallback && found.coverage == SearchCoverage::Metadata);
    assert!(found.problem.unwrap().contains("damaged"));
    // It is made again without a refresh, and nothing is left to be said.
    for attempt in 0.. {
        let found = skills.search("okapi", 10);
        if found.hits.len() == 1 {
            assert!(!found.is_fallback && found.coverage == SearchCoverage::Bodies);
            break;
        }
        assert!(found.is_fallback && found.problem.is_some());
        assert!(attempt < 600, "{:?}", skills.search_problem());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(ids(&skills, "zebras"), ["s7"]);
    assert_eq!(skills.search_problem(), None);
    skills.refresh().unwrap();
    assert_eq!(ids(&skills, "okapi"), ["s7"]);
}

#[test]
fn unusable_index_path_loses_no_skill() {
    let place = Place::new(1_000);
    fs::write(place.cache(), "a file").unwrap();
    let found = place.start().search(REQUESTS[1], 10);
    assert!(found.problem.is_some());
    let hits: Vec<&str> = found.hits.iter().map(|hit| &*hit.id).collect();
    assert_eq!(
        hits,
        ids(&place.host().discover().unwrap().skills, REQUESTS[1])
    );
}

#[test]
fn nothing_is_written_for_few_skills_or_if_disabled() {
    let few = Place::new(50);
    ids(&few.start(), REQUESTS[0]);
    assert!(few.files().is_empty());
    let many = Place::new(1_000);
    let host = many.host().cache(many.cache()).set("index", "off");
    ids(&host.discover().unwrap().skills, REQUESTS[0]);
    assert!(many.files().is_empty());
}

#[test]
fn request_among_many_skills_uses_the_disk_index() {
    use skillfold::core::{ContextLifetime, Policy};
    let place = Place::new(1_000);
    place.put(7, "Draws zebras and other animals on paper", "");
    let skills = place.start();
    let mut session = skills.session(Policy::triggered(), ContextLifetime::History);
    let turn = session.turn("Draw me some zebras and other animals on paper");
    assert_eq!(&*turn.decisions[0].id, "s7");
    assert!(!place.files().is_empty());
}
