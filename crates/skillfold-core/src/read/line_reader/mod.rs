//! Reads the simple blocks that most skills have, line by line, without a YAML parser.
//!
//! The reader returns the very tree that the parser would return, or says that YAML certainly refuses the block, or
//! declines. It takes `key: value` lines whose value is plain text, simple quotes, words in brackets or a block of text
//! below, and one level of `key: value` or `- value` lines under a key; a field with any other value it gives to the
//! parser alone. A fuzz target and a test over real files compare it with the parser.

mod scalar;

use std::borrow::Cow;
use std::collections::HashSet;

use crate::codes::Code;
use crate::diagnostic::{Position, Span};
use crate::limits::Limits;
use crate::read::frontmatter::{count, field_name_length, may_have_controls};
use crate::read::line_reader::scalar::{has_controls, has_odd_breaks, scan_plain};
use crate::read::yaml::{self, Fault, Kind, MappingEntry, Node, Quoting};

pub(crate) use scalar::value;

/// What the reader makes of a block.
pub(crate) enum LineReading<'a> {
    /// The tree that the parser would return.
    Tree(Node<'a>),
    /// YAML certainly refuses the block, for this reason.
    Broken(Fault),
    /// Ask the parser.
    Declined,
}

/// Reads a block that starts on line `first_line` of its file.
pub(crate) fn read<'a>(text: &'a str, first_line: u32, limits: &Limits) -> LineReading<'a> {
    // A text without a line break at its end differs in the last value of some forms.
    if text.len() > limits.frontmatter_bytes || limits.yaml_depth < 2 || !text.ends_with('\n') {
        return LineReading::Declined;
    }
    let mut lines = BlockLines::new(text, first_line);
    let mut entries: Vec<MappingEntry<'a>> = Vec::with_capacity(8);
    let mut keys = 0;
    let mut seen = KeySet::default();
    while let Some(line) = lines.next() {
        if line.text.is_empty() {
            continue;
        }
        let Some(field) = FieldLine::of(line, 0) else {
            return LineReading::Declined;
        };
        let mut after = lines.clone();
        let mut read = field.value(&mut after, limits);
        if read.is_none() {
            if let Some(fault) = field.fault() {
                return LineReading::Broken(fault);
            }
            after = lines.clone();
            read = parsed_alone(&field, line, &mut after, limits);
        }
        let Some((value, nested)) = read else {
            return LineReading::Declined;
        };
        lines = after;
        keys += 1 + nested;
        if keys > limits.yaml_keys || !seen.insert(field.key, &entries) {
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

/// The lines that are left; the next one is known.
#[derive(Clone)]
struct BlockLines<'a> {
    text: &'a str,
    next: Option<BlockLine<'a>>,
}

#[derive(Clone, Copy)]
struct BlockLine<'a> {
    text: &'a str,
    number: u32,
    /// Where the line starts in the block.
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

    fn next_if(&mut self, wanted: impl FnOnce(&str) -> bool) -> Option<BlockLine<'a>> {
        self.peek().filter(|line| wanted(line.text))?;
        self.next()
    }
}

/// A line `key: value`.
struct FieldLine<'a> {
    key: &'a str,
    /// What stands after the colon and one space; `None` if nothing does.
    rest: Option<&'a str>,
    /// Where the key starts.
    start: Position,
}

impl<'a> FieldLine<'a> {
    /// Takes a line apart whose key stands at `indent`.
    fn of(line: BlockLine<'a>, indent: usize) -> Option<Self> {
        let text = &line.text[indent..];
        let length = field_name_length(text.as_bytes())?;
        let rest = match text[length + 1..].strip_prefix(' ') {
            Some(rest) => Some(rest),
            None if text.len() == length + 1 => None,
            None => return None,
        };
        let start = Position::new(line.number, count(indent) + 1);
        (length <= 64).then(|| Self {
            key: &text[..length],
            rest,
            start,
        })
    }

    fn key_span(&self) -> Span {
        Span::new(self.start, self.after_key(0))
    }

    /// Returns the place some characters after the key.
    fn after_key(&self, characters: usize) -> Position {
        Position::new(
            self.start.line,
            self.start.column + count(self.key.len() + characters),
        )
    }

    /// Reads the value, with the lines below that belong to it, and counts the keys among them.
    fn value(&self, lines: &mut BlockLines<'a>, limits: &Limits) -> Option<(Node<'a>, usize)> {
        let Some(rest) = self.rest else {
            let mut nested = Nested::None;
            while let Some(line) = lines.next_if(|line| line.starts_with([' ', '-'])) {
                nested.line(line)?;
                if nested.len() > limits.yaml_keys {
                    return None;
                }
            }
            let keys = nested.len();
            let nothing = || Node::scalar("", Quoting::Plain, Span::at(self.after_key(0)));
            return Some((nested.into_node().unwrap_or_else(nothing), keys));
        };
        if rest.starts_with(['>', '|']) {
            return block_scalar(rest, lines).map(|node| (node, 0));
        }
        let value = value(rest, self.after_key(2))?;
        // A line below that is indented goes on with a plain text, and is an error after anything else.
        match lines.peek() {
            Some(line) if line.text.starts_with([' ', '\t']) => {
                continued(rest, value.span, lines).map(|node| (node, 0))
            }
            _ => Some((value, 0)),
        }
    }

    /// Returns why YAML refuses the value, where that is certain.
    fn fault(&self) -> Option<Fault> {
        // A carriage return would end the line for the parser, and the value with it.
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
                rest.starts_with(|c: char| c.is_ascii_alphanumeric()) && !has_odd_breaks(rest);
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

/// Lets the parser read one field whose value is a list, a mapping or a text in quotes, with the indented lines below it.
///
/// What would have to be reported is declined, and so is what another line could still belong to.
fn parsed_alone<'a>(
    field: &FieldLine<'a>,
    line: BlockLine<'a>,
    lines: &mut BlockLines<'a>,
    limits: &Limits,
) -> Option<(Node<'a>, usize)> {
    let is_closed = field
        .rest
        .is_none_or(|rest| rest.starts_with(['{', '[', '"', '\'']));
    if !is_closed {
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
    // Where a block of text ends is decided by the line after it, and other breaks would change the count of lines.
    let is_open = text.contains(" |") || text.contains(" >") || text.contains('\t');
    if is_open || may_have_controls(text.as_bytes()) || has_odd_breaks(text) {
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
    yaml::report_keys(&value, &mut findings);
    yaml::remove_controls(&mut value, &mut findings);
    let keys = value.keys();
    findings.is_empty().then_some((value, keys))
}

/// Reads plain text that goes on in the lines below.
fn continued<'a>(first: &str, mut span: Span, lines: &mut BlockLines<'a>) -> Option<Node<'a>> {
    let is_plain = !first.starts_with(['"', '\'', '[']);
    let mut text = is_plain.then(|| first.to_owned())?;
    while let Some(line) = lines.next_if(|line| line.starts_with([' ', '\t'])) {
        let more = line.text.trim_start_matches(' ');
        let ascii = scan_plain(more.as_bytes())?;
        if !ascii && has_odd_breaks(more) {
            return None;
        }
        text.push(' ');
        text.push_str(more);
        span.end = Position::new(line.number, count(line.text.chars().count()) + 1);
    }
    // What follows a blank line may still belong to the text.
    if lines.peek().is_some_and(|line| line.text.is_empty()) {
        return None;
    }
    Some(Node::scalar(text, Quoting::Plain, span))
}

/// Reads the lines below `>` or `|` that are all indented alike and none of them blank.
fn block_scalar<'a>(header: &str, lines: &mut BlockLines<'a>) -> Option<Node<'a>> {
    let (separator, end) = match header {
        ">" => (' ', "\n"),
        ">-" => (' ', ""),
        "|" => ('\n', "\n"),
        "|-" => ('\n', ""),
        _ => return None,
    };
    let first = lines.peek()?;
    let indent = first.text.bytes().take_while(|byte| *byte == b' ').count();
    let start = Position::new(first.number, count(indent) + 1);
    let mut last = first.number;
    let mut text = String::new();
    while let Some(line) = lines.next_if(|line| line.starts_with([' ', '\t'])) {
        let content = line.text.get(indent..)?;
        let bytes = content.as_bytes();
        let begins =
            line.text.bytes().take(indent).all(|byte| byte == b' ') && bytes.first() != Some(&b' ');
        let plain = !has_controls(bytes) && !has_odd_breaks(content);
        if indent == 0 || !begins || !plain || bytes.last().is_none_or(|byte| *byte == b' ') {
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

/// The keys of a mapping, where they are many: few are found sooner by looking at each.
#[derive(Default)]
struct KeySet<'a>(HashSet<&'a str>);

impl<'a> KeySet<'a> {
    /// Keys that are looked at one by one.
    const FEW: usize = 32;

    /// Adds a key to those of the entries; returns whether it is new.
    fn insert(&mut self, key: &'a str, entries: &[MappingEntry<'a>]) -> bool {
        if entries.len() < Self::FEW {
            return entries.iter().all(|earlier| earlier.key != key);
        }
        if self.0.is_empty() {
            let keys = entries.iter().filter_map(|entry| match entry.key {
                Cow::Borrowed(key) => Some(key),
                Cow::Owned(_) => None,
            });
            self.0.extend(keys);
        }
        self.0.insert(key)
    }
}

/// What stands under a key without a value.
enum Nested<'a> {
    None,
    Map {
        indent: usize,
        entries: Vec<MappingEntry<'a>>,
        seen: KeySet<'a>,
    },
    List {
        indent: usize,
        items: Vec<Node<'a>>,
    },
}

impl<'a> Nested<'a> {
    /// Takes one more line, or declines.
    fn line(&mut self, line: BlockLine<'a>) -> Option<()> {
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
                    seen: KeySet::default(),
                }
            };
        }
        match self {
            Self::None => None,
            Self::Map {
                indent: expected,
                entries,
                seen,
            } => {
                let field =
                    (indent > 0 && indent == *expected).then(|| FieldLine::of(line, indent))??;
                // A key without a value may have lines of its own below it.
                let value = value(field.rest?, field.after_key(2))?;
                if !seen.insert(field.key, entries) {
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
                items.push(value(text, Position::new(line.number, count(indent) + 3))?);
                Some(())
            }
        }
    }

    fn len(&self) -> usize {
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
