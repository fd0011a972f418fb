//! The MCP server: answers requests from the current snapshot.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult,
    DiscoverResult, GetPromptRequestParams, GetPromptResponse, Implementation,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use skillfold::Skills;

use crate::caller::Caller;
use crate::introduction::{check_introduction, used_introduction};
use crate::metrics::{Method, Outcome};
use crate::notices::{NotifierTask, accepted_filter};
use crate::options::Options;
use crate::protocol::page::{TTL_MS, is_cursor};
use crate::protocol::{prompts, resources, sep2640};
use crate::read_permit::ReadPermit;
use crate::state::{ClientInstructions, ServerState};
use crate::stdio_lines::{TOO_LONG_METHOD, too_long_error};
use crate::tool_calls::ToolCalls;

/// Skills as an MCP server. A clone is the same server for the same client. Each request sees the snapshot current at
/// that time.
#[derive(Clone, Debug)]
pub struct Server {
    shared: Arc<ServerState>,
    calls: ToolCalls,
    /// Notifies the client of changes once it has reported that it is ready.
    notifier: Arc<OnceLock<NotifierTask>>,
}

impl Server {
    /// Creates a server for some skills, and builds their search index in the background.
    pub fn new(skills: Skills, options: Options) -> Self {
        skills.prepare_search();
        Self::of(Arc::new(ServerState::new(skills, options)))
    }

    /// Returns the same server for another client.
    pub(crate) fn for_new_client(&self) -> Self {
        Self::of(Arc::clone(&self.shared))
    }

    fn of(shared: Arc<ServerState>) -> Self {
        Self {
            calls: ToolCalls::new(Arc::clone(&shared)),
            shared,
            notifier: Arc::default(),
        }
    }

    /// Notifies all clients that the skills changed. The host calls it whenever the snapshot changes.
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
    async fn for_client(&self, caller: Caller) -> Result<Arc<ClientInstructions>, ErrorData> {
        let read = move |shared: &ServerState| {
            let view = shared.current_view(&caller);
            view.for_client(caller.client.as_ref())
        };
        self.shared.run_blocking(read).await
    }

    /// Returns what a client gets before any request, and logs which skills do not support its version.
    async fn introduce(&self, caller: Caller) -> Result<Arc<ClientInstructions>, ErrorData> {
        if let Some(client) = &caller.client {
            let whole = Caller {
                client: None,
                identity: caller.identity.clone(),
            };
            self.shared.view(&whole).await?.log_mismatches(client);
        }
        self.for_client(caller).await
    }

    /// Answers a request by reading files, holds its permit meanwhile if it reads a whole file, and counts it.
    async fn read<T: Send + 'static>(
        &self,
        method: Method,
        context: &RequestContext<RoleServer>,
        job: impl FnOnce(&ServerState, &Caller) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let caller = Caller::of(context);
        let permit = ReadPermit::from_extensions(&context.extensions);
        let job = move |shared: &ServerState| {
            let result = job(shared, &caller);
            // Released only now: the client may be gone, but the result is still being built.
            drop(permit);
            result
        };
        let answer = async { self.shared.read_blocking(job).await? };
        self.measure(method, answer).await
    }
}

/// Returns a request's cursor.
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
        self.calls.forget_project();
        let client = self
            .introduce(Caller::of(&context).with_client(kept.client_info))
            .await?;
        info.instructions.clone_from(&client.text);
        Ok(info)
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let mut info = self.get_info();
        let client = self.introduce(Caller::of(&context)).await?;
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

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.calls.forget_project();
        if self.shared.options.project.is_some() {
            // What a loaded skill may run differs from project to project. A client that ignores this asks for its tools
            // when it wants to.
            let _ = context.peer.notify_tool_list_changed().await;
        }
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
            let client = self.for_client(Caller::of(&context)).await?;
            let mut tools = client.tools.clone();
            tools.extend(self.calls.skill_tools(&context).await?);
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
        self.calls.call(request, &context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.measure(Method::ListPrompts, async {
            let (caller, cursor) = (Caller::of(&context), cursor(request)?);
            let list =
                move |shared: &ServerState| prompts::list(shared, &caller, cursor.as_deref());
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
        let get = move |shared: &ServerState, caller: &Caller| {
            prompts::get(shared, caller, &name, &arguments)
        };
        Ok(self.read(Method::GetPrompt, &context, get).await?.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let list = move |shared: &ServerState, caller: &Caller| {
            let cursor = cursor(request)?;
            Ok(resources::list(shared, caller, cursor.as_deref()))
        };
        self.read(Method::ListResources, &context, list).await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let caller = Caller::of(&context);
        let templates = move |shared: &ServerState| resources::templates(shared, &caller);
        let templates = self.shared.run_blocking(templates);
        self.measure(Method::ListTemplates, templates).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = move |shared: &ServerState, caller: &Caller| {
            resources::read(shared, caller, &request.uri)
        };
        let read = self.read(Method::ReadResource, &context, read);
        Ok(read.await?.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method == TOO_LONG_METHOD {
            return Err(too_long_error());
        }
        let (method, version) = (Method::custom(&request.method), context.protocol_version());
        let answer = move |shared: &ServerState, caller: &Caller| {
            sep2640::answer(shared, caller, &request, version.as_ref())
        };
        self.read(method, &context, answer).await
    }
}
