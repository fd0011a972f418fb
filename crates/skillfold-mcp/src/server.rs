//! The server: what is asked by the protocol, answered from the snapshot of now.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::http::request::Parts;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SubscriptionFilter, Tool as Described,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use skillfold::Skills;

use crate::call::SESSION;
use crate::client_view::ServerState;
use crate::conversation::Conversation;
use crate::metrics::{Method, Outcome};
use crate::notices::accepted;
use crate::options::Options;
use crate::page::{TTL_MS, is_cursor};
use crate::run_tool::run_tool;
use crate::send_budget::ReadPermit;
use crate::stdio_lines::{TOO_LONG, too_long};
use crate::tools::Tool;
use crate::{prompts, resources, sep2640};

/// Skills as a server of the protocol. A clone is the same server to the same client; each request sees the snapshot of its
/// time.
#[derive(Clone, Debug)]
pub struct Server {
    shared: Arc<ServerState>,
    conversation: Arc<Conversation>,
    /// Whether the client is told of changes.
    is_told: Arc<AtomicBool>,
}

impl Server {
    /// Creates a server of some skills.
    pub fn new(skills: Skills, options: Options) -> Self {
        Self {
            shared: Arc::new(ServerState::new(skills, options)),
            conversation: Arc::default(),
            is_told: Arc::default(),
        }
    }

    /// Returns the same server for another client.
    pub(crate) fn anew(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            conversation: Arc::default(),
            is_told: Arc::default(),
        }
    }

    /// Tells all clients that the skills changed. A host calls it after each change of the snapshot.
    pub fn changed(&self) {
        self.shared.notices.changed();
    }

    pub(crate) fn shared(&self) -> &Arc<ServerState> {
        &self.shared
    }

    /// Calls a tool as a client does, without the protocol: arguments and result are JSON. `None` if there is no such tool,
    /// or the arguments are no object.
    pub fn call(&self, tool: &str, arguments: &str) -> Option<String> {
        let offer = self.shared.offer();
        let tool = Tool::named(&offer, tool)?;
        let arguments = serde_json::from_str(arguments).ok()?;
        let result = tool.call(&self.shared, &offer, &self.conversation, arguments);
        serde_json::to_string(&result.result()).ok()
    }

    /// Counts what is asked, how it went and how long it took.
    async fn counted<T>(
        &self,
        asked: Method,
        answer: impl Future<Output = Result<T, ErrorData>>,
    ) -> Result<T, ErrorData> {
        let start = Instant::now();
        let answer = answer.await;
        let went = match &answer {
            Ok(_) => Outcome::Ok,
            Err(_) => Outcome::Refused,
        };
        self.shared.metrics.answered(asked, went, start.elapsed());
        answer
    }

    /// Does something that reads files.
    async fn reading<T: Send + 'static>(
        &self,
        act: impl FnOnce(&ServerState) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let done = self.shared.reading(act).await;
        done.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// Does something that reads a whole file, in the turn of its request.
    async fn reading_whole<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        act: impl FnOnce(&ServerState) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let turn = ReadPermit::of(&context.extensions);
        let act = move |shared: &ServerState| {
            let done = act(shared);
            // Not before: nobody may wait for the answer any more, and it is made all the same.
            drop(turn);
            done
        };
        self.reading(act).await
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
        match &self.shared.offer().instructions {
            Some(instructions) => info.with_instructions(instructions.clone()),
            None => info,
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // Over HTTP it names its session.
        let parts = context.extensions.get::<Parts>();
        let session = parts.and_then(|parts| parts.headers.get(SESSION));
        if let Some(session) = session.and_then(|id| id.to_str().ok()) {
            let conversations = &self.shared.conversations;
            conversations.is_about(session, &self.conversation);
        }
        // A client may say it again.
        if !self.is_told.swap(true, Ordering::Relaxed) {
            self.shared.notices.tell(context.peer);
        }
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(accepted(requested))
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        self.shared.notices.follow(subscription).await;
        Ok(())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.counted(Method::ListTools, async {
            let tools = self.shared.offer().tools.clone();
            Ok(ListToolsResult::with_all_items(tools)
                .with_ttl_ms(TTL_MS)
                .with_cache_scope(CacheScope::Private))
        })
        .await
    }

    fn get_tool(&self, name: &str) -> Option<Described> {
        let offer = self.shared.offer();
        offer.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (start, offer) = (Instant::now(), self.shared.offer());
        let Some(tool) = Tool::named(&offer, &request.name) else {
            let metrics = &self.shared.metrics;
            metrics.answered(Method::UnknownTool, Outcome::Refused, start.elapsed());
            let unknown = format!("Unknown tool: {}", request.name);
            return Err(ErrorData::invalid_params(unknown, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let (answer, _) = run_tool(&self.shared, &self.conversation, tool, arguments)
            .await
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let metrics = &self.shared.metrics;
        metrics.answered(tool.asked(), answer.went(), start.elapsed());
        Ok(answer.result().into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.counted(Method::ListPrompts, async {
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
        let (name, given) = (request.name, request.arguments.unwrap_or_default());
        self.counted(Method::GetPrompt, async {
            let result = self
                .reading_whole(&context, move |shared| prompts::get(shared, &name, &given))
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
        self.counted(Method::ListResources, async {
            let cursor = cursor(request)?;
            self.reading(move |shared| resources::list(shared, cursor.as_deref()))
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
        self.counted(Method::ListTemplates, templates).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.counted(Method::ReadResource, async {
            let result = self
                .reading_whole(&context, move |shared| {
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
        if request.method == TOO_LONG {
            return Err(too_long());
        }
        let version = context.protocol_version();
        self.counted(Method::custom(&request.method), async {
            self.reading(move |shared| sep2640::answer(shared, &request, version.as_ref()))
                .await?
        })
        .await
    }
}
