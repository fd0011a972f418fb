//! Reads frontmatter that YAML refuses field by field, so that a stray colon does not cost a skill.
//!
//! The block is split into fields by its lines. Each field is parsed as YAML separately; only a field that fails is
//! read as text. The original error is reported first, then each repair with its position.

mod line;
mod scalar;

mod change;
mod comment;
mod standalone;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Position, Report, Span, quoted};
use crate::limits::Limits;
use crate::read::frontmatter::saturating_u32;
use crate::read::repair::change::ChangeLog;
use crate::read::repair::line::{
    FieldHead, Form, RepairLine, find_field_end, is_list_item, parse_field_start, relative_indent,
};
use crate::read::yaml::{self, Fault, Kind, MappingEntry, Node, Quoting};

pub(crate) use change::{BrokenValue, Change};
pub(crate) use comment::recover_commented_description;
pub(crate) use scalar::find_closing_quote;

/// Maximum nesting at which broken lists and mappings are read as such; deeper ones are read as text.
const MAX_DEPTH: usize = 4;

/// Reads a block that YAML refused with `fault`; `None` if it has no fields.
pub(crate) fn repair(
    text: &str,
    first_line: u32,
    fault: &Fault,
    limits: &Limits,
    findings: &mut Vec<Diagnostic>,
) -> Option<Node<'static>> {
    let original = fault.clone().into_diagnostic();
    let mut repairer = Repairer {
        limits,
        first_fault: fault.at,
        findings: Vec::new(),
        field_count: 0,
        change_log: ChangeLog::Off,
    };
    let entries = repairer.read_mapping(&number_lines(text, first_line), Level::default());
    if entries.is_empty() {
        return None;
    }
    findings.push(original);
    findings.append(&mut repairer.findings);
    Some(Node::map(entries, Position::new(first_line, 1)))
}

/// Returns the changes, grouped by top-level field, that make YAML read a block as [`repair`] and
/// [`recover_commented_description`] did.
pub(crate) fn find_changes(text: &str, first_line: u32, limits: &Limits) -> Vec<Vec<Change>> {
    let mut change_log = ChangeLog::On(Vec::new());
    let mut root = match yaml::parse(text, first_line, limits) {
        Ok(root) => root,
        Err(fault) => {
            let lines = number_lines(text, first_line);
            let level = Level {
                depth: 0,
                indent: line::min_field_indent(&lines),
            };
            let mut repairer = Repairer {
                limits,
                first_fault: fault.at,
                findings: Vec::new(),
                field_count: 0,
                change_log,
            };
            let entries = repairer.read_mapping(&lines, level);
            change_log = repairer.change_log;
            Node::map(entries, Position::new(first_line, 1))
        }
    };
    if let Some((line, head)) = comment::find_commented_line(&mut root, text, first_line) {
        change_log.start_field();
        change_log.record_value(
            &[line],
            &head,
            line.indent,
            &comment::comment_as_value(line, &head),
        );
    }
    change_log.into_changes()
}

fn number_lines(text: &str, first_line: u32) -> Vec<RepairLine<'_>> {
    text.split('\n')
        .zip(first_line..)
        .map(|(text, number)| RepairLine::new(text, number))
        .collect()
}

struct Repairer<'l> {
    limits: &'l Limits,
    /// Where the YAML parser failed on the whole block; reported only once.
    first_fault: Position,
    findings: Vec<Diagnostic>,
    field_count: usize,
    change_log: ChangeLog,
}

/// Nesting level of the fields of a mapping or the items of a list.
#[derive(Clone, Copy, Default)]
struct Level {
    depth: usize,
    /// The indentation they should have.
    indent: usize,
}

impl Level {
    /// Returns the next level, indented by `indent` more characters.
    fn nested(self, indent: usize) -> Self {
        Self {
            depth: self.depth + 1,
            indent: self.indent + indent,
        }
    }
}

impl Repairer<'_> {
    /// Reads lines as the fields of a mapping.
    fn read_mapping(
        &mut self,
        lines: &[RepairLine<'_>],
        level: Level,
    ) -> Vec<MappingEntry<'static>> {
        let Some(base) = lines
            .iter()
            .find(|line| FieldHead::parse(**line).is_some())
            .map(|line| line.indent)
        else {
            return Vec::new();
        };
        let mut entries = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let Some(head) = parse_field_start(lines[at], base, None) else {
                self.report_stray(lines[at], level);
                at += 1;
                continue;
            };
            if level.depth == 0 {
                self.change_log.start_field();
            }
            let next = find_field_end(lines, at, base, &head);
            if self.field_count >= self.limits.yaml_keys {
                let message = format!(
                    "More than {} fields; the rest was left out",
                    self.limits.yaml_keys
                );
                self.findings
                    .report(Code::YamlTooManyKeys, Span::at(lines[at].start()), message);
                break;
            }
            self.field_count += 1;
            if lines[at].indent > base {
                let message = format!("Field {} is indented unlike the others", quoted(head.key));
                self.findings
                    .report(Code::RepairedIndent, Span::at(lines[at].start()), message);
            }
            entries.push(self.read_field(&lines[at..next], &head, level));
            at = next;
        }
        entries
    }

    /// Reports a line that belongs to no field.
    fn report_stray(&mut self, line: RepairLine<'_>, level: Level) {
        if line.has_tabs {
            self.change_log.record_indentation(&[line], level.indent);
        }
        if !line.is_blank()
            && !line.text.starts_with('#')
            && !matches!(line.text, "..." | "---" | "{" | "}")
        {
            let message = format!("Line {} belongs to no field", quoted(line.text));
            self.findings.report(
                Code::StrayLine,
                Span::new(line.start(), line.end()),
                message,
            );
        }
    }

    /// Reads the lines of one field, as YAML if possible.
    fn read_field(
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
                saturating_u32(first.indent + head.key.chars().count()) + 1,
            ),
        );
        if head.form == Form::NoSpace {
            let message = format!("No space after the colon of {}", quoted(head.key));
            self.findings.report(Code::RepairedSpace, key_span, message);
            self.change_log.record_colon(first, head);
        }
        let value = match self.read_field_as_yaml(lines, head) {
            Ok(value) => {
                self.change_log.record_indentation(lines, level.indent);
                value
            }
            Err(fault) => self.read_broken(lines, head, &fault, level),
        };
        MappingEntry {
            key: head.key.to_owned().into(),
            key_span,
            value,
        }
    }

    /// Reads the value of a field or item that is not valid YAML: nested lines one by one, everything else as text.
    fn read_broken(
        &mut self,
        lines: &[RepairLine<'_>],
        head: &FieldHead<'_>,
        fault: &Fault,
        level: Level,
    ) -> Node<'static> {
        self.change_log
            .record_indentation(&lines[..1], level.indent);
        let below = &lines[1..];
        let first_below = below
            .iter()
            .find(|line| !line.is_blank() && !line.text.starts_with('#'));
        if let (true, Some(first), true) =
            (head.rest.is_empty(), first_below, level.depth < MAX_DEPTH)
        {
            let level = level.nested(relative_indent(lines[0].indent, *first));
            if is_list_item(first.text) {
                return self.read_list(below, first.indent, level);
            }
            if FieldHead::parse(*first).is_some() {
                let entries = self.read_mapping(below, level);
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
        if fault.code != Code::YamlSyntax && fault.at != self.first_fault {
            self.findings.push(fault.clone().into_diagnostic());
        }
        let base = lines[0].indent;
        let text = below
            .iter()
            .filter(|line| !line.is_comment(base))
            .map(|line| line.text);
        let (value, code) = scalar::read(head.key, head.rest, text);
        let what = quoted(head.key);
        let message = match code {
            Code::RepairedColon => format!("Value of {what} has an unquoted `: `"),
            Code::RepairedBlockScalar => {
                format!("Text of {what} is on the same line as its `>` or `|`")
            }
            Code::RepairedReserved => {
                format!("Value of {what} starts with a character YAML reserves")
            }
            Code::RepairedQuotes => format!("Quotes of {what} do not match"),
            _ => format!("Value of {what} is not valid YAML: {}", fault.message),
        };
        self.findings.report(code, span, message);
        let kind = match value {
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
        let node = Node { span, kind };
        self.change_log
            .record_value(lines, head, level.indent, &node);
        node
    }

    /// Reads lines as the items of a list.
    fn read_list(
        &mut self,
        lines: &[RepairLine<'_>],
        indent: usize,
        level: Level,
    ) -> Node<'static> {
        let mut items = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let next = at
                + 1
                + lines[at + 1..]
                    .iter()
                    .position(|line| line.indent <= indent && is_list_item(line.text))
                    .unwrap_or(lines.len() - at - 1);
            let line = lines[at];
            if is_list_item(line.text) {
                items.push(self.read_item(&lines[at..next], level));
            } else {
                self.report_stray(line, level);
            }
            at = next;
        }
        Node::list(items, lines[0].start())
    }

    /// Reads the lines of one list item: as YAML, as a mapping whose first field follows the dash, or as text.
    fn read_item(&mut self, lines: &[RepairLine<'_>], level: Level) -> Node<'static> {
        let fault = match self.read_item_as_yaml(lines) {
            Ok(value) => {
                self.change_log.record_indentation(lines, level.indent);
                return value;
            }
            Err(fault) => fault,
        };
        let first = lines[0].without_dash();
        if level.depth < MAX_DEPTH
            && FieldHead::parse(first).is_some_and(|head| head.form == Form::Proper)
        {
            self.change_log
                .record_indentation(&lines[..1], level.indent);
            let level = level.nested(first.indent - lines[0].indent);
            let lines: Vec<_> = std::iter::once(first)
                .chain(lines[1..].iter().copied())
                .collect();
            let entries = self.read_mapping(&lines, level);
            return Node::map(entries, first.start());
        }
        let head = FieldHead {
            key: "item",
            rest: first.text,
            colon: 0,
            column: first.start().column,
            form: Form::Proper,
        };
        self.read_broken(lines, &head, &fault, level)
    }
}
