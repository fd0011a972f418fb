//! The index on disk answers as the one in memory.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::Value;
use skillfold_core::search::{DocumentBuilder, Query, SearchCoverage, SearchIndex};
use skillfold_core::{Catalog, CatalogOptions, MemorySource, Root, Scope};
use skillfold_index::{DiskIndex, DocumentKey};

use super::{Skill, many};

/// Hits that are compared: as many as a tool gives.
const TOP: usize = 20;

/// Both indexes of the same skills.
struct Both {
    memory: SearchIndex,
    disk: DiskIndex,
    /// By the order of the catalog, which is how equal ones are ordered in memory.
    keys: Vec<(DocumentKey, String)>,
    _folder: tempfile::TempDir,
}

impl Both {
    fn new(skills: &[Skill]) -> Self {
        let files = skills
            .iter()
            .enumerate()
            .map(|(number, (name, description))| {
                let (name, description) = (Value::from(&**name), Value::from(&**description));
                let text = format!("---\nname: {name}\ndescription: {description}\n---\n");
                (format!("{number:06}/SKILL.md"), text)
            });
        let root = Root::new(Scope::User, "mine", MemorySource::new(files));
        let catalog =
            Catalog::discover(vec![root], CatalogOptions::default(), std::time::UNIX_EPOCH);
        let folder = tempfile::tempdir().unwrap();
        let disk = DiskIndex::open(folder.path(), "1");
        let (mut documents, mut keys, mut given) = (DocumentBuilder::new(), Vec::new(), Vec::new());
        for (number, entry) in catalog.entries().enumerate() {
            let key = DocumentKey::new((number as u128).to_be_bytes());
            keys.push((key, entry.id().to_owned()));
            given.push((key, documents.from_manifest(&entry.skill().manifest, None)));
        }
        let given = given
            .into_iter()
            .map(|(key, document)| (key, || Some(document)));
        disk.sync(given).unwrap();
        let memory = SearchIndex::new(&catalog, SearchCoverage::Metadata);
        Self {
            memory,
            disk,
            keys,
            _folder: folder,
        }
    }

    fn by_memory(&self, request: &str) -> Vec<(&str, f32, f32)> {
        let found = self.memory.search(&Query::new(request), TOP, |_| true);
        let hits = found.hits.iter();
        hits.map(|hit| (hit.entry.id(), hit.score, hit.confidence))
            .collect()
    }

    fn by_disk(&self, request: &str) -> Vec<(&str, f32, f32)> {
        let place = |key: DocumentKey| {
            let place = usize::try_from(u128::from_be_bytes(key.bytes())).unwrap();
            Some(place)
        };
        let answer = self.disk.search(&Query::new(request), TOP, place).unwrap();
        let hits = answer.hits.iter();
        hits.map(|hit| (&*self.keys[hit.value].1, hit.score, hit.confidence))
            .collect()
    }
}

#[test]
fn first_hits_match_the_memory_index() {
    let both = Both::new(&many(150));
    for request in [
        "charts",
        "make a letter of kindfx",
        "skilljx, skillkx and the weather",
        "everybody",
        "nothing of that",
        "",
    ] {
        assert_eq!(both.by_disk(request), both.by_memory(request), "{request}");
    }
    assert_eq!(both.by_disk("charts").len(), TOP);
}

#[test]
#[ignore = "needs the corpus beside the checkout"]
fn first_hits_on_the_corpus_match_the_memory_index() {
    let pool = records("pool.jsonl.zst", 2_000);
    let skills: Vec<Skill> = pool
        .iter()
        .map(|record| (text(record, "name"), text(record, "description")))
        .collect();
    let both = Both::new(&skills);
    let requests = records("queries.jsonl.zst", 400);
    let mut differ = Vec::new();
    for request in &requests {
        let request = text(request, "query");
        let (disk, memory) = (both.by_disk(&request), both.by_memory(&request));
        let ids = |hits: &[(&str, f32, f32)]| hits.iter().map(|hit| hit.0.to_owned()).collect();
        let (by_disk, by_memory): (Vec<String>, Vec<String>) = (ids(&disk), ids(&memory));
        assert_eq!(by_disk, by_memory, "{request}");
        // How likely a skill is goes by all that were looked at, of which the last few may be others.
        if disk != memory {
            differ.push(request);
        }
    }
    assert!(differ.len() * 50 <= requests.len(), "{differ:#?}");
}

#[test]
fn equal_scores_rank_the_same_on_disk_and_in_memory() {
    // More than are looked at closely, all of which answer as well.
    let skills: Vec<Skill> = (0..700)
        .rev()
        .map(|number| super::skill(&super::word("skill", number), "Makes charts for everybody"))
        .collect();
    let both = Both::new(&skills);
    assert_eq!(both.by_disk("charts"), both.by_memory("charts"));
}

fn text(record: &Value, key: &str) -> String {
    record[key].as_str().unwrap().to_owned()
}

/// Reads the first `count` records of a file.
fn records(file: &str, count: usize) -> Vec<Value> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    let path = Path::new(&package)
        .join("../../..")
        .join("shared/data/retrieval")
        .join(file);
    let file = File::open(path).expect("there are labelled requests beside the checkout");
    let mut decoder = zstd::Decoder::new(file).unwrap();
    decoder.window_log_max(27).unwrap();
    let lines = BufReader::new(decoder).lines().take(count);
    lines
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect()
}
