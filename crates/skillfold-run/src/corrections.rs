//! What was put right after a run: how much of it is kept, and how much is said.

use crate::error::{RunError, RunErrorKind};
use crate::guard::Correction;

/// Maximum corrections that are kept. A run can cause as many as it can create files.
const MAX_KEPT: usize = 100;

/// Maximum corrections that are said one by one.
const MAX_SAID: usize = 5;

/// What was put right in the folders that a run could write: the first 100 corrections, and how many more there were.
/// What could not be put right comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Corrections {
    kept: Vec<Correction>,
    total: usize,
    /// How many of all could not be put right.
    failed: usize,
}

impl Corrections {
    pub(crate) fn new(all: Vec<Correction>) -> Self {
        let mut corrections = Self {
            total: all.len(),
            failed: all.iter().filter(|it| it.is_failure()).count(),
            kept: all,
        };
        corrections.cut();
        corrections
    }

    /// Adds those of a later moment.
    pub fn extend(&mut self, later: Self) {
        self.kept.extend(later.kept);
        self.total += later.total;
        self.failed += later.failed;
        self.cut();
    }

    fn cut(&mut self) {
        self.kept.sort_by_key(|it| !it.is_failure());
        self.kept.truncate(MAX_KEPT);
    }

    /// Returns whether nothing had to be put right.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns the first 100.
    pub fn iter(&self) -> impl Iterator<Item = &Correction> {
        self.kept.iter()
    }

    /// Returns how many more there were.
    pub fn more(&self) -> usize {
        self.total - self.kept.len()
    }

    /// Returns what to say of them, to a user or a model: a line for each of the first five, and one for the others.
    pub fn notes(&self) -> Vec<String> {
        let said = self.kept.iter().take(MAX_SAID);
        let mut notes: Vec<String> = said.map(ToString::to_string).collect();
        let more = self.total - notes.len();
        let failed = self.failed.saturating_sub(MAX_SAID);
        notes.extend(match (more, failed) {
            (0, _) => None,
            (1, 0) => Some("1 more such change was put right".to_owned()),
            (1, _) => Some("1 more such change could not be put right".to_owned()),
            (_, 0) => Some(format!("{more} more such changes were put right")),
            _ => Some(format!(
                "{more} more such changes, of which {failed} could not be put right"
            )),
        });
        notes
    }

    /// Returns the error of a run after which something is not right, with what else was done.
    pub(crate) fn failure(&self) -> Option<RunError> {
        if self.failed == 0 {
            return None;
        }
        let hint = "Check the folder before you use it, and do not let this skill write to it";
        let message = self.notes().join("; ");
        Some(RunError::new(RunErrorKind::NotPermitted, message, hint))
    }

    /// Adds what to say of them to an error, which may be all that a caller gets.
    #[must_use]
    pub fn added_to(&self, error: RunError) -> RunError {
        let notes = self.notes().into_iter();
        notes.fold(error, |error, note| error.with_note(&note))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(failed: usize, moved: usize) -> (usize, usize, String) {
        let failed = (0..failed).map(|number| Correction::Failed(format!("/f{number}").into()));
        let moved = (0..moved).map(|number| Correction::PutBack(format!("/m{number}").into()));
        let corrections = Corrections::new(moved.chain(failed).collect());
        let notes = corrections.notes();
        let last = notes.last().cloned().unwrap_or_default();
        assert!(notes.len() <= MAX_SAID + 1);
        (corrections.iter().count(), corrections.more(), last)
    }

    #[test]
    fn five_corrections_are_said_and_the_others_counted() {
        let last = |failed, moved| check(failed, moved).2;
        assert_eq!(last(0, 0), "");
        insta::assert_snapshot!(last(0, 5), @"The script removed the link `/m4`, which no skill may; it is back");
        insta::assert_snapshot!(last(0, 6), @"1 more such change was put right");
        insta::assert_snapshot!(last(3, 4), @"2 more such changes were put right");
        insta::assert_snapshot!(last(6, 0), @"1 more such change could not be put right");
        insta::assert_snapshot!(last(7, 93), @"95 more such changes, of which 2 could not be put right");
        let (kept, more, last) = check(0, 100_000);
        assert_eq!((kept, more), (100, 99_900));
        insta::assert_snapshot!(last, @"99995 more such changes were put right");
    }

    #[test]
    fn what_could_not_be_put_right_comes_first_also_after_more() {
        let one = |path: &str| Corrections::new(vec![Correction::PutBack(path.into())]);
        let mut corrections = one("/a");
        corrections.extend(one("/b"));
        corrections.extend(Corrections::new(vec![Correction::Failed("/c".into())]));
        let order: Vec<bool> = corrections.iter().map(Correction::is_failure).collect();
        assert_eq!(order, [true, false, false]);
        let error = RunError::new(RunErrorKind::Timeout, "It was late", "Wait");
        insta::assert_snapshot!(corrections.added_to(error), @"It was late. The script changed `/c`, which no skill may, and it could not be put right. The script removed the link `/a`, which no skill may; it is back. The script removed the link `/b`, which no skill may; it is back");
    }
}
