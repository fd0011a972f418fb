//! Sentences shared by several envelopes.

use std::borrow::Cow;

use super::parts::{EnvelopeParts, LoadFailure};

/// How an envelope escapes a value.
pub(super) type Escape = fn(&str) -> Cow<'_, str>;

/// Maximum skills that the sentence about requirements names.
const MAX_NAMED_SKILLS: usize = 10;

/// Maximum bytes of an id that a sentence of the host names.
const MAX_ID_BYTES: usize = 128;

/// Returns whether a text has the form of an id. Any other text could pass for a sentence of the host.
pub(crate) fn is_id(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '/');
    !text.is_empty() && text.len() <= MAX_ID_BYTES && text.chars().all(is_plain)
}

/// Returns a sentence that names the required skills, if there are any.
pub(super) fn requires_sentence(parts: &EnvelopeParts<'_>, escape: Escape) -> Option<String> {
    let ids: Vec<&str> = parts
        .requires
        .iter()
        .copied()
        .filter(|name| is_id(name))
        .collect();
    let pronoun = match ids.len() {
        0 => return None,
        1 => "it",
        _ => "them",
    };
    let first = join_values(ids.iter().copied().take(MAX_NAMED_SKILLS), escape);
    let names = match ids.len().saturating_sub(MAX_NAMED_SKILLS) {
        0 => first,
        more => format!("{first} and {more} more"),
    };
    Some(format!(
        "This skill requires: {names}. Load {pronoun} first if you haven't already."
    ))
}

/// Returns a sentence that says how many files are not listed, if there are any.
pub(super) fn unlisted_sentence(parts: &EnvelopeParts<'_>) -> Option<String> {
    match parts.unlisted {
        0 => None,
        1 => Some("1 more file is not listed".to_owned()),
        count => Some(format!("{count} more files are not listed")),
    }
}

/// Returns the message, the hint and the nearest ids of a failure as sentences on one line.
pub(super) fn failure_text(failure: &LoadFailure<'_>, escape: Escape) -> String {
    let mut text = String::new();
    for sentence in [failure.message, failure.hint] {
        if sentence.is_empty() {
            continue;
        }
        text.push_str(&escape(sentence));
        text.push_str(if sentence.ends_with(['.', '!', '?']) {
            " "
        } else {
            ". "
        });
    }
    if !failure.nearest.is_empty() {
        text.push_str("Nearest: ");
        text.push_str(&join_values(failure.nearest.iter().copied(), escape));
    }
    text.truncate(text.trim_end().len());
    text
}

/// Joins escaped values with commas.
pub(super) fn join_values<'a>(values: impl Iterator<Item = &'a str>, escape: Escape) -> String {
    let mut text = String::new();
    for value in values {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(&escape(value));
    }
    text
}

/// Ends the last line of a text, if it is not ended yet.
pub(super) fn end_line(text: &mut String) {
    if !text.ends_with('\n') {
        text.push('\n');
    }
}
