//! For skill authors: creating, checking and testing skills.

#[cfg(feature = "store")]
pub(crate) mod changed_file;
pub(crate) mod check;
pub(crate) mod evaluate;
#[cfg(feature = "store")]
pub(crate) mod generated_file;
#[cfg(feature = "store")]
pub(crate) mod improvement;
#[cfg(feature = "store")]
pub(crate) mod scaffold;

#[cfg(feature = "store")]
pub use changed_file::change_file;
pub use check::{CheckTarget, CheckedSkill};
pub use evaluate::{
    Confusion, EvaluatedQuery, EvaluatedSkill, Evaluation, EvaluationFinding, QueryCounts,
    QueryMatch, TriggeredBy,
};
#[cfg(feature = "store")]
pub use generated_file::{Overwrite, write_generated};
#[cfg(feature = "store")]
pub use improvement::Improvement;
#[cfg(feature = "store")]
pub use scaffold::{NewSkill, SkillLocation, ToolsetLanguage, scaffold};
