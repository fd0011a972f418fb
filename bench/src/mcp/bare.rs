//! A minimal server built with the SDK, whose tool returns a constant: `ok`, or one as long as our response for each
//! tool.

use std::error::Error;
use std::io::Write;
use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::Router;
use axum::serve::ListenerExt as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::net::TcpListener;

use super::process::LISTENING;

/// The response.
#[derive(Clone)]
struct Bare(Arc<[(String, CallToolResult)]>);

/// Bytes per line of a long response. Our responses have lines too, and each line break is escaped.
const LINE: usize = 80;

/// Returns a response with about `bytes` bytes of text, like ours.
fn long(bytes: usize) -> CallToolResult {
    let line = format!("{}\n", "x".repeat(LINE - 2));
    CallToolResult::success(vec![ContentBlock::text(line.repeat(bytes.div_ceil(LINE)))])
}

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let long = self.0.iter().find(|(tool, _)| *tool == request.name);
        let result = match long {
            Some((_, result)) => result.clone(),
            None => CallToolResult::success(vec![ContentBlock::text("ok")]),
        };
        Ok(result.into())
    }
}

/// Serves until the process is killed, and prints the address. A tool given as `name=bytes` returns that many bytes.
pub(crate) fn serve(sizes: &[String]) -> Result<(), Box<dyn Error>> {
    let mut answers = Vec::new();
    for size in sizes {
        let (tool, bytes) = size.split_once('=').ok_or("a size is `name=bytes`")?;
        answers.push((tool.to_owned(), long(bytes.parse()?)));
    }
    let bare = Bare(answers.into());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let config = StreamableHttpServerConfig::default().with_json_response(true);
        let sessions = Arc::new(LocalSessionManager::default());
        let service = StreamableHttpService::new(move || Ok(bare.clone()), sessions, config);
        let router = Router::new().route_service("/mcp", service);
        writeln!(std::io::stderr(), "{LISTENING}{address}/mcp")?;
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        axum::serve(listener, router).await?;
        Ok(())
    })
}
