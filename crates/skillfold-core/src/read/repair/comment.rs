//! Recovers a description that starts with `#`, which YAML reads as a comment.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Position, Report, Span};
use crate::read::frontmatter::saturating_u32;
use crate::read::repair::line::{FieldHead, RepairLine};
use crate::read::yaml::{Kind, MappingEntry, Node, Quoting};

/// Reads a description that starts with `#` as text. YAML reads it as a comment, which leaves the description empty.
pub(crate) fn recover_commented_description(
    root: &mut Node<'_>,
    text: &str,
    first_line: u32,
    findings: &mut Vec<Diagnostic>,
) {
    let Some((line, head)) = find_commented_line(root, text, first_line) else {
        return;
    };
    let value = comment_as_value(line, &head);
    let message = "Value of `description` starts with a character YAML reserves";
    findings.report(Code::RepairedReserved, value.span, message);
    if let Some(entry) = find_empty_description(root) {
        entry.value = value;
    }
}

fn find_empty_description<'a, 'n>(root: &'a mut Node<'n>) -> Option<&'a mut MappingEntry<'n>> {
    let Kind::Map(entries) = &mut root.kind else {
        return None;
    };
    entries
        .iter_mut()
        .find(|entry| entry.key == "description" && entry.value.is_null())
}

/// Returns the line of a description that YAML reads as a comment.
pub(super) fn find_commented_line<'a>(
    root: &mut Node<'_>,
    text: &'a str,
    first_line: u32,
) -> Option<(RepairLine<'a>, FieldHead<'a>)> {
    let number = find_empty_description(root)?.key_span.start.line;
    let line = text.split('\n').nth((number - first_line) as usize)?;
    let line = RepairLine::new(line, number);
    let head = FieldHead::parse(line).filter(|head| head.rest.starts_with('#'))?;
    Some((line, head))
}

pub(super) fn comment_as_value(line: RepairLine<'_>, head: &FieldHead<'_>) -> Node<'static> {
    let start = Position::new(line.number, head.column);
    let end = head.column + saturating_u32(head.rest.chars().count());
    Node::scalar(
        head.rest.to_owned(),
        Quoting::Quoted,
        Span::new(start, Position::new(line.number, end)),
    )
}
