//! Safe file writes for Skillfold.
//!
//! Every write is atomic: a reader, another writer or a crash at any moment sees a file's old or new content, never a
//! mix.
//!
//! Every write stays below a [`WriteRoot`], a folder that the caller trusts. It is held open, and everything is opened,
//! created, renamed and removed relative to that handle. Symbolic links on the way are refused, even one swapped in
//! during the write. A file is replaced only if it is still the one that was read.
//!
//! ```
//! use std::path::Path;
//!
//! use skillfold_core::ErrorKind;
//! use skillfold_store::{Access, WriteRoot};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let root = WriteRoot::open(folder)?;
//! let file = Path::new("pdf/SKILL.md");
//! root.create(file, b"---\nname: pdf\ndescription: Fills in forms\n---\n", Access::Ordinary)?;
//!
//! let old = root.read(file, 1 << 20)?.expect("it was just made");
//! root.replace(file, &old, b"---\nname: pdf\ndescription: Fills in PDF forms\n---\n", Access::Ordinary)?;
//!
//! // The content that was read is no longer there, so nothing is overwritten.
//! let error = root.replace(file, &old, b"---\nname: pdf\n---\n", Access::Ordinary).unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::Refused);
//! assert!(std::fs::read_to_string(folder.join(file))?.contains("PDF forms"));
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod change;

mod files;

mod proposals;

pub use files::bounded_log::BoundedLog;
#[cfg(feature = "faults")]
pub use files::calls::{Fault, Step, inject, record, without_exchange};
pub use files::folder_link::LinkMade;
pub use files::lock::Lock;
pub use files::merge_skills::{MergedSkill, merge_skills};
pub use files::skill_files::SkillFiles;
pub use files::skill_folder::SkillPath;
pub use files::write_root::{Access, ReadFile, WriteRoot};
pub use files::write_target::{WriteTarget, lock_state};
pub use proposals::approval::{Approval, CheckedProofs, Requirement};
pub use proposals::decide::NewVersion;
pub use proposals::history::{SkillVersion, VersionCause};
pub use proposals::log::{
    Allowance, ApprovedBy, Author, Event, LogDamage, LogRecords, Operation, OperationOutcome,
    Record, RecordedApproval, Target, UnknownEvent, Verdict,
};
pub use proposals::proposal::{Proposal, other_format};
pub use proposals::propose::{NewProposal, PendingProposal, Preview, Proposals, Proposed};
pub use proposals::store::{KEPT_VERSIONS, Store};
pub use proposals::versions::ProposedVersion;
