//! Reads the list of plugins at the top of a source, and finds their folders.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use skillfold_core::name::ResourcePath;

use crate::find::found::Found;
use crate::find::paths::{ANOTHER_REPOSITORY, SKILL_FILE, folder_of, join};
use crate::find::plugin::{Extent, Plugin, plugin_name};
use crate::tree::EntryKind;

/// A list of plugins.
pub(super) const MARKETPLACE: &str = ".claude-plugin/marketplace.json";

/// The list of plugins at the top of a source.
pub(super) struct Marketplace<'m> {
    entries: &'m BTreeMap<String, EntryKind>,
    fields: &'m Map<String, Value>,
    /// Where plugins are whose source is a bare name.
    plugin_root: Option<String>,
}

impl<'m> Marketplace<'m> {
    pub(super) fn new(
        entries: &'m BTreeMap<String, EntryKind>,
        fields: &'m Map<String, Value>,
    ) -> Self {
        let metadata = fields.get("metadata");
        let root = metadata.and_then(|metadata| metadata.get("pluginRoot"));
        Self {
            entries,
            fields,
            plugin_root: root.and_then(Value::as_str).and_then(relative),
        }
    }

    pub(super) fn read(&self, found: &mut Found) -> Vec<Plugin> {
        let Some(Value::Array(items)) = self.fields.get("plugins") else {
            found.leave_out(MARKETPLACE, "File has no list `plugins`");
            return Vec::new();
        };
        let mut plugins = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let fields = item.as_object();
            let Some((fields, name)) = fields.and_then(|it| Some((it, plugin_name(it)?))) else {
                let reason = format!("Plugin number {} has no valid `name`", index + 1);
                found.leave_out(MARKETPLACE, reason);
                continue;
            };
            match self.find_folder(fields.get("source")) {
                Ok(folder) => {
                    let listed =
                        listed_folders(self.entries, MARKETPLACE, &name, &folder, fields, found);
                    let extent = match fields.get("skills") {
                        Some(Value::Array(items)) if items.is_empty() => Extent::Below,
                        Some(_) => Extent::Listed,
                        None => Extent::Below,
                    };
                    plugins.push(Plugin {
                        name,
                        folder,
                        listed,
                        extent,
                    });
                }
                Err(reason) => found.leave_out(MARKETPLACE, format!("Plugin `{name}` {reason}")),
            }
        }
        plugins
    }

    /// Returns a plugin's folder. The error continues a sentence that starts with the plugin.
    fn find_folder(&self, source: Option<&Value>) -> Result<String, String> {
        let path = match source {
            None => return Ok(String::new()),
            Some(Value::String(path)) => path,
            Some(Value::Object(fields)) => match (fields.get("source"), fields.get("path")) {
                (Some(Value::String(kind)), Some(Value::String(path))) if kind == "local" => path,
                _ => return Err(format!("is in another source: {}", origin(fields))),
            },
            Some(_) => return Err("has a `source` that is neither a path nor an object".to_owned()),
        };
        let Some(inner) = relative(path) else {
            return Err(format!("is in another source: `{path}`"));
        };
        // Claude Code reads `./x` from the top, `npx skills` from `pluginRoot`; a bare name is in `pluginRoot`.
        let in_root = self.plugin_root.as_ref().map(|root| join(root, &inner));
        let places = if path.starts_with("./") {
            [Some(inner), in_root]
        } else {
            [in_root, Some(inner)]
        };
        let mut problem = format!("has a folder that does not exist: `{path}`");
        for folder in places.into_iter().flatten() {
            match check_folder(self.entries, &folder) {
                Ok(()) => return Ok(folder),
                Err(Some(reason)) => {
                    problem = format!("has a folder that cannot be used: {reason}");
                }
                Err(None) => {}
            }
        }
        Err(problem)
    }
}

/// Returns the folders in the field `skills`, and reports those that do not exist.
pub(super) fn listed_folders(
    entries: &BTreeMap<String, EntryKind>,
    path: &str,
    name: &str,
    folder: &str,
    fields: &Map<String, Value>,
    found: &mut Found,
) -> Vec<String> {
    let items = match fields.get("skills") {
        None => return Vec::new(),
        Some(Value::Array(items)) => &**items,
        Some(item) => std::slice::from_ref(item),
    };
    let mut folders = Vec::new();
    for item in items {
        let Some(inner) = item.as_str().and_then(relative) else {
            let reason =
                format!("Plugin `{name}` lists a skill that is not a relative path: {item}");
            found.leave_out(path, reason);
            continue;
        };
        let inner = folder_of(&inner, SKILL_FILE).unwrap_or(&inner);
        let listed = join(folder, inner);
        match check_folder(entries, &listed) {
            Ok(()) => folders.push(listed),
            Err(None) => {
                let reason =
                    format!("Plugin `{name}` lists a folder that does not exist: `{listed}`");
                found.leave_out(path, reason);
            }
            Err(Some(reason)) => {
                let reason =
                    format!("Plugin `{name}` lists a folder that cannot be used: {reason}");
                found.leave_out(path, reason);
            }
        }
    }
    folders
}

/// Checks that a folder has files. The error is the reason why it cannot have any; `None` if there is no such folder.
fn check_folder(
    entries: &BTreeMap<String, EntryKind>,
    folder: &str,
) -> Result<(), Option<&'static str>> {
    if folder.is_empty() {
        return Ok(());
    }
    match entries.get(folder) {
        Some(EntryKind::Submodule) => return Err(Some(ANOTHER_REPOSITORY)),
        Some(EntryKind::Link) => return Err(Some("Folder is a link")),
        Some(EntryKind::File | EntryKind::Other) | None => {}
    }
    if folder.split('/').any(|name| name == "node_modules") {
        return Err(Some("Folder `node_modules` is not searched"));
    }
    let inside = format!("{folder}/");
    let mut following = entries.range(inside.clone()..);
    match following.next() {
        Some((path, _)) if path.starts_with(&inside) => Ok(()),
        _ => Err(None),
    }
}

/// Returns a path below a folder, without `./`; `""` for the folder itself. `None` if it leads elsewhere.
fn relative(path: &str) -> Option<String> {
    let mut inner = path;
    while let Some(rest) = inner.strip_prefix("./") {
        inner = rest;
    }
    let inner = inner.trim_end_matches('/');
    if matches!(inner, "" | ".") {
        return (!path.starts_with('/')).then(String::new);
    }
    inner.parse::<ResourcePath>().ok()?;
    Some(inner.to_owned())
}

/// Formats where a plugin is that is not in this source.
fn origin(fields: &Map<String, Value>) -> String {
    let text = |name| fields.get(name).and_then(Value::as_str);
    let place = ["repo", "url", "package"].into_iter().find_map(text);
    let Some(place) = place else {
        let kind = text("source").unwrap_or("unknown");
        return format!("`{kind}`");
    };
    let part = |label, value: Option<&str>| {
        value.map_or(String::new(), |value| format!(", {label} `{value}`"))
    };
    let folder = part("folder", text("path"));
    let version = part("version", text("sha").or_else(|| text("ref")));
    format!("`{place}`{folder}{version}")
}
