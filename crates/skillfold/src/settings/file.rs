//! Reads settings files.

use std::path::Path;

use skillfold_core::{Code, Error};
use toml::de::DeTable;

use crate::environment::{Environment, SETTINGS_VARIABLE, exists, other_writer, read_settings};
use crate::settings::key::Layer;
use crate::settings::line_starts::LineStarts;
use crate::settings::setting::{Origin, finding};
use crate::settings::value::{RawValue, ValueContext, ordered_entries};

/// Reads the user's file. Relative paths in it start at its folder.
pub(super) fn read_user(environment: &Environment) -> Layer {
    let Some(path) = environment.user_settings() else {
        return Layer::default();
    };
    let base = path.parent().unwrap_or(&path);
    let origin = |line| Origin::User(path.clone(), line);
    if environment.has_settings_variable() && !exists(&path) {
        let mut layer = Layer::default();
        let message = format!("The settings file that `{SETTINGS_VARIABLE}` names does not exist");
        layer.report(finding(Code::SettingsUnreadable, &origin(1), None, message));
        return layer;
    }
    let mut layer = read_file(environment, &path, base, origin);
    if layer.trusts_projects()
        && let Some(why) = other_writer(&path)
    {
        layer.revoke_trust(&why);
    }
    layer
}

/// Reads the project's file. Relative paths in it start at the project's folder.
pub(super) fn read_project(environment: &Environment) -> Layer {
    let path = environment.project_settings();
    // In the user's home, the file would be the user's and not a project's.
    if environment.home_dir() == Some(environment.project()) {
        return Layer::default();
    }
    read_file(environment, &path, environment.project(), |line| {
        Origin::Project(path.clone(), line)
    })
}

fn read_file(
    environment: &Environment,
    path: &Path,
    base: &Path,
    origin: impl Fn(u32) -> Origin,
) -> Layer {
    let mut layer = Layer::default();
    let text = match read_settings(path) {
        Ok(Some(text)) => text,
        Ok(None) => return layer,
        Err(error) => {
            let message = format!("Settings could not be read: {error}");
            let is_transient = Error::read("", error).is_transient();
            let code = if is_transient {
                Code::Unavailable
            } else {
                Code::SettingsUnreadable
            };
            layer.report(finding(code, &origin(1), None, message));
            return layer;
        }
    };
    let lines = LineStarts::new(&text);
    let table = match DeTable::parse(&text) {
        Ok(table) => table,
        Err(error) => {
            let span = error.span().map(|range| lines.span(range));
            let origin = origin(span.map_or(1, |span| span.start.line));
            let message = format!("Settings are not valid TOML: {}", error.message().trim());
            layer.report(finding(Code::SettingsUnreadable, &origin, span, message));
            return layer;
        }
    };
    for (key, value) in ordered_entries(table.get_ref()) {
        let span = lines.span(key.span());
        let context = ValueContext {
            environment,
            base,
            origin: origin(span.start.line),
            span: Some(span),
            lines: Some(&lines),
        };
        layer.set(key.get_ref(), RawValue::Toml(value.get_ref()), &context);
    }
    layer
}
