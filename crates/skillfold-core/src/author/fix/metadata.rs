//! Moves extension fields under `metadata`, where strict clients accept them.

use std::ops::Range;

use crate::author::fix::edit::Edit;
use crate::author::fix::text::Block;
use crate::author::fix::write;
use crate::limits::Limits;
use crate::read::field::Field;
use crate::read::yaml::{Kind, MappingEntry, Node};

/// The fields that are moved. They are lists of words, which can also be written as comma-separated text.
const MOVED_FIELDS: [&str; 2] = ["tags", "requires"];

/// Returns the edits that move lists of words under `metadata`.
pub(super) fn edits(block: &Block<'_>, entries: &[MappingEntry<'_>], limits: &Limits) -> Vec<Edit> {
    // In reverse order, because each field is inserted above those already there.
    let indices = (0..entries.len()).rev();
    indices
        .filter_map(|index| move_edit(block, entries, index, limits))
        .collect()
}

fn move_edit(
    block: &Block<'_>,
    entries: &[MappingEntry<'_>],
    index: usize,
    limits: &Limits,
) -> Option<Edit> {
    let entry = &entries[index];
    let key = MOVED_FIELDS.into_iter().find(|moved| *moved == entry.key)?;
    let value = write::quote(&join_words(&entry.value)?, limits)?;
    let next_line = entries.get(index + 1).map(|next| next.key_span.start.line);
    let (lines, comment) = field_lines(block, entry, next_line)?;
    let indent = entry.key_span.start.column as usize - 1;
    let (offset, heading, inner_indent) = match entries.iter().find(|entry| is_metadata(entry)) {
        None => (lines.start, "metadata:\n", indent + 2),
        Some(metadata) => {
            let (offset, inner_indent) = insertion_point(block, metadata, key)?;
            (offset, "", inner_indent.unwrap_or(indent + 2))
        }
    };
    let mut edit = Edit::new(
        offset..offset,
        format!("{heading}{:inner_indent$}{key}: {value}{comment}\n", ""),
    );
    edit.add(lines, "");
    Some(edit)
}

fn is_metadata(entry: &MappingEntry<'_>) -> bool {
    Field::from_similar_key(&entry.key).is_some_and(|(_, field)| field == Field::Metadata)
}

/// Joins the entries of a list with commas; `None` if they would not be read back from that.
fn join_words(node: &Node<'_>) -> Option<String> {
    let Kind::List(items) = &node.kind else {
        return None;
    };
    let words: Option<Vec<&str>> = items.iter().map(single_word).collect();
    words
        .filter(|words| !words.is_empty())
        .map(|words| words.join(", "))
}

fn single_word<'a>(node: &'a Node<'_>) -> Option<&'a str> {
    let is_word =
        |text: &&str| !text.is_empty() && !text.contains(|c: char| c == ',' || c.is_whitespace());
    node.text().filter(is_word)
}

/// Returns the byte range of a field's lines and the comment after its value; `None` for a field of several lines with
/// comments.
fn field_lines<'a>(
    block: &Block<'a>,
    entry: &MappingEntry<'_>,
    next_line: Option<u32>,
) -> Option<(Range<usize>, &'a str)> {
    let first = entry.key_span.start.line;
    let end = next_line.unwrap_or_else(|| block.end_line());
    let has_value = |number: &u32| {
        let text = block.line(*number).trim_start();
        !text.is_empty() && !text.starts_with('#')
    };
    let last = (first..end).rev().find(has_value)?;
    // The words contain no spaces, so this can only be a comment.
    let comment = |number: u32| {
        block
            .line(number)
            .find(" #")
            .map(|at| &block.line(number)[at..])
    };
    let has_comments =
        (first..=last).any(|number| comment(number).is_some() || !has_value(&number));
    let comment = comment(first).unwrap_or_default();
    (first == last || !has_comments)
        .then(|| (block.line_start(first)..block.line_start(last + 1), comment))
}

/// Returns the offset at which to insert a field under `metadata`, and the indentation of the fields there, if any;
/// `None` if the field cannot be inserted.
fn insertion_point(
    block: &Block<'_>,
    metadata: &MappingEntry<'_>,
    key: &str,
) -> Option<(usize, Option<usize>)> {
    let line = metadata.key_span.start.line;
    let rest = block.line(line).split_once(':')?.1.trim_start();
    if !rest.is_empty() && !rest.starts_with('#') {
        return None;
    }
    let indent = match &metadata.value.kind {
        Kind::Map(entries) => {
            let first = entries.first()?.key_span.start;
            let indent = first.column as usize - 1;
            let is_block = block
                .line(first.line)
                .bytes()
                .take_while(|byte| *byte == b' ')
                .count()
                == indent;
            let is_new = entries.iter().all(|entry| entry.key != key);
            Some(indent).filter(|_| is_block && is_new)?.into()
        }
        _ if metadata.value.is_null() => None,
        Kind::Scalar { .. } | Kind::List(_) => return None,
    };
    Some((block.line_start(line + 1), indent))
}
