//! Disclosure: what a model is told about skills, within a budget.

pub(crate) mod tokens;

pub(crate) mod budget;

mod clip;

pub(crate) mod fit;

pub(crate) mod tool_names;

pub(crate) mod style;

pub(crate) mod bars;

pub(crate) mod policy;

pub(crate) mod listing;

pub(crate) mod changes;

pub(crate) mod memory;

mod visible;

pub(crate) mod outcome;

pub(crate) mod text;

pub(crate) mod decision;

pub(crate) mod turn;

pub use crate::feedback::Feedback;
pub use bars::{SkillBars, UseCounts};
pub use budget::{Budget, Unit, Window};
pub use changes::{AnnouncedChanges, ShownListing};
pub use decision::Decision;
pub use fit::ListingDetail;
pub use listing::Listing;
pub use memory::{Memory, NoMemory, RepeatedSkill};
pub use outcome::SkillOutcome;
pub use policy::{
    Breadcrumb, ClientList, Fallback, LogDetail, Mode, Policy, SuggestionThresholds, Tier,
};
pub use style::Style;
pub use tokens::{TokenCounter, TokenEstimate};
pub use tool_names::ToolNames;
pub use turn::{Turn, turn};
