//! Settings files.

use std::path::Path;

use skillfold_core::{Code, Position, Span};
use toml::de::DeTable;

use crate::environment::{Environment, read_settings};
use crate::settings::layer::{Layer, Place};
use crate::settings::value::Written;
use crate::settings::{Origin, finding};

/// Reads the person's file. Relative paths in it start at its folder.
pub(super) fn user(environment: &Environment) -> Layer {
    let Some(path) = environment.user_settings() else {
        return Layer::default();
    };
    let base = path.parent().unwrap_or(&path);
    read(environment, &path, base, |line| {
        Origin::User(path.clone(), line)
    })
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
            layer
                .findings
                .push(finding(Code::SettingsUnreadable, &origin(1), None, message));
            return layer;
        }
    };
    let table = match DeTable::parse(&text) {
        Ok(table) => table,
        Err(error) => {
            let span = error
                .span()
                .map(|range| span(&text, range.start, range.end));
            let origin = origin(span.map_or(1, |span| span.start.line));
            let message = format!("Settings are not valid TOML: {}", error.message().trim());
            layer
                .findings
                .push(finding(Code::SettingsUnreadable, &origin, span, message));
            return layer;
        }
    };
    let mut entries: Vec<_> = table.get_ref().iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in entries {
        let range = key.span();
        let span = span(&text, range.start, range.end);
        let place = Place {
            environment,
            base,
            origin: origin(span.start.line),
            span: Some(span),
        };
        layer.set(key.get_ref(), Written::Toml(value.get_ref()), &place);
    }
    layer
}

/// Returns a stretch of bytes in lines and columns.
fn span(text: &str, start: usize, end: usize) -> Span {
    let position = |offset: usize| {
        let before = text.get(..offset).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1);
        Position::new(
            count(before.matches('\n').count()),
            count(before[line_start..].chars().count()),
        )
    };
    Span::new(position(start), position(end))
}
