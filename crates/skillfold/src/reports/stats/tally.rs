//! Counts of requests and outcomes, with precision and recall.

use serde::{Serialize, Serializer};
use skillfold_core::disclose::Feedback;

/// Counts of requests, and of outcomes that hosts reported for skills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename = "TallyView", into = "TallyCounts")]
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

/// Counts of requests, and of outcomes that hosts reported for skills.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub(super) struct TallyCounts {
    /// Requests; absent in the counts of one skill or signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<u64>,
    /// Requests that matched at least one skill; absent in the counts of one skill or signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    matched_turns: Option<u64>,
    /// Outcomes: used, unused and missed together.
    outcomes: u64,
    /// Skills that the model was told about and used.
    used: u64,
    /// Skills that the model was told about and did not use.
    unused: u64,
    /// Skills that were needed but not given.
    missed: u64,
    /// Precision: `used` divided by `used` plus `unused`, from 0 to 1; absent if both are 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    precision: Option<f64>,
    /// Recall: `used` divided by `used` plus `missed`, from 0 to 1; absent if both are 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    recall: Option<f64>,
}

impl From<Tally> for TallyCounts {
    fn from(tally: Tally) -> Self {
        Self {
            turns: Some(tally.turns),
            matched_turns: Some(tally.matched_turns),
            outcomes: tally.outcomes(),
            used: tally.used,
            unused: tally.unused,
            missed: tally.missed,
            precision: tally.precision(),
            recall: tally.recall(),
        }
    }
}

/// Serializes the counts of one skill or signal, for which requests are not counted.
pub(super) fn without_turns<S: Serializer>(
    tally: &Tally,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let counts = TallyCounts {
        turns: None,
        matched_turns: None,
        ..(*tally).into()
    };
    counts.serialize(serializer)
}

fn ratio(part: u64, rest: u64) -> Option<f64> {
    let all = part.saturating_add(rest);
    #[expect(clippy::cast_precision_loss, reason = "a share may be rounded")]
    let share = part as f64 / all as f64;
    (all > 0).then_some(share)
}
