//! What the tools do: list, search, load, read.

use std::collections::HashSet;

use rmcp::model::{ContentBlock, JsonObject};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use skillfold::core::catalog::Filter;
use skillfold::core::search::MAX_CANDIDATES;
use skillfold::core::text::first_chars;
use skillfold::core::{Entry, Envelope, Error};
use skillfold::view::{Failure, FilePart, InstructionsView};

use crate::answer::{Answer, SkillLine, SkillLines, Structured};
use crate::client_view::{ClientView, ServerState};
use crate::conversation::Conversation;
use crate::definition::LOAD_ALIAS;
use crate::metrics::{Method, add};
use crate::protocol::media;
use crate::protocol::page::{PAGE_ITEMS, page};
use crate::remembered::Loaded;

/// Skills that a search finds at most.
const FOUND: usize = 20;

/// Bytes of a file that one call returns at most; the answer says where the rest starts.
const READ_BYTES: u64 = 256 * 1024;

/// Characters of a query that are looked at.
const QUERY: usize = 1000;

/// What is said while the index is being made again.
const STOPGAP: &str = "The search index is being rebuilt: only names, descriptions and tags were searched. Search again in a moment for more.";

/// Skills up to which a look at all of them takes less time than another thread to do it.
const FEW: usize = 2_000;

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Tool {
    List,
    Search,
    Load,
    /// Loads too, by its other name.
    Alias,
    Read,
}

impl Tool {
    /// Returns the tool that a client means.
    pub(crate) fn named(offer: &ClientView, name: &str) -> Option<Self> {
        if offer.tools.is_empty() {
            return None;
        }
        let [list, search, load, read] = &offer.names;
        match name {
            name if name == list => Some(Self::List),
            name if name == search => Some(Self::Search),
            LOAD_ALIAS => Some(Self::Alias),
            name if name == load => Some(Self::Load),
            name if name == read => Some(Self::Read),
            _ => None,
        }
    }

    /// Returns what it is counted as.
    pub(crate) fn asked(self) -> Method {
        match self {
            Self::List => Method::ListSkillsTool,
            Self::Search => Method::SearchTool,
            Self::Load | Self::Alias => Method::LoadTool,
            Self::Read => Method::ReadTool,
        }
    }

    /// Returns whether a call reads no file and looks at few skills.
    pub(crate) fn is_quick(self, shared: &ServerState, offer: &ClientView) -> bool {
        match self {
            // The first search reads the instructions of all skills.
            Self::List | Self::Search => {
                offer.catalog.len() <= FEW && shared.skills.is_searchable()
            }
            Self::Load | Self::Alias | Self::Read => false,
        }
    }

    /// Calls it.
    pub(crate) fn call(
        self,
        shared: &ServerState,
        offer: &ClientView,
        conversation: &Conversation,
        arguments: JsonObject,
    ) -> Answer {
        let load = |asked: Load| {
            let envelope = match self {
                Self::Alias => Envelope::ReadSkill,
                _ => offer.envelope,
            };
            load_skill(shared, offer, conversation, envelope, &asked)
        };
        match self {
            Self::Load | Self::Alias => with(arguments, load),
            Self::List => with(arguments, |asked| list_skills(shared, offer, &asked)),
            Self::Search => with(arguments, |asked| search_skills(shared, offer, &asked)),
            Self::Read => with(arguments, |asked| read_file(shared, offer, &asked)),
        }
    }
}

/// Reads the arguments of a call; what is wrong with them is for the model to correct.
fn with<T: DeserializeOwned>(arguments: JsonObject, act: impl FnOnce(T) -> Answer) -> Answer {
    match serde_json::from_value(Value::Object(arguments)) {
        Ok(asked) => act(asked),
        Err(error) => {
            let message = format!("Invalid arguments: {error}");
            Answer::failure(message.clone(), Failure::usage(message))
        }
    }
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    query: Option<String>,
    #[serde(default)]
    cursor: Option<String>,
}

fn list_skills(shared: &ServerState, offer: &ClientView, asked: &List) -> Answer {
    let query = first_chars(asked.query.as_deref().unwrap_or_default(), QUERY);
    if query.trim().is_empty() {
        let found = page(
            offer.catalog.visible(),
            |entry| entry.id(),
            asked.cursor.as_deref(),
        );
        return lines(SkillLines {
            total: offer.catalog.visible().count(),
            skills: found.items.iter().map(SkillLine::new).collect(),
            next: found.next,
            note: None,
        });
    }
    let found = found(shared, offer, query);
    // The best come first, so the next ones are those after the last that was given.
    let cursor = asked.cursor.as_deref();
    let mut entries = found.entries.iter();
    let given = cursor.and_then(|cursor| entries.position(|entry| entry.id() == cursor));
    let rest = &found.entries[given.map_or(0, |last| last + 1)..];
    let next = rest.get(PAGE_ITEMS).and_then(|_| rest.get(PAGE_ITEMS - 1));
    lines(SkillLines {
        total: found.entries.len(),
        skills: rest.iter().take(PAGE_ITEMS).map(SkillLine::new).collect(),
        next: next.map(|last| last.id().to_owned()),
        note: found.note,
    })
}

#[derive(Deserialize)]
struct Search {
    query: String,
}

fn search_skills(shared: &ServerState, offer: &ClientView, asked: &Search) -> Answer {
    let found = found(shared, offer, first_chars(&asked.query, QUERY));
    let best = found.entries.iter().take(FOUND);
    lines(SkillLines {
        total: found.entries.len(),
        skills: best.map(SkillLine::new).collect(),
        next: None,
        note: found.note,
    })
}

/// What was found for a query.
struct Found<'o> {
    entries: Vec<Entry<'o>>,
    /// Why there may be more soon.
    note: Option<&'static str>,
}

/// Returns the skills that answer a query, the best first, and then those whose id or tags have it as a part.
fn found<'o>(shared: &ServerState, offer: &'o ClientView, query: &str) -> Found<'o> {
    let named = Filter::default().query(query);
    let search = shared.skills.search(query, MAX_CANDIDATES);
    let hits = search.hits.iter().map(|hit| &*hit.id);
    // The snapshot that was searched may be newer than the one that is offered.
    let hits = hits.filter_map(|id| offer.catalog.get(id).filter(|entry| entry.id() == id));
    let mut found: Vec<Entry<'o>> = hits.filter(Entry::is_visible).collect();
    let known: HashSet<&str> = found.iter().map(Entry::id).collect();
    let visible = offer.catalog.visible();
    let others: Vec<_> = visible
        .filter(|entry| named.matches(entry) && !known.contains(entry.id()))
        .collect();
    found.extend(others);
    Found {
        entries: found,
        note: search.is_fallback.then_some(STOPGAP),
    }
}

fn lines(found: SkillLines) -> Answer {
    Answer::new(ContentBlock::text(found.text()), Structured::Lines(found))
}

#[derive(Deserialize)]
struct Load {
    skill_id: String,
    #[serde(default)]
    arguments: Option<String>,
}

fn load_skill(
    shared: &ServerState,
    offer: &ClientView,
    conversation: &Conversation,
    envelope: Envelope,
    asked: &Load,
) -> Answer {
    let arguments = asked.arguments.as_deref().unwrap_or_default();
    match conversation.load(
        &shared.skills,
        &offer.policy,
        &asked.skill_id,
        arguments,
        envelope,
    ) {
        Ok((mut made_of, tokens)) => {
            add(&shared.metrics.loaded_tokens, tokens);
            let structured = InstructionsView::new(&made_of, envelope);
            let text = std::mem::take(&mut made_of.text);
            let loaded = Loaded {
                made_of,
                arguments: arguments.to_owned(),
                tokens,
            };
            let structured = Structured::Instructions(structured);
            Answer::new(ContentBlock::text(text), structured).of(loaded)
        }
        Err(error) => refuse(&asked.skill_id, envelope, &error),
    }
}

#[derive(Deserialize)]
struct Read {
    skill_id: String,
    path: String,
    #[serde(default)]
    start: u64,
}

fn read_file(shared: &ServerState, offer: &ClientView, asked: &Read) -> Answer {
    let range = asked.start..asked.start.saturating_add(READ_BYTES);
    let read = offer
        .catalog
        .resolve_for_model(&asked.skill_id)
        .and_then(|entry| {
            let content = shared.skills.read_range(entry.id(), &asked.path, range)?;
            Ok(FilePart::new(&entry, &content))
        });
    match read {
        Ok(part) => Answer::new(content(&part), Structured::Part(part)),
        Err(error) => refuse(&asked.skill_id, offer.envelope, &error),
    }
}

/// Returns a part of a file as a model can take it.
fn content(part: &FilePart) -> ContentBlock {
    let media = media::media_type_by_name(&part.path);
    match (&part.text, &part.base64) {
        (Some(text), _) => match part.next {
            None => ContentBlock::text(text.clone()),
            Some(next) => {
                let more = format!("[bytes {} to {next} of {}]", part.start, part.size);
                ContentBlock::text(format!("{text}\n{more}"))
            }
        },
        (None, Some(base64)) if media.starts_with("image/") && part.next.is_none() => {
            ContentBlock::image(base64.clone(), media)
        }
        _ => ContentBlock::text(format!(
            "This part of the file is not text: {} bytes, which the structured answer has in base64.",
            part.end - part.start
        )),
    }
}

fn refuse(id: &str, envelope: Envelope, error: &Error) -> Answer {
    Answer::failure(envelope.render_failure(id, error), Failure::new(error))
}
