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

#[cfg(feature = "exact-tokens")]
mod o200k;

mod settings;

mod folder_list;

mod accepted;
mod pinned_source;
mod pins;

mod trust;

mod trust_check;

mod roots;

mod pin_check;

mod counters;

mod client;

mod preferred;

#[cfg(feature = "index")]
mod root_cache;
mod snapshot_index;

mod discovery_report;

mod failure;

mod answer;

mod host;
#[cfg(feature = "watch")]
mod watched_paths;

#[cfg(feature = "run")]
mod toolset_pool;

mod skills;

#[cfg(feature = "store")]
mod conversations;
mod search;
mod session;
#[cfg(feature = "store")]
mod session_file;

mod evaluate;
#[cfg(feature = "store")]
mod scaffold;

#[cfg(feature = "store")]
mod improve;
#[cfg(feature = "run")]
mod scripts;

mod tools;

mod agent_manifest;

mod agent;

#[cfg(feature = "watch")]
mod watch;

mod cache_folder;
mod check;
#[cfg(feature = "store")]
mod generated_file;
mod overlap;
mod stats;

pub mod view;

#[cfg(feature = "trace")]
mod trace;

pub use accepted::AcceptedFolders;
#[cfg(feature = "store")]
pub use accepted::{accept_skills, hold_skill};
pub use agent::AgentSkills;
pub use agent_manifest::AgentManifest;
pub use answer::{Block, Fit, Tool, ToolAnswer};
pub use cache_folder::{CachePart, cache_parts, clean_cache};
pub use check::{CheckTarget, CheckedSkill};
pub use client::Client;
#[cfg(feature = "store")]
pub use conversations::{Conversation, ConversationKey, Conversations};
pub use counters::Counters;
pub use discovery_report::DiscoveryReport;
pub use environment::{Environment, program};
pub use evaluate::{
    Confusion, EvaluatedQuery, EvaluatedSkill, Evaluation, EvaluationFinding, QueryCounts,
    QueryMatch, TriggeredBy,
};
#[cfg(feature = "store")]
pub use generated_file::{Overwrite, write_generated};
pub use host::Host;
#[cfg(feature = "store")]
pub use improve::{ChangedQuery, Effects, MadeProposal};
#[cfg(feature = "exact-tokens")]
pub use o200k::O200k;
pub use overlap::{CrowdedTrigger, Overlap, Overlaps, Rival, SkillCopies};
pub use pins::Pins;
#[cfg(feature = "index")]
pub use root_cache::RootCache;
pub use roots::{FOLDERS, RootStatus, SearchedRoot};
#[cfg(feature = "store")]
pub use scaffold::{NewSkill, SkillLocation, ToolsetLanguage, scaffold};
#[cfg(feature = "run")]
pub use scripts::{
    AllowedSkill, AllowedSkills, AskedPermissions, RunnableSkill, ScriptError, SkillPackages,
    SkillTool, disallow_skill,
};
pub use search::{Hit, SearchResults};
pub use session::Session;
#[cfg(feature = "store")]
pub use session_file::SessionFile;
pub use settings::{
    ApprovalRequires, ConfiguredAgent, ConfiguredRoot, HookMode, KEYS, Key, ListingBudget,
    Matching, NewSkills, Origin, Setting, SettingFinding, Settings,
};
#[cfg(feature = "store")]
pub use settings::{SettingsFile, create_settings, remove_setting, write_setting};
pub use skillfold_core as core;
#[cfg(feature = "run")]
pub use skillfold_run as run;
#[cfg(feature = "store")]
pub use skillfold_store as store;
pub use skills::Skills;
pub use stats::{
    HookPrompt, HookPromptSkill, HookStats, LogCounts, PeriodLength, SignalStats, SkillStats,
    Stats, StatsPeriod, Tally,
};
pub use tools::{BYTES_TYPE, ToolDefinition, media_type};
#[cfg(feature = "trace")]
pub use trace::TraceLines;
pub use trust::{TrustRule, TrustedFolder, TrustedFolders, TrustedState};
#[cfg(feature = "store")]
pub use trust::{check_trustable, distrust_folder, trust_folder, trust_pinned};
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
