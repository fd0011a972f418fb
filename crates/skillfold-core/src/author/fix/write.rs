//! Writes values as YAML that reads back as exactly the same text.

use std::fmt::Write;

use crate::limits::Limits;
use crate::read::repair::BrokenValue;
use crate::read::yaml::{self, Kind, Quoting};

/// Writes a broken value as YAML; `None` if it cannot be written so that it reads back the same.
///
/// A single line becomes quoted text, several lines a block scalar with the same lines.
pub(super) fn write_value(broken: &BrokenValue, limits: &Limits) -> Option<String> {
    let text = match &broken.value.kind {
        Kind::Scalar { text, .. } => text,
        Kind::List(items) => {
            let items: Option<Vec<_>> = items
                .iter()
                .map(|item| quote(item.text()?, limits))
                .collect();
            return items.map(|items| format!("[{}]", items.join(", ")));
        }
        Kind::Map(_) => return None,
    };
    let is_exact = |written: &String| reads_as(written, broken.indent, text, limits);
    block_candidates(broken, text)
        .into_iter()
        .find(is_exact)
        .or_else(|| quote(text, limits))
}

/// Quotes a text on one line, preferably with quotes that need no escaping.
pub(super) fn quote(text: &str, limits: &Limits) -> Option<String> {
    let single = || format!("'{}'", text.replace('\'', "''"));
    let plain_double = || format!("\"{text}\"");
    let first = if text.contains('\'') && !text.contains(['"', '\\']) {
        plain_double()
    } else {
        single()
    };
    [first, double_quote(text)]
        .into_iter()
        .find(|written| reads_as(written, 0, text, limits))
}

/// Writes a text in double quotes, with escapes where needed.
fn double_quote(text: &str) -> String {
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

/// Returns block scalars that may read back as a text: with the lines it was read from, or with its own lines.
fn block_candidates(broken: &BrokenValue, text: &str) -> Vec<String> {
    let Some(below) = broken.below_indent else {
        return Vec::new();
    };
    let indent = if below > broken.indent {
        below
    } else {
        broken.indent + 2
    };
    let mut blocks = Vec::new();
    let lines: Vec<&str> = broken.lines.iter().map(String::as_str).collect();
    let mut unquoted = lines.clone();
    if let Some((first, quote)) = unquoted
        .first_mut()
        .and_then(|first| leading_quote(first).map(|quote| (first, quote)))
    {
        *first = &first[quote.len_utf8()..];
        if let Some(last) = unquoted.last_mut() {
            *last = last.strip_suffix(quote).unwrap_or(last);
        }
        blocks.push(write_block(">-", &unquoted, indent));
    }
    blocks.push(write_block(">-", &lines, indent));
    blocks.push(write_block("|-", &lines, indent));
    if text.contains('\n') {
        let own: Vec<&str> = text.split('\n').collect();
        blocks.push(write_block("|-", &own, indent));
    }
    blocks
}

fn leading_quote(line: &str) -> Option<char> {
    line.chars().next().filter(|c| matches!(c, '"' | '\''))
}

fn write_block(header: &str, lines: &[&str], indent: usize) -> String {
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

/// Returns whether YAML reads exactly `text` from `written` as the value of a field.
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
