//! How loaded instructions are put before a model.

mod confusables;
pub(crate) mod escape;
mod plain;
pub(super) mod sentences;
mod tagged;
mod tags;

use std::fmt;
use std::str::FromStr;

/// How loaded instructions are put before a model. Text in, text out.
///
/// In forms with tags a body cannot end its part and begin another: what would be read as a tag of the form has `&lt;` in
/// place of its bracket, and all other bytes of the body stay as they are. Forms without tags have no closing mark: what
/// follows their text cannot be told from it.
///
/// The body's bytes are kept, its last line end too; where a line of the form follows a body that does not end its line, a
/// line feed is put between them.
///
/// ```
/// use skillfold_core::{Envelope, EnvelopeParts};
///
/// let parts = EnvelopeParts { id: "pdf", body: "Fill.\n</instructions>\n", ..EnvelopeParts::default() };
/// let rendered = Envelope::SkillContext.render(&parts);
/// assert!(rendered.text.starts_with(
///     "<skill_context id=\"pdf\">\n  <instructions>\nFill.\n&lt;/instructions>\n  </instructions>\n"
/// ));
/// assert_eq!(rendered.neutralised, 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Envelope {
    /// The folder of the skill on a line, then the body.
    #[default]
    Plain,
    /// The id and the size on a line, the folder on another, the body, and what else must be loaded.
    ReadSkill,
    /// Instructions, files and a directive, in tags.
    SkillContext,
    /// Instructions, folder and files, in the tags of the guide for clients.
    SkillContent,
}

/// What is put into an envelope.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "hosts give what they have with struct update syntax"
)]
pub struct EnvelopeParts<'a> {
    /// The id by which the skill was asked for.
    pub id: &'a str,
    /// The instructions. Arguments are in them already.
    pub body: &'a str,
    /// The absolute path of the skill's folder; a skill in memory has none.
    pub base_dir: Option<&'a str>,
    /// About how many tokens the body has.
    pub tokens: u64,
    /// Skills that must be loaded too. What is not written as an id is not named, and of many the first ten are.
    pub requires: &'a [Box<str>],
    /// Files of the skill, relative to its folder.
    pub files: &'a [&'a str],
    /// How many more files there are.
    pub unlisted: usize,
}

/// Why there are no instructions, for a model to act on.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "hosts give what they have with struct update syntax"
)]
pub struct LoadFailure<'a> {
    /// The id by which the skill was asked for.
    pub id: &'a str,
    /// What went wrong, as a sentence.
    pub message: &'a str,
    /// What can be done about it, as a sentence; empty where nothing can.
    pub hint: &'a str,
    /// Ids that may have been meant, the nearest first.
    pub nearest: &'a [&'a str],
}

/// A filled envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilledEnvelope {
    /// What is put before the model.
    pub text: String,
    /// How many of the body's own tags were made harmless.
    pub neutralised: usize,
}

impl Envelope {
    /// All forms.
    pub const ALL: [Self; 4] = [
        Self::Plain,
        Self::ReadSkill,
        Self::SkillContext,
        Self::SkillContent,
    ];

    /// Returns the word for the form, such as `skill_context`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::ReadSkill => "read_skill",
            Self::SkillContext => "skill_context",
            Self::SkillContent => "skill_content",
        }
    }

    /// Returns whether the form has a place for the names of files.
    pub const fn lists_files(self) -> bool {
        match self {
            Self::Plain | Self::ReadSkill => false,
            Self::SkillContext | Self::SkillContent => true,
        }
    }

    /// Puts instructions into the envelope.
    ///
    /// Values on one line have control and invisible characters escaped; in tags also `& < > " '` and what is read as `<`.
    /// Takes time in proportion to what is put in, whatever that is.
    pub fn render(self, parts: &EnvelopeParts<'_>) -> FilledEnvelope {
        let whole = |text| FilledEnvelope {
            text,
            neutralised: 0,
        };
        match self {
            Self::Plain => whole(plain::plain(parts)),
            Self::ReadSkill => whole(plain::read_skill(parts)),
            Self::SkillContext => tagged::skill_context(parts),
            Self::SkillContent => tagged::skill_content(parts),
        }
    }

    /// Puts an error in the place of the instructions, so that a model can go on.
    ///
    /// ```
    /// use skillfold_core::{Envelope, Failure};
    ///
    /// let failure = Failure { id: "pfd", message: "Could not find `pfd`", nearest: &["pdf"], ..Failure::default() };
    /// assert_eq!(Envelope::Plain.render_error(&failure), "Error: Could not find `pfd`\nDid you mean: pdf?");
    /// ```
    pub fn render_error(self, failure: &LoadFailure<'_>) -> String {
        match self {
            Self::Plain | Self::ReadSkill => plain::error(failure),
            Self::SkillContext => tagged::context_error(failure),
            Self::SkillContent => tagged::content_error(failure),
        }
    }
}

impl fmt::Display for Envelope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Envelope {
    type Err = InvalidEnvelope;

    fn from_str(text: &str) -> Result<Self, InvalidEnvelope> {
        Self::ALL
            .into_iter()
            .find(|envelope| envelope.as_str() == text)
            .ok_or(InvalidEnvelope(()))
    }
}

/// A word that names no envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidEnvelope(());

impl fmt::Display for InvalidEnvelope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(
            "Envelope is not one of `plain`, `read_skill`, `skill_context`, `skill_content`",
        )
    }
}

impl std::error::Error for InvalidEnvelope {}
