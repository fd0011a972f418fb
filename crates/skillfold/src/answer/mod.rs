//! What tools answer, and the cache of these answers.

mod skill_lines;
mod tool;

mod tool_answer;

mod cache;

pub(crate) use cache::{AnswerCache, AnswerKey};
pub use skill_lines::Fit;
pub(crate) use skill_lines::{SkillLine, SkillLines};
pub use tool::Tool;
pub(crate) use tool_answer::LoadedSkill;
pub use tool_answer::{Block, ToolAnswer};
