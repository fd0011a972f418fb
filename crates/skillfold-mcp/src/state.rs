//! State shared by all connections.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::ErrorData;
use rmcp::model::Tool;
use skillfold::core::{Catalog, ContextLifetime};
use skillfold::{Session, Skills};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::metrics::Metrics;
use crate::notices::Notices;
use crate::options::Options;
use crate::tools;

/// Maximum requests that read files at the same time. What they read stays in memory until it is sent, up to 16 MiB
/// each.
const MAX_CONCURRENT_READS: usize = 8;

/// State shared by all connections.
#[derive(Debug)]
pub(crate) struct ServerState {
    pub(crate) skills: Skills,
    pub(crate) metrics: Metrics,
    pub(crate) notices: Notices,
    pub(crate) options: Options,
    read_permits: Arc<Semaphore>,
    view: Mutex<Option<Arc<SnapshotView>>>,
}

/// What clients see of one snapshot.
#[derive(Debug)]
pub(crate) struct SnapshotView {
    pub(crate) catalog: Arc<Catalog>,
    /// Answers the calls of all conversations, and is itself none.
    pub(crate) session: Session,
    /// The tools; none if there is no skill for a model.
    pub(crate) tools: Vec<Tool>,
}

impl ServerState {
    pub(crate) fn new(skills: Skills, options: Options) -> Self {
        Self {
            skills,
            metrics: Metrics::default(),
            notices: Notices::default(),
            options,
            read_permits: Arc::new(Semaphore::new(MAX_CONCURRENT_READS)),
            view: Mutex::default(),
        }
    }

    /// Runs `act`, which may block, on a thread for that.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        act: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let shared = Arc::clone(self);
        let result = spawn_blocking(move || act(&shared)).await;
        // The task cannot be cancelled, so it panicked.
        result.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// Runs `act`, which reads files, on a blocking thread. Only some run at the same time.
    pub(crate) async fn read_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        act: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        // The semaphore is never closed.
        let permit = Arc::clone(&self.read_permits).acquire_owned().await.ok();
        self.run_blocking(move |shared| {
            let result = act(shared);
            // Released only now: the client may be gone, but the result is still being built.
            drop(permit);
            result
        })
        .await
    }

    /// Returns the view of the current snapshot. It is built on a blocking thread if the snapshot changed.
    pub(crate) async fn view(self: &Arc<Self>) -> Result<Arc<SnapshotView>, ErrorData> {
        match self.built_view() {
            Some(view) => Ok(view),
            None => self.run_blocking(Self::current_view).await,
        }
    }

    /// Returns the view of the current snapshot, after checking that what it serves is still trusted. Reads files.
    pub(crate) fn current_view(&self) -> Arc<SnapshotView> {
        let catalog = self.skills.catalog();
        if let Some(view) = self.built_view() {
            return view;
        }
        let view = Arc::new(self.build_view(catalog));
        *self.lock_view() = Some(Arc::clone(&view));
        view
    }

    /// Returns the view of the current snapshot if it is built.
    fn built_view(&self) -> Option<Arc<SnapshotView>> {
        let view = self.lock_view().clone();
        view.filter(|view| self.skills.is_current_catalog(&view.catalog))
    }

    /// Takes the lock, which is held only to copy or replace a pointer.
    fn lock_view(&self) -> MutexGuard<'_, Option<Arc<SnapshotView>>> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn build_view(&self, catalog: Arc<Catalog>) -> SnapshotView {
        let mut policy = self.skills.report().settings.policy();
        policy.tools = self.options.tools.clone();
        let session = self.skills.session(policy, ContextLifetime::History);
        SnapshotView {
            tools: tools::definitions(&session, self.options.structured),
            session,
            catalog,
        }
    }
}
