//! A conversation with a model.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use skillfold::Tool;
use skillfold::core::disclose::{Feedback, Mode};
use skillfold::core::load::Instructions;
use skillfold::core::{Budget, ContextLifetime, Error, Policy, SessionState};
use skillfold::run::Cancel;
use skillfold::view::{AnswerView, Document, ToolList, TurnView, Why};

use crate::error::{Answer, read, value, view};
use crate::skills::tool_check;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionOptions {
    /// Settings that differ in this conversation.
    #[serde(default)]
    settings: Vec<(String, String)>,
    /// Whether the host drops added text after each call.
    #[serde(default)]
    transient: bool,
    /// The saved state of a conversation to resume.
    state: Option<String>,
    body_tokens: Option<u64>,
}

impl SessionOptions {
    pub(crate) fn policy(&self, skills: &skillfold::Skills) -> Result<Policy, Error> {
        let settings = self.settings.iter();
        let settings = settings.map(|(key, value)| format!("{key}={value}"));
        let policy = skills.report().settings.policy_with(settings)?;
        Ok(match self.body_tokens {
            Some(tokens) => policy.with_bodies(Budget::tokens(tokens)),
            None => policy,
        })
    }

    pub(crate) fn lifetime(&self) -> ContextLifetime {
        if self.transient {
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
        let state: SessionState = read("state", state)?;
        if state.lifetime() != self.lifetime() {
            let why = "it was saved with another value of `transient`; pass the same";
            return Err(Error::invalid("state", why));
        }
        Ok(Some(state))
    }
}

/// A conversation. Calls from several threads wait for each other.
pub struct Session {
    session: Mutex<skillfold::Session>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum SessionCall {
    /// The listing; null in a mode that has none.
    Listing,
    AfterCompaction {
        tokens: u64,
        /// The ids of the skills whose instructions the host kept.
        kept: Vec<String>,
    },
    Why {
        message: String,
        ids: Vec<String>,
    },
    Tools,
    RecordFeedback {
        id: String,
        feedback: String,
    },
    /// What to save.
    State,
    /// The numbers of turns so far, of tokens spent, and of tokens of a plain list of all descriptions.
    Numbers,
    /// Whether the skills in use allow one use of a tool.
    CheckTool {
        tool: String,
        input: String,
    },
    /// Whether there is such a skill and the conversation's model may see it.
    MaySee {
        id: String,
    },
}

impl Session {
    pub(crate) fn new(session: skillfold::Session) -> Self {
        Self {
            session: Mutex::new(session),
        }
    }

    fn lock(&self) -> MutexGuard<'_, skillfold::Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides what to tell the model for a message.
    pub fn turn(&self, message: &str) -> String {
        let mut session = self.lock();
        let turn = session.turn(message);
        view(Document::Turn(Box::new(TurnView::new(
            session.policy(),
            &turn,
        ))))
    }

    /// Loads a skill that the model asked for.
    pub fn load(&self, id: &str, arguments: &str) -> Result<Arc<Instructions>, Error> {
        self.lock().load(id, arguments)
    }

    /// Starts a conversation of a sub-agent that sees only these skills.
    pub fn child(&self, ids: &[String]) -> Result<Self, Error> {
        let child = self.lock().child(ids.iter().map(String::as_str))?;
        Ok(Self::new(child))
    }

    /// Returns whether a call of the tool may take long, because it runs what a skill brings.
    pub fn tool_runs(&self, name: &str) -> bool {
        matches!(
            self.lock().tool(name),
            Some(Tool::RunScript | Tool::CallTool)
        )
    }

    /// Calls a tool as the model asked. `records` is whether the conversation remembers what the answer gives.
    pub fn call_tool(&self, name: &str, arguments: &str, records: bool, cancel: &Cancel) -> String {
        let answer = if !records || self.tool_runs(name) {
            // What runs a script records nothing, and may take a minute: it does not hold the conversation.
            let mut session = self.lock().clone().with_cancel(cancel.clone());
            session.call(name, arguments)
        } else {
            self.lock().call(name, arguments)
        };
        view(Document::Answer(AnswerView::new(&answer)))
    }

    /// Makes a call.
    pub fn call(&self, call: &str) -> Answer {
        let call = read("call", call)?;
        let mut session = self.lock();
        Ok(view(match call {
            SessionCall::Listing if session.policy().mode == Mode::Triggered => return value(()),
            SessionCall::Listing => Document::Listing(session.listing()),
            SessionCall::AfterCompaction { tokens, kept } => {
                let kept: Vec<_> = kept.iter().map(String::as_str).collect();
                let turn = session.after_compaction(Budget::tokens(tokens), &kept);
                Document::Turn(Box::new(TurnView::new(session.policy(), &turn)))
            }
            SessionCall::Why { message, ids } => {
                let ids: Vec<_> = ids.iter().map(String::as_str).collect();
                let explanation = session.why(&message, &ids)?;
                let why = Why::new(&message, session.policy(), &explanation);
                Document::Why(Box::new(why))
            }
            SessionCall::Tools => Document::Tools(ToolList::new(session.tools())),
            SessionCall::RecordFeedback { id, feedback } => {
                let all = [Feedback::Used, Feedback::Unused, Feedback::Missed];
                let feedback = all.into_iter().find(|known| known.as_str() == feedback);
                let feedback = feedback.ok_or_else(|| {
                    Error::invalid("feedback", "it is one of `used`, `unused` and `missed`")
                })?;
                return value(session.record_feedback(&id, feedback)?);
            }
            SessionCall::State => return value(session.state()),
            SessionCall::Numbers => {
                let state = session.state();
                let (turns, spent) = (state.turns(), state.tokens_spent());
                return value((turns, spent, session.plain_list_tokens()));
            }
            SessionCall::CheckTool { tool, input } => {
                return value(tool_check(&session.check_tool_use(&tool, &input)));
            }
            SessionCall::MaySee { id } => {
                let catalog = session.skills().catalog();
                let entry = catalog.get(&id);
                let may_see =
                    entry.is_some_and(|entry| entry.is_visible() && session.may_see(entry.id()));
                return value(may_see);
            }
        }))
    }
}
