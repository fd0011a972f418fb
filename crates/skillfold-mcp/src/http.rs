//! Many clients, by streamable HTTP.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use crate::server::Server;
use crate::token::Token;

/// The path that the protocol is spoken at.
const PATH: &str = "/mcp";

/// Bytes of a request's body.
const BODY_BYTES: usize = 1024 * 1024;

/// How long open answers are waited for when the server stops.
const FAREWELL: Duration = Duration::from_secs(3);

/// Who may ask.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a token is needed, or is not")]
pub enum Access {
    /// Whoever shows the token.
    Token(Token),
    /// Everyone who reaches the address.
    Open,
}

/// Where the server listens, and to whom.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "faces set all of it")]
pub struct HttpOptions {
    /// The address; port 0 takes any that is free.
    pub address: SocketAddr,
    /// Who may ask.
    pub access: Access,
    /// Names that clients may call the server by, beside those of the loopback.
    pub hosts: Vec<String>,
    /// Origins of pages that may ask, beside the server's own: `https://app.example.com:443`.
    pub origins: Vec<String>,
}

/// Serves clients until the process is told to stop; `ready` is called with the address when the first may come.
pub fn http(
    server: Server,
    options: &HttpOptions,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    if matches!(options.access, Access::Open) && !options.address.ip().is_loopback() {
        let message = "without a token the server listens on a loopback address only";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(serve(server, options, ready));
    runtime.shutdown_background();
    outcome
}

async fn serve(
    server: Server,
    options: &HttpOptions,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let listener = TcpListener::bind(options.address).await?;
    let address = listener.local_addr()?;
    let config = config(address, options);
    let stop = config.cancellation_token.clone();
    let stopped = stop.clone();
    let router = router(server, config, options.access.clone());
    // Without it small answers wait for more: 44 ms in place of 3.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
    });
    ready(address);
    let serving = axum::serve(listener, router)
        .with_graceful_shutdown(async move { stopped.cancelled().await });
    let farewell = async {
        told_to_stop().await;
        stop.cancel();
        tokio::time::sleep(FAREWELL).await;
    };
    tokio::select! {
        outcome = serving => outcome,
        () = farewell => Ok(()),
    }
}

/// Returns how the SDK serves: which hosts and origins it answers to, and how much it takes.
fn config(address: SocketAddr, options: &HttpOptions) -> StreamableHttpServerConfig {
    let port = address.port();
    let own = ["localhost", "127.0.0.1", "[::1]"];
    let mut hosts: Vec<String> = vec!["localhost".into(), "127.0.0.1".into(), "::1".into()];
    let mut origins: Vec<String> = own
        .iter()
        .map(|host| format!("http://{host}:{port}"))
        .collect();
    hosts.extend(options.hosts.iter().cloned());
    origins.extend(options.origins.iter().cloned());
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_BYTES)
}

fn router(server: Server, config: StreamableHttpServerConfig, access: Access) -> Router {
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    Router::new()
        .route_service(PATH, service)
        .layer(from_fn_with_state(Arc::new(access), admit))
        .route("/healthz", get(async || "ok\n"))
}

/// Lets a request in that shows the token; nothing of any other is read.
async fn admit(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let is_admitted = match &*access {
        Access::Open => true,
        Access::Token(token) => {
            let shown = request.headers().get(AUTHORIZATION);
            shown.is_some_and(|shown| token.is_shown(shown.as_bytes()))
        }
    };
    if is_admitted {
        return next.run(request).await;
    }
    let challenge = HeaderValue::from_static("Bearer realm=\"skillfold\"");
    let refusal = "The token is missing or is another; the server said it when it started\n";
    (
        StatusCode::UNAUTHORIZED,
        [(WWW_AUTHENTICATE, challenge)],
        refusal,
    )
        .into_response()
}

/// Waits until a person or the system ends the process.
async fn told_to_stop() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminated) => tokio::select! {
                _ = interrupted => {}
                _ = terminated.recv() => {}
            },
            Err(_) => drop(interrupted.await),
        }
    }
    #[cfg(not(unix))]
    drop(interrupted.await);
}
