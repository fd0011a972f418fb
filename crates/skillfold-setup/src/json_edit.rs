//! Puts an entry into JSON and takes it out, and leaves every other byte as it is.

use serde_json::Value;

use crate::entry::{Entry, SyntaxFault, quoted};
use crate::json::{JsonKind, JsonNode, Member, parse};

/// How far a level is moved in where the file does not show it.
const UNIT: &str = "  ";

/// Returns what a text holds.
pub(crate) fn value(text: &str) -> Result<Value, SyntaxFault> {
    let node = parse(text)?;
    Ok(node.map_or(Value::Null, |node| node.value()))
}

/// Puts an entry below a path of keys.
pub(crate) fn insert(
    text: &str,
    path: &[&str],
    name: &str,
    entry: &Entry,
) -> Result<String, SyntaxFault> {
    let Some(root) = parse(text)? else {
        let (mark, blank) = text.split_at(if text.starts_with('\u{feff}') { 3 } else { 0 });
        if blank.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
            let whole = member(path, name, entry, UNIT, UNIT);
            let end = if blank.contains('\n') { "" } else { "\n" };
            return Ok(format!("{mark}{{\n{UNIT}{whole}\n}}{end}{blank}"));
        }
        return Err(SyntaxFault::new(0, "There is nothing but comments"));
    };
    let mut level = &root;
    let mut missing = path;
    while let Some((key, rest)) = missing.split_first() {
        let Some(member) = only(level, key)? else {
            break;
        };
        level = &member.value;
        missing = rest;
    }
    let members = members(level)?;
    let unit = unit(text, &root);
    let break_ = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let open = level.span.start + 1;
    let outer = indent(text, level.span.start);
    let edit = match members.first() {
        Some(first) if text[open..first.start].contains('\n') => {
            let inner = indent(text, first.start);
            let added = member(missing, name, entry, inner, unit);
            (behind_comment(text, open), format!("\n{inner}{added},"))
        }
        Some(first) => {
            let added = compact(missing, name, entry);
            (first.start, format!("{added}, "))
        }
        None => {
            let inner = format!("{outer}{unit}");
            let added = member(missing, name, entry, &inner, unit);
            let has_lines = text[level.span.clone()].contains('\n');
            let end = if has_lines {
                String::new()
            } else {
                format!("\n{outer}")
            };
            (behind_comment(text, open), format!("\n{inner}{added}{end}"))
        }
    };
    let (place, added) = edit;
    let added = added.replace('\n', break_);
    Ok(format!("{}{added}{}", &text[..place], &text[place..]))
}

/// Puts an entry in the place of another.
pub(crate) fn replace(
    text: &str,
    path: &[&str],
    name: &str,
    entry: &Entry,
) -> Result<String, SyntaxFault> {
    let Some((root, _, member)) = find(text, path, name)? else {
        return insert(text, path, name, entry);
    };
    let break_ = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let new = body(entry, indent(text, member.start), unit(text, &root));
    let span = member.value.span;
    let new = new.replace('\n', break_);
    Ok(format!("{}{new}{}", &text[..span.start], &text[span.end..]))
}

/// Takes an entry out, with the comma that it needed.
pub(crate) fn remove(text: &str, path: &[&str], name: &str) -> Result<String, SyntaxFault> {
    let Some((_, level, member)) = find(text, path, name)? else {
        return Ok(text.to_owned());
    };
    let members = members(&level)?;
    let end = member
        .comma
        .map_or(member.value.span.end, |comma| comma + 1);
    let blank = text[end..].len() - text[end..].trim_start_matches([' ', '\t']).len();
    let is_followed = member.comma.is_some() && !text[end + blank..].starts_with(['\r', '\n']);
    let own = if is_followed {
        // Something stands behind it on its line, and must not move up behind a comment.
        member.start..end + blank
    } else {
        text[..member.start].trim_end().len()..end
    };
    let mut earlier = members.iter();
    let earlier = earlier.rfind(|other| other.start < member.start);
    let comma = match earlier.and_then(|earlier| earlier.comma) {
        // The comma before it was for it.
        Some(comma) if member.comma.is_none() => comma..comma + 1,
        _ => own.start..own.start,
    };
    let inner = level.span.start + 1..level.span.end - 1;
    let left = [&text[inner.start..own.start], &text[own.end..inner.end]].concat();
    let cuts = if members.len() == 1 && left.trim().is_empty() {
        [inner.start..inner.start, inner]
    } else {
        [comma, own]
    };
    let mut left = text.to_owned();
    for cut in cuts.into_iter().rev() {
        left.replace_range(cut, "");
    }
    Ok(left)
}

fn find(
    text: &str,
    path: &[&str],
    name: &str,
) -> Result<Option<(JsonNode, JsonNode, Member)>, SyntaxFault> {
    let Some(root) = parse(text)? else {
        return Ok(None);
    };
    let mut level = &root;
    for key in path {
        match only(level, key)? {
            Some(member) => level = &member.value,
            None => return Ok(None),
        }
    }
    let member = only(level, name)?.cloned();
    let level = level.clone();
    Ok(member.map(|member| (root, level, member)))
}

fn members(node: &JsonNode) -> Result<&[Member], SyntaxFault> {
    match &node.kind {
        JsonKind::Object(members) => Ok(members),
        JsonKind::List(_) | JsonKind::Scalar(_) => {
            Err(SyntaxFault::new(node.span.start, "Expected an object"))
        }
    }
}

/// Returns the member of a key. A key that is there twice is refused: clients differ in which one counts.
fn only<'a>(node: &'a JsonNode, key: &str) -> Result<Option<&'a Member>, SyntaxFault> {
    let mut found = members(node)?.iter().filter(|member| member.key == key);
    let first = found.next();
    match found.next() {
        Some(second) => {
            let why = format!("Key {} is there twice", quoted(key));
            Err(SyntaxFault::new(second.start, why))
        }
        None => Ok(first),
    }
}

/// Returns the blank space at the start of the line of a place.
fn indent(text: &str, place: usize) -> &str {
    let start = text[..place].rfind('\n').map_or(0, |end| end + 1);
    let line = &text[start..place];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns how far the file moves a level in.
fn unit<'a>(text: &'a str, root: &JsonNode) -> &'a str {
    let first = match &root.kind {
        JsonKind::Object(members) => members.first(),
        JsonKind::List(_) | JsonKind::Scalar(_) => None,
    };
    match first {
        Some(first) if !indent(text, first.start).is_empty() => indent(text, first.start),
        _ => UNIT,
    }
}

/// Returns the place behind a comment that stands on the line of an opening brace.
fn behind_comment(text: &str, open: usize) -> usize {
    let line_end = text[open..].find('\n').map_or(text.len(), |end| open + end);
    let line = text[open..line_end].trim_end_matches('\r');
    if line.trim_start().starts_with("//") {
        open + line.len()
    } else {
        open
    }
}

/// Returns a member on several lines, with the keys above it that are missing.
fn member(missing: &[&str], name: &str, entry: &Entry, indent: &str, unit: &str) -> String {
    match missing.split_first() {
        None => format!("{}: {}", quoted(name), body(entry, indent, unit)),
        Some((key, rest)) => {
            let inner = format!("{indent}{unit}");
            let below = member(rest, name, entry, &inner, unit);
            format!("{}: {{\n{inner}{below}\n{indent}}}", quoted(key))
        }
    }
}

fn body(entry: &Entry, indent: &str, unit: &str) -> String {
    let fields: Vec<String> = entry
        .0
        .iter()
        .map(|(key, field)| format!("{indent}{unit}{}: {}", quoted(key), field.inline()))
        .collect();
    format!("{{\n{}\n{indent}}}", fields.join(",\n"))
}

/// Returns a member on one line.
fn compact(missing: &[&str], name: &str, entry: &Entry) -> String {
    match missing.split_first() {
        None => {
            let fields = entry.0.iter();
            let fields = fields.map(|(key, field)| format!("{}: {}", quoted(key), field.inline()));
            let fields: Vec<String> = fields.collect();
            format!("{}: {{{}}}", quoted(name), fields.join(", "))
        }
        Some((key, rest)) => format!("{}: {{{}}}", quoted(key), compact(rest, name, entry)),
    }
}
