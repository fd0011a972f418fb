//! A server for some skills, and a client for it.

use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, CustomRequest, ErrorData, Implementation,
    ProtocolVersion,
};
use rmcp::service::{RunningService, ServiceError};
use rmcp::{ClientLifecycleMode, ClientServiceExt as _, RoleClient, ServiceExt as _};
use serde_json::Value;
use skillfold::core::MemorySource;
use skillfold::{Environment, Host, Skills};
use skillfold_mcp::{Options, Server};
use skillfold_testkit::files;

/// A connected client.
pub(crate) struct Client(RunningService<RoleClient, ClientConfig>);

/// Creates skills from a text tree.
pub(crate) fn skills(tree: &str, settings: &[(&str, &str)]) -> Skills {
    let mut host = Host::new(Environment::new("/nowhere"));
    for (key, value) in settings {
        host = host.set(*key, *value);
    }
    let source = MemorySource::new(files(tree));
    host.bundled("built in", source)
        .discover()
        .expect("settings are in order")
        .skills
}

impl Client {
    /// Connects with the protocol version without sessions.
    pub(crate) async fn new(tree: &str) -> Self {
        Self::of(Server::new(skills(tree, &[]), Options::default())).await
    }

    pub(crate) async fn of(server: Server) -> Self {
        Self::connect_as(server, without_sessions(), ClientConfig::default()).await
    }

    /// Connects with the protocol version without sessions, as a client with this name and version.
    pub(crate) async fn named(server: Server, name: &str, version: &str) -> Self {
        let info = Implementation::new(name, version);
        let config = ClientConfig::new(ClientCapabilities::default(), info);
        Self::connect_as(server, without_sessions(), config).await
    }

    /// Connects with the protocol version without sessions, as a client that shows forms.
    pub(crate) async fn with_forms(server: Server) -> Self {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        let config = ClientConfig::new(capabilities, Implementation::new("forms", "1.0.0"));
        Self::connect_as(server, without_sessions(), config).await
    }

    pub(crate) async fn connect(server: Server, lifecycle: ClientLifecycleMode) -> Self {
        Self::connect_as(server, lifecycle, ClientConfig::default()).await
    }

    async fn connect_as(
        server: Server,
        lifecycle: ClientLifecycleMode,
        config: ClientConfig,
    ) -> Self {
        let (here, there) = tokio::io::duplex(64 * 1024);
        tokio::spawn(async move {
            let service = server.serve(there).await.expect("a client came");
            service.waiting().await.expect("nothing panicked");
        });
        Self(
            config
                .serve_with_lifecycle(here, lifecycle)
                .await
                .expect("a server is there"),
        )
    }

    /// Sends a request, and returns the result as JSON.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Value {
        self.try_ask(method, params).await.expect("an answer")
    }

    /// Sends a request that is refused.
    pub(crate) async fn refused(&self, method: &str, params: Value) -> ErrorData {
        self.try_ask(method, params).await.expect_err("a refusal")
    }

    /// Sends a request, and returns the result as JSON or the refusal.
    pub(crate) async fn try_ask(&self, method: &str, params: Value) -> Result<Value, ErrorData> {
        let request = ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)));
        match self.0.send_request(request).await {
            Ok(result) => Ok(serde_json::to_value(result).expect("JSON")),
            Err(ServiceError::McpError(error)) => Err(error),
            Err(error) => panic!("{error}"),
        }
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = serde_json::json!({ "name": tool, "arguments": arguments });
        self.ask("tools/call", params).await
    }

    /// Returns the server's instructions.
    pub(crate) fn instructions(&self) -> Option<String> {
        let info = self.0.peer_info()?;
        info.instructions.clone()
    }
}

fn without_sessions() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    }
}
