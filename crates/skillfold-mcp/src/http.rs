//! Many clients, by streamable HTTP.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::http::header::{CONTENT_TYPE, ORIGIN};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::get;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use crate::door::{Door, admit};
use crate::limits::HttpLimits;
use crate::listen::{listen, take_descriptors};
use crate::metrics::Now;
use crate::offer::Shared;
use crate::server::Server;
use crate::sessions::Sessions;
use crate::token::Token;

/// The path that the protocol is spoken at.
pub(crate) const PATH: &str = "/mcp";

/// How often it is looked whether the last answer is sent, when the server stops.
const GLANCE: Duration = Duration::from_millis(10);

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
    /// How much it takes.
    pub limits: HttpLimits,
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
    take_descriptors();
    let listener = TcpListener::bind(options.address).await?;
    let address = listener.local_addr()?;
    let config = config(address, options);
    let streams = config.cancellation_token.clone();
    let shared = Arc::clone(server.shared());
    let router = router(server, config, options);
    ready(address);
    let limits = options.limits;
    let open = listen(
        listener,
        router,
        limits,
        Arc::clone(&shared),
        told_to_stop(),
    )
    .await;
    let in_flight = || shared.metrics.in_flight.load(Ordering::Relaxed);
    tracing::info!(in_flight = in_flight(), "no request is taken any more");
    let farewell = async {
        let closed = open.shutdown();
        let answered = async {
            while in_flight() > 0 {
                tokio::time::sleep(GLANCE).await;
            }
            // Streams that tell of changes have no end of their own.
            streams.cancel();
        };
        tokio::join!(closed, answered);
    };
    if tokio::time::timeout(limits.farewell, farewell)
        .await
        .is_err()
    {
        tracing::warn!(
            in_flight = in_flight(),
            "connections are cut that took too long"
        );
    }
    Ok(())
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
        .with_max_request_body_bytes(options.limits.body_bytes)
}

fn router(server: Server, config: StreamableHttpServerConfig, options: &HttpOptions) -> Router {
    let shared = Arc::clone(server.shared());
    let sessions = Arc::new(Sessions::new(&options.limits, Arc::clone(&shared)));
    let door = Arc::new(Door {
        access: options.access.clone(),
        limits: options.limits,
        hosts: config.allowed_hosts.clone(),
        shared: Arc::clone(&shared),
    });
    let limit = options.limits.sessions;
    let counted = Arc::clone(&sessions);
    let metrics = get(async move |headers: HeaderMap| match headers.get(ORIGIN) {
        None => Ok(metrics(&shared, &counted, limit).await),
        Some(_) => Err((StatusCode::FORBIDDEN, "Pages get no numbers\n")),
    });
    let service = StreamableHttpService::new(move || Ok(server.anew()), sessions, config);
    Router::new()
        .route_service(PATH, service)
        .route("/metrics", metrics)
        .layer(from_fn_with_state(door, admit))
        .route("/healthz", get(async || "ok\n"))
}

/// Returns the numbers of now, as Prometheus reads them.
async fn metrics(shared: &Shared, sessions: &Sessions, limit: usize) -> impl IntoResponse + use<> {
    let now = Now {
        sessions: sessions.count().await as u64,
        sessions_limit: limit as u64,
        skills: shared.skills.catalog().visible().count() as u64,
    };
    let text = shared.metrics.text(&shared.skills.counters(), &now);
    (
        [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
        text,
    )
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
