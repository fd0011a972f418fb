//! Corrections as pieces of text in place of others.

use std::ops::Range;

/// A correction that is made whole or not at all.
#[derive(Clone, Debug, Default)]
pub(super) struct Edit {
    pieces: Vec<(Range<usize>, String)>,
}

impl Edit {
    pub(super) fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        let mut edit = Self::default();
        edit.add(range, text);
        edit
    }

    /// Writes `text` in place of the bytes in `range`, too.
    pub(super) fn add(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.pieces.push((range, text.into()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }
}

/// Returns the bytes with edits made in them; a piece that reaches into an earlier one is left out.
pub(super) fn apply<'a>(bytes: &[u8], edits: impl Iterator<Item = &'a Edit>) -> Vec<u8> {
    let mut pieces: Vec<_> = edits.flat_map(|edit| &edit.pieces).collect();
    pieces.sort_by_key(|(range, _)| (range.start, range.end));
    let mut edited = Vec::with_capacity(bytes.len() + 64);
    let mut at = 0;
    for (range, text) in pieces {
        if range.start < at {
            continue;
        }
        edited.extend_from_slice(&bytes[at..range.start]);
        edited.extend_from_slice(text.as_bytes());
        at = range.end;
    }
    edited.extend_from_slice(&bytes[at..]);
    edited
}
