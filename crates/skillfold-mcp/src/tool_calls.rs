//! Tool calls: finds the tool, answers, and records what the model was given.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use rmcp::model::{CallToolRequestParams, CallToolResponse, InputRequiredResult};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value};
use skillfold::run::Cancel;
use skillfold::scripts::RunnableSkill;
use skillfold::store::{Approval, Author};
use skillfold::{Json, Session, Tool, ToolAnswer};

use crate::ask::{Asked, Response, WayToAsk, ask, way_to_ask};
use crate::caller::Caller;
use crate::conversation::{Conversations, conversation_id, record_shared};
use crate::metrics::{Method, Outcome, add};
use crate::project::ConnectionProject;
use crate::state::{ServerState, SnapshotView};
use crate::tools;

/// One client's tool calls, and the conversations they belong to.
#[derive(Clone, Debug)]
pub(crate) struct ToolCalls {
    shared: Arc<ServerState>,
    conversations: Arc<Conversations>,
    project: Arc<ConnectionProject>,
}

/// A call to an existing tool.
struct Call {
    tool: Tool,
    arguments: Json,
    /// The skill named in the arguments.
    skill: Option<String>,
    /// The response to the question that an earlier call returned.
    response: Option<Response>,
}

/// What came of a call that runs something.
enum Ran {
    Answer(Arc<ToolAnswer>),
    /// The user has to be asked first.
    Question(InputRequiredResult),
}

impl Call {
    fn new(tool: Tool, arguments: Value) -> Self {
        let skill = arguments.get("skill_id").and_then(Value::as_str);
        Self {
            tool,
            skill: skill.map(str::to_owned),
            arguments: tools::json(arguments),
            response: None,
        }
    }

    /// Returns whether it runs a skill's script or tool.
    fn runs(&self) -> bool {
        matches!(self.tool, Tool::RunScript | Tool::CallTool)
    }
}

impl ToolCalls {
    pub(crate) fn new(shared: Arc<ServerState>) -> Self {
        Self {
            shared,
            conversations: Arc::default(),
            project: Arc::default(),
        }
    }

    /// Forgets the client's project, which may be another one now.
    pub(crate) fn forget_project(&self) {
        self.project.forget();
    }

    /// Answers a call, and counts it.
    pub(crate) async fn call(
        &self,
        mut request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (start, shared) = (Instant::now(), &self.shared);
        let caller = Caller::of(context);
        let view = shared.view(&caller).await?;
        let scope = shared.scope_of(&request.name);
        if !caller.may(scope) {
            // Over HTTP the request was refused already.
            let message = format!("The token has no scope `{}`", scope.as_str());
            return Err(ErrorData::invalid_request(message, None));
        }
        let response = Response::take(&mut request);
        let arguments = request.arguments.unwrap_or_default();
        let found = self.find(&request.name, arguments, &view, context);
        let Some(call) = found.await?.filter(|_| view.has_skills) else {
            let metrics = &shared.metrics;
            metrics.count_request(Method::UnknownTool, Outcome::Refused, start.elapsed());
            let unknown = format!("Unknown tool: {}", request.name);
            return Err(ErrorData::invalid_params(unknown, None));
        };
        let (tool, bytes) = (call.tool, call.arguments.to_string().len());
        let answer = match view.session.quick_answer(tool, &call.arguments) {
            Some(answer) => answer,
            None if call.runs() => match self.run(Call { response, ..call }, context).await? {
                Ran::Answer(answer) => answer,
                Ran::Question(question) => {
                    let metrics = &shared.metrics;
                    metrics.count_request(tools::method(tool), Outcome::Ok, start.elapsed());
                    return Ok(question.into());
                }
            },
            None => self.answer(call, context).await?,
        };
        let is_already_given = self.record(context, &view.session, &answer, bytes).await?;
        let outcome = if answer.is_error() {
            Outcome::Failed
        } else {
            Outcome::Ok
        };
        add(&shared.metrics.loaded_tokens, answer.loaded_tokens());
        let metrics = &shared.metrics;
        metrics.count_request(tools::method(tool), outcome, start.elapsed());
        // A program that reads the value needs all of it.
        if is_already_given && !shared.options.structured {
            return Ok(tools::result_of_known_skill(&answer, &request.name).into());
        }
        Ok(tools::result(&answer, shared.options.structured).into())
    }

    /// Returns the tools of the skills loaded in a conversation.
    pub(crate) async fn skill_tools(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Vec<rmcp::model::Tool>, ErrorData> {
        let Some(session) = self.conversation(context).await else {
            return Ok(Vec::new());
        };
        let structured = self.shared.options.structured;
        let list = move |_: &ServerState| {
            let tools = session.skill_tools().into_iter();
            tools
                .map(|tool| tools::definition(tool, structured))
                .collect()
        };
        self.shared.read_blocking(list).await
    }

    /// Finds a call's tool: one of the server's, or one of a skill loaded in the conversation.
    async fn find(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        view: &SnapshotView,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<Call>, ErrorData> {
        let arguments = Value::Object(arguments);
        if let Some(tool) = view.session.tool(name) {
            return Ok(Some(Call::new(tool, arguments)));
        }
        let Some(session) = self.conversation(context).await else {
            return Ok(None);
        };
        let (name, arguments) = (name.to_owned(), tools::json(arguments));
        let find = move |_: &ServerState| session.skill_tool(&name, &arguments);
        let arguments = self.shared.read_blocking(find).await?;
        Ok(arguments.map(|arguments| Call::new(Tool::CallTool, tools::value(&arguments))))
    }

    /// Returns the conversation of a request with its project, if something was loaded in it.
    async fn conversation(&self, context: &RequestContext<RoleServer>) -> Option<Session> {
        let session = self.conversations.session(&context.meta)?;
        Some(session.with_project(self.project(context).await))
    }

    /// Answers a call that runs nothing.
    async fn answer(
        &self,
        call: Call,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<ToolAnswer>, ErrorData> {
        let (caller, author) = (Caller::of(context), author(context));
        let project = self.project(context).await;
        let Call {
            tool, arguments, ..
        } = call;
        let answer = move |shared: &ServerState| {
            // Takes the view again: the one from before the wait may be outdated.
            let view = shared.current_view(&caller);
            let session = view.session.clone().with_project(project);
            if tool.only_reads() {
                return session.answer(tool, arguments);
            }
            session.with_author(author).answer(tool, arguments)
        };
        match tool {
            Tool::Search | Tool::List => self.shared.search_blocking(answer).await,
            _ => self.shared.read_blocking(answer).await,
        }
    }

    /// Runs a skill's script or tool until the client cancels the call.
    async fn run(
        &self,
        call: Call,
        context: &RequestContext<RoleServer>,
    ) -> Result<Ran, ErrorData> {
        let cancel = CancelOnDrop::default();
        tokio::select! {
            answer = self.run_or_ask(call, context, &cancel.0) => answer,
            () = context.ct.cancelled() => {
                Err(ErrorData::internal_error("The call was cancelled", None))
            }
        }
    }

    /// Runs a skill's script or tool. If the skill is not allowed to run, asks the user, if clients may ask.
    async fn run_or_ask(
        &self,
        call: Call,
        context: &RequestContext<RoleServer>,
        cancel: &Cancel,
    ) -> Result<Ran, ErrorData> {
        let tool = call.tool;
        let project = self.project(context).await;
        let run = |arguments: Json| {
            let (caller, cancel) = (Caller::of(context), cancel.clone());
            let project = project.clone();
            self.shared.run_script(move |shared| {
                let view = shared.current_view(&caller);
                let session = view.session.clone().with_cancel(cancel);
                session.with_project(project).answer(tool, arguments)
            })
        };
        let answer = run(call.arguments.clone()).await?;
        let Some(id) = call.skill.filter(|_| answer.is_not_allowed()) else {
            return Ok(Ran::Answer(answer));
        };
        let asked = match call.response {
            Some(response) => self.shared.questions.asked(&id, &response),
            None => self.ask(id, project.clone(), context).await?,
        };
        match asked {
            Asked::Accepted(skill) => {
                self.allow(*skill, context, cancel).await?;
                Ok(Ran::Answer(run(call.arguments).await?))
            }
            Asked::Refused => Ok(Ran::Answer(answer)),
            Asked::ByResult(question) => Ok(Ran::Question(question)),
        }
    }

    /// Returns the folder that the user works in.
    async fn project(&self, context: &RequestContext<RoleServer>) -> Option<PathBuf> {
        self.project.find(&self.shared, &context.peer).await
    }

    /// Asks the user through the client to allow a skill.
    async fn ask(
        &self,
        id: String,
        project: Option<PathBuf>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Asked, ErrorData> {
        let Some(way) = way_to_ask(context) else {
            return Ok(Asked::Refused);
        };
        let (caller, skill) = (Caller::of(context), id.clone());
        let look = move |shared: &ServerState| {
            let view = shared.current_view(&caller);
            let session = view.session.clone().with_project(project);
            let may_ask = shared.skills.clients_may_ask();
            may_ask.then(|| session.runnable(&skill).ok()).flatten()
        };
        let Some(skill) = self.shared.read_blocking(look).await? else {
            return Ok(Asked::Refused);
        };
        let Some(question) = skill.question() else {
            return Ok(Asked::Refused);
        };
        let skill = Box::new(skill);
        match way {
            WayToAsk::Result => Ok(self.shared.questions.ask(id, skill, question)),
            WayToAsk::Request if ask(&context.peer, question).await => Ok(Asked::Accepted(skill)),
            WayToAsk::Request => Ok(Asked::Refused),
        }
    }

    /// Allows a skill that the user said yes to in the client. If that fails, the next run says why it is still refused.
    async fn allow(
        &self,
        skill: RunnableSkill,
        context: &RequestContext<RoleServer>,
        cancel: &Cancel,
    ) -> Result<(), ErrorData> {
        let cancel = cancel.clone();
        let name = Caller::of(context)
            .name()
            .unwrap_or_else(|| "client".to_owned());
        let allow = move |shared: &ServerState| {
            let (approval, skill) = (Approval::by_client(name), skill.with_cancel(cancel));
            let _ = shared.skills.allow(&skill, &approval);
        };
        self.shared.run_script(allow).await
    }

    /// Records what a response gave to the model, in this conversation and for the user's hooks. Returns true if a hook
    /// already gave it to the model.
    async fn record(
        &self,
        context: &RequestContext<RoleServer>,
        session: &Session,
        answer: &Arc<ToolAnswer>,
        bytes: usize,
    ) -> Result<bool, ErrorData> {
        let meta = &context.meta;
        self.conversations.record(meta, session, answer, bytes);
        if !answer.gives_skill() {
            return Ok(false);
        }
        if !self.skill_tools(context).await?.is_empty() {
            // A client that ignores this reaches them through `call_skill_tool`.
            let _ = context.peer.notify_tool_list_changed().await;
        }
        let Some((conversations, started_by)) = &self.shared.options.shared else {
            return Ok(false);
        };
        let named = conversation_id(meta).map(str::to_owned);
        let Some(id) = named.or_else(|| started_by.clone()) else {
            return Ok(false);
        };
        let (conversations, session) = (conversations.clone(), session.clone());
        let answer = Arc::clone(answer);
        let record = move || record_shared(&conversations, &id, &session, &answer);
        Ok(tokio::task::spawn_blocking(record).await.unwrap_or(false))
    }
}

/// Stops a script or tool when its call is dropped.
#[derive(Default)]
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Returns the author for what a client's model proposes.
fn author(context: &RequestContext<RoleServer>) -> Author {
    let name = Caller::of(context)
        .name()
        .unwrap_or_else(|| "agent".to_owned());
    Author::named(name).in_session(conversation_id(&context.meta))
}
