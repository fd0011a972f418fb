//! Corrections as replacements of byte ranges.

use std::ops::Range;

/// A correction: one or more replacements that are tried together.
///
/// Replacements of different edits may overlap, in which case [`apply`] skips some of them. An edit may therefore be
/// applied in part; the trial in [`fix`](super::fix) discards the result if it reads differently.
#[derive(Clone, Debug, Default)]
pub(super) struct Edit {
    replacements: Vec<(Range<usize>, String)>,
}

impl Edit {
    pub(super) fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        let mut edit = Self::default();
        edit.add(range, text);
        edit
    }

    /// Adds a replacement of the bytes in `range` with `text`.
    pub(super) fn add(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.replacements.push((range, text.into()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.replacements.is_empty()
    }
}

/// Applies edits to bytes. A replacement that starts inside an earlier one is skipped.
pub(super) fn apply<'a>(bytes: &[u8], edits: impl Iterator<Item = &'a Edit>) -> Vec<u8> {
    let mut replacements: Vec<_> = edits.flat_map(|edit| &edit.replacements).collect();
    replacements.sort_by_key(|(range, _)| (range.start, range.end));
    let mut edited = Vec::with_capacity(bytes.len() + 64);
    let mut at = 0;
    for (range, text) in replacements {
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
