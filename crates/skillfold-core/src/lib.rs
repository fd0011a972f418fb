//! The engine of Skillfold: reads agent skills without losing any.
//!
//! A *skill* is a folder with a `SKILL.md`: YAML frontmatter that describes the skill, followed by instructions in
//! Markdown, and optionally other files. This crate finds skills in folders or in memory, parses and lints their
//! metadata, and loads their instructions and files on demand. It never reads more of a file than it needs, never runs
//! anything, and never drops a skill without saying why.
//!
//! ```
//! use skillfold_core::{MemorySource, ReadOptions, discover};
//!
//! let source = MemorySource::new([
//!     ("pdf/SKILL.md", "---\nname: pdf\ndescription: Use when: filling in forms\n---\n# PDF\n"),
//!     ("notes/SKILL.md", "# A file without frontmatter\n"),
//! ]);
//! let found = discover(&[&source], &ReadOptions::default());
//!
//! // The stray colon costs a warning, not the skill.
//! let pdf = &found.skills[0];
//! assert_eq!(pdf.manifest.description(), "Use when: filling in forms");
//! assert_eq!(pdf.diagnostics[1].to_string(), "warning[SF101]: Value of `description` has an unquoted `: `");
//!
//! // A file that is not a skill is listed too, with the position of the problem and a hint.
//! let notes = &found.refused[0];
//! assert_eq!(notes.diagnostics[0].to_string(), "error[SF001]: Expected `---`, found `# A file without frontmatter`");
//! assert_eq!(notes.diagnostics[0].span.unwrap().start.to_string(), "1:1");
//! ```
//!
//! # Flow
//!
//! - A [`Source`] lists folders and reads files.
//! - [`discover`] reads the head of each `SKILL.md` and returns [`Skill`]s, each with a [`Manifest`]; [`parse`] does the
//!   same for bytes in memory.
//! - A [`Catalog`] is a snapshot of all skills of some roots.
//! - A [`Loader`] reads the [`Instructions`] of a skill, with arguments substituted, and its files; an [`Envelope`] wraps
//!   them for a model.
//! - An [`Agent`] starts with some skills, and its [`Visibility`] may hide the others.
//! - A [`Matcher`] finds the skills that fit a message, and a [`Session`] announces them to a model according to a
//!   [`Policy`] and within a [`Budget`].
//! - [`lint`] checks a file against the specification, and [`fix`] repairs what it can.
//!
//! Every problem with a skill is a [`Diagnostic`] with a [`Code`], a position and a hint; an [`Error`] means that an
//! operation failed.
#![forbid(unsafe_code)]

mod cache;

mod limits;

pub mod text;

mod excerpt;

mod codes;

mod invisible;

mod diagnostic;

mod findings;

mod name;

mod error;

mod source;

mod read;

mod author;

mod catalog;

mod search;

mod choose;

mod load;

mod bind;

mod disclose;

mod feedback;

mod session;

mod explain;

pub mod view;

pub use author::clients::{ClientField, FieldForm, FieldLevel};
pub use author::fix::{Fixed, fix};
pub use author::lint::{BODY_PLACEHOLDER, DESCRIPTION_PLACEHOLDER, lint, lint_skill};
pub use bind::agent::{Agent, Visibility};
pub use bind::agent_view::{AgentView, MissingSkill};
pub use bind::compose::{ComposedInstructions, Section, SectionKind, compose_instructions};
pub use cache::CacheStats;
pub use catalog::canonical::canonical;
pub use catalog::enablement::{Enablement, Toggle};
pub use catalog::entry::{Entry, Lookup, Status};
pub use catalog::filter::{Filter, Page};
pub use catalog::nearest::nearest;
pub use catalog::refresh::{Changes, Refreshed};
pub use catalog::root::{PluginName, Root, Trust};
pub use catalog::scan_cache::{CacheReport, CachedDiscovery, CachedScan};
pub use catalog::scope::{InvalidScope, Precedence, Scope};
pub use catalog::snapshot::{Catalog, CatalogOptions};
pub use choose::compiled::check_triggers;
pub use choose::finder::{Finder, Suggestion};
pub use choose::matcher::{Candidate, Matcher, Matches};
pub use choose::near_miss::{NearMiss, TriggerKind};
pub use choose::rank::rank;
pub use choose::signal::Signal;
pub use codes::{Code, Severity};
pub use diagnostic::{Diagnostic, Position, Span, visible};
pub use disclose::budget::{Budget, Unit, Window};
pub use disclose::changes::{AnnouncedChanges, ShownListing};
pub use disclose::fit::{
    DescriptionFit, FittedLine, FittedListing, Layout, ListingDetail, ListingLine, fit,
};
pub use disclose::listing::Listing;
pub use disclose::memory::{Memory, NoMemory, RepeatedSkill};
pub use disclose::outcome::Outcome;
pub use disclose::policy::{
    Breadcrumb, Fallback, LogDetail, Mode, Policy, SuggestionThresholds, Tier,
};
pub use disclose::style::{Style, ToolNames};
pub use disclose::tokens::{TokenCounter, TokenEstimate};
pub use disclose::turn::{Decision, Turn, turn};
pub use error::{Error, ErrorKind};
pub use explain::{Explanation, MatchDetails, UnmatchedReason, UnmatchedSkill};
pub use feedback::Feedback;
pub use findings::LimitedFindings;
pub use invisible::{hidden_characters, is_invisible};
pub use limits::Limits;
pub use load::arguments::{Dialect, argument_names};
pub use load::body::read_body;
pub use load::digest::Digest;
pub use load::envelope::{Envelope, EnvelopeParts, InvalidEnvelope, LoadFailure, RenderedEnvelope};
pub use load::file::FileContent;
pub use load::files::{FileKind, FileList, SkillFile};
pub use load::instructions::{Instructions, Strictness};
pub use load::loader::{Freshness, LoadOptions, Loader};
pub use load::publish::{Publication, PublishedFile};
pub use load::render::LoadedText;
pub use load::requires::RequiredSkills;
pub use name::{InvalidName, InvalidPath, ResourcePath, SkillName};
pub use read::discover::{Discovery, ReadOptions, RefusedFolder, Skill, SourceFinding, discover};
pub use read::manifest::{Manifest, ToolCheck, Triggers};
#[doc(hidden)]
pub use read::parse::{Agreement, readers_agree};
pub use read::parse::{FrontmatterReader, Parsed, parse, parse_with};
pub use read::raw_fields::raw_frontmatter;
pub use read::rules::Profile;
pub use read::value::{Fields, Scalar, ScalarValue, Value};
pub use search::bm25f::CorpusStatistics;
pub use search::document::{Document, DocumentBuilder, DocumentTexts};
pub use search::embedding::{Embedder, QuantizedVector};
pub use search::index::{SearchCoverage, SearchHit, SearchIndex, SearchResults};
pub use search::query::{Query, WeightedQuery};
pub use search::rank::{MAX_CANDIDATES, Ranked};
pub use search::snippet::Snippet;
pub use search::tokenizer::Term;
pub use session::{ContextLifetime, Session};
pub use source::{
    Cursor, FileBytes, FileState, Finding, Folder, FolderIdentity, FolderPage, FsSource,
    HiddenPolicy, LinkPolicy, ListedFolder, MemorySource, Resource, ResourceKind, Resources,
    Revision, SKILL_FILE, ScannedFolder, Source, Stability, UntrustedBudget, WalkOptions,
};
