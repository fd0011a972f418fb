//! `skillfold config`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use skillfold::core::Error;
use skillfold::core::catalog::nearest;
use skillfold::core::diagnostic::visible;
use skillfold::view::{Document, PathView, PolicyView, SettingsView, WrittenFile};
use skillfold::{
    Environment,
    discovery::{DiscoveryReport, RootStatus},
    settings::{
        KEYS, SettingFinding, SettingsFile, create_settings, remove_setting, write_setting,
    },
};

use crate::arguments::{Config, ConfigAction, Global};
use crate::commands::trust::skills::trust_present;
use crate::failure::{CommandResult, EXIT_PROBLEMS, Failure};
use crate::host;
use crate::terminal::editor;
use crate::terminal::output::{BAD, BOLD, DIM, Output, PLAIN, display_path, paint};
use crate::terminal::table::Table;

pub(crate) fn run(global: &Global, options: &Config, output: &mut Output) -> CommandResult {
    let environment = host::environment(global)?;
    match &options.action {
        None => show(global, options, output),
        Some(ConfigAction::Get { key }) => get(global, key, output),
        Some(ConfigAction::Set {
            key,
            value,
            project,
        }) => {
            // Before the setting counts, so that nothing is held that was there before.
            if key == "new_skills" && value.trim() == "hold" && !project {
                trust_present(host::host(global)?, output)?;
            }
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
        Some(ConfigAction::Edit { project }) => edit(global, *project, output),
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

fn print_written(path: &Path, output: &mut Output) -> CommandResult {
    if output.is_json() {
        output.json(Document::Written(WrittenFile::new(path)))?;
    } else {
        output.line(display_path(path))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the value of one setting.
fn get(global: &Global, key: &str, output: &mut Output) -> CommandResult {
    let skills = host::host(global)?.discover_lenient().skills;
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
        return output.json(Document::Settings(view));
    }
    for value in view.settings.into_iter().filter_map(|row| row.value) {
        output.line(visible(&value))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens a settings file in the user's editor, and says then what is wrong with the settings.
fn edit(global: &Global, is_project: bool, output: &mut Output) -> CommandResult {
    let environment = host::environment(global)?;
    let path = path(&environment, is_project)?;
    let editor = editor::editor(&environment, &display_path(&path))?;
    create_settings(&environment, file(is_project))?;
    let ended = editor::run(editor, &path)?;
    if !ended.success() {
        output.say(format!("`{}` ended with {ended}", visible(editor)));
    }
    let skills = host::host(global)?.discover_lenient().skills;
    let code = say_problems(&skills.report(), output);
    Ok(if ended.success() {
        code
    } else {
        ExitCode::from(EXIT_PROBLEMS)
    })
}

fn show(global: &Global, options: &Config, output: &mut Output) -> CommandResult {
    let skills = host::host(global)?.discover_lenient().skills;
    let report = skills.report();
    let mut view = SettingsView::new(&report.settings);
    view.policy = PolicyView::new(&skills);
    let policy_error = view.policy.as_ref().and_then(|it| it.error.clone());
    let code = if output.is_json() {
        output.json(Document::Settings(view))?;
        exit_code(&report)
    } else {
        output.table(&table(&view, options))?;
        say_problems(&report, output)
    };
    let Some(error) = policy_error else {
        return Ok(code);
    };
    output.say_problem(format!("{}: {error}", paint(BAD, "error")));
    Ok(ExitCode::from(EXIT_PROBLEMS))
}

/// Returns the settings and the rules of the policy, with their origins if asked for.
fn table(view: &SettingsView, options: &Config) -> Table {
    let settings = view.settings.iter().map(|row| {
        let value = row.value.clone().unwrap_or_else(|| "none".to_owned());
        (row.key.clone(), value, row.origin.to_string())
    });
    let rules = view.policy.iter().flat_map(|policy| &policy.rules);
    let rules = rules.map(|rule| {
        let key = format!("policy.{}", rule.name);
        (
            key,
            visible(&rule.value).into_owned(),
            visible(&rule.origin).into_owned(),
        )
    });
    let mut table = Table::default();
    for (key, value, origin) in settings.chain(rules) {
        let (key, value) = ((BOLD, &*key), (PLAIN, &*value));
        if options.explain {
            table.row([key, value, (DIM, &origin)]);
        } else {
            table.row([key, value]);
        }
    }
    table
}

/// Prints what is wrong with the settings, and returns the exit code.
fn say_problems(report: &DiscoveryReport, output: &mut Output) -> ExitCode {
    for root in &report.roots {
        if let RootStatus::Missing(diagnostic) = &root.status {
            host::say_with_origin(diagnostic, &root.origin, output);
        }
    }
    for problem in &report.settings.findings {
        host::say_with_origin(&problem.diagnostic, &problem.origin, output);
    }
    exit_code(report)
}

fn exit_code(report: &DiscoveryReport) -> ExitCode {
    let mut problems = report.settings.findings.iter();
    let is_broken = problems.any(SettingFinding::is_fatal);
    ExitCode::from(if is_broken { EXIT_PROBLEMS } else { 0 })
}
