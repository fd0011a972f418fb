//! Text that fits the terminal: tables, cut cells and wrapped lines.

use std::borrow::Cow;
use std::fmt::Write as _;

use anstyle::Style;
use skillfold::core::diagnostic::visible;
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, wrap};
use unicode_width::UnicodeWidthChar;

/// The most columns that a cell is padded to; a longer one pushes only its own line.
const MAX_PADDED_COLUMNS: usize = 40;

/// The fewest columns that the last column of a table gets.
const MIN_LAST_COLUMNS: usize = 32;

/// The columns between two cells.
const GAP: usize = 2;

/// Rows of cells. All but the last cell of a row are aligned.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Vec<(Style, String)>>,
    indent: usize,
}

impl Table {
    /// Returns an empty table whose lines start with this many spaces.
    pub(crate) fn indented(indent: usize) -> Self {
        Self {
            rows: Vec::new(),
            indent,
        }
    }

    /// Adds a row; hidden characters of its cells become visible.
    pub(crate) fn row<const N: usize>(&mut self, cells: [(Style, &str); N]) {
        let cells = cells.map(|(style, text)| (style, visible(text).into_owned()));
        self.rows.push(cells.into());
    }

    /// Returns the lines. If the terminal's columns are known, no line is wider: cells are cut, the last one most.
    pub(crate) fn lines(&self, columns: Option<usize>) -> Vec<String> {
        let widths = self.widths(columns);
        let row_line = |row: &Vec<(Style, String)>| {
            let (mut line, mut used) = (" ".repeat(self.indent), self.indent);
            for (index, (style, text)) in row.iter().enumerate() {
                let is_last = index + 1 == row.len();
                let width = match (is_last, columns) {
                    (true, Some(columns)) => columns.saturating_sub(used).max(1),
                    (true, None) => usize::MAX,
                    (false, _) => widths[index],
                };
                let text = match columns {
                    Some(_) => cut(text, width),
                    None => Cow::Borrowed(&**text),
                };
                if !text.is_empty() {
                    let _ = write!(line, "{style}{text}{style:#}");
                }
                if !is_last {
                    let padding = width.saturating_sub(self::width(&text)) + GAP;
                    line.push_str(&" ".repeat(padding));
                    used += self::width(&text) + padding;
                }
            }
            line.truncate(line.trim_end().len());
            line
        };
        self.rows.iter().map(row_line).collect()
    }

    /// Returns the width of each column but the last. If they leave too little for the last one, the widest give way.
    fn widths(&self, columns: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.rows {
            for (index, (_, text)) in row.iter().enumerate().take(row.len().saturating_sub(1)) {
                if widths.len() <= index {
                    widths.push(0);
                }
                widths[index] = width(text).min(MAX_PADDED_COLUMNS).max(widths[index]);
            }
        }
        let Some(columns) = columns else {
            return widths;
        };
        let gaps = self.indent + widths.len() * GAP;
        let last = MIN_LAST_COLUMNS.min(columns * 2 / 5);
        let available = columns.saturating_sub(gaps + last);
        while widths.iter().sum::<usize>() > available.max(widths.len())
            && let Some(widest) = widths.iter_mut().max()
        {
            *widest -= 1;
        }
        widths
    }
}

/// Returns the columns that a text takes, character by character, as most terminals count them.
fn width(text: &str) -> usize {
    text.chars().filter_map(UnicodeWidthChar::width).sum()
}

/// Returns a text that takes at most this many columns; the end is cut off if it takes more.
pub(crate) fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mut used = 1;
    let mut end = 0;
    for (offset, c) in text.char_indices() {
        used += c.width().unwrap_or_default();
        if used > columns {
            break;
        }
        end = offset + c.len_utf8();
    }
    Cow::Owned(format!("{}…", text[..end].trim_end()))
}

/// Wraps each line that is wider than the terminal between words. The rest is indented as its line, and a little more.
pub(crate) fn wrap_lines(text: &str, columns: usize) -> Cow<'_, str> {
    if text.lines().all(|line| display_width(line) <= columns) {
        return Cow::Borrowed(text);
    }
    let wrapped = text.split('\n').map(|line| wrap_line(line, columns));
    Cow::Owned(wrapped.collect::<Vec<_>>().join("\n"))
}

fn wrap_line(line: &str, columns: usize) -> String {
    let indent = line.len() - line.trim_start_matches(' ').len();
    wrap_at(line, indent + 2, columns)
}

/// Wraps a line between words; the rest starts at a column.
pub(crate) fn wrap_at(line: &str, indent: usize, columns: usize) -> String {
    let indent = " ".repeat(indent.min(columns / 2));
    // A word that is too long, such as a path, is left whole: it can be copied.
    let options = Options::new(columns)
        .subsequent_indent(&indent)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false);
    wrap(line, options).join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Table, cut, width, wrap_lines};
    use crate::terminal::output::{BOLD, DIM, paint};
    use anstyle::Style;
    use proptest::prelude::*;

    fn table(rows: &[[&str; 3]]) -> Table {
        let mut table = Table::indented(2);
        for row in rows {
            table.row(row.map(|cell| (Style::new(), cell)));
        }
        table
    }

    #[test]
    fn wide_characters_are_counted_by_their_columns() {
        let table = table(&[["部署", "user", "first"], ["a", "project", "second"]]);
        let lines = table.lines(None);
        assert_eq!(lines, ["  部署  user     first", "  a     project  second"]);
    }

    #[test]
    fn one_long_cell_shifts_only_its_own_line() {
        let long = "x".repeat(60);
        let table = table(&[[&long, "user", "first"], ["a", "user", "second"]]);
        let lines = table.lines(None);
        assert_eq!(lines[0], format!("  {long}  user  first"));
        assert_eq!(lines[1], format!("  {:40}  user  second", "a"));
        for line in table.lines(Some(80)) {
            assert!(width(&line) <= 80, "{line}");
        }
    }

    #[test]
    fn wrapped_line_keeps_its_indentation_and_its_words() {
        let text = format!(
            "  {}: aaa bbb ccc ddd /a/very/long/path/of/a/file",
            paint(DIM, "hint")
        );
        let wrapped = wrap_lines(&text, 20);
        let expected = format!(
            "  {}: aaa bbb ccc\n    ddd\n    /a/very/long/path/of/a/file",
            paint(DIM, "hint")
        );
        assert_eq!(wrapped, expected);
        assert_eq!(wrap_lines("a b", 3), "a b");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(
            rows in prop::collection::vec((".{0,90}", ".{0,30}", ".{0,200}"), 1..8),
            columns in 72_usize..160,
        ) {
            let mut table = Table::indented(2);
            for (id, place, text) in &rows {
                let cells = [id, place, text].map(|cell| cell.replace(|c: char| c.is_control(), ""));
                let [id, place, text] = cells;
                table.row([(BOLD, &id), (DIM, &place), (Style::new(), &text)]);
            }
            for line in table.lines(Some(columns)) {
                let plain = anstream::adapter::strip_str(&line).to_string();
                prop_assert!(width(&plain) <= columns, "{plain:?}");
            }
        }

        #[test]
        fn cut_text_is_a_prefix(text in ".{0,80}", columns in 1_usize..60) {
            let cut = cut(&text, columns);
            prop_assert!(width(&cut) <= columns || cut == text);
            prop_assert!(text.starts_with(cut.trim_end_matches('…')) || text == cut);
        }
    }
}
