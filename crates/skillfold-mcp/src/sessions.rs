//! Sessions of clients of protocols before 2026-07-28: the SDK's, and no more of them than there may be.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_core::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};
use tokio::sync::Mutex;

use crate::client_view::ServerState;
use crate::limits::HttpLimits;

/// How long an answer that was sent can be asked for again. The SDK keeps each of them so long, and a minute of answers,
/// its default, took most of the memory of a session.
const SENT: Duration = Duration::from_secs(2);

/// Idle sessions are looked for so many times while one becomes idle.
const LOOKS: u32 = 8;

/// The shortest and the longest time between two looks.
const BETWEEN: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(30));

tokio::task_local! {
    /// Whether the request of this task wanted a session for which there was no room. The SDK answers it as a fault.
    pub(crate) static NO_ROOM: Cell<bool>;
}

/// The sessions of all clients.
#[derive(Debug)]
pub(crate) struct Sessions {
    local: LocalSessionManager,
    limit: usize,
    idle: Duration,
    shared: Arc<ServerState>,
    /// Held while one is counted and made.
    making: Mutex<()>,
}

impl Sessions {
    pub(crate) fn new(limits: &HttpLimits, shared: Arc<ServerState>) -> Self {
        let mut local = LocalSessionManager::default();
        // The SDK takes each notice to a client for a sign of life, even if the client is gone.
        local.session_config.keep_alive = None;
        local.session_config.completed_cache_ttl = SENT;
        Self {
            local,
            limit: limits.sessions,
            idle: limits.session_idle,
            shared,
            making: Mutex::new(()),
        }
    }

    /// Ends sessions in which nothing is asked, for as long as the server runs.
    pub(crate) async fn end_idle(self: Arc<Self>) {
        loop {
            tokio::time::sleep((self.idle / LOOKS).clamp(BETWEEN.0, BETWEEN.1)).await;
            self.end_those_idle_now().await;
        }
    }

    async fn end_those_idle_now(&self) {
        for id in self.shared.conversations.idle(self.idle) {
            tracing::debug!(session = &*id, "nothing was asked in a session for long");
            if let Err(error) = self.close_session(&Arc::from(id)).await {
                tracing::warn!(%error, "an idle session could not be ended");
            }
        }
    }

    /// Returns how many there are.
    pub(crate) async fn count(&self) -> usize {
        self.local.sessions.read().await.len()
    }
}

/// Why a session cannot do what it should.
#[derive(Debug)]
pub(crate) enum SessionError {
    /// There may be no more of them.
    NoRoom,
    Local(LocalSessionManagerError),
}

impl fmt::Display for SessionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRoom => formatter.write_str("too many sessions"),
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
        let making = self.making.lock().await;
        if self.count().await >= self.limit {
            self.end_those_idle_now().await;
        }
        if self.count().await >= self.limit {
            // Outside of a request of HTTP nobody asks.
            let _ = NO_ROOM.try_with(|no_room| no_room.set(true));
            return Err(SessionError::NoRoom);
        }
        let made = self.local.create_session().await?;
        self.shared.conversations.begin(&made.0);
        drop(making);
        Ok(made)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        self.shared.conversations.end(id);
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        self.shared.conversations.asked(id);
        Ok(self.local.create_stream(id, message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionError> {
        self.shared.conversations.asked(id);
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        self.shared.conversations.asked(id);
        Ok(self.local.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        self.shared.conversations.asked(id);
        Ok(self.local.resume(id, last_event_id).await?)
    }
}
