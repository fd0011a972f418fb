//! How strongly a message asks for a skill.

use serde::{Deserialize, Serialize};

use crate::choose::literals::{LiteralMatch, LiteralOwner, WordCount};
use crate::choose::message::{Message, is_word_char};

words! {
    /// How a skill was asked for, from the weakest to the strongest.
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Signal {
        /// Requested a few turns ago.
        Earlier = "earlier",
        /// Found by searching for the message.
        Search = "search",
        /// A one-word trigger, a trigger inside a longer word, or a pattern.
        Trigger = "trigger",
        /// A trigger of two or more words, at word boundaries.
        Phrase = "phrase",
        /// Its name, used as a name.
        Mention = "mention",
    }
}

impl Signal {
    /// Returns the confidence that the signal alone gives, from 0 to 1, or `None` if it gives none. The values are
    /// chosen, not measured: they follow the order of the signals and exceed the threshold for search results.
    pub const fn confidence(self) -> Option<f32> {
        match self {
            Self::Mention => Some(1.0),
            Self::Phrase => Some(0.9),
            Self::Trigger => Some(0.8),
            Self::Search | Self::Earlier => None,
        }
    }
}

/// Returns the signal that a literal match gives for its skill, if any.
pub(super) fn literal_signal(
    owner: &LiteralOwner,
    found: LiteralMatch,
    message: &Message<'_>,
) -> Option<Signal> {
    match owner.trigger {
        None => is_mention(&message.folded, found).then_some(Signal::Mention),
        Some(_) if owner.word_count == WordCount::Several && found.is_whole_word => {
            Some(Signal::Phrase)
        }
        Some(_) => Some(Signal::Trigger),
    }
}

/// Returns whether a name is used as a name: nobody writes `pdf-forms` by accident, but `review` is an ordinary word
/// unless it is marked (`$review`, `/review`, `` `review` ``) or next to the word "skill".
fn is_mention(text: &str, found: LiteralMatch) -> bool {
    let (name, before, after) = (
        &text[found.start..found.end],
        &text[..found.start],
        &text[found.end..],
    );
    let previous = before.chars().next_back();
    let next = after.chars().next();
    // Part of a longer name.
    let continues = |c: Option<char>| c.is_some_and(|c| is_word_char(c) || c == '-');
    let is_joined = |rest: &str| rest.chars().nth(1).is_some_and(is_word_char);
    // `user:pdf` is a different name.
    if continues(previous)
        || continues(next)
        || previous == Some(':')
        || (next == Some('.') && is_joined(after))
    {
        return false;
    }
    let is_command = matches!(previous, Some('$' | '/' | '@'))
        && before
            .chars()
            .nth_back(1)
            .is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '"' | '\'' | '`'));
    if is_command {
        return true;
    }
    if previous == Some('/') || next == Some('/') {
        return false;
    }
    let is_quote = |c: Option<char>| matches!(c, Some('`' | '"' | '\'' | '“' | '”' | '*'));
    let is_called = next_word(after) == "skill"
        || previous_word(before) == "skill"
        || previous_word(before) == "skill:";
    let is_compound = is_compound(name);
    is_compound || (is_quote(previous) && is_quote(next)) || is_called
}

/// Returns whether a name has several parts, such as `pdf-forms`.
fn is_compound(name: &str) -> bool {
    let mut parts = name.split(['-', '_']);
    let is_part = |part: &str| part.chars().any(char::is_alphanumeric) && !part.contains(' ');
    parts.clone().count() > 1 && parts.all(is_part)
}

fn next_word(text: &str) -> &str {
    let text = text.trim_start();
    &text[..text.find(|c: char| !is_word_char(c)).unwrap_or(text.len())]
}

fn previous_word(text: &str) -> &str {
    text.split_whitespace().next_back().unwrap_or_default()
}
