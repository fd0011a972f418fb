//! Reads one field or item as a YAML document of its own.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Position, Span};
use crate::read::frontmatter::count;
use crate::read::line_reader;
use crate::read::repair::line::{FieldHead, RepairLine, indent_below, plain_key};
use crate::read::repair::{Repair, scalar};
use crate::read::yaml::{self, Fault, Kind, Node};

impl Repair<'_> {
    /// Reads the lines of one field as a YAML document of its own, with tabs read as spaces.
    pub(super) fn as_yaml(
        &mut self,
        lines: &[RepairLine<'_>],
        head: &FieldHead<'_>,
    ) -> Result<Node<'static>, Fault> {
        let first = lines[0];
        let nothing_below = lines[1..].iter().all(RepairLine::is_blank);
        if let (true, Some(value)) = (
            nothing_below,
            line_reader::value(head.rest, Position::new(first.number, head.column)),
        ) {
            return Ok(value.into_owned());
        }
        // Two forms that YAML certainly refuses; there is no need to ask.
        if scalar::is_refused(head.rest) {
            return Err(not_one_field(first));
        }
        let mut text = plain_key(head).to_owned();
        text.push_str(if head.rest.is_empty() { ":" } else { ": " });
        let before = text.chars().count();
        text.push_str(head.rest);
        append_below(&mut text, first.indent, &lines[1..]);
        let value = match self.document(&text, lines)?.kind {
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
    pub(super) fn item_as_yaml(
        &mut self,
        lines: &[RepairLine<'_>],
    ) -> Result<Node<'static>, Fault> {
        let first = lines[0];
        let mut text = first.text.to_owned();
        append_below(&mut text, first.indent, &lines[1..]);
        let value = match self.document(&text, lines)?.kind {
            Kind::List(mut items) if items.len() == 1 => items.swap_remove(0),
            _ => return Err(not_one_field(first)),
        };
        Ok(self.accepted(value, lines, i64::from(count(first.indent))))
    }

    /// Reads a text of some lines as YAML; characters that JSON escapes in two halves are joined where YAML refuses them.
    fn document(&mut self, text: &str, lines: &[RepairLine<'_>]) -> Result<Node<'static>, Fault> {
        let first_line = lines[0].number;
        if let line_reader::LineReading::Tree(root) =
            line_reader::read(text, first_line, self.limits)
        {
            return Ok(root.into_owned());
        }
        match yaml::parse(text, first_line, self.limits) {
            Ok(root) => Ok(root.into_owned()),
            Err(fault) => {
                let joined = scalar::join_surrogates(text).ok_or(fault)?;
                let root = yaml::parse(&joined, first_line, self.limits)?.into_owned();
                self.notes.surrogates(lines);
                Ok(root)
            }
        }
    }

    /// Takes a value that YAML read from lines that were moved to the first column, and puts its places right again.
    fn accepted(
        &mut self,
        mut value: Node<'static>,
        lines: &[RepairLine<'_>],
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
}

/// Appends lines as they stand below a field or item that was moved to the first column.
fn append_below(text: &mut String, indent: usize, lines: &[RepairLine<'_>]) {
    for line in lines {
        text.push('\n');
        text.extend(std::iter::repeat_n(' ', indent_below(indent, *line)));
        text.push_str(line.whole);
    }
    text.push('\n');
}

fn not_one_field(line: RepairLine<'_>) -> Fault {
    Fault {
        code: Code::YamlSyntax,
        at: line.start(),
        message: "More than one field on the lines of one".to_owned(),
    }
}
