//! What tools answer, and the cache of these answers.

pub(crate) mod failure;
#[cfg(feature = "store")]
mod proposed_skill;
#[cfg(feature = "run")]
mod run_result;
mod skill_lines;
mod tool;

mod tool_answer;

mod cache;

pub(crate) use cache::{AnswerCache, AnswerKey};
#[cfg(feature = "store")]
pub(crate) use proposed_skill::ProposedSkill;
#[cfg(feature = "run")]
pub(crate) use run_result::RunResult;
pub use skill_lines::Fit;
pub(crate) use skill_lines::{SkillLine, SkillLines};
pub use tool::Tool;
pub use tool_answer::{Block, ToolAnswer};
pub(crate) use tool_answer::{LoadedSkill, Payload};
