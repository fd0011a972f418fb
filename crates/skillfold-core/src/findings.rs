//! Lists of findings that are limited in length.

use crate::codes::Code;
use crate::diagnostic::Diagnostic;

/// Findings up to a limit. The rest are counted, and a last finding says how many there are.
///
/// ```
/// use skillfold_core::{Code, Diagnostic};
/// use skillfold_core::diagnostic::LimitedFindings;
///
/// let mut findings = LimitedFindings::new(1);
/// for name in ["a", "b", "c"] {
///     findings.push(|| Diagnostic::new(Code::SettingForm, None, format!("`{name}` is not a setting")));
/// }
/// let listed = findings.finish(|more| more);
/// assert_eq!(listed[0].message.as_ref(), "`a` is not a setting");
/// assert_eq!(listed[1].message.as_ref(), "2 more findings are not listed");
/// ```
#[derive(Debug)]
pub struct LimitedFindings<T> {
    listed: Vec<T>,
    limit: usize,
    unlisted: usize,
}

impl<T> LimitedFindings<T> {
    /// Creates an empty list that takes `limit` findings.
    pub fn new(limit: usize) -> Self {
        Self {
            listed: Vec::new(),
            limit,
            unlisted: 0,
        }
    }

    /// Adds a finding, which is built only if there is room.
    pub fn push(&mut self, finding: impl FnOnce() -> T) {
        if self.listed.len() < self.limit {
            self.listed.push(finding());
        } else {
            self.unlisted += 1;
        }
    }

    /// Adds a finding that must not be left out, whatever the limit.
    pub fn push_always(&mut self, finding: T) {
        self.listed.push(finding);
    }

    /// Returns the findings that are listed so far.
    pub fn listed(&self) -> &[T] {
        &self.listed
    }

    /// Returns the findings. If some were left out, `more` turns the diagnostic that counts them into the last one.
    pub fn finish(mut self, more: impl FnOnce(Diagnostic) -> T) -> Vec<T> {
        if self.unlisted > 0 {
            let message = format!("{} more findings are not listed", self.unlisted);
            let diagnostic = Diagnostic::new(Code::MoreFindings, None, message);
            self.listed.push(more(diagnostic));
        }
        self.listed
    }
}
