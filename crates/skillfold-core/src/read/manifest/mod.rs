//! The manifest of a skill. Fields are converted one by one: an odd field costs a finding, never the skill.

mod fields;

mod optional;

mod engines;
mod scripts;
mod tools;

mod convert;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::name::SkillName;
use crate::read::field::Field;
use crate::read::value::{Fields, Value};
use crate::text::{first_chars, first_sentence};

use fields::OptionalFields;
use optional::Optional;

pub(crate) use convert::{convert, convert_bare};
pub use fields::{EngineRequirement, Triggers};
pub use tools::ToolCheck;

/// The frontmatter of a skill: level 1 of progressive disclosure, without the instructions.
///
/// ```
/// let parsed = skillfold_core::read::parse(b"---\nname: pdf\ndescription: Fills in forms. Use for PDF.\ntags: [pdf, forms]\n---\n", "pdf");
/// let manifest = parsed.manifest.expect("the file is in order");
/// assert_eq!(manifest.brief(), "Fills in forms.");
/// assert_eq!(manifest.tags(), ["pdf".into(), "forms".into()]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    name: SkillName,
    description: Box<str>,
    optional: Optional,
}

impl Manifest {
    /// Returns the name: the field `name`, or the folder's name if the field is missing, longer than 64 characters, or has
    /// others than letters, digits, hyphens and underscores.
    pub fn name(&self) -> &SkillName {
        &self.name
    }

    /// Returns the trimmed description.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns a one-line summary of at most 80 characters: `brief_description`, else the first sentence of the
    /// description, with white space collapsed.
    ///
    /// A longer line is cut after a word within the first 77 characters and ends with `...`.
    pub fn brief(&self) -> Cow<'_, str> {
        match self
            .details()
            .and_then(|details| details.brief_description.as_deref())
        {
            Some(brief) => to_one_line(brief),
            None => to_one_line(first_sentence(&self.description)),
        }
    }

    /// Returns the field `brief_description` as written.
    pub fn brief_description(&self) -> Option<&str> {
        self.details()?.brief_description.as_deref()
    }

    /// Returns the name or file of the license.
    pub fn license(&self) -> Option<&str> {
        self.details()?.license.as_deref()
    }

    /// Returns the products, packages and network access that the skill needs, as free text.
    pub fn compatibility(&self) -> Option<&str> {
        self.details()?.compatibility.as_deref()
    }

    /// Returns the version as written.
    pub fn version(&self) -> Option<&str> {
        self.details()?.version.as_deref()
    }

    /// Returns the model that the skill asks for.
    pub fn model(&self) -> Option<&str> {
        self.details()?.model.as_deref()
    }

    /// Returns the tools that the skill asks to use. They are reported, not enforced.
    pub fn allowed_tools(&self) -> &[Box<str>] {
        self.details().map_or(&[], |details| &details.allowed_tools)
    }

    /// Returns the tags, for filtering and search.
    pub fn tags(&self) -> &[Box<str>] {
        self.details().map_or(&[], |details| &details.tags)
    }

    /// Returns the ids of skills that should be loaded with this one. A hint: nothing is loaded automatically.
    pub fn requires(&self) -> &[Box<str>] {
        self.details().map_or(&[], |details| &details.requires)
    }

    /// Returns the toolsets, written as `path:Name`.
    pub fn toolsets(&self) -> &[Box<str>] {
        self.details().map_or(&[], |details| &details.toolsets)
    }

    /// Returns the scripts that the skill lists, as they are written; see [`script_paths`](Self::script_paths).
    pub fn scripts(&self) -> &[Value] {
        self.details().map_or(&[], |details| &details.scripts)
    }

    /// Returns the triggers.
    pub fn triggers(&self) -> Option<&Triggers> {
        self.details()?.triggers.as_ref()
    }

    /// Returns whether only the user may invoke the skill; `false` by default.
    pub fn disable_model_invocation(&self) -> bool {
        let flags = self.optional.flags();
        flags.disable_model_invocation.unwrap_or(false)
    }

    /// Returns whether a bundled skill is enabled unless configured otherwise; `true` by default.
    pub fn default_enabled(&self) -> bool {
        self.optional.flags().default_enabled.unwrap_or(true)
    }

    /// Returns the programs that the skill needs, each with the versions that will do: the field `engines`, or else a
    /// mapping under `compatibility`.
    pub fn engines(&self) -> &[EngineRequirement] {
        self.details().map_or(&[], |details| &details.engines)
    }

    /// Returns whether the skill needs any programs, without unpacking anything.
    pub(crate) fn has_engines(&self) -> bool {
        self.optional.flags().has_engines
    }

    /// Returns the mapping `metadata`, verbatim.
    pub fn metadata(&self) -> &Fields {
        self.details()
            .map_or(&NO_FIELDS, |details| &details.metadata)
    }

    /// Returns the fields that the engine does not read, verbatim: other clients' fields, duplicates, and values of an
    /// unexpected type.
    pub fn other(&self) -> &Fields {
        self.details().map_or(&NO_FIELDS, |details| &details.other)
    }

    /// Returns whether two manifests are equal, ignoring engine fields that only one of them has under `metadata`.
    pub(crate) fn is_same_except_moved(&self, other: &Self) -> bool {
        let with_shared_metadata = |manifest: &Self, other: &Self| {
            let mut manifest = manifest.clone();
            if let Some(details) = manifest.details() {
                let mut details = details.clone();
                let shared = details.metadata.iter().filter(|(name, _)| {
                    Field::from_key(name).is_none() || other.metadata().get(name).is_some()
                });
                details.metadata = shared.map(|(name, value)| (name, value.clone())).collect();
                manifest.optional = Optional::Parsed(Box::new(details));
            }
            manifest
        };
        with_shared_metadata(self, other) == with_shared_metadata(other, self)
    }

    fn details(&self) -> Option<&OptionalFields> {
        self.optional.get()
    }
}

static NO_FIELDS: std::sync::LazyLock<Fields> = std::sync::LazyLock::new(Fields::default);

const MAX_BRIEF_CHARS: usize = 80;
const BRIEF_CUT_CHARS: usize = 77;

/// Collapses white space and cuts a long text after a word.
fn to_one_line(text: &str) -> Cow<'_, str> {
    let is_other_space = |c: char| c.is_whitespace() && c != ' ';
    let collapsed = if text.contains(is_other_space) || text.contains("  ") || text.trim() != text {
        Cow::Owned(text.split_whitespace().collect::<Vec<_>>().join(" "))
    } else {
        Cow::Borrowed(text)
    };
    if first_chars(&collapsed, MAX_BRIEF_CHARS).len() == collapsed.len() {
        return collapsed;
    }
    let start = first_chars(&collapsed, BRIEF_CUT_CHARS);
    // If the cut falls right after a word, keep that word.
    let words = if collapsed[start.len()..].starts_with(' ') {
        start
    } else {
        start.rsplit_once(' ').map_or(start, |(words, _)| words)
    };
    Cow::Owned(format!("{}...", words.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::to_one_line;
    use crate::text::first_sentence;
    use proptest::prelude::*;

    #[test]
    fn long_line_is_cut_at_a_word() {
        let cut = to_one_line(
            "The quick brown fox jumps over the lazy dog and then runs away from all of the hounds",
        );
        assert_eq!(
            cut,
            "The quick brown fox jumps over the lazy dog and then runs away from all of..."
        );
        assert_eq!(to_one_line(" a\n  b\tc "), "a b c");
        assert_eq!(to_one_line(&"x".repeat(81)).len(), 80);
    }

    proptest! {
        #[test]
        fn brief_is_one_line_of_at_most_80_characters(text in "\\PC{0,200}|[a-z \n.\u{85}\u{2028}\t]{0,200}") {
            let brief = to_one_line(first_sentence(&text)).into_owned();
            prop_assert!(brief.chars().count() <= 80);
            prop_assert!(!brief.contains(|c: char| c.is_whitespace() && c != ' '));
        }
    }
}
