//! What tools answer, and the cache of these answers.

mod skill_lines;
mod tool;

mod tool_answer;

mod cache;

pub(crate) use cache::{AnswerCache, AnswerKey};
pub(crate) use skill_lines::{Fit, SkillLine, SkillLines};
pub use tool::Tool;
pub(crate) use tool_answer::LoadedSkill;
pub use tool_answer::{Block, ToolAnswer};
