//! Corrections to the frontmatter's fields.

use std::ops::Range;

use crate::author::clients::ClientField;
use crate::author::fix::edit::Edit;
use crate::author::fix::write;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Position, Span};
use crate::limits::Limits;
use crate::read::field::Field;
use crate::read::frontmatter::{self, FrontmatterBlock};
use crate::read::repair::{self, Change};
use crate::read::yaml::{self, Kind, MappingEntry, Node};

/// The text between the fences, with the ranges of its lines.
pub(super) struct Block<'a> {
    text: &'a str,
    /// Offset of the text in the file.
    start: usize,
    first_line: u32,
    /// The ranges of the lines in the text, without line ends.
    lines: Vec<Range<usize>>,
}

impl<'a> Block<'a> {
    /// Creates the text of a block; `None` if it is not UTF-8 or has control characters, so that positions would
    /// differ.
    pub(super) fn new(bytes: &'a [u8], block: &FrontmatterBlock) -> Option<Self> {
        let text = str::from_utf8(&bytes[block.range.clone()]).ok()?;
        let mut findings = Vec::new();
        frontmatter::clean(text.as_bytes(), block.first_line, &mut findings);
        let mut lines = Vec::new();
        let mut at = 0;
        for line in text.split('\n') {
            lines.push(at..at + line.trim_end_matches('\r').len());
            at += line.len() + 1;
        }
        findings.is_empty().then_some(Self {
            text,
            start: block.range.start,
            first_line: block.first_line,
            lines,
        })
    }

    /// Returns whether the block is valid YAML, so that every line belongs to a field.
    pub(super) fn is_yaml(&self, limits: &Limits) -> bool {
        yaml::parse(self.text, self.first_line, limits).is_ok()
    }

    /// Returns the line with this number in the file.
    pub(super) fn line(&self, number: u32) -> &'a str {
        &self.text[self.line_range(number)]
    }

    /// Returns the number of the line after the block.
    pub(super) fn end_line(&self) -> u32 {
        self.first_line + frontmatter::saturating_u32(self.lines.len())
    }

    /// Returns the range of a line in the text; the end of the text if there is no such line.
    fn line_range(&self, number: u32) -> Range<usize> {
        let index = number.checked_sub(self.first_line);
        let line = index.and_then(|index| self.lines.get(index as usize));
        line.cloned().unwrap_or(self.text.len()..self.text.len())
    }

    /// Returns the offset in the file at which a line starts.
    pub(super) fn line_start(&self, number: u32) -> usize {
        self.start + self.line_range(number).start
    }

    /// Returns the offset in the file of a position.
    pub(super) fn offset(&self, position: Position) -> usize {
        let line = self.line(position.line);
        let column = position.column.saturating_sub(1) as usize;
        let offset = line
            .char_indices()
            .nth(column)
            .map_or(line.len(), |(offset, _)| offset);
        self.line_start(position.line) + offset
    }

    /// Returns the byte range in the file that a span covers.
    pub(super) fn byte_range(&self, span: Span) -> Range<usize> {
        let start = self.offset(span.start);
        start..self.offset(span.end).max(start)
    }
}

/// Returns the edits for values that YAML refuses, one per field.
///
/// Text that its field does not accept is left to the author: quoting it would make the wrong type permanent.
pub(super) fn value_edits(
    block: &Block<'_>,
    findings: &[Diagnostic],
    limits: &Limits,
) -> Vec<Edit> {
    let text = block.text.replace("\r\n", "\n");
    let is_unread = |change: &Change| {
        let Change::Value(broken) = change else {
            return false;
        };
        let mut unread = findings
            .iter()
            .filter(|finding| finding.code == Code::WrongType);
        unread.any(|finding| finding.span == Some(broken.value.span))
    };
    let edit = |changes: Vec<Change>| {
        let mut edit = Edit::default();
        for change in changes {
            add_change(&mut edit, block, &change, limits)?;
        }
        Some(edit)
    };
    repair::find_changes(&text, block.first_line, limits)
        .into_iter()
        .filter(|changes| !changes.iter().any(is_unread))
        .filter_map(edit)
        .collect()
}

fn add_change(edit: &mut Edit, block: &Block<'_>, change: &Change, limits: &Limits) -> Option<()> {
    match change {
        Change::Indent { line, indent } => {
            let text = block.line(*line);
            let start = block.line_start(*line);
            let before = text.len() - text.trim_start_matches([' ', '\t']).len();
            edit.add(start..start + before, " ".repeat(*indent));
        }
        Change::Colon { span, text } => edit.add(block.byte_range(*span), *text),
        Change::Text { span, text } => edit.add(block.byte_range(*span), text),
        Change::Value(broken) => {
            let mut text = write::write_value(broken, limits)?;
            if broken.needs_space {
                text.insert(0, ' ');
            }
            for comment in &broken.comments {
                text.push('\n');
                text.push_str(comment);
            }
            edit.add(block.byte_range(broken.span), text);
        }
    }
    Some(())
}

/// Returns the edits for misspelt field names and for escaped control characters.
pub(super) fn spelling_edits(
    block: &Block<'_>,
    entries: &[MappingEntry<'_>],
    findings: &[Diagnostic],
    limits: &Limits,
) -> Vec<Edit> {
    let mut edits = Vec::new();
    for finding in findings {
        let edit = match (finding.code, finding.span) {
            (Code::FieldSpelling, Some(span)) => spelling_edit(block, entries, span),
            (Code::ControlCharacters, Some(span)) => entries
                .iter()
                .find_map(|entry| unescape_edit(block, &entry.value, span, limits)),
            _ => None,
        };
        edits.extend(edit);
    }
    edits
}

fn spelling_edit(block: &Block<'_>, entries: &[MappingEntry<'_>], span: Span) -> Option<Edit> {
    let entry = entries.iter().find(|entry| entry.key_span == span)?;
    let (spelling, _) = Field::from_similar_key(&entry.key)?;
    // Once corrected, other clients would read the field too, which could change the allowed tools or who may invoke
    // the skill.
    if ClientField::find_top_level(spelling).is_some_and(ClientField::is_read_by_others) {
        return None;
    }
    let start = block.offset(span.start);
    let line = &block.text[start - block.start..];
    let quote = line.len() - line.trim_start_matches(['"', '\'']).len();
    line[quote..].starts_with(&*entry.key).then(|| {
        let start = start + quote;
        Edit::new(start..start + entry.key.len(), spelling)
    })
}

/// Returns the edit that rewrites the scalar at `span` without its escaped control characters.
fn unescape_edit(block: &Block<'_>, node: &Node<'_>, span: Span, limits: &Limits) -> Option<Edit> {
    let below = |node| unescape_edit(block, node, span, limits);
    match &node.kind {
        Kind::Scalar { text, .. } if node.span == span => {
            let start = block.offset(span.start);
            // The parser's span may extend into a comment.
            let inner = block.text[start - block.start..].strip_prefix('"')?;
            let end = start + 1 + repair::find_closing_quote(inner, '"')? + 1;
            Some(Edit::new(start..end, write::quote(text, limits)?))
        }
        Kind::Scalar { .. } => None,
        Kind::List(items) => items.iter().find_map(below),
        Kind::Map(entries) => entries.iter().find_map(|entry| below(&entry.value)),
    }
}
