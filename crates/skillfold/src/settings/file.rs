//! Settings files.

use std::ops::Range;
use std::path::Path;

use skillfold_core::{Code, Position, Span};
use toml::de::DeTable;

use crate::environment::{Environment, SETTINGS_VARIABLE, read_settings};
use crate::settings::layer::Layer;
use crate::settings::value::{Place, Written};
use crate::settings::{Origin, finding};

/// Reads the person's file. Relative paths in it start at its folder.
pub(super) fn user(environment: &Environment) -> Layer {
    let Some(path) = environment.user_settings() else {
        return Layer::default();
    };
    let base = path.parent().unwrap_or(&path);
    let origin = |line| Origin::User(path.clone(), line);
    if environment.names_settings() && !path.exists() {
        let mut layer = Layer::default();
        let message = format!("Settings that `{SETTINGS_VARIABLE}` names are not there");
        layer.report(finding(Code::SettingsUnreadable, &origin(1), None, message));
        return layer;
    }
    read(environment, &path, base, origin)
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
            layer.report(finding(Code::SettingsUnreadable, &origin(1), None, message));
            return layer;
        }
    };
    let lines = Lines::new(&text);
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
    let mut entries: Vec<_> = table.get_ref().iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in entries {
        let span = lines.span(key.span());
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

/// Where the lines of a text start.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            text,
            starts: std::iter::once(0).chain(ends).collect(),
        }
    }

    /// Returns a stretch of bytes in lines and columns.
    fn span(&self, bytes: Range<usize>) -> Span {
        Span::new(self.position(bytes.start), self.position(bytes.end))
    }

    fn position(&self, offset: usize) -> Position {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let before = self
            .text
            .get(self.starts[line - 1]..offset)
            .unwrap_or_default();
        Position::new(count(line), count(before.chars().count()).saturating_add(1))
    }
}
