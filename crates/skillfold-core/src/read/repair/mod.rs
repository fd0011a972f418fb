//! Reads frontmatter that YAML refuses, field by field, so that a stray colon does not lose a skill.
//!
//! The block is split into fields by its lines. Each field is read as YAML on its own; only a field that fails is read
//! as the text that stands there. The original error is reported first, then each repair with its place.

mod line;
mod value;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Position, Span, quoted};
use crate::limits::Limits;
use crate::read::frontmatter::count;
use crate::read::lines;
use crate::read::repair::line::{
    Form, Head, Line, field_end, field_start, indent_below, is_item, plain_key,
};
use crate::read::yaml::{self, Entry, Fault, Kind, Node, Style};

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
    let lines: Vec<Line<'_>> = text
        .split('\n')
        .zip(first_line..)
        .map(|(text, number)| Line::new(text, number))
        .collect();
    let mut repair = Repair {
        limits,
        original: fault.at,
        findings: Vec::new(),
        fields: 0,
    };
    let entries = repair.mapping(&lines, 0);
    if entries.is_empty() {
        return None;
    }
    findings.push(original);
    findings.append(&mut repair.findings);
    Some(Node::map(entries, Position::new(first_line, 1)))
}

/// Reads a description that starts with `#` as text; to YAML it is a comment, and the description empty.
pub(crate) fn commented_description(
    root: &mut Node<'_>,
    text: &str,
    first_line: u32,
    findings: &mut Vec<Diagnostic>,
) {
    let Kind::Map(entries) = &mut root.kind else {
        return;
    };
    let Some(entry) = entries
        .iter_mut()
        .find(|entry| entry.key == "description" && entry.value.is_null())
    else {
        return;
    };
    let number = entry.key_span.start.line;
    let Some(line) = text.split('\n').nth((number - first_line) as usize) else {
        return;
    };
    let Some(head) = Head::of(Line::new(line, number)).filter(|head| head.rest.starts_with('#'))
    else {
        return;
    };
    let start = Position::new(number, head.column);
    let span = Span::new(
        start,
        Position::new(number, head.column + count(head.rest.chars().count())),
    );
    let message = "Value of `description` starts with a character YAML reserves";
    findings.push(Diagnostic::new(Code::RepairedReserved, span, message));
    entry.value = Node::scalar(head.rest.to_owned(), Style::Quoted, span);
}

struct Repair<'l> {
    limits: &'l Limits,
    /// Where YAML gave up, which is reported once.
    original: Position,
    findings: Vec<Diagnostic>,
    fields: usize,
}

impl Repair<'_> {
    /// Reads lines as the fields of one mapping.
    fn mapping(&mut self, lines: &[Line<'_>], depth: usize) -> Vec<Entry<'static>> {
        let Some(base) = lines
            .iter()
            .find(|line| Head::of(**line).is_some())
            .map(|line| line.indent)
        else {
            return Vec::new();
        };
        let mut entries = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let Some(head) = field_start(lines[at], base, None) else {
                self.stray(lines[at]);
                at += 1;
                continue;
            };
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
            entries.push(self.field(&lines[at..next], &head, depth));
            at = next;
        }
        entries
    }

    /// Reports a line that belongs to no field.
    fn stray(&mut self, line: Line<'_>) {
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
    fn field(&mut self, lines: &[Line<'_>], head: &Head<'_>, depth: usize) -> Entry<'static> {
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
        }
        let value = match self.as_yaml(lines, head) {
            Ok(value) => value,
            Err(fault) => self.broken(lines, head, &fault, depth),
        };
        Entry {
            key: head.key.to_owned().into(),
            key_span,
            value,
        }
    }

    /// Reads the lines of one field as a YAML document of its own, with tabs read as spaces.
    fn as_yaml(&mut self, lines: &[Line<'_>], head: &Head<'_>) -> Result<Node<'static>, Fault> {
        let first = lines[0];
        let nothing_below = lines[1..].iter().all(Line::is_blank);
        if let (true, Some(value)) = (
            nothing_below,
            lines::value(head.rest, Position::new(first.number, head.column)),
        ) {
            return Ok(value.into_owned());
        }
        // Two forms that YAML certainly refuses; there is no need to ask.
        if value::is_refused(head.rest) {
            return Err(not_one_field(first));
        }
        let mut text = plain_key(head).to_owned();
        text.push_str(if head.rest.is_empty() { ":" } else { ": " });
        let before = text.chars().count();
        text.push_str(head.rest);
        append_below(&mut text, first.indent, &lines[1..]);
        let value = match self.document(&text, first.number)?.kind {
            Kind::Map(mut entries) if entries.len() == 1 => entries.swap_remove(0).value,
            _ => return Err(not_one_field(first)),
        };
        Ok(self.accepted(
            value,
            lines,
            i64::from(head.column) - i64::from(count(before) + 1),
        ))
    }

    /// Reads the lines of one item of a list as a YAML document of its own.
    fn item_as_yaml(&mut self, lines: &[Line<'_>]) -> Result<Node<'static>, Fault> {
        let first = lines[0];
        let mut text = first.text.to_owned();
        append_below(&mut text, first.indent, &lines[1..]);
        let value = match self.document(&text, first.number)?.kind {
            Kind::List(mut items) if items.len() == 1 => items.swap_remove(0),
            _ => return Err(not_one_field(first)),
        };
        Ok(self.accepted(value, lines, i64::from(count(first.indent))))
    }

    /// Reads a text as YAML; characters that JSON escapes in two halves are joined where YAML refuses them.
    fn document(&self, text: &str, first_line: u32) -> Result<Node<'static>, Fault> {
        if let lines::Reading::Tree(root) = lines::read(text, first_line, self.limits) {
            return Ok(root.into_owned());
        }
        match yaml::parse(text, first_line, self.limits) {
            Ok(root) => Ok(root.into_owned()),
            Err(fault) => match value::join_surrogates(text) {
                Some(joined) => yaml::parse(&joined, first_line, self.limits).map(Node::into_owned),
                None => Err(fault),
            },
        }
    }

    /// Takes a value that YAML read from lines that were moved to the first column, and puts its places right again.
    fn accepted(
        &mut self,
        mut value: Node<'static>,
        lines: &[Line<'_>],
        moved: i64,
    ) -> Node<'static> {
        if let Some(line) = lines.iter().find(|line| line.tabs) {
            let span = Span::new(Position::new(line.number, 1), line.start());
            self.findings.push(Diagnostic::new(
                Code::RepairedTabs,
                span,
                "Tabs in the indentation",
            ));
        }
        self.fields += value.keys();
        let first = lines[0];
        value.move_columns(&|line| {
            if line == first.number {
                moved
            } else {
                i64::from(count(first.indent))
            }
        });
        value
    }

    /// Reads a field that is not YAML: nested lines one by one, everything else as text.
    fn broken(
        &mut self,
        lines: &[Line<'_>],
        head: &Head<'_>,
        fault: &Fault,
        depth: usize,
    ) -> Node<'static> {
        let below = &lines[1..];
        let first_below = below
            .iter()
            .find(|line| !line.is_blank() && !line.text.starts_with('#'));
        if let (true, Some(first), true) = (head.rest.is_empty(), first_below, depth < MAX_DEPTH) {
            if is_item(first.text) {
                return self.list(below, first.indent, depth + 1);
            }
            if Head::of(*first).is_some() {
                let entries = self.mapping(below, depth + 1);
                return Node::map(entries, first.start());
            }
        }
        let start = Position::new(lines[0].number, head.column);
        let end = lines
            .iter()
            .rev()
            .find(|line| !line.is_blank())
            .map_or(start, Line::end);
        let span = Span::new(start, end.max(start));
        if fault.code != Code::YamlSyntax && fault.at != self.original {
            self.findings.push(fault.clone().into_diagnostic());
        }
        let base = lines[0].indent;
        let is_comment = |line: &&Line<'_>| line.indent <= base && line.text.starts_with('#');
        let text = below
            .iter()
            .filter(|line| !is_comment(line))
            .map(|line| line.text);
        let (kind, code) = value::read(head.key, head.rest, text);
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
            value::Value::Text(text) => Kind::Scalar {
                text: text.into(),
                style: Style::Quoted,
            },
            value::Value::List(items) => Kind::List(
                items
                    .into_iter()
                    .map(|item| Node::scalar(item, Style::Quoted, span))
                    .collect(),
            ),
        };
        Node { span, kind: owned }
    }

    /// Reads lines as the items of one list.
    fn list(&mut self, lines: &[Line<'_>], indent: usize, depth: usize) -> Node<'static> {
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
                items.push(self.item(&lines[at..next], depth));
            } else {
                self.stray(line);
            }
            at = next;
        }
        Node::list(items, lines[0].start())
    }

    /// Reads the lines of one item of a list: as YAML, as a mapping whose first field stands behind the dash, or as text.
    fn item(&mut self, lines: &[Line<'_>], depth: usize) -> Node<'static> {
        let fault = match self.item_as_yaml(lines) {
            Ok(value) => return value,
            Err(fault) => fault,
        };
        let behind = lines[0].behind_dash();
        if depth < MAX_DEPTH && Head::of(behind).is_some_and(|head| head.form == Form::Proper) {
            let lines: Vec<_> = std::iter::once(behind)
                .chain(lines[1..].iter().copied())
                .collect();
            let entries = self.mapping(&lines, depth + 1);
            return Node::map(entries, behind.start());
        }
        let head = Head {
            key: "item",
            rest: behind.text,
            column: behind.start().column,
            form: Form::Proper,
        };
        self.broken(lines, &head, &fault, depth)
    }
}

/// Appends lines as they stand below a field or item that was moved to the first column.
fn append_below(text: &mut String, indent: usize, lines: &[Line<'_>]) {
    for line in lines {
        text.push('\n');
        text.extend(std::iter::repeat_n(' ', indent_below(indent, *line)));
        text.push_str(line.whole);
    }
    text.push('\n');
}

fn not_one_field(line: Line<'_>) -> Fault {
    Fault {
        code: Code::YamlSyntax,
        at: line.start(),
        message: "More than one field on the lines of one".to_owned(),
    }
}
