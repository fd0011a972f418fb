//! `skills/list` and `skills/get`: a skill with its frontmatter and its files.

use rmcp::ErrorData;
use serde_json::{Map, Value, json};
use skillfold::core::diagnostic::visible;
use skillfold::core::load::Publication;
use skillfold::core::source::SKILL_FILE;
use skillfold::view::Any;

use crate::caller::Caller;
use crate::protocol::page::page;
use crate::protocol::resources::{published, published_entry};
use crate::protocol::sep2640::not_served::not_served;
use crate::protocol::uri;
use crate::state::ServerState;
use crate::tools::{object, value};

/// Returns a page of published skills. One that turns out not to be publishable is left out and logged.
pub(super) fn list(
    shared: &ServerState,
    caller: &Caller,
    cursor: Option<&str>,
) -> Map<String, Value> {
    let view = shared.current_view(caller);
    let found = page(published(&view), |entry| entry.id(), cursor);
    let skills: Vec<Value> = found
        .items
        .iter()
        .filter_map(|entry| match shared.skills.publish(entry.id()) {
            Ok(publication) => Some(skill_json(entry.id(), &publication)),
            Err(error) => {
                let (id, why) = (visible(entry.id()), error.with_cause());
                tracing::warn!(
                    id = &*id,
                    why,
                    hint = error.hint(),
                    "a skill is not published"
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

/// Returns a skill by its `SKILL.md` URI.
pub(super) fn get(
    shared: &ServerState,
    caller: &Caller,
    requested: &str,
) -> Result<Map<String, Value>, ErrorData> {
    let parsed = uri::parse(requested).filter(|uri| uri.path == SKILL_FILE);
    let uri = parsed.ok_or_else(|| not_served(requested))?;
    let view = shared.current_view(caller);
    let entry = published_entry(&view, &uri).ok_or_else(|| not_served(requested))?;
    let publication = shared.skills.publish(entry.id()).map_err(|error| {
        tracing::warn!(
            why = error.with_cause(),
            hint = error.hint(),
            "a skill is not published"
        );
        not_served(requested)
    })?;
    Ok(object(
        json!({ "skill": skill_json(entry.id(), &publication) }),
    ))
}

fn skill_json(name: &str, publication: &Publication) -> Value {
    let resources = publication.files.iter().map(|file| {
        json!({
            "uri": uri::build(name, file.path.as_str()),
            "digest": file.digest.to_string(),
            "size": file.size,
        })
    });
    json!({
        "uri": uri::build(name, SKILL_FILE),
        "frontmatter": value(&Any::from_fields(&publication.frontmatter)),
        "resources": resources.collect::<Vec<_>>(),
    })
}
