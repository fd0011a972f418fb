//! The difference between two versions of a skill, as lines and side by side. Control, bidirectional and tag characters are
//! shown as escapes: what a reader sees is what is there.

use similar::{ChangeTag, TextDiff};
use skillfold::core::diagnostic::visible;
use skillfold::store::change::FileEdit;

use crate::failure::Failure;
use crate::terminal::output::{BAD, BOLD, DIM, GOOD, Output, paint};

/// Unchanged lines around a change.
const CONTEXT_LINES: usize = 3;

/// Shows a unified diff in colours.
pub(crate) fn show(diff: &str, output: &mut Output) -> Result<(), Failure> {
    for line in diff.lines() {
        let style = match line.as_bytes() {
            [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] => BOLD,
            [b'@' | b'\\', ..] => DIM,
            [b'-', ..] => BAD,
            [b'+', ..] => GOOD,
            _ => anstyle::Style::new(),
        };
        output.show_drawing(paint(style, shown(line)))?;
    }
    Ok(())
}

/// A row of two versions side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// The path of a file, and what happens to it.
    File(String),
    /// Unchanged lines were left out here.
    Gap,
    /// A line that stays, or the lines of both versions at one place.
    Lines(Option<Side>, Option<Side>),
}

/// A line of one version, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) number: usize,
    pub(crate) text: String,
    pub(crate) is_changed: bool,
}

/// Returns the edits as rows.
pub(crate) fn rows(edits: &[FileEdit]) -> Vec<Row> {
    let mut rows = Vec::new();
    for edit in edits {
        let what = match (&edit.old, &edit.new) {
            (None, _) => " (new)",
            (_, None) => " (deleted)",
            _ => "",
        };
        rows.push(Row::File(format!("{}{what}", visible(edit.path.as_str()))));
        let text = |bytes: &Option<Vec<u8>>| {
            let bytes = bytes.as_deref().unwrap_or_default();
            String::from_utf8_lossy(bytes).into_owned()
        };
        file_rows(&text(&edit.old), &text(&edit.new), &mut rows);
    }
    rows
}

fn file_rows(old: &str, new: &str, rows: &mut Vec<Row>) {
    let diff = TextDiff::from_lines(old, new);
    for (number, group) in diff.grouped_ops(CONTEXT_LINES).iter().enumerate() {
        if number > 0 {
            rows.push(Row::Gap);
        }
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let side = |index: Option<usize>| Side {
                number: index.unwrap_or_default() + 1,
                text: shown(change.value().trim_end_matches(['\r', '\n'])),
                is_changed: change.tag() != ChangeTag::Equal,
            };
            match change.tag() {
                ChangeTag::Delete => removed.push(side(change.old_index())),
                ChangeTag::Insert => added.push(side(change.new_index())),
                ChangeTag::Equal => {
                    pair(&mut removed, &mut added, rows);
                    let (old, new) = (side(change.old_index()), side(change.new_index()));
                    rows.push(Row::Lines(Some(old), Some(new)));
                }
            }
        }
        pair(&mut removed, &mut added, rows);
    }
}

/// Puts removed and added lines side by side.
fn pair(removed: &mut Vec<Side>, added: &mut Vec<Side>, rows: &mut Vec<Row>) {
    let (mut old, mut new) = (removed.drain(..), added.drain(..));
    loop {
        match (old.next(), new.next()) {
            (None, None) => break,
            (old, new) => rows.push(Row::Lines(old, new)),
        }
    }
}

/// Returns a line as it is shown.
fn shown(line: &str) -> String {
    visible(&line.replace('\t', "    ")).into_owned()
}
