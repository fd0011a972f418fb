//! Sentences that several envelopes say.

use std::borrow::Cow;

use super::{EnvelopeParts, LoadFailure};

/// A value as an envelope writes it.
pub(super) type Escape = fn(&str) -> Cow<'_, str>;

/// Skills that the sentence about requirements names.
const NAMED: usize = 10;

/// Bytes of the longest id that is named in a sentence of the host.
const ID_BYTES: usize = 128;

/// Returns whether a text is written as an id. Anything else could be a sentence of its own in the host's voice.
pub(crate) fn is_id(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '/');
    !text.is_empty() && text.len() <= ID_BYTES && text.chars().all(is_plain)
}

/// Returns what must be loaded too, as a sentence, if anything must.
pub(super) fn requirement(parts: &EnvelopeParts<'_>, shown: Escape) -> Option<String> {
    let ids: Vec<&str> = parts
        .requires
        .iter()
        .map(|name| &**name)
        .filter(|name| is_id(name))
        .collect();
    let pronoun = match ids.len() {
        0 => return None,
        1 => "it",
        _ => "them",
    };
    let first = listed(ids.iter().copied().take(NAMED), shown);
    let names = match ids.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    };
    Some(format!(
        "This skill requires: {names}. Load {pronoun} first if you haven't already."
    ))
}

/// Returns how many files are not listed, as a sentence, if there are such.
pub(super) fn unlisted(parts: &EnvelopeParts<'_>) -> Option<String> {
    match parts.unlisted {
        0 => None,
        1 => Some("1 more file is not listed".to_owned()),
        count => Some(format!("{count} more files are not listed")),
    }
}

/// Returns what went wrong, the way out and what may have been meant, as sentences on one line.
pub(super) fn account(failure: &LoadFailure<'_>, shown: Escape) -> String {
    let mut text = String::new();
    for sentence in [failure.message, failure.hint] {
        if sentence.is_empty() {
            continue;
        }
        text.push_str(&shown(sentence));
        text.push_str(if sentence.ends_with(['.', '!', '?']) {
            " "
        } else {
            ". "
        });
    }
    if !failure.nearest.is_empty() {
        text.push_str("Nearest: ");
        text.push_str(&listed(failure.nearest.iter().copied(), shown));
    }
    text.truncate(text.trim_end().len());
    text
}

/// Returns values in a row, parted by commas.
pub(super) fn listed<'a>(values: impl Iterator<Item = &'a str>, shown: Escape) -> String {
    let mut text = String::new();
    for value in values {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(&shown(value));
    }
    text
}

/// Ends the last line of a text, if it is not ended.
pub(super) fn end_line(text: &mut String) {
    if !text.ends_with('\n') {
        text.push('\n');
    }
}
