//! How surely a message asks for a skill.

use serde::{Deserialize, Serialize};

use crate::choose::literals::{LiteralMatch, LiteralOwner, WordCount};
use crate::choose::message::{Message, is_word};

/// How a skill was asked for, the surest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Signal {
    /// It was asked for a few turns ago.
    Earlier,
    /// What the message is about, as a search finds it.
    Search,
    /// A trigger of one word, a part of a longer one, or a pattern.
    Trigger,
    /// A trigger of two or more words, whole.
    Phrase,
    /// Its name, said as such.
    Mention,
}

impl Signal {
    /// Returns how likely a skill that is asked for so is what was meant, from 0 to 1, where the signal alone says it. The
    /// numbers are chosen, in the order of the ranks and above what a search needs; they are not measured.
    pub const fn confidence(self) -> Option<f32> {
        match self {
            Self::Mention => Some(1.0),
            Self::Phrase => Some(0.9),
            Self::Trigger => Some(0.8),
            Self::Search | Self::Earlier => None,
        }
    }

    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Earlier => "earlier",
            Self::Search => "search",
            Self::Trigger => "trigger",
            Self::Phrase => "phrase",
            Self::Mention => "mention",
        }
    }
}

/// Returns how surely a literal asks for its skill, if it does.
pub(super) fn signal(
    used: &LiteralOwner,
    found: LiteralMatch,
    message: &Message<'_>,
) -> Option<Signal> {
    match used.trigger {
        None => is_mention(&message.folded, found).then_some(Signal::Mention),
        Some(_) if used.words == WordCount::Several && found.is_whole => Some(Signal::Phrase),
        Some(_) => Some(Signal::Trigger),
    }
}

/// Returns whether a name is said as a name: nobody writes `pdf-forms` by chance, but `review` may be any word unless it
/// is marked (`$review`, `/review`, `` `review` ``) or called a skill.
fn is_mention(text: &str, found: LiteralMatch) -> bool {
    let (name, before, after) = (
        &text[found.start..found.end],
        &text[..found.start],
        &text[found.end..],
    );
    let previous = before.chars().next_back();
    let next = after.chars().next();
    // A part of a longer name is not the name.
    let goes_on = |c: Option<char>| c.is_some_and(|c| is_word(c) || c == '-');
    let is_joined = |rest: &str| rest.chars().nth(1).is_some_and(is_word);
    // `user:pdf` is another skill's name, or none.
    if goes_on(previous)
        || goes_on(next)
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

/// Returns whether a name is of several parts, as nobody writes by chance.
fn is_compound(name: &str) -> bool {
    let mut parts = name.split(['-', '_']);
    let is_part = |part: &str| part.chars().any(char::is_alphanumeric) && !part.contains(' ');
    parts.clone().count() > 1 && parts.all(is_part)
}

fn next_word(text: &str) -> &str {
    let text = text.trim_start();
    &text[..text.find(|c: char| !is_word(c)).unwrap_or(text.len())]
}

fn previous_word(text: &str) -> &str {
    text.split_whitespace().next_back().unwrap_or_default()
}
