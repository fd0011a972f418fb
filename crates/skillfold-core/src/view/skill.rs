//! Everything that the catalog knows about a skill.

use crate::catalog::entry::Entry;
use crate::catalog::root::Trust;
use crate::limits::BYTES_PER_TOKEN;
use crate::read::manifest::Triggers;
use crate::read::value::{Fields, Value};
use crate::view::any::Any;
use crate::view::finding::DiagnosticView;
use crate::view::record::{SkillRecord, path_to_string, to_strings};

/// All that the catalog knows of a skill.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SkillView {
    /// What a listing has, nothing cut.
    #[serde(flatten)]
    pub record: SkillRecord,
    /// One line of at most 80 characters.
    pub brief: String,
    /// The name of the folder, where it differs from the name and leads to the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The path of the skill's folder, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_dir: Option<String>,
    /// Whether what the root holds may be given to a model.
    pub trusted: bool,
    /// The ids of the skills that this one won its name from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shadows: Vec<String>,
    /// The licence's name or file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// What the skill needs, in the author's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// The model that the skill asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tools that the skill asks to use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    /// The ids of skills that should be loaded with this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// Toolsets as `path:Name`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub toolsets: Vec<String>,
    /// The scripts that the skill lists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<Any>,
    /// What makes the skill fire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub triggers: Option<TriggersView>,
    /// Whether only a person may start the skill.
    pub disable_model_invocation: bool,
    /// Whether a bundled skill is on before anyone decides.
    pub default_enabled: bool,
    /// The mapping `metadata`, by the core schema of YAML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Any>,
    /// The fields that the engine does not read, by the core schema of YAML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<Any>,
    /// The size of the instructions.
    pub body: Body,
    /// What was odd about the file.
    pub diagnostics: Vec<DiagnosticView>,
    /// What the catalog has to say about the skill.
    pub notes: Vec<DiagnosticView>,
}

impl SkillView {
    /// Creates the view of a skill.
    pub fn new(entry: &Entry<'_>) -> Self {
        let (manifest, skill) = (entry.manifest(), entry.skill());
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
            model: text(manifest.model()),
            allowed_tools: to_strings(manifest.allowed_tools()),
            requires: to_strings(manifest.requires()),
            toolsets: to_strings(manifest.toolsets()),
            scripts: manifest.scripts().iter().cloned().map(Any).collect(),
            triggers: manifest.triggers().map(TriggersView::new),
            disable_model_invocation: manifest.disable_model_invocation(),
            default_enabled: manifest.default_enabled(),
            metadata: fields(manifest.metadata()),
            other: fields(manifest.other()),
            body: Body {
                bytes: skill.body_bytes(),
                tokens: skill.body_bytes().div_ceil(BYTES_PER_TOKEN),
            },
            diagnostics: DiagnosticView::all(&skill.diagnostics),
            notes: DiagnosticView::all(&entry.notes()),
        }
    }
}

/// The size of instructions.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Body {
    /// Bytes.
    pub bytes: u64,
    /// Tokens, estimated from the bytes.
    pub tokens: u64,
}

/// What makes a skill fire.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum TriggersView {
    /// Each entry matches as a part of the message.
    Flat(Vec<String>),
    /// Keywords and verbs match whole words, patterns are regular expressions.
    Structured {
        /// Words.
        keywords: Vec<String>,
        /// Words for actions.
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
