//! Converts byte offsets in a settings file to lines and columns.

use std::ops::Range;

use skillfold_core::diagnostic::{Position, Span};

/// The byte offsets of a text's line starts.
pub(super) struct LineStarts<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineStarts<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            text,
            starts: std::iter::once(0).chain(ends).collect(),
        }
    }

    /// Converts a byte range to lines and columns.
    pub(super) fn span(&self, bytes: Range<usize>) -> Span {
        Span::new(self.position(bytes.start), self.position(bytes.end))
    }

    fn position(&self, offset: usize) -> Position {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let before = self
            .text
            .get(self.starts[line - 1]..offset)
            .unwrap_or_default();
        Position::new(count(line), count(before.chars().count()).saturating_add(1))
    }
}
