//! Writes edits as a unified diff.

use similar::{ChangeTag, TextDiff};
use skillfold_core::text::truncate_at_line;

use crate::change::MAX_DIFF_BYTES;
use crate::change::apply::FileEdit;

/// Number of context lines.
const CONTEXT_LINES: usize = 3;

/// Formats edits as one unified diff, which [`Change::parse`](super::Change::parse) parses back into the same edits.
///
/// A file that is not UTF-8 gets git's line `Binary files … differ`, which cannot be parsed back. An edit that changes
/// nothing is omitted.
///
/// ```
/// use skillfold_store::change::{FileEdit, unified};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let edit = FileEdit::new("notes.md".parse()?, None, Some(b"Text".to_vec()));
/// assert_eq!(unified(&[edit]), "--- /dev/null\n+++ b/notes.md\n@@ -0,0 +1 @@\n+Text\n\\ No newline at end of file\n");
/// # Ok(())
/// # }
/// ```
pub fn unified(edits: &[FileEdit]) -> String {
    let changed = edits.iter().filter(|edit| edit.old != edit.new);
    changed.map(unified_file).collect()
}

/// Returns the same, cut to [`MAX_DIFF_BYTES`] with a note of what is left out.
pub fn shown_diff(edits: &[FileEdit]) -> String {
    let diff = unified(edits);
    let shown = truncate_at_line(&diff, MAX_DIFF_BYTES);
    match diff.len() - shown.len() {
        0 => diff,
        more => format!("{shown}… {more} more bytes: `skillfold review` shows the files\n"),
    }
}

fn unified_file(edit: &FileEdit) -> String {
    let name = |side: char, content: Option<&[u8]>| match content {
        Some(_) => format!("{side}/{}", edit.path),
        None => "/dev/null".to_owned(),
    };
    let (old, new) = (edit.old.as_deref(), edit.new.as_deref());
    let (old_name, new_name) = (name('a', old), name('b', new));
    let [Ok(old), Ok(new)] = [old, new].map(|content| str::from_utf8(content.unwrap_or_default()))
    else {
        return format!("Binary files {old_name} and {new_name} differ\n");
    };
    let mut diff = format!("--- {old_name}\n+++ {new_name}\n");
    // Diff lines end with a line feed; `from_lines` would also split at a carriage return.
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let lines = TextDiff::from_slices(&old, &new);
    let mut lines = lines.unified_diff();
    for hunk in lines.context_radius(CONTEXT_LINES).iter_hunks() {
        diff += &hunk.header().to_string();
        diff.push('\n');
        for change in hunk.iter_changes() {
            diff.push(match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            });
            diff.push_str(change.value());
            if !change.value().ends_with('\n') {
                diff.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    diff
}
