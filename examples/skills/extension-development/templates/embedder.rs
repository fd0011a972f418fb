//! Search by meaning with your own model. Replace the body of `embed_documents` by a call of it, and `id` by its name and version.
//!
//! Save it as `src/main.rs` of a program that depends on the crate `skillfold`, and run `cargo run`.

use std::sync::Arc;

use skillfold::core::search::Embedder;
use skillfold::core::{Error, MemorySource};
use skillfold::{Environment, Host};

/// Knows two things, and which words mean them.
struct Thesaurus;

impl Embedder for Thesaurus {
    fn id(&self) -> &str {
        "thesaurus-1"
    }

    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        let about = |text: &str, words: [&str; 2]| {
            let text = text.to_lowercase();
            if words.iter().any(|word| text.contains(word)) { 1.0 } else { 0.01 }
        };
        let vector = |text: &&str| vec![about(text, ["car", "automobile"]), about(text, ["cake", "gateau"])];
        Ok(texts.iter().map(vector).collect())
    }
}

fn main() -> Result<(), Error> {
    let source = MemorySource::new([
        ("car/SKILL.md", "---\nname: car\ndescription: Repairs a car\n---\nLook at the motor.\n"),
        ("cake/SKILL.md", "---\nname: cake\ndescription: Bakes a cake\n---\nLook at the oven.\n"),
    ]);
    let host = Host::new(Environment::new("/nowhere")).bundled("built in", source);
    assert!(host.clone().discover()?.skills.search("My automobile is broken", 10).hits.is_empty());

    let skills = host.embedder(Arc::new(Thesaurus)).discover()?.skills;
    assert_eq!(&*skills.search("My automobile is broken", 10).hits[0].id, "car");
    Ok(())
}
