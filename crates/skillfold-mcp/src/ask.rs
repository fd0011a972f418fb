//! Asks the user through the client whether a skill may run, if the user lets clients ask.
//!
//! Before 2026-07-28 the server sends the question as a request. Since then it returns the question as the result of the
//! call, and the client makes the call again with the response.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequiredResult, ProtocolVersion,
    ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext};
use skillfold::scripts::RunnableSkill;

/// How long to wait for the user's response.
const PATIENCE: Duration = Duration::from_secs(300);

/// Maximum number of questions that wait for a later call. Each holds a copy of its skill; one more drops the oldest.
const MAX_WAITING: usize = 16;

/// The name of the question in a result.
const QUESTION: &str = "allow";

/// How a client gets a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WayToAsk {
    /// As a request from the server.
    Request,
    /// As the result of the call.
    Result,
}

/// What came of asking.
pub(crate) enum Asked {
    Accepted(Box<RunnableSkill>),
    /// The user said no, or could not be asked.
    Refused,
    /// The question is the result of the call.
    ByResult(InputRequiredResult),
}

/// The questions that were returned as results, and wait for the next call.
#[derive(Debug, Default)]
pub(crate) struct Questions(Mutex<VecDeque<Waiting>>);

#[derive(Debug)]
struct Waiting {
    /// The skill's id in the call.
    id: String,
    /// Names the question in the next call. Only its client knows it.
    state: String,
    skill: Box<RunnableSkill>,
    since: Instant,
}

impl Questions {
    /// Asks by a result. Refuses if the system has no random bytes.
    pub(crate) fn ask(&self, id: String, skill: Box<RunnableSkill>, question: String) -> Asked {
        let mut bytes = [0_u8; 16];
        if getrandom::fill(&mut bytes).is_err() {
            return Asked::Refused;
        }
        let state = bytes.iter().fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
        let request = InputRequest::Elicitation(ElicitRequest::new(form(question)));
        let result = InputRequiredResult::new(
            Some([(QUESTION.to_owned(), request)].into()),
            Some(state.clone()),
        );
        let since = Instant::now();
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() == MAX_WAITING {
            waiting.pop_front();
        }
        waiting.push_back(Waiting {
            id,
            state,
            skill,
            since,
        });
        Asked::ByResult(result)
    }

    /// Returns what the user said to a question about this skill. It counts once.
    pub(crate) fn asked(&self, id: &str, response: &Response) -> Asked {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|question| question.since.elapsed() < PATIENCE);
        let at = waiting.iter().position(|it| it.state == response.state);
        match at.and_then(|at| waiting.remove(at)) {
            Some(question) if response.is_accepted && question.id == id => {
                Asked::Accepted(question.skill)
            }
            _ => Asked::Refused,
        }
    }
}

/// A client's response to a question that it got as a result.
#[derive(Debug)]
pub(crate) struct Response {
    state: String,
    is_accepted: bool,
}

impl Response {
    /// Takes the response out of a call, if it has one.
    pub(crate) fn take(request: &mut CallToolRequestParams) -> Option<Self> {
        let state = request.request_state.take()?;
        let mut responses = request.input_responses.take().unwrap_or_default();
        let response = responses.remove(QUESTION);
        let result = response.and_then(|it| serde_json::from_value::<ElicitResult>(it).ok());
        Some(Self {
            state,
            is_accepted: result.as_ref().is_some_and(is_accepted),
        })
    }
}

/// Shows a question as a form without fields. Returns whether the user said yes; `false` if the client cannot ask.
pub(crate) async fn ask(peer: &Peer<RoleServer>, question: String) -> bool {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form(question)));
    let mut options = PeerRequestOptions::no_options();
    options.timeout = Some(PATIENCE);
    let Ok(sent) = peer.send_cancellable_request(request, options).await else {
        return false;
    };
    match sent.await_response().await {
        Ok(ClientResult::ElicitResult(result)) => is_accepted(&result),
        _ => false,
    }
}

/// Returns how a client gets a question, if it can show forms.
pub(crate) fn way_to_ask(context: &RequestContext<RoleServer>) -> Option<WayToAsk> {
    let modes = context.client_capabilities()?.elicitation?;
    if modes.form.is_none() && modes.url.is_some() {
        return None;
    }
    let is_new = context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    Some(if is_new {
        WayToAsk::Result
    } else {
        WayToAsk::Request
    })
}

fn form(question: String) -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question,
        requested_schema: ElicitationSchema::new([].into()),
    }
}

fn is_accepted(result: &ElicitResult) -> bool {
    result.action == ElicitationAction::Accept
}
