//! A root that settings name.

use std::io;
use std::path::{Component, Path};

use skillfold_core::{PluginName, Scope};
use toml::de::DeValue;

use crate::environment::resolve;
use crate::settings::value::{RawValue, ValuePlace};
use crate::settings::{ConfiguredRoot, Origin};

/// The words that a root is written with.
struct Words<'a> {
    path: &'a str,
    scope: Option<&'a str>,
    plugin: Option<&'a str>,
}

/// Reads a root: a path, `scope=path`, `plugin=path`, or a table of path, scope and plugin.
pub(super) fn read(
    written: RawValue<'_>,
    place: &ValuePlace<'_>,
) -> Result<ConfiguredRoot, String> {
    let words = match written {
        RawValue::Toml(value) if value.is_table() => table(value)?,
        _ => text(written.text()?),
    };
    let is_project = matches!(place.origin, Origin::Project(..));
    let own_scope = if is_project {
        Scope::Project
    } else {
        Scope::User
    };
    let (scope, plugin) = belongs(&words, own_scope)?;
    if words.path.is_empty() {
        return Err("a root's path is empty".to_owned());
    }
    if is_project && scope != Scope::Project {
        return Err("a project's root has the scope `project`".to_owned());
    }
    let path = place.environment.path(words.path, place.base);
    if is_project && !is_inside(Path::new(words.path), &path, place.environment.project()) {
        return Err(format!("`{}` leads out of the project", words.path));
    }
    Ok(ConfiguredRoot {
        path,
        scope,
        plugin,
    })
}

fn table<'a>(value: &'a DeValue<'a>) -> Result<Words<'a>, String> {
    let field = |name: &str| {
        let value = value.get(name).map(|value| RawValue::Toml(value.get_ref()));
        value.map(RawValue::text).transpose()
    };
    let known = ["path", "scope", "plugin"];
    let keys = value.as_table().into_iter().flat_map(|table| table.keys());
    let mut keys = keys.map(|key| &**key.get_ref());
    if let Some(odd) = keys.find(|key| !known.contains(key)) {
        let message = format!("a root has no `{odd}`; it has `path`, `scope` and `plugin`");
        return Err(message);
    }
    Ok(Words {
        path: field("path")?.ok_or("a root needs a `path`")?,
        scope: field("scope")?,
        plugin: field("plugin")?,
    })
}

/// Takes a text apart: what stands before `=` is a scope or a plugin, unless it is part of a path.
fn text(text: &str) -> Words<'_> {
    let word = text
        .split_once('=')
        .filter(|(word, _)| !word.contains(['/', '\\', '.', '~']));
    let Some((word, path)) = word else {
        return Words {
            path: text,
            scope: None,
            plugin: None,
        };
    };
    let is_scope = word.parse::<Scope>().is_ok();
    Words {
        path,
        scope: is_scope.then_some(word),
        plugin: (!is_scope).then_some(word),
    }
}

/// Returns the text of a root with its path whole.
#[cfg(feature = "store")]
pub(super) fn whole(written: &str, place: &ValuePlace<'_>) -> String {
    let words = text(written);
    let path = place.environment.path(words.path, place.base);
    match words.scope.or(words.plugin) {
        Some(word) => format!("{word}={}", path.display()),
        None => path.display().to_string(),
    }
}

/// Returns where the skills of a root belong.
fn belongs(words: &Words<'_>, own: Scope) -> Result<(Scope, Option<PluginName>), String> {
    let plugin: Option<PluginName> = words
        .plugin
        .map(|name| {
            name.parse()
                .map_err(|error| format!("plugin `{name}`: {error}"))
        })
        .transpose()?;
    let scope = words.scope.map(str::parse).transpose();
    let scope = match (
        &plugin,
        scope.map_err(|error: skillfold_core::InvalidScope| error.to_string())?,
    ) {
        (Some(_), None | Some(Scope::Plugin)) => Scope::Plugin,
        (Some(_), Some(_)) => return Err("a plugin's root has the scope `plugin`".to_owned()),
        (None, Some(Scope::Plugin)) => {
            return Err("a root of the scope `plugin` needs a `plugin`".to_owned());
        }
        (None, scope) => scope.unwrap_or(own),
    };
    Ok((scope, plugin))
}

/// Returns whether a path stays inside the project, by its words and through links.
fn is_inside(written: &Path, whole: &Path, project: &Path) -> bool {
    let is_plain =
        |component: Component<'_>| matches!(component, Component::Normal(_) | Component::CurDir);
    let stays = || match (resolve(whole), resolve(project)) {
        (Ok(whole), Ok(project)) => whole.starts_with(project),
        // What is not there cannot lead anywhere; what cannot be looked at can.
        (Err(error), _) | (_, Err(error)) => error.kind() == io::ErrorKind::NotFound,
    };
    written.components().all(is_plain) && !written.starts_with("~") && stays()
}
