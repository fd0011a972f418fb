//! Resources: the files of skills that go out, by `skill://` URIs. Hosts read them for a model, so that they are of skills
//! that a model may get.

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::json;
use skillfold::core::text::first_chars;
use skillfold::core::{Catalog, Entry, ErrorKind, SKILL_FILE};
use skillfold::view::FilePart;

use crate::answer::SkillLine;
use crate::client_view::ServerState;
use crate::media;
use crate::page::{TTL_MS, page};
use crate::uri::{self, SkillUri};

/// Returns a page of the resources: the `SKILL.md` of each skill that goes out. Its other files are found through it.
pub(crate) fn list(shared: &ServerState, cursor: Option<&str>) -> ListResourcesResult {
    let catalog = shared.skills.catalog();
    let published = catalog
        .visible()
        .filter(|entry| entry.unpublished().is_none());
    let found = page(published, |entry| entry.id(), cursor);
    // What is too large to go out is left out and logged, where it is of this page.
    let goes_out = |entry: &&Entry<'_>| shared.skills.published_files(entry.id()).is_ok();
    let resources = found.items.iter().filter(goes_out).map(|entry| {
        Resource::new(uri::of(entry.id(), SKILL_FILE), entry.id())
            .with_description(SkillLine::new(entry).description)
            .with_mime_type("text/markdown")
            .with_size(entry.skill().revision.size)
    });
    let mut result = ListResourcesResult::with_all_items(resources.collect())
        .with_ttl_ms(TTL_MS)
        .with_cache_scope(CacheScope::Private);
    result.next_cursor = found.next;
    result
}

/// Returns the form of all URIs.
pub(crate) fn templates(shared: &ServerState) -> ListResourceTemplatesResult {
    let templates = if shared.offer().tools.is_empty() {
        Vec::new()
    } else {
        let template = ResourceTemplate::new("skill://{name}/{+path}", "skill-file")
            .with_description("A file of a skill");
        vec![template]
    };
    ListResourceTemplatesResult::with_all_items(templates)
}

/// Returns a file of a skill, whole.
pub(crate) fn read(shared: &ServerState, asked: &str) -> Result<ReadResourceResult, ErrorData> {
    let uri = uri::parse(asked).ok_or_else(|| unknown(asked))?;
    let catalog = shared.skills.catalog();
    let entry = published(&catalog, &uri).ok_or_else(|| unknown(asked))?;
    let files = shared
        .skills
        .published_files(entry.id())
        .unwrap_or_default();
    if !files.iter().any(|file| file.path.as_str() == uri.path) {
        return Err(unknown(asked));
    }
    let content =
        shared
            .skills
            .read(entry.id(), &uri.path)
            .map_err(|error| match error.kind() {
                ErrorKind::NotFound | ErrorKind::Refused => unknown(asked),
                _ => ErrorData::internal_error(error.with_cause(), Some(json!({ "uri": asked }))),
            })?;
    if content.next().is_some() {
        let message = "The file is too long to return in one answer";
        return Err(ErrorData::invalid_params(
            message,
            Some(json!({ "uri": asked })),
        ));
    }
    let part = FilePart::new(&entry, &content);
    let contents = match (part.text, part.base64) {
        (Some(text), _) => ResourceContents::text(text, asked),
        (None, base64) => ResourceContents::blob(base64.unwrap_or_default(), asked),
    };
    let media = match &contents {
        ResourceContents::TextResourceContents { .. }
            if media::of_path(&uri.path) == media::BYTES =>
        {
            "text/plain"
        }
        _ => media::of_path(&uri.path),
    };
    Ok(
        ReadResourceResult::new(vec![contents.with_mime_type(media)])
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Private),
    )
}

/// Returns the skill that a URI is of, if it goes out this way.
pub(crate) fn published<'a>(catalog: &'a Catalog, uri: &SkillUri) -> Option<Entry<'a>> {
    let entry = catalog.get(&uri.name)?;
    // Names are looked up without regard to case, and a URI is one.
    let is_served = entry.id() == uri.name && entry.unpublished().is_none();
    is_served.then_some(entry)
}

/// Creates the error for a URI that leads to nothing that goes out. Why is not said: it may not be for the client to know.
pub(crate) fn unknown(uri: &str) -> ErrorData {
    let uri = first_chars(uri, 300);
    ErrorData::resource_not_found("There is no such resource", Some(json!({ "uri": uri })))
}
