//! The JSON contract: what every face says about skills, in one form.
//!
//! Values here are plain copies for serialising, version 1 of the contract. Fields are added without a new version, and
//! none is removed or changes its meaning. A field that has nothing to say is absent.

mod any;
mod finding;

mod record;

mod skill;

mod disclose;
mod load;

mod why;

pub use any::Any;
pub use disclose::{Announced, Bytes, Decision, ListingText, Prompt};
pub use finding::{Diagnostic, Position, Span};
pub use load::{FileEntry, FileFinding, FileListing, FilePart, Instructions};
#[doc(hidden)]
pub use record::rounded;
pub use record::{Listing, RefusedRecord, SkillRecord};
pub use skill::{Body, Skill, Triggers};
pub use why::{Matched, NearTrigger, Unmatched, Why};

/// The version of the contract.
pub const VERSION: u32 = 1;
