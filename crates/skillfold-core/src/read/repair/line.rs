//! Lines of a block that YAML refuses, and the fields that start on them.

use crate::diagnostic::Position;
use crate::read::field::Field;
use crate::read::frontmatter::count;

/// Fields of other clients that are recognised like our own.
const OTHER_CLIENTS: [&str; 5] = [
    "author",
    "user-invocable",
    "argument-hint",
    "homepage",
    "category",
];

/// Characters of the longest name that is taken for a field's.
const MAX_KEY: usize = 64;

/// A line of the block.
#[derive(Clone, Copy)]
pub(super) struct RepairLine<'a> {
    /// The text without the indentation and without white space at the end.
    pub(super) text: &'a str,
    /// The text with the white space at its end, which belongs to a block scalar.
    pub(super) whole: &'a str,
    /// The characters before it.
    pub(super) indent: usize,
    /// Whether there are tabs among them.
    pub(super) tabs: bool,
    /// Whether the dash of a list's item stands before the text.
    pub(super) behind_dash: bool,
    pub(super) number: u32,
}

impl<'a> RepairLine<'a> {
    pub(super) fn new(line: &'a str, number: u32) -> Self {
        let text = line.trim_start_matches([' ', '\t']);
        let before = &line[..line.len() - text.len()];
        Self {
            text: text.trim_end(),
            whole: text,
            indent: before.len(),
            tabs: before.contains('\t'),
            behind_dash: false,
            number,
        }
    }

    /// Returns the line without the dash of a list's item.
    pub(super) fn behind_dash(&self) -> Self {
        let text = self
            .text
            .strip_prefix('-')
            .unwrap_or(self.text)
            .trim_start();
        Self {
            text,
            indent: self.indent + self.text.len() - text.len(),
            behind_dash: true,
            ..*self
        }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns whether the line is a comment that does not belong to a value whose field or item stands at `base`.
    pub(super) fn is_comment(&self, base: usize) -> bool {
        self.indent <= base && self.text.starts_with('#')
    }

    pub(super) fn start(&self) -> Position {
        Position::new(self.number, count(self.indent) + 1)
    }

    pub(super) fn end(&self) -> Position {
        Position::new(
            self.number,
            count(self.indent + self.text.chars().count()) + 1,
        )
    }
}

/// A field's first line, taken apart.
pub(super) struct FieldHead<'a> {
    pub(super) key: &'a str,
    /// What stands after the colon, without white space around it.
    pub(super) rest: &'a str,
    /// The offset of the colon in the line's text.
    pub(super) colon: usize,
    /// Where `rest` starts.
    pub(super) column: u32,
    pub(super) form: Form,
}

/// How a field's name is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `key: value`
    Proper,
    /// `key:value`, or with a full-width colon
    NoSpace,
}

impl<'a> FieldHead<'a> {
    /// Takes a line apart, if it starts with a field's name.
    pub(super) fn of(line: RepairLine<'a>) -> Option<Self> {
        // A name is short; most of a long line need not be looked at.
        let mut start = line.text.char_indices().take(MAX_KEY + 3);
        let (colon, _) = start.find(|(_, c)| matches!(c, ':' | '：'))?;
        let after = &line.text[colon..];
        let colon_length = after.chars().next().map_or(1, char::len_utf8);
        let key = line.text[..colon].trim_end();
        let bare = key.trim_matches(['"', '\'']);
        let after = &after[colon_length..];
        let form = if colon_length == 1 && (after.is_empty() || after.starts_with([' ', '\t'])) {
            Form::Proper
        } else {
            Form::NoSpace
        };
        if !is_key(key) || (form == Form::NoSpace && !is_known(bare)) {
            return None;
        }
        let rest = after.trim();
        let before = line.text[..line.text.len() - after.trim_start().len()]
            .chars()
            .count();
        Some(Self {
            key: bare,
            rest,
            colon,
            column: count(line.indent + before) + 1,
            form,
        })
    }
}

/// Returns whether a text can be a field's name: a few words that start like one. What starts like a sentence or an item
/// of a list is text.
pub(super) fn is_key(text: &str) -> bool {
    let bare = text.trim_matches(['"', '\'']);
    let words = bare.split(' ').count();
    let starts = bare.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$' | '<'));
    let starts_with_number = words == 1
        && bare.starts_with(|c: char| c.is_ascii_digit())
        && bare.contains(char::is_alphabetic);
    let has_sentence = bare.ends_with('.') || bare.contains(". ");
    (starts || starts_with_number)
        && bare.chars().count() <= MAX_KEY
        && words <= 4
        && !has_sentence
        && !bare.contains(['`', '(', ',', '{', '[', '#', '*', '"', '\''])
}

/// Returns whether a field is recognised even where it is indented unlike the others or lacks a space after the colon.
pub(super) fn is_known(key: &str) -> bool {
    Field::spellings()
        .chain(OTHER_CLIENTS)
        .any(|known| known.eq_ignore_ascii_case(key))
}

/// Returns the field that starts on a line, given the field before it and the indentation of the first one.
pub(super) fn field_start<'a>(
    line: RepairLine<'a>,
    base: usize,
    before: Option<&FieldHead<'_>>,
) -> Option<FieldHead<'a>> {
    let head = FieldHead::of(line)?;
    // An indented line belongs to the field above it, unless that is plain text and this is a field that skills have.
    let below_text = before.is_none_or(|before| is_plain_start(before.rest));
    if line.indent > base && !(below_text && is_known(head.key)) {
        return None;
    }
    Some(head)
}

/// Returns the indentation of the field that is indented least; a tab is none.
pub(super) fn least_indent(lines: &[RepairLine<'_>]) -> usize {
    let heads = lines.iter().filter(|line| FieldHead::of(**line).is_some());
    let indents = heads.map(|line| if line.tabs { 0 } else { line.indent });
    indents.min().unwrap_or(0)
}

/// Returns the index of the line after the last one of the field that starts at `at`.
pub(super) fn field_end(
    lines: &[RepairLine<'_>],
    at: usize,
    base: usize,
    head: &FieldHead<'_>,
) -> usize {
    let rest = &lines[at + 1..];
    let ends = |line: &RepairLine<'_>| {
        ends_a_field(line, base) || field_start(*line, base, Some(head)).is_some()
    };
    at + 1 + rest.iter().position(ends).unwrap_or(rest.len())
}

/// Returns whether a line is a mark of YAML that no text goes on with: the end or start of a document, a key of its own.
pub(super) fn ends_a_field(line: &RepairLine<'_>, base: usize) -> bool {
    line.indent <= base
        && (matches!(line.text, "..." | "---")
            || ["--- ", "? ", ": "]
                .iter()
                .any(|mark| line.text.starts_with(mark)))
}

pub(super) fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// Returns whether a value is plain text: not empty, and no quote, block scalar, list or mapping that goes on below.
pub(super) fn is_plain_start(rest: &str) -> bool {
    !rest.is_empty() && !rest.starts_with(['"', '\'', '>', '|', '[', '{'])
}

/// Returns a key that YAML reads as a plain word, whatever the real one looks like.
pub(super) fn plain_key<'a>(head: &FieldHead<'a>) -> &'a str {
    let plain = head
        .key
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if plain && !head.key.starts_with('-') {
        head.key
    } else {
        "key"
    }
}

/// Returns the indentation of a line below a field or item that is moved to the first column.
pub(super) fn indent_below(base: usize, line: RepairLine<'_>) -> usize {
    /// Deeper than any frontmatter that means something.
    const MAX_INDENT: usize = 1_000;
    let indent = line.indent.saturating_sub(base);
    // A tab is as wide as two spaces, the usual step.
    (if line.tabs { indent * 2 } else { indent }).min(MAX_INDENT)
}
