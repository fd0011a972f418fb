//! The JSON contract: the data types that the command line, the server and the bindings share.
//!
//! Its types are these and the types of the engine that they hold, where JSON has the same fields, in version 1 of the contract. Fields may be added within a version,
//! but none is removed or changes its meaning. A field without a value is absent.

mod any;
mod finding;

mod record;

mod skill;

mod disclose;
mod load;

mod why;

pub use any::Any;
pub use disclose::{Bytes, Decided, DecisionView, Prompt, TurnView};
pub use finding::DiagnosticView;
pub use load::{FileFinding, FileListing, FilePart, InstructionsView};
#[doc(hidden)]
pub use record::round_confidence;
pub use record::{ClientPlaces, RefusedRecord, SkillList, SkillRecord};
pub use skill::{Body, NotFor, SkillView, TriggersView};
pub use why::{LearnedBar, MatchedSkill, Unmatched, Why};

/// The version of the contract.
pub const VERSION: u32 = 2;
