//! What texts mean is computed once, and known again by another process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use skillfold_core::Error;
use skillfold_core::search::Embedder;
use skillfold_index::VectorCache;

/// Counts letters, and how many texts it was given.
struct Letters {
    id: &'static str,
    texts: AtomicUsize,
}

impl Letters {
    fn new(id: &'static str) -> Arc<Self> {
        let texts = AtomicUsize::new(0);
        Arc::new(Self { id, texts })
    }

    fn asked(&self) -> usize {
        self.texts.swap(0, Ordering::SeqCst)
    }
}

impl Embedder for Letters {
    fn id(&self) -> &str {
        self.id
    }

    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        self.texts.fetch_add(texts.len(), Ordering::SeqCst);
        let count = |text: &str, letter| {
            let found = text.chars().filter(|one| *one == letter).count();
            f32::from(u8::try_from(found).unwrap())
        };
        let vector = |text: &&str| ('a'..='z').map(|letter| count(text, letter)).collect();
        Ok(texts.iter().map(vector).collect())
    }
}

#[test]
fn known_text_is_not_embedded_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("vectors");
    let model = Letters::new("letters-1");
    let open = |model: &Arc<Letters>| {
        let model = Arc::clone(model);
        let (vectors, problem) = VectorCache::open(&folder, "mine", model);
        assert!(problem.is_none());
        vectors
    };
    let first = open(&model);
    let computed = first.embed_documents(&["banana", "cherry"]).unwrap();
    assert_eq!(model.asked(), 2);
    first.save().unwrap();

    let again = open(&model);
    let recalled = again
        .embed_documents(&["banana", "cherry", "plum"])
        .unwrap();
    assert_eq!(model.asked(), 1);
    // The direction is the same: a vector is as long as its largest part takes a byte.
    let direction = |vector: &[f32]| skillfold_core::search::QuantizedVector::new(vector).unwrap();
    for (before, after) in computed.iter().zip(&recalled) {
        assert_eq!(direction(before), direction(after));
    }

    // Another model's are not taken for them.
    let other = Letters::new("letters-2");
    open(&other).embed_documents(&["banana", "cherry"]).unwrap();
    assert_eq!(other.asked(), 2);
}

#[test]
fn requests_are_not_stored_and_removed_texts_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("vectors");
    let model = Letters::new("letters-1");
    let open = || VectorCache::open(&folder, "mine", Arc::clone(&model) as Arc<dyn Embedder>).0;
    let first = open();
    first.embed_documents(&["banana", "cherry"]).unwrap();
    first.embed_query("a request").unwrap();
    first.save().unwrap();
    model.asked();
    let second = open();
    second.embed_documents(&["banana", "a request"]).unwrap();
    assert_eq!(model.asked(), 1);
    second.save().unwrap();
    open().embed_documents(&["cherry", "banana"]).unwrap();
    assert_eq!(model.asked(), 1);
}

#[test]
fn damaged_file_is_reported_and_rewritten() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("vectors");
    let model = Letters::new("letters-1");
    let open = || VectorCache::open(&folder, "mine", Arc::clone(&model) as Arc<dyn Embedder>);
    let (first, _) = open();
    first.embed_documents(&["banana", "cherry"]).unwrap();
    first.save().unwrap();
    for entry in std::fs::read_dir(&folder).unwrap() {
        std::fs::write(entry.unwrap().path(), "no vectors").unwrap();
    }
    let (again, problem) = open();
    assert!(problem.is_some());
    model.asked();
    again.embed_documents(&["banana", "cherry"]).unwrap();
    assert_eq!(model.asked(), 2);
    again.save().unwrap();
    assert!(open().1.is_none());
}
