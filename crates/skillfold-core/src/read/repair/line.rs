//! The lines of a block that YAML refuses, and the fields that start on them.

use crate::diagnostic::Position;
use crate::read::field::Field;
use crate::read::frontmatter::saturating_u32;

/// Fields of other clients that are recognised in addition to our own.
const OTHER_CLIENT_FIELDS: [&str; 5] = [
    "author",
    "user-invocable",
    "argument-hint",
    "homepage",
    "category",
];

/// Maximum length of a field name.
const MAX_KEY_CHARS: usize = 64;

/// A line of the block.
#[derive(Clone, Copy)]
pub(super) struct RepairLine<'a> {
    /// The text without indentation and trailing white space.
    pub(super) text: &'a str,
    /// The text with trailing white space, which is significant in a block scalar.
    pub(super) untrimmed: &'a str,
    /// The number of characters before the text.
    pub(super) indent: usize,
    /// Whether the indentation contains tabs.
    pub(super) has_tabs: bool,
    /// Whether the dash of a list item precedes the text.
    pub(super) is_after_dash: bool,
    pub(super) number: u32,
}

impl<'a> RepairLine<'a> {
    pub(super) fn new(line: &'a str, number: u32) -> Self {
        let text = line.trim_start_matches([' ', '\t']);
        let before = &line[..line.len() - text.len()];
        Self {
            text: text.trim_end(),
            untrimmed: text,
            indent: before.len(),
            has_tabs: before.contains('\t'),
            is_after_dash: false,
            number,
        }
    }

    /// Returns the line without the dash of a list item.
    pub(super) fn without_dash(&self) -> Self {
        let text = self
            .text
            .strip_prefix('-')
            .unwrap_or(self.text)
            .trim_start();
        Self {
            text,
            indent: self.indent + self.text.len() - text.len(),
            is_after_dash: true,
            ..*self
        }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns whether the line is a comment, and not part of the value of a field or item indented by `base`.
    pub(super) fn is_comment(&self, base: usize) -> bool {
        self.indent <= base && self.text.starts_with('#')
    }

    pub(super) fn start(&self) -> Position {
        Position::new(self.number, saturating_u32(self.indent) + 1)
    }

    pub(super) fn end(&self) -> Position {
        Position::new(
            self.number,
            saturating_u32(self.indent + self.text.chars().count()) + 1,
        )
    }
}

/// The parsed first line of a field.
pub(super) struct FieldHead<'a> {
    pub(super) key: &'a str,
    /// The trimmed text after the colon.
    pub(super) rest: &'a str,
    /// The offset of the colon in the line's text.
    pub(super) colon: usize,
    /// The column at which `rest` starts.
    pub(super) column: u32,
    pub(super) form: Form,
}

/// How the colon after a field's name is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `key: value`
    Proper,
    /// `key:value`, or with a full-width colon
    NoSpace,
}

impl<'a> FieldHead<'a> {
    /// Parses a line that starts with a field's name.
    pub(super) fn parse(line: RepairLine<'a>) -> Option<Self> {
        // A name is short, so only the start of a long line has to be searched.
        let mut start = line.text.char_indices().take(MAX_KEY_CHARS + 3);
        let (colon, _) = start.find(|(_, c)| matches!(c, ':' | '：'))?;
        let after = &line.text[colon..];
        let colon_length = after.chars().next().map_or(1, char::len_utf8);
        let key = line.text[..colon].trim_end();
        let unquoted = key.trim_matches(['"', '\'']);
        let after = &after[colon_length..];
        let form = if colon_length == 1 && (after.is_empty() || after.starts_with([' ', '\t'])) {
            Form::Proper
        } else {
            Form::NoSpace
        };
        if !looks_like_key(key) || (form == Form::NoSpace && !is_known_field(unquoted)) {
            return None;
        }
        let rest = after.trim();
        let before = line.text[..line.text.len() - after.trim_start().len()]
            .chars()
            .count();
        Some(Self {
            key: unquoted,
            rest,
            colon,
            column: saturating_u32(line.indent + before) + 1,
            form,
        })
    }
}

/// Returns whether a text looks like a field name: a few words that start with a letter, and no sentence or list item.
pub(super) fn looks_like_key(text: &str) -> bool {
    let key = text.trim_matches(['"', '\'']);
    let words = key.split(' ').count();
    let starts_with_letter =
        key.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$' | '<'));
    let starts_with_number = words == 1
        && key.starts_with(|c: char| c.is_ascii_digit())
        && key.contains(char::is_alphabetic);
    let has_sentence = key.ends_with('.') || key.contains(". ");
    (starts_with_letter || starts_with_number)
        && key.chars().count() <= MAX_KEY_CHARS
        && words <= 4
        && !has_sentence
        && !key.contains(['`', '(', ',', '{', '[', '#', '*', '"', '\''])
}

/// Returns whether a field is recognised even if it is indented unlike the others or lacks a space after the colon.
pub(super) fn is_known_field(key: &str) -> bool {
    Field::spellings()
        .chain(OTHER_CLIENT_FIELDS)
        .any(|known| known.eq_ignore_ascii_case(key))
}

/// Parses the field that starts on a line, given the field before it and the indentation `base` of the first field.
pub(super) fn parse_field_start<'a>(
    line: RepairLine<'a>,
    base: usize,
    previous: Option<&FieldHead<'_>>,
) -> Option<FieldHead<'a>> {
    let head = FieldHead::parse(line)?;
    // An indented line belongs to the field above, unless that is plain text and this is a known field.
    let follows_text = previous.is_none_or(|previous| is_plain_text(previous.rest));
    if line.indent > base && !(follows_text && is_known_field(head.key)) {
        return None;
    }
    Some(head)
}

/// Returns the smallest indentation of a field. Tabs count as no indentation.
pub(super) fn min_field_indent(lines: &[RepairLine<'_>]) -> usize {
    let heads = lines
        .iter()
        .filter(|line| FieldHead::parse(**line).is_some());
    let indents = heads.map(|line| if line.has_tabs { 0 } else { line.indent });
    indents.min().unwrap_or(0)
}

/// Returns the index of the line after the field that starts at line `at`.
pub(super) fn find_field_end(
    lines: &[RepairLine<'_>],
    at: usize,
    base: usize,
    head: &FieldHead<'_>,
) -> usize {
    let rest = &lines[at + 1..];
    let ends = |line: &RepairLine<'_>| {
        ends_field(line, base) || parse_field_start(*line, base, Some(head)).is_some()
    };
    at + 1 + rest.iter().position(ends).unwrap_or(rest.len())
}

/// Returns whether a line is YAML syntax that ends any text: a document marker, or an explicit key or value.
pub(super) fn ends_field(line: &RepairLine<'_>, base: usize) -> bool {
    line.indent <= base
        && (matches!(line.text, "..." | "---")
            || ["--- ", "? ", ": "]
                .iter()
                .any(|mark| line.text.starts_with(mark)))
}

pub(super) fn is_list_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// Returns whether a value is plain text: not empty, and not a quote, block scalar, list or mapping that may continue
/// below.
pub(super) fn is_plain_text(rest: &str) -> bool {
    !rest.is_empty() && !rest.starts_with(['"', '\'', '>', '|', '[', '{'])
}

/// Returns the field's key if it is a plain word in YAML, else a stand-in.
pub(super) fn plain_key<'a>(head: &FieldHead<'a>) -> &'a str {
    let is_plain = head
        .key
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if is_plain && !head.key.starts_with('-') {
        head.key
    } else {
        "key"
    }
}

/// Returns the indentation of a line relative to the field or item above it, which is indented by `base`.
pub(super) fn relative_indent(base: usize, line: RepairLine<'_>) -> usize {
    /// Deeper than any real frontmatter.
    const MAX_INDENT: usize = 1_000;
    let indent = line.indent.saturating_sub(base);
    // A tab counts as two spaces, the usual indentation.
    (if line.has_tabs { indent * 2 } else { indent }).min(MAX_INDENT)
}
