//! The server: what is asked by the protocol, answered from the snapshot of now.

use std::sync::Arc;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use skillfold::Skills;

use crate::offer::Shared;
use crate::options::Options;
use crate::page::{TTL_MS, is_cursor};
use crate::{prompts, resources, sep2640, tools};

/// Skills as a server of the protocol. A clone is the same server; each request sees the snapshot of its time.
#[derive(Clone, Debug)]
pub struct Server {
    shared: Arc<Shared>,
}

impl Server {
    /// Creates a server of some skills.
    pub fn new(skills: Skills, options: Options) -> Self {
        Self {
            shared: Arc::new(Shared::new(skills, options)),
        }
    }

    /// Does something that may read files, where no other request has to wait for it.
    async fn blocking<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Shared) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let shared = Arc::clone(&self.shared);
        tokio::task::spawn_blocking(move || act(&shared))
            .await
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

/// Returns the cursor of a request.
fn cursor(request: Option<PaginatedRequestParams>) -> Result<Option<String>, ErrorData> {
    match request.and_then(|request| request.cursor) {
        Some(cursor) if !is_cursor(&cursor) => {
            Err(ErrorData::invalid_params("`cursor` is none of ours", None))
        }
        cursor => Ok(cursor),
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
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

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.shared.offer().tools.clone();
        Ok(ListToolsResult::with_all_items(tools)
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let offer = self.shared.offer();
        offer.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (name, arguments) = (request.name, request.arguments.unwrap_or_default());
        let unknown = format!("Unknown tool: {name}");
        let result = self
            .blocking(move |shared| tools::call(shared, &name, arguments))
            .await?;
        match result {
            Some(result) => Ok(result.into()),
            None => Err(ErrorData::invalid_params(unknown, None)),
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let cursor = cursor(request)?;
        Ok(prompts::list(&self.shared, cursor.as_deref())
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let (name, given) = (request.name, request.arguments.unwrap_or_default());
        let result = self
            .blocking(move |shared| prompts::get(shared, &name, &given))
            .await??;
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = cursor(request)?;
        Ok(resources::list(&self.shared, cursor.as_deref()))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates(&self.shared))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let result = self
            .blocking(move |shared| resources::read(shared, &request.uri))
            .await??;
        Ok(result.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let version = context.protocol_version();
        self.blocking(move |shared| sep2640::answer(shared, &request, version.as_ref()))
            .await?
    }
}
