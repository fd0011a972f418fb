//! `skillfold config`

use std::process::ExitCode;

use skillfold::core::visible;
use skillfold::view::{Document, SettingsView};
use skillfold::{SettingFinding, SettingsFile, write_setting};

use crate::arguments::{Config, ConfigAction, Global};
use crate::failure::{Failure, WRONG};
use crate::host;
use crate::output::{BOLD, DIM, Output, painted};

pub(crate) fn run(
    global: &Global,
    options: &Config,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    match &options.action {
        Some(ConfigAction::Set {
            key,
            value,
            project,
        }) => set(global, key, value, *project, output),
        None => show(global, options, output),
    }
}

fn set(
    global: &Global,
    key: &str,
    value: &str,
    is_project: bool,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let environment = host::environment(global)?;
    let file = if is_project {
        SettingsFile::Project
    } else {
        SettingsFile::User
    };
    let path = write_setting(&environment, file, key, value)?;
    output.line(path.display())?;
    Ok(ExitCode::SUCCESS)
}

fn show(global: &Global, options: &Config, output: &mut Output) -> Result<ExitCode, Failure> {
    let skills = host::host(global)?.discover_anyway();
    let report = skills.report();
    let is_broken = report
        .settings
        .findings
        .iter()
        .any(SettingFinding::is_fatal);
    if output.is_json() {
        output.json(Document::Settings(SettingsView::new(&report.settings)))?;
        return Ok(ExitCode::from(if is_broken { WRONG } else { 0 }));
    }
    let rows = report.settings.explain();
    let key_width = rows
        .iter()
        .map(|(key, ..)| key.len())
        .max()
        .unwrap_or_default();
    let value_width = rows
        .iter()
        .map(|(_, value, _)| value.chars().count())
        .max()
        .unwrap_or_default();
    for (key, value, origin) in rows {
        let key = painted(BOLD, format!("{key:key_width$}"));
        let value = visible(&value).into_owned();
        if options.explain {
            output.line(format!(
                "{key}  {value:value_width$}  {}",
                painted(DIM, origin)
            ))?;
        } else {
            output.line(format!("{key}  {value}"))?;
        }
    }
    for problem in &report.settings.findings {
        host::say(&problem.diagnostic, &problem.origin, output);
    }
    Ok(ExitCode::from(if is_broken { WRONG } else { 0 }))
}
