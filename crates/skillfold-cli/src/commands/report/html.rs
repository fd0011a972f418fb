//! The tables of the page, and the text in them. Text from skills can only get in escaped: a template shows it by [`text`] or
//! [`prose`], or the template engine escapes it.

use std::fmt;

use askama::Template;
use askama::filters::{HtmlSafe, Safe};
use skillfold::core::diagnostic::visible;
use skillfold::core::text::ellipsize;

/// Maximum characters of one piece of text.
const MAX_CHARS: usize = 400;
/// The width of a bar in its own unit.
const BAR_WIDTH: u64 = 1_000;
/// Rows of a table that are shown before the rest is folded.
const OPEN_ROWS: usize = 12;

/// The heading of a column, and the class of its cells.
pub(super) type Column = (&'static str, &'static str);

/// A cell of a table.
pub(super) enum Cell {
    Text(String),
    /// Short texts below each other.
    Lines(Vec<String>),
    Number(Grouped),
    /// A number that is not known, and why.
    Unknown(&'static str),
    /// The parts of a bar: class, start and width. What it shows is in other cells too.
    Bar(Vec<(&'static str, u64, u64)>),
}

impl Cell {
    pub(super) fn number(number: u64) -> Self {
        Self::Number(Grouped(number))
    }

    /// Returns a bar; `longest` is the number that the longest bar stands for.
    pub(super) fn bar(parts: [u64; 3], longest: u64) -> Self {
        let mut bar = Vec::new();
        let mut start = 0;
        for (part, class) in parts.into_iter().zip(["a", "b", "c"]) {
            let width = part.min(longest) * BAR_WIDTH / longest.max(1);
            if width > 0 {
                bar.push((class, start, width));
            }
            start += width;
        }
        Self::Bar(bar)
    }
}

/// A number with a comma between thousands.
pub(super) struct Grouped(pub(super) u64);

impl fmt::Display for Grouped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                formatter.write_str(",")?;
            }
            write!(formatter, "{digit}")?;
        }
        Ok(())
    }
}

/// A table.
#[derive(Template)]
#[template(path = "table.html")]
pub(super) struct HtmlTable {
    caption: &'static str,
    columns: &'static [Column],
    rows: Vec<Vec<Cell>>,
    total: usize,
    /// What lists all rows, if there are more.
    all: &'static str,
}

impl HtmlSafe for HtmlTable {}

impl HtmlTable {
    /// Creates a table of at most `limit` rows.
    pub(super) fn new(
        caption: &'static str,
        columns: &'static [Column],
        rows: impl ExactSizeIterator<Item = Vec<Cell>>,
        limit: usize,
        all: &'static str,
    ) -> Self {
        Self {
            caption,
            columns,
            total: rows.len(),
            rows: rows.take(limit).collect(),
            all,
        }
    }

    /// Returns the table if it has rows.
    pub(super) fn if_any(self) -> Option<Self> {
        Some(self).filter(|table| table.total > 0)
    }

    /// Returns the rows that are shown, and those that are folded with what stands for them.
    fn parts(&self) -> Vec<(Option<String>, &[Vec<Cell>])> {
        let shown = self.rows.len();
        if shown <= OPEN_ROWS + 2 {
            return vec![(None, &self.rows)];
        }
        let (open, folded) = self.rows.split_at(OPEN_ROWS);
        let more = if self.total > shown {
            "The next"
        } else {
            "The other"
        };
        let more = format!("{more} {}", Grouped(folded.len() as u64));
        vec![(None, open), (Some(more), folded)]
    }

    /// Returns what is said about rows that are left out.
    fn cut(&self) -> Option<String> {
        let left = self.total - self.rows.len();
        let (left, total) = (Grouped(left as u64), Grouped(self.total as u64));
        (left.0 > 0).then(|| format!("{left} of {total} are left out here; {}", self.all))
    }
}

/// Returns text as HTML: hidden characters made visible, markup escaped, and cut if it is too long.
pub(super) fn text(text: &str) -> Safe<String> {
    let mut html = String::new();
    let text = visible(text);
    for c in ellipsize(&text, MAX_CHARS).chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            _ => html.push(c),
        }
    }
    Safe(html)
}

/// Returns text as HTML in which what stands in backticks is code.
pub(super) fn prose(prose: &str) -> Safe<String> {
    let prose = ellipsize(prose, MAX_CHARS);
    let pieces: Vec<_> = prose.split('`').map(|piece| text(piece).0).collect();
    let html = pieces.iter().enumerate().map(|(index, piece)| {
        let is_closed = index + 1 < pieces.len();
        match index % 2 {
            0 => piece.clone(),
            _ if is_closed => format!("<code>{piece}</code>"),
            _ => format!("`{piece}"),
        }
    });
    Safe(html.collect())
}

pub(super) fn difference(now: u64, plain: u64) -> String {
    match plain.checked_sub(now) {
        Some(less) => format!("{} less ({} %)", Grouped(less), less * 100 / plain.max(1)),
        None => format!("{} more", Grouped(now - plain)),
    }
}
