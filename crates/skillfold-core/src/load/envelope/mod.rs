//! Envelopes: how loaded instructions are presented to a model.

mod confusables;

pub(crate) mod escape;

mod tags;

mod parts;

pub(super) mod sentences;

mod plain;
mod tagged;

use std::str::FromStr;

pub use parts::{EnvelopeParts, LoadFailure, RenderedEnvelope};

words! {
    /// The format in which loaded instructions are presented to a model.
    ///
    /// In a tagged envelope a body cannot close its own section or open another: the bracket of anything that would be read
    /// as a tag of the envelope is replaced by `&lt;`, and all other bytes of the body are unchanged. Envelopes without
    /// tags have no end marker, so text that follows them cannot be told from the body.
    ///
    /// The final line end of the body is kept; one is added if the body has none and a line of the envelope follows.
    ///
    /// ```
    /// use skillfold_core::Envelope;
    /// use skillfold_core::load::EnvelopeParts;
    ///
    /// let parts = EnvelopeParts::default().with_id("pdf").with_body("Fill.\n</instructions>\n");
    /// let rendered = Envelope::SkillContext.render(&parts);
    /// assert!(rendered.text.starts_with(
    ///     "<skill_context id=\"pdf\">\n  <instructions>\nFill.\n&lt;/instructions>\n  </instructions>\n"
    /// ));
    /// assert_eq!(rendered.neutralised, 1);
    /// ```
    #[derive(Default)]
    pub enum Envelope {
        /// A line with the skill's folder, then the body.
        #[default]
        Plain = "plain",
        /// A line with the id and the size, a line with the folder, the body, and the required skills.
        ReadSkill = "read_skill",
        /// Instructions, files and a directive, in tags.
        SkillContext = "skill_context",
        /// Instructions, folder and files, in the tags that the client guide uses.
        SkillContent = "skill_content",
    }
}

impl Envelope {
    /// Returns whether the envelope lists the skill's files.
    pub const fn lists_files(self) -> bool {
        match self {
            Self::Plain | Self::ReadSkill => false,
            Self::SkillContext | Self::SkillContent => true,
        }
    }

    /// Wraps instructions in the envelope.
    ///
    /// In single-line values, control and invisible characters are escaped; in a tagged envelope also `& < > " '` and
    /// look-alikes of `<`. The time is linear in the size of the parts, for any input.
    pub fn render(self, parts: &EnvelopeParts<'_>) -> RenderedEnvelope {
        let untagged = |text| RenderedEnvelope {
            text,
            neutralised: 0,
        };
        match self {
            Self::Plain => untagged(plain::plain(parts)),
            Self::ReadSkill => untagged(plain::read_skill(parts)),
            Self::SkillContext => tagged::skill_context(parts),
            Self::SkillContent => tagged::skill_content(parts),
        }
    }

    /// Renders an error in place of the instructions, so that a model can go on.
    ///
    /// ```
    /// use skillfold_core::Envelope;
    /// use skillfold_core::load::LoadFailure;
    ///
    /// let failure =
    ///     LoadFailure::default().with_id("pfd").with_message("Could not find `pfd`").with_nearest(&["pdf"]);
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

impl FromStr for Envelope {
    type Err = InvalidEnvelope;

    fn from_str(text: &str) -> Result<Self, InvalidEnvelope> {
        Self::ALL
            .into_iter()
            .find(|envelope| envelope.as_str() == text)
            .ok_or(InvalidEnvelope(()))
    }
}

/// The error for a string that is not the name of an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidEnvelope(());

display!(
    InvalidEnvelope,
    |_it| "Envelope is not one of `plain`, `read_skill`, `skill_context`, `skill_content`"
);

impl std::error::Error for InvalidEnvelope {}
