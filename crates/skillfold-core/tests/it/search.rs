//! Search finds skills by the words of a request, the best first.

use std::sync::Arc;

use proptest::prelude::*;
use skillfold_core::load::Digest;
use skillfold_core::search::{
    CorpusStatistics, DocumentBuilder, DocumentTexts, Embedder, QuantizedVector, Query,
    SearchCoverage, SearchDocument, SearchIndex,
};
use skillfold_core::{Catalog, CatalogOptions, Error, MemorySource, Root, Scope};

use crate::fake_source::{FakeSource, File, NOW, SECOND};

fn skill(name: &str, fields: &str, body: &str) -> (String, String) {
    let text = format!("---\nname: {name}\n{fields}\n---\n{body}");
    (format!("{name}/SKILL.md"), text)
}

fn catalog(skills: &[(String, String)]) -> Catalog {
    let files = skills.iter().map(|(path, text)| (&**path, &**text));
    let root = Root::new(Scope::User, "mine", MemorySource::new(files));
    Catalog::discover(vec![root], CatalogOptions::default(), std::time::UNIX_EPOCH)
}

fn office() -> Catalog {
    catalog(&[
        skill(
            "pdf-forms",
            "description: Fills in documents",
            "# Signing\nSigns with a seal.\n",
        ),
        skill(
            "mail",
            "description: Writes letters\ntags: [correspondence]",
            "Dear customer\n",
        ),
        skill(
            "tables",
            "description: Sums up numbers\ntriggers: [spreadsheet]",
            "Ask for the file.\n",
        ),
        skill("weather", "description: 查询天气预报", ""),
    ])
}

fn ids(index: &SearchIndex, request: &str) -> String {
    let found = index.search(&Query::new(request), 10, |_| true);
    let ids: Vec<_> = found.hits.iter().map(|hit| hit.entry.id()).collect();
    ids.join(" ")
}

#[test]
fn every_field_of_a_skill_is_searchable() {
    let index = SearchIndex::new(&office(), SearchCoverage::Bodies);
    assert_eq!(ids(&index, "I have a PDF form"), "pdf-forms");
    assert_eq!(ids(&index, "fill this document"), "pdf-forms");
    assert_eq!(ids(&index, "answer my correspondence"), "mail");
    assert_eq!(ids(&index, "Spreadsheets!"), "tables");
    assert_eq!(ids(&index, "it has to be signed"), "pdf-forms");
    assert_eq!(ids(&index, "dear customers"), "mail");
    assert_eq!(ids(&index, "明天天气怎么样"), "weather");
    assert_eq!(ids(&index, "what is this about?"), "");
}

#[test]
fn search_reports_its_coverage() {
    let metadata = SearchIndex::new(&office(), SearchCoverage::Metadata);
    let found = metadata.search(&Query::new("customer"), 10, |_| true);
    assert_eq!(
        (found.hits.len(), found.coverage),
        (0, SearchCoverage::Metadata)
    );
    let bodies = SearchIndex::new(&office(), SearchCoverage::Bodies);
    let found = bodies.search(&Query::new("customer"), 10, |_| true);
    assert_eq!(
        (found.hits.len(), found.coverage),
        (1, SearchCoverage::Bodies)
    );
}

#[test]
fn word_in_a_name_outranks_one_in_a_body() {
    let index = SearchIndex::new(
        &catalog(&[
            skill("a", "description: First", "Charts, charts and charts.\n"),
            skill("charts", "description: Second", ""),
            skill("c", "description: Makes charts", ""),
        ]),
        SearchCoverage::Bodies,
    );
    assert_eq!(ids(&index, "chart"), "charts c a");
}

#[test]
fn better_match_has_higher_confidence() {
    let index = SearchIndex::new(&office(), SearchCoverage::Bodies);
    let first = |request: &str| {
        let found = index.search(&index.query(request), 10, |_| true);
        found.hits.first().map_or(0.0, |hit| hit.confidence)
    };
    let (whole, part) = (
        first("fill in the documents, sign them with the seal"),
        first("a letter, a form, some numbers, a seal"),
    );
    assert!(whole > part, "{whole} {part}");
    assert!((0.0..=1.0).contains(&whole));
}

#[test]
fn hidden_skills_take_no_slot_in_the_results() {
    let skills: Vec<_> = (0..300)
        .map(|number| skill(&format!("chart-{number}"), "description: A chart", ""))
        .collect();
    let index = SearchIndex::new(&catalog(&skills), SearchCoverage::Metadata);
    let found = index.search(&Query::new("chart"), 10, |entry| entry.id() == "chart-299");
    assert_eq!(found.hits.len(), 1);
}

#[test]
fn overlong_request_is_searched_from_both_ends() {
    let index = SearchIndex::new(&office(), SearchCoverage::Metadata);
    let request = format!("letters {} numbers", "and so on ".repeat(4_000));
    let found = index.search(&Query::new(&request), 10, |_| true);
    assert_eq!(found.hits.len(), 2);
    assert!(found.unread.is_some());
}

#[test]
fn refreshed_index_equals_a_new_one() {
    let fake = FakeSource::default();
    for name in ["a", "b", "c"] {
        fake.put(name, File::new(name, &format!("Handles {name} things")));
    }
    let old = fake.discover(NOW);
    let index = SearchIndex::new(&old, SearchCoverage::Bodies);
    fake.put("b", File::new("b", "Handles other matters entirely"));
    fake.put("d", File::new("d", "Handles things"));
    fake.remove("c");
    let new = fake.refresh(&old, NOW + SECOND).catalog;
    fake.reads();
    let refreshed = index.refresh(&new);
    assert_eq!(ids(&refreshed, "things"), "a d");
    assert_eq!(ids(&refreshed, "matters"), "b");
    for request in ["things", "matters", "handle", "b", "c"] {
        assert_eq!(
            ids(&refreshed, request),
            ids(&SearchIndex::new(&new, SearchCoverage::Bodies), request)
        );
    }
}

/// Knows that a car is a vehicle; a real one knows more.
struct Vehicles;

impl Embedder for Vehicles {
    fn id(&self) -> &'static str {
        "vehicles-1"
    }

    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        let has = |text: &str, words: [&str; 2]| {
            let text = text.to_lowercase();
            f32::from(u8::from(words.iter().any(|word| text.contains(word))))
        };
        let vector = |text: &&str| {
            vec![
                has(text, ["car", "vehicle"]),
                has(text, ["letter", "mail"]),
                0.1,
            ]
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// Has lost its model.
struct Lost;

impl Embedder for Lost {
    fn id(&self) -> &'static str {
        "lost"
    }

    fn embed_documents(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        Err(Error::not_found("model"))
    }
}

fn garage() -> Catalog {
    catalog(&[
        skill("garage", "description: Repairs a vehicle", ""),
        skill("post", "description: Sends mail", ""),
    ])
}

#[test]
fn embedding_finds_skills_without_a_shared_word() {
    let by_words = SearchIndex::new(&garage(), SearchCoverage::Metadata);
    assert_eq!(ids(&by_words, "my car"), "");
    let index = SearchIndex::with_embedder(&garage(), SearchCoverage::Metadata, Arc::new(Vehicles));
    let found = index.search(&index.query("my car"), 1, |_| true);
    assert_eq!(found.hits[0].entry.id(), "garage");
    assert!(index.embedding_error().is_none());
    assert!(index.memory_bytes() > by_words.memory_bytes());
    let found = index.search(&index.query("write a letter"), 1, |entry| {
        entry.id() != "post"
    });
    assert_eq!(
        found.hits[0].entry.id(),
        "garage",
        "what may not be seen is not there"
    );
}

#[test]
fn named_skill_stays_first_however_similar_others_are() {
    let close = "description: Handles tiles of a vehicle and matters";
    let mut skills = vec![
        skill("kitchen", "description: Handles matters", ""),
        skill("bus", close, ""),
    ];
    let names: Vec<String> = (0..150).map(|number| format!("other{number}")).collect();
    let others = names.iter();
    skills.extend(others.map(|name| skill(name, "description: Handles matters", "")));
    let catalog = catalog(&skills);
    let by_words = SearchIndex::new(&catalog, SearchCoverage::Metadata);
    let by_meaning =
        SearchIndex::with_embedder(&catalog, SearchCoverage::Metadata, Arc::new(Vehicles));
    let first = |index: &SearchIndex, request: &str| {
        let found = index.search(&index.query(request), 1, |_| true);
        found.hits[0].entry.id().to_string()
    };
    let request = "kitchen matters with tiles and a car";
    assert_eq!(first(&by_words, request), "kitchen");
    assert_eq!(first(&by_meaning, request), "kitchen");
    let request = "the other7 matters with tiles and a car";
    assert_eq!(first(&by_words, request), "other7");
    assert_eq!(first(&by_meaning, request), "other7");
}

#[test]
fn search_falls_back_to_words_if_the_model_fails_and_says_why() {
    let index = SearchIndex::with_embedder(&garage(), SearchCoverage::Metadata, Arc::new(Lost));
    let found = index.search(&index.query("repair it"), 10, |_| true);
    assert_eq!(found.hits.len(), 1);
    assert!(index.embedding_error().is_some());
    assert!(index.query("repair it").embedding_error().is_some());
    assert!(index.refresh(&garage()).embedding_error().is_some());
}

/// Notes how many texts it gets at once.
#[derive(Default)]
struct Batches(std::sync::Mutex<Vec<usize>>);

impl Embedder for Batches {
    fn id(&self) -> &'static str {
        "batches"
    }

    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        self.0.lock().unwrap().push(texts.len());
        Vehicles.embed_documents(texts)
    }
}

#[test]
fn skills_are_never_embedded_one_at_a_time() {
    for skills in [2, 256, 257, 513] {
        let names: Vec<_> = (0..skills)
            .map(|number| format!("skill-{number}"))
            .collect();
        let files = names.iter();
        let files: Vec<_> = files
            .map(|name| skill(name, "description: Handles matters", ""))
            .collect();
        let batches = Arc::new(Batches::default());
        let embedder: Arc<dyn Embedder> = Arc::<Batches>::clone(&batches);
        SearchIndex::with_embedder(&catalog(&files), SearchCoverage::Metadata, embedder);
        let batches = batches.0.lock().unwrap();
        assert_eq!(batches.iter().sum::<usize>(), skills);
        let is_batch = |texts: &usize| (2..=256).contains(texts);
        assert!(batches.iter().all(is_batch), "{batches:?}");
    }
}

/// Fails until it is told not to.
struct Flaky(std::sync::atomic::AtomicBool);

impl Embedder for Flaky {
    fn id(&self) -> &'static str {
        "flaky"
    }

    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        if self.0.load(std::sync::atomic::Ordering::Relaxed) {
            return Vehicles.embed_documents(texts);
        }
        Err(Error::not_found("model"))
    }
}

#[test]
fn failed_embeddings_are_retried_by_the_next_refresh() {
    let flaky = Arc::new(Flaky(false.into()));
    let catalog = garage();
    let embedder: Arc<dyn Embedder> = Arc::<Flaky>::clone(&flaky);
    let index = SearchIndex::with_embedder(&catalog, SearchCoverage::Metadata, embedder);
    assert!(index.embedding_error().is_some());
    flaky.0.store(true, std::sync::atomic::Ordering::Relaxed);
    let index = index.refresh(&catalog);
    assert!(index.embedding_error().is_none());
    let found = index.search(&index.query("my car"), 1, |_| true);
    assert_eq!(found.hits[0].entry.id(), "garage");
}

#[test]
fn embedding_round_trips_with_its_document() {
    let with = document("a", "b", "c").with_embedding(QuantizedVector::new(&[1.0, -0.5]));
    let read = SearchDocument::from_bytes(&with.to_bytes()).unwrap();
    assert_eq!(read.embedding(), with.embedding());
    assert!(read.embedding().is_some());
}

/// Indexes on disk are made again when the version changes, and only then.
#[test]
fn document_bytes_match_the_format_version() {
    let text =
        "# Forms\nUse when someone fills in `getUserName`, naïve 天气.\n```sh\nrun it\n```\n";
    let bytes = document(
        "pdf-forms",
        "Fills in forms. Not for letters. For bills, use `pay`.",
        text,
    )
    .to_bytes();
    let made = format!("{} {}", SearchDocument::VERSION, Digest::sha256(&bytes));
    insta::assert_snapshot!(made, @"3 sha256:7d557d01662917b2faffe126ccf75142d87c1400fde9ae2bf25a7cecb67ad150");
}

#[test]
fn many_changes_rebuild_the_index() {
    let fake = FakeSource::default();
    for number in 0..200 {
        let name = format!("skill-{number}");
        fake.put(&name, File::new(&name, "Handles things"));
    }
    let old = fake.discover(NOW);
    let index = SearchIndex::new(&old, SearchCoverage::Metadata);
    for number in 0..150 {
        let name = format!("skill-{number}");
        fake.put(&name, File::new(&name, "Handles other matters"));
    }
    let new = fake.refresh(&old, NOW + SECOND).catalog;
    let refreshed = index.refresh(&new);
    let count = |request: &str| {
        refreshed
            .search(&Query::new(request), 500, |_| true)
            .hits
            .len()
    };
    assert_eq!((count("things"), count("matters")), (50, 150));
    let again = refreshed.refresh(&fake.refresh(&new, NOW + 2 * SECOND).catalog);
    assert_eq!(
        ids(&again, "skill-7 matters"),
        ids(&refreshed, "skill-7 matters")
    );
}

#[test]
fn corpus_statistics_round_trip() {
    let mut statistics: CorpusStatistics = [document("a", "b c", "d")].iter().collect();
    assert_eq!(
        CorpusStatistics::from_bytes(&statistics.to_bytes()),
        Some(statistics)
    );
    assert_eq!(CorpusStatistics::from_bytes(b"short"), None);
    statistics.remove(&document("a", "b c", "d"));
    assert_eq!(statistics, CorpusStatistics::default());
}

fn document(name: &str, description: &str, body: &str) -> SearchDocument {
    DocumentBuilder::new().from_texts(
        &DocumentTexts::default()
            .with_name(name)
            .with_description(description)
            .with_body(Some(body)),
    )
}

/// Words that skills and requests share, and any others, between spaces of every width.
fn text() -> impl Strategy<Value = String> {
    let words = [
        "forms",
        "Fill",
        "pdf",
        "天气预报",
        "ΟΔΟΣ",
        "straße",
        "e\u{301}té",
        "👩‍🚀",
    ];
    let word = prop_oneof![
        3 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned),
        1 => proptest::collection::vec(any::<char>(), 0..6).prop_map(String::from_iter),
    ];
    let space = proptest::sample::select(&[" ", "\u{a0}", "\u{3000}", "\n", ""][..]);
    proptest::collection::vec((word, space), 0..12).prop_map(|words| {
        words
            .into_iter()
            .flat_map(|(word, space)| [word, space.to_owned()])
            .collect()
    })
}

/// Skills, several of which may say the same.
fn skills() -> impl Strategy<Value = Vec<(String, String)>> {
    let skill = |(number, description, body): (usize, String, String)| {
        let escaped = description
            .chars()
            .map(|one| format!("\\U{:08X}", u32::from(one)));
        let description: String = escaped.collect();
        skill(
            &format!("s{number}"),
            &format!("description: \"Forms {description}\""),
            &body,
        )
    };
    let texts = proptest::collection::vec((text(), text()), 1..4);
    let skills =
        proptest::collection::btree_map(0..40_usize, any::<proptest::sample::Index>(), 1..16);
    (texts, skills).prop_map(move |(texts, skills)| {
        let of = |(number, index): (usize, proptest::sample::Index)| {
            let (description, body) = index.get(&texts).clone();
            skill((number, description, body))
        };
        skills.into_iter().map(of).collect()
    })
}

/// Returns the hits of a request, each by its score and its id.
fn scored(skills: &[(String, String)], request: &str) -> Vec<(f32, String)> {
    let index = SearchIndex::new(&catalog(skills), SearchCoverage::Bodies);
    let found = index.search(&Query::new(request), 100, |_| true);
    let hit = |hit: &skillfold_core::search::SearchHit<'_>| (hit.score, hit.entry.id().to_owned());
    found.hits.iter().map(hit).collect()
}

proptest! {
    #[test]
    fn hits_are_ordered_by_score_then_id(skills in skills(), request in text()) {
        let hits = scored(&skills, &request);
        for two in hits.windows(2) {
            let order = two[1].0.total_cmp(&two[0].0).then(two[0].1.cmp(&two[1].1));
            prop_assert!(order.is_lt(), "{:?}", two);
        }
        let reversed: Vec<_> = skills.iter().rev().cloned().collect();
        prop_assert_eq!(scored(&reversed, &request), hits);
    }

    #[test]
    fn document_round_trips(name in "[a-z-]{1,20}", description in "\\PC{0,80}", body in "\\PC{0,200}") {
        let document = document(&name, &description, &body);
        prop_assert_eq!(SearchDocument::from_bytes(&document.to_bytes()), Some(document));
    }

    #[test]
    fn invalid_document_bytes_are_none_and_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Some(document) = SearchDocument::from_bytes(&bytes) {
            prop_assert_eq!(document.to_bytes(), bytes);
        }
    }

    #[test]
    fn results_of_any_request_are_ordered(request in "\\PC{0,200}") {
        let index = SearchIndex::new(&office(), SearchCoverage::Bodies);
        prop_assert_eq!(ids(&index, &request), ids(&index, &request));
    }
}
