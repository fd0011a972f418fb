//! Adds an entry to YAML or removes it, leaving every other byte unchanged.

use std::ops::Range;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};
use serde_json::{Map, Value};

use crate::entry::{Entry, SyntaxFault, inline, newline, quoted};

/// Maximum nesting depth.
const MAX_DEPTH: usize = 64;

/// A value and its byte range. A block mapping or list has no end of its own; [`YamlNode::end`] is that of its last
/// value.
#[derive(Clone, Debug)]
struct YamlNode {
    span: Range<usize>,
    kind: YamlKind,
}

#[derive(Clone, Debug)]
enum YamlKind {
    Map(Vec<(YamlNode, YamlNode)>),
    List(Vec<YamlNode>),
    Scalar(Value),
}

/// Parses YAML text.
pub(crate) fn value(text: &str) -> Result<Value, SyntaxFault> {
    Ok(parse(text)?.map_or(Value::Null, |node| node.value()))
}

/// Adds an entry to a mapping of mappings, before the others. Appends a missing mapping.
pub(crate) fn insert(
    text: &str,
    key: &str,
    name: &str,
    entry: &Entry,
) -> Result<String, SyntaxFault> {
    let (offset, added) = match parse(text)? {
        Some(root) if !root.is_null() => match root.field(key)? {
            None if is_flow(text, &root) => {
                return Err(SyntaxFault::new(
                    root.span.start,
                    "Expected a block mapping",
                ));
            }
            None => (text.len(), block_at_end(text, key, name, entry)),
            Some((key, below)) => insertion(text, &key, &below, name, entry)?,
        },
        _ => (text.len(), block_at_end(text, key, name, entry)),
    };
    let added = added.replace('\n', newline(text));
    Ok(format!("{}{added}{}", &text[..offset], &text[offset..]))
}

/// Replaces an entry.
pub(crate) fn replace(
    text: &str,
    key: &str,
    name: &str,
    entry: &Entry,
) -> Result<String, SyntaxFault> {
    insert(&remove(text, key, name)?, key, name, entry)
}

/// Removes an entry with its lines.
pub(crate) fn remove(text: &str, key: &str, name: &str) -> Result<String, SyntaxFault> {
    let Some((_, below)) = parse(text)?.map_or(Ok(None), |root| root.field(key))? else {
        return Ok(text.to_owned());
    };
    let Some((own, value)) = below.field(name)? else {
        return Ok(text.to_owned());
    };
    let YamlKind::Map(fields) = &below.kind else {
        return Ok(text.to_owned());
    };
    if is_flow(text, &below) {
        return Ok(remove_from_flow(text, fields, &own, &value));
    }
    let start = line_start(text, own.span.start);
    let end = line_end(text, value.end().max(own.span.end));
    let rest = &text[end..];
    let rest = rest
        .strip_prefix("\r\n")
        .or(rest.strip_prefix('\n'))
        .unwrap_or(rest);
    let before = &text[..start];
    if fields.len() == 1 {
        // The mapping becomes empty, and an empty block would read as null.
        let trimmed = before.trim_end();
        if trimmed.ends_with(':') {
            return Ok(format!("{trimmed} {{}}{}{rest}", &before[trimmed.len()..]));
        }
    }
    Ok(format!("{before}{rest}"))
}

fn remove_from_flow(
    text: &str,
    fields: &[(YamlNode, YamlNode)],
    own: &YamlNode,
    value: &YamlNode,
) -> String {
    let later = fields
        .iter()
        .find(|(key, _)| key.span.start > own.span.start);
    let earlier = fields
        .iter()
        .rfind(|(key, _)| key.span.start < own.span.start);
    let cut = match (later, earlier) {
        (Some((next, _)), _) => own.span.start..next.span.start,
        (None, Some((_, before))) => before.end()..value.end(),
        (None, None) => own.span.start..value.end(),
    };
    format!("{}{}", &text[..cut.start], &text[cut.end..])
}

/// Returns the offset and text for inserting an entry into an existing mapping.
fn insertion(
    text: &str,
    key: &YamlNode,
    below: &YamlNode,
    name: &str,
    entry: &Entry,
) -> Result<(usize, String), SyntaxFault> {
    match &below.kind {
        YamlKind::Map(fields) if is_flow(text, below) => {
            let comma = if fields.is_empty() { "" } else { ", " };
            let added = format!("{}{comma}", flow_entry(name, entry));
            Ok((below.span.start + 1, added))
        }
        YamlKind::Map(fields) => {
            let first = fields
                .first()
                .map_or(below.span.start, |(key, _)| key.span.start);
            let start = line_start(text, first);
            let indent = &text[start..first];
            if indent.trim_matches(' ').is_empty() {
                // After the key's line, so that a comment above the first entry stays with it.
                let end = line_end(text, key.span.end);
                let offset = text[end..]
                    .find('\n')
                    .map_or(start, |found| end + found + 1);
                Ok((offset.min(start), block_entry(name, entry, indent)))
            } else {
                Err(SyntaxFault::new(
                    first,
                    "Expected the mapping on its own lines",
                ))
            }
        }
        YamlKind::Scalar(Value::Null) if below.span.is_empty() => {
            let start = line_start(text, key.span.start);
            let indent = format!("{}  ", &text[start..key.span.start]);
            let end = line_end(text, key.span.end);
            let added = block_entry(name, entry, &indent);
            Ok((end, format!("\n{}", added.trim_end_matches('\n'))))
        }
        YamlKind::Scalar(_) | YamlKind::List(_) => {
            Err(SyntaxFault::new(below.span.start, "Expected a mapping"))
        }
    }
}

fn block_at_end(text: &str, key: &str, name: &str, entry: &Entry) -> String {
    let newline = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{newline}{key}:\n{}", block_entry(name, entry, "  "))
}

fn block_entry(name: &str, entry: &Entry, indent: &str) -> String {
    let fields = entry.0.iter();
    let fields = fields.map(|(key, field)| format!("{indent}  {key}: {}\n", to_yaml(field)));
    let fields: Vec<String> = fields.collect();
    format!("{indent}{name}:\n{}", fields.concat())
}

fn flow_entry(name: &str, entry: &Entry) -> String {
    let fields = entry.0.iter();
    let fields = fields.map(|(key, field)| format!("{}: {}", quoted(key), inline(field)));
    let fields: Vec<String> = fields.collect();
    format!("{name}: {{{}}}", fields.join(", "))
}

/// Formats a value, unquoted if it can be plain.
fn to_yaml(field: &Value) -> String {
    match field {
        Value::String(text) if is_plain(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().filter_map(Value::as_str).collect();
            if items.iter().all(|item| is_plain(item)) {
                return format!("[{}]", items.join(", "));
            }
            inline(field)
        }
        other => inline(other),
    }
}

fn is_plain(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '.' | ' ');
    text.chars().all(is_word)
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && !text.ends_with(' ')
        && matches!(plain_value(text), Value::String(_))
}

/// Returns a plain scalar's value.
fn plain_value(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::from(true),
        "false" | "False" | "FALSE" => Value::from(false),
        text => text
            .parse::<i64>()
            .map_or_else(|_| Value::from(text), Value::from),
    }
}

fn is_flow(text: &str, node: &YamlNode) -> bool {
    text[node.span.start..].starts_with('{')
}

fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |end| end + 1)
}

/// Returns the end of the line that contains an offset, before its line break.
fn line_end(text: &str, offset: usize) -> usize {
    // A block scalar ends where the next line starts.
    let offset = if offset > 0 && text[..offset].ends_with('\n') {
        offset - 1
    } else {
        offset
    };
    let end = text[offset..]
        .find('\n')
        .map_or(text.len(), |end| offset + end);
    if text[..end].ends_with('\r') {
        end - 1
    } else {
        end
    }
}

impl YamlNode {
    fn is_null(&self) -> bool {
        matches!(self.kind, YamlKind::Scalar(Value::Null))
    }

    fn end(&self) -> usize {
        match &self.kind {
            YamlKind::Map(fields) => fields
                .last()
                .map_or(self.span.end, |(_, value)| value.end()),
            YamlKind::List(items) => items.last().map_or(self.span.end, Self::end),
            YamlKind::Scalar(_) => self.span.end,
        }
        .max(self.span.end)
    }

    fn value(&self) -> Value {
        match &self.kind {
            YamlKind::Map(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(key, value)| (key.key(), value.value()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
            YamlKind::List(items) => Value::Array(items.iter().map(Self::value).collect()),
            YamlKind::Scalar(value) => value.clone(),
        }
    }

    fn key(&self) -> String {
        match self.value() {
            Value::String(text) => text,
            other => other.to_string(),
        }
    }

    /// Returns one of the mapping's keys with its value. A duplicate key is an error.
    fn field(&self, name: &str) -> Result<Option<(Self, Self)>, SyntaxFault> {
        let fields = match &self.kind {
            YamlKind::Map(fields) => fields.as_slice(),
            YamlKind::Scalar(Value::Null) => &[],
            YamlKind::Scalar(_) | YamlKind::List(_) => {
                return Err(SyntaxFault::new(self.span.start, "Expected a mapping"));
            }
        };
        let mut found = fields.iter().filter(|(key, _)| key.key() == name);
        let first = found.next();
        match found.next() {
            Some((second, _)) => {
                let why = format!("Key {} appears twice", quoted(name));
                Err(SyntaxFault::new(second.span.start, why))
            }
            None => Ok(first.cloned()),
        }
    }
}

/// Parses text with at most one document.
fn parse(text: &str) -> Result<Option<YamlNode>, SyntaxFault> {
    // The parser counts characters.
    let offsets: Vec<usize> = text.char_indices().map(|(offset, _)| offset).collect();
    let offset = |marker: Marker| offsets.get(marker.index()).copied().unwrap_or(text.len());
    let mut open: Vec<(usize, Vec<YamlNode>)> = Vec::new();
    let mut root: Option<YamlNode> = None;
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) =
            event.map_err(|error| SyntaxFault::new(offset(*error.marker()), error.info()))?;
        let (mut start, mut end) = (offset(span.start), offset(span.end));
        let mut items = Vec::new();
        if matches!(event, Event::MappingEnd | Event::SequenceEnd) {
            (start, items) = open.pop().unwrap_or_default();
            // The parser ends a block only where the next token starts.
            if !text[start..].starts_with(['{', '[']) {
                end = start;
            }
        }
        let kind = match event {
            Event::DocumentStart(_) if root.is_some() => {
                return Err(SyntaxFault::new(start, "A second document starts here"));
            }
            Event::MappingStart(..) | Event::SequenceStart(..) if open.len() >= MAX_DEPTH => {
                return Err(SyntaxFault::new(start, "Nested too deep"));
            }
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                open.push((start, Vec::new()));
                continue;
            }
            Event::MappingEnd => YamlKind::Map(pairs(items)),
            Event::SequenceEnd => YamlKind::List(items),
            Event::Alias(anchor) => YamlKind::Scalar(Value::from(format!("*{anchor}"))),
            Event::Scalar(scalar, ScalarStyle::Plain, ..) => YamlKind::Scalar(plain_value(&scalar)),
            Event::Scalar(scalar, ..) => YamlKind::Scalar(Value::from(&*scalar)),
            _ => continue,
        };
        let span = start..end;
        let node = YamlNode { span, kind };
        match open.last_mut() {
            Some((_, items)) => items.push(node),
            None => root = Some(node),
        }
    }
    Ok(root)
}

/// Returns keys with their values, which the parser lists in turn.
fn pairs(items: Vec<YamlNode>) -> Vec<(YamlNode, YamlNode)> {
    let mut fields = Vec::new();
    let mut items = items.into_iter();
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        fields.push((key, value));
    }
    fields
}
