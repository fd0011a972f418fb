//! Moves extensions under `metadata`, where strict clients accept them.

use std::ops::Range;

use crate::limits::Limits;
use crate::read::field::Field;
use crate::read::fix::edit::Edit;
use crate::read::fix::text::Block;
use crate::read::fix::write;
use crate::read::yaml::{Kind, MappingEntry, Node};

/// The fields that are moved: lists of words, which a text with commas can stand for.
const MOVED: [&str; 2] = ["tags", "requires"];

/// Returns the corrections that move a list of words under `metadata`.
pub(super) fn edits(block: &Block<'_>, entries: &[MappingEntry<'_>], limits: &Limits) -> Vec<Edit> {
    // The last comes first: each is put above what is there already.
    let fields = (0..entries.len()).rev();
    fields
        .filter_map(|at| edit(block, entries, at, limits))
        .collect()
}

fn edit(
    block: &Block<'_>,
    entries: &[MappingEntry<'_>],
    at: usize,
    limits: &Limits,
) -> Option<Edit> {
    let entry = &entries[at];
    let key = MOVED.into_iter().find(|moved| *moved == entry.key)?;
    let written = write::quoted(&words(&entry.value)?, limits)?;
    let next = entries.get(at + 1).map(|next| next.key_span.start.line);
    let (lines, comment) = lines_of(block, entry, next)?;
    let indent = entry.key_span.start.column as usize - 1;
    let (place, heading, inner) = match entries.iter().find(|entry| is_metadata(entry)) {
        None => (lines.start, "metadata:\n", indent + 2),
        Some(metadata) => {
            let (place, inner) = below(block, metadata, key)?;
            (place, "", inner.unwrap_or(indent + 2))
        }
    };
    let mut edit = Edit::new(
        place..place,
        format!("{heading}{:inner$}{key}: {written}{comment}\n", ""),
    );
    edit.add(lines, "");
    Some(edit)
}

fn is_metadata(entry: &MappingEntry<'_>) -> bool {
    Field::resembling(&entry.key).is_some_and(|(_, field)| field == Field::Metadata)
}

/// Returns the entries of a list as one text; `None` if they would not be read from it again.
fn words(node: &Node<'_>) -> Option<String> {
    let Kind::List(items) = &node.kind else {
        return None;
    };
    let words: Option<Vec<&str>> = items.iter().map(word).collect();
    words
        .filter(|words| !words.is_empty())
        .map(|words| words.join(", "))
}

fn word<'a>(node: &'a Node<'_>) -> Option<&'a str> {
    match &node.kind {
        Kind::Scalar { text, .. }
            if !text.is_empty() && !text.contains(|c: char| c == ',' || c.is_whitespace()) =>
        {
            Some(text)
        }
        _ => None,
    }
}

/// Returns the bytes of a field's lines and the comment behind its value, which may have one only if it is one line.
fn lines_of<'a>(
    block: &Block<'a>,
    entry: &MappingEntry<'_>,
    next: Option<u32>,
) -> Option<(Range<usize>, &'a str)> {
    let first = entry.key_span.start.line;
    let end = next.unwrap_or_else(|| block.end_line());
    let is_value = |number: &u32| {
        let text = block.line(*number).trim_start();
        !text.is_empty() && !text.starts_with('#')
    };
    let last = (first..end).rev().find(is_value)?;
    // A word has no space in it, so that this can only be a comment.
    let comment = |number: u32| {
        block
            .line(number)
            .find(" #")
            .map(|at| &block.line(number)[at..])
    };
    let has_comments = (first..=last).any(|number| comment(number).is_some() || !is_value(&number));
    let comment = comment(first).unwrap_or_default();
    (first == last || !has_comments)
        .then(|| (block.start_of(first)..block.start_of(last + 1), comment))
}

/// Returns where a field is put under `metadata`, and the indentation that the fields there have.
fn below(
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
    Some((block.start_of(line + 1), indent))
}
