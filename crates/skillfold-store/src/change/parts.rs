//! The parts of a change: files, hunks and lines.

use skillfold_core::Error;
use skillfold_core::diagnostic::visible;
use skillfold_core::name::ResourcePath;
use skillfold_core::text::ellipsize;

/// Maximum size of a diff in bytes. A reviewable change is far smaller.
pub const MAX_DIFF_BYTES: usize = 256 * 1024;
/// Maximum number of files in a change.
pub const MAX_FILES: usize = 50;
/// Maximum number of hunks in a change. Each hunk without a correct line number costs one pass over its file.
pub const MAX_HUNKS: usize = 1_000;
/// Maximum size of a file in bytes, before and after a change.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

/// The file that makes a folder a skill.
pub(super) const SKILL_FILE: &str = "SKILL.md";

/// A change to a skill's files, parsed from a unified diff.
///
/// Every path is inside the skill, and no two name the same file on any operating system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub(super) files: Vec<FileChange>,
    pub(super) repairs: Vec<String>,
}

impl Change {
    /// Returns how a malformed diff was repaired, one sentence each.
    pub fn repairs(&self) -> &[String] {
        &self.repairs
    }

    /// Returns the paths of the changed files, in diff order.
    pub fn paths(&self) -> impl Iterator<Item = &ResourcePath> {
        self.files.iter().map(|file| &file.path)
    }
}

/// A change to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileChange {
    pub(super) path: ResourcePath,
    pub(super) action: FileAction,
    /// The diff line where it starts.
    pub(super) line: usize,
    pub(super) hunks: Vec<Hunk>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileAction {
    Create,
    Edit,
    Delete,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hunk {
    /// The diff line with the hunk's header.
    pub(super) line: usize,
    /// The old range stated in the header.
    pub(super) stated: Option<StatedRange>,
    pub(super) lines: Vec<HunkLine>,
}

impl Hunk {
    /// Returns the lines the old file must contain.
    pub(super) fn old_lines(&self) -> impl Iterator<Item = &HunkLine> {
        self.lines.iter().filter(|line| line.mark != Mark::Add)
    }
}

/// The line range stated in a hunk header. For an empty range, `start` is the line before it, otherwise its first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatedRange {
    pub(super) start: usize,
    pub(super) count: usize,
}

impl StatedRange {
    /// Returns the number of lines before the range.
    pub(super) fn lines_before(self) -> usize {
        if self.count == 0 {
            self.start
        } else {
            self.start.saturating_sub(1)
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HunkLine {
    pub(super) mark: Mark,
    /// The text without its line feed.
    pub(super) text: String,
    /// Whether a line feed follows; `\ No newline at end of file` says otherwise.
    pub(super) is_terminated: bool,
    /// The line number in the diff.
    pub(super) line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Keep,
    Remove,
    Add,
}

/// Creates the error for an unusable diff; `reason` names the line and the fix.
pub(super) fn invalid(reason: impl AsRef<str>) -> Error {
    Error::invalid("diff", reason)
}

/// Formats a diff or file line for a message.
pub(super) fn quoted(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    format!("`{}`", visible(&ellipsize(text.trim_end(), MAX_CHARS)))
}
