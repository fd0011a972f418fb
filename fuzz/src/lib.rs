//! What fuzz targets are made of: skills whose every text the fuzzer chooses.

use arbitrary::Arbitrary;
use skillfold_core::{Catalog, MemorySource, Root, CatalogOptions, Scope};

/// What parts the texts of an input that is one text, so that seeds can be read and written by hand.
pub const BETWEEN: char = '\x1f';

/// Skills of one input; more of them find nothing more.
const SKILLS: usize = 4;

/// A skill.
#[derive(Arbitrary, Debug)]
pub struct Skill<'a> {
    pub name: &'a str,
    pub description: &'a str,
    pub tags: Vec<&'a str>,
    pub keywords: Vec<&'a str>,
    pub patterns: Vec<&'a str>,
    pub body: &'a str,
}

impl Skill<'_> {
    /// Returns its `SKILL.md`. Texts are written as JSON, which YAML reads.
    pub fn file(&self) -> String {
        let Self { name, description, tags, keywords, patterns, body } = self;
        let triggers = serde_json::json!({ "keywords": keywords, "patterns": patterns });
        format!(
            "---\nname: {}\ndescription: {}\ntags: {}\ntriggers: {triggers}\n---\n{body}",
            serde_json::json!(name),
            serde_json::json!(description),
            serde_json::json!(tags),
        )
    }
}

/// Returns a snapshot of skills.
pub fn catalog(skills: &[Skill<'_>]) -> Catalog {
    of_files(skills.iter().map(Skill::file))
}

/// Returns a snapshot of skills by their files.
pub fn of_files(files: impl Iterator<Item = String>) -> Catalog {
    let files = files.take(SKILLS).enumerate();
    let files = files.map(|(at, text)| (format!("skill-{at}/SKILL.md"), text));
    let root = Root::new(Scope::User, "fuzz", MemorySource::new(files));
    Catalog::discover(vec![root], CatalogOptions::default(), skillfold_testkit::far_future())
}
