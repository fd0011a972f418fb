//! A model from a folder finds by meaning, and whatever is in its files does no harm.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillfold_core::search::{
    DocumentBuilder, DocumentTexts, Embedder, QuantizedVector, SearchCoverage, SearchDocument,
    SearchIndex,
};
use skillfold_core::{Catalog, CatalogOptions, Error, ErrorKind, MemorySource, Root, Scope};
use skillfold_index::StaticModel;

/// A model of nine words, of which each has a direction that it shares with those that mean nearly the same.
const WORDS: [(&str, [f32; 3]); 9] = [
    ("[UNK]", [0.0, 0.0, 0.0]),
    ("car", [1.0, 0.0, 0.0]),
    ("automobile", [1.0, 0.1, 0.0]),
    ("repairs", [0.8, 0.2, 0.1]),
    ("letter", [0.0, 1.0, 0.0]),
    ("mail", [0.0, 1.0, 0.1]),
    ("writes", [0.1, 0.9, 0.0]),
    ("cooks", [0.0, 0.0, 1.0]),
    ("soup", [0.1, 0.0, 1.0]),
];

fn tokenizer(words: &[(&str, [f32; 3])]) -> Vec<u8> {
    let numbered = words.iter().zip(0..);
    let words = numbered.map(|((word, _), number): (_, u32)| ((*word).to_owned(), number.into()));
    let words: serde_json::Map<String, serde_json::Value> = words.collect();
    let tokenizer = serde_json::json!({
        "version": "1.0",
        "added_tokens": [],
        "normalizer": { "type": "Lowercase" },
        "pre_tokenizer": { "type": "Whitespace" },
        "model": { "type": "WordLevel", "vocab": words, "unk_token": "[UNK]" },
    });
    tokenizer.to_string().into_bytes()
}

/// Writes a tensor as the format safetensors has it.
fn tensor(name: &str, rows: &[[f32; 3]]) -> Vec<u8> {
    let head = serde_json::json!({
        name: { "dtype": "F32", "shape": [rows.len(), 3], "data_offsets": [0, rows.len() * 12] }
    });
    let head = head.to_string();
    let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
    bytes.extend(head.bytes());
    bytes.extend(rows.iter().flatten().flat_map(|part| part.to_le_bytes()));
    bytes
}

fn table() -> Vec<u8> {
    tensor("embeddings", &WORDS.map(|(_, direction)| direction))
}

/// Lays out the model of nine words.
fn small() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("config.json"), r#"{"normalize":true}"#).unwrap();
    fs::write(folder.path().join("tokenizer.json"), tokenizer(&WORDS)).unwrap();
    fs::write(folder.path().join("model.safetensors"), table()).unwrap();
    folder
}

fn refusal(folder: &Path) -> String {
    let error = StaticModel::open(folder).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.hint().contains("`model.safetensors` of one model"));
    let folder = folder.display().to_string();
    error.to_string().replace(&folder, "FOLDER")
}

/// Puts other content into a file of the model, and returns what is said of it.
fn refusal_of(file: &str, content: impl AsRef<[u8]>) -> String {
    let folder = small();
    fs::write(folder.path().join(file), content).unwrap();
    refusal(folder.path())
}

fn catalog() -> Catalog {
    let skill = |name: &str, what: &str| format!("---\nname: {name}\ndescription: {what}\n---\n");
    let source = MemorySource::new([
        ("garage/SKILL.md", skill("garage", "Repairs a car")),
        ("post/SKILL.md", skill("post", "Writes a letter")),
        ("kitchen/SKILL.md", skill("kitchen", "Cooks a soup")),
    ]);
    let root = Root::new(Scope::User, "mine", source);
    Catalog::discover(
        vec![root],
        CatalogOptions::default(),
        std::time::SystemTime::UNIX_EPOCH,
    )
}

/// Returns the ids of what is found by words, and by words and meaning.
fn found(model: Arc<dyn Embedder>, catalog: &Catalog, request: &str) -> [Vec<String>; 2] {
    let by_words = SearchIndex::new(catalog, SearchCoverage::Bodies);
    let by_meaning = SearchIndex::with_embedder(catalog, SearchCoverage::Bodies, model);
    assert!(by_meaning.embedding_error().is_none());
    [by_words, by_meaning].map(|index| {
        let found = index.search(&index.query(request), 10, |_| true);
        let ids = found.hits.iter().map(|hit| hit.entry.id().to_string());
        ids.collect()
    })
}

/// Returns the folder of a real model; `bench/models.py FOLDER` makes them.
fn real(model: &str) -> PathBuf {
    let folder = std::env::var_os("TEST_MODELS").expect("TEST_MODELS names the folder of models");
    PathBuf::from(folder).join(model)
}

/// What a model of words that people use must do.
fn check_real(model: Arc<dyn Embedder>) {
    let catalog = catalog();
    let [by_words, by_meaning] = found(Arc::clone(&model), &catalog, "my automobile is broken");
    assert_eq!(by_words, [""; 0]);
    assert_eq!(by_meaning[0], "garage");
    let [_, by_meaning] = found(Arc::clone(&model), &catalog, "dinner");
    assert_eq!(by_meaning[0], "kitchen");
    // Whatever is close to it, what has the very words of a request stays before it.
    let [by_words, by_meaning] = found(
        model,
        &catalog,
        "garage for a postcard, an envelope and a stamp",
    );
    assert_eq!((&*by_words[0], &*by_meaning[0]), ("garage", "garage"));
}

#[test]
fn synonyms_are_found_without_a_shared_word() {
    let folder = small();
    let model = Arc::new(StaticModel::open(folder.path()).unwrap());
    let [by_words, by_meaning] = found(model, &catalog(), "automobile");
    assert_eq!(by_words, [""; 0]);
    assert_eq!(by_meaning[0], "garage");
}

#[test]
fn named_skill_stays_first_whatever_is_semantically_close() {
    let folder = small();
    let model = Arc::new(StaticModel::open(folder.path()).unwrap());
    let [_, by_meaning] = found(model, &catalog(), "kitchen automobile car");
    assert_eq!(by_meaning.len(), 3);
    let model = Arc::new(StaticModel::open(folder.path()).unwrap());
    let [by_words, by_meaning] = found(model, &catalog(), "kitchen automobile");
    assert_eq!((&*by_words[0], &*by_meaning[0]), ("kitchen", "kitchen"));
}

#[test]
#[ignore = "needs a model"]
fn real_static_model_finds_by_meaning() {
    check_real(Arc::new(StaticModel::open(&real("static")).unwrap()));
}

#[test]
fn missing_model_file_is_named() {
    let folder = small();
    fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    insta::assert_snapshot!(refusal(folder.path()), @"Could not use the model file `FOLDER/tokenizer.json`: there is no such file");
    insta::assert_snapshot!(refusal(&folder.path().join("nowhere")), @"Could not use the model file `FOLDER/config.json`: there is no such file");
    let folder = small();
    fs::remove_file(folder.path().join("config.json")).unwrap();
    fs::create_dir(folder.path().join("config.json")).unwrap();
    insta::assert_snapshot!(refusal(folder.path()), @"Could not use the model file `FOLDER/config.json`: it is not a file");
}

#[test]
fn broken_model_file_is_named() {
    insta::assert_snapshot!(refusal_of("config.json", "{"), @"Could not use the model file `FOLDER/config.json`: failed to parse config.json: EOF while parsing an object at line 1 column 1");
    insta::assert_snapshot!(refusal_of("tokenizer.json", "{}"), @"Could not use the model file `FOLDER/tokenizer.json`: failed to load tokenizer: Model missing. at line 1 column 2");
    insta::assert_snapshot!(refusal_of("tokenizer.json", "\u{1b}[31m"), @"Could not use the model file `FOLDER/tokenizer.json`: failed to load tokenizer: expected value at line 1 column 1");
    insta::assert_snapshot!(refusal_of("model.safetensors", "no tensors"), @"Could not use the model file `FOLDER/model.safetensors`: failed to parse safetensors: HeaderTooLarge");
    insta::assert_snapshot!(refusal_of("model.safetensors", tensor("other", &[[1.0; 3]])), @r#"Could not use the model file `FOLDER/model.safetensors`: embeddings tensor not found: TensorNotFound("embedding.weight")"#);
    let cut = &table()[..100];
    insta::assert_snapshot!(refusal_of("model.safetensors", cut), @"Could not use the model file `FOLDER/model.safetensors`: failed to parse safetensors: MetadataIncompleteBuffer");
}

#[test]
fn oversized_model_file_is_not_read() {
    let folder = small();
    let file = fs::File::create(folder.path().join("config.json")).unwrap();
    file.set_len(1024 * 1024 + 1).unwrap();
    insta::assert_snapshot!(refusal(folder.path()), @"Could not use the model file `FOLDER/config.json`: it has more than 1 MiB");
}

#[test]
fn invalid_embedding_table_is_an_error_not_a_panic() {
    for rows in [
        &[[1.0; 3]; 2][..],
        &[[f32::NAN; 3]; 9],
        &[[f32::INFINITY; 3]; 9],
    ] {
        let folder = small();
        let file = folder.path().join("model.safetensors");
        fs::write(file, tensor("embeddings", rows)).unwrap();
        let model = StaticModel::open(folder.path());
        let embedded = model.and_then(|model| model.embed_documents(&["cooks a soup"]));
        let error: Error = embedded.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
}

#[test]
fn model_id_depends_on_the_content_of_its_files() {
    let (folder, same) = (small(), small());
    let id = |folder: &tempfile::TempDir| StaticModel::open(folder.path()).unwrap().id().to_owned();
    let before = id(&folder);
    assert_eq!(before, id(&same));
    assert!(before.starts_with("static-1-"), "{before}");

    let mut rows = WORDS.map(|(_, direction)| direction);
    rows[1][2] = 0.5;
    fs::write(
        folder.path().join("model.safetensors"),
        tensor("embeddings", &rows),
    )
    .unwrap();
    let weights = id(&folder);
    let mut words = WORDS;
    words.swap(1, 4);
    fs::write(folder.path().join("tokenizer.json"), tokenizer(&words)).unwrap();
    let words = id(&folder);
    fs::write(folder.path().join("config.json"), "{}").unwrap();
    let config = id(&folder);
    let mut ids = vec![before, weights, words, config];
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}

#[test]
fn embedding_is_stored_with_its_document() {
    let folder = small();
    let model = StaticModel::open(folder.path()).unwrap();
    let vectors = model.embed_documents(&["repairs a car", "a soup"]).unwrap();
    let [repair, soup] = [0, 1].map(|at: usize| QuantizedVector::new(&vectors[at]).unwrap());
    let texts = DocumentTexts::default()
        .with_name("garage")
        .with_description("Repairs a car");
    let document = DocumentBuilder::new()
        .from_texts(&texts)
        .with_embedding(Some(repair.clone()));
    let read = SearchDocument::from_bytes(&document.to_bytes()).unwrap();
    assert_eq!(read, document);
    let meaning = read.embedding().unwrap();
    assert!(meaning.similarity(&repair) > 0.99);
    assert!(meaning.similarity(&soup) < 0.5);
}
