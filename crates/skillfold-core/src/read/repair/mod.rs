//! Reads frontmatter that YAML refuses, field by field, so that a stray colon does not lose a skill.
//!
//! The block is split into fields by its lines. Each field is read as YAML on its own; only a field that fails is read
//! as the text that stands there. The original error is reported first, then each repair with its place.

mod alone;
mod change;
mod comment;
mod line;
mod scalar;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Position, Span, quoted};
use crate::limits::Limits;
use crate::read::frontmatter::count;
use crate::read::repair::change::ChangeLog;
use crate::read::repair::line::{
    FieldHead, Form, RepairLine, field_end, field_start, indent_below, is_item,
};
use crate::read::yaml::{self, Fault, Kind, MappingEntry, Node, Quoting};

pub(crate) use change::{BrokenValue, Change};
pub(crate) use comment::commented_description;
pub(crate) use scalar::closing_quote;

/// How deep broken lists and mappings are followed; below, they are text.
const MAX_DEPTH: usize = 4;

/// Reads a block that YAML refused with `fault`; `None` if it has no field at all.
pub(crate) fn repair(
    text: &str,
    first_line: u32,
    fault: &Fault,
    limits: &Limits,
    findings: &mut Vec<Diagnostic>,
) -> Option<Node<'static>> {
    let original = fault.clone().into_diagnostic();
    let mut repair = Repair {
        limits,
        original: fault.at,
        findings: Vec::new(),
        fields: 0,
        notes: ChangeLog::Off,
    };
    let entries = repair.mapping(&numbered(text, first_line), Level::default());
    if entries.is_empty() {
        return None;
    }
    findings.push(original);
    findings.append(&mut repair.findings);
    Some(Node::map(entries, Position::new(first_line, 1)))
}

/// Returns what has to change so that YAML reads a block as [`repair`] and [`commented_description`] did, by field.
pub(crate) fn changes(text: &str, first_line: u32, limits: &Limits) -> Vec<Vec<Change>> {
    let mut notes = ChangeLog::On(Vec::new());
    let mut root = match yaml::parse(text, first_line, limits) {
        Ok(root) => root,
        Err(fault) => {
            let lines = numbered(text, first_line);
            let level = Level {
                depth: 0,
                indent: line::least_indent(&lines),
            };
            let mut repair = Repair {
                limits,
                original: fault.at,
                findings: Vec::new(),
                fields: 0,
                notes,
            };
            let entries = repair.mapping(&lines, level);
            notes = repair.notes;
            Node::map(entries, Position::new(first_line, 1))
        }
    };
    if let Some((line, head)) = comment::line(&mut root, text, first_line) {
        notes.start_field();
        notes.value(&[line], &head, line.indent, &comment::value(line, &head));
    }
    notes.into_changes()
}

fn numbered(text: &str, first_line: u32) -> Vec<RepairLine<'_>> {
    text.split('\n')
        .zip(first_line..)
        .map(|(text, number)| RepairLine::new(text, number))
        .collect()
}

struct Repair<'l> {
    limits: &'l Limits,
    /// Where YAML gave up, which is reported once.
    original: Position,
    findings: Vec<Diagnostic>,
    fields: usize,
    notes: ChangeLog,
}

/// Where the fields of a mapping or the items of a list stand.
#[derive(Clone, Copy, Default)]
struct Level {
    depth: usize,
    /// The indentation that they should have.
    indent: usize,
}

impl Level {
    /// Returns the level of what stands `by` characters further in.
    fn below(self, by: usize) -> Self {
        Self {
            depth: self.depth + 1,
            indent: self.indent + by,
        }
    }
}

impl Repair<'_> {
    /// Reads lines as the fields of one mapping.
    fn mapping(&mut self, lines: &[RepairLine<'_>], level: Level) -> Vec<MappingEntry<'static>> {
        let Some(base) = lines
            .iter()
            .find(|line| FieldHead::of(**line).is_some())
            .map(|line| line.indent)
        else {
            return Vec::new();
        };
        let mut entries = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let Some(head) = field_start(lines[at], base, None) else {
                self.stray(lines[at], level);
                at += 1;
                continue;
            };
            if level.depth == 0 {
                self.notes.start_field();
            }
            let next = field_end(lines, at, base, &head);
            if self.fields >= self.limits.yaml_keys {
                let message = format!(
                    "More than {} fields; the rest was left out",
                    self.limits.yaml_keys
                );
                self.findings.push(Diagnostic::new(
                    Code::YamlTooManyKeys,
                    Span::at(lines[at].start()),
                    message,
                ));
                break;
            }
            self.fields += 1;
            if lines[at].indent > base {
                let message = format!("Field {} is indented unlike the others", quoted(head.key));
                self.findings.push(Diagnostic::new(
                    Code::RepairedIndent,
                    Span::at(lines[at].start()),
                    message,
                ));
            }
            entries.push(self.field(&lines[at..next], &head, level));
            at = next;
        }
        entries
    }

    /// Reports a line that belongs to no field.
    fn stray(&mut self, line: RepairLine<'_>, level: Level) {
        if line.tabs {
            self.notes.indentation(&[line], level.indent);
        }
        if !line.is_blank()
            && !line.text.starts_with('#')
            && !matches!(line.text, "..." | "---" | "{" | "}")
        {
            let message = format!("Line {} belongs to no field", quoted(line.text));
            self.findings.push(Diagnostic::new(
                Code::StrayLine,
                Span::new(line.start(), line.end()),
                message,
            ));
        }
    }

    /// Reads the lines of one field: as YAML if possible, else as what stands there.
    fn field(
        &mut self,
        lines: &[RepairLine<'_>],
        head: &FieldHead<'_>,
        level: Level,
    ) -> MappingEntry<'static> {
        let first = lines[0];
        let key_span = Span::new(
            first.start(),
            Position::new(
                first.number,
                count(first.indent + head.key.chars().count()) + 1,
            ),
        );
        if head.form == Form::NoSpace {
            let message = format!("No space after the colon of {}", quoted(head.key));
            self.findings
                .push(Diagnostic::new(Code::RepairedSpace, key_span, message));
            self.notes.colon(first, head);
        }
        let value = match self.as_yaml(lines, head) {
            Ok(value) => {
                self.notes.indentation(lines, level.indent);
                value
            }
            Err(fault) => self.broken(lines, head, &fault, level),
        };
        MappingEntry {
            key: head.key.to_owned().into(),
            key_span,
            value,
        }
    }

    /// Reads a field that is not YAML: nested lines one by one, everything else as text.
    fn broken(
        &mut self,
        lines: &[RepairLine<'_>],
        head: &FieldHead<'_>,
        fault: &Fault,
        level: Level,
    ) -> Node<'static> {
        self.notes.indentation(&lines[..1], level.indent);
        let below = &lines[1..];
        let first_below = below
            .iter()
            .find(|line| !line.is_blank() && !line.text.starts_with('#'));
        if let (true, Some(first), true) =
            (head.rest.is_empty(), first_below, level.depth < MAX_DEPTH)
        {
            let level = level.below(indent_below(lines[0].indent, *first));
            if is_item(first.text) {
                return self.list(below, first.indent, level);
            }
            if FieldHead::of(*first).is_some() {
                let entries = self.mapping(below, level);
                return Node::map(entries, first.start());
            }
        }
        let start = Position::new(lines[0].number, head.column);
        let end = lines
            .iter()
            .rev()
            .find(|line| !line.is_blank())
            .map_or(start, RepairLine::end);
        let span = Span::new(start, end.max(start));
        if fault.code != Code::YamlSyntax && fault.at != self.original {
            self.findings.push(fault.clone().into_diagnostic());
        }
        let base = lines[0].indent;
        let text = below
            .iter()
            .filter(|line| !line.is_comment(base))
            .map(|line| line.text);
        let (kind, code) = scalar::read(head.key, head.rest, text);
        let what = quoted(head.key);
        let message = match code {
            Code::RepairedColon => format!("Value of {what} has an unquoted `: `"),
            Code::RepairedBlockScalar => {
                format!("Text of {what} stands on the line of its `>` or `|`")
            }
            Code::RepairedReserved => {
                format!("Value of {what} starts with a character YAML reserves")
            }
            Code::RepairedQuotes => format!("Quotes of {what} do not match"),
            _ => format!("Value of {what} is not valid YAML: {}", fault.message),
        };
        self.findings.push(Diagnostic::new(code, span, message));
        let owned = match kind {
            scalar::RepairedValue::Text(text) => Kind::Scalar {
                text: text.into(),
                quoting: Quoting::Quoted,
            },
            scalar::RepairedValue::List(items) => Kind::List(
                items
                    .into_iter()
                    .map(|item| Node::scalar(item, Quoting::Quoted, span))
                    .collect(),
            ),
        };
        let node = Node { span, kind: owned };
        self.notes.value(lines, head, level.indent, &node);
        node
    }

    /// Reads lines as the items of one list.
    fn list(&mut self, lines: &[RepairLine<'_>], indent: usize, level: Level) -> Node<'static> {
        let mut items = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let next = at
                + 1
                + lines[at + 1..]
                    .iter()
                    .position(|line| line.indent <= indent && is_item(line.text))
                    .unwrap_or(lines.len() - at - 1);
            let line = lines[at];
            if is_item(line.text) {
                items.push(self.item(&lines[at..next], level));
            } else {
                self.stray(line, level);
            }
            at = next;
        }
        Node::list(items, lines[0].start())
    }

    /// Reads the lines of one item of a list: as YAML, as a mapping whose first field stands behind the dash, or as text.
    fn item(&mut self, lines: &[RepairLine<'_>], level: Level) -> Node<'static> {
        let fault = match self.item_as_yaml(lines) {
            Ok(value) => {
                self.notes.indentation(lines, level.indent);
                return value;
            }
            Err(fault) => fault,
        };
        let behind = lines[0].behind_dash();
        if level.depth < MAX_DEPTH
            && FieldHead::of(behind).is_some_and(|head| head.form == Form::Proper)
        {
            self.notes.indentation(&lines[..1], level.indent);
            let level = level.below(behind.indent - lines[0].indent);
            let lines: Vec<_> = std::iter::once(behind)
                .chain(lines[1..].iter().copied())
                .collect();
            let entries = self.mapping(&lines, level);
            return Node::map(entries, behind.start());
        }
        let head = FieldHead {
            key: "item",
            rest: behind.text,
            colon: 0,
            column: behind.start().column,
            form: Form::Proper,
        };
        self.broken(lines, &head, &fault, level)
    }
}
