//! Finds positions in a text in one pass, if they are requested in order.

use skillfold::core::diagnostic::{Position, Span};

/// The part of a line around a span.
pub(super) struct LineExcerpt<'a> {
    pub(super) before: &'a str,
    /// The first line of the span; one character if the span is empty.
    pub(super) marked: &'a str,
    pub(super) after: &'a str,
    pub(super) is_cut_before: bool,
    pub(super) is_cut_after: bool,
}

/// A text and the last position that was requested.
pub(super) struct SpanLocator<'a> {
    text: &'a str,
    position: Position,
    /// The byte offset of the line of `position`.
    line_start: usize,
    offset: usize,
}

impl<'a> SpanLocator<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        // A byte-order mark takes space in the text but not on the screen.
        let bom_bytes = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Self {
            text,
            position: Position::START,
            line_start: bom_bytes,
            offset: bom_bytes,
        }
    }

    /// Returns at most `characters` characters each before, in and after a span, on its first line.
    pub(super) fn excerpt(&mut self, span: Span, characters: usize) -> LineExcerpt<'a> {
        self.seek(span.start);
        let (line, start) = (self.line_start, self.offset);
        let before = self.text[line..start].char_indices().rev();
        let from = before.take(characters).last();
        let from = from.map_or(start, |(offset, _)| line + offset);
        let mut length = 1;
        if span.end.line > span.start.line {
            length = characters;
        } else if span.end.column > span.start.column {
            length = (span.end.column - span.start.column) as usize;
        }
        let end = self.advance_in_line(start, length.min(characters));
        let until = self.advance_in_line(end, characters);
        LineExcerpt {
            before: &self.text[from..start],
            marked: &self.text[start..end],
            after: &self.text[end..until],
            is_cut_before: from > line,
            is_cut_after: self.advance_in_line(until, 1) > until,
        }
    }

    /// Returns the offset `characters` characters later, or the end of the line if that comes first.
    fn advance_in_line(&self, offset: usize, characters: usize) -> usize {
        let rest = &self.text[offset..];
        let is_end = |(index, c): &(usize, char)| *c == '\n' || rest[*index..].starts_with("\r\n");
        let on_line = rest.char_indices().take_while(|item| !is_end(item));
        let last = on_line.take(characters).last();
        last.map_or(offset, |(index, c)| offset + index + c.len_utf8())
    }

    fn seek(&mut self, target: Position) {
        if target < self.position {
            *self = Self::new(self.text);
        }
        while self.position.line < target.line {
            let Some(length) = self.text[self.offset..].find('\n') else {
                self.offset = self.text.len();
                return;
            };
            self.offset += length + 1;
            self.line_start = self.offset;
            self.position = Position::new(self.position.line + 1, 1);
        }
        let columns = target.column.saturating_sub(self.position.column);
        self.offset = self.advance_in_line(self.offset, columns as usize);
        self.position = target;
    }
}
