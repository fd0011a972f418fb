//! Roots configured in the settings.

use std::io;
use std::path::{Component, Path, PathBuf};

use skillfold_core::Scope;
use skillfold_core::catalog::PluginName;
use toml::de::DeValue;

use crate::environment::try_real_path;
use crate::settings::setting::Origin;
use crate::settings::value::{RawValue, ValueContext};

/// A root configured in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfiguredRoot {
    /// Its absolute path.
    pub path: PathBuf,
    /// The scope of its skills.
    pub scope: Scope,
    /// The plugin that it belongs to.
    pub plugin: Option<PluginName>,
}

/// The parts of a root as written.
struct RootParts<'a> {
    path: &'a str,
    scope: Option<&'a str>,
    plugin: Option<&'a str>,
}

/// Reads a root: a path, `scope=path`, `plugin=path`, or a table with `path`, `scope` and `plugin`.
pub(super) fn read(
    value: RawValue<'_>,
    context: &ValueContext<'_>,
) -> Result<ConfiguredRoot, String> {
    let parts = match value {
        RawValue::Toml(value) if value.is_table() => parse_table(value)?,
        _ => parse_text(value.text()?),
    };
    let is_project = matches!(context.origin, Origin::Project(..));
    let own_scope = if is_project {
        Scope::Project
    } else {
        Scope::User
    };
    let (scope, plugin) = scope_and_plugin(&parts, own_scope)?;
    if parts.path.is_empty() {
        return Err("a root's path is empty".to_owned());
    }
    if is_project && scope != Scope::Project {
        return Err("a project's root has the scope `project`".to_owned());
    }
    let path = context.environment.expand_path(parts.path, context.base);
    if is_project && !is_inside(Path::new(parts.path), &path, context.environment.project()) {
        return Err(format!("`{}` is outside the project", parts.path));
    }
    Ok(ConfiguredRoot {
        path,
        scope,
        plugin,
    })
}

fn parse_table<'a>(value: &'a DeValue<'a>) -> Result<RootParts<'a>, String> {
    let field = |name: &str| {
        let value = value.get(name).map(|value| RawValue::Toml(value.get_ref()));
        value.map(RawValue::text).transpose()
    };
    let known = ["path", "scope", "plugin"];
    let keys = value.as_table().into_iter().flat_map(|table| table.keys());
    let mut keys = keys.map(|key| &**key.get_ref());
    if let Some(unknown) = keys.find(|key| !known.contains(key)) {
        let message = format!("a root has no `{unknown}`; it has `path`, `scope` and `plugin`");
        return Err(message);
    }
    Ok(RootParts {
        path: field("path")?.ok_or("a root needs a `path`")?,
        scope: field("scope")?,
        plugin: field("plugin")?,
    })
}

/// Splits a text at `=`: the part before it is a scope or a plugin, unless it looks like part of a path.
fn parse_text(text: &str) -> RootParts<'_> {
    let word = text
        .split_once('=')
        .filter(|(word, _)| !word.contains(['/', '\\', '.', '~']));
    let Some((word, path)) = word else {
        return RootParts {
            path: text,
            scope: None,
            plugin: None,
        };
    };
    let is_scope = word.parse::<Scope>().is_ok();
    RootParts {
        path,
        scope: is_scope.then_some(word),
        plugin: (!is_scope).then_some(word),
    }
}

/// Returns the text of a root with an absolute path.
#[cfg(feature = "store")]
pub(super) fn to_absolute(text: &str, context: &ValueContext<'_>) -> String {
    let parts = parse_text(text);
    let path = context.environment.expand_path(parts.path, context.base);
    match parts.scope.or(parts.plugin) {
        Some(word) => format!("{word}={}", path.display()),
        None => path.display().to_string(),
    }
}

/// Returns the scope and the plugin of a root. `own` is the scope if none is written.
fn scope_and_plugin(
    parts: &RootParts<'_>,
    own: Scope,
) -> Result<(Scope, Option<PluginName>), String> {
    let plugin: Option<PluginName> = parts
        .plugin
        .map(|name| {
            name.parse()
                .map_err(|error| format!("plugin `{name}`: {error}"))
        })
        .transpose()?;
    let scope = parts.scope.map(str::parse).transpose();
    let scope = match (
        &plugin,
        scope.map_err(|error: skillfold_core::catalog::InvalidScope| error.to_string())?,
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

/// Returns whether a path stays inside the project, as written and with links resolved.
fn is_inside(written: &Path, absolute: &Path, project: &Path) -> bool {
    let is_plain =
        |component: Component<'_>| matches!(component, Component::Normal(_) | Component::CurDir);
    let is_real_path_inside = || match (try_real_path(absolute), try_real_path(project)) {
        (Ok(real), Ok(project)) => real.starts_with(project),
        // A path that does not exist cannot lead out; one that cannot be read might.
        (Err(error), _) | (_, Err(error)) => error.kind() == io::ErrorKind::NotFound,
    };
    written.components().all(is_plain) && !written.starts_with("~") && is_real_path_inside()
}
