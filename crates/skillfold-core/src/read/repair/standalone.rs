//! Parses a single field or list item as a separate YAML document.

use crate::codes::Code;
use crate::diagnostic::{Position, Report, Span};
use crate::read::frontmatter::saturating_u32;
use crate::read::line_reader;
use crate::read::repair::line::{FieldHead, RepairLine, plain_key, relative_indent};
use crate::read::repair::{Repairer, scalar};
use crate::read::yaml::{self, Fault, Kind, Node};

impl Repairer<'_> {
    /// Parses the lines of one field as a separate YAML document, reading tabs as spaces.
    pub(super) fn read_field_as_yaml(
        &mut self,
        lines: &[RepairLine<'_>],
        head: &FieldHead<'_>,
    ) -> Result<Node<'static>, Fault> {
        let first = lines[0];
        let nothing_below = lines[1..].iter().all(RepairLine::is_blank);
        if let (true, Some(value)) = (
            nothing_below,
            line_reader::read_inline(head.rest, Position::new(first.number, head.column)),
        ) {
            return Ok(value.into_owned());
        }
        // Skip the parser for two forms that YAML certainly refuses.
        if scalar::is_certainly_invalid(head.rest) {
            return Err(multiple_fields_fault(first));
        }
        let mut text = plain_key(head).to_owned();
        text.push_str(if head.rest.is_empty() { ":" } else { ": " });
        let prefix_chars = text.chars().count();
        text.push_str(head.rest);
        append_lines(&mut text, first.indent, &lines[1..]);
        let value = match self.parse_document(&text, lines)?.kind {
            Kind::Map(mut entries) if entries.len() == 1 => entries.swap_remove(0).value,
            _ => return Err(multiple_fields_fault(first)),
        };
        Ok(self.accept_value(
            value,
            lines,
            i64::from(head.column) - i64::from(saturating_u32(prefix_chars) + 1),
        ))
    }

    /// Parses the lines of one list item as a separate YAML document.
    pub(super) fn read_item_as_yaml(
        &mut self,
        lines: &[RepairLine<'_>],
    ) -> Result<Node<'static>, Fault> {
        let first = lines[0];
        let mut text = first.text.to_owned();
        append_lines(&mut text, first.indent, &lines[1..]);
        let value = match self.parse_document(&text, lines)?.kind {
            Kind::List(mut items) if items.len() == 1 => items.swap_remove(0),
            _ => return Err(multiple_fields_fault(first)),
        };
        Ok(self.accept_value(value, lines, i64::from(saturating_u32(first.indent))))
    }

    /// Parses the text of some lines as YAML. If that fails, joins JSON's escaped surrogate pairs and tries again.
    fn parse_document(
        &mut self,
        text: &str,
        lines: &[RepairLine<'_>],
    ) -> Result<Node<'static>, Fault> {
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
                self.change_log.record_surrogates(lines);
                Ok(root)
            }
        }
    }

    /// Takes a value that was parsed from lines shifted to the first column, and restores its positions. `first_shift`
    /// is the shift of the first line in columns; all other lines are shifted by its indentation.
    fn accept_value(
        &mut self,
        mut value: Node<'static>,
        lines: &[RepairLine<'_>],
        first_shift: i64,
    ) -> Node<'static> {
        if let Some(line) = lines.iter().find(|line| line.has_tabs) {
            let span = Span::new(Position::new(line.number, 1), line.start());
            self.findings
                .report(Code::RepairedTabs, span, "Tabs in the indentation");
        }
        self.field_count += value.count_keys();
        let first = lines[0];
        value.shift_columns(&|line| {
            if line == first.number {
                first_shift
            } else {
                i64::from(saturating_u32(first.indent))
            }
        });
        value
    }
}

/// Appends the lines below a field or item that was shifted to the first column.
fn append_lines(text: &mut String, indent: usize, lines: &[RepairLine<'_>]) {
    for line in lines {
        text.push('\n');
        text.extend(std::iter::repeat_n(' ', relative_indent(indent, *line)));
        text.push_str(line.untrimmed);
    }
    text.push('\n');
}

fn multiple_fields_fault(line: RepairLine<'_>) -> Fault {
    Fault {
        code: Code::YamlSyntax,
        at: line.start(),
        message: "Several fields where one is expected".to_owned(),
    }
}
