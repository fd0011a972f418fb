//! Settings files.

use std::path::Path;

use skillfold_core::{Code, Error};
use toml::de::DeTable;

use crate::environment::{Environment, SETTINGS_VARIABLE, is_there, other_writer, read_settings};
use crate::settings::layer::Layer;
use crate::settings::lines::LineStarts;
use crate::settings::value::{RawValue, ValuePlace, entries};
use crate::settings::{Origin, finding};

/// Reads the person's file. Relative paths in it start at its folder.
pub(super) fn user(environment: &Environment) -> Layer {
    let Some(path) = environment.user_settings() else {
        return Layer::default();
    };
    let base = path.parent().unwrap_or(&path);
    let origin = |line| Origin::User(path.clone(), line);
    if environment.names_settings() && !is_there(&path) {
        let mut layer = Layer::default();
        let message = format!("The settings file that `{SETTINGS_VARIABLE}` names does not exist");
        layer.report(finding(Code::SettingsUnreadable, &origin(1), None, message));
        return layer;
    }
    let mut layer = read(environment, &path, base, origin);
    if layer.trusts()
        && let Some(why) = other_writer(&path)
    {
        layer.trust_nothing(&why);
    }
    layer
}

/// Reads the project's file. Relative paths in it start at the project.
pub(super) fn project(environment: &Environment) -> Layer {
    let path = environment.project_settings();
    // A project that is the person's home has the person's settings and none of its own.
    if environment.home_dir() == Some(environment.project()) {
        return Layer::default();
    }
    read(environment, &path, environment.project(), |line| {
        Origin::Project(path.clone(), line)
    })
}

fn read(
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
    for (key, value) in entries(table.get_ref()) {
        let span = lines.span(key.span());
        let place = ValuePlace {
            environment,
            base,
            origin: origin(span.start.line),
            span: Some(span),
            lines: Some(&lines),
        };
        layer.set(key.get_ref(), RawValue::Toml(value.get_ref()), &place);
    }
    layer
}
