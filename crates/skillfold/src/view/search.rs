//! The JSON view of search results.

use skillfold_core::search::Snippet;
use skillfold_core::view::{Bytes, SkillRecord, round_confidence};

use crate::skills::search;

/// Maximum bytes of a snippet.
const MAX_SNIPPET_BYTES: usize = 160;

/// Search results for a request.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SearchView {
    /// The request.
    pub request: String,
    /// What was searched: `metadata`, or `bodies` for the metadata and the instructions.
    pub coverage: String,
    /// The number of skills that were searched.
    pub searched: usize,
    /// The skills that were found, best first.
    pub found: Vec<FoundSkill>,
    /// Byte range in the middle of a too long request that was ignored; absent if the request is not too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<Bytes>,
    /// Why the search was less complete than configured, such as without the model; absent if it was complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A skill that was found.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FoundSkill {
    /// The rank, starting at 1.
    pub rank: usize,
    /// Confidence that it is the right skill, from 0 to 1.
    pub confidence: f32,
    /// Relevance, without a unit; comparable only within one request.
    pub score: f32,
    /// The skill.
    #[serde(flatten)]
    pub skill: SkillRecord,
    /// The part of its description or instructions with the most words of the request; absent if neither has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<SnippetText>,
}

/// A part of a text, with the words of the request marked.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SnippetText {
    /// The text on one line: at most 160 bytes, plus `…` where it was cut.
    pub text: String,
    /// Byte ranges of the request's words in `text`.
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
