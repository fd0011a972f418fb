//! The engine of Skillfold: reads agent skills without losing one.
//!
//! A *skill* is a folder with a `SKILL.md`: YAML frontmatter that says what the skill is, then instructions in
//! Markdown, and files beside it. This crate finds skills in folders or in memory, reads what they say about themselves,
//! judges them, and loads their instructions and files when they are wanted. It never reads more of a file than it needs,
//! never runs anything, and never drops a skill without saying why.
//!
//! ```
//! use skillfold_core::{MemorySource, Reading, discover};
//!
//! let source = MemorySource::new([
//!     ("pdf/SKILL.md", "---\nname: pdf\ndescription: Use when: filling in forms\n---\n# PDF\n"),
//!     ("notes/SKILL.md", "# A file without frontmatter\n"),
//! ]);
//! let found = discover(&[&source], &Reading::default());
//!
//! // The stray colon costs a warning, not the skill.
//! let pdf = &found.skills[0];
//! assert_eq!(pdf.manifest.description(), "Use when: filling in forms");
//! assert_eq!(pdf.diagnostics[1].to_string(), "warning[SF101]: Value of `description` has an unquoted `: `");
//!
//! // What is no skill is listed too, with the place and the way out.
//! let notes = &found.refused[0];
//! assert_eq!(notes.diagnostics[0].to_string(), "error[SF001]: Expected `---`, found `# A file without frontmatter`");
//! assert_eq!(notes.diagnostics[0].span.unwrap().start.to_string(), "1:1");
//! ```
//!
//! # Flow
//!
//! A [`Source`] lists folders and reads files. [`discover`] takes the head of each `SKILL.md` and gives [`Skill`]s with
//! a [`Manifest`] each; [`parse`] does the same for bytes at hand. A [`Catalog`] is one snapshot of all skills of some
//! roots. A [`Loader`] reads the [`Instructions`] of a skill, with arguments in their places, and its files; an
//! [`Envelope`] puts them before a model. An [`Agent`] has some skills from the start, and may see no other. A [`Matcher`]
//! finds the skills that a message asks for, and a [`Session`] tells a model of them by a [`Policy`], within a [`Budget`].
//! [`lint`] judges a file by the specification, and [`fix`] corrects what can be corrected. Everything that is odd is a
//! [`Diagnostic`] with a [`Code`], a place and a way out; an [`Error`] means that something could not be tried.
#![forbid(unsafe_code)]

mod limits;

pub mod text;

mod codes;
mod invisible;

mod diagnostic;

mod name;

mod error;

mod read;

mod catalog;

mod choose;

mod load;

mod bind;
mod disclose;

mod verdict;

mod session;

mod explain;

pub mod view;

pub use bind::agent::{Agent, Sees};
pub use bind::compose::{Composed, Section, SectionKind, compose_instructions};
pub use bind::seen::{LeftOut, Seen};
pub use catalog::enablement::{Choice, Enablement};
pub use catalog::entry::{Entry, Lookup, Standing};
pub use catalog::filter::{Filter, Page};
pub use catalog::key::canonical;
pub use catalog::nearest::nearest;
pub use catalog::refresh::{Changes, Refreshed};
pub use catalog::remembered::{Recall, Recalled, Remembered};
pub use catalog::root::{PluginName, Root, Trust};
pub use catalog::scope::{InvalidScope, Precedence, Scope};
pub use catalog::snapshot::{Catalog, Rules};
pub use choose::answers::MatchStats;
pub use choose::finder::{Finder, Suggestion};
pub use choose::matcher::{Candidate, Matched, Matcher};
pub use choose::near::{Near, TriggerKind};
pub use choose::part::check_triggers;
pub use choose::rank::rank;
pub use choose::search::bm25f::Statistics;
pub use choose::search::document::{Document, Documents, Texts};
pub use choose::search::index::{Covers, Found, SearchHit, SearchIndex};
pub use choose::search::meaning::{Direction, Embedder};
pub use choose::search::query::{Query, Weighed};
pub use choose::search::rank::{CANDIDATES, Ranked};
pub use choose::search::snippet::Snippet;
pub use choose::search::words::Term;
pub use choose::signal::Signal;
pub use codes::{Code, Severity};
pub use diagnostic::{Diagnostic, Position, Span, visible};
pub use disclose::budget::{Budget, Unit, Window};
pub use disclose::changes::{Announced, Shown};
pub use disclose::fit::{Detail, Fitted, FittedLine, Layout, Line, Shape, fit};
pub use disclose::listing::Disclosed;
pub use disclose::memory::{Forgetful, Kept, Memory};
pub use disclose::policy::{Breadcrumb, Fallback, Logged, Mode, Policy, Suggesting, Tier};
pub use disclose::style::{Style, ToolNames};
pub use disclose::tokens::{Estimate, TokenCounter};
pub use disclose::turn::{Decision, Outcome, Turn, turn};
pub use error::{Error, ErrorKind};
pub use explain::{Absence, Absent, Details, Explanation};
pub use invisible::{hidden, is_invisible};
pub use limits::Limits;
pub use load::arguments::{Dialect, argument_names};
pub use load::cache::CacheStats;
pub use load::digest::Digest;
pub use load::envelope::{Envelope, Failure, InvalidEnvelope, Parts, Rendered};
pub use load::file::FileContent;
pub use load::files::{FileKind, Files, SkillFile};
pub use load::instructions::{Instructions, Strictness};
pub use load::loader::{Freshness, Loader, Loading};
pub use load::publish::{Publication, PublishedFile};
pub use load::render::LoadedText;
pub use load::requires::Required;
pub use name::{InvalidName, InvalidPath, ResourcePath, SkillName};
pub use read::body::read_body;
pub use read::clients::{ClientField, FieldForm, FieldLevel};
pub use read::discover::{Discovery, Reading, Refused, Skill, SourceFinding, discover};
pub use read::fix::{Fixed, fix};
pub use read::lint::{BODY_PLACEHOLDER, DESCRIPTION_PLACEHOLDER, lint, lint_skill};
pub use read::manifest::{Manifest, ToolCheck, Triggers};
#[doc(hidden)]
pub use read::parse::{Agreement, readers_agree};
pub use read::parse::{Parsed, Reader, parse, parse_with};
pub use read::rules::Profile;
pub use read::source::{
    Content, Cursor, Finding, Folder, FsSource, Hidden, Identity, Links, Listed, Listing,
    MemorySource, Resource, ResourceKind, Resources, Revision, SKILL_FILE, Scanned, Source, State,
    Steadiness, UntrustedBudget, Walk,
};
pub use read::value::{Fields, Meaning, Scalar, Value};
pub use read::verbatim::frontmatter;
pub use session::{Lives, Session};
pub use verdict::Verdict;
