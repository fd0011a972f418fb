//! The live handle to all skills.

use std::time::Duration;

use pyo3::prelude::*;
use skillfold::core::catalog::Filter;
use skillfold::core::read::ToolCheck;
use skillfold::core::source::Cursor;
use skillfold::core::{ContextLifetime, Error, Limits, MemorySource};
use skillfold::view::{
    Check, Doctor, Document, EvaluationView, Prompt, SearchView, SettingsView, SkillList, SkillView,
};
use skillfold::{Discovered, author::CheckTarget};

use crate::agent::AgentSkills;
use crate::error::{detached, json, parse, searching};
use crate::host::Options;
use crate::improve::Store;
use crate::instructions::Instructions;
use crate::reading::{listed, part, rendered};
use crate::registry::Registry;
use crate::scripts::Runner;
use crate::session::{Session, SessionOptions};
use crate::watcher::{Watcher, on_change};

/// A live handle to all skills.
#[pyclass(frozen, module = "skillfold._skillfold")]
#[expect(clippy::struct_field_names, reason = "it wraps the type of this name")]
pub(crate) struct Skills {
    skills: skillfold::Skills,
    warnings: Vec<String>,
    /// The skills that the program brings.
    in_memory: MemorySource,
}

/// The arguments of `list`, as `skillfold._skills` passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct ListOptions {
    query: Option<String>,
    scope: Option<String>,
    name: Option<String>,
    words: Option<String>,
    tag: Option<String>,
    limit: Option<usize>,
    after: Option<String>,
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

#[pymethods]
impl Skills {
    #[staticmethod]
    fn discover(py: Python<'_>, options: Options) -> PyResult<Self> {
        let is_lenient = options.is_lenient;
        detached(py, || {
            let (host, in_memory) = options.into_host()?;
            let Discovered { skills, warnings } = if is_lenient {
                host.discover_lenient()
            } else {
                host.discover()?
            };
            let warnings = warnings.iter().map(ToString::to_string);
            Ok(Self {
                skills,
                warnings: warnings.collect(),
                in_memory,
            })
        })
    }

    /// Returns what a program should know after discovery.
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn for_user(&self) -> Self {
        Self {
            skills: self.skills.for_user(),
            warnings: Vec::new(),
            in_memory: self.in_memory.clone(),
        }
    }

    /// Adds a skill in memory, or replaces one that was added, and returns what changed.
    fn register(&self, py: Python<'_>, name: &str, file: &str) -> PyResult<String> {
        detached(py, || {
            self.in_memory.insert(format!("{name}/SKILL.md"), file);
            let changes = self.skills.refresh()?;
            Ok(json(Document::Changes(changes)))
        })
    }

    /// Returns the ids of a skill and of what it requires, in the order of loading, and what is wrong with that.
    fn load_order(&self, py: Python<'_>, id: &str) -> PyResult<(Vec<String>, Vec<String>)> {
        detached(py, || {
            let order = self.skills.load_order(id)?;
            let findings = order.findings.iter().map(ToString::to_string);
            Ok((order.ids, findings.collect()))
        })
    }

    fn __len__(&self) -> usize {
        self.skills.catalog().len()
    }

    fn __contains__(&self, id: &str) -> bool {
        self.skills.catalog().get(id).is_some()
    }

    /// Returns the ids of the skills that a model may see.
    fn visible_ids(&self) -> Vec<String> {
        let catalog = self.skills.catalog();
        let visible = catalog.visible();
        visible.map(|entry| entry.id().to_owned()).collect()
    }

    /// Returns whether the program brings no skills in memory.
    fn has_nothing_in_memory(&self) -> bool {
        self.in_memory.is_empty()
    }

    /// Returns how many roots there are, without the one for skills in memory if it is empty.
    fn root_count(&self) -> usize {
        self.skills.catalog().roots().len() - usize::from(self.in_memory.is_empty())
    }

    #[expect(clippy::needless_pass_by_value, reason = "Python passes a dict")]
    fn list(&self, py: Python<'_>, options: ListOptions) -> PyResult<String> {
        detached(py, || {
            let catalog = self.skills.catalog();
            let cursor = options.after.as_deref().map(Cursor::after);
            let limit = options.limit.unwrap_or(usize::MAX);
            let page = catalog.page(&options.filter()?, cursor.as_ref(), limit);
            let list = SkillList::new(&page);
            let list = if options.with_refused {
                list.with_refused(&catalog)
            } else {
                list
            };
            Ok(json(Document::Skills(list)))
        })
    }

    fn show(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        detached(py, || {
            let catalog = self.skills.catalog();
            let view = SkillView::new(&catalog.resolve_or_suggest(id)?);
            Ok(json(Document::Skill(Box::new(view))))
        })
    }

    fn load(&self, py: Python<'_>, id: &str, arguments: &str) -> PyResult<Instructions> {
        detached(py, || self.skills.load(id, arguments)).map(Instructions::new)
    }

    fn render(
        &self,
        py: Python<'_>,
        id: &str,
        arguments: &str,
        envelope: &str,
    ) -> PyResult<String> {
        rendered(py, envelope, |envelope| {
            self.skills.render(id, arguments, envelope)
        })
    }

    fn files(
        &self,
        py: Python<'_>,
        id: &str,
        after: Option<&str>,
        limit: usize,
    ) -> PyResult<String> {
        listed(py, (&self.skills, id), after, |cursor| {
            self.skills.files(id, cursor, limit)
        })
    }

    fn read(&self, py: Python<'_>, id: &str, path: &str, start: u64, end: u64) -> PyResult<String> {
        part(py, (&self.skills, id), || {
            self.skills.read_range(id, path, start..end)
        })
    }

    fn search(&self, py: Python<'_>, request: &str, limit: usize, all: bool) -> PyResult<String> {
        searching(py, || {
            let found = if all {
                self.skills.search_among(request, limit, |_| true)
            } else {
                self.skills.search(request, limit)
            };
            Ok(json(Document::Search(SearchView::new(request, &found))))
        })
    }

    /// Returns what a new conversation is told for its first request.
    fn prompt(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        searching(py, || {
            let policy = self.skills.report().settings.policy();
            let mut session = self.skills.session(policy, ContextLifetime::History);
            let (listing, plain) = (session.listing(), session.plain_list_tokens());
            let turn = session.turn(request);
            let prompt = Prompt::new(request, session.policy(), &listing, &turn, plain);
            Ok(json(Document::Prompt(Box::new(prompt))))
        })
    }

    fn check(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || {
            let profile = self.skills.report().settings.profile.value;
            let targets = CheckTarget::all_in(&self.skills.catalog());
            let checked = targets
                .iter()
                .map(|target| target.check(profile, &Limits::default()));
            let checked = checked.collect::<Result<Vec<_>, Error>>()?;
            Ok(json(Document::Check(Check::new(&checked))))
        })
    }

    #[expect(clippy::needless_pass_by_value, reason = "Python passes a list")]
    fn evaluate(&self, py: Python<'_>, ids: Vec<String>) -> PyResult<String> {
        searching(py, || {
            let ids: Vec<_> = ids.iter().map(String::as_str).collect();
            let policy = self.skills.report().settings.policy();
            let evaluation = self.skills.evaluate(&ids, &policy)?;
            Ok(json(Document::Evaluation(EvaluationView::new(&evaluation))))
        })
    }

    fn doctor(&self, py: Python<'_>) -> String {
        py.detach(|| json(Document::Doctor(Doctor::new(&self.skills))))
    }

    fn settings(&self, py: Python<'_>) -> String {
        py.detach(|| {
            json(Document::Settings(SettingsView::new(
                &self.skills.report().settings,
            )))
        })
    }

    fn counters(&self) -> String {
        json(Document::Counters(Box::new(self.skills.counters())))
    }

    fn clear_cache(&self, py: Python<'_>, id: Option<&str>) -> PyResult<()> {
        let Some(id) = id else {
            self.skills.clear_cache();
            return Ok(());
        };
        detached(py, || self.skills.evict(id))
    }

    fn refresh(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || {
            let changes = self.skills.refresh()?;
            Ok(json(Document::Changes(changes)))
        })
    }

    fn search_problem(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.skills.search_problem())
    }

    fn prepare_search(&self, py: Python<'_>) {
        py.detach(|| self.skills.prepare_search());
    }

    fn watch(&self, py: Python<'_>, interval: f64, function: Py<PyAny>) -> PyResult<Watcher> {
        detached(py, || {
            let interval = Duration::try_from_secs_f64(interval)
                .map_err(|error| Error::invalid("interval", error.to_string()))?;
            let watcher = self.skills.watch_every(interval, on_change(function))?;
            Ok(Watcher::new(watcher))
        })
    }

    /// Returns whether a skill's `allowed-tools` include a tool, or one use of it, and the rules that restrict it.
    fn check_tool(
        &self,
        py: Python<'_>,
        id: &str,
        tool: &str,
        input: Option<&str>,
    ) -> PyResult<(&str, Vec<String>)> {
        detached(py, || {
            let skill = self.skills.get(id)?;
            let entry = skill.entry();
            let manifest = entry.manifest();
            let check = match input {
                Some(input) => manifest.check_tool_use(tool, input),
                None => manifest.check_tool(tool),
            };
            let rules = match &check {
                ToolCheck::Conditional(rules) => {
                    rules.iter().map(|rule| (*rule).to_owned()).collect()
                }
                _ => Vec::new(),
            };
            Ok((tool_check(&check), rules))
        })
    }

    fn runner(&self) -> Runner {
        Runner::new(&self.skills)
    }

    fn registry(&self, user: bool) -> Registry {
        Registry::new(&self.skills, user)
    }

    fn store(&self) -> Store {
        Store::new(&self.skills)
    }

    /// Returns the text that an agent starts with, and what there is to say about it.
    fn compose(
        &self,
        py: Python<'_>,
        agent: &str,
        prompt: &str,
        inline: &str,
    ) -> PyResult<(String, Vec<String>)> {
        detached(py, || {
            let composed = self.skills.compose(agent, prompt, inline)?;
            let notes = composed.notes.iter().map(ToString::to_string);
            Ok((composed.text, notes.collect()))
        })
    }

    fn bind(
        &self,
        py: Python<'_>,
        id: &str,
        uses: Option<Vec<String>>,
        sees: &str,
    ) -> PyResult<AgentSkills> {
        detached(py, || AgentSkills::bind(&self.skills, id, uses, sees))
    }

    #[expect(clippy::needless_pass_by_value, reason = "Python passes a dict")]
    fn session(&self, py: Python<'_>, options: SessionOptions) -> PyResult<Session> {
        detached(py, || {
            let policy = options.policy(&self.skills)?;
            let session = match options.saved_state()? {
                Some(state) => self.skills.resume(policy, state).with_project_files(),
                None => self.skills.session(policy, options.lifetime()),
            };
            Ok(Session::new(session))
        })
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
