//! The skills engine for AI agents: the crate that a host program depends on.
//!
//! It connects the engine, [`core`], to the outside world: it finds the skill roots, reads settings, and holds the live
//! catalog. It is the only crate that reads the environment, the home directory and the clock.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let directory = folder.path();
//! let skills = skillfold::Skills::discover(directory)?;
//! for entry in skills.catalog().entries() {
//!     println!("{}: {}", entry.id(), entry.manifest().brief());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Which calls read files
//!
//! - [`Skills::discover`] and [`Skills::refresh`] read settings, list the roots, and read the start of every `SKILL.md`
//!   that is new or changed; the watcher does the same on its own thread.
//! - [`Skills::load`] reads the `SKILL.md` on first use, and again after it changed; otherwise it stats the file, or with
//!   [`Freshness::Snapshot`](core::load::Freshness::Snapshot) does not touch it. [`Skills::render`] also lists the skill's
//!   folder.
//! - A turn of a conversation loads the skills that match the request, and no others.
//! - A [tool call](Session::call) does what its name says: it searches, loads or reads.
//! - [`Skills::files`], [`Skills::read`], [`Skills::publish`] and their variants always go to the disk.
//! - A search reads the index on disk if there is one; it is updated on a thread of its own.
//!
//! Everything else, such as [`Skills::catalog`], [`Skills::get`], a listing, or [`Skills::counters`], works on the snapshot
//! in memory.
#![forbid(unsafe_code)]

mod environment;

pub mod settings;

pub mod trust;

mod client;

mod search_index;

pub mod discovery;

mod answer;

mod skills;

pub mod conversation;

pub mod author;

#[cfg(feature = "store")]
pub mod improve;
#[cfg(feature = "run")]
pub mod scripts;

pub mod tools;

pub mod agents;

#[cfg(feature = "watch")]
mod watch;

pub mod reports;

pub mod view;

#[cfg(feature = "exact-tokens")]
mod o200k;
#[cfg(feature = "trace")]
mod trace;

pub use agents::AgentSkills;
pub use client::Client;
pub use conversation::Session;
pub use discovery::{DiscoveryReport, Host};
pub use environment::{Environment, program};
#[cfg(feature = "exact-tokens")]
pub use o200k::O200k;
pub use settings::Settings;
pub use skillfold_core as core;
#[cfg(feature = "run")]
pub use skillfold_run as run;
#[cfg(feature = "store")]
pub use skillfold_store as store;
pub use skills::{Counters, Hit, SearchResults, Skills};
pub use tools::{Block, Tool, ToolAnswer, ToolDefinition};
#[cfg(feature = "trace")]
pub use trace::TraceLines;
#[cfg(feature = "watch")]
pub use watch::{WatchStatus, Watcher};

/// Runs the README's examples as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Runs the examples of the disclosure page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/disclosure.md")]
struct DisclosurePage;

/// Runs the examples of the search page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/search.md")]
struct SearchPage;

/// Runs the examples of the injection page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/injection.md")]
struct InjectionPage;

/// Runs the examples of the observability page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/observability.md")]
struct ObservabilityPage;

/// Runs the examples of the page on embedding.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
struct RustPage;

/// Runs the example of the page on sources.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust-source.md")]
struct SourcePage;

/// Runs the example of the page on embedders.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust-embedder.md")]
struct EmbedderPage;

/// Runs the template of a source in the example skill about extensions.
#[cfg(doctest)]
#[doc = concat!("```\n", include_str!("../../../examples/skills/extension-development/templates/source.rs"), "\n```")]
struct SourceTemplate;

/// Runs the template of an embedder in the example skill about extensions.
#[cfg(doctest)]
#[doc = concat!("```\n", include_str!("../../../examples/skills/extension-development/templates/embedder.rs"), "\n```")]
struct EmbedderTemplate;
