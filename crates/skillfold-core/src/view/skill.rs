//! A skill with everything that the catalog knows about it.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use crate::catalog::entry::Entry;
use crate::catalog::root::Trust;
use crate::limits::BYTES_PER_TOKEN;
use crate::load::skill_digest;
use crate::read::exclusion::exclusions;
use crate::read::manifest::Triggers;
use crate::read::value::{Fields, Value};
use crate::view::any::Any;
use crate::view::finding::DiagnosticView;
use crate::view::record::{SkillRecord, path_to_string, to_strings};

/// A skill with everything that the catalog knows about it.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SkillView {
    /// The fields of a listing, with nothing cut.
    #[serde(flatten)]
    pub record: SkillRecord,
    /// A summary on one line of at most 80 characters.
    pub brief: String,
    /// The folder's name, if it differs from the skill's name and resolves to this skill; otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The path of the skill's folder; absent if the skill is not in the file system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_dir: Option<String>,
    /// Whether the skill's root is trusted; skills of an untrusted root are withheld from models.
    pub trusted: bool,
    /// Ids of the skills that lost the name to this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shadows: Vec<String>,
    /// The license: its name, or a file with its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// The products, packages and network access that the skill needs, as free text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// The programs that the skill needs, each with the versions that will do, such as `>=2.0`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub engines: BTreeMap<String, String>,
    /// The model that the skill asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tools that the skill asks to use; reported, not enforced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    /// Ids of the skills to load first, as the frontmatter lists them; nothing is loaded automatically.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// Toolsets, each written as `path:Name`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub toolsets: Vec<String>,
    /// The scripts that the frontmatter lists; they are never run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<Any>,
    /// The triggers; absent if the skill has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub triggers: Option<TriggersView>,
    /// What its description says it is not for, clause by clause; a request near one gets a line about the skill, unless it names
    /// the skill.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_for: Vec<NotFor>,
    /// Whether only the user may start the skill.
    pub disable_model_invocation: bool,
    /// Whether a bundled skill is enabled unless the settings say otherwise.
    pub default_enabled: bool,
    /// The mapping `metadata`, converted by the core schema of YAML; absent if empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Any>,
    /// The fields that the engine does not read, converted by the core schema of YAML; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<Any>,
    /// The size of the instructions.
    pub body: Body,
    /// The digest of all its files; absent if not every file can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Findings in the skill's file.
    pub diagnostics: Vec<DiagnosticView>,
    /// Findings of the catalog, such as that the skill is shadowed, disabled, held or untrusted, or needs another
    /// version.
    pub notes: Vec<DiagnosticView>,
}

impl SkillView {
    /// Creates the view of a skill. Reads all its files for the digest.
    pub fn new(entry: &Entry<'_>) -> Self {
        let (manifest, skill) = (entry.manifest(), entry.skill());
        // It is the same as by the checked source if nothing has changed; that would read each file of a pinned folder many times.
        let digest = skill_digest(entry.root().unchecked_source(), &skill.folder);
        let text = |text: Option<&str>| text.map(str::to_owned);
        let fields =
            |fields: &Fields| (!fields.is_empty()).then(|| Any(Value::Map(fields.clone())));
        Self {
            record: SkillRecord::full(entry),
            brief: manifest.brief().into_owned(),
            alias: text(entry.alias()),
            base_dir: entry.base_dir().map(|path| path_to_string(&path)),
            trusted: entry.root().trust() == Trust::Trusted,
            shadows: entry.shadows().map(|loser| loser.id().to_owned()).collect(),
            license: text(manifest.license()),
            compatibility: text(manifest.compatibility()),
            engines: manifest
                .engines()
                .iter()
                .map(|needed| (needed.program.to_string(), needed.range.to_string()))
                .collect(),
            model: text(manifest.model()),
            allowed_tools: to_strings(manifest.allowed_tools()),
            requires: to_strings(manifest.requires()),
            toolsets: to_strings(manifest.toolsets()),
            scripts: manifest.scripts().iter().cloned().map(Any).collect(),
            triggers: manifest.triggers().map(TriggersView::new),
            not_for: NotFor::all(manifest.description()),
            disable_model_invocation: manifest.disable_model_invocation(),
            default_enabled: manifest.default_enabled(),
            metadata: fields(manifest.metadata()),
            other: fields(manifest.other()),
            body: Body {
                bytes: skill.body_bytes(),
                tokens: skill.body_bytes().div_ceil(BYTES_PER_TOKEN),
            },
            digest: digest.ok().map(|digest| digest.to_string()),
            diagnostics: DiagnosticView::all(&skill.diagnostics),
            notes: DiagnosticView::all(&entry.notes()),
        }
    }
}

/// A clause that says what a skill is not for.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NotFor {
    /// The words of the description.
    pub text: String,
    /// The names of other skills or tools that it points to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

impl NotFor {
    /// Returns the clauses of a description.
    pub fn all(description: &str) -> Vec<Self> {
        let clauses = exclusions(description).into_iter();
        let text = |range: Range<usize>| description[range].to_owned();
        clauses
            .map(|clause| Self {
                names: clause.names.into_iter().map(text).collect(),
                text: text(clause.range),
            })
            .collect()
    }
}

/// The clause on one line, and the names that it points to.
impl fmt::Display for NotFor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.text.split_whitespace().collect();
        formatter.write_str(&words.join(" "))?;
        if self.names.is_empty() {
            return Ok(());
        }
        write!(formatter, " -> {}", self.names.join(", "))
    }
}

/// The size of the instructions.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Body {
    /// The size in bytes.
    pub bytes: u64,
    /// Tokens, estimated as one per 4 bytes.
    pub tokens: u64,
}

/// The triggers of a skill: a list, or an object with `keywords`, `verbs` and `patterns`.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum TriggersView {
    /// Texts; each matches anywhere in the request, also inside a word.
    Flat(Vec<String>),
    /// Keywords and verbs match whole words; patterns are regular expressions.
    Structured {
        /// Keywords.
        keywords: Vec<String>,
        /// Verbs.
        verbs: Vec<String>,
        /// Regular expressions.
        patterns: Vec<String>,
    },
}

impl TriggersView {
    fn new(triggers: &Triggers) -> Self {
        match triggers {
            Triggers::Flat(words) => Self::Flat(to_strings(words)),
            Triggers::Structured {
                keywords,
                verbs,
                patterns,
            } => Self::Structured {
                keywords: to_strings(keywords),
                verbs: to_strings(verbs),
                patterns: to_strings(patterns),
            },
        }
    }
}
