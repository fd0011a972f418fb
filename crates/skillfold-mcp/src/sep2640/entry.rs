//! `skills/list` and `skills/get`: a skill with its frontmatter and its files.

use rmcp::ErrorData;
use serde_json::{Map, Value, json};
use skillfold::core::{Publication, SKILL_FILE, visible};
use skillfold::view::Any;

use crate::answer::{object, value};
use crate::client_view::ServerState;
use crate::page::page;
use crate::resources::published;
use crate::sep2640::unserved;
use crate::uri;

/// Returns a page of the skills that go out this way. What turns out not to be able to is left out, and logged.
pub(super) fn list(shared: &ServerState, cursor: Option<&str>) -> Map<String, Value> {
    let catalog = shared.skills.catalog();
    let published = catalog
        .visible()
        .filter(|entry| entry.unpublished().is_none());
    let found = page(published, |entry| entry.id(), cursor);
    let skills: Vec<Value> = found
        .items
        .iter()
        .filter_map(|entry| match shared.skills.publish(entry.id()) {
            Ok(publication) => Some(shape(entry.id(), &publication)),
            Err(error) => {
                let (id, why) = (visible(entry.id()), error.with_cause());
                tracing::warn!(
                    id = &*id,
                    why,
                    hint = error.hint(),
                    "a skill does not go out"
                );
                None
            }
        })
        .collect();
    let mut result = object(json!({ "skills": skills }));
    if let Some(next) = found.next {
        result.insert("nextCursor".to_owned(), Value::String(next));
    }
    result
}

/// Returns one skill by the URI of its `SKILL.md`.
pub(super) fn get(shared: &ServerState, asked: &str) -> Result<Map<String, Value>, ErrorData> {
    let parsed = uri::parse(asked).filter(|uri| uri.path == SKILL_FILE);
    let uri = parsed.ok_or_else(|| unserved(asked))?;
    let catalog = shared.skills.catalog();
    let entry = published(&catalog, &uri).ok_or_else(|| unserved(asked))?;
    let publication = shared.skills.publish(entry.id()).map_err(|error| {
        tracing::warn!(
            why = error.with_cause(),
            hint = error.hint(),
            "a skill does not go out"
        );
        unserved(asked)
    })?;
    Ok(object(json!({ "skill": shape(entry.id(), &publication) })))
}

fn shape(name: &str, publication: &Publication) -> Value {
    let resources = publication.files.iter().map(|file| {
        json!({
            "uri": uri::of(name, file.path.as_str()),
            "digest": file.digest.to_string(),
            "size": file.size,
        })
    });
    json!({
        "uri": uri::of(name, SKILL_FILE),
        "frontmatter": value(&Any::from_fields(&publication.frontmatter)),
        "resources": resources.collect::<Vec<_>>(),
    })
}
