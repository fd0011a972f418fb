//! Serves many clients over streamable HTTP.

mod host_name;
mod limits;
mod send_budget;

mod access;
mod connections;
mod origin;
mod sessions;

mod listen;

mod admission;

use std::any::Any;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_TYPE, ORIGIN};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use skillfold::core::diagnostic::visible;
use skillfold_http::ProtectedResource;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;

use crate::metrics::Gauges;
use crate::read_permit::MAX_WHOLE_FILE_REQUESTS;
use crate::request_head::MCP_PATH;
use crate::server::Server;
use crate::state::ServerState;

use admission::{Admission, admit};
use host_name::HostName;
use listen::{listen, raise_descriptor_limit};
use origin::Origins;
use send_budget::SendBudget;
use sessions::Sessions;

pub use access::HttpAccess;
pub use limits::HttpLimits;

/// How often to check during shutdown whether the last response was sent.
const DRAIN_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Where the server listens, and for whom.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The address; port 0 picks a free port.
    pub address: SocketAddr,
    /// Who may send requests.
    pub access: HttpAccess,
    /// Host names that clients may use for the server, besides the loopback names.
    pub hosts: Vec<String>,
    /// Origins of web pages that may send requests, besides the server's own: `https://app.example.com:443`.
    pub origins: Vec<String>,
    /// Limits on requests and clients.
    pub limits: HttpLimits,
}

impl HttpOptions {
    /// Creates options without other host names or origins, and with the default limits.
    pub fn new(address: SocketAddr, access: HttpAccess) -> Self {
        Self {
            address,
            access,
            hosts: Vec::new(),
            origins: Vec::new(),
            limits: HttpLimits::default(),
        }
    }

    /// Accepts these host names for the server, besides the loopback names.
    #[must_use]
    pub fn with_hosts(mut self, hosts: Vec<String>) -> Self {
        self.hosts = hosts;
        self
    }

    /// Accepts requests from web pages with these origins, besides the server's own.
    #[must_use]
    pub fn with_origins(mut self, origins: Vec<String>) -> Self {
        self.origins = origins;
        self
    }

    /// Sets the limits on requests and clients.
    #[must_use]
    pub fn with_limits(mut self, limits: HttpLimits) -> Self {
        self.limits = limits;
        self
    }
}

/// Serves clients until the process is told to stop. Calls `ready` with the address once clients can connect.
///
/// An error of kind `InvalidInput` says which option is invalid; any other error comes from the OS.
pub fn http(
    server: Server,
    options: &HttpOptions,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    if matches!(options.access, HttpAccess::Open) && !options.address.ip().is_loopback() {
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

/// The hosts and origins the server answers to.
struct AcceptedNames {
    hosts: Vec<HostName>,
    origins: Origins,
}

impl AcceptedNames {
    fn new(options: &HttpOptions) -> io::Result<Self> {
        let invalid = |message: String| io::Error::new(io::ErrorKind::InvalidInput, message);
        let loopback = ["localhost", "127.0.0.1", "::1"].into_iter();
        let configured = options.hosts.iter().map(|host| host.trim());
        let resource = match &options.access {
            HttpAccess::Identities(identities) => {
                identities.resource().map(ProtectedResource::host)
            }
            HttpAccess::Token(_) | HttpAccess::Open => None,
        };
        let hosts = loopback.chain(configured).chain(resource).map(|text| {
            HostName::parse_allowed(text).ok_or_else(|| {
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
    raise_descriptor_limit();
    let listener = TcpListener::bind(options.address).await?;
    let address = listener.local_addr()?;
    let (shared, limits) = (Arc::clone(server.shared()), options.limits);
    let (router, end_streams) = routes(server, options, names, address.port());
    // Anyone who sees that the server is ready may stop it right away.
    let stop = stop_signal()?;
    ready(address);
    let open = listen(listener, router, limits, Arc::clone(&shared), stop).await;
    let in_flight = || shared.metrics.in_flight.load(Ordering::Relaxed);
    tracing::info!(
        in_flight = in_flight(),
        "shutting down; no new requests are accepted"
    );
    let drain = async {
        let closed = open.shutdown();
        let drained = async {
            while in_flight() > 0 {
                tokio::time::sleep(DRAIN_POLL_INTERVAL).await;
            }
            // Streams of change notifications do not end on their own.
            end_streams();
        };
        tokio::join!(closed, drained);
    };
    if tokio::time::timeout(limits.shutdown_grace, drain)
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

/// Returns a server's routes, for a host with its own HTTP server: `/mcp`, `/metrics` and `/healthz`, with all request
/// checks. The host limits connections itself. The address's port is the one at which pages from the host's own origin
/// reach it.
///
/// Must be called within a Tokio runtime. An error says which option is invalid.
///
/// ```no_run
/// # async fn serve(server: skillfold_mcp::Server) -> std::io::Result<()> {
/// use skillfold_mcp::{HttpAccess, HttpOptions, Token};
///
/// let token = Token::new("0123456789abcdef").expect("16 characters");
/// let options = HttpOptions::new(([127, 0, 0, 1], 8080).into(), HttpAccess::Token(token));
/// let routes = axum::Router::<()>::new().merge(skillfold_mcp::router(server, &options)?);
/// # drop(routes);
/// # Ok(())
/// # }
/// ```
pub fn router(server: Server, options: &HttpOptions) -> io::Result<Router> {
    let names = AcceptedNames::new(options)?;
    Ok(routes(server, options, names, options.address.port()).0)
}

/// Returns the routes, and a function that ends their streams.
fn routes(
    server: Server,
    options: &HttpOptions,
    names: AcceptedNames,
    port: u16,
) -> (Router, impl FnOnce() + use<>) {
    let (shared, limits) = (Arc::clone(server.shared()), options.limits);
    // Hosts and origins are checked before the SDK is called.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_max_request_body_bytes(limits.body_bytes);
    let streams = config.cancellation_token.clone();
    let sessions = Arc::new(Sessions::new(&limits));
    tokio::spawn(Arc::clone(&sessions).end_idle());
    let admission = Admission {
        access: options.access.clone(),
        limits,
        hosts: names.hosts,
        origins: names.origins.with_server_origins(port),
        budget: SendBudget::new(limits.response_bytes),
        sessions: Arc::clone(&sessions),
        file_permits: Arc::new(Semaphore::new(MAX_WHOLE_FILE_REQUESTS)),
        session_warning: Arc::default(),
        slow_clients_warning: Arc::default(),
        shared: Arc::clone(&shared),
    };
    let metrics_sessions = Arc::clone(&sessions);
    let metrics = get(async move |headers: HeaderMap| match headers.get(ORIGIN) {
        None => Ok(render_metrics(&shared, &metrics_sessions, limits.sessions).await),
        Some(_) => Err((StatusCode::FORBIDDEN, "Web pages may not read metrics\n")),
    });
    let service = StreamableHttpService::new(move || Ok(server.for_new_client()), sessions, config);
    let routes = Router::new()
        .route_service(MCP_PATH, service)
        .route("/metrics", metrics)
        .layer(from_fn_with_state(Arc::new(admission), admit))
        .route("/healthz", get(async || "ok\n"));
    let routes = describe(routes, &options.access);
    let routes = routes.layer(CatchPanicLayer::custom(answer_panic));
    (routes, move || streams.cancel())
}

/// Adds the routes at which clients learn where to get a token. Everybody may ask, from any page.
fn describe(routes: Router, access: &HttpAccess) -> Router {
    let resource = match access {
        HttpAccess::Identities(identities) => identities.resource(),
        HttpAccess::Token(_) | HttpAccess::Open => None,
    };
    let Some(resource) = resource else {
        return routes;
    };
    let metadata = resource.metadata().to_string();
    let paths = resource.metadata_paths().into_iter();
    paths.fold(routes, |routes, path| {
        let metadata = metadata.clone();
        let kind = (CONTENT_TYPE, "application/json");
        let anywhere = (ACCESS_CONTROL_ALLOW_ORIGIN, "*");
        let answer = async move || ([kind, anywhere], metadata);
        routes.route(&path, get(answer))
    })
}

/// Answers a request whose handler panicked. The panic itself is reported by the process's panic hook.
fn answer_panic(_: Box<dyn Any + Send>) -> Response {
    tracing::error!("a request failed: internal error");
    let message = "Internal server error; the server's log has the details\n";
    (StatusCode::INTERNAL_SERVER_ERROR, message).into_response()
}

/// Returns the current metrics in the Prometheus text format.
async fn render_metrics(
    shared: &ServerState,
    sessions: &Sessions,
    limit: usize,
) -> impl IntoResponse + use<> {
    let gauges = Gauges {
        sessions: sessions.count().await as u64,
        sessions_limit: limit as u64,
        skills: shared.skills.catalog().visible().count() as u64,
    };
    let text = shared.metrics.to_text(&shared.skills.counters(), &gauges);
    (
        [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
        text,
    )
}

/// Starts listening for a stop signal from the user or the system, and returns a future that waits for it.
#[cfg_attr(
    not(unix),
    expect(clippy::unnecessary_wraps, reason = "it can fail on Unix")
)]
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
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
        // If the system cannot report Ctrl-C, the server cannot be stopped this way.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
