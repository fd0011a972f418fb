//! Reads the simple frontmatter of most skills line by line, without a YAML parser.
//!
//! The reader returns exactly the tree that the parser would return, or reports that YAML certainly refuses the block,
//! or declines. It handles `key: value` lines whose value is plain text, simply quoted text, words in brackets or a
//! block scalar, and one level of `key: value` or `- value` lines under a key. A field with any other value is passed
//! to the parser separately. A fuzz target and a test over real files compare the reader with the parser.

mod scalar;

use std::borrow::Cow;

use crate::codes::Code;
use crate::diagnostic::{Position, Span};
use crate::limits::Limits;
use crate::read::frontmatter::{field_name_length, may_have_controls, saturating_u32};
use crate::read::line_reader::scalar::{has_controls, has_unicode_breaks, scan_plain};
use crate::read::yaml::{self, Fault, Kind, MappingEntry, Node, Quoting};

pub(crate) use scalar::read_inline;

/// Result of reading a block by lines.
pub(crate) enum LineReading<'a> {
    /// The tree that the parser would return.
    Tree(Node<'a>),
    /// YAML certainly refuses the block.
    Broken(Fault),
    /// Not decided; use the parser.
    Declined,
}

/// Reads a block that starts on line `first_line` of its file.
pub(crate) fn read<'a>(text: &'a str, first_line: u32, limits: &Limits) -> LineReading<'a> {
    // Without a final line feed, the parser gives some kinds of last value another text or span.
    if text.len() > limits.frontmatter_bytes || limits.yaml_depth < 2 || !text.ends_with('\n') {
        return LineReading::Declined;
    }
    let mut lines = BlockLines::new(text, first_line);
    let mut entries: Vec<MappingEntry<'a>> = Vec::with_capacity(8);
    let mut keys = 0;
    while let Some(line) = lines.next() {
        if line.text.is_empty() {
            continue;
        }
        let Some(field) = FieldLine::parse(line, 0) else {
            return LineReading::Declined;
        };
        let mut rest = lines.clone();
        let mut read = field.read_value(&mut rest, limits);
        if read.is_none() {
            if let Some(fault) = field.certain_fault() {
                return LineReading::Broken(fault);
            }
            rest = lines.clone();
            read = parse_separately(&field, line, &mut rest, limits);
        }
        let Some((value, nested_keys)) = read else {
            return LineReading::Declined;
        };
        lines = rest;
        keys += 1 + nested_keys;
        if keys > limits.yaml_keys || !is_new_key(field.key, &entries) {
            return LineReading::Declined;
        }
        entries.push(MappingEntry {
            key: field.key.into(),
            key_span: field.key_span(),
            value,
        });
    }
    if entries.is_empty() {
        return LineReading::Declined;
    }
    LineReading::Tree(Node::map(entries, Position::new(first_line, 1)))
}

/// The remaining lines of a block, with one line of lookahead.
#[derive(Clone)]
struct BlockLines<'a> {
    text: &'a str,
    next: Option<BlockLine<'a>>,
}

#[derive(Clone, Copy)]
struct BlockLine<'a> {
    text: &'a str,
    number: u32,
    /// Byte offset of the line in the block.
    offset: usize,
}

impl<'a> BlockLines<'a> {
    fn new(text: &'a str, number: u32) -> Self {
        let mut lines = Self { text, next: None };
        lines.advance(0, number);
        lines
    }

    fn advance(&mut self, offset: usize, number: u32) {
        let rest = &self.text[offset..];
        let length = memchr::memchr(b'\n', rest.as_bytes());
        self.next = length.map(|length| BlockLine {
            text: &rest[..length],
            number,
            offset,
        });
    }

    fn peek(&self) -> Option<BlockLine<'a>> {
        self.next
    }

    fn next(&mut self) -> Option<BlockLine<'a>> {
        let line = self.next?;
        self.advance(line.offset + line.text.len() + 1, line.number + 1);
        Some(line)
    }

    fn next_if(&mut self, predicate: impl FnOnce(&str) -> bool) -> Option<BlockLine<'a>> {
        self.peek().filter(|line| predicate(line.text))?;
        self.next()
    }
}

/// A `key: value` line.
struct FieldLine<'a> {
    key: &'a str,
    /// The text after the colon and one space; `None` if the line ends at the colon.
    rest: Option<&'a str>,
    /// Position of the key.
    start: Position,
}

impl<'a> FieldLine<'a> {
    /// Parses a line whose key starts at `indent`.
    fn parse(line: BlockLine<'a>, indent: usize) -> Option<Self> {
        let text = &line.text[indent..];
        let length = field_name_length(text.as_bytes())?;
        let rest = match text[length + 1..].strip_prefix(' ') {
            Some(rest) => Some(rest),
            None if text.len() == length + 1 => None,
            None => return None,
        };
        let start = Position::new(line.number, saturating_u32(indent) + 1);
        (length <= 64).then(|| Self {
            key: &text[..length],
            rest,
            start,
        })
    }

    fn key_span(&self) -> Span {
        Span::new(self.start, self.after_key(0))
    }

    /// Returns the position `characters` characters after the key.
    fn after_key(&self, characters: usize) -> Position {
        Position::new(
            self.start.line,
            self.start.column + saturating_u32(self.key.len() + characters),
        )
    }

    /// Reads the value together with the lines below that belong to it. Returns it with its number of keys.
    fn read_value(&self, lines: &mut BlockLines<'a>, limits: &Limits) -> Option<(Node<'a>, usize)> {
        let Some(rest) = self.rest else {
            let mut nested = Nested::None;
            while let Some(line) = lines.next_if(|line| line.starts_with([' ', '-'])) {
                nested.push_line(line)?;
                if nested.key_count() > limits.yaml_keys {
                    return None;
                }
            }
            let keys = nested.key_count();
            let empty = || Node::scalar("", Quoting::Plain, Span::at(self.after_key(0)));
            return Some((nested.into_node().unwrap_or_else(empty), keys));
        };
        if rest.starts_with(['>', '|']) {
            return read_block_scalar(rest, lines).map(|node| (node, 0));
        }
        let value = read_inline(rest, self.after_key(2))?;
        // An indented line below continues plain text, and is an error after any other value.
        match lines.peek() {
            Some(line) if line.text.starts_with([' ', '\t']) => {
                read_continued(rest, value.span, lines).map(|node| (node, 0))
            }
            _ => Some((value, 0)),
        }
    }

    /// Returns why YAML refuses the value, if it certainly does.
    fn certain_fault(&self) -> Option<Fault> {
        // The parser would end the line, and the value, at a carriage return.
        let rest = self.rest.filter(|rest| !has_controls(rest.as_bytes()))?;
        let (offset, message) = if let Some(text) = rest.strip_prefix(['>', '|']) {
            let text = text.trim_start_matches(['-', '+']);
            let is_text = text
                .strip_prefix(' ')
                .is_some_and(|text| text.starts_with(|c: char| c.is_ascii_alphanumeric()));
            let offset = rest.len() - text.len() + 1;
            is_text.then_some((offset, "Text on the line where a block scalar starts"))?
        } else {
            let offset = rest.find(": ").filter(|at| !rest[..*at].contains(" #"))?;
            let is_plain =
                rest.starts_with(|c: char| c.is_ascii_alphanumeric()) && !has_unicode_breaks(rest);
            is_plain.then_some((offset, "A second `: ` on the line of a field"))?
        };
        let at = self.after_key(2 + rest[..offset].chars().count());
        Some(Fault {
            code: Code::YamlSyntax,
            at,
            message: message.to_owned(),
        })
    }
}

/// Runs the parser on a single field whose value is a list, a mapping or quoted text, with the indented lines below it.
///
/// Returns `None` if a finding would have to be reported, or if the line after it could still belong to the field.
fn parse_separately<'a>(
    field: &FieldLine<'a>,
    line: BlockLine<'a>,
    lines: &mut BlockLines<'a>,
    limits: &Limits,
) -> Option<(Node<'a>, usize)> {
    let is_delimited = field
        .rest
        .is_none_or(|rest| rest.starts_with(['{', '[', '"', '\'']));
    if !is_delimited {
        return None;
    }
    let mut end = line.offset + line.text.len() + 1;
    while let Some(below) = lines.next_if(|line| line.starts_with(' ')) {
        end = below.offset + below.text.len() + 1;
    }
    if lines
        .peek()
        .is_some_and(|next| field_name_length(next.text.as_bytes()).is_none())
    {
        return None;
    }
    let text = &lines.text[line.offset..end];
    // The end of a block scalar depends on the line after it, and other line breaks would change the line numbers.
    let is_open_ended = text.contains(" |") || text.contains(" >") || text.contains('\t');
    if is_open_ended || may_have_controls(text.as_bytes()) || has_unicode_breaks(text) {
        return None;
    }
    let root = yaml::parse(text, line.number, limits).ok()?;
    let mut value = match root.kind {
        Kind::Map(mut entries) if entries.len() == 1 && entries[0].key == field.key => {
            entries.swap_remove(0).value
        }
        _ => return None,
    };
    let mut findings = Vec::new();
    yaml::report_bad_keys(&value, &mut findings);
    yaml::remove_controls(&mut value, &mut findings);
    let keys = value.count_keys();
    findings.is_empty().then_some((value, keys))
}

/// Reads plain text that continues on the lines below.
fn read_continued<'a>(first: &str, mut span: Span, lines: &mut BlockLines<'a>) -> Option<Node<'a>> {
    let is_plain = !first.starts_with(['"', '\'', '[']);
    let mut text = is_plain.then(|| first.to_owned())?;
    while let Some(line) = lines.next_if(|line| line.starts_with([' ', '\t'])) {
        let content = line.text.trim_start_matches(' ');
        let is_ascii = scan_plain(content.as_bytes())?;
        if !is_ascii && has_unicode_breaks(content) {
            return None;
        }
        text.push(' ');
        text.push_str(content);
        span.end = Position::new(line.number, saturating_u32(line.text.chars().count()) + 1);
    }
    // Lines after a blank line may still belong to the text.
    if lines.peek().is_some_and(|line| line.text.is_empty()) {
        return None;
    }
    Some(Node::scalar(text, Quoting::Plain, span))
}

/// Reads a block scalar whose lines all have the same indentation and of which none is blank.
fn read_block_scalar<'a>(header: &str, lines: &mut BlockLines<'a>) -> Option<Node<'a>> {
    let (separator, end) = match header {
        ">" => (' ', "\n"),
        ">-" => (' ', ""),
        "|" => ('\n', "\n"),
        "|-" => ('\n', ""),
        _ => return None,
    };
    let first = lines.peek()?;
    let indent = first.text.bytes().take_while(|byte| *byte == b' ').count();
    let start = Position::new(first.number, saturating_u32(indent) + 1);
    let mut last = first.number;
    let mut text = String::new();
    while let Some(line) = lines.next_if(|line| line.starts_with([' ', '\t'])) {
        let content = line.text.get(indent..)?;
        let bytes = content.as_bytes();
        let has_indent =
            line.text.bytes().take(indent).all(|byte| byte == b' ') && bytes.first() != Some(&b' ');
        let is_plain = !has_controls(bytes) && !has_unicode_breaks(content);
        if indent == 0 || !has_indent || !is_plain || bytes.last().is_none_or(|byte| *byte == b' ')
        {
            return None;
        }
        if !text.is_empty() {
            text.push(separator);
        }
        text.push_str(content);
        last = line.number;
    }
    let next = lines.peek();
    if text.is_empty()
        || next.is_some_and(|line| line.text.is_empty() || line.text.starts_with('#'))
    {
        return None;
    }
    text.push_str(end);
    Some(Node::scalar(
        Cow::Owned(text),
        Quoting::Quoted,
        Span::new(start, Position::new(last + 1, 1)),
    ))
}

/// Returns whether no earlier field has the key. The limit on keys bounds the search.
fn is_new_key(key: &str, entries: &[MappingEntry<'_>]) -> bool {
    entries.iter().all(|earlier| earlier.key != key)
}

/// The lines under a key without a value on its own line.
enum Nested<'a> {
    None,
    Map {
        indent: usize,
        entries: Vec<MappingEntry<'a>>,
    },
    List {
        indent: usize,
        items: Vec<Node<'a>>,
    },
}

impl<'a> Nested<'a> {
    /// Adds a line; `None` if the parser is needed.
    fn push_line(&mut self, line: BlockLine<'a>) -> Option<()> {
        let indent = line.text.bytes().take_while(|byte| *byte == b' ').count();
        if let Self::None = self {
            *self = if line.text[indent..].starts_with("- ") {
                Self::List {
                    indent,
                    items: Vec::with_capacity(4),
                }
            } else {
                Self::Map {
                    indent,
                    entries: Vec::with_capacity(4),
                }
            };
        }
        match self {
            Self::None => None,
            Self::Map {
                indent: expected,
                entries,
            } => {
                let field = (indent > 0 && indent == *expected)
                    .then(|| FieldLine::parse(line, indent))??;
                // A key without a value may have nested lines of its own.
                let value = read_inline(field.rest?, field.after_key(2))?;
                if !is_new_key(field.key, entries) {
                    return None;
                }
                entries.push(MappingEntry {
                    key: field.key.into(),
                    key_span: field.key_span(),
                    value,
                });
                Some(())
            }
            Self::List {
                indent: expected,
                items,
            } => {
                let text =
                    (indent == *expected).then(|| line.text[indent..].strip_prefix("- "))??;
                items.push(read_inline(
                    text,
                    Position::new(line.number, saturating_u32(indent) + 3),
                )?);
                Some(())
            }
        }
    }

    fn key_count(&self) -> usize {
        match self {
            Self::None | Self::List { .. } => 0,
            Self::Map { entries, .. } => entries.len(),
        }
    }

    fn into_node(self) -> Option<Node<'a>> {
        match self {
            Self::None => None,
            Self::Map { entries, .. } => Some(Node::map(entries, Position::START)),
            Self::List { items, .. } => Some(Node::list(items, Position::START)),
        }
    }
}
