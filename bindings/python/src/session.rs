//! A conversation with a model.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use skillfold::Tool;
use skillfold::core::disclose::{Feedback, Mode};
use skillfold::core::{Budget, ContextLifetime, Error, SessionState};
use skillfold::view::{AnswerView, Document, ToolList, TurnView, Why};

use crate::error::{detached, json, searching};
use crate::instructions::Instructions;
use crate::scripts::{Cancel, interruptible};
use crate::skills::tool_check;

/// The arguments of `session`, as `skillfold._skills` passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SessionOptions {
    /// Settings that differ in this conversation.
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) is_transient: bool,
    /// The saved state of a conversation to resume.
    pub(crate) state: Option<String>,
    pub(crate) body_tokens: Option<u64>,
}

impl SessionOptions {
    pub(crate) fn policy(
        &self,
        skills: &skillfold::Skills,
    ) -> Result<skillfold::core::Policy, Error> {
        let settings = self.settings.iter();
        let settings = settings.map(|(key, value)| format!("{key}={value}"));
        let policy = skills.report().settings.policy_with(settings)?;
        Ok(match self.body_tokens {
            Some(tokens) => policy.with_bodies(Budget::tokens(tokens)),
            None => policy,
        })
    }

    pub(crate) fn lifetime(&self) -> ContextLifetime {
        if self.is_transient {
            ContextLifetime::Transient
        } else {
            ContextLifetime::History
        }
    }

    /// Returns the saved state, if there is one. Text that one host keeps and another drops would be given twice or never.
    pub(crate) fn saved_state(&self) -> Result<Option<SessionState>, Error> {
        let Some(state) = &self.state else {
            return Ok(None);
        };
        let invalid = |why: String| Error::invalid("state", why);
        let state: SessionState =
            serde_json::from_str(state).map_err(|error| invalid(error.to_string()))?;
        if state.lifetime() != self.lifetime() {
            let why = "it was saved with another value of `transient`; pass the same";
            return Err(invalid(why.to_owned()));
        }
        Ok(Some(state))
    }
}

/// A conversation. Calls from several threads wait for each other.
#[pyclass(frozen, module = "skillfold._skillfold")]
pub(crate) struct Session {
    session: Mutex<skillfold::Session>,
}

impl Session {
    pub(crate) fn new(session: skillfold::Session) -> Self {
        Self {
            session: Mutex::new(session),
        }
    }

    /// Takes the lock. Only call it detached from Python: its holder may wait for Python.
    fn lock(&self) -> MutexGuard<'_, skillfold::Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Session {
    /// Returns the listing, or `None` in a mode that has none.
    fn listing(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| {
            let mut session = self.lock();
            let has_listing = session.policy().mode != Mode::Triggered;
            has_listing.then(|| json(Document::Listing(session.listing())))
        })
    }

    fn turn(&self, py: Python<'_>, message: &str) -> PyResult<String> {
        searching(py, || {
            let mut session = self.lock();
            let turn = session.turn(message);
            let view = TurnView::new(session.policy(), &turn);
            Ok(json(Document::Turn(Box::new(view))))
        })
    }

    fn after_compaction(&self, py: Python<'_>, tokens: u64) -> PyResult<String> {
        searching(py, || {
            let mut session = self.lock();
            let turn = session.after_compaction(Budget::tokens(tokens));
            let view = TurnView::new(session.policy(), &turn);
            Ok(json(Document::Turn(Box::new(view))))
        })
    }

    #[expect(clippy::needless_pass_by_value, reason = "Python passes a list")]
    fn why(&self, py: Python<'_>, message: &str, ids: Vec<String>) -> PyResult<String> {
        searching(py, || {
            let session = self.lock();
            let ids: Vec<_> = ids.iter().map(String::as_str).collect();
            let explanation = session.why(message, &ids)?;
            let why = Why::new(message, session.policy(), &explanation);
            Ok(json(Document::Why(Box::new(why))))
        })
    }

    fn load(&self, py: Python<'_>, id: &str, arguments: &str) -> PyResult<Instructions> {
        detached(py, || self.lock().load(id, arguments)).map(Instructions::new)
    }

    fn tools(&self, py: Python<'_>) -> String {
        py.detach(|| json(Document::Tools(ToolList::new(self.lock().tools()))))
    }

    fn call(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: &str,
        cancel: &Cancel,
    ) -> PyResult<String> {
        // What runs a script records nothing, and may take a minute: it does not hold the conversation.
        let running = py.detach(|| {
            let session = self.lock();
            let runs = matches!(session.tool(name), Some(Tool::RunScript | Tool::CallTool));
            runs.then(|| session.clone().with_cancel(cancel.0.clone()))
        });
        let answer = match running {
            Some(mut session) => interruptible(py, &cancel.0, || session.call(name, arguments))?,
            None => searching(py, || Ok(self.lock().call(name, arguments)))?,
        };
        Ok(json(Document::Answer(AnswerView::new(&answer))))
    }

    fn record_feedback(&self, py: Python<'_>, id: &str, feedback: &str) -> PyResult<()> {
        detached(py, || {
            let all = [Feedback::Used, Feedback::Unused, Feedback::Missed];
            let feedback = all.into_iter().find(|known| known.as_str() == feedback);
            let feedback = feedback.ok_or_else(|| {
                Error::invalid("feedback", "it is one of `used`, `unused` and `missed`")
            })?;
            self.lock().record_feedback(id, feedback)
        })
    }

    #[expect(clippy::needless_pass_by_value, reason = "Python passes a list")]
    fn child(&self, py: Python<'_>, ids: Vec<String>) -> PyResult<Self> {
        detached(py, || {
            let child = self.lock().child(ids.iter().map(String::as_str))?;
            Ok(Self::new(child))
        })
    }

    /// Returns what to save, as JSON.
    fn state(&self, py: Python<'_>) -> String {
        // A state contains only numbers, ids and flags, which can always be written.
        py.detach(|| serde_json::to_string(self.lock().state()).unwrap_or_default())
    }

    fn tokens_spent(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.lock().state().tokens_spent())
    }

    fn turns(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.lock().state().turns())
    }

    fn plain_list_tokens(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.lock().plain_list_tokens())
    }

    /// Returns whether the skills in use allow one use of a tool.
    fn check_tool(&self, py: Python<'_>, tool: &str, input: &str) -> &'static str {
        py.detach(|| tool_check(&self.lock().check_tool_use(tool, input)))
    }

    /// Returns whether there is such a skill and the conversation's model may see it.
    fn may_see(&self, py: Python<'_>, id: &str) -> bool {
        py.detach(|| {
            let session = self.lock();
            let catalog = session.skills().catalog();
            let entry = catalog.get(id);
            entry.is_some_and(|entry| entry.is_visible() && session.may_see(entry.id()))
        })
    }
}
