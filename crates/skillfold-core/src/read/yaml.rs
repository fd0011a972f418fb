//! Builds a small tree with positions from YAML events.
//!
//! The tree keeps the text and quoting of every scalar and converts nothing. Types are decided field by field, so that
//! one odd field costs a diagnostic and not the skill.

use std::borrow::Cow;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError};

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Position, Report, Span, quoted};
use crate::limits::Limits;
use crate::read::frontmatter::{is_unwanted_control, may_have_controls, saturating_u32};

/// A value with its span in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node<'a> {
    pub(crate) span: Span,
    pub(crate) kind: Kind<'a>,
}

/// A scalar, a list or a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind<'a> {
    Scalar {
        text: Cow<'a, str>,
        quoting: Quoting,
    },
    List(Vec<Node<'a>>),
    Map(Vec<MappingEntry<'a>>),
}

/// Whether a scalar may be something other than a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Quoting {
    /// Unquoted: `true`, `1.0` and `~` are a boolean, a number and null.
    Plain,
    /// Quoted or a block scalar: always a string.
    Quoted,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MappingEntry<'a> {
    pub(crate) key: Cow<'a, str>,
    pub(crate) key_span: Span,
    pub(crate) value: Node<'a>,
}

/// Why a text was refused as YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) code: Code,
    pub(crate) at: Position,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn into_diagnostic(self) -> Diagnostic {
        Diagnostic::new(self.code, Span::at(self.at), self.message)
    }
}

impl<'a> Node<'a> {
    pub(crate) fn scalar(text: impl Into<Cow<'a, str>>, quoting: Quoting, span: Span) -> Self {
        Self {
            span,
            kind: Kind::Scalar {
                text: text.into(),
                quoting,
            },
        }
    }

    /// Returns whether the value is empty, `null` or `~`.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar { text, quoting: Quoting::Plain } if matches!(&**text, "" | "~" | "null" | "Null" | "NULL"))
    }

    /// Returns the text of a scalar as written, even if YAML would read it as a number or boolean.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, .. } => Some(text),
            Kind::List(_) | Kind::Map(_) => None,
        }
    }

    /// Returns the value with all text owned.
    pub(crate) fn into_owned(self) -> Node<'static> {
        let entry = |entry: MappingEntry<'a>| MappingEntry {
            key: entry.key.into_owned().into(),
            key_span: entry.key_span,
            value: entry.value.into_owned(),
        };
        let kind = match self.kind {
            Kind::Scalar { text, quoting } => Kind::Scalar {
                text: text.into_owned().into(),
                quoting,
            },
            Kind::List(items) => Kind::List(items.into_iter().map(Self::into_owned).collect()),
            Kind::Map(entries) => Kind::Map(entries.into_iter().map(entry).collect()),
        };
        Node {
            span: self.span,
            kind,
        }
    }

    /// Counts the keys of all mappings in this tree.
    pub(crate) fn count_keys(&self) -> usize {
        match &self.kind {
            Kind::Scalar { .. } => 0,
            Kind::List(items) => items.iter().map(Self::count_keys).sum(),
            Kind::Map(entries) => entries
                .iter()
                .map(|entry| 1 + entry.value.count_keys())
                .sum(),
        }
    }

    /// Shifts every position in this tree by the number of columns that `by` returns for its line.
    pub(crate) fn shift_columns(&mut self, by: &dyn Fn(u32) -> i64) {
        shift_span(&mut self.span, by);
        match &mut self.kind {
            Kind::Scalar { .. } => {}
            Kind::List(items) => items.iter_mut().for_each(|item| item.shift_columns(by)),
            Kind::Map(entries) => {
                for entry in entries {
                    shift_span(&mut entry.key_span, by);
                    entry.value.shift_columns(by);
                }
            }
        }
    }

    /// Creates a list or mapping whose span covers its children; an empty one has an empty span at `start`.
    fn collection(kind: Kind<'a>, start: Position) -> Self {
        let bounds = match &kind {
            Kind::List(items) => items
                .first()
                .zip(items.last())
                .map(|(a, b)| (a.span.start, b.span.end)),
            Kind::Map(entries) => entries
                .first()
                .zip(entries.last())
                .map(|(a, b)| (a.key_span.start, b.value.span.end)),
            Kind::Scalar { .. } => None,
        };
        let (start, end) = bounds.unwrap_or((start, start));
        Self {
            span: Span::new(start, end),
            kind,
        }
    }

    pub(crate) fn list(items: Vec<Self>, start: Position) -> Self {
        Self::collection(Kind::List(items), start)
    }

    pub(crate) fn map(entries: Vec<MappingEntry<'a>>, start: Position) -> Self {
        Self::collection(Kind::Map(entries), start)
    }
}

fn shift_span(span: &mut Span, by: &dyn Fn(u32) -> i64) {
    for position in [&mut span.start, &mut span.end] {
        let column = i64::from(position.column) + by(position.line);
        position.column = u32::try_from(column).unwrap_or(1).max(1);
    }
}

/// Parses one YAML document that starts on line `first_line` of its file.
///
/// Refuses aliases, anchors, tags, second documents, keys that are not scalars, and anything over a limit.
pub(crate) fn parse<'a>(
    text: &'a str,
    first_line: u32,
    limits: &Limits,
) -> Result<Node<'a>, Fault> {
    let mut builder = TreeBuilder {
        first_line,
        limits,
        open: Vec::new(),
        root: None,
        keys: 0,
    };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| builder.scan_fault(&error))?;
        builder.handle_event(
            event,
            builder.position(span.start),
            builder.position(span.end),
        )?;
    }
    let start = Position::new(first_line, 1);
    Ok(builder
        .root
        .unwrap_or_else(|| Node::scalar("", Quoting::Plain, Span::at(start))))
}

/// Formats the parser's message like ours: capitalized, without a final period.
fn to_sentence(message: &str) -> String {
    let mut chars = message.trim_end_matches('.').chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

/// A list or mapping whose end has not been reached yet.
enum OpenCollection<'a> {
    List {
        start: Position,
        items: Vec<Node<'a>>,
    },
    Map {
        start: Position,
        entries: Vec<MappingEntry<'a>>,
        key: Option<(Cow<'a, str>, Span)>,
    },
}

struct TreeBuilder<'a, 'l> {
    first_line: u32,
    limits: &'l Limits,
    open: Vec<OpenCollection<'a>>,
    root: Option<Node<'a>>,
    keys: usize,
}

impl<'a> TreeBuilder<'a, '_> {
    fn position(&self, marker: Marker) -> Position {
        Position::new(
            saturating_u32(marker.line()).max(1) + self.first_line - 1,
            saturating_u32(marker.col()) + 1,
        )
    }

    fn scan_fault(&self, error: &ScanError) -> Fault {
        let at = self.position(*error.marker());
        // The parser resolves aliases before it emits them; one to an unknown anchor is refused like any other.
        if error.info().contains("unknown anchor") {
            return fault(Code::YamlAlias, at, "Alias to an unknown anchor");
        }
        fault(Code::YamlSyntax, at, to_sentence(error.info()))
    }

    fn handle_event(
        &mut self,
        event: Event<'a>,
        start: Position,
        end: Position,
    ) -> Result<(), Fault> {
        match event {
            Event::DocumentStart(_) if self.root.is_some() => Err(fault(
                Code::YamlSecondDocument,
                start,
                "A second document starts here",
            )),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
            Event::Alias(_) => Err(fault(Code::YamlAlias, start, "Alias in place of a value")),
            Event::Scalar(_, _, anchor, _)
            | Event::SequenceStart(anchor, _)
            | Event::MappingStart(anchor, _)
                if anchor > 0 =>
            {
                Err(fault(Code::YamlAnchor, start, "Anchor on a value"))
            }
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => Err(fault(Code::YamlTag, start, "Tag on a value")),
            Event::Scalar(text, style, _, None) => {
                let quoting = if style == ScalarStyle::Plain {
                    Quoting::Plain
                } else {
                    Quoting::Quoted
                };
                self.push_value(Node::scalar(text, quoting, Span::new(start, end)))
            }
            Event::SequenceStart(..) => self.open_collection(
                OpenCollection::List {
                    start,
                    items: Vec::new(),
                },
                start,
            ),
            Event::MappingStart(..) => self.open_collection(
                OpenCollection::Map {
                    start,
                    entries: Vec::with_capacity(4),
                    key: None,
                },
                start,
            ),
            Event::SequenceEnd | Event::MappingEnd => self.close_collection(),
        }
    }

    fn open_collection(&mut self, open: OpenCollection<'a>, start: Position) -> Result<(), Fault> {
        if self.open.len() >= self.limits.yaml_depth {
            let message = format!("Nested deeper than {} levels", self.limits.yaml_depth);
            return Err(fault(Code::YamlTooDeep, start, message));
        }
        if let Some(OpenCollection::Map { key: None, .. }) = self.open.last() {
            return Err(fault(
                Code::YamlComplexKey,
                start,
                "A list or mapping where a field's name is expected",
            ));
        }
        self.open.push(open);
        Ok(())
    }

    fn close_collection(&mut self) -> Result<(), Fault> {
        match self.open.pop() {
            Some(OpenCollection::List { start, items }) => {
                self.push_value(Node::list(items, start))
            }
            Some(OpenCollection::Map { start, entries, .. }) => {
                self.push_value(Node::map(entries, start))
            }
            None => Ok(()),
        }
    }

    fn push_value(&mut self, node: Node<'a>) -> Result<(), Fault> {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(OpenCollection::List { items, .. }) => items.push(node),
            Some(OpenCollection::Map { entries, key, .. }) => match key.take() {
                Some((key, key_span)) => entries.push(MappingEntry {
                    key,
                    key_span,
                    value: node,
                }),
                None => match node.kind {
                    Kind::Scalar { text, .. } => *key = Some((text, node.span)),
                    Kind::List(_) | Kind::Map(_) => {
                        return Err(fault(
                            Code::YamlComplexKey,
                            node.span.start,
                            "A list or mapping as a field's name",
                        ));
                    }
                },
            },
        }
        self.count_key()
    }

    /// Counts the key that was just pushed, if it was one, and enforces the limit.
    fn count_key(&mut self) -> Result<(), Fault> {
        let Some(OpenCollection::Map {
            key: Some((_, span)),
            ..
        }) = self.open.last()
        else {
            return Ok(());
        };
        self.keys += 1;
        if self.keys > self.limits.yaml_keys {
            let message = format!("More than {} fields", self.limits.yaml_keys);
            return Err(fault(Code::YamlTooManyKeys, span.start, message));
        }
        Ok(())
    }
}

fn fault(code: Code, at: Position, message: impl Into<String>) -> Fault {
    Fault {
        code,
        at,
        message: message.into(),
    }
}

/// Removes control characters that came from escapes in quoted scalars, and reports the first one of each value.
pub(crate) fn remove_controls(node: &mut Node<'_>, findings: &mut Vec<Diagnostic>) {
    match &mut node.kind {
        Kind::Scalar { text, .. } => {
            if !may_have_controls(text.as_bytes()) {
                return;
            }
            if let Some(c) = text.chars().find(|c| is_unwanted_control(*c)) {
                let message = format!("Escaped control character U+{:04X}", u32::from(c));
                findings.report(Code::ControlCharacters, node.span, message);
                *text = text.replace(is_unwanted_control, "").into();
            }
        }
        Kind::List(items) => items
            .iter_mut()
            .for_each(|item| remove_controls(item, findings)),
        Kind::Map(entries) => {
            for entry in entries {
                if entry.key.contains(is_unwanted_control) {
                    let message = "Escaped control character in a field's name";
                    findings.report(Code::ControlCharacters, entry.key_span, message);
                    entry.key = entry.key.replace(is_unwanted_control, "").into();
                }
                remove_controls(&mut entry.value, findings);
            }
        }
    }
}

/// Reports duplicate keys and merge keys in the whole tree.
pub(crate) fn report_bad_keys(node: &Node<'_>, findings: &mut Vec<Diagnostic>) {
    match &node.kind {
        Kind::Scalar { .. } => {}
        Kind::List(items) => items
            .iter()
            .for_each(|item| report_bad_keys(item, findings)),
        Kind::Map(entries) => {
            for (index, entry) in entries.iter().enumerate() {
                if let Some(first) = entries[..index].iter().find(|first| first.key == entry.key) {
                    let message = format!(
                        "Field {} is already given on line {}",
                        quoted(&entry.key),
                        first.key_span.start.line
                    );
                    findings.report(Code::YamlDuplicateKey, entry.key_span, message);
                }
                if entry.key == "<<" {
                    findings.report(
                        Code::YamlMergeKey,
                        entry.key_span,
                        "Merge key is not applied",
                    );
                }
                report_bad_keys(&entry.value, findings);
            }
        }
    }
}
