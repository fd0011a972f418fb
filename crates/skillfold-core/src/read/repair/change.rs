//! What has to change in a block so that YAML reads it as the repair did.

use crate::diagnostic::{Position, Span};
use crate::read::frontmatter::count;
use crate::read::repair::line::{FieldHead, RepairLine, indent_below};
use crate::read::repair::scalar;
use crate::read::yaml::Node;

/// One thing to write otherwise. Lines and columns are those of the file.
#[derive(Debug)]
pub(crate) enum Change {
    /// The indentation of a line becomes so many spaces.
    Indent { line: u32, indent: usize },
    /// The colon after a field's name, with what parts it from the value, becomes this.
    Colon { span: Span, text: &'static str },
    /// The text of a line has escapes that YAML does not know.
    Text { span: Span, text: String },
    /// A value is not YAML.
    Value(BrokenValue),
}

/// A value that was read as text, or as a list of texts.
#[derive(Debug)]
pub(crate) struct BrokenValue {
    /// From the value's first character to the end of its last line; comments after that are not part of it.
    pub(crate) span: Span,
    /// Whether nothing parts it from the colon or dash before it.
    pub(crate) glued: bool,
    /// The indentation that the field or item has, once it is put right.
    pub(crate) indent: usize,
    /// The indentation of the lines below, once it is put right; `None` if there are none.
    pub(crate) below: Option<usize>,
    /// What was read.
    pub(crate) value: Node<'static>,
    /// The lines it was read from, the one of the field without its name and the mark of a block scalar.
    pub(crate) lines: Vec<String>,
    /// Comments that stand between the lines and were not read.
    pub(crate) comments: Vec<String>,
}

/// Where changes are noted. Reading needs none.
pub(super) enum ChangeLog {
    Off,
    /// The changes of each field of the top level.
    On(Vec<Vec<Change>>),
}

impl ChangeLog {
    /// Returns the changes of each field that needs some.
    pub(super) fn into_changes(self) -> Vec<Vec<Change>> {
        match self {
            Self::Off => Vec::new(),
            Self::On(mut fields) => {
                fields.retain(|changes| !changes.is_empty());
                fields
            }
        }
    }

    /// Starts the changes of another field of the top level.
    pub(super) fn start_field(&mut self) {
        if let Self::On(fields) = self {
            fields.push(Vec::new());
        }
    }

    /// Notes the indentation of lines that stay as they are but for it: the first is put at `indent`.
    pub(super) fn indentation(&mut self, lines: &[RepairLine<'_>], indent: usize) {
        let Self::On(fields) = self else {
            return;
        };
        let base = lines[0].indent;
        let wanted = |at: usize, line: &RepairLine<'_>| match at {
            0 => indent,
            _ => indent + indent_below(base, *line),
        };
        let changes = lines
            .iter()
            .enumerate()
            .filter(|(at, line)| {
                let is_free = line.is_blank() || (*at > 0 && line.is_comment(base));
                // The line of a dash is put right with its item.
                !line.behind_dash && (line.tabs || (!is_free && line.indent != wanted(*at, line)))
            })
            .map(|(at, line)| Change::Indent {
                line: line.number,
                indent: wanted(at, line),
            });
        if let Some(field) = fields.last_mut() {
            field.extend(changes);
        }
    }

    /// Notes the colon of a field whose name is not followed by a colon and a space.
    pub(super) fn colon(&mut self, line: RepairLine<'_>, head: &FieldHead<'_>) {
        let at = |column| Position::new(line.number, column);
        self.push(|| {
            let before = line.indent + line.text[..head.colon].chars().count();
            Change::Colon {
                span: Span::new(at(count(before) + 1), at(head.column)),
                text: if head.rest.is_empty() { ":" } else { ": " },
            }
        });
    }

    /// Notes the lines that have characters which JSON escapes in two halves.
    pub(super) fn surrogates(&mut self, lines: &[RepairLine<'_>]) {
        for line in lines {
            if let (Self::On(_), Some(text)) = (&self, scalar::join_surrogates(line.text)) {
                let span = Span::new(line.start(), line.end());
                self.push(|| Change::Text { span, text });
            }
        }
    }

    /// Notes a value that was read from `lines` and is not YAML; its field or item belongs at `indent`.
    pub(super) fn value(
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
                glued: head.rest.is_empty(),
                indent,
                below: text
                    .clone()
                    .find(|line| !line.is_blank())
                    .map(|line| indent + indent_below(base, *line)),
                value: node.clone(),
                lines: Some(scalar::without_mark(head.rest))
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
