//! `skillfold config`

use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};

use anstyle::Style;
use skillfold::core::Error;
use skillfold::core::catalog::nearest;
use skillfold::core::diagnostic::visible;
use skillfold::view::{Document, PathView, SettingsView, WrittenFile};
use skillfold::{
    Environment, KEYS, RootStatus, SettingFinding, SettingsFile, create_settings, remove_setting,
    write_setting,
};

use crate::arguments::{Config, ConfigAction, Global};
use crate::failure::{EXIT_PROBLEMS, Failure};
use crate::host;
use crate::output::{BOLD, DIM, Output, display_path};
use crate::table::Table;

pub(crate) fn run(
    global: &Global,
    options: &Config,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let environment = host::environment(global)?;
    match &options.action {
        None => show(global, options, output),
        Some(ConfigAction::Get { key }) => get(global, key, output),
        Some(ConfigAction::Set {
            key,
            value,
            project,
        }) => {
            let path = write_setting(&environment, file(*project), key, value)?;
            print_written(&path, output)
        }
        Some(ConfigAction::Unset { key, project }) => {
            if let Some(path) = remove_setting(&environment, file(*project), key)? {
                return print_written(&path, output);
            }
            let path = path(&environment, *project)?;
            if output.is_json() {
                output.json(Document::Path(PathView::new(&path)))?;
            } else {
                let file = display_path(&path);
                output.say(format!("Nothing to do: {file} does not set `{key}`"));
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(ConfigAction::Path { project }) => {
            let path = path(&environment, *project)?;
            if output.is_json() {
                output.json(Document::Path(PathView::new(&path)))?;
            } else {
                output.line(display_path(&path))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(ConfigAction::Edit { project }) => edit(&environment, *project),
    }
}

fn file(is_project: bool) -> SettingsFile {
    if is_project {
        SettingsFile::Project
    } else {
        SettingsFile::User
    }
}

fn path(environment: &Environment, is_project: bool) -> Result<PathBuf, Failure> {
    if is_project {
        return Ok(environment.project_settings());
    }
    let path = environment.user_settings();
    path.ok_or_else(|| Error::not_found("home").into())
}

fn print_written(path: &Path, output: &mut Output) -> Result<ExitCode, Failure> {
    if output.is_json() {
        output.json(Document::Written(WrittenFile::new(path)))?;
    } else {
        output.line(display_path(path))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the value of one setting.
fn get(global: &Global, key: &str, output: &mut Output) -> Result<ExitCode, Failure> {
    let skills = host::host(global)?.discover_lenient();
    let mut view = SettingsView::new(&skills.report().settings);
    view.settings.retain(|row| row.key == key);
    view.findings.clear();
    if view.settings.is_empty() {
        let meant = nearest(key, KEYS.iter().map(|key| key.name), 1);
        let hint = match meant.first() {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "`skillfold config` lists them".to_owned(),
        };
        let message = format!("There is no setting `{}`; {hint}", visible(key));
        return Err(Failure::Usage(message));
    }
    if output.is_json() {
        output.json(Document::Settings(view))?;
        return Ok(ExitCode::SUCCESS);
    }
    for value in view.settings.into_iter().filter_map(|row| row.value) {
        output.line(visible(&value))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens a settings file in the user's editor. On Unix the editor takes the place of this process, so that both do not
/// listen to the same keys.
#[expect(
    clippy::disallowed_methods,
    reason = "it starts the editor that the person chose, and runs nothing of a skill"
)]
fn edit(environment: &Environment, is_project: bool) -> Result<ExitCode, Failure> {
    let path = path(environment, is_project)?;
    let Some(editor) = environment.editor() else {
        return Err(Failure::System {
            message: "No editor is set".to_owned(),
            hint: format!(
                "Set `VISUAL` or `EDITOR`, or open {} yourself",
                display_path(&path)
            ),
        });
    };
    create_settings(environment, file(is_project))?;
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    let mut command = process::Command::new(program);
    command.args(words).arg(&path);
    let not_started = |error: io::Error| Failure::System {
        message: format!("`{}` did not start: {error}", visible(program)),
        hint: "Correct `VISUAL` or `EDITOR`: a program, and words without quotes".to_owned(),
    };
    #[cfg(unix)]
    return Err(not_started(std::os::unix::process::CommandExt::exec(
        &mut command,
    )));
    #[cfg(not(unix))]
    match command.status().map_err(not_started)?.code() {
        Some(0) => Ok(ExitCode::SUCCESS),
        _ => Ok(ExitCode::from(EXIT_PROBLEMS)),
    }
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
    let mut table = Table::default();
    for (key, value, origin) in report.settings.explain() {
        let value = value.unwrap_or_else(|| "none".to_owned());
        let value = (Style::new(), visible(&value).into_owned());
        if options.explain {
            table.row([(BOLD, key), value, (DIM, origin.to_string())]);
        } else {
            table.row([(BOLD, key), value]);
        }
    }
    output.table(&table)?;
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
