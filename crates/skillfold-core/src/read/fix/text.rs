//! Corrections of the frontmatter's fields.

use std::ops::Range;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Position, Span};
use crate::limits::Limits;
use crate::read::clients::ClientField;
use crate::read::field::Field;
use crate::read::fix::edit::Edit;
use crate::read::fix::write;
use crate::read::frontmatter::{self, FrontmatterBlock};
use crate::read::repair::{self, Change};
use crate::read::yaml::{self, Kind, MappingEntry, Node};

/// The text between the fences, with the places of its lines.
pub(super) struct Block<'a> {
    text: &'a str,
    /// Where the text starts in the file.
    start: usize,
    first_line: u32,
    /// The lines in the text, without their line ends.
    lines: Vec<Range<usize>>,
}

impl<'a> Block<'a> {
    /// Returns the block of a cut; `None` if it is not read as it stands, line by line.
    pub(super) fn of(bytes: &'a [u8], cut: &FrontmatterBlock) -> Option<Self> {
        let text = str::from_utf8(&bytes[cut.block.clone()]).ok()?;
        let mut findings = Vec::new();
        frontmatter::clean(text.as_bytes(), cut.first_line, &mut findings);
        let mut lines = Vec::new();
        let mut at = 0;
        for line in text.split('\n') {
            lines.push(at..at + line.trim_end_matches('\r').len());
            at += line.len() + 1;
        }
        findings.is_empty().then_some(Self {
            text,
            start: cut.block.start,
            first_line: cut.first_line,
            lines,
        })
    }

    /// Returns whether YAML reads the block, so that every line belongs to a field.
    pub(super) fn is_yaml(&self, limits: &Limits) -> bool {
        yaml::parse(self.text, self.first_line, limits).is_ok()
    }

    /// Returns a line of the file.
    pub(super) fn line(&self, number: u32) -> &'a str {
        &self.text[self.range_of(number)]
    }

    /// Returns the number of the line after the last one.
    pub(super) fn end_line(&self) -> u32 {
        self.first_line + frontmatter::count(self.lines.len())
    }

    /// Returns where a line is in the text; the end of the text, if it has no such line.
    fn range_of(&self, number: u32) -> Range<usize> {
        let index = number.checked_sub(self.first_line);
        let line = index.and_then(|index| self.lines.get(index as usize));
        line.cloned().unwrap_or(self.text.len()..self.text.len())
    }

    /// Returns the offset in the file of the start of a line.
    pub(super) fn start_of(&self, number: u32) -> usize {
        self.start + self.range_of(number).start
    }

    /// Returns the offset in the file of a place.
    pub(super) fn offset(&self, place: Position) -> usize {
        let line = self.line(place.line);
        let column = place.column.saturating_sub(1) as usize;
        let within = line
            .char_indices()
            .nth(column)
            .map_or(line.len(), |(offset, _)| offset);
        self.start_of(place.line) + within
    }

    /// Returns the bytes of the file that a span covers.
    pub(super) fn range(&self, span: Span) -> Range<usize> {
        let start = self.offset(span.start);
        start..self.offset(span.end).max(start)
    }
}

/// Returns the corrections of what YAML refuses: one for each field.
///
/// A text that its field does not take is left to its author: in quotes it would be wrong for good.
pub(super) fn values(block: &Block<'_>, findings: &[Diagnostic], limits: &Limits) -> Vec<Edit> {
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
            add(&mut edit, block, &change, limits)?;
        }
        Some(edit)
    };
    repair::changes(&text, block.first_line, limits)
        .into_iter()
        .filter(|changes| !changes.iter().any(is_unread))
        .filter_map(edit)
        .collect()
}

fn add(edit: &mut Edit, block: &Block<'_>, change: &Change, limits: &Limits) -> Option<()> {
    match change {
        Change::Indent { line, indent } => {
            let text = block.line(*line);
            let start = block.start_of(*line);
            let before = text.len() - text.trim_start_matches([' ', '\t']).len();
            edit.add(start..start + before, " ".repeat(*indent));
        }
        Change::Colon { span, text } => edit.add(block.range(*span), *text),
        Change::Text { span, text } => edit.add(block.range(*span), text),
        Change::Value(broken) => {
            let mut text = write::value(broken, limits)?;
            if broken.glued {
                text.insert(0, ' ');
            }
            for comment in &broken.comments {
                text.push('\n');
                text.push_str(comment);
            }
            edit.add(block.range(broken.span), text);
        }
    }
    Some(())
}

/// Returns the corrections of misspelt names and of escapes for control characters.
pub(super) fn spellings(
    block: &Block<'_>,
    entries: &[MappingEntry<'_>],
    findings: &[Diagnostic],
    limits: &Limits,
) -> Vec<Edit> {
    let mut edits = Vec::new();
    for finding in findings {
        let edit = match (finding.code, finding.span) {
            (Code::FieldSpelling, Some(span)) => spelling(block, entries, span),
            (Code::ControlCharacters, Some(span)) => entries
                .iter()
                .find_map(|entry| escape(block, &entry.value, span, limits)),
            _ => None,
        };
        edits.extend(edit);
    }
    edits
}

fn spelling(block: &Block<'_>, entries: &[MappingEntry<'_>], span: Span) -> Option<Edit> {
    let entry = entries.iter().find(|entry| entry.key_span == span)?;
    let (spelling, _) = Field::resembling(&entry.key)?;
    // Other clients would read the field from now on, and with it other tools or another who may start the skill.
    if ClientField::at_top(spelling).is_some_and(ClientField::is_of_others) {
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

/// Writes the text at a place without the escapes that were left out.
fn escape(block: &Block<'_>, node: &Node<'_>, span: Span, limits: &Limits) -> Option<Edit> {
    let below = |node| escape(block, node, span, limits);
    match &node.kind {
        Kind::Scalar { text, .. } if node.span == span => {
            let start = block.offset(span.start);
            // The parser's span may go on into a comment.
            let inner = block.text[start - block.start..].strip_prefix('"')?;
            let end = start + 1 + repair::closing_quote(inner, '"')? + 1;
            Some(Edit::new(start..end, write::quoted(text, limits)?))
        }
        Kind::Scalar { .. } => None,
        Kind::List(items) => items.iter().find_map(below),
        Kind::Map(entries) => entries.iter().find_map(|entry| below(&entry.value)),
    }
}
