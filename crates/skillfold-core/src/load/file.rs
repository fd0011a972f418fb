//! One file of a skill, or a part of it.

use std::ops::{Bound, Range, RangeBounds};

use crate::catalog::entry::Entry;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::load::loader::{Loader, logged, may_be_given};
use crate::name::{InvalidPath, ResourcePath};
use crate::read::source::{FileBytes, Revision, Stability};

/// What was read of a file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    path: ResourcePath,
    bytes: Vec<u8>,
    start: u64,
    revision: Revision,
    steadiness: Stability,
}

impl FileContent {
    fn new(path: ResourcePath, content: FileBytes, start: u64) -> Self {
        let mut read = Self {
            path,
            bytes: content.bytes,
            start,
            revision: content.state.revision,
            steadiness: content.state.stability,
        };
        read.trim();
        read
    }

    /// Returns the file's path inside the skill.
    pub fn path(&self) -> &ResourcePath {
        &self.path
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes, if they are text. A part of a text ends between two characters; one that starts inside a
    /// character is no text.
    pub fn text(&self) -> Option<&str> {
        // A text has no NUL; a file with some is most often of another kind.
        let text = str::from_utf8(&self.bytes).ok();
        text.filter(|text| !text.contains('\0'))
    }

    /// Returns which part of the file was read, in bytes.
    pub fn range(&self) -> Range<u64> {
        self.start..self.start.saturating_add(self.bytes.len() as u64)
    }

    /// Returns the size of the whole file in bytes.
    pub fn size(&self) -> u64 {
        self.revision.size
    }

    /// Returns where the rest of the file starts, if there is a rest.
    pub fn next(&self) -> Option<u64> {
        let end = self.range().end;
        (end < self.size()).then_some(end)
    }

    /// Returns the state of the file that was read.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns what there is to say about this read: that the file kept changing.
    pub fn notes(&self) -> Vec<Diagnostic> {
        match self.steadiness {
            Stability::Stable => Vec::new(),
            Stability::Changing => {
                let message = "File kept changing while it was read";
                vec![Diagnostic::new(Code::Changing, None, message)]
            }
        }
    }

    /// Leaves out the half of a character at the end of a text; it starts the rest.
    fn trim(&mut self) {
        let Err(error) = str::from_utf8(&self.bytes) else {
            return;
        };
        let is_cut_off = error.error_len().is_none() && self.next().is_some();
        // A part that is shorter than a character must not become nothing: reading on would never get past it.
        if is_cut_off && error.valid_up_to() > 0 {
            self.bytes.truncate(error.valid_up_to());
        }
    }
}

impl Loader {
    /// Returns a file of a skill, or a part of it: `..` is all of it. At most [`Limits::read_bytes`] are returned at once;
    /// [`FileContent::next`] says where the rest starts.
    ///
    /// A path that leads out of the skill's folder is refused, by the text and again by the kernel when it is opened; each
    /// refusal is logged.
    ///
    /// [`Limits::read_bytes`]: crate::Limits::read_bytes
    pub fn read(
        &self,
        entry: &Entry<'_>,
        path: &str,
        range: impl RangeBounds<u64>,
    ) -> Result<FileContent, Error> {
        may_be_given(entry)?;
        let limits = &entry.catalog().options().read.walk.limits;
        let range = clamped(&range, limits.read_bytes);
        let read = || {
            let parsed: ResourcePath = path
                .parse()
                .map_err(|wrong: InvalidPath| Error::refused(path, wrong.rule()))?;
            let source = entry.root().source();
            let content = source.read(&entry.skill().folder, &parsed, range.clone())?;
            Ok(FileContent::new(parsed, content, range.start))
        };
        logged(entry, path, read())
    }
}

/// Returns a range with both ends, of at most `limit` bytes.
fn clamped(range: &impl RangeBounds<u64>, limit: u64) -> Range<u64> {
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
