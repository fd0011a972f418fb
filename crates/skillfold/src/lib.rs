//! The skills engine for AI agents: the crate that a host program depends on.
//!
//! It connects the engine, [`core`], to the outside world: it finds the skill roots, reads settings, and holds the live
//! catalog. It is the only crate that reads the environment, the home directory and the clock.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let directory = folder.path();
//! use skillfold::{ContextLifetime, Discovered, Policy, Skills};
//!
//! let Discovered { skills, warnings } = Skills::discover(directory)?;
//! for warning in &warnings {
//!     eprintln!("warning: {warning}");
//! }
//! let mut session = skills.session(Policy::default(), ContextLifetime::History);
//! let system_prompt = session.listing().text;
//! let turn = session.turn("Fill in the tax form");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where things are
//!
//! The root has what most programs use. [`Skills`] are all skills, live; [`Session`] is one conversation with a model. The
//! modules have the rest: [`discovery`], [`settings`], [`trust`], [`conversation`], [`tools`], [`agents`], [`author`] for
//! those who write skills, `reports` for those who look after many, and [`view`], the JSON that the command prints.
//!
//! # Features
//!
//! None is on by default.
//!
//! - `tokio`: the same calls as futures, in `skillfold::tokio`.
//! - `watch`: refreshes on file changes, on a thread of its own.
//! - `index`: caches and the search index on disk.
//! - `store`: writing, from new skills to proposals and their review.
//! - `registry`: skills from sources, with a lock; includes `store`.
//! - `run`: skills' scripts and tools in a sandbox; includes `store`.
//! - `wasm`: toolsets that are WebAssembly components; includes `run`.
//! - `model`: search by meaning with a model in a folder.
//! - `reports`: `skillfold::reports`, how skills are used over time and which overlap.
//! - `exact-tokens`: exact token counts, with 3.6 MB of tables.
//! - `trace`: events as lines of JSON.
//! - `schema`: the JSON schema of the view.
//!
//! # Which calls read files
//!
//! - [`Skills::catalog`], [`Skills::get`], a listing, [`Skills::counters`] and the like work on the snapshot in memory. They
//!   touch no file and take no lock that a scan holds.
//! - [`Skills::discover`] and [`Skills::refresh`] read settings, list the roots, and read the start of every `SKILL.md`
//!   that is new or changed; the watcher does the same on its own thread.
//! - [`Skills::check_trust`] reads the user's lists of trusted folders, at most every 200 ms. A turn and whatever gives
//!   content call it.
//! - [`Skills::session`] reads the names of the project's files, once per snapshot.
//! - [`Skills::load`] reads the `SKILL.md` on first use, and again after it changed; otherwise it stats the file, or with
//!   [`Freshness::Snapshot`](core::load::Freshness::Snapshot) does not touch it. [`Skills::render`] also lists the skill's
//!   folder.
//! - A turn of a conversation loads the skills that match the request, and no others.
//! - A [tool call](Session::call) does what its name says: it searches, loads or reads.
//! - [`Skills::files`], [`Skills::read`], [`Skills::publish`] and their variants always go to the disk.
//! - A search reads the index on disk if there is one; it is updated on a thread of its own.
#![forbid(unsafe_code)]

mod environment;
mod json;

pub mod settings;

pub mod trust;

pub mod client;

mod search_index;

pub mod discovery;

mod answer;

pub mod skills;

pub mod conversation;

pub mod author;

#[cfg(feature = "store")]
pub mod improve;
#[cfg(feature = "registry")]
pub mod registry;
#[cfg(feature = "run")]
pub mod scripts;

pub mod tools;

pub mod agents;

#[cfg(feature = "tokio")]
pub mod tokio;

#[cfg(feature = "watch")]
pub mod watch;

#[cfg(feature = "reports")]
pub mod reports;

pub mod view;

#[cfg(feature = "exact-tokens")]
mod o200k;
#[cfg(feature = "trace")]
mod trace;

pub use agents::AgentSkills;
pub use conversation::Session;
pub use discovery::Host;
pub use environment::Environment;
pub use json::Json;
#[cfg(feature = "exact-tokens")]
pub use o200k::O200k;
pub use settings::Settings;
pub use skillfold_core as core;
pub use skillfold_core::{Budget, ContextLifetime, Error, FsSource, MemorySource, Policy};
#[cfg(feature = "run")]
pub use skillfold_run as run;
#[cfg(feature = "store")]
pub use skillfold_store as store;
pub use skills::{Discovered, SearchResults, Skills};
pub use tools::{Block, Tool, ToolAnswer, ToolDefinition};
#[cfg(feature = "trace")]
pub use trace::TraceLines;

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

/// Compiles the example of the page on the registry.
#[cfg(all(doctest, feature = "registry"))]
#[doc = include_str!("../../../docs/registry.md")]
struct RegistryPage;

/// Runs the template of a source in the example skill about extensions.
#[cfg(doctest)]
#[doc = concat!("```\n", include_str!("../../../examples/skills/extension-development/templates/source.rs"), "\n```")]
struct SourceTemplate;

/// Runs the template of an embedder in the example skill about extensions.
#[cfg(doctest)]
#[doc = concat!("```\n", include_str!("../../../examples/skills/extension-development/templates/embedder.rs"), "\n```")]
struct EmbedderTemplate;
