//! `skillfold config`

use std::process::ExitCode;

use skillfold::core::diagnostic::visible;
use skillfold::view::{Document, SettingsView, WrittenFile};
use skillfold::{RootStatus, SettingFinding, SettingsFile, write_setting};

use crate::arguments::{Config, ConfigAction, Global};
use crate::failure::{EXIT_PROBLEMS, Failure};
use crate::host;
use crate::output::{BOLD, DIM, Output, display_path, paint};

pub(crate) fn run(
    global: &Global,
    options: &Config,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let Some(ConfigAction::Set {
        key,
        value,
        project,
    }) = &options.action
    else {
        return show(global, options, output);
    };
    let file = if *project {
        SettingsFile::Project
    } else {
        SettingsFile::User
    };
    let path = write_setting(&host::environment(global)?, file, key, value)?;
    if output.is_json() {
        output.json(Document::Written(WrittenFile::new(&path)))?;
    } else {
        output.line(display_path(&path))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(global: &Global, options: &Config, output: &mut Output) -> Result<ExitCode, Failure> {
    let skills = host::host(global)?.discover_lenient();
    let report = skills.report();
    let is_broken = report
        .settings
        .findings
        .iter()
        .any(SettingFinding::is_fatal);
    if output.is_json() {
        output.json(Document::Settings(SettingsView::new(&report.settings)))?;
        return Ok(ExitCode::from(if is_broken { EXIT_PROBLEMS } else { 0 }));
    }
    let rows = report.settings.explain().into_iter();
    let rows: Vec<_> = rows
        .map(|(key, value, origin)| {
            let value = value.unwrap_or_else(|| "none".to_owned());
            (key, visible(&value).into_owned(), origin)
        })
        .collect();
    let key_width = rows
        .iter()
        .map(|(key, ..)| key.chars().count())
        .max()
        .unwrap_or_default();
    let value_width = rows
        .iter()
        .map(|(_, value, _)| value.chars().count())
        .max()
        .unwrap_or_default();
    for (key, value, origin) in rows {
        let key = paint(BOLD, format!("{key:key_width$}"));
        if options.explain {
            output.line(format!(
                "{key}  {value:value_width$}  {}",
                paint(DIM, origin)
            ))?;
        } else {
            output.line(format!("{key}  {value}"))?;
        }
    }
    for root in &report.roots {
        if let RootStatus::Missing(diagnostic) = &root.status {
            host::say_with_origin(diagnostic, &root.origin, output);
        }
    }
    for problem in &report.settings.findings {
        host::say_with_origin(&problem.diagnostic, &problem.origin, output);
    }
    Ok(ExitCode::from(if is_broken { EXIT_PROBLEMS } else { 0 }))
}
