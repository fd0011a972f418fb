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
use skillfold::core::visible;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::admission::{Admission, WHOLE_FILES, admit};
use crate::client_view::ServerState;
use crate::host_name::HostName;
use crate::limits::HttpLimits;
use crate::listen::{listen, take_descriptors};
use crate::metrics::Gauges;
use crate::origin::Origins;
use crate::send_budget::SendBudget;
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
///
/// An error of the kind `InvalidInput` says what of the options cannot be followed; another one is the system's.
pub fn http(
    server: Server,
    options: &HttpOptions,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    if matches!(options.access, Access::Open) && !options.address.ip().is_loopback() {
        let message = "Without a token the server listens on a loopback address only";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let names = AcceptedNames::new(options)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(serve(server, options, names, ready));
    runtime.shutdown_background();
    outcome
}

/// Whom the server answers to.
struct AcceptedNames {
    hosts: Vec<HostName>,
    origins: Origins,
}

impl AcceptedNames {
    fn new(options: &HttpOptions) -> io::Result<Self> {
        let invalid = |message: String| io::Error::new(io::ErrorKind::InvalidInput, message);
        let own = ["localhost", "127.0.0.1", "::1"].into_iter();
        let named = options.hosts.iter().map(|host| host.trim());
        let hosts = own.chain(named).map(|text| {
            HostName::allowed(text).ok_or_else(|| {
                invalid(format!(
                    "`{}` is not a host; name each host that clients use to reach the server, such as `skills.example.com`",
                    visible(text)
                ))
            })
        });
        let origins = options.origins.iter().map(|origin| origin.trim());
        Ok(Self {
            hosts: hosts.collect::<io::Result<_>>()?,
            origins: Origins::new(origins).map_err(|text| {
                invalid(format!(
                    "`{}` is not an origin; write it as SCHEME://HOST:PORT, such as `https://app.example.com`",
                    visible(text)
                ))
            })?,
        })
    }
}

async fn serve(
    server: Server,
    options: &HttpOptions,
    names: AcceptedNames,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    take_descriptors();
    let listener = TcpListener::bind(options.address).await?;
    let address = listener.local_addr()?;
    // Hosts and origins are looked at before the SDK is asked.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_max_request_body_bytes(options.limits.body_bytes);
    let streams = config.cancellation_token.clone();
    let (shared, limits) = (Arc::clone(server.shared()), options.limits);
    let sessions = Arc::new(Sessions::new(&limits, Arc::clone(&shared)));
    tokio::spawn(Arc::clone(&sessions).end_idle());
    let door = Admission {
        access: options.access.clone(),
        limits,
        hosts: names.hosts,
        origins: names.origins.with_own(address.port()),
        budget: SendBudget::new(limits.answer_bytes),
        whole_files: Arc::new(Semaphore::new(WHOLE_FILES)),
        no_session: Arc::default(),
        too_slow: Arc::default(),
        shared: Arc::clone(&shared),
    };
    let router = router(server, config, sessions, door);
    // Whoever sees that the server is ready may stop it at once.
    let stop = told_to_stop()?;
    ready(address);
    let open = listen(listener, router, limits, Arc::clone(&shared), stop).await;
    let in_flight = || shared.metrics.in_flight.load(Ordering::Relaxed);
    tracing::info!(
        in_flight = in_flight(),
        "shutting down; no new requests are accepted"
    );
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
            "closing connections that took too long"
        );
    }
    Ok(())
}

fn router(
    server: Server,
    config: StreamableHttpServerConfig,
    sessions: Arc<Sessions>,
    door: Admission,
) -> Router {
    let shared = Arc::clone(server.shared());
    let limit = door.limits.sessions;
    let counted = Arc::clone(&sessions);
    let metrics = get(async move |headers: HeaderMap| match headers.get(ORIGIN) {
        None => Ok(metrics(&shared, &counted, limit).await),
        Some(_) => Err((StatusCode::FORBIDDEN, "Web pages may not read metrics\n")),
    });
    let service = StreamableHttpService::new(move || Ok(server.anew()), sessions, config);
    Router::new()
        .route_service(PATH, service)
        .route("/metrics", metrics)
        .layer(from_fn_with_state(Arc::new(door), admit))
        .route("/healthz", get(async || "ok\n"))
}

/// Returns the numbers of now, as Prometheus reads them.
async fn metrics(
    shared: &ServerState,
    sessions: &Sessions,
    limit: usize,
) -> impl IntoResponse + use<> {
    let now = Gauges {
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

/// Listens from now on for a word of a person or of the system to end; returns what waits for it.
fn told_to_stop() -> io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut interrupted = signal(SignalKind::interrupt())?;
        let mut terminated = signal(SignalKind::terminate())?;
        Ok(async move {
            tokio::select! {
                _ = interrupted.recv() => {}
                _ = terminated.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        // Where the system cannot tell, nobody can stop it so.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
