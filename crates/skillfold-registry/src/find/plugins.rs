//! Reads plugin manifests: which plugin a skill belongs to, and which plugins are somewhere else.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use skillfold_core::Error;

use crate::find::found::Found;
use crate::find::marketplace::{MARKETPLACE, Marketplace, listed_folders};
use crate::find::paths::{MANIFESTS, ancestors, folder_of, join, too_large};
use crate::find::plugin::{Extent, Plugin, plugin_name};
use crate::tree::{EntryKind, Tree};

/// A plugin's manifest as Claude Code reads it.
const CLAUDE_MANIFEST: &str = ".claude-plugin/plugin.json";
/// A plugin's manifest by the Agent Plugins specification.
const AGENT_MANIFEST: &str = "plugin.json";
/// What the field `$schema` of an Agent Plugins manifest starts with. Other tools have a `plugin.json` too.
const AGENT_SCHEMA: &str = "https://agent-plugins.org/schemas/";

/// The plugins whose folders are in the source.
#[derive(Default)]
pub(super) struct Plugins {
    all: Vec<Plugin>,
    /// The plugins in each folder.
    by_folder: BTreeMap<String, Vec<usize>>,
    /// The first plugin that lists each folder.
    by_listed: BTreeMap<String, usize>,
}

impl Plugins {
    /// Reads the manifests at the top of the source, and those of the plugins that they name.
    pub(super) fn declared(tree: &mut dyn Tree, found: &mut Found) -> Result<Self, Error> {
        let mut plugins = Self::default();
        if let Some((path, bytes)) = read_files(tree, &[MARKETPLACE.to_owned()], found)?.pop()
            && let Some(fields) = read_object(&path, &bytes, found)
        {
            for plugin in Marketplace::new(tree.entries(), &fields).read(found) {
                plugins.add(plugin);
            }
        }
        let folders = plugins.by_folder.keys().cloned();
        let folders = folders.chain([String::new()]).collect();
        plugins.read_manifests(tree, &folders, found)?;
        Ok(plugins)
    }

    /// Reads the manifests in the skills' folders and above. They name the plugins of skills, and find no new ones: a
    /// template inside a skill looks the same.
    pub(super) fn add_nested(
        &mut self,
        tree: &mut dyn Tree,
        skills: &BTreeSet<String>,
        found: &mut Found,
    ) -> Result<(), Error> {
        let above = skills.iter().flat_map(|skill| ancestors(skill));
        let above =
            above.filter(|folder| !folder.is_empty() && !self.by_folder.contains_key(*folder));
        let folders: BTreeSet<String> = above.map(str::to_owned).collect();
        self.read_manifests(tree, &folders, found)
    }

    fn read_manifests(
        &mut self,
        tree: &mut dyn Tree,
        folders: &BTreeSet<String>,
        found: &mut Found,
    ) -> Result<(), Error> {
        // By the Agent Plugins specification, no other file overrides the name in its manifest.
        for (name, extent) in [
            (AGENT_MANIFEST, Extent::Children),
            (CLAUDE_MANIFEST, Extent::Below),
        ] {
            let paths: Vec<String> = folders.iter().map(|folder| join(folder, name)).collect();
            for (path, bytes) in read_files(tree, &paths, found)? {
                let folder = folder_of(&path, name).unwrap_or_default();
                let is_other = || !contains(&bytes, AGENT_SCHEMA.as_bytes());
                if extent == Extent::Children && is_other() {
                    continue;
                }
                let Some(fields) = read_object(&path, &bytes, found) else {
                    continue;
                };
                if extent == Extent::Children && !is_agent_manifest(&path, &fields, found) {
                    continue;
                }
                self.add_manifest(tree.entries(), &path, folder, &fields, extent, found);
            }
        }
        Ok(())
    }

    /// Adds a plugin, or adds to the one that the marketplace has in this folder.
    fn add_manifest(
        &mut self,
        entries: &BTreeMap<String, EntryKind>,
        path: &str,
        folder: &str,
        fields: &Map<String, Value>,
        extent: Extent,
        found: &mut Found,
    ) {
        let Some(name) = plugin_name(fields) else {
            return found.leave_out(path, "Manifest has no valid `name`");
        };
        // Agent Plugins have no field for it.
        let listed = match extent {
            Extent::Children => Vec::new(),
            Extent::Below | Extent::Listed => {
                listed_folders(entries, path, &name, folder, fields, found)
            }
        };
        let same = self.by_folder.get(folder).map_or(&[][..], Vec::as_slice);
        let [index] = *same else {
            return self.add(Plugin {
                name,
                folder: folder.to_owned(),
                listed,
                extent,
            });
        };
        for folder in &listed {
            self.by_listed.entry(folder.clone()).or_insert(index);
        }
        let plugin = &mut self.all[index];
        plugin.listed.extend(listed);
        plugin.extent = Extent::Below;
    }

    fn add(&mut self, plugin: Plugin) {
        let index = self.all.len();
        for folder in &plugin.listed {
            self.by_listed.entry(folder.clone()).or_insert(index);
        }
        let same = self.by_folder.entry(plugin.folder.clone());
        same.or_default().push(index);
        self.all.push(plugin);
    }

    /// Returns the folders that skills are searched in besides the top: those of the plugins, and those that they list.
    pub(super) fn folders(&self) -> impl Iterator<Item = String> {
        self.all.iter().flat_map(|plugin| {
            let own = Some(plugin.folder.clone()).filter(|folder| !folder.is_empty());
            let skills = join(&plugin.folder, "skills");
            let listed = plugin.listed.iter().filter(|folder| !folder.is_empty());
            own.into_iter().chain([skills]).chain(listed.cloned())
        })
    }

    /// Returns the name of the plugin that a skill belongs to: the one that lists it, else the one whose folder is
    /// nearest.
    pub(super) fn plugin_of(&self, skill: &str) -> Option<&str> {
        let lists = |folder| self.by_listed.get(folder).copied();
        if let Some(index) = ancestors(skill).find_map(lists) {
            return Some(&self.all[index].name);
        }
        let owns = |plugin: &Plugin| {
            let skills = join(&plugin.folder, "skills");
            let mut above = ancestors(skill);
            match plugin.extent {
                Extent::Listed => false,
                Extent::Below => skill == plugin.folder || above.any(|folder| folder == skills),
                Extent::Children => above.nth(1) == Some(&*skills),
            }
        };
        let plugins = ancestors(skill).filter_map(|folder| self.by_folder.get(folder));
        let mut plugins = plugins.flatten().map(|index| &self.all[*index]);
        plugins
            .find(|plugin| owns(plugin))
            .map(|plugin| &*plugin.name)
    }
}

/// Returns whether a manifest is one by a version of the Agent Plugins specification that is known here, and reports one
/// that is not.
fn is_agent_manifest(path: &str, fields: &Map<String, Value>, found: &mut Found) -> bool {
    let schema = fields.get("$schema").and_then(Value::as_str);
    let Some(version) = schema.and_then(|schema| schema.strip_prefix(AGENT_SCHEMA)) else {
        return false;
    };
    if !matches!(
        version,
        "1.0.0/plugin.schema.json" | "1.1.0/plugin.schema.json"
    ) {
        let reason = format!("Manifest has an unknown version: `{AGENT_SCHEMA}{version}`");
        found.leave_out(path, reason);
        return false;
    }
    let name = fields.get("name").and_then(Value::as_str);
    if !name.is_some_and(is_agent_plugin_name) {
        found.leave_out(path, "Manifest has no valid `name`");
        return false;
    }
    true
}

/// Returns whether the Agent Plugins specification allows a name.
fn is_agent_plugin_name(name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() <= 64
        && name.starts_with(is_word)
        && name.ends_with(is_word)
        && name.chars().all(|c| is_word(c) || matches!(c, '-' | '.'))
        && !name.contains("--")
        && !name.contains("..")
}

/// Reads those of some files that exist, in the order given, and reports those that are too large.
fn read_files(
    tree: &mut dyn Tree,
    paths: &[String],
    found: &mut Found,
) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let is_file = |path: &&String| tree.entries().get(*path) == Some(&EntryKind::File);
    let paths: Vec<&str> = paths.iter().filter(is_file).map(String::as_str).collect();
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for (path, content) in paths.iter().zip(tree.read(&paths, MANIFESTS)?) {
        match content {
            Ok(bytes) => files.push(((*path).to_owned(), bytes)),
            Err(size) => found.leave_out(path, too_large(size)),
        }
    }
    Ok(files)
}

/// Parses a manifest, and reports one that is broken.
fn read_object(path: &str, bytes: &[u8], found: &mut Found) -> Option<Map<String, Value>> {
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(fields)) => return Some(fields),
        Ok(_) => found.leave_out(path, "File is not a JSON object"),
        Err(error) => found.leave_out(path, format!("File is not valid JSON: {error}")),
    }
    None
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
