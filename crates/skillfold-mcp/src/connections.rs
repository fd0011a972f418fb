//! Room for connections: many that have shown that they may ask, and a few others for a short time.
//!
//! A connection begins as a stranger. The first request that is let in makes it known. Strangers never take the room of
//! those that are known; where there are too many, the one that has waited longest goes, so that a client which sends its
//! request at once is let in whatever the others do.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;

use crate::client_view::ServerState;
use crate::limits::HttpLimits;
use crate::metrics::add;

/// A warning is summed up for so long.
const PERIOD: Duration = Duration::from_secs(10);

/// The room of all connections.
#[derive(Debug)]
pub(crate) struct Connections {
    known: Arc<Semaphore>,
    /// Those that are not known, the oldest first.
    strangers: Mutex<BTreeMap<u64, Arc<Notify>>>,
    next: AtomicU64,
    limits: HttpLimits,
    shared: Arc<ServerState>,
    pushed_out: Arc<ThrottledWarning>,
    refused: Arc<ThrottledWarning>,
}

/// The place of one connection.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    room: Arc<Connections>,
    number: u64,
    pushed_out: Arc<Notify>,
    known: OnceLock<OwnedSemaphorePermit>,
}

impl Connections {
    pub(crate) fn new(limits: HttpLimits, shared: Arc<ServerState>) -> Arc<Self> {
        let connections = limits.connections.min(Semaphore::MAX_PERMITS);
        Arc::new(Self {
            known: Arc::new(Semaphore::new(connections)),
            strangers: Mutex::default(),
            next: AtomicU64::new(0),
            limits,
            shared,
            pushed_out: Arc::default(),
            refused: Arc::default(),
        })
    }

    /// Lets a connection in as a stranger; the oldest one goes if there are too many.
    pub(crate) fn enter(self: &Arc<Self>) -> Arc<ConnectionSlot> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let pushed_out = Arc::new(Notify::new());
        let mut strangers = self.strangers();
        if strangers.len() >= self.limits.strangers.max(1)
            && let Some((_, oldest)) = strangers.pop_first()
        {
            oldest.notify_one();
            add(&self.shared.metrics.connections_refused, 1);
            self.pushed_out
                .warn("a connection that asked nothing it may ask was closed for a newer one");
        }
        strangers.insert(number, Arc::clone(&pushed_out));
        drop(strangers);
        Arc::new(ConnectionSlot {
            room: Arc::clone(self),
            number,
            pushed_out,
            known: OnceLock::new(),
        })
    }

    fn strangers(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Notify>>> {
        self.strangers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionSlot {
    /// Makes the connection known, as its request is let in; `false` if there is no room.
    pub(crate) fn let_in(&self) -> bool {
        if self.known.get().is_some() {
            return true;
        }
        let Ok(permit) = Arc::clone(&self.room.known).try_acquire_owned() else {
            add(&self.room.shared.metrics.connections_refused, 1);
            self.room.refused.warn("no room for another connection");
            return false;
        };
        self.room.strangers().remove(&self.number);
        // Requests of one connection come one after the other.
        let _ = self.known.set(permit);
        true
    }

    /// Waits until the connection has to go; for ever, if it is known.
    pub(crate) async fn overstayed(&self) {
        tokio::select! {
            () = self.pushed_out.notified() => {}
            () = sleep(self.room.limits.stranger) => {}
        }
        if self.known.get().is_some() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        if self.known.get().is_none() {
            self.room.strangers().remove(&self.number);
        }
    }
}

/// A warning that is said at once, and then once in a while with how often there was cause for it.
#[derive(Debug, Default)]
pub(crate) struct ThrottledWarning(AtomicU64);

impl ThrottledWarning {
    pub(crate) fn warn(self: &Arc<Self>, what: &'static str) {
        if self.0.fetch_add(1, Ordering::Relaxed) > 0 {
            return;
        }
        tracing::warn!("{what}");
        let summed = Arc::clone(self);
        tokio::spawn(async move {
            sleep(PERIOD).await;
            let more = summed.0.swap(0, Ordering::Relaxed) - 1;
            if more > 0 {
                tracing::warn!(more, "{what}");
            }
        });
    }
}
