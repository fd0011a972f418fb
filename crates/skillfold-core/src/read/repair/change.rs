//! The changes that make YAML read a block as the repair did.

use crate::diagnostic::{Position, Span};
use crate::read::frontmatter::saturating_u32;
use crate::read::repair::line::{FieldHead, RepairLine, relative_indent};
use crate::read::repair::scalar;
use crate::read::yaml::Node;

/// One change to the text. Lines and columns are those of the file.
#[derive(Debug)]
pub(crate) enum Change {
    /// Indents a line by `indent` spaces.
    Indent { line: u32, indent: usize },
    /// Replaces the colon after a field's name, with the white space that follows it.
    Colon { span: Span, text: &'static str },
    /// Replaces the text of a line that has escapes unknown to YAML.
    Text { span: Span, text: String },
    /// Rewrites a value that is not valid YAML.
    Value(BrokenValue),
}

/// A value that was read as text, or as a list of texts.
#[derive(Debug)]
pub(crate) struct BrokenValue {
    /// From the value's first character to the end of its last line, without trailing comments.
    pub(crate) span: Span,
    /// Whether the value on the field's line is empty, so that a space must be written before the new one.
    pub(crate) needs_space: bool,
    /// The corrected indentation of the field or item.
    pub(crate) indent: usize,
    /// The corrected indentation of the lines below; `None` if there are none.
    pub(crate) below_indent: Option<usize>,
    /// The value as it was read.
    pub(crate) value: Node<'static>,
    /// The lines it was read from, the first one without the field's name and a block scalar's header.
    pub(crate) lines: Vec<String>,
    /// Comments between the lines, which were not read.
    pub(crate) comments: Vec<String>,
}

/// Records changes, unless only the value is wanted.
pub(super) enum ChangeLog {
    Off,
    /// The changes to each top-level field.
    On(Vec<Vec<Change>>),
}

impl ChangeLog {
    /// Returns the changes to each field that needs any.
    pub(super) fn into_changes(self) -> Vec<Vec<Change>> {
        match self {
            Self::Off => Vec::new(),
            Self::On(mut fields) => {
                fields.retain(|changes| !changes.is_empty());
                fields
            }
        }
    }

    /// Starts recording the changes to the next top-level field.
    pub(super) fn start_field(&mut self) {
        if let Self::On(fields) = self {
            fields.push(Vec::new());
        }
    }

    /// Records the indentation of lines that are otherwise unchanged. The first is moved to `indent`, the others with
    /// it.
    pub(super) fn record_indentation(&mut self, lines: &[RepairLine<'_>], indent: usize) {
        let Self::On(fields) = self else {
            return;
        };
        let base = lines[0].indent;
        let wanted = |at: usize, line: &RepairLine<'_>| match at {
            0 => indent,
            _ => indent + relative_indent(base, *line),
        };
        let changes = lines
            .iter()
            .enumerate()
            .filter(|(at, line)| {
                let is_exempt = line.is_blank() || (*at > 0 && line.is_comment(base));
                // The line of a dash is indented with its item.
                !line.is_after_dash
                    && (line.has_tabs || (!is_exempt && line.indent != wanted(*at, line)))
            })
            .map(|(at, line)| Change::Indent {
                line: line.number,
                indent: wanted(at, line),
            });
        if let Some(field) = fields.last_mut() {
            field.extend(changes);
        }
    }

    /// Records the colon of a field that is full-width or lacks the space after it.
    pub(super) fn record_colon(&mut self, line: RepairLine<'_>, head: &FieldHead<'_>) {
        let at = |column| Position::new(line.number, column);
        self.push(|| {
            let before = line.indent + line.text[..head.colon].chars().count();
            Change::Colon {
                span: Span::new(at(saturating_u32(before) + 1), at(head.column)),
                text: if head.rest.is_empty() { ":" } else { ": " },
            }
        });
    }

    /// Records the lines with escaped surrogate pairs.
    pub(super) fn record_surrogates(&mut self, lines: &[RepairLine<'_>]) {
        for line in lines {
            if let (Self::On(_), Some(text)) = (&self, scalar::join_surrogates(line.text)) {
                let span = Span::new(line.start(), line.end());
                self.push(|| Change::Text { span, text });
            }
        }
    }

    /// Records a value that was read from `lines` and is not valid YAML; `indent` is the corrected indentation of its
    /// field or item.
    pub(super) fn record_value(
        &mut self,
        lines: &[RepairLine<'_>],
        head: &FieldHead<'_>,
        indent: usize,
        node: &Node<'static>,
    ) {
        self.push(|| {
            let base = lines[0].indent;
            let is_text = |line: &RepairLine<'_>| !line.is_blank() && !line.is_comment(base);
            let last = lines[1..].iter().rposition(is_text).map_or(0, |at| at + 1);
            let (below, end) = (&lines[1..=last], lines[last].end());
            let text = below.iter().filter(|line| !line.is_comment(base));
            let comments = below.iter().filter(|line| line.is_comment(base));
            Change::Value(BrokenValue {
                span: Span::new(node.span.start, end.max(node.span.start)),
                needs_space: head.rest.is_empty(),
                indent,
                below_indent: text
                    .clone()
                    .find(|line| !line.is_blank())
                    .map(|line| indent + relative_indent(base, *line)),
                value: node.clone(),
                lines: Some(scalar::without_block_header(head.rest))
                    .filter(|first| !first.is_empty())
                    .into_iter()
                    .chain(text.map(|line| line.text))
                    .map(str::to_owned)
                    .collect(),
                comments: comments
                    .map(|line| format!("{:1$}{2}", "", line.indent, line.text))
                    .collect(),
            })
        });
    }

    fn push(&mut self, change: impl FnOnce() -> Change) {
        if let Self::On(fields) = self
            && let Some(field) = fields.last_mut()
        {
            field.push(change());
        }
    }
}
