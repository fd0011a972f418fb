//! What the use of skills teaches: how likely a request must be about each before a model is told.

use std::collections::BTreeMap;

/// What is added to each count: the first few times say little.
const PRIOR: f64 = 3.0;

/// How much more a bar rises than the ratio of the counts, in log odds.
const RISE: f64 = 1.5;

/// The same for how much it falls: each prompt that needs no skill pays for a low bar.
const FALL: f64 = 0.5;

/// The most that a bar rises, in log odds: from 25 % to 55 %.
const MAX_RISE: f64 = 1.3;

/// The most that a bar falls, in log odds: from 25 % to 14 %.
const MAX_FALL: f64 = 0.7;

/// What became of a skill lately. Counts fade with time, so they are not whole numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct UseCounts {
    /// How often it was suggested, and not used.
    pub ignored: f64,
    /// How often it was suggested, and used.
    pub used: f64,
    /// How often it was used although nothing had suggested it.
    pub missed: f64,
}

impl UseCounts {
    /// Creates the counts.
    pub const fn new(ignored: f64, used: f64, missed: f64) -> Self {
        Self {
            ignored,
            used,
            missed,
        }
    }

    /// Returns by how much the bar of the skill is higher, or lower if it is negative, in log odds.
    fn shift(&self) -> f64 {
        let uses = self.used + self.missed;
        let rise = ((PRIOR + self.ignored) / (PRIOR + uses)).ln().max(0.0);
        let fall = ((PRIOR + self.missed) / PRIOR).ln();
        (RISE * rise - FALL * fall).clamp(-MAX_FALL, MAX_RISE)
    }
}

/// The skills whose bars use has moved: how likely a request must be about one before a model gets a line about it, or its
/// instructions.
///
/// ```
/// use skillfold_core::disclose::{SkillBars, UseCounts};
///
/// let mut bars = SkillBars::default();
/// bars.insert("weather", UseCounts::new(2.0, 0.0, 0.0));
/// bars.insert("deploy", UseCounts::new(0.0, 0.0, 6.0));
/// let percent = |id| (bars.bar(id, 0.25) * 100.0).round();
/// assert_eq!(percent("review"), 25.0);
/// assert_eq!(percent("weather"), 42.0);
/// assert_eq!(percent("deploy"), 16.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkillBars(BTreeMap<Box<str>, UseCounts>);

impl SkillBars {
    /// Sets what became of a skill.
    pub fn insert(&mut self, id: impl Into<Box<str>>, counts: UseCounts) {
        self.0.insert(id.into(), counts);
    }

    /// Returns what became of a skill; `None` if nothing is known.
    pub fn counts(&self, id: &str) -> Option<UseCounts> {
        self.0.get(id).copied()
    }

    /// Returns the bar of a skill, from 0 to 1, where that of a skill of which nothing is known is `usual`.
    pub fn bar(&self, id: &str, usual: f32) -> f32 {
        match self.0.get(id) {
            Some(counts) if usual > 0.0 && usual < 1.0 => {
                let usual = f64::from(usual);
                let log_odds = (usual / (1.0 - usual)).ln() + counts.shift();
                #[expect(clippy::cast_possible_truncation, reason = "it is from 0 to 1")]
                let bar = (1.0 / (1.0 + (-log_odds).exp())) as f32;
                bar
            }
            _ => usual,
        }
    }
}
