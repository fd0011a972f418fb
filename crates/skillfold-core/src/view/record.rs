//! Skills and refused folders in a listing.

use std::collections::BTreeMap;

use std::path::Path;

use crate::catalog::entry::Entry;
use crate::catalog::filter::Page;
use crate::catalog::root::Root;
use crate::catalog::snapshot::Catalog;
use crate::read::discover;
use crate::text::{first_chars, truncate_by_cost};
use crate::view::finding::DiagnosticView;

/// Maximum characters of a description in a listing: the limit of the specification.
const MAX_DESCRIPTION_CHARACTERS: usize = 1024;
/// Maximum tags in a listing.
const MAX_TAGS: usize = 16;
/// Maximum bytes of a record as JSON; the description is cut to fit.
const MAX_RECORD_BYTES: usize = 2048;
/// Bytes of a record that are not values: field names and punctuation.
const FIELD_OVERHEAD_BYTES: usize = 240;
/// Minimum bytes left for the description, even if a long path fills the record.
const MIN_DESCRIPTION_BYTES: usize = 256;

/// A skill in a listing, without its instructions: at most 2 KiB of JSON, unless the other fields leave no room for the
/// description.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SkillRecord {
    /// The skill's id, unique in the catalog.
    pub id: String,
    /// The skill's name: `name` of its frontmatter, or its folder's name if that is missing or invalid.
    pub name: String,
    /// What the skill does and when to use it; in a listing at most 1,024 characters, and cut to fit the record.
    pub description: String,
    /// The scope of its root: `project`, `user`, `plugin` or `bundled`.
    pub scope: String,
    /// The plugin that the skill comes with; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin: Option<String>,
    /// `active`, `shadowed`, `incompatible`, `disabled`, `held` or `untrusted`; if several apply, the last one in this order.
    pub status: String,
    /// The id of the skill that won the name; absent if it is this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadowed_by: Option<String>,
    /// Tags for filters and search; at most 16 in a listing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The version as written in the frontmatter; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether the frontmatter was invalid and had to be repaired.
    pub repaired: bool,
    /// The label of the skill's root, such as its path.
    pub root: String,
    /// The path of the `SKILL.md`; absent if the skill is not in the file system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The fields that were cut to fit the listing: `tags`, `description`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
}

impl SkillRecord {
    /// Creates the record of a skill for a listing, cut to fit.
    pub fn listed(entry: &Entry<'_>) -> Self {
        let mut record = Self::full(entry);
        if record.tags.len() > MAX_TAGS {
            record.tags.truncate(MAX_TAGS);
            record.cut.push("tags".to_owned());
        }
        let end = record.description_end();
        if end < record.description.len() {
            record.description.truncate(end);
            record.cut.push("description".to_owned());
        }
        record
    }

    /// Returns how many bytes of the description fit the record.
    fn description_end(&self) -> usize {
        let optional = [&self.plugin, &self.shadowed_by, &self.version, &self.file];
        let texts = [&self.id, &self.name, &self.scope, &self.status, &self.root];
        let texts = texts.into_iter().chain(optional.into_iter().flatten());
        let tags = self
            .tags
            .iter()
            .map(|tag| json_bytes(tag) + 3)
            .sum::<usize>();
        let rest = texts.map(|text| json_bytes(text)).sum::<usize>() + tags + FIELD_OVERHEAD_BYTES;
        let room = MAX_RECORD_BYTES
            .saturating_sub(rest)
            .max(MIN_DESCRIPTION_BYTES);
        let start = first_chars(&self.description, MAX_DESCRIPTION_CHARACTERS);
        truncate_by_cost(start, room, char_bytes).len()
    }

    /// Creates the record of a skill with nothing cut.
    pub(super) fn full(entry: &Entry<'_>) -> Self {
        let manifest = entry.manifest();
        Self {
            id: entry.id().to_owned(),
            name: manifest.name().to_string(),
            description: manifest.description().to_owned(),
            scope: entry.scope().to_string(),
            plugin: entry.plugin().map(ToString::to_string),
            status: entry.status().to_string(),
            shadowed_by: entry.shadowed_by().map(|winner| winner.id().to_owned()),
            tags: to_strings(manifest.tags()),
            version: manifest.version().map(str::to_owned),
            repaired: entry.skill().repaired,
            root: entry.root().label().to_owned(),
            file: entry.file().map(|path| path_to_string(&path)),
            cut: Vec::new(),
        }
    }
}

/// A page of skills.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SkillList {
    /// The skills, ordered by id.
    pub skills: Vec<SkillRecord>,
    /// Folders whose `SKILL.md` is not a valid skill, by root and folder; only in a listing without filter and paging.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedRecord>,
    /// The cursor of the next page, which is the last id of this page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Where the model of a client finds these skills; absent if no client is named or set up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientPlaces>,
}

/// Where the model of a client finds skills.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(clippy::exhaustive_structs, reason = "the command creates it")]
pub struct ClientPlaces {
    /// The name of the client.
    pub client: String,
    /// For each skill: `own list` of the client, `our list`, there `by name` only, `search`, or `nowhere`.
    pub places: BTreeMap<String, String>,
}

impl SkillList {
    /// Creates the view of a page of skills.
    pub fn new(page: &Page<'_>) -> Self {
        Self {
            skills: page.entries.iter().map(SkillRecord::listed).collect(),
            refused: Vec::new(),
            next: page.next.as_ref().map(|next| next.as_str().to_owned()),
            client: None,
        }
    }

    /// Adds the folders of a catalog whose `SKILL.md` was refused.
    #[must_use]
    pub fn with_refused(mut self, catalog: &Catalog) -> Self {
        let refused = catalog.refused().iter();
        self.refused = refused
            .map(|refused| RefusedRecord::new(refused, &catalog.roots()[refused.source]))
            .collect();
        self
    }
}

/// A folder whose `SKILL.md` is not a valid skill.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RefusedRecord {
    /// The folder's path inside its root.
    pub folder: String,
    /// The label of the root, such as its path.
    pub root: String,
    /// The path of the `SKILL.md`; absent if it is not in the file system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Why it is not a valid skill.
    pub diagnostics: Vec<DiagnosticView>,
}

impl RefusedRecord {
    /// Creates the record of a refused folder.
    pub fn new(refused: &discover::RefusedFolder, root: &Root) -> Self {
        let file = root.source().file_path(&refused.folder);
        Self {
            folder: refused.folder.to_string(),
            root: root.label().to_owned(),
            file: file.map(|file| path_to_string(&file)),
            diagnostics: DiagnosticView::all(&refused.diagnostics),
        }
    }
}

/// Rounds to three decimals; no confidence is more precise than that.
#[doc(hidden)]
pub fn round_confidence(value: f32) -> f32 {
    (value * 1_000.0).round() / 1_000.0
}

pub(super) fn to_strings(texts: &[Box<str>]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

pub(super) fn path_to_string(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns the size in bytes of a text as a JSON string, without the quotes.
fn json_bytes(text: &str) -> usize {
    text.chars().map(char_bytes).sum()
}

/// Returns the size in bytes of a character in a JSON string.
fn char_bytes(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if c < ' ' => 6,
        c => c.len_utf8(),
    }
}
