//! Search by meaning with an embedding model of your own. This one knows nine words; replace `embed` by a call of yours.
//!
//! `cargo run -p skillfold --example custom_embedder`
#![expect(clippy::print_stdout, reason = "the example prints what it did")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use skillfold::core::search::Embedder;
use skillfold::core::{Error, MemorySource};
use skillfold::{Environment, Host, Skills};

/// Words that mean much the same. Each row is a dimension of the vectors.
const MEANINGS: [&[&str]; 3] = [
    &["car", "automobile", "vehicle"],
    &["repair", "mend", "fix"],
    &["letter", "mail", "post"],
];

#[derive(Default)]
struct Meanings {
    /// How many texts were embedded: with a real model this is what costs.
    embedded: AtomicUsize,
}

impl Embedder for Meanings {
    /// Vectors are cached under the id, so give a new version of a model a new one.
    fn id(&self) -> &'static str {
        "meanings-1"
    }

    /// Many texts come at once, for models that work in batches. The length of a vector is of no matter, only its direction.
    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        self.embedded.fetch_add(texts.len(), Ordering::Relaxed);
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
}

/// Counts the words of each meaning. A text without any has no direction: it is found by its words alone.
fn vector(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let words: Vec<_> = text
        .split(|letter: char| !letter.is_alphanumeric())
        .collect();
    let count = |meaning: &&[&str]| {
        words
            .iter()
            .filter(|word| meaning.contains(word))
            .fold(0.0, |sum, _| sum + 1.0)
    };
    MEANINGS.iter().map(count).collect()
}

fn host() -> Host {
    let skill = |name: &str, what: &str| {
        let text = format!("---\nname: {name}\ndescription: {what}\n---\nAsk for details first.\n");
        (format!("{name}/SKILL.md"), text)
    };
    let skills = MemorySource::new([
        skill(
            "garage",
            "Finds out what is wrong with a car, and how to mend it",
        ),
        skill("office", "Writes a letter in the style of the house"),
        skill("kitchen", "Plans a dinner for many guests"),
    ]);
    Host::new(Environment::new("/nowhere")).bundled("built in", skills)
}

/// Searches, prints what was found, and returns the best.
fn best(skills: &Skills, request: &str) -> Option<Box<str>> {
    let found = skills.search(request, 3);
    let ids: Vec<_> = found.hits.iter().map(|hit| &*hit.id).collect();
    println!("  {request}: {ids:?}");
    // An embedder that fails does not fail the search: it goes on with words, and says so here.
    assert_eq!(found.problem, None);
    found.hits.into_iter().next().map(|hit| hit.id)
}

fn main() -> Result<(), Error> {
    // No word of the request is in a skill.
    let request = "repair my automobile";
    println!("Words alone");
    assert_eq!(best(&host().discover()?.skills, request), None);

    let embedder = Arc::new(Meanings::default());
    let skills = host().embedder(embedder.clone()).discover()?.skills;
    println!("Words and meaning");
    assert_eq!(best(&skills, request).as_deref(), Some("garage"));
    assert_eq!(best(&skills, "answer this mail").as_deref(), Some("office"));

    // Each skill was embedded once, and each request.
    let texts = embedder.embedded.load(Ordering::Relaxed);
    println!("Texts embedded: {texts}");
    assert_eq!(texts, 3 + 2);
    Ok(())
}

#[test]
fn example_runs() {
    main().unwrap();
}
