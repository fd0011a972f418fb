//! `skillfold vendor`

use std::process::ExitCode;

use skillfold::view::{Document, InstallView};

use crate::arguments::{Global, Vendor};
use crate::commands::install::say_failed;
use crate::failure::{CommandResult, EXIT_PROBLEMS};
use crate::host;
use crate::terminal::output::{GOOD, Output, display_path, paint, pluralize};
use crate::terminal::progress;

pub(crate) fn run(global: &Global, options: &Vendor, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let registry = skills.registry(options.whose.scope())?;
    let registry = registry.with_progress(progress::fetching(output.is_quiet()));
    let report = registry.vendor();
    progress::clear();
    let report = report?;
    say_failed(&report, output);
    output.say(format!(
        "{}: {} in {}; `skillfold install --frozen --offline` takes them from there",
        paint(GOOD, "Copied"),
        pluralize(report.skills.len() - report.failed(), "skill", "skills"),
        display_path(&registry.vendor_folder())
    ));
    if output.is_json() {
        output.json(Document::Installed(InstallView::new(&report)))?;
    }
    if report.failed() > 0 {
        return Ok(ExitCode::from(EXIT_PROBLEMS));
    }
    Ok(ExitCode::SUCCESS)
}
