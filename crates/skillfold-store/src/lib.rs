//! The store of Skillfold: the crate that writes.
//!
//! Every write is whole or not there: a reader, another writer or a crash at any moment sees the old content of a file
//! or the new, and never a part of it.
//!
//! ```
//! use skillfold_core::ErrorKind;
//! use skillfold_store::{create, replace};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let root = tempfile::tempdir()?;
//! let path = root.path().join("pdf/SKILL.md");
//! create(&path, b"---\nname: pdf\ndescription: Fills in forms\n---\n")?;
//! replace(&path, b"---\nname: pdf\ndescription: Fills in PDF forms\n---\n")?;
//!
//! // What is there is never overwritten by accident.
//! let error = create(&path, b"---\nname: pdf\n---\n").unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::Exists);
//! assert!(std::fs::read_to_string(&path)?.contains("PDF forms"));
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod write;

pub use write::{create, remove, replace};
