//! `resources/directory/read`: what a folder of a skill holds.

use std::collections::BTreeMap;

use rmcp::ErrorData;
use rmcp::model::Resource;
use serde_json::{Map, Value, json};

use crate::answer::object;
use crate::client_view::ServerState;
use crate::media;
use crate::page::page;
use crate::resources::published;
use crate::sep2640::unserved;
use crate::uri;

/// Returns a page of the files and folders that a folder of a skill holds directly.
pub(super) fn read(
    shared: &ServerState,
    asked: &str,
    cursor: Option<&str>,
) -> Result<Map<String, Value>, ErrorData> {
    let folder = uri::parse(asked).ok_or_else(|| unserved(asked))?;
    let catalog = shared.skills.catalog();
    let entry = published(&catalog, &folder).ok_or_else(|| unserved(asked))?;
    let files = shared.skills.published_files(entry.id()).map_err(|error| {
        tracing::warn!(why = error.with_cause(), "a folder could not be listed");
        unserved(asked)
    })?;
    let mut children = BTreeMap::new();
    for file in &files {
        let path = file.path.as_str();
        let Some(inside) = below(path, &folder.path) else {
            continue;
        };
        let (name, resource) = if let Some((name, _)) = inside.split_once('/') {
            let path = &path[..path.len() - inside.len() + name.len()];
            let resource = Resource::new(uri::of(entry.id(), path), name);
            (name, resource.with_mime_type(media::FOLDER))
        } else {
            let resource = Resource::new(uri::of(entry.id(), path), inside);
            let media = media::of(path, file.kind);
            (inside, resource.with_mime_type(media).with_size(file.size))
        };
        children.entry(name).or_insert(resource);
    }
    // Folders without files are not there.
    if children.is_empty() {
        return Err(unserved(asked));
    }
    let found = page(children, |(name, _)| name, cursor);
    let resources = found.items.into_iter().map(|(_, resource)| resource);
    let mut result = object(json!({ "resources": resources.collect::<Vec<_>>() }));
    if let Some(next) = found.next {
        result.insert("nextCursor".to_owned(), Value::String(next));
    }
    Ok(result)
}

/// Returns the rest of a path below a folder; the empty one is the skill's own.
fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder.is_empty() {
        return Some(path);
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}
