//! The fuzz targets: each takes any bytes, and panics if a promise is broken. `fuzz_targets` has a program for each, for the
//! fuzzer; `tests/mutations.rs` runs them on their seeds and on changed seeds, without it.

mod envelope;
mod fix;
mod frontmatter;
mod lines;
mod lock;
mod manifest;
mod matching;
mod request;
mod search;
#[expect(
    clippy::disallowed_methods,
    reason = "it writes its own settings files"
)]
mod settings;
mod snippet;
mod turn;

use arbitrary::{Arbitrary, Unstructured};
use skillfold_core::{Catalog, CatalogOptions, MemorySource, Root, Scope};

/// Runs a target on an input. Bytes that are no input of this target are ignored.
///
/// # Panics
///
/// Panics if a promise is broken, or if there is no target of this name.
pub fn run(target: &str, bytes: &[u8]) {
    match target {
        "envelope" => with(bytes, envelope::run),
        "fix" => with(bytes, fix::run),
        "frontmatter" => frontmatter::run(bytes),
        "lines" => with(bytes, lines::run),
        "lock" => lock::run(bytes),
        "manifest" => with(bytes, manifest::run),
        "matching" => with(bytes, matching::run),
        "request" => with(bytes, request::run),
        "search" => with(bytes, search::run),
        "settings" => with(bytes, settings::run),
        "snippet" => with(bytes, snippet::run),
        "turn" => with(bytes, turn::run),
        _ => panic!("there is no target `{target}`"),
    }
}

fn with<'a, Input: Arbitrary<'a>>(bytes: &'a [u8], run: impl Fn(Input)) {
    if let Ok(input) = Input::arbitrary_take_rest(Unstructured::new(bytes)) {
        run(input);
    }
}

/// What parts the texts of an input that is one text, so that seeds can be read and written by hand.
pub(crate) const BETWEEN: char = '\x1f';

/// Skills of one input; more of them find nothing more.
const SKILLS: usize = 4;

/// A skill.
#[derive(Arbitrary, Debug)]
pub(crate) struct Skill<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) tags: Vec<&'a str>,
    pub(crate) keywords: Vec<&'a str>,
    pub(crate) patterns: Vec<&'a str>,
    pub(crate) body: &'a str,
}

impl Skill<'_> {
    /// Returns its `SKILL.md`. Texts are written as JSON, which YAML reads.
    pub(crate) fn file(&self) -> String {
        let Self {
            name,
            description,
            tags,
            keywords,
            patterns,
            body,
        } = self;
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
pub(crate) fn catalog(skills: &[Skill<'_>]) -> Catalog {
    of_files(skills.iter().map(Skill::file))
}

/// Returns a snapshot of skills by their files.
pub(crate) fn of_files(files: impl Iterator<Item = String>) -> Catalog {
    let files = files.take(SKILLS).enumerate();
    let files = files.map(|(at, text)| (format!("skill-{at}/SKILL.md"), text));
    let root = Root::new(Scope::User, "fuzz", MemorySource::new(files));
    Catalog::discover(
        vec![root],
        CatalogOptions::default(),
        skillfold_testkit::far_future(),
    )
}
