//! Counts of requests and outcomes, with precision and recall.

use skillfold_core::disclose::Feedback;

/// Counts of requests and of skill outcomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Requests.
    pub turns: u64,
    /// Requests that matched at least one skill.
    pub matched_turns: u64,
    /// Skills that were given and used.
    pub used: u64,
    /// Skills that were given but not used.
    pub unused: u64,
    /// Skills that were needed but not given.
    pub missed: u64,
}

impl Tally {
    /// Returns the number of outcomes.
    pub const fn outcomes(&self) -> u64 {
        self.used
            .saturating_add(self.unused)
            .saturating_add(self.missed)
    }

    /// Returns the number of wrong outcomes: unused or missed.
    pub const fn wrong(&self) -> u64 {
        self.unused.saturating_add(self.missed)
    }

    /// Returns the share of the given skills that were used, from 0 to 1; `None` if none was given.
    pub fn precision(&self) -> Option<f64> {
        ratio(self.used, self.unused)
    }

    /// Returns the share of the needed skills that were given, from 0 to 1; `None` if none was needed.
    pub fn recall(&self) -> Option<f64> {
        ratio(self.used, self.missed)
    }

    pub(super) fn count_turn(&mut self, is_matched: bool) {
        self.turns += 1;
        self.matched_turns += u64::from(is_matched);
    }

    pub(super) fn count_feedback(&mut self, feedback: Feedback) {
        match feedback {
            Feedback::Used => self.used += 1,
            Feedback::Unused => self.unused += 1,
            Feedback::Missed => self.missed += 1,
            _ => {}
        }
    }
}

fn ratio(part: u64, rest: u64) -> Option<f64> {
    let all = part.saturating_add(rest);
    #[expect(clippy::cast_precision_loss, reason = "a share may be rounded")]
    let share = part as f64 / all as f64;
    (all > 0).then_some(share)
}
