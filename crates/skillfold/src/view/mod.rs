//! The JSON contract of every face, version 1. Its schema is `docs/schema/view-v1.json`.
//!
//! Each answer is one [`View`]: `view` (the version), `kind`, and the fields of its [`Document`].

mod check;
mod counters;
mod evaluation;
mod failure;
mod search;
mod settings;
mod setup;
mod stats;
mod trust;

mod doctor;

use std::path::Path;

pub use check::{Check, CheckSummary, CheckedFile};
pub use counters::Counters;
pub use doctor::{Doctor, DoctorSummary, MemoryState, RootState, SkillState};
pub use evaluation::{ConfusedPair, Evaluation, EvaluationSummary, SkillEvaluation, WrongQuery};
pub use failure::Failure;
pub use search::{FoundSkill, Search, SnippetText};
pub use settings::{SettingProblem, SettingRow, SettingsView};
pub use setup::Setup;
pub use skillfold_core::view::{
    Announced, Any, Body, Bytes, Decision, Diagnostic, FileEntry, FileFinding, FileListing,
    FilePart, Instructions, Listing, ListingText, Matched, NearTrigger, Position, Prompt,
    RefusedRecord, Skill, SkillRecord, Span, Triggers, Unmatched, VERSION, Why,
};
pub use stats::{LogCounts, SkillTally, Stats, StatsPeriod, Tally, WayTally};
pub use trust::{Trusted, TrustedRow};

/// One answer of a face.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct View {
    /// The version of the contract.
    pub view: u32,
    /// What is said.
    #[serde(flatten)]
    pub document: Document,
}

/// What a face says.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Document {
    /// A page of skills.
    Skills(Listing),
    /// What was found for a request.
    Search(Search),
    /// All about one skill.
    Skill(Box<Skill>),
    /// The instructions of a skill, loaded.
    Instructions(Instructions),
    /// A page of the files of a skill.
    Files(FileListing),
    /// A file of a skill, or a part of it.
    File(FilePart),
    /// What a model is told for a request.
    Prompt(Box<Prompt>),
    /// Why skills are chosen for a request, and why others are not.
    Why(Box<Why>),
    /// What was found in files.
    Check(Check),
    /// What came of trigger queries.
    Evaluation(Evaluation),
    /// What was looked at, and what became of it.
    Doctor(Doctor),
    /// What was done since the skills were found.
    Counters(Counters),
    /// How well skills are chosen over time.
    Stats(Stats),
    /// Every setting and its origin.
    Settings(SettingsView),
    /// A change to the configuration of a client.
    Setup(Setup),
    /// The folders that the person trusted.
    Trusted(Trusted),
    /// A file that was written.
    Written(Written),
    /// Why there is no answer.
    Error(Failure),
}

impl Document {
    /// Returns the answer as JSON on several lines, with a line end.
    pub fn to_json(self) -> String {
        let view = View {
            view: VERSION,
            document: self,
        };
        // Everything in a view is text, numbers and lists of these, which can always be written.
        serde_json::to_string_pretty(&view).unwrap_or_default() + "\n"
    }
}

/// A file that was written.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Written {
    /// The path of the file.
    pub file: String,
}

impl Written {
    /// Creates the view of a file that was written.
    pub fn new(file: &Path) -> Self {
        Self {
            file: file.to_string_lossy().into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::View;
    use schemars::generate::SchemaSettings;

    /// Compares the schema of the types with the one that is checked in; `UPDATE_DOCS=1` writes it.
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the test reads and writes the schema"
    )]
    fn schema_is_the_one_that_is_checked_in() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/schema/view-v1.json"
        );
        let generator = SchemaSettings::draft2020_12()
            .for_serialize()
            .into_generator();
        let schema = generator.into_root_schema_for::<View>();
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        let checked_in = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            checked_in == text,
            "the view changed; run UPDATE_DOCS=1 cargo test -p skillfold schema, and read the difference"
        );
    }
}
