//! How many findings of each kind there are, where not all of them are shown.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use skillfold::core::diagnostic::Severity;
use skillfold::core::{Code, Diagnostic};

use crate::failure::Failure;
use crate::terminal::output::{Output, paint, severity_style};

/// Counts findings by severity and code.
#[derive(Default)]
pub(crate) struct FindingCounts {
    kinds: BTreeMap<(Reverse<Severity>, Code), KindCount>,
}

/// The findings of one kind.
#[derive(Default)]
pub(crate) struct KindCount {
    pub(crate) findings: usize,
    /// The files that they are in, if those of a file were added together.
    pub(crate) files: usize,
    last_file: PathBuf,
}

impl FindingCounts {
    /// Adds a finding; returns whether it is the first of its kind in its file.
    pub(crate) fn add(&mut self, file: &Path, finding: &Diagnostic) -> bool {
        let kind = (Reverse(finding.severity), finding.code);
        let count = self.kinds.entry(kind).or_default();
        let is_first = count.last_file != file;
        count.findings += 1;
        count.files += usize::from(is_first);
        if is_first {
            file.clone_into(&mut count.last_file);
        }
        is_first
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Returns the kinds, the most severe first.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (Severity, Code, &KindCount)> {
        let kinds = self.kinds.iter();
        kinds.map(|((Reverse(severity), code), count)| (*severity, *code, count))
    }

    /// Prints a line for each kind.
    pub(crate) fn print(&self, indent: &str, output: &mut Output) -> Result<(), Failure> {
        for (severity, code, count) in self.kinds() {
            let head = paint(severity_style(severity), format!("{severity}[{code}]"));
            let (number, description) = (count.findings, code.description());
            output.show(format!("{indent}{number} more {head}: {description}"))?;
        }
        Ok(())
    }
}

/// Returns whether findings of a kind are shown even if there are many: errors, and what may be an attack.
pub(crate) fn is_grave(severity: Severity, code: Code) -> bool {
    severity == Severity::Error || code.is_about_safety()
}
