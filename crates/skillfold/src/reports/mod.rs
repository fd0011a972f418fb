//! Reports for people: how skills are used, and which overlap.

pub(crate) mod overlap;
pub(crate) mod stats;

pub use overlap::{CrowdedTrigger, Overlap, Overlaps, Rival, SkillCopies};
pub use stats::{
    HookClientStats, HookCounts, HookPrompt, HookPromptSkill, HookStats, LogCounts, PeriodLength,
    SignalStats, SkillStats, Stats, StatsPeriod, Tally,
};
