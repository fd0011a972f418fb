//! The paths that could not be read for the moment.

use std::collections::HashSet;

use crate::codes::Code;
use crate::read::discover::SourceFinding;
use crate::source::Folder;

/// The source index and path of everything that was temporarily unreadable.
#[derive(Default)]
pub(super) struct UnavailablePaths<'a>(HashSet<(usize, &'a str)>);

impl<'a> UnavailablePaths<'a> {
    pub(super) fn from_findings(findings: &'a [SourceFinding]) -> Self {
        let paths = findings
            .iter()
            .filter(|found| found.finding.diagnostic.code == Code::Unavailable)
            .map(|found| (found.source, &*found.finding.path));
        Self(paths.collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a folder is one of the paths, or below one.
    pub(super) fn covers(&self, source: usize, folder: &Folder) -> bool {
        let path = folder.path();
        let ends = path.match_indices('/').map(|(at, _)| at);
        let mut ends = [0, path.len()].into_iter().chain(ends);
        !self.is_empty() && ends.any(|end| self.0.contains(&(source, &path[..end])))
    }
}
