//! The MCP server: answers requests from the current snapshot.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::http::request::Parts;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SubscriptionFilter, Tool as ToolDefinition,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use skillfold::Skills;

use crate::call::SESSION;
use crate::client_view::ServerState;
use crate::conversation::Conversation;
use crate::metrics::{Method, Outcome};
use crate::notices::accepted_filter;
use crate::options::Options;
use crate::protocol::page::{TTL_MS, is_cursor};
use crate::protocol::{prompts, resources, sep2640};
use crate::read_permit::ReadPermit;
use crate::run_tool::run_tool;
use crate::stdio_lines::{TOO_LONG_METHOD, too_long_error};
use crate::tools::Tool;

/// Skills as an MCP server. A clone is the same server for the same client. Each request sees the snapshot that is
/// current at that time.
#[derive(Clone, Debug)]
pub struct Server {
    shared: Arc<ServerState>,
    conversation: Arc<Conversation>,
    /// Whether the client is already notified of changes.
    is_notified: Arc<AtomicBool>,
}

impl Server {
    /// Creates a server for some skills.
    pub fn new(skills: Skills, options: Options) -> Self {
        Self {
            shared: Arc::new(ServerState::new(skills, options)),
            conversation: Arc::default(),
            is_notified: Arc::default(),
        }
    }

    /// Returns the same server for another client.
    pub(crate) fn for_new_client(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            conversation: Arc::default(),
            is_notified: Arc::default(),
        }
    }

    /// Notifies all clients that the skills changed. The host calls it after each change of the snapshot.
    pub fn notify_changed(&self) {
        self.shared.notices.notify_all();
    }

    pub(crate) fn shared(&self) -> &Arc<ServerState> {
        &self.shared
    }

    /// Calls a tool as a client would, but without the protocol: arguments and result are JSON. Returns `None` if there
    /// is no such tool, or the arguments are not an object.
    pub fn call(&self, tool: &str, arguments: &str) -> Option<String> {
        let offer = self.shared.client_view();
        let tool = Tool::named(&offer, tool)?;
        let arguments = serde_json::from_str(arguments).ok()?;
        let result = tool.call(&self.shared, &offer, &self.conversation, arguments);
        serde_json::to_string(&result.result()).ok()
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

    /// Runs `act`, which reads files, on a blocking thread.
    async fn read_blocking<T: Send + 'static>(
        &self,
        act: impl FnOnce(&ServerState) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let result = self.shared.read_blocking(act).await;
        result.map_err(|error| ErrorData::internal_error(error.to_string(), None))
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
        self.read_blocking(act).await
    }
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
        let info = ServerConfig::new(capabilities).with_server_info(name);
        match &self.shared.client_view().instructions {
            Some(instructions) => info.with_instructions(instructions.clone()),
            None => info,
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // Over HTTP the notification names its session.
        let parts = context.extensions.get::<Parts>();
        let session = parts.and_then(|parts| parts.headers.get(SESSION));
        if let Some(session) = session.and_then(|id| id.to_str().ok()) {
            let conversations = &self.shared.conversations;
            conversations.attach(session, &self.conversation);
        }
        // A client may send the notification again.
        if !self.is_notified.swap(true, Ordering::Relaxed) {
            self.shared.notices.spawn_for_peer(context.peer);
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
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.measure(Method::ListTools, async {
            let tools = self.shared.client_view().tools.clone();
            Ok(ListToolsResult::with_all_items(tools)
                .with_ttl_ms(TTL_MS)
                .with_cache_scope(CacheScope::Private))
        })
        .await
    }

    fn get_tool(&self, name: &str) -> Option<ToolDefinition> {
        let offer = self.shared.client_view();
        offer.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (start, offer) = (Instant::now(), self.shared.client_view());
        let Some(tool) = Tool::named(&offer, &request.name) else {
            let metrics = &self.shared.metrics;
            metrics.count_request(Method::UnknownTool, Outcome::Refused, start.elapsed());
            let unknown = format!("Unknown tool: {}", request.name);
            return Err(ErrorData::invalid_params(unknown, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let (answer, _) = run_tool(&self.shared, &self.conversation, tool, arguments)
            .await
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let metrics = &self.shared.metrics;
        metrics.count_request(tool.asked(), answer.went(), start.elapsed());
        Ok(answer.result().into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.measure(Method::ListPrompts, async {
            let cursor = cursor(request)?;
            Ok(prompts::list(&self.shared, cursor.as_deref())
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
            let result = self
                .read_whole_file(&context, move |shared| {
                    prompts::get(shared, &name, &arguments)
                })
                .await??;
            Ok(result.into())
        })
        .await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.measure(Method::ListResources, async {
            let cursor = cursor(request)?;
            self.read_blocking(move |shared| resources::list(shared, cursor.as_deref()))
                .await
        })
        .await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = async { Ok(resources::templates(&self.shared)) };
        self.measure(Method::ListTemplates, templates).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.measure(Method::ReadResource, async {
            let result = self
                .read_whole_file(&context, move |shared| {
                    resources::read(shared, &request.uri)
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
        let version = context.protocol_version();
        self.measure(Method::custom(&request.method), async {
            self.read_blocking(move |shared| sep2640::answer(shared, &request, version.as_ref()))
                .await?
        })
        .await
    }
}
