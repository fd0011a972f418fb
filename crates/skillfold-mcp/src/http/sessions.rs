//! Sessions for clients with protocol versions before 2026-07-28: the SDK's session manager with a limit.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_core::Stream;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};
use skillfold_http::Identity;
use tokio::sync::Mutex;

use crate::http::limits::HttpLimits;
use crate::introduction::used_introduction;

/// How long a sent response can be requested again. The SDK caches each response for this long. With its default of one
/// minute, the cache took most of a session's memory.
const REPLAY_WINDOW: Duration = Duration::from_secs(2);

/// How often to check for idle sessions within one idle timeout.
const IDLE_CHECKS: u32 = 8;

/// Shortest and longest interval between checks.
const IDLE_CHECK_INTERVAL: (Duration, Duration) =
    (Duration::from_millis(20), Duration::from_secs(30));

tokio::task_local! {
    /// The request of this task, as far as a session that it starts needs it.
    pub(crate) static STARTING: Starting;
}

/// A request that may start a session.
#[derive(Debug, Default)]
pub(crate) struct Starting {
    /// Whose session it will be, if the server knows its users.
    pub(crate) owner: Option<Arc<Identity>>,
    /// Why there was no room for another session. The SDK reports that as an internal error.
    pub(crate) full: Cell<Option<Full>>,
}

/// Whose sessions are too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    Server,
    Identity,
}

/// A session that is open.
#[derive(Debug)]
struct OpenSession {
    /// The time of its last request. Notifications to the client do not count: they are also sent to a client that is gone.
    last_request: Instant,
    owner: Option<Arc<Identity>>,
}

/// All clients' sessions.
#[derive(Debug)]
pub(crate) struct Sessions {
    local: LocalSessionManager,
    limit: usize,
    idle_timeout: Duration,
    open: StdMutex<HashMap<SessionId, OpenSession>>,
    /// Held while counting sessions and creating one.
    creation: Mutex<()>,
}

impl Sessions {
    pub(crate) fn new(limits: &HttpLimits) -> Self {
        let mut local = LocalSessionManager::default();
        // The SDK counts each notification to a client as activity, even if the client is gone.
        local.session_config.keep_alive = None;
        local.session_config.completed_cache_ttl = REPLAY_WINDOW;
        Self {
            local,
            limit: limits.sessions,
            idle_timeout: limits.session_idle_timeout,
            open: StdMutex::default(),
            creation: Mutex::new(()),
        }
    }

    /// Ends idle sessions for as long as the server runs.
    pub(crate) async fn end_idle(self: Arc<Self>) {
        loop {
            tokio::time::sleep(
                (self.idle_timeout / IDLE_CHECKS)
                    .clamp(IDLE_CHECK_INTERVAL.0, IDLE_CHECK_INTERVAL.1),
            )
            .await;
            self.end_idle_once().await;
        }
    }

    async fn end_idle_once(&self) {
        for id in self.idle() {
            tracing::debug!(session = &*id, "a session was idle for too long");
            if let Err(error) = self.close_session(&id).await {
                tracing::warn!(%error, "an idle session could not be ended");
            }
        }
    }

    /// Returns the sessions that had no request within the idle timeout.
    fn idle(&self) -> Vec<SessionId> {
        let sessions = self.lock();
        let idle = sessions
            .iter()
            .filter(|(_, session)| session.last_request.elapsed() >= self.idle_timeout);
        idle.map(|(id, _)| Arc::clone(id)).collect()
    }

    /// Records a request in a session that is still open.
    fn touch(&self, id: &SessionId) {
        if let Some(session) = self.lock().get_mut(id) {
            session.last_request = Instant::now();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, OpenSession>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a session is not the caller's own. Whoever knows the id of another's session gets nothing by it.
    pub(crate) fn is_of_another(&self, id: &str, caller: Option<&Identity>) -> bool {
        self.lock().get(id).is_some_and(|session| {
            let owner = session.owner.as_deref();
            owner.is_some() != caller.is_some()
                || owner
                    .zip(caller)
                    .is_some_and(|(owner, caller)| !owner.is_same(caller))
        })
    }

    /// Returns whether somebody has as many sessions as the role allows.
    fn is_full_for(&self, owner: &Identity) -> bool {
        let sessions = self.lock();
        let owners = sessions
            .values()
            .filter_map(|session| session.owner.as_deref());
        owners.filter(|it| it.is_same(owner)).count() >= owner.role().limits.sessions
    }

    /// Returns the number of open sessions.
    pub(crate) async fn count(&self) -> usize {
        self.local.sessions.read().await.len()
    }
}

/// Why a session operation failed.
#[derive(Debug)]
pub(crate) enum SessionError {
    /// The session limit is reached.
    LimitReached,
    Local(LocalSessionManagerError),
}

impl fmt::Display for SessionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LimitReached => formatter.write_str("too many sessions"),
            Self::Local(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for SessionError {}

impl From<LocalSessionManagerError> for SessionError {
    fn from(error: LocalSessionManagerError) -> Self {
        Self::Local(error)
    }
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        let guard = self.creation.lock().await;
        if self.count().await >= self.limit {
            self.end_idle_once().await;
        }
        let owner = STARTING.try_with(|it| it.owner.clone()).ok().flatten();
        let full = if owner.as_ref().is_some_and(|owner| self.is_full_for(owner)) {
            Some(Full::Identity)
        } else {
            (self.count().await >= self.limit).then_some(Full::Server)
        };
        if full.is_some() {
            // Outside an HTTP request nobody reads it.
            let _ = STARTING.try_with(|it| it.full.set(full));
            return Err(SessionError::LimitReached);
        }
        let created = self.local.create_session().await?;
        let session = OpenSession {
            last_request: Instant::now(),
            owner,
        };
        self.lock().insert(Arc::clone(&created.0), session);
        drop(guard);
        Ok(created)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        // The SDK keeps the parameters for the lifetime of the session.
        if let ClientJsonRpcMessage::Request(message) = &mut message
            && let ClientRequest::InitializeRequest(request) = &mut message.request
        {
            request.params = used_introduction(request.params.clone());
        }
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        self.lock().remove(id);
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        self.touch(id);
        Ok(self.local.create_stream(id, message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionError> {
        self.touch(id);
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        self.touch(id);
        Ok(self.local.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        self.touch(id);
        Ok(self.local.resume(id, last_event_id).await?)
    }
}
