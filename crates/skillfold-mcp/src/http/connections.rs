//! Connection limits: many admitted connections, and a few others for a short time.
//!
//! A connection starts out unadmitted. Its first accepted request admits it. Unadmitted connections never take admitted
//! ones' slots. If there are too many, the one that has waited longest is closed, so a client that sends its request
//! right away gets in whatever the others do.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;

use crate::http::limits::HttpLimits;
use crate::metrics::add;
use crate::state::ServerState;

/// How long to count repeated warnings before logging the sum.
const SUMMARY_PERIOD: Duration = Duration::from_secs(10);

/// All connections and their limits.
#[derive(Debug)]
pub(crate) struct Connections {
    admitted: Arc<Semaphore>,
    /// Connections without an accepted request, oldest first.
    unadmitted: Mutex<BTreeMap<u64, Arc<Notify>>>,
    next_id: AtomicU64,
    limits: HttpLimits,
    shared: Arc<ServerState>,
    evicted_warning: Arc<ThrottledWarning>,
    refused_warning: Arc<ThrottledWarning>,
}

/// One connection's slot.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    connections: Arc<Connections>,
    id: u64,
    evicted: Arc<Notify>,
    permit: OnceLock<OwnedSemaphorePermit>,
}

impl Connections {
    pub(crate) fn new(limits: HttpLimits, shared: Arc<ServerState>) -> Arc<Self> {
        let limit = limits.connections.min(Semaphore::MAX_PERMITS);
        Arc::new(Self {
            admitted: Arc::new(Semaphore::new(limit)),
            unadmitted: Mutex::default(),
            next_id: AtomicU64::new(0),
            limits,
            shared,
            evicted_warning: Arc::default(),
            refused_warning: Arc::default(),
        })
    }

    /// Registers a new connection as unadmitted. Closes the oldest unadmitted one if there are too many.
    pub(crate) fn register(self: &Arc<Self>) -> Arc<ConnectionSlot> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let evicted = Arc::new(Notify::new());
        let mut unadmitted = self.lock_unadmitted();
        if unadmitted.len() >= self.limits.unadmitted_connections.max(1)
            && let Some((_, oldest)) = unadmitted.pop_first()
        {
            oldest.notify_one();
            add(&self.shared.metrics.connections_refused, 1);
            self.evicted_warning
                .warn("closed a connection that sent no authorized request, for a newer one");
        }
        unadmitted.insert(id, Arc::clone(&evicted));
        drop(unadmitted);
        Arc::new(ConnectionSlot {
            connections: Arc::clone(self),
            id,
            evicted,
            permit: OnceLock::new(),
        })
    }

    fn lock_unadmitted(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Notify>>> {
        self.unadmitted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionSlot {
    /// Admits the connection when its request is accepted. Returns `false` if the limit is reached.
    pub(crate) fn admit(&self) -> bool {
        if self.permit.get().is_some() {
            return true;
        }
        let Ok(permit) = Arc::clone(&self.connections.admitted).try_acquire_owned() else {
            add(&self.connections.shared.metrics.connections_refused, 1);
            self.connections
                .refused_warning
                .warn("no room for another connection");
            return false;
        };
        self.connections.lock_unadmitted().remove(&self.id);
        // Requests on one connection arrive one at a time.
        let _ = self.permit.set(permit);
        true
    }

    /// Waits until the connection must be closed; forever if it is admitted.
    pub(crate) async fn wait_until_expired(&self) {
        tokio::select! {
            () = self.evicted.notified() => {}
            () = sleep(self.connections.limits.admission_timeout) => {}
        }
        if self.permit.get().is_some() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        if self.permit.get().is_none() {
            self.connections.lock_unadmitted().remove(&self.id);
        }
    }
}

/// A warning that is logged at once, and then at most once per period with the number of repeats.
#[derive(Debug, Default)]
pub(crate) struct ThrottledWarning(AtomicU64);

impl ThrottledWarning {
    pub(crate) fn warn(self: &Arc<Self>, what: &'static str) {
        if self.0.fetch_add(1, Ordering::Relaxed) > 0 {
            return;
        }
        tracing::warn!("{what}");
        let warning = Arc::clone(self);
        tokio::spawn(async move {
            sleep(SUMMARY_PERIOD).await;
            let more = warning.0.swap(0, Ordering::Relaxed) - 1;
            if more > 0 {
                tracing::warn!(more, "{what}");
            }
        });
    }
}
