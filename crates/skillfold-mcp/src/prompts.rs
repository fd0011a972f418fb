//! Prompts: each skill that a person may start is one, with its arguments. By the protocol it is the person who starts a
//! prompt, so that skills which only people may start are served here, and nowhere else.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptResult, JsonObject, ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role,
};
use serde_json::Value;
use skillfold::core::{
    Dialect, Entry, Error, Manifest, Scalar, ScalarValue, Status, Value as Field, argument_names,
};
use skillfold::view::Failure;

use crate::answer::{SkillLine, value};
use crate::client_view::ServerState;
use crate::page::page;

/// The argument of a skill that names none.
const ARGUMENTS: &str = "arguments";

/// Bytes of all arguments together.
const ARGUMENT_BYTES: usize = 256 * 1024;

/// Returns a page of the prompts.
pub(crate) fn list(shared: &ServerState, cursor: Option<&str>) -> ListPromptsResult {
    let offer = shared.offer();
    let dialect = shared.skills.report().settings.arguments.value;
    let found = page(
        offer.catalog.entries().filter(is_for_people),
        |entry| entry.id(),
        cursor,
    );
    let prompts = found.items.iter().map(|entry| {
        let arguments = arguments(entry.manifest(), dialect);
        let SkillLine {
            id, description, ..
        } = SkillLine::new(entry);
        Prompt::new(id, Some(description), Some(arguments))
    });
    let mut result = ListPromptsResult::with_all_items(prompts.collect());
    result.next_cursor = found.next;
    result
}

/// Returns a prompt: the instructions of its skill, with the arguments in their places.
pub(crate) fn get(
    shared: &ServerState,
    name: &str,
    given: &JsonObject,
) -> Result<GetPromptResult, ErrorData> {
    let offer = shared.offer();
    let refused = |error: &Error| {
        ErrorData::invalid_params(error.with_cause(), Some(value(&Failure::new(error))))
    };
    // Why one is not there is not said: a host may show the answer to a model. What may be meant is among the prompts that
    // the same client can list, those that only people may start too: prompts are for people.
    let entry = offer
        .catalog
        .resolve_among(name, is_for_people)
        .map_err(|error| refused(&error))?;
    let dialect = shared.skills.report().settings.arguments.value;
    let text = typed(entry.manifest(), dialect, given)?;
    let loaded = shared
        .skills
        .for_person()
        .render(entry.id(), &text, offer.envelope)
        .map_err(|error| refused(&error))?;
    let message = PromptMessage::new_text(Role::User, loaded.text);
    Ok(GetPromptResult::new(vec![message]).with_description(SkillLine::new(&entry).description))
}

/// Returns whether a person may start a skill: it is active, and does not say otherwise.
fn is_for_people(entry: &Entry<'_>) -> bool {
    let fields = entry.manifest().other();
    let said = fields
        .get("user-invocable")
        .or_else(|| fields.get("user_invocable"));
    let is_off = |field: &Field| matches!(field, Field::Scalar(is) if is.value() == ScalarValue::Bool(false));
    entry.status() == Status::Active && !said.is_some_and(is_off)
}

/// Returns the arguments of a skill: those that it names, where they have places, or one for all.
fn arguments(manifest: &Manifest, dialect: Dialect) -> Vec<PromptArgument> {
    let names = named(manifest, dialect);
    if !names.is_empty() {
        let arguments = names.iter();
        return arguments
            .map(|name| PromptArgument::new(*name).with_required(false))
            .collect();
    }
    let argument = PromptArgument::new(ARGUMENTS).with_required(false);
    let hint = manifest.other().get("argument-hint");
    vec![match hint {
        Some(Field::Scalar(hint)) if !Scalar::as_str(hint).is_empty() => {
            argument.with_description(hint.as_str())
        }
        _ => argument.with_description("What the skill is to work on"),
    }]
}

fn named(manifest: &Manifest, dialect: Dialect) -> Vec<&str> {
    if dialect == Dialect::Plain {
        return Vec::new();
    }
    argument_names(manifest)
}

/// Returns what was given as one text, as a person would type it.
fn typed(manifest: &Manifest, dialect: Dialect, given: &JsonObject) -> Result<String, ErrorData> {
    let names = named(manifest, dialect);
    let text = |name: &str| match given.get(name) {
        Some(Value::String(text)) => Ok(text.as_str()),
        None => Ok(""),
        Some(_) => {
            let message = format!("The argument `{name}` is not a text");
            Err(ErrorData::invalid_params(message, None))
        }
    };
    let is_whole = given.contains_key(ARGUMENTS) && !names.contains(&ARGUMENTS);
    let typed = if names.is_empty() || is_whole {
        text(ARGUMENTS)?.to_owned()
    } else {
        let last = names.iter().rposition(|name| given.contains_key(*name));
        let words = names.iter().take(last.map_or(0, |last| last + 1));
        let words: Result<Vec<_>, _> = words.map(|name| text(name).map(quoted)).collect();
        words?.join(" ")
    };
    if typed.len() > ARGUMENT_BYTES {
        let message = format!("The arguments have more than {ARGUMENT_BYTES} bytes");
        return Err(ErrorData::invalid_params(message, None));
    }
    Ok(typed)
}

/// Returns a word that stays one when the text is taken apart as a shell does.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| !c.is_whitespace() && !matches!(c, '"' | '\'' | '\\');
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}
