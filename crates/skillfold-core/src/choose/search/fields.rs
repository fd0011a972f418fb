//! The texts of a skill, by what they are for.

use std::sync::LazyLock;

use regex::Regex;

/// A part of a skill that is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum SearchField {
    Name,
    /// What a skill is for, by its description.
    Description,
    /// Tags and triggers.
    Tags,
    /// What it is not for, by its description: words that are about the same matters all the same.
    Excluded,
    Headings,
    /// Sections on when to use it and what it does.
    Purpose,
    /// The first sentences of the instructions.
    Opening,
    Code,
    /// All other instructions.
    Rest,
    /// Sections on what it is not for, and on other skills.
    Elsewhere,
}

/// How many fields there are.
pub(super) const FIELDS: usize = 10;

/// All fields, in their order.
pub(super) const ALL: [SearchField; FIELDS] = [
    SearchField::Name,
    SearchField::Description,
    SearchField::Tags,
    SearchField::Excluded,
    SearchField::Headings,
    SearchField::Purpose,
    SearchField::Opening,
    SearchField::Code,
    SearchField::Rest,
    SearchField::Elsewhere,
];

impl SearchField {
    /// Returns the word for it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Description => "description",
            Self::Tags => "tags",
            Self::Excluded => "excluded",
            Self::Headings => "headings",
            Self::Purpose => "purpose",
            Self::Opening => "opening",
            Self::Code => "code",
            Self::Rest => "rest",
            Self::Elsewhere => "elsewhere",
        }
    }
}

/// Compiles a pattern of this file.
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("patterns of the engine are tested")
}

/// Where a sentence begins to say what a skill is not for.
static EXCLUDES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(do not use|don'?t use|do not trigger|don'?t trigger|not for\b|not intended for|not to be used|should not be used|never use|skip (this|when|if|for)|avoid using|excludes?\b|does not (cover|handle|apply)|do not activate|not when\b|not applicable)",
    )
});
/// A sentence that leads to another skill.
static LEADS_AWAY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"(?i)^\s*for [^.;]{3,200}?,?\s*\(?(see|use|prefer|try)\b\s+(the\s+)?[`'"]?[a-z0-9]+"#)
});
/// Where a sentence turns to what a skill is for again.
static TURNS_BACK: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(WHEN:|USE FOR:|USE WHEN|Use when)"));
/// A heading over what a skill is for.
static PURPOSE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(when|trigger|triggers|use cases?|usage scenarios?|activat\w+|example (requests?|prompts?|queries|questions|usage)|user (says|requests?|asks)|applicab\w+|invoke|purpose|overview|what (it|this) does|capabilit\w+|features?)\b",
    )
});
/// A heading over what a skill is not for.
static ELSEWHERE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(not (to )?use|don'?t use|when not|not for|out of scope|avoid|anti-?patterns?|limitations|non-?goals|related skills|see also)\b",
    )
});

/// Calls back with each stretch of a description and what it is for.
pub(super) fn each_of_description<'t>(
    description: &'t str,
    mut take: impl FnMut(&'t str, SearchField),
) {
    for sentence in sentences(description) {
        if let Some(excludes) = EXCLUDES.find(sentence) {
            let (before, from) = sentence.split_at(excludes.start());
            let back = TURNS_BACK
                .find(from)
                .map_or(from.len(), |found| found.start());
            take(before, SearchField::Description);
            take(&from[back..], SearchField::Description);
            take(&from[..back], SearchField::Excluded);
        } else if LEADS_AWAY.is_match(sentence) {
            take(sentence, SearchField::Excluded);
        } else {
            take(sentence, SearchField::Description);
        }
    }
}

/// Returns the sentences of a text: a stop and a blank, or a line break, end one.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut is_stop = false;
        line.split_inclusive(move |letter: char| {
            let ends = is_stop && letter.is_whitespace();
            is_stop = matches!(letter, '.' | '!' | '?' | '。' | ';');
            ends
        })
    })
}

/// Characters of the first sentences of the instructions, before a heading ends them and at most.
const OPENING_LEAST: usize = 400;
const OPENING_MOST: usize = 800;

/// Calls back with each line of instructions and what it is for.
pub(super) fn each_of_body<'t>(body: &'t str, mut take: impl FnMut(&'t str, SearchField)) {
    let (mut field, mut headings, mut opening) = (SearchField::Opening, 0, 0);
    let mut is_code = false;
    for line in body.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
        } else if is_code {
            take(line, SearchField::Code);
        } else if let Some(heading) = heading(line) {
            headings += 1;
            let is_elsewhere = ELSEWHERE.is_match(heading);
            field = if is_elsewhere {
                SearchField::Elsewhere
            } else if PURPOSE.is_match(heading) {
                SearchField::Purpose
            } else if opening > OPENING_LEAST || headings > 2 {
                SearchField::Rest
            } else {
                SearchField::Opening
            };
            take(
                heading,
                if is_elsewhere {
                    field
                } else {
                    SearchField::Headings
                },
            );
        } else {
            take(line, field);
            if field == SearchField::Opening {
                opening += line.len();
                if opening > OPENING_MOST {
                    field = SearchField::Rest;
                }
            }
        }
    }
}

/// Returns the text of a line that is a heading.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(char::is_whitespace)).then(|| text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(each: impl FnOnce(&mut dyn FnMut(&str, SearchField))) -> String {
        let mut shown = Vec::new();
        each(&mut |text, field| {
            if !text.trim().is_empty() {
                shown.push(format!("{}: {}", field.as_str(), text.trim()));
            }
        });
        shown.join("\n")
    }

    #[test]
    fn a_description_is_taken_apart_by_what_it_is_for() {
        let description = "Fills in PDF forms. Use when a form is at hand; not for scanned pages. For spreadsheets, use tables.";
        insta::assert_snapshot!(shown(|take| each_of_description(description, take)), @"
        description: Fills in PDF forms.
        description: Use when a form is at hand;
        excluded: not for scanned pages.
        excluded: For spreadsheets, use tables.
        ");
    }

    #[test]
    fn instructions_are_taken_apart_by_their_headings() {
        let body = "# PDF\nFills in forms.\n## When to use\n- a form\n## Steps\n```sh\n# no heading\nfill form.pdf\n```\n### Details\nMore.\n## When not to use\nImages.\n";
        insta::assert_snapshot!(shown(|take| each_of_body(body, take)), @"
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
