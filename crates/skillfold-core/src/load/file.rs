//! Reads one file of a skill, or a part of it.

use std::ops::{Bound, Range, RangeBounds};

use crate::catalog::entry::Entry;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, Refusal};
use crate::load::loader::{Loader, check_refusal, log_refusal};
use crate::name::{InvalidPath, ResourcePath};
use crate::source::{FileBytes, Revision, Stability};

/// The content of a skill's file, or of a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    path: ResourcePath,
    bytes: Vec<u8>,
    start: u64,
    revision: Revision,
    stability: Stability,
}

impl FileContent {
    fn new(path: ResourcePath, content: FileBytes, start: u64) -> Self {
        let mut read = Self {
            path,
            bytes: content.bytes,
            start,
            revision: content.state.revision,
            stability: content.state.stability,
        };
        read.drop_partial_character();
        read
    }

    /// Returns the file's path inside the skill.
    pub fn path(&self) -> &ResourcePath {
        &self.path
    }

    /// Returns the bytes that were read.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes as text, if they are text. A part of a text file always ends between two characters; a part
    /// that starts inside a character is not text.
    pub fn text(&self) -> Option<&str> {
        // Text has no NUL bytes; a file that has some is most likely binary.
        let text = str::from_utf8(&self.bytes).ok();
        text.filter(|text| !text.contains('\0'))
    }

    /// Returns the range of the file that was read, in bytes.
    pub fn range(&self) -> Range<u64> {
        self.start..self.start.saturating_add(self.bytes.len() as u64)
    }

    /// Returns the size of the whole file in bytes.
    pub fn size(&self) -> u64 {
        self.revision.size()
    }

    /// Returns the offset of the rest of the file, if there is more to read.
    pub fn next(&self) -> Option<u64> {
        let end = self.range().end;
        (end < self.size()).then_some(end)
    }

    /// Returns the revision of the file that was read.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns findings about this read: that the file kept changing.
    pub fn notes(&self) -> Vec<Diagnostic> {
        match self.stability {
            Stability::Stable => Vec::new(),
            Stability::Changing => {
                let message = "File kept changing while it was read";
                vec![Diagnostic::new(Code::Changing, None, message)]
            }
        }
    }

    /// Drops an incomplete character at the end of a text; the next part starts with it.
    fn drop_partial_character(&mut self) {
        let Err(error) = str::from_utf8(&self.bytes) else {
            return;
        };
        let is_cut_off = error.error_len().is_none() && self.next().is_some();
        // A part shorter than one character must not become empty, or the caller would never get past it.
        if is_cut_off && error.valid_up_to() > 0 {
            self.bytes.truncate(error.valid_up_to());
        }
    }
}

impl Loader {
    /// Reads a file of a skill, or a part of it; `..` reads the whole file. Returns at most [`Limits::read_bytes`] per
    /// call; [`FileContent::next`] is the offset of the rest.
    ///
    /// A path that leads out of the skill's folder is refused, first by its text and again by the kernel on opening.
    /// Every refusal is logged.
    ///
    /// [`Limits::read_bytes`]: crate::Limits::read_bytes
    pub fn read(
        &self,
        entry: &Entry<'_>,
        path: &str,
        range: impl RangeBounds<u64>,
    ) -> Result<FileContent, Error> {
        check_refusal(entry)?;
        let limits = &entry.catalog().options().read.walk.limits;
        let range = clamp_range(&range, limits.read_bytes);
        let read = || {
            let parsed: ResourcePath = path.parse().map_err(|invalid: InvalidPath| {
                Error::refused(path, Refusal::Traversal, invalid.rule())
            })?;
            let source = entry.root().source();
            let content = source.read(&entry.skill().folder, &parsed, range.clone())?;
            Ok(FileContent::new(parsed, content, range.start))
        };
        log_refusal(entry, path, read())
    }
}

/// Resolves the bounds of a range and cuts it to at most `limit` bytes.
fn clamp_range(range: &impl RangeBounds<u64>, limit: u64) -> Range<u64> {
    let start = match range.start_bound() {
        Bound::Included(start) => *start,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(last) => last.saturating_add(1),
        Bound::Excluded(end) => *end,
        Bound::Unbounded => u64::MAX,
    };
    start..end.clamp(start, start.saturating_add(limit))
}
