//! Splits the texts of a skill into search fields.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern::compile;
use crate::read::exclusion::exclusions;

words! {
    /// A field of a document, which has its own weight.
    #[derive(PartialOrd, Ord)]
    pub(super) enum SearchField {
        Name = "name",
        /// The part of the description that says what the skill is for.
        Description = "description",
        /// Tags and triggers.
        Tags = "tags",
        /// The part of the description that says what it is not for. Its words are on the same topic nevertheless.
        Excluded = "excluded",
        Headings = "headings",
        /// Sections about when to use it and what it does.
        Purpose = "purpose",
        /// The first sentences of the instructions.
        Opening = "opening",
        Code = "code",
        /// All other instructions.
        Rest = "rest",
        /// Sections about what it is not for and about other skills.
        Elsewhere = "elsewhere",
    }
}

pub(super) const FIELD_COUNT: usize = SearchField::ALL.len();

/// The fields from the frontmatter.
pub(super) const METADATA_FIELDS: [SearchField; 4] = [
    SearchField::Name,
    SearchField::Description,
    SearchField::Tags,
    SearchField::Excluded,
];

/// The fields that say what a skill is for, in the frontmatter.
pub(super) const PURPOSE_FIELDS: [SearchField; 3] = [
    SearchField::Name,
    SearchField::Description,
    SearchField::Tags,
];

/// Heading of a [`SearchField::Purpose`] section.
static PURPOSE_HEADING: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(when|trigger|triggers|use cases?|usage scenarios?|activat\w+|example (requests?|prompts?|queries|questions|usage)|user (says|requests?|asks)|applicab\w+|invoke|purpose|overview|what (it|this) does|capabilit\w+|features?)\b",
    )
});
/// Heading of a [`SearchField::Elsewhere`] section.
static ELSEWHERE_HEADING: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(not (to )?use|don'?t use|when not|not for|out of scope|avoid|anti-?patterns?|limitations|non-?goals|related skills|see also)\b",
    )
});

/// Calls `emit` with each piece of a description and its field. Each clause that says what the skill is not for is a piece.
pub(super) fn split_description<'t>(
    description: &'t str,
    mut emit: impl FnMut(&'t str, SearchField),
) {
    let mut end = 0;
    for exclusion in exclusions(description) {
        emit(
            &description[end..exclusion.range.start],
            SearchField::Description,
        );
        end = exclusion.range.end;
        emit(&description[exclusion.range], SearchField::Excluded);
    }
    emit(&description[end..], SearchField::Description);
}

/// Returns the sentences of a description that say what the skill is for. Sentences that say what it is not for, or that
/// refer to another skill, are left out.
///
/// ```
/// use skillfold_core::search::purpose_sentences;
///
/// let description = "Fills in forms. Do not use for tables. For letters, use `mail`.";
/// assert_eq!(purpose_sentences(description), ["Fills in forms."]);
/// ```
pub fn purpose_sentences(description: &str) -> Vec<&str> {
    let mut found = Vec::new();
    split_description(description, |text, field| {
        if field == SearchField::Description {
            let sentences = sentences(text).map(str::trim);
            found.extend(sentences.filter(|text| text.contains(char::is_alphanumeric)));
        }
    });
    found
}

/// Returns the sentences of a text. A sentence ends at a line break, or at punctuation followed by whitespace.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut after_stop = false;
        line.split_inclusive(move |c: char| {
            let ends = after_stop && c.is_whitespace();
            after_stop = matches!(c, '.' | '!' | '?' | '。' | ';');
            ends
        })
    })
}

/// Bytes after which a heading ends the opening of the instructions.
const MIN_OPENING_BYTES: usize = 400;
/// Bytes after which the opening ends at the next line.
const MAX_OPENING_BYTES: usize = 800;

/// Calls `emit` with each line of the instructions and its field.
pub(super) fn split_body<'t>(body: &'t str, mut emit: impl FnMut(&'t str, SearchField)) {
    let (mut field, mut headings, mut opening_bytes) = (SearchField::Opening, 0, 0);
    let mut is_code = false;
    for line in body.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
        } else if is_code {
            emit(line, SearchField::Code);
        } else if let Some(heading) = heading_text(line) {
            headings += 1;
            let is_elsewhere = ELSEWHERE_HEADING.is_match(heading);
            field = if is_elsewhere {
                SearchField::Elsewhere
            } else if PURPOSE_HEADING.is_match(heading) {
                SearchField::Purpose
            } else if opening_bytes > MIN_OPENING_BYTES || headings > 2 {
                SearchField::Rest
            } else {
                SearchField::Opening
            };
            emit(
                heading,
                if is_elsewhere {
                    field
                } else {
                    SearchField::Headings
                },
            );
        } else {
            emit(line, field);
            if field == SearchField::Opening {
                opening_bytes += line.len();
                if opening_bytes > MAX_OPENING_BYTES {
                    field = SearchField::Rest;
                }
            }
        }
    }
}

/// Returns the text of a Markdown heading, or `None` for any other line.
fn heading_text(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(char::is_whitespace)).then(|| text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(split: impl FnOnce(&mut dyn FnMut(&str, SearchField))) -> String {
        let mut pieces = Vec::new();
        split(&mut |text, field| {
            if !text.trim().is_empty() {
                pieces.push(format!("{}: {}", field.as_str(), text.trim()));
            }
        });
        pieces.join("\n")
    }

    #[test]
    fn description_is_split_by_purpose() {
        let description = "Fills in PDF forms. Use when a form is at hand; not for scanned pages. For spreadsheets, use tables.";
        insta::assert_snapshot!(shown(|take| split_description(description, take)), @"
        description: Fills in PDF forms. Use when a form is at hand;
        excluded: not for scanned pages
        description: .
        excluded: For spreadsheets, use tables
        description: .
        ");
    }

    #[test]
    fn instructions_are_split_by_heading() {
        let body = "# PDF\nFills in forms.\n## When to use\n- a form\n## Steps\n```sh\n# no heading\nfill form.pdf\n```\n### Details\nMore.\n## When not to use\nImages.\n";
        insta::assert_snapshot!(shown(|take| split_body(body, take)), @"
        headings: PDF
        opening: Fills in forms.
        headings: When to use
        purpose: - a form
        headings: Steps
        code: # no heading
        code: fill form.pdf
        headings: Details
        rest: More.
        elsewhere: When not to use
        elsewhere: Images.
        ");
    }
}
