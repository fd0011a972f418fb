//! Puts an entry into YAML and takes it out, and leaves every other byte as it is.

use std::ops::Range;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};
use serde_json::{Map, Value};

use crate::setup::entry::{Entry, Field, SyntaxFault, quoted};

/// How deep values may be nested.
const DEPTH: usize = 64;

/// A value and where it stands. A mapping or a list in blocks has no end of its own: its end is that of what it holds last.
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

/// Returns what a text holds.
pub(super) fn value(text: &str) -> Result<Value, SyntaxFault> {
    Ok(parse(text)?.map_or(Value::Null, |node| node.value()))
}

/// Puts an entry into a mapping of mappings, before the others, or makes that mapping at the end.
pub(super) fn insert(
    text: &str,
    key: &str,
    name: &str,
    entry: &Entry,
) -> Result<String, SyntaxFault> {
    let (place, added) = match parse(text)? {
        Some(root) if !root.is_null() => match root.field(key)? {
            None if is_flow(text, &root) => {
                return Err(SyntaxFault::new(
                    root.span.start,
                    "Expected a mapping in blocks",
                ));
            }
            None => (text.len(), at_end(text, key, name, entry)),
            Some((key, below)) => inside(text, &key, &below, name, entry)?,
        },
        _ => (text.len(), at_end(text, key, name, entry)),
    };
    let break_ = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let added = added.replace('\n', break_);
    Ok(format!("{}{added}{}", &text[..place], &text[place..]))
}

/// Puts an entry in the place of another.
pub(super) fn replace(
    text: &str,
    key: &str,
    name: &str,
    entry: &Entry,
) -> Result<String, SyntaxFault> {
    insert(&remove(text, key, name)?, key, name, entry)
}

/// Takes an entry out, with its lines.
pub(super) fn remove(text: &str, key: &str, name: &str) -> Result<String, SyntaxFault> {
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
        return Ok(out_of_flow(text, fields, &own, &value));
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
        // Nothing is left, and nothing is not a mapping.
        let trimmed = before.trim_end();
        if trimmed.ends_with(':') {
            return Ok(format!("{trimmed} {{}}{}{rest}", &before[trimmed.len()..]));
        }
    }
    Ok(format!("{before}{rest}"))
}

fn out_of_flow(
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

/// Returns where an entry goes in a mapping that is there, and as what.
fn inside(
    text: &str,
    key: &YamlNode,
    below: &YamlNode,
    name: &str,
    entry: &Entry,
) -> Result<(usize, String), SyntaxFault> {
    match &below.kind {
        YamlKind::Map(_) if is_flow(text, below) => {
            let YamlKind::Map(fields) = &below.kind else {
                return Err(SyntaxFault::new(below.span.start, "Expected a mapping"));
            };
            let comma = if fields.is_empty() { "" } else { ", " };
            let added = format!("{}{comma}", flow(name, entry));
            Ok((below.span.start + 1, added))
        }
        YamlKind::Map(fields) => {
            let first = fields
                .first()
                .map_or(below.span.start, |(key, _)| key.span.start);
            let start = line_start(text, first);
            let indent = &text[start..first];
            if indent.trim_matches(' ').is_empty() {
                // Behind the line of the key, so that a comment above the first one stays with it.
                let end = line_end(text, key.span.end);
                let place = text[end..]
                    .find('\n')
                    .map_or(start, |found| end + found + 1);
                Ok((place.min(start), lines(name, entry, indent)))
            } else {
                Err(SyntaxFault::new(
                    first,
                    "Expected the mapping on lines of its own",
                ))
            }
        }
        YamlKind::Scalar(Value::Null) if below.span.is_empty() => {
            let start = line_start(text, key.span.start);
            let indent = format!("{}  ", &text[start..key.span.start]);
            let end = line_end(text, key.span.end);
            let added = lines(name, entry, &indent);
            Ok((end, format!("\n{}", added.trim_end_matches('\n'))))
        }
        YamlKind::Scalar(_) | YamlKind::List(_) => {
            Err(SyntaxFault::new(below.span.start, "Expected a mapping"))
        }
    }
}

fn at_end(text: &str, key: &str, name: &str, entry: &Entry) -> String {
    let break_ = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{break_}{key}:\n{}", lines(name, entry, "  "))
}

fn lines(name: &str, entry: &Entry, indent: &str) -> String {
    let fields = entry.0.iter();
    let fields = fields.map(|(key, field)| format!("{indent}  {key}: {}\n", scalar(field)));
    let fields: Vec<String> = fields.collect();
    format!("{indent}{name}:\n{}", fields.concat())
}

fn flow(name: &str, entry: &Entry) -> String {
    let fields = entry.0.iter();
    let fields = fields.map(|(key, field)| format!("{}: {}", quoted(key), field.inline()));
    let fields: Vec<String> = fields.collect();
    format!("{name}: {{{}}}", fields.join(", "))
}

/// Returns a value, without quotes where it reads as itself.
fn scalar(field: &Field) -> String {
    match field {
        Field::Text(text) if is_plain(text) => text.clone(),
        Field::List(list) if list.iter().all(|item| is_plain(item)) => {
            format!("[{}]", list.join(", "))
        }
        other => other.inline(),
    }
}

fn is_plain(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '.' | ' ');
    text.chars().all(is_word)
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && !text.ends_with(' ')
        && matches!(core_value(text), Value::String(_))
}

/// Returns what a scalar without quotes means.
fn core_value(text: &str) -> Value {
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

fn line_start(text: &str, place: usize) -> usize {
    text[..place].rfind('\n').map_or(0, |end| end + 1)
}

/// Returns where the line of a place ends, before its break.
fn line_end(text: &str, place: usize) -> usize {
    // A block of text ends where the next line starts.
    let place = if place > 0 && text[..place].ends_with('\n') {
        place - 1
    } else {
        place
    };
    let end = text[place..]
        .find('\n')
        .map_or(text.len(), |end| place + end);
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

    /// Returns a key of the mapping and its value. A key that is there twice is refused.
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
                let why = format!("Key {} is there twice", quoted(name));
                Err(SyntaxFault::new(second.span.start, why))
            }
            None => Ok(first.cloned()),
        }
    }
}

/// Reads a text of at most one document.
fn parse(text: &str) -> Result<Option<YamlNode>, SyntaxFault> {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let place = |marker: Marker| starts.get(marker.index()).copied().unwrap_or(text.len());
    let mut open: Vec<(usize, OpenBlock, Vec<YamlNode>)> = Vec::new();
    let mut root: Option<YamlNode> = None;
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) =
            event.map_err(|error| SyntaxFault::new(place(*error.marker()), error.info()))?;
        let (start, end) = (place(span.start), place(span.end));
        let node = match event {
            Event::DocumentStart(_) if root.is_some() => {
                return Err(SyntaxFault::new(start, "A second document starts here"));
            }
            Event::MappingStart(..) | Event::SequenceStart(..) if open.len() >= DEPTH => {
                return Err(SyntaxFault::new(start, "Nested too deep"));
            }
            Event::MappingStart(..) => {
                open.push((start, OpenBlock::Map, Vec::new()));
                continue;
            }
            Event::SequenceStart(..) => {
                open.push((start, OpenBlock::List, Vec::new()));
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => match open.pop() {
                Some((opened, form, items)) => closed(text, opened..end, form, items),
                None => continue,
            },
            Event::Alias(anchor) => YamlNode {
                span: start..end,
                kind: YamlKind::Scalar(Value::from(format!("*{anchor}"))),
            },
            Event::Scalar(written, style, ..) => YamlNode {
                span: start..end,
                kind: YamlKind::Scalar(match style {
                    ScalarStyle::Plain => core_value(&written),
                    _ => Value::from(&*written),
                }),
            },
            _ => continue,
        };
        match open.last_mut() {
            Some((_, _, items)) => items.push(node),
            None => root = Some(node),
        }
    }
    Ok(root)
}

/// What is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenBlock {
    Map,
    List,
}

fn closed(text: &str, span: Range<usize>, form: OpenBlock, items: Vec<YamlNode>) -> YamlNode {
    let is_flow = text[span.start..].starts_with(['{', '[']);
    // The parser closes a block where the next thing starts.
    let end = if is_flow { span.end } else { span.start };
    let kind = if form == OpenBlock::Map {
        let mut fields = Vec::new();
        let mut items = items.into_iter();
        while let (Some(key), Some(value)) = (items.next(), items.next()) {
            fields.push((key, value));
        }
        YamlKind::Map(fields)
    } else {
        YamlKind::List(items)
    };
    YamlNode {
        span: span.start..end,
        kind,
    }
}
