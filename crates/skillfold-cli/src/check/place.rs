//! Finds places in a text that are asked for in their order, in one pass over the text.

use skillfold::core::{Position, Span};

/// What stands on the line of a place.
pub(super) struct Line<'a> {
    pub(super) before: &'a str,
    /// The first line of the place; one character if the place is empty.
    pub(super) place: &'a str,
    pub(super) after: &'a str,
    pub(super) is_cut_before: bool,
    pub(super) is_cut_after: bool,
}

/// A text, and the last place of it that was asked for.
pub(super) struct Places<'a> {
    text: &'a str,
    at: Position,
    /// Where the line of `at` starts.
    line: usize,
    offset: usize,
}

impl<'a> Places<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        // A byte-order mark takes a place in the text and none on the screen.
        let mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Self {
            text,
            at: Position::START,
            line: mark,
            offset: mark,
        }
    }

    /// Returns at most so many characters of a line before, in and after a place.
    pub(super) fn around(&mut self, span: Span, characters: usize) -> Line<'a> {
        self.go_to(span.start);
        let (line, start) = (self.line, self.offset);
        let before = self.text[line..start].char_indices().rev();
        let from = before.take(characters).last();
        let from = from.map_or(start, |(offset, _)| line + offset);
        let mut length = 1;
        if span.end.line > span.start.line {
            length = characters;
        } else if span.end.column > span.start.column {
            length = (span.end.column - span.start.column) as usize;
        }
        let end = self.within_line(start, length.min(characters));
        let until = self.within_line(end, characters);
        Line {
            before: &self.text[from..start],
            place: &self.text[start..end],
            after: &self.text[end..until],
            is_cut_before: from > line,
            is_cut_after: self.within_line(until, 1) > until,
        }
    }

    /// Returns where so many characters after an offset end, or the line does.
    fn within_line(&self, offset: usize, characters: usize) -> usize {
        let rest = &self.text[offset..];
        let is_end = |(at, c): &(usize, char)| *c == '\n' || rest[*at..].starts_with("\r\n");
        let on_line = rest.char_indices().take_while(|found| !is_end(found));
        let last = on_line.take(characters).last();
        last.map_or(offset, |(at, c)| offset + at + c.len_utf8())
    }

    fn go_to(&mut self, place: Position) {
        if place < self.at {
            *self = Self::new(self.text);
        }
        while self.at.line < place.line {
            let Some(length) = self.text[self.offset..].find('\n') else {
                self.offset = self.text.len();
                return;
            };
            self.offset += length + 1;
            self.line = self.offset;
            self.at = Position::new(self.at.line + 1, 1);
        }
        let columns = place.column.saturating_sub(self.at.column);
        self.offset = self.within_line(self.offset, columns as usize);
        self.at = place;
    }
}
