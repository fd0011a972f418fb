//! Findings of many skills on one screen: the errors, then how many there are of each kind.

use std::cmp::Reverse;

use skillfold::author::CheckedSkill;
use skillfold::core::Diagnostic;

use crate::failure::Failure;
use crate::terminal::finding_counts::{FindingCounts, is_grave};
use crate::terminal::output::{DIM, Output, PLAIN, display_path, paint, pluralize, severity_style};
use crate::terminal::table::Table;

/// Maximum findings of several skills that are drawn unasked, and errors that are listed.
const MAX_UNASKED: usize = 10;

/// Findings of many skills, by kind.
#[derive(Default)]
pub(super) struct Summary {
    skills: usize,
    findings: usize,
    /// The first errors and findings about safety; these come first.
    grave: Vec<(String, Diagnostic)>,
    grave_count: usize,
    counts: FindingCounts,
}

impl Summary {
    pub(super) fn add(&mut self, checked: &CheckedSkill) {
        self.skills += 1;
        self.findings += checked.findings.len();
        for finding in &checked.findings {
            // One of each kind shows where to look; its number is below.
            let is_first = self.counts.add(&checked.file, finding);
            if is_first && is_grave(finding.severity, finding.code) {
                self.grave_count += 1;
                let file = display_path(&checked.file);
                self.grave.push((file, finding.clone()));
            }
        }
        self.grave
            .sort_by_key(|(_, finding)| !finding.code.is_about_safety());
        self.grave.truncate(MAX_UNASKED);
    }

    /// Returns whether the findings are few enough to draw each with its line.
    pub(super) fn fits_a_screen(&self) -> bool {
        self.skills < 2 || self.findings <= MAX_UNASKED
    }

    pub(super) fn print(&self, output: &mut Output) -> Result<(), Failure> {
        for (file, finding) in &self.grave {
            let place = finding
                .span
                .map_or(file.clone(), |span| format!("{file}:{}", span.start));
            let head = format!("{}[{}]", finding.severity, finding.code);
            let head = paint(severity_style(finding.severity), head);
            output.line(format!("{head}: {}\n  {place}", finding.message))?;
        }
        let more = self.grave_count - self.grave.len();
        if more > 0 {
            output.line(format!("and {more} more of these"))?;
        }
        if !self.grave.is_empty() {
            output.line("")?;
        }
        let mut kinds: Vec<_> = self.counts.kinds().collect();
        kinds.sort_by_key(|(severity, _, count)| Reverse((*severity, count.findings)));
        let mut table = Table::default();
        for (severity, code, count) in kinds {
            let is_listed = more == 0 && count.findings == count.files;
            if is_listed && is_grave(severity, code) {
                continue;
            }
            let skills = pluralize(count.files, "skill", "skills");
            table.row([
                (severity_style(severity), &format!("{severity}[{code}]")),
                (PLAIN, &format!("{:>5}", count.findings)),
                (DIM, &format!("in {skills}")),
                (PLAIN, code.description()),
            ]);
        }
        output.table(&table)
    }
}
