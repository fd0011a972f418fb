//! `resources/directory/read`: the contents of a skill's folder.

use std::collections::BTreeMap;

use rmcp::ErrorData;
use rmcp::model::Resource;
use serde_json::{Map, Value, json};
use skillfold::core::load::{FileKind, SkillFile};
use skillfold::tools::{BYTES_TYPE, media_type};

use crate::caller::Caller;
use crate::protocol::page::page;
use crate::protocol::resources::published_entry;
use crate::protocol::sep2640::not_served::not_served;
use crate::protocol::uri;
use crate::state::ServerState;
use crate::tools::object;

/// The media type for folders.
const FOLDER_TYPE: &str = "inode/directory";

/// Returns a page of the files and folders directly inside a skill's folder.
pub(super) fn read(
    shared: &ServerState,
    caller: &Caller,
    requested: &str,
    cursor: Option<&str>,
) -> Result<Map<String, Value>, ErrorData> {
    let folder = uri::parse(requested).ok_or_else(|| not_served(requested))?;
    let view = shared.current_view(caller);
    let entry = published_entry(&view, &folder).ok_or_else(|| not_served(requested))?;
    let files = shared.skills.published_files(entry.id()).map_err(|error| {
        tracing::warn!(why = error.with_cause(), "a folder could not be listed");
        not_served(requested)
    })?;
    let mut children = BTreeMap::new();
    for file in &files {
        let path = file.path.as_str();
        let Some(rest) = strip_folder(path, &folder.path) else {
            continue;
        };
        let (name, resource) = if let Some((name, _)) = rest.split_once('/') {
            let path = &path[..path.len() - rest.len() + name.len()];
            let resource = Resource::new(uri::build(entry.id(), path), name);
            (name, resource.with_mime_type(FOLDER_TYPE))
        } else {
            let resource = Resource::new(uri::build(entry.id(), path), rest);
            (
                rest,
                resource
                    .with_mime_type(file_type(file))
                    .with_size(file.size),
            )
        };
        children.entry(name).or_insert(resource);
    }
    // Folders without files do not exist.
    if children.is_empty() {
        return Err(not_served(requested));
    }
    let found = page(children, |(name, _)| name, cursor);
    let resources = found.items.into_iter().map(|(_, resource)| resource);
    let mut result = object(json!({ "resources": resources.collect::<Vec<_>>() }));
    if let Some(next) = found.next {
        result.insert("nextCursor".to_owned(), Value::String(next));
    }
    Ok(result)
}

/// Returns the rest of a path below a folder. The empty folder is the skill's own.
fn strip_folder<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder.is_empty() {
        return Some(path);
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// Returns a file's media type.
fn file_type(file: &SkillFile) -> &'static str {
    match (media_type(file.path.as_str()), file.kind) {
        (BYTES_TYPE, FileKind::Text | FileKind::Script | FileKind::Data) => "text/plain",
        (media, _) => media,
    }
}
