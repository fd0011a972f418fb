//! The live handle to all skills.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use skillfold::author::CheckTarget;
use skillfold::core::catalog::{Changes, Filter};
use skillfold::core::load::{FileContent, FileList, Instructions, LoadedText};
use skillfold::core::read::ToolCheck;
use skillfold::core::source::Cursor;
use skillfold::core::{ContextLifetime, Envelope, Error, Limits, MemorySource};
use skillfold::view::{
    Check, Doctor, Document, EvaluationView, Failure, FileListing, FilePart, InstructionsView,
    Prompt, RootState, SearchView, SettingsView, SkillList, SkillView,
};
use skillfold::watch::Watcher;

use crate::agent::{AgentSkills, Uses};
use crate::discovery::DiscoverOptions;
use crate::error::{Answer, parse, read, value, view};
use crate::proposals::{self, ProposalCall};
use crate::registry::{self, RegistryCall};
use crate::session::{Session, SessionOptions};

/// How often all files may be scanned.
const SCAN_SECONDS: RangeInclusive<f64> = 0.01..=86_400.0;

/// A live handle to all skills.
#[derive(Clone)]
pub struct Skills {
    pub(crate) skills: skillfold::Skills,
    /// The skills that the program brings.
    in_memory: MemorySource,
}

/// A call that takes no handle of another language.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum SkillsCall {
    /// Adds a skill in memory, or replaces one that was added.
    Register {
        name: String,
        file: String,
    },
    /// The ids of a skill and of what it requires, in the order of loading, and what is wrong with that.
    LoadOrder {
        id: String,
    },
    List(ListOptions),
    Show {
        id: String,
    },
    Search {
        request: String,
        limit: usize,
        /// Whether withheld skills are found too.
        all: bool,
    },
    /// What a new conversation is told for its first request.
    Prompt {
        request: String,
    },
    Check,
    Evaluate {
        ids: Vec<String>,
    },
    Doctor,
    Settings,
    Counters,
    /// Empties the cache of instructions, or removes one skill from it.
    ClearCache {
        id: Option<String>,
    },
    Refresh,
    PrepareSearch,
    SearchProblem,
    /// Whether a skill's `allowed-tools` include a tool, or one use of it, and the rules that restrict it.
    CheckTool {
        id: String,
        tool: String,
        input: Option<String>,
    },
    /// The text that an agent starts with, and what there is to say about it.
    Compose {
        agent: String,
        prompt: String,
        inline: String,
    },
    Render(Render),
    Files(Files),
    Read(Read),
    Proposals(ProposalCall),
    Registry(RegistryCall),
}

/// Instructions in an envelope.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Render {
    pub(crate) id: String,
    pub(crate) arguments: String,
    pub(crate) envelope: String,
}

/// A page of the files of a skill.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Files {
    pub(crate) id: String,
    pub(crate) after: Option<String>,
    pub(crate) limit: usize,
}

/// A part of a file of a skill.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Read {
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) start: u64,
    pub(crate) end: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListOptions {
    query: Option<String>,
    scope: Option<String>,
    name: Option<String>,
    words: Option<String>,
    tag: Option<String>,
    limit: Option<usize>,
    after: Option<String>,
    /// Whether folders without a valid skill are listed too.
    #[serde(default)]
    with_refused: bool,
}

impl ListOptions {
    fn filter(&self) -> Result<Filter, Error> {
        let mut filter = Filter::default();
        if let Some(query) = &self.query {
            filter = filter.query(query);
        }
        if let Some(scope) = &self.scope {
            filter = filter.scope(parse("scope", scope)?);
        }
        if let Some(pattern) = &self.name {
            filter = filter.name(pattern)?;
        }
        if let Some(words) = &self.words {
            filter = filter.words(words);
        }
        if let Some(tag) = &self.tag {
            filter = filter.tag(tag);
        }
        Ok(filter)
    }
}

impl Skills {
    pub(crate) fn new(skills: skillfold::Skills, in_memory: MemorySource) -> Self {
        Self { skills, in_memory }
    }

    /// Discovers the skills. The other result is what the program should know.
    pub fn discover(options: DiscoverOptions) -> Result<(Self, Vec<String>), Error> {
        options.discover()
    }

    /// Returns the same skills for a person.
    #[must_use]
    pub fn for_user(&self) -> Self {
        Self::new(self.skills.for_user(), self.in_memory.clone())
    }

    /// Returns how many skills there are.
    pub fn count(&self) -> usize {
        self.skills.catalog().len()
    }

    /// Returns how many roots there are, without the one for skills in memory if it is empty.
    pub fn root_count(&self) -> usize {
        self.skills.catalog().roots().len() - usize::from(self.in_memory.is_empty())
    }

    /// Returns whether there is such a skill.
    pub fn has(&self, id: &str) -> bool {
        self.skills.catalog().get(id).is_some()
    }

    /// Returns the ids of the skills that a model may see.
    pub fn ids(&self) -> Vec<String> {
        let catalog = self.skills.catalog();
        let visible = catalog.visible();
        visible.map(|entry| entry.id().to_owned()).collect()
    }

    /// Returns the instructions of a skill.
    pub fn load(&self, id: &str, arguments: &str) -> Result<Arc<Instructions>, Error> {
        self.skills.load(id, arguments)
    }

    /// Starts a conversation, or resumes one.
    pub fn session(&self, options: &str) -> Result<Session, Error> {
        let options: SessionOptions = read("options", options)?;
        let policy = options.policy(&self.skills)?;
        Ok(Session::new(match options.saved_state()? {
            Some(state) => self.skills.resume(policy, state).with_project_files(),
            None => self.skills.session(policy, options.lifetime()),
        }))
    }

    /// Returns the skills as one agent sees them.
    pub fn bind(&self, uses: &str) -> Result<AgentSkills, Error> {
        let uses: Uses = read("options", uses)?;
        Ok(AgentSkills::new(
            &self.skills,
            self.skills.bind(uses.agent(&self.skills)?),
            uses.id,
        ))
    }

    /// Follows the files, and passes what changed, or an error, as JSON.
    pub fn watch(
        &self,
        interval: f64,
        mut on_change: impl FnMut(String) + Send + 'static,
    ) -> Result<Watcher, Error> {
        if !SCAN_SECONDS.contains(&interval) {
            let (least, most) = (SCAN_SECONDS.start(), SCAN_SECONDS.end());
            let problem = format!("it is between {least} and {most} seconds");
            return Err(Error::invalid("interval", problem));
        }
        let interval = Duration::from_secs_f64(interval);
        let changed = move |changed: Result<&Changes, &Error>| {
            on_change(view(match changed {
                Ok(changes) => Document::Changes(changes.clone()),
                Err(error) => Document::Error(Failure::new(error)),
            }));
        };
        self.skills.watch_every(interval, changed)
    }

    /// Makes a call.
    pub fn call(&self, call: &str) -> Answer {
        let skills = &self.skills;
        Ok(view(match read("call", call)? {
            SkillsCall::Register { name, file } => {
                self.in_memory.insert(format!("{name}/SKILL.md"), file);
                Document::Changes(skills.refresh()?)
            }
            SkillsCall::LoadOrder { id } => {
                let order = skills.load_order(&id)?;
                let findings = order.findings.iter().map(ToString::to_string);
                return value((order.ids, findings.collect::<Vec<_>>()));
            }
            SkillsCall::List(options) => Document::Skills(self.list(&options)?),
            SkillsCall::Show { id } => {
                let catalog = skills.catalog();
                let shown = SkillView::new(&catalog.resolve_or_suggest(&id)?);
                Document::Skill(Box::new(shown))
            }
            SkillsCall::Search {
                request,
                limit,
                all,
            } => {
                let found = if all {
                    skills.search_among(&request, limit, |_| true)
                } else {
                    skills.search(&request, limit)
                };
                Document::Search(SearchView::new(&request, &found))
            }
            SkillsCall::Prompt { request } => Document::Prompt(Box::new(self.prompt(&request))),
            SkillsCall::Check => Document::Check(self.check()?),
            SkillsCall::Evaluate { ids } => {
                let ids: Vec<_> = ids.iter().map(String::as_str).collect();
                let policy = skills.report().settings.policy();
                let evaluation = skills.evaluate(&ids, &policy)?;
                Document::Evaluation(EvaluationView::new(&evaluation))
            }
            SkillsCall::Doctor => Document::Doctor(self.doctor()),
            SkillsCall::Settings => {
                Document::Settings(SettingsView::new(&skills.report().settings))
            }
            SkillsCall::Counters => Document::Counters(Box::new(skills.counters())),
            SkillsCall::ClearCache { id: None } => {
                skills.clear_cache();
                return value(());
            }
            SkillsCall::ClearCache { id: Some(id) } => return value(skills.evict(&id)?),
            SkillsCall::Refresh => Document::Changes(skills.refresh()?),
            SkillsCall::PrepareSearch => {
                skills.prepare_search();
                return value(());
            }
            SkillsCall::SearchProblem => return value(skills.search_problem()),
            SkillsCall::CheckTool { id, tool, input } => {
                return value(self.check_tool(&id, &tool, input.as_deref())?);
            }
            SkillsCall::Compose {
                agent,
                prompt,
                inline,
            } => {
                let composed = skills.compose(&agent, &prompt, &inline)?;
                let notes = composed.notes.iter().map(ToString::to_string);
                return value((composed.text, notes.collect::<Vec<_>>()));
            }
            SkillsCall::Render(call) => {
                call.answer(|envelope| skills.render(&call.id, &call.arguments, envelope))?
            }
            SkillsCall::Files(call) => {
                call.answer(skills, |cursor| skills.files(&call.id, cursor, call.limit))?
            }
            SkillsCall::Read(call) => call.answer(skills, |range| {
                skills.read_range(&call.id, &call.path, range)
            })?,
            SkillsCall::Proposals(call) => return proposals::answer(skills, call),
            SkillsCall::Registry(call) => return registry::answer(skills, call),
        }))
    }

    fn list(&self, options: &ListOptions) -> Result<SkillList, Error> {
        let catalog = self.skills.catalog();
        let cursor = options.after.as_deref().map(Cursor::after);
        let limit = options.limit.unwrap_or(usize::MAX);
        let list = SkillList::new(&catalog.page(&options.filter()?, cursor.as_ref(), limit));
        Ok(if options.with_refused {
            list.with_refused(&catalog)
        } else {
            list
        })
    }

    fn prompt(&self, request: &str) -> Prompt {
        let policy = self.skills.report().settings.policy();
        let mut session = self.skills.session(policy, ContextLifetime::History);
        let (listing, plain) = (session.listing(), session.plain_list_tokens());
        let turn = session.turn(request);
        Prompt::new(request, session.policy(), &listing, &turn, plain)
    }

    fn check(&self) -> Result<Check, Error> {
        let profile = self.skills.report().settings.profile.value;
        let targets = CheckTarget::all_in(&self.skills.catalog());
        let checked = targets
            .iter()
            .map(|target| target.check(profile, &Limits::default()));
        let checked = checked.collect::<Result<Vec<_>, Error>>()?;
        Ok(Check::new(&checked))
    }

    /// Leaves out the root of skills in memory if nobody asked for it.
    fn doctor(&self) -> Doctor {
        let mut doctor = Doctor::new(&self.skills);
        if self.in_memory.is_empty() {
            let is_asked_for =
                |root: &RootState| root.root != "registered" || root.origin != "host";
            doctor.roots.retain(is_asked_for);
        }
        doctor
    }

    fn check_tool(
        &self,
        id: &str,
        tool: &str,
        input: Option<&str>,
    ) -> Result<(&'static str, Vec<String>), Error> {
        let skill = self.skills.get(id)?;
        let manifest = skill.entry().manifest();
        let check = match input {
            Some(input) => manifest.check_tool_use(tool, input),
            None => manifest.check_tool(tool),
        };
        let rules = match &check {
            ToolCheck::Conditional(rules) => rules.iter().map(|rule| (*rule).to_owned()).collect(),
            _ => Vec::new(),
        };
        Ok((tool_check(&check), rules))
    }
}

impl Render {
    pub(crate) fn answer(
        &self,
        render: impl FnOnce(Envelope) -> Result<LoadedText, Error>,
    ) -> Result<Document, Error> {
        let envelope: Envelope = parse("envelope", &self.envelope)?;
        let loaded = render(envelope)?;
        let instructions = InstructionsView::new(&loaded, envelope);
        Ok(Document::Instructions(instructions))
    }
}

impl Files {
    pub(crate) fn answer(
        &self,
        skills: &skillfold::Skills,
        list: impl FnOnce(Option<&Cursor>) -> Result<FileList, Error>,
    ) -> Result<Document, Error> {
        let page = list(self.after.as_deref().map(Cursor::after).as_ref())?;
        let catalog = skills.catalog();
        let listing = FileListing::new(&catalog.resolve_or_suggest(&self.id)?, &page);
        Ok(Document::Files(listing))
    }
}

impl Read {
    pub(crate) fn answer(
        &self,
        skills: &skillfold::Skills,
        read: impl FnOnce(Range<u64>) -> Result<FileContent, Error>,
    ) -> Result<Document, Error> {
        let content = read(self.start..self.end.unwrap_or(u64::MAX))?;
        let catalog = skills.catalog();
        let part = FilePart::new(&catalog.resolve_or_suggest(&self.id)?, &content);
        Ok(Document::File(part))
    }
}

/// Returns the result of a check as a word.
pub(crate) fn tool_check(check: &ToolCheck<'_>) -> &'static str {
    match check {
        ToolCheck::Allowed => "allowed",
        ToolCheck::Conditional(_) => "conditional",
        ToolCheck::Refused => "refused",
        _ => "unlisted",
    }
}
