//! What the tools do.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use skillfold_core::catalog::Filter;
use skillfold_core::diagnostic::visible;
use skillfold_core::disclose::{Memory as _, Style};
use skillfold_core::load::FileContent;
use skillfold_core::search::MAX_CANDIDATES;
use skillfold_core::text::first_chars;
use skillfold_core::view::FilePart;
use skillfold_core::{Catalog, Entry, Envelope, Error};

use crate::answer::failure::Failure;
use crate::answer::{Block, Fit, LoadedSkill, Payload, SkillLine, SkillLines, Tool, ToolAnswer};
use crate::conversation::session::Session;
use crate::tools::media::{image_type, media_type};

/// Maximum skills that a search returns.
const MAX_FOUND: usize = 5;

/// Skills per page of the list.
const PAGE_SKILLS: usize = 50;

/// Maximum bytes of a file that one call returns; the answer says where the rest starts.
const MAX_READ_BYTES: u64 = 256 * 1024;

/// Maximum bytes of a picture. Most models accept 5 MB in base64.
const MAX_IMAGE_BYTES: u64 = 3_750_000;

/// Maximum characters of a query that are looked at.
const MAX_QUERY_CHARACTERS: usize = 1000;

/// The note on an answer from the metadata alone.
const FALLBACK_NOTE: &str = "The search index is not ready: only names, descriptions and tags were searched. \
                             Search again in a moment for more.";

/// The note on an answer for which the model could not embed the request.
const WORDS_NOTE: &str = "The request could not be compared by meaning just now, only by its words. \
                          Search again in a moment for more.";

#[derive(Deserialize)]
struct SearchArguments {
    query: String,
}

#[derive(Deserialize)]
struct LoadArguments {
    skill_id: String,
    #[serde(default)]
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct ReadArguments {
    skill_id: String,
    path: String,
    #[serde(default)]
    start: Option<u64>,
}

#[derive(Deserialize)]
struct ListArguments {
    #[serde(default)]
    query: Option<String>,
    #[serde(default)]
    cursor: Option<String>,
}

impl Session {
    /// Runs a tool.
    pub(super) fn run(&self, tool: Tool, arguments: Value) -> ToolAnswer {
        match tool {
            Tool::Search => with(arguments, |asked| self.run_search(&asked)),
            Tool::Load | Tool::LoadAlias => with(arguments, |asked| {
                self.run_load(self.envelope_of(tool), asked)
            }),
            Tool::Read => with(arguments, |asked| self.run_read(&asked)),
            Tool::List => with(arguments, |asked| self.run_list(&asked)),
            #[cfg(feature = "store")]
            Tool::ProposeUpdate => with(arguments, |asked| self.run_propose_update(&asked)),
            #[cfg(feature = "store")]
            Tool::ProposeNew => with(arguments, |asked| self.run_propose_new(&asked)),
            #[cfg(feature = "run")]
            Tool::RunScript => with(arguments, |asked| self.run_script(asked)),
            #[cfg(feature = "run")]
            Tool::CallTool => with(arguments, |asked| self.call_tool(&asked)),
        }
    }

    /// Returns the envelope in which the model gets a skill that it loads.
    pub fn envelope(&self) -> Envelope {
        self.envelope_of(Tool::Load)
    }

    /// Returns the envelope in which a tool returns a skill.
    pub(super) fn envelope_of(&self, tool: Tool) -> Envelope {
        match (tool, self.policy.style) {
            (Tool::LoadAlias, _) => Envelope::ReadSkill,
            (_, Style::Xml) => Envelope::SkillContent,
            _ => Envelope::SkillContext,
        }
    }

    fn run_search(&self, asked: &SearchArguments) -> ToolAnswer {
        self.find(&asked.query, |found| {
            let best = found.skills.iter().filter_map(|(entry, fit)| {
                let fit = (*fit)?;
                Some(SkillLine::new(entry, Some(fit)))
            });
            let skills: Vec<_> = best.take(MAX_FOUND).collect();
            let lines = SkillLines {
                total: skills.len(),
                skills,
                next: None,
                note: found.note,
            };
            let mut text = lines.text();
            if lines.skills.is_empty() {
                text.push_str("No skill fits. Go on without one, or search in other words.\n");
            }
            push_note(&lines, &mut text);
            ToolAnswer::new(text, Payload::Lines(lines))
        })
    }

    fn run_list(&self, asked: &ListArguments) -> ToolAnswer {
        let cursor = asked.cursor.as_deref();
        let query = asked.query.as_deref().unwrap_or_default();
        if query.trim().is_empty() {
            return self.skills.with_catalog(|catalog| {
                let ids_after = |entry: &Entry<'_>| cursor.is_none_or(|last| entry.id() > last);
                let total = self.visible(catalog).count();
                let rest: Vec<_> = self.visible(catalog).filter(ids_after).collect();
                page(&rest, total, None)
            });
        }
        self.find(query, |found| {
            let entries: Vec<_> = found.skills.iter().map(|(entry, _)| *entry).collect();
            // The best come first, so the next page starts after the last skill of the previous one.
            let last = cursor.and_then(|id| entries.iter().position(|entry| entry.id() == id));
            let rest = &entries[last.map_or(0, |last| last + 1)..];
            page(rest, entries.len(), found.note)
        })
    }

    fn run_load(&self, envelope: Envelope, asked: LoadArguments) -> ToolAnswer {
        let arguments = asked.arguments.unwrap_or_default();
        let loaded = self.with_skill(&asked.skill_id, |entry, loader| {
            loader.render(entry, &arguments, envelope)
        });
        match loaded {
            Ok(text) => {
                #[cfg(feature = "run")]
                let notes = self.run_notes(text.instructions.id());
                #[cfg_attr(not(feature = "run"), expect(unused_mut, reason = "used with it"))]
                let mut answer = ToolAnswer::skill(LoadedSkill {
                    tokens: self.policy.counter.count(text.instructions.text()),
                    counter: Arc::clone(&self.policy.counter),
                    text,
                    envelope,
                    arguments,
                });
                #[cfg(feature = "run")]
                answer.content.extend(notes.map(Block::Text));
                answer
            }
            Err(error) => refuse(&asked.skill_id, envelope, &error),
        }
    }

    fn run_read(&self, asked: &ReadArguments) -> ToolAnswer {
        let start = asked.start.unwrap_or_default();
        let read = self.with_skill(&asked.skill_id, |entry, loader| {
            let range = start..start.saturating_add(MAX_READ_BYTES);
            let mut content = loader.read(entry, &asked.path, range)?;
            let is_image = start == 0 && image_type(content.bytes()).is_some();
            if is_image && content.next().is_some() && content.size() <= MAX_IMAGE_BYTES {
                content = loader.read(entry, &asked.path, ..MAX_IMAGE_BYTES)?;
            }
            Ok(file_answer(entry, &content))
        });
        match read {
            Ok(answer) => answer,
            Err(error) => refuse(&asked.skill_id, self.envelope(), &error),
        }
    }

    /// Returns the skills that the conversation may see.
    pub(crate) fn visible<'a>(&self, catalog: &'a Catalog) -> impl Iterator<Item = Entry<'a>> {
        catalog
            .visible()
            .filter(|entry| self.state.may_see(entry.id()))
    }

    /// Searches, and calls `f` with the skills that match a query: those that answer it, the best first, then those
    /// whose id or tags contain it.
    fn find<T>(&self, query: &str, f: impl FnOnce(&FoundSkills<'_>) -> T) -> T {
        let query = first_chars(query, MAX_QUERY_CHARACTERS);
        let results = self.search(query, MAX_CANDIDATES);
        let mut skills: Vec<(Entry<'_>, Option<Fit>)> = results
            .hits
            .iter()
            .filter_map(|hit| Some((results.entry(hit)?, Fit::from_confidence(hit.confidence))))
            .collect();
        let known: HashSet<&str> = skills.iter().map(|(entry, _)| entry.id()).collect();
        let named = Filter::default().query(query);
        let others: Vec<_> = self
            .visible(results.catalog())
            .filter(|entry| named.matches(entry) && !known.contains(entry.id()))
            .collect();
        skills.extend(others.into_iter().map(|entry| (entry, Some(Fit::Possible))));
        let note = if results.is_fallback {
            Some(FALLBACK_NOTE)
        } else {
            results.is_without_meaning().then_some(WORDS_NOTE)
        };
        f(&FoundSkills { skills, note })
    }
}

/// The skills that match a query.
struct FoundSkills<'a> {
    skills: Vec<(Entry<'a>, Option<Fit>)>,
    /// Why there may be more soon.
    note: Option<&'static str>,
}

/// Calls `f` with the arguments of a call, or answers what is wrong with them.
fn with<T: DeserializeOwned>(arguments: Value, f: impl FnOnce(T) -> ToolAnswer) -> ToolAnswer {
    let arguments = match arguments {
        Value::Null => Value::Object(serde_json::Map::new()),
        arguments => arguments,
    };
    match serde_json::from_value(arguments) {
        Ok(asked) => f(asked),
        Err(error) => {
            let message = format!("Invalid arguments: {error}");
            ToolAnswer::failure(message.clone(), Failure::usage(message))
        }
    }
}

/// Returns the first page of `rest`.
fn page(rest: &[Entry<'_>], total: usize, note: Option<&'static str>) -> ToolAnswer {
    let shown = &rest[..rest.len().min(PAGE_SKILLS)];
    let lines = SkillLines {
        skills: shown
            .iter()
            .map(|entry| SkillLine::new(entry, None))
            .collect(),
        total,
        next: shown
            .last()
            .filter(|_| rest.len() > PAGE_SKILLS)
            .map(|last| last.id().to_owned()),
        note,
    };
    let mut text = lines.text();
    match (&lines.next, total) {
        (Some(next), _) => {
            let shown = lines.skills.len();
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "{shown} of {total} skills. The next page has the cursor `{next}`."
            );
        }
        (None, 0) => text.push_str("No skill matches.\n"),
        (None, _) => {}
    }
    push_note(&lines, &mut text);
    ToolAnswer::new(text, Payload::Lines(lines))
}

fn push_note(lines: &SkillLines, text: &mut String) {
    if let Some(note) = lines.note {
        text.push_str(note);
        text.push('\n');
    }
}

/// Returns a file, or a part of it, as a model can take it.
fn file_answer(entry: &Entry<'_>, content: &FileContent) -> ToolAnswer {
    let mut part = FilePart::new(entry, content);
    let rest = part.next.map(|next| {
        let FilePart { start, size, .. } = part;
        format!("[bytes {start} to {next} of {size}; read on with `start` {next}]")
    });
    if let Some(text) = part.text.take() {
        let blocks = [Some(text), rest].into_iter().flatten();
        return ToolAnswer::file(blocks.map(Block::Text).collect(), part);
    }
    if let (Some(media_type), None, 0) = (image_type(content.bytes()), part.next, part.start) {
        let base64 = part.base64.take().unwrap_or_default();
        return ToolAnswer::file(vec![Block::Image { media_type, base64 }], part);
    }
    let media_type = media_type(&part.path);
    let about = format!(
        "`{}` is not text: {media_type}, {} bytes.",
        part.path, part.size
    );
    let path = entry.base_dir().map(|folder| folder.join(&part.path));
    // A model can pass a path to its own tools, but can do nothing with bytes.
    let blocks = if let Some(path) = path.as_deref().and_then(Path::to_str) {
        let path = visible(path);
        vec![Block::Text(format!("{about} Its path is `{path}`."))]
    } else {
        let resource = Block::Resource {
            uri: format!("skill://{}/{}", part.id, part.path),
            media_type,
            base64: part.base64.take().unwrap_or_default(),
        };
        let texts = [Some(about), rest].into_iter().flatten().map(Block::Text);
        [resource].into_iter().chain(texts).collect()
    };
    ToolAnswer::file(blocks, part)
}

fn refuse(id: &str, envelope: Envelope, error: &Error) -> ToolAnswer {
    ToolAnswer::failure(envelope.render_failure(id, error), Failure::new(error))
}
