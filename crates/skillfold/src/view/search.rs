//! The JSON view of search results.

use skillfold_core::Snippet;
use skillfold_core::view::{Bytes, SkillRecord, round_confidence};

use crate::search;

/// Maximum bytes of a snippet.
const MAX_SNIPPET_BYTES: usize = 160;

/// What was found for a request.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SearchView {
    /// The request.
    pub request: String,
    /// What of the skills was looked at: `metadata`, or `bodies` too.
    pub coverage: String,
    /// How many skills were searched.
    pub searched: usize,
    /// The skills, the best first.
    pub found: Vec<FoundSkill>,
    /// The bytes in the middle of the request that were not looked at, where it is too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<Bytes>,
    /// Why less was looked at, or in another way, than there is a place for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A skill that was found.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FoundSkill {
    /// Its rank, from 1.
    pub rank: usize,
    /// How likely it is what was meant, from 0 to 1.
    pub confidence: f32,
    /// How well it answers, to be compared with others of the same request alone.
    pub score: f32,
    /// The skill.
    #[serde(flatten)]
    pub skill: SkillRecord,
    /// The stretch of its description or its instructions that has the most words of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<SnippetText>,
}

/// A stretch of a text, with the words that were asked for.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SnippetText {
    /// The stretch, on one line.
    pub text: String,
    /// Where the words stand in it, as bytes.
    pub marks: Vec<Bytes>,
}

impl SearchView {
    /// Creates the view of search results. Reads the instructions of the hits for their snippets.
    pub fn new(request: &str, results: &search::SearchResults) -> Self {
        let found = results.hits.iter().enumerate().filter_map(|(index, hit)| {
            Some(FoundSkill {
                rank: index + 1,
                confidence: round_confidence(hit.confidence),
                score: round_confidence(hit.score),
                skill: SkillRecord::listed(&results.entry(hit)?),
                snippet: results
                    .snippet(hit, MAX_SNIPPET_BYTES)
                    .map(SnippetText::new),
            })
        });
        Self {
            request: request.to_owned(),
            coverage: results.coverage.as_str().to_owned(),
            searched: results.searched,
            found: found.collect(),
            unread: results.skipped.clone().map(Bytes::from),
            problem: results.problem.clone(),
        }
    }
}

impl SnippetText {
    fn new(snippet: Snippet) -> Self {
        Self {
            text: snippet.text,
            marks: snippet.marks.into_iter().map(Bytes::from).collect(),
        }
    }
}
