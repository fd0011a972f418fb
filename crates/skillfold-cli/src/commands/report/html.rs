//! Writes HTML. Text from skills can only get in escaped: raw HTML is always a literal of this program.

use std::fmt::Write as _;

use skillfold::core::diagnostic::visible;
use skillfold::core::text::ellipsize;

/// Maximum characters of one piece of text.
const MAX_CHARS: usize = 400;
/// The width of a bar in its own unit.
const BAR_WIDTH: u64 = 1_000;
/// Rows of a table that are shown before the rest is folded.
const OPEN_ROWS: usize = 12;

/// An HTML text.
#[derive(Default)]
pub(super) struct Html(String);

/// A column of a table.
pub(super) struct Column {
    head: &'static str,
    /// The class of its cells.
    class: &'static str,
}

impl Column {
    pub(super) const fn new(head: &'static str, class: &'static str) -> Self {
        Self { head, class }
    }
}

/// A cell of a table.
pub(super) enum Cell {
    Text(String),
    /// Short texts below each other.
    Lines(Vec<String>),
    Number(u64),
    /// A number that is not known, and why.
    Unknown(&'static str),
    /// The parts of a bar beside the number that the longest bar stands for. What it shows is in other cells too.
    Bar([u64; 3], u64),
}

/// A table of at most `limit` rows.
pub(super) struct HtmlTable<R> {
    pub(super) caption: &'static str,
    pub(super) columns: &'static [Column],
    pub(super) rows: R,
    pub(super) limit: usize,
    /// What lists all rows, if there are more.
    pub(super) all: &'static str,
}

impl Html {
    /// Adds HTML that this program has as a literal.
    pub(super) fn raw(&mut self, html: &'static str) {
        self.0.push_str(html);
    }

    /// Adds text: hidden characters made visible, markup escaped, and cut if it is too long.
    pub(super) fn text(&mut self, text: &str) {
        let text = visible(text);
        for c in ellipsize(&text, MAX_CHARS).chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                _ => self.0.push(c),
            }
        }
    }

    pub(super) fn number(&mut self, number: u64) {
        self.text(&grouped(number));
    }

    /// Adds a paragraph of text, in which pieces between backticks are code.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.raw("<p>");
        self.prose(text);
        self.raw("</p>\n");
    }

    /// Adds text in which pieces between backticks are code. A text of a skill may have backticks of its own, which does
    /// no more than show it in another font.
    pub(super) fn prose(&mut self, text: &str) {
        let text = ellipsize(text, MAX_CHARS);
        let mut pieces = text.split('`').peekable();
        let mut is_code = false;
        while let Some(piece) = pieces.next() {
            let is_closed = pieces.peek().is_some();
            if is_code && is_closed {
                self.raw("<code>");
                self.text(piece);
                self.raw("</code>");
            } else {
                if is_code {
                    self.raw("`");
                }
                self.text(piece);
            }
            is_code = !is_code;
        }
    }

    /// Adds a table. Its first rows are shown, the next ones folded, and the number of those above the limit is said.
    pub(super) fn table<R: ExactSizeIterator<Item = Vec<Cell>>>(&mut self, table: HtmlTable<R>) {
        let HtmlTable {
            caption,
            columns,
            mut rows,
            limit,
            all,
        } = table;
        let total = rows.len();
        let shown = total.min(limit);
        // A fold for one or two rows would hide them for nothing.
        let open = if shown <= OPEN_ROWS + 2 {
            shown
        } else {
            OPEN_ROWS
        };
        self.rows(caption, columns, rows.by_ref().take(open));
        if shown > open {
            self.raw("<details><summary>");
            let more = if total > shown {
                "The next"
            } else {
                "The other"
            };
            self.text(&format!("{more} {}", grouped((shown - open) as u64)));
            self.raw("</summary>\n");
            self.rows(caption, columns, rows.by_ref().take(shown - open));
            self.raw("</details>\n");
        }
        if total > shown {
            self.raw("<p class=\"cut\">");
            let (left, total) = (grouped((total - shown) as u64), grouped(total as u64));
            self.prose(&format!("{left} of {total} are left out here; {all}"));
            self.raw("</p>\n");
        }
    }

    fn rows(
        &mut self,
        caption: &'static str,
        columns: &[Column],
        rows: impl Iterator<Item = Vec<Cell>>,
    ) {
        self.raw("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"");
        self.text(caption);
        self.raw("\"><table><caption>");
        self.text(caption);
        self.raw("</caption>\n<thead><tr>");
        for column in columns {
            self.raw("<th scope=\"col\"");
            self.class(column.class);
            self.text(column.head);
            self.raw("</th>");
        }
        self.raw("</tr></thead>\n<tbody>\n");
        for row in rows {
            self.raw("<tr>");
            for (index, (cell, column)) in row.iter().zip(columns).enumerate() {
                if index == 0 {
                    self.raw("<th scope=\"row\"");
                    self.class(column.class);
                    self.cell(cell);
                    self.raw("</th>");
                } else {
                    // On a narrow screen the head of the table is not beside the cell.
                    self.raw("<td data-label=\"");
                    self.raw(column.head);
                    self.raw("\"");
                    self.class(column.class);
                    self.cell(cell);
                    self.raw("</td>");
                }
            }
            self.raw("</tr>\n");
        }
        self.raw("</tbody></table></div>\n");
    }

    /// Adds a class, if any, and closes the tag.
    fn class(&mut self, class: &'static str) {
        if !class.is_empty() {
            self.raw(" class=\"");
            self.raw(class);
            self.raw("\"");
        }
        self.raw(">");
    }

    fn cell(&mut self, cell: &Cell) {
        match cell {
            Cell::Text(text) => {
                self.raw("<span>");
                self.prose(text);
                self.raw("</span>");
            }
            Cell::Lines(lines) => {
                self.raw("<ul>");
                for line in lines {
                    self.raw("<li>");
                    self.prose(line);
                    self.raw("</li>");
                }
                self.raw("</ul>");
            }
            Cell::Number(number) => self.number(*number),
            Cell::Unknown(why) => {
                self.raw("<span class=\"unknown\">");
                self.text(why);
                self.raw("</span>");
            }
            Cell::Bar(parts, longest) => self.bar(*parts, *longest),
        }
    }

    /// Adds a bar as SVG without a style, which the policy of the page would refuse.
    fn bar(&mut self, parts: [u64; 3], longest: u64) {
        self.raw("<svg class=\"bar\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
        let mut start = 0;
        for (part, class) in parts.into_iter().zip(["a", "b", "c"]) {
            let width = part.min(longest) * BAR_WIDTH / longest.max(1);
            if width > 0 {
                // Writing to a string does not fail.
                let _ = write!(
                    self.0,
                    "<rect class=\"{class}\" x=\"{start}\" width=\"{width}\" height=\"10\"/>"
                );
            }
            start += width;
        }
        self.raw("</svg>");
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

/// Returns a number with commas between thousands.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::{Html, grouped};

    #[test]
    fn text_cannot_become_markup_or_hide() {
        let mut html = Html::default();
        html.text("</style><script>\"a\" & 'b'\u{202e}\u{1b}[31m\n");
        html.prose("`<b>` and ` <i>");
        insta::assert_snapshot!(html.finish(), @r"&lt;/style&gt;&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;\u{202e}\u{1b}[31m\u{a}<code>&lt;b&gt;</code> and ` &lt;i&gt;");
    }

    #[test]
    fn numbers_have_commas() {
        let numbers = [0, 999, 1_000, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "1,234,567"]);
    }
}
