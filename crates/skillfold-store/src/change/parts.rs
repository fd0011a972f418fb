//! The parts of a change: files, their hunks, the lines of those.

use skillfold_core::Error;
use skillfold_core::diagnostic::visible;
use skillfold_core::name::ResourcePath;
use skillfold_core::text::ellipsize;

/// Maximum bytes of a diff. A change that somebody is to review is far smaller.
pub const MAX_DIFF_BYTES: usize = 256 * 1024;
/// Maximum files of a change.
pub const MAX_FILES: usize = 50;
/// Maximum hunks of a change. Each hunk without a right line number costs one pass over its file.
pub const MAX_HUNKS: usize = 1_000;
/// Maximum bytes of a file before and after a change.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

/// The file that makes a folder a skill.
pub(super) const SKILL_FILE: &str = "SKILL.md";

/// A change of a skill's files, read from a unified diff.
///
/// Every path is inside the skill, and no two are the same file on any operating system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub(super) files: Vec<FileChange>,
    pub(super) repairs: Vec<String>,
}

impl Change {
    /// Returns what was wrong with the diff and how it was read, each as a sentence.
    pub fn repairs(&self) -> &[String] {
        &self.repairs
    }

    /// Returns the paths of the files that the change is about, in the order of the diff.
    pub fn paths(&self) -> impl Iterator<Item = &ResourcePath> {
        self.files.iter().map(|file| &file.path)
    }
}

/// The change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileChange {
    pub(super) path: ResourcePath,
    pub(super) action: FileAction,
    /// The line of the diff where it starts.
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
    /// The line of the diff with the hunk's header.
    pub(super) line: usize,
    /// What the header says of the old file.
    pub(super) stated: Option<StatedRange>,
    pub(super) lines: Vec<HunkLine>,
}

impl Hunk {
    /// Returns the lines that the old file must have.
    pub(super) fn old_lines(&self) -> impl Iterator<Item = &HunkLine> {
        self.lines.iter().filter(|line| line.mark != Mark::Add)
    }
}

/// The range of lines that a hunk header states. With no lines, `start` is the line before the range, else its first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatedRange {
    pub(super) start: usize,
    pub(super) count: usize,
}

impl StatedRange {
    /// Returns how many lines are before the range.
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
    /// The line of the diff.
    pub(super) line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Keep,
    Remove,
    Add,
}

/// Creates the error for a diff that cannot be used; `reason` names the line and the way out.
pub(super) fn invalid(reason: impl AsRef<str>) -> Error {
    Error::invalid("diff", reason)
}

/// Formats a line of a diff or of a file for a message.
pub(super) fn quoted(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    format!("`{}`", visible(&ellipsize(text.trim_end(), MAX_CHARS)))
}
