//! Proposed changes to a skill: parses a unified diff as models write it, applies it to the skill's files in memory,
//! merges it with later edits, and suggests a version. Nothing here reads or writes files.
//!
//! ```
//! use skillfold_store::change::{Bump, Change, suggest_bump, unified};
//!
//! # fn main() -> Result<(), skillfold_core::Error> {
//! let skill = "---\nname: pdf\ndescription: Fills in forms\n---\nUse pdftk.\n";
//! // The header has no line numbers, as models often write it: the lines say where the hunk belongs.
//! let change = Change::parse("--- a/SKILL.md\n+++ b/SKILL.md\n@@ ... @@\n-Use pdftk.\n+Use qpdf.\n")?;
//! assert_eq!(change.repairs().len(), 1);
//!
//! let applied = change.apply(|path| Ok((path == "SKILL.md").then(|| skill.into())))?;
//! assert_eq!(
//!     unified(&applied.edits),
//!     "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -2,4 +2,4 @@\n name: pdf\n description: Fills in forms\n ---\n-Use pdftk.\n+Use qpdf.\n",
//! );
//! assert_eq!(suggest_bump(&applied.edits, "pdf").bump, Bump::Patch);
//! # Ok(())
//! # }
//! ```
//!
//! # What is accepted
//!
//! Unified diffs of one or more files, with or without `git diff` headers; hunks before any file header are for
//! `SKILL.md`. Common model mistakes are repaired where only one reading is possible, and reported: counts and line
//! numbers in hunk headers, text around the diff, line endings. An ambiguous diff is refused, with the line and what to
//! write instead. Renames, copies, file modes and binary patches are refused.

// Modules are listed in dependency order.

mod parts;

mod path;

mod header;

mod surroundings;

mod parse;

mod locate;

mod apply;

mod unified;

mod merge;

mod bump;

#[cfg(test)]
mod tests;

pub use apply::{Applied, FileEdit};
pub use bump::{Bump, SuggestedBump, suggest_bump};
pub use merge::{Merged, merge};
pub use parts::{Change, MAX_DIFF_BYTES, MAX_FILE_BYTES, MAX_FILES, MAX_HUNKS};
pub use unified::{shown_diff, unified};
