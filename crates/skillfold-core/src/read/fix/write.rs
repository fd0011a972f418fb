//! Writes values as YAML that gives back the very text.

use std::fmt::Write;

use crate::limits::Limits;
use crate::read::repair::BrokenValue;
use crate::read::yaml::{self, Kind, Node, Quoting};

/// Returns a broken value as YAML; `None` if it cannot be written so that the same is read.
///
/// One line becomes a text in quotes, several lines a block scalar of the same lines.
pub(super) fn value(broken: &BrokenValue, limits: &Limits) -> Option<String> {
    let text = match &broken.value.kind {
        Kind::Scalar { text, .. } => text,
        Kind::List(items) => {
            let items: Option<Vec<_>> = items.iter().map(|item| item_text(item, limits)).collect();
            return items.map(|items| format!("[{}]", items.join(", ")));
        }
        Kind::Map(_) => return None,
    };
    let reads = |written: &String| reads_as(written, broken.indent, text, limits);
    blocks(broken, text)
        .into_iter()
        .find(reads)
        .or_else(|| quoted(text, limits))
}

fn item_text(item: &Node<'_>, limits: &Limits) -> Option<String> {
    match &item.kind {
        Kind::Scalar { text, .. } => quoted(text, limits),
        Kind::List(_) | Kind::Map(_) => None,
    }
}

/// Returns a text on one line and in quotes: those that it does not have itself, if there are any.
pub(super) fn quoted(text: &str, limits: &Limits) -> Option<String> {
    let single = || format!("'{}'", text.replace('\'', "''"));
    let plain_double = || format!("\"{text}\"");
    let first = if text.contains('\'') && !text.contains(['"', '\\']) {
        plain_double()
    } else {
        single()
    };
    [first, escaped(text)]
        .into_iter()
        .find(|written| reads_as(written, 0, text, limits))
}

/// Returns a text in double quotes, with escapes for what cannot stand there.
fn escaped(text: &str) -> String {
    let mut written = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => written.extend(['\\', c]),
            '\n' => written.push_str("\\n"),
            '\t' => written.push_str("\\t"),
            '\u{85}' | '\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                let _ = write!(written, "\\u{:04x}", u32::from(c));
            }
            c => written.push(c),
        }
    }
    written.push('"');
    written
}

/// Returns the block scalars that may give back a text: of the lines that it was read from, or of its own lines.
fn blocks(broken: &BrokenValue, text: &str) -> Vec<String> {
    let Some(below) = broken.below else {
        return Vec::new();
    };
    let indent = if below > broken.indent {
        below
    } else {
        broken.indent + 2
    };
    let mut blocks = Vec::new();
    let lines: Vec<&str> = broken.lines.iter().map(String::as_str).collect();
    let mut bare = lines.clone();
    if let Some((first, quote)) = bare
        .first_mut()
        .and_then(|first| quote_of(first).map(|quote| (first, quote)))
    {
        *first = &first[quote.len_utf8()..];
        if let Some(last) = bare.last_mut() {
            *last = last.strip_suffix(quote).unwrap_or(last);
        }
        blocks.push(block(">-", &bare, indent));
    }
    blocks.push(block(">-", &lines, indent));
    blocks.push(block("|-", &lines, indent));
    if text.contains('\n') {
        let own: Vec<&str> = text.split('\n').collect();
        blocks.push(block("|-", &own, indent));
    }
    blocks
}

fn quote_of(line: &str) -> Option<char> {
    line.chars().next().filter(|c| matches!(c, '"' | '\''))
}

fn block(header: &str, lines: &[&str], indent: usize) -> String {
    let mut written = header.to_owned();
    for line in lines {
        written.push('\n');
        if !line.is_empty() {
            written.extend(std::iter::repeat_n(' ', indent));
            written.push_str(line);
        }
    }
    written
}

/// Returns whether YAML reads the very text from what was written as the value of a field.
fn reads_as(written: &str, indent: usize, text: &str, limits: &Limits) -> bool {
    let document = format!("{:indent$}key: {written}\n", "");
    let Ok(root) = yaml::parse(&document, 1, limits) else {
        return false;
    };
    let value = match &root.kind {
        Kind::Map(entries) => entries.first().filter(|_| entries.len() == 1),
        Kind::Scalar { .. } | Kind::List(_) => None,
    };
    value.is_some_and(|entry| {
        matches!(&entry.value.kind, Kind::Scalar { text: read, quoting: Quoting::Quoted } if read == text)
    })
}
