//! Skill selection: which skills a message asks for, and with what confidence.

// Modules are listed in dependency order.

mod message;

mod capability;

mod literals;

mod patterns;

pub(crate) mod signal;

pub(crate) mod compiled;

pub(crate) mod match_cache;

pub(crate) mod finder;

pub(crate) mod matcher;

pub(crate) mod near_miss;

pub(crate) mod rank;

pub(crate) mod restraint;

pub use compiled::check_triggers;
pub use finder::{Finder, Suggestion};
pub use matcher::{Candidate, Matcher, Matches};
pub use near_miss::{NearMiss, TriggerKind};
pub use rank::rank;
pub use restraint::Restraint;
pub use signal::Signal;
