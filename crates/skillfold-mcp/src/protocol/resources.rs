//! Resources: published skills' files, by `skill://` URI. Hosts read them for a model, so only skills that a model may
//! see are served.

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::json;
use skillfold::core::source::SKILL_FILE;
use skillfold::core::text::first_chars;
use skillfold::core::{Entry, ErrorKind};
use skillfold::tools::{BYTES_TYPE, media_type};
use skillfold::view::{FilePart, SkillRecord};

use crate::caller::Caller;
use crate::protocol::page::{TTL_MS, page};
use crate::protocol::uri::{self, SkillUri};
use crate::state::{ServerState, SnapshotView};

/// Returns a page of resources: each published skill's `SKILL.md`. Its other files are reached through it.
pub(crate) fn list(
    shared: &ServerState,
    caller: &Caller,
    cursor: Option<&str>,
) -> ListResourcesResult {
    let view = shared.current_view(caller);
    let found = page(published(&view), |entry| entry.id(), cursor);
    // A skill on this page that is too large to publish is left out and logged.
    let is_publishable = |entry: &&Entry<'_>| shared.skills.published_files(entry.id()).is_ok();
    let resources = found.items.iter().filter(is_publishable).map(|entry| {
        Resource::new(uri::build(entry.id(), SKILL_FILE), entry.id())
            .with_description(SkillRecord::listed(entry).description)
            .with_mime_type("text/markdown")
            .with_size(entry.skill().revision.size())
    });
    let mut result = ListResourcesResult::with_all_items(resources.collect())
        .with_ttl_ms(TTL_MS)
        .with_cache_scope(CacheScope::Private);
    result.next_cursor = found.next;
    result
}

/// Returns the URI template.
pub(crate) fn templates(shared: &ServerState, caller: &Caller) -> ListResourceTemplatesResult {
    let templates = if shared.current_view(caller).has_skills {
        let template = ResourceTemplate::new("skill://{name}/{+path}", "skill-file")
            .with_description("A file of a skill");
        vec![template]
    } else {
        Vec::new()
    };
    ListResourceTemplatesResult::with_all_items(templates)
}

/// Returns an entire file of a skill.
pub(crate) fn read(
    shared: &ServerState,
    caller: &Caller,
    requested: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let uri = uri::parse(requested).ok_or_else(|| not_found(requested))?;
    let view = shared.current_view(caller);
    let entry = published_entry(&view, &uri).ok_or_else(|| not_found(requested))?;
    let files = shared
        .skills
        .published_files(entry.id())
        .unwrap_or_default();
    if !files.iter().any(|file| file.path.as_str() == uri.path) {
        return Err(not_found(requested));
    }
    let content =
        shared
            .skills
            .read(entry.id(), &uri.path)
            .map_err(|error| match error.kind() {
                ErrorKind::NotFound | ErrorKind::Refused => not_found(requested),
                _ => {
                    ErrorData::internal_error(error.with_cause(), Some(json!({ "uri": requested })))
                }
            })?;
    if content.next().is_some() {
        let message = "The file is too long to return in one answer";
        return Err(ErrorData::invalid_params(
            message,
            Some(json!({ "uri": requested })),
        ));
    }
    let part = FilePart::new(&entry, &content);
    let contents = match (part.text, part.base64) {
        (Some(text), _) => ResourceContents::text(text, requested),
        (None, base64) => ResourceContents::blob(base64.unwrap_or_default(), requested),
    };
    let media = match (&contents, media_type(&uri.path)) {
        (ResourceContents::TextResourceContents { .. }, BYTES_TYPE) => "text/plain",
        (_, media) => media,
    };
    Ok(
        ReadResourceResult::new(vec![contents.with_mime_type(media)])
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Private),
    )
}

/// Returns the skills published to a view's clients.
pub(crate) fn published(view: &SnapshotView) -> impl Iterator<Item = Entry<'_>> {
    let visible = view.catalog.visible();
    visible
        .filter(|entry| entry.unpublishable_reason().is_none() && view.session.may_see(entry.id()))
}

/// Returns a URI's skill if it is published.
pub(crate) fn published_entry<'a>(view: &'a SnapshotView, uri: &SkillUri) -> Option<Entry<'a>> {
    let entry = view.catalog.get(&uri.name)?;
    // Names are resolved case-insensitively, but a URI must match exactly.
    let is_served = entry.id() == uri.name
        && entry.unpublishable_reason().is_none()
        && view.session.may_see(entry.id());
    is_served.then_some(entry)
}

/// Returns the error for a URI that refers to nothing published. It does not say why: the client may not be allowed to
/// know.
pub(crate) fn not_found(uri: &str) -> ErrorData {
    let uri = first_chars(uri, 300);
    ErrorData::resource_not_found("There is no such resource", Some(json!({ "uri": uri })))
}
