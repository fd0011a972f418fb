//! The JSON contract of every frontend, version 2. Its schema is `docs/schema/view-v2.json`.
//!
//! Each answer is one [`View`]: `view` (the version), `kind`, and the fields of its [`Document`].

mod access;
mod cache;
mod check;
mod client_prompt;
mod composed;
mod evaluation;
#[cfg(feature = "store")]
mod improvement;
#[cfg(feature = "registry")]
mod policy;
#[cfg(feature = "store")]
mod proposals;
#[cfg(feature = "registry")]
mod registry;
#[cfg(feature = "run")]
mod scripts;
mod search;
mod settings;
mod setup;
#[cfg(feature = "reports")]
mod stats;
mod tools;
mod trust;

mod doctor;

use std::fmt::Write;
use std::path::Path;

use skillfold_core::catalog::Changes;
use skillfold_core::disclose::Listing;
use skillfold_core::text::is_invisible;

#[cfg(feature = "reports")]
use crate::reports::Overlaps;
use crate::skills::counters::Counters;

pub use crate::answer::failure::Failure;
pub use access::{AccessView, TokenRow};
pub use cache::CacheView;
pub use check::{Check, CheckSummary, CheckedFile};
pub use client_prompt::ClientPrompt;
pub use composed::Composed;
pub use doctor::{
    ClientCost, Doctor, DoctorSummary, HookState, OtherProgram, ProgramState, RootCacheState,
    RootState, SkillState,
};
pub use evaluation::{EvaluationSummary, EvaluationView, SkillEvaluation, WrongQuery};
#[cfg(feature = "store")]
pub use improvement::ImprovementView;
#[cfg(feature = "registry")]
pub use policy::{PolicyRow, PolicyView};
#[cfg(feature = "store")]
pub use proposals::{
    Audit, EffectsView, History, ProposalList, ProposalView, Recommendation, VersionRow,
};
#[cfg(feature = "registry")]
pub use registry::{
    HeldBackRow, InstallRow, InstallView, OriginView, OutdatedRow, OutdatedView, PinView,
    RemovedSkills, SkillProposal, SkillProposals, SourceSkill, SourceSkills, UpdateView,
    VerificationRow, VerificationView,
};
#[cfg(feature = "run")]
pub use scripts::{
    AllowedList, AllowedRow, ConnectionView, RunView, ScriptList, ScriptView, SkillToolView,
    UnusableScriptView,
};
pub use search::{FoundSkill, SearchView, SnippetText};
pub use settings::{SettingProblem, SettingsView};
pub use setup::{Setup, SetupFile, SetupList};
pub use skillfold_core::view::{
    Any, Body, Bytes, ClientPlaces, Decided, DecisionView, DiagnosticView, FileFinding,
    FileListing, FilePart, InstructionsView, LearnedBar, MatchedSkill, NotFor, Prompt,
    RefusedRecord, SkillList, SkillRecord, SkillView, TriggersView, TurnView, Unmatched, VERSION,
    Why,
};
#[cfg(feature = "reports")]
pub use stats::{ForgottenSkills, HookPrompts, StatsView};
pub use tools::{AnswerBlock, AnswerView, ToolList};
pub use trust::{Trusted, TrustedRow, TrustedSkillRow, TrustedSkillsView};

/// One answer.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct View {
    /// The version of the contract: 2.
    pub view: u32,
    /// The content.
    #[serde(flatten)]
    pub document: Document,
}

/// The content of an answer.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Document {
    /// A page of skills.
    Skills(SkillList),
    /// Search results for a request.
    Search(SearchView),
    /// A skill with everything that the catalog knows about it.
    Skill(Box<SkillView>),
    /// The loaded instructions of a skill.
    Instructions(InstructionsView),
    /// A page of the files of a skill.
    Files(FileListing),
    /// A file of a skill, or a part of it.
    File(FilePart),
    /// What a model is told for a request.
    Prompt(Box<Prompt>),
    /// The listing that a conversation starts with.
    Listing(Listing),
    /// What one turn of a conversation adds.
    Turn(Box<TurnView>),
    /// What a client's model gets from a server before any request.
    ClientPrompt(ClientPrompt),
    /// The text that an agent starts with.
    Composed(Composed),
    /// Why skills are chosen for a request, and why others are not.
    Why(Box<Why>),
    /// The findings in the files that were checked.
    Check(Check),
    /// The results of trigger queries.
    Evaluation(EvaluationView),
    /// Labelled requests that a skill got, and the terms that it lacks for them.
    #[cfg(feature = "store")]
    Improvement(ImprovementView),
    /// Skills that compete with each other.
    #[cfg(feature = "reports")]
    Overlap(Overlaps),
    /// The roots and skills that were found, with their status and problems.
    Doctor(Doctor),
    /// Activity counters since the skills were first discovered.
    Counters(Box<Counters>),
    /// The last prompts that the hook heard, and what it added.
    #[cfg(feature = "reports")]
    HookPrompts(HookPrompts),
    /// How well skills are chosen over time.
    #[cfg(feature = "reports")]
    Stats(StatsView),
    /// Every setting and its origin.
    Settings(SettingsView),
    /// A change to a client's configuration.
    Setup(Setup),
    /// The folders that the user trusted.
    Trusted(Trusted),
    /// The skills that the user trusts.
    TrustedSkills(TrustedSkillsView),
    /// The proposals that wait for a decision.
    #[cfg(feature = "store")]
    Proposals(ProposalList),
    /// A proposal.
    #[cfg(feature = "store")]
    Proposal(Box<ProposalView>),
    /// The skills of a source.
    #[cfg(feature = "registry")]
    SourceSkills(SourceSkills),
    /// Skills that were proposed from a source.
    #[cfg(feature = "registry")]
    SkillProposals(SkillProposals),
    /// What was restored from the lock.
    #[cfg(feature = "registry")]
    Installed(InstallView),
    /// What is installed, compared with the lock.
    #[cfg(feature = "registry")]
    Verification(VerificationView),
    /// The skills whose sources have another version.
    #[cfg(feature = "registry")]
    Outdated(OutdatedView),
    /// What became of an update.
    #[cfg(feature = "registry")]
    Updated(UpdateView),
    /// The skills that were removed.
    #[cfg(feature = "registry")]
    RemovedSkills(RemovedSkills),
    /// Where an installed skill is from.
    #[cfg(feature = "registry")]
    Origin(OriginView),
    /// The versions of a skill.
    #[cfg(feature = "store")]
    History(History),
    /// The log of what was proposed and decided.
    #[cfg(feature = "store")]
    Audit(Audit),
    /// The skills that may run.
    #[cfg(feature = "run")]
    Allowed(AllowedList),
    /// What a skill can run.
    #[cfg(feature = "run")]
    Scripts(ScriptList),
    /// What a script or a tool of a skill did.
    #[cfg(feature = "run")]
    Run(RunView),
    /// The tools that a model has for skills.
    Tools(ToolList),
    /// The answer of a tool.
    Answer(AnswerView),
    /// What a refresh changed.
    Changes(Changes),
    /// A file that was written.
    Written(WrittenFile),
    /// A path.
    Path(PathView),
    /// The skills of which the hook forgot how they were used.
    #[cfg(feature = "reports")]
    Forgotten(ForgottenSkills),
    /// What is in the cache folder.
    Cache(CacheView),
    /// The named tokens of a server.
    Access(AccessView),
    /// An error.
    Error(Failure),
}

impl Document {
    /// Returns the answer as JSON on one line, for programs that parse it; see [`to_json`](Self::to_json) for terminals.
    pub fn to_compact_json(self) -> String {
        serde_json::to_string(&self.into_view()).unwrap_or_default()
    }

    fn into_view(self) -> View {
        View {
            view: VERSION,
            document: self,
        }
    }

    /// Returns the answer as indented JSON with a final newline, made safe for a terminal by [`printable_json`].
    pub fn to_json(self) -> String {
        // Serialization cannot fail: views contain only strings, numbers, booleans, lists and structs.
        let json = serde_json::to_string_pretty(&self.into_view()).unwrap_or_default();
        printable_json(&json) + "\n"
    }
}

/// Returns equivalent JSON with every control and invisible character escaped as `\u`.
///
/// JSON itself requires that only below U+0020, so that the text of a skill could otherwise control the terminal.
pub fn printable_json(json: &str) -> String {
    let mut printable = String::with_capacity(json.len());
    for c in json.chars() {
        // Newlines occur only between values.
        if (c.is_control() && c != '\n') || is_invisible(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(printable, "\\u{unit:04x}");
            }
        } else {
            printable.push(c);
        }
    }
    printable
}

/// A file that was written.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WrittenFile {
    /// The path of the file.
    pub file: String,
}

impl WrittenFile {
    /// Creates the view of a file that was written.
    pub fn new(file: &Path) -> Self {
        Self {
            file: file.to_string_lossy().into_owned(),
        }
    }
}

/// A path.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PathView {
    /// The path, whether or not something is there.
    pub path: String,
}

impl PathView {
    /// Creates the view of a path.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_string_lossy().into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{View, printable_json};
    use schemars::generate::SchemaSettings;
    use skillfold_core::text::is_invisible;

    #[test]
    fn printable_json_escapes_hidden_characters_and_loses_none() {
        let text: String = ('\0'..=char::MAX).collect();
        let json = printable_json(&serde_json::to_string_pretty(&[&text]).unwrap());
        assert!(!json.contains(|c: char| is_invisible(c) || (c.is_control() && c != '\n')));
        let read: Vec<String> = serde_json::from_str(&json).unwrap();
        assert!(read == [text]);
    }

    /// Compares the schema of the types with the one that is checked in; `UPDATE_DOCS=1` writes it.
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the test reads and writes the schema"
    )]
    fn schema_matches_the_checked_in_file() {
        let path = skillfold_testkit::in_checkout("docs/schema/view-v2.json");
        let generator = SchemaSettings::draft2020_12()
            .for_serialize()
            .into_generator();
        let schema = generator.into_root_schema_for::<View>();
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let checked_in = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            checked_in == text,
            "the view changed; run UPDATE_DOCS=1 cargo test -p skillfold schema, and read the difference"
        );
    }
}
