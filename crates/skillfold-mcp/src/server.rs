//! The MCP server: answers requests from the current snapshot.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult,
    DiscoverResult, GetPromptRequestParams, GetPromptResponse, Implementation,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, RequestMetaObject, ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use skillfold::run::Cancel;
use skillfold::store::{Approval, Author};
use skillfold::{Session, Skills, Tool, ToolAnswer};

use crate::ask::{ask, can_ask};
use crate::conversation::{Conversations, conversation_id, record_shared};
use crate::introduction::{check_introduction, used_introduction};
use crate::metrics::{Method, Outcome, add};
use crate::notices::{NotifierTask, accepted_filter};
use crate::options::Options;
use crate::protocol::page::{TTL_MS, is_cursor};
use crate::protocol::{prompts, resources, sep2640};
use crate::read_permit::ReadPermit;
use crate::state::{ClientInstructions, ServerState};
use crate::stdio_lines::{TOO_LONG_METHOD, too_long_error};
use crate::tools;

/// Skills as an MCP server. A clone is the same server for the same client. Each request sees the snapshot that is
/// current at that time.
#[derive(Clone, Debug)]
pub struct Server {
    shared: Arc<ServerState>,
    conversations: Arc<Conversations>,
    /// Notifies the client of changes, from its first notification that it is ready on.
    notifier: Arc<OnceLock<NotifierTask>>,
}

impl Server {
    /// Creates a server for some skills, and builds their search index in the background.
    pub fn new(skills: Skills, options: Options) -> Self {
        skills.prepare_search();
        Self {
            shared: Arc::new(ServerState::new(skills, options)),
            conversations: Arc::default(),
            notifier: Arc::default(),
        }
    }

    /// Returns the same server for another client.
    pub(crate) fn for_new_client(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            conversations: Arc::default(),
            notifier: Arc::default(),
        }
    }

    /// Notifies all clients that the skills changed. The host calls it after each change of the snapshot.
    pub fn notify_changed(&self) {
        self.shared.skills.prepare_search();
        self.shared.notices.notify_all();
    }

    pub(crate) fn shared(&self) -> &Arc<ServerState> {
        &self.shared
    }

    /// Runs a request and counts its method, outcome and duration.
    async fn measure<T>(
        &self,
        method: Method,
        answer: impl Future<Output = Result<T, ErrorData>>,
    ) -> Result<T, ErrorData> {
        let start = Instant::now();
        let answer = answer.await;
        let outcome = match &answer {
            Ok(_) => Outcome::Ok,
            Err(_) => Outcome::Refused,
        };
        self.shared
            .metrics
            .count_request(method, outcome, start.elapsed());
        answer
    }

    /// Returns what a client gets before any request.
    async fn for_client(
        &self,
        client: Option<Implementation>,
    ) -> Result<Arc<ClientInstructions>, ErrorData> {
        let read = move |shared: &ServerState| {
            let view = shared.current_view(client.as_ref());
            view.for_client(client.as_ref())
        };
        self.shared.run_blocking(read).await
    }

    /// Returns what a client gets before any request, and logs which skills do not fit it.
    async fn introduce(
        &self,
        client: Option<Implementation>,
    ) -> Result<Arc<ClientInstructions>, ErrorData> {
        if let Some(client) = &client {
            self.shared.view(None).await?.log_mismatches(client);
        }
        self.for_client(client).await
    }

    /// Records what an answer gave for the hooks of the same user. Returns true if one of them gave it to the model before.
    async fn record_shared(
        &self,
        meta: &RequestMetaObject,
        session: &Session,
        answer: &Arc<ToolAnswer>,
    ) -> bool {
        let Some((conversations, started_by)) = &self.shared.options.shared else {
            return false;
        };
        let named = conversation_id(meta).map(str::to_owned);
        let Some(id) = named.or_else(|| started_by.clone()) else {
            return false;
        };
        let (conversations, session) = (conversations.clone(), session.clone());
        let answer = Arc::clone(answer);
        let record = move || record_shared(&conversations, &id, &session, &answer);
        tokio::task::spawn_blocking(record).await.unwrap_or(false)
    }

    /// Returns the tools of the skills that a conversation has loaded.
    async fn skill_tools(
        &self,
        meta: &RequestMetaObject,
    ) -> Result<Vec<rmcp::model::Tool>, ErrorData> {
        let Some(session) = self.conversations.session(meta) else {
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

    /// Returns the arguments of `call_skill_tool` for a call of a tool of a skill that the conversation has loaded.
    async fn skill_call(
        &self,
        meta: &RequestMetaObject,
        name: &str,
        arguments: &Value,
    ) -> Result<Option<Value>, ErrorData> {
        let Some(session) = self.conversations.session(meta) else {
            return Ok(None);
        };
        let (name, arguments) = (name.to_owned(), arguments.clone());
        let find = move |_: &ServerState| session.skill_tool(&name, &arguments);
        self.shared.read_blocking(find).await
    }

    /// Runs a script or a tool of a skill until the client cancels the call.
    async fn run(
        &self,
        tool: Tool,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<ToolAnswer>, ErrorData> {
        let cancel = CancelOnDrop::default();
        tokio::select! {
            answer = self.run_or_ask(tool, arguments, context, &cancel.0) => answer,
            () = context.ct.cancelled() => {
                Err(ErrorData::internal_error("The call was cancelled", None))
            }
        }
    }

    /// Runs a script or a tool of a skill. If the skill may not run, the person is asked, where a person let clients ask.
    async fn run_or_ask(
        &self,
        tool: Tool,
        arguments: Value,
        context: &RequestContext<RoleServer>,
        cancel: &Cancel,
    ) -> Result<Arc<ToolAnswer>, ErrorData> {
        let run = |arguments: Value| {
            let (client, cancel) = (context.client_info(), cancel.clone());
            self.shared.run_script(move |shared| {
                let view = shared.current_view(client.as_ref());
                let session = view.session.clone().with_cancel(cancel);
                session.answer(tool, arguments)
            })
        };
        let answer = run(arguments.clone()).await?;
        let is_refused = answer.is_error() && answer.to_value()["refusal"] == "not_allowed";
        if let Some(id) = arguments["skill_id"].as_str()
            && is_refused
            && self.ask_to_allow(id.to_owned(), context, cancel).await?
        {
            return run(arguments).await;
        }
        Ok(answer)
    }

    /// Asks the person through the client whether a skill may run, and lets it run. Returns whether it may.
    async fn ask_to_allow(
        &self,
        id: String,
        context: &RequestContext<RoleServer>,
        cancel: &Cancel,
    ) -> Result<bool, ErrorData> {
        if !can_ask(&context.peer) {
            return Ok(false);
        }
        let client = context.client_info();
        let look = move |shared: &ServerState| {
            let view = shared.current_view(client.as_ref());
            let may_ask = shared.skills.clients_may_ask();
            may_ask.then(|| view.session.runnable(&id).ok()).flatten()
        };
        let Some(skill) = self.shared.read_blocking(look).await? else {
            return Ok(false);
        };
        let Some(question) = skill.question() else {
            return Ok(false);
        };
        if !ask(&context.peer, question).await {
            return Ok(false);
        }
        let (client, cancel) = (context.client_info(), cancel.clone());
        let name = client.map_or_else(|| "client".to_owned(), |client| client.name);
        let allow = move |shared: &ServerState| {
            let approval = Approval::by_client(name);
            shared.skills.allow(&skill.with_cancel(cancel), &approval)
        };
        // The call that follows says why it is still refused.
        Ok(self.shared.run_script(allow).await?.is_ok())
    }

    /// Runs `act`, which reads a whole file, and holds the request's permit meanwhile.
    async fn read_whole_file<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        act: impl FnOnce(&ServerState) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let permit = ReadPermit::from_extensions(&context.extensions);
        let act = move |shared: &ServerState| {
            let result = act(shared);
            // Released only now: the client may be gone, but the result is still being built.
            drop(permit);
            result
        };
        self.shared.read_blocking(act).await
    }
}

/// Ends a script or a tool when the call that runs it is dropped.
#[derive(Default)]
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Returns who a client's model is, for what it proposes.
fn author(context: &RequestContext<RoleServer>) -> Author {
    let client = context.client_info();
    let name = client.map_or_else(|| "agent".to_owned(), |client| client.name);
    Author::named(name).in_session(conversation_id(&context.meta))
}

/// Returns the cursor of a request.
fn cursor(request: Option<PaginatedRequestParams>) -> Result<Option<String>, ErrorData> {
    match request.and_then(|request| request.cursor) {
        Some(cursor) if !is_cursor(&cursor) => {
            Err(ErrorData::invalid_params("`cursor` is not valid", None))
        }
        cursor => Ok(cursor),
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_extensions_with(sep2640::capability())
            .build();
        let name = Implementation::new("skillfold", env!("CARGO_PKG_VERSION"))
            .with_title("Skillfold")
            .with_description("Agent skills: found, listed, loaded and read");
        ServerConfig::new(capabilities).with_server_info(name)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        check_introduction(&request.client_info)?;
        let mut info = self.negotiate_initialize(&request)?;
        // A client may introduce itself again within its session.
        let mut kept = used_introduction(request);
        kept.protocol_version = info.protocol_version.clone();
        context.peer.set_peer_info(kept.clone());
        let client = self.introduce(Some(kept.client_info)).await?;
        info.instructions.clone_from(&client.text);
        Ok(info)
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let mut info = self.get_info();
        let client = self.introduce(context.client_info()).await?;
        info.instructions.clone_from(&client.text);
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, info))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // A client may send the notification again.
        let notices = &self.shared.notices;
        self.notifier
            .get_or_init(|| notices.spawn_for_peer(context.peer));
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(accepted_filter(requested))
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        self.shared.notices.run_subscription(subscription).await;
        Ok(())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.measure(Method::ListTools, async {
            let client = self.for_client(context.client_info()).await?;
            let mut tools = client.tools.clone();
            tools.extend(self.skill_tools(&context.meta).await?);
            Ok(ListToolsResult::with_all_items(tools)
                .with_ttl_ms(TTL_MS)
                .with_cache_scope(CacheScope::Private))
        })
        .await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (start, shared) = (Instant::now(), &self.shared);
        let client = context.client_info();
        let view = shared.view(client.as_ref()).await?;
        let mut arguments = Value::Object(request.arguments.unwrap_or_default());
        let mut tool = view.session.tool(&request.name);
        if tool.is_none()
            && let Some(call) = self
                .skill_call(&context.meta, &request.name, &arguments)
                .await?
        {
            (tool, arguments) = (Some(Tool::CallTool), call);
        }
        let Some(tool) = tool.filter(|_| view.has_skills) else {
            let metrics = &shared.metrics;
            metrics.count_request(Method::UnknownTool, Outcome::Refused, start.elapsed());
            let unknown = format!("Unknown tool: {}", request.name);
            return Err(ErrorData::invalid_params(unknown, None));
        };
        let bytes = arguments.to_string().len();
        let answer = if let Some(answer) = view.session.quick_answer(tool, &arguments) {
            answer
        } else if matches!(tool, Tool::RunScript | Tool::CallTool) {
            self.run(tool, arguments, &context).await?
        } else {
            // The view is taken again: the one from before the wait may be outdated.
            let author = author(&context);
            let call = move |shared: &ServerState| {
                let view = shared.current_view(client.as_ref());
                if tool.only_reads() {
                    return view.session.answer(tool, arguments);
                }
                let session = view.session.clone().with_author(author);
                session.answer(tool, arguments)
            };
            match tool {
                Tool::Search | Tool::List => shared.search_blocking(call).await?,
                _ => shared.read_blocking(call).await?,
            }
        };
        self.conversations
            .record(&context.meta, &view.session, &answer, bytes);
        if answer.gives_skill() && !self.skill_tools(&context.meta).await?.is_empty() {
            // A client that does not listen reaches them by `call_skill_tool`.
            let _ = context.peer.notify_tool_list_changed().await;
        }
        let is_there = answer.gives_skill()
            && self
                .record_shared(&context.meta, &view.session, &answer)
                .await;
        let outcome = if answer.is_error() {
            Outcome::Failed
        } else {
            Outcome::Ok
        };
        add(&shared.metrics.loaded_tokens, answer.loaded_tokens());
        let metrics = &shared.metrics;
        metrics.count_request(tools::method(tool), outcome, start.elapsed());
        // A program that reads the value needs all of it.
        if is_there && !shared.options.structured {
            return Ok(tools::result_of_known_skill(&answer, &request.name).into());
        }
        Ok(tools::result(&answer, shared.options.structured).into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.measure(Method::ListPrompts, async {
            let (client, cursor) = (context.client_info(), cursor(request)?);
            let list = move |shared: &ServerState| {
                prompts::list(shared, client.as_ref(), cursor.as_deref())
            };
            let listed = self.shared.run_blocking(list).await?;
            Ok(listed
                .with_ttl_ms(TTL_MS)
                .with_cache_scope(CacheScope::Private))
        })
        .await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let (name, arguments) = (request.name, request.arguments.unwrap_or_default());
        self.measure(Method::GetPrompt, async {
            let client = context.client_info();
            let result = self
                .read_whole_file(&context, move |shared| {
                    prompts::get(shared, client.as_ref(), &name, &arguments)
                })
                .await??;
            Ok(result.into())
        })
        .await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.measure(Method::ListResources, async {
            let (client, cursor) = (context.client_info(), cursor(request)?);
            self.shared
                .read_blocking(move |shared| {
                    resources::list(shared, client.as_ref(), cursor.as_deref())
                })
                .await
        })
        .await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let client = context.client_info();
        let templates = move |shared: &ServerState| resources::templates(shared, client.as_ref());
        let templates = self.shared.run_blocking(templates);
        self.measure(Method::ListTemplates, templates).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.measure(Method::ReadResource, async {
            let client = context.client_info();
            let result = self
                .read_whole_file(&context, move |shared| {
                    resources::read(shared, client.as_ref(), &request.uri)
                })
                .await??;
            Ok(result.into())
        })
        .await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method == TOO_LONG_METHOD {
            return Err(too_long_error());
        }
        let (version, client) = (context.protocol_version(), context.client_info());
        self.measure(Method::custom(&request.method), async {
            self.shared
                .read_blocking(move |shared| {
                    sep2640::answer(shared, client.as_ref(), &request, version.as_ref())
                })
                .await?
        })
        .await
    }
}
