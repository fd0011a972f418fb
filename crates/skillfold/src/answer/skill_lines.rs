//! Skills, a line each: what the tools that list and search skills answer.

use std::fmt::Write as _;

use serde::Serialize;
use skillfold_core::Entry;
use skillfold_core::diagnostic::visible;
use skillfold_core::text::ellipsize;
use skillfold_core::view::SkillRecord;

/// Maximum characters of a description in the text of an answer.
const MAX_DESCRIPTION: usize = 300;

/// Some skills, a line each.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct SkillLines {
    /// The skills.
    pub(crate) skills: Vec<SkillLine>,
    /// How many there are in total.
    pub(crate) total: usize,
    /// The `cursor` of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    /// Why there may be more soon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<&'static str>,
}

/// A skill in a line.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct SkillLine {
    /// The skill's id, to load it by.
    pub(crate) id: String,
    /// How well it fits the request: `strong`, `likely` or `possible`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fit: Option<Fit>,
    /// What the skill does and when to use it.
    pub(crate) description: String,
    /// Its tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tags: Vec<String>,
}

/// How well a skill fits a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fit {
    /// It is almost certainly the right one.
    Strong,
    /// It is probably the right one.
    Likely,
    /// It may be the right one.
    Possible,
}

impl Fit {
    /// Returns how well a skill fits, by the estimated probability that it is the right one; `None` if it hardly does.
    ///
    /// `docs/search.md` has how often each is right.
    pub fn from_confidence(confidence: f32) -> Option<Self> {
        match confidence {
            0.7.. => Some(Self::Strong),
            0.3.. => Some(Self::Likely),
            0.02.. => Some(Self::Possible),
            _ => None,
        }
    }

    /// Returns the word: `strong`, `likely` or `possible`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Strong => "strong",
            Self::Likely => "likely",
            Self::Possible => "possible",
        }
    }
}

impl SkillLine {
    pub(crate) fn new(entry: &Entry<'_>, fit: Option<Fit>) -> Self {
        let SkillRecord {
            id,
            description,
            tags,
            ..
        } = SkillRecord::listed(entry);
        Self {
            id,
            fit,
            description,
            tags,
        }
    }
}

impl SkillLines {
    /// Returns the lines as text: an id, how well it fits, and what the skill does.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for skill in &self.skills {
            let description: Vec<_> = skill.description.split_whitespace().collect();
            let description = description.join(" ");
            let fit = skill.fit.map(|fit| format!(" ({})", fit.as_str()));
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "- {}{}: {}",
                visible(&skill.id),
                fit.unwrap_or_default(),
                visible(&ellipsize(&description, MAX_DESCRIPTION)),
            );
        }
        text
    }

    pub(crate) fn bytes(&self) -> usize {
        let line = |skill: &SkillLine| {
            let tags: usize = skill
                .tags
                .iter()
                .map(|tag| tag.len() + size_of::<String>())
                .sum();
            size_of::<SkillLine>() + skill.id.len() + skill.description.len() + tags
        };
        self.skills.iter().map(line).sum()
    }
}
