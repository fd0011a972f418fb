//! The engine of Skillfold: reads agent skills without losing any.
//!
//! A *skill* is a folder with a `SKILL.md`: YAML frontmatter that describes the skill, followed by instructions in
//! Markdown, and optionally other files. This crate finds skills in folders or in memory, parses and lints their
//! metadata, and loads their instructions and files on demand. It never reads more of a file than it needs, never runs
//! anything, and never drops a skill without saying why.
//!
//! ```
//! use skillfold_core::MemorySource;
//! use skillfold_core::read::{ReadOptions, discover};
//!
//! let source = MemorySource::new([
//!     ("pdf/SKILL.md", "---\nname: pdf\ndescription: Use when: filling in forms\n---\n# PDF\n"),
//!     ("notes/SKILL.md", "# A file without frontmatter\n"),
//! ]);
//! let found = discover(&[&source], &ReadOptions::default());
//!
//! // The stray colon costs a warning, not the skill.
//! let pdf = &found.skills[1];
//! assert_eq!(pdf.manifest.description(), "Use when: filling in forms");
//! assert_eq!(pdf.diagnostics[1].to_string(), "warning[SF101]: Value of `description` has an unquoted `: `");
//!
//! // A file without frontmatter is a skill too, described by its first sentence; a finding says so.
//! let notes = &found.skills[0];
//! assert_eq!(notes.manifest.description(), "A file without frontmatter");
//! assert!(notes.diagnostics.iter().any(|finding| finding.to_string().contains("SF116")));
//! ```
//!
//! # Flow
//!
//! - A [`Source`] lists folders and reads files.
//! - [`discover`](fn@read::discover) reads the head of each `SKILL.md` and returns [`Skill`]s, each with a [`Manifest`];
//!   [`parse`](fn@read::parse) does the same for bytes in memory.
//! - A [`Catalog`] is a snapshot of all skills of some roots.
//! - A [`Loader`] reads the [`Instructions`] of a skill, with arguments substituted, and its files; an [`Envelope`] wraps
//!   them for a model.
//! - An [`Agent`] starts with some skills, and its [`Visibility`](bind::Visibility) may hide the others.
//! - A [`Matcher`] finds the skills that fit a message, and a [`SessionState`] announces them to a model according to a
//!   [`Policy`] and within a [`Budget`].
//! - [`lint`](fn@author::lint) checks a file against the specification, and [`fix`](fn@author::fix) repairs what it can.
//!
//! The names that most programs need are here; each module has the rest of its stage.
//!
//! Every problem with a skill is a [`Diagnostic`] with a [`Code`], a position and a hint; an [`Error`] means that an
//! operation failed.
#![forbid(unsafe_code)]

#[macro_use]
mod macros;

mod cache;

mod limits;

mod format_number;

mod time;

mod pattern;

pub mod text;

mod excerpt;

mod codes;

mod invisible;

pub mod diagnostic;

mod findings;

pub mod name;

mod error;

pub mod source;

pub mod read;

pub mod author;

pub mod catalog;

pub mod search;

pub mod choose;

pub mod load;

pub mod bind;

pub mod disclose;

mod feedback;

mod session_state;

pub mod explain;

pub mod view;

pub use bind::agent::Agent;
pub use catalog::entry::Entry;
pub use catalog::root::Root;
pub use catalog::scope::Scope;
pub use catalog::snapshot::{Catalog, CatalogOptions};
pub use choose::matcher::Matcher;
pub use codes::Code;
pub use diagnostic::Diagnostic;
pub use disclose::budget::Budget;
pub use disclose::policy::Policy;
pub use error::{Error, ErrorKind, Refusal};
pub use limits::Limits;
pub use load::envelope::Envelope;
pub use load::instructions::Instructions;
pub use load::loader::{LoadOptions, Loader};
pub use read::discover::Skill;
pub use read::manifest::Manifest;
pub use session_state::{ContextLifetime, SessionState};
pub use source::{FsSource, MemorySource, Source};
