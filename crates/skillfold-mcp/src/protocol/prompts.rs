//! Prompts: one for each skill that a user may start, with its arguments. In the protocol users start prompts, so
//! skills that only users may start are served here and nowhere else.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptResult, JsonObject, ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role,
};
use serde_json::Value;
use skillfold::core::catalog::Status;
use skillfold::core::load::{Dialect, argument_names};
use skillfold::core::read::{Scalar, ScalarValue, Value as Field};
use skillfold::core::{Entry, Error, Manifest};
use skillfold::view::{Failure, SkillRecord};

use crate::caller::Caller;
use crate::protocol::page::page;
use crate::state::{ServerState, SnapshotView};
use crate::tools::value;

/// The argument of a skill that declares none.
const DEFAULT_ARGUMENT: &str = "arguments";

/// Maximum total size of the arguments in bytes.
const MAX_ARGUMENT_BYTES: usize = 256 * 1024;

/// Returns a page of prompts.
pub(crate) fn list(
    shared: &ServerState,
    caller: &Caller,
    cursor: Option<&str>,
) -> ListPromptsResult {
    let view = shared.current_view(caller);
    let dialect = shared.skills.report().settings.arguments.value;
    let found = page(
        view.catalog
            .entries()
            .filter(|entry| is_offered(&view, entry)),
        |entry| entry.id(),
        cursor,
    );
    let prompts = found.items.iter().map(|entry| {
        let arguments = prompt_arguments(entry.manifest(), dialect);
        let SkillRecord {
            id, description, ..
        } = SkillRecord::listed(entry);
        Prompt::new(id, Some(description), Some(arguments))
    });
    let mut result = ListPromptsResult::with_all_items(prompts.collect());
    result.next_cursor = found.next;
    result
}

/// Returns a prompt: its skill's instructions, with the arguments filled in.
pub(crate) fn get(
    shared: &ServerState,
    caller: &Caller,
    name: &str,
    arguments: &JsonObject,
) -> Result<GetPromptResult, ErrorData> {
    let view = shared.current_view(caller);
    let refused = |error: &Error| {
        ErrorData::invalid_params(error.with_cause(), Some(value(&Failure::new(error))))
    };
    // The error does not say why a prompt is missing, since a host may show it to a model. It suggests only prompts
    // that the same client can list. Those include skills that only users may start: prompts are for users.
    let entry = view
        .catalog
        .resolve_among(name, |entry| is_offered(&view, entry))
        .map_err(|error| refused(&error))?;
    let dialect = shared.skills.report().settings.arguments.value;
    let text = join_arguments(entry.manifest(), dialect, arguments)?;
    let loaded = shared
        .skills
        .for_user()
        .render(entry.id(), &text, view.session.envelope())
        .map_err(|error| refused(&error))?;
    let message = PromptMessage::new_text(Role::User, loaded.text);
    Ok(GetPromptResult::new(vec![message])
        .with_description(SkillRecord::listed(&entry).description))
}

/// Returns whether a skill is a prompt for a view's clients.
fn is_offered(view: &SnapshotView, entry: &Entry<'_>) -> bool {
    is_user_invocable(entry) && view.session.may_see(entry.id())
}

/// Returns whether a user may start a skill: it is active and not marked otherwise.
fn is_user_invocable(entry: &Entry<'_>) -> bool {
    let fields = entry.manifest().other();
    let flag = fields
        .get("user-invocable")
        .or_else(|| fields.get("user_invocable"));
    let is_off = |field: &Field| matches!(field, Field::Scalar(scalar) if scalar.value() == ScalarValue::Bool(false));
    entry.status() == Status::Active && !flag.is_some_and(is_off)
}

/// Returns a prompt's arguments: the skill's named ones if they have placeholders, or a single one.
fn prompt_arguments(manifest: &Manifest, dialect: Dialect) -> Vec<PromptArgument> {
    let names = named_arguments(manifest, dialect);
    if !names.is_empty() {
        let arguments = names.iter();
        return arguments
            .map(|name| PromptArgument::new(*name).with_required(false))
            .collect();
    }
    let argument = PromptArgument::new(DEFAULT_ARGUMENT).with_required(false);
    let hint = manifest.other().get("argument-hint");
    vec![match hint {
        Some(Field::Scalar(hint)) if !Scalar::as_str(hint).is_empty() => {
            argument.with_description(hint.as_str())
        }
        _ => argument.with_description("What the skill is to work on"),
    }]
}

fn named_arguments(manifest: &Manifest, dialect: Dialect) -> Vec<&str> {
    if dialect == Dialect::Plain {
        return Vec::new();
    }
    argument_names(manifest)
}

/// Joins the given arguments into one string, as a user would type it.
fn join_arguments(
    manifest: &Manifest,
    dialect: Dialect,
    arguments: &JsonObject,
) -> Result<String, ErrorData> {
    let names = named_arguments(manifest, dialect);
    let text = |name: &str| match arguments.get(name) {
        Some(Value::String(text)) => Ok(text.as_str()),
        None => Ok(""),
        Some(_) => {
            let message = format!("The argument `{name}` is not a string");
            Err(ErrorData::invalid_params(message, None))
        }
    };
    let is_whole = arguments.contains_key(DEFAULT_ARGUMENT) && !names.contains(&DEFAULT_ARGUMENT);
    let joined = if names.is_empty() || is_whole {
        text(DEFAULT_ARGUMENT)?.to_owned()
    } else {
        let last = names.iter().rposition(|name| arguments.contains_key(*name));
        let words = names.iter().take(last.map_or(0, |last| last + 1));
        let words: Result<Vec<_>, _> = words.map(|name| text(name).map(quote)).collect();
        words?.join(" ")
    };
    if joined.len() > MAX_ARGUMENT_BYTES {
        let message = format!("The arguments have more than {MAX_ARGUMENT_BYTES} bytes");
        return Err(ErrorData::invalid_params(message, None));
    }
    Ok(joined)
}

/// Quotes a word so that shell-like splitting keeps it as one.
fn quote(word: &str) -> String {
    let is_plain = |c: char| !c.is_whitespace() && !matches!(c, '"' | '\'' | '\\');
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}
