//! The store of Skillfold: the crate that writes.
//!
//! Every write is whole or not there: a reader, another writer or a crash at any moment sees the old content of a file
//! or the new, and never a part of it.
//!
//! Every write stays below a folder that the caller trusts, a [`WriteRoot`]. It is held open, and everything is opened, made,
//! renamed and removed relative to that handle: a symbolic link on the way is refused, also one that is swapped in while
//! the write runs. A file is replaced only while it is still the one that was read.
//!
//! ```
//! use std::path::Path;
//!
//! use skillfold_core::ErrorKind;
//! use skillfold_store::{Access, WriteRoot};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let root = tempfile::tempdir()?;
//! # let root = root.path();
//! let base = WriteRoot::open(root)?;
//! let file = Path::new("pdf/SKILL.md");
//! base.create(file, b"---\nname: pdf\ndescription: Fills in forms\n---\n", Access::Ordinary)?;
//!
//! let old = base.read(file, 1 << 20)?.expect("it was just made");
//! base.replace(file, &old, b"---\nname: pdf\ndescription: Fills in PDF forms\n---\n", Access::Ordinary)?;
//!
//! // What was read is no longer there, so nothing is overwritten.
//! let error = base.replace(file, &old, b"---\nname: pdf\n---\n", Access::Ordinary).unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::Refused);
//! assert!(std::fs::read_to_string(root.join(file))?.contains("PDF forms"));
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod fault;

mod dir;

mod flock;

mod restore;

mod staged;

mod write_root;

mod lock;

pub use lock::Lock;
pub use write_root::{Access, ReadFile, WriteRoot};
