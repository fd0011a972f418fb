//! What a program should know after discovery.

use std::fmt;

use skillfold_core::catalog::Status;
use skillfold_core::diagnostic::{Severity, visible};
use skillfold_core::source::SKILL_FILE;
use skillfold_core::{Catalog, Code, Diagnostic, Scope};

use crate::discovery::report::DiscoveryReport;
use crate::discovery::roots::RootStatus;

/// Something that a program should know after discovery. It prints as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl Warning {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
        }
    }

    fn from_diagnostic(what: &str, diagnostic: &Diagnostic) -> Self {
        let Diagnostic { message, .. } = diagnostic;
        Self::new(format!("{}: {message}", visible(what)), diagnostic.hint())
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.hint)
    }
}

/// Returns what a program should know about a catalog and how it was discovered.
pub(super) fn warnings(catalog: &Catalog, report: &DiscoveryReport) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let count = |status| {
        let entries = catalog.entries();
        entries.filter(|entry| entry.status() == status).count()
    };
    let skills = |count| match count {
        1 => "1 skill is".to_owned(),
        _ => format!("{count} skills are"),
    };
    let untrusted = count(Status::Untrusted);
    if untrusted > 0 {
        warnings.push(Warning::new(
            format!("{} withheld: the project is not trusted", skills(untrusted)),
            "Trust it with `skillfold trust`, or with the setting `trust_project`",
        ));
    }
    let held = count(Status::Held);
    if held > 0 {
        warnings.push(Warning::new(
            format!("{} held: new, and not trusted yet", skills(held)),
            "Review and trust new skills with `skillfold trust --held`",
        ));
    }
    for root in &report.roots {
        if let RootStatus::Missing(diagnostic) | RootStatus::Stale(diagnostic) = &root.status {
            warnings.push(Warning::from_diagnostic(&root.label, diagnostic));
        }
    }
    for finding in catalog.findings() {
        let diagnostic = &finding.finding.diagnostic;
        if diagnostic.code == Code::Unavailable {
            let root = catalog.roots()[finding.source].label();
            warnings.push(Warning::from_diagnostic(root, diagnostic));
        }
    }
    for refused in catalog.refused() {
        let root = &catalog.roots()[refused.source];
        if root.scope() != Scope::Bundled {
            continue;
        }
        let file = format!("Bundled `{}/{SKILL_FILE}`", refused.folder.path());
        let why = refused.diagnostics.first();
        warnings.extend(why.map(|why| Warning::from_diagnostic(&file, why)));
    }
    // Infos are left to `doctor` and `config`.
    let findings = report.findings();
    for finding in findings.filter(|finding| finding.diagnostic.severity > Severity::Info) {
        let origin = finding.origin.to_string();
        warnings.push(Warning::from_diagnostic(&origin, &finding.diagnostic));
    }
    warnings
}
