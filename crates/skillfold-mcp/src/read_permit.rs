//! Limits how many full files are read for HTTP requests at the same time.

use std::sync::Arc;

use axum::http::request::Parts;
use rmcp::model::Extensions;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum number of concurrent requests for full files. Each takes several times its file's size until its response is
/// counted against the budget.
pub(crate) const MAX_WHOLE_FILE_REQUESTS: usize = 2;

/// Permission to read a full file, shared by the reader and the sender. Released when both drop it.
#[derive(Clone, Debug)]
pub(crate) struct ReadPermit(#[expect(dead_code, reason = "RAII guard")] Arc<OwnedSemaphorePermit>);

impl ReadPermit {
    /// Waits for a permit.
    pub(crate) async fn acquire(permits: &Arc<Semaphore>) -> Option<Self> {
        // The semaphore is never closed.
        let permit = Arc::clone(permits).acquire_owned().await.ok()?;
        Some(Self(Arc::new(permit)))
    }

    /// Returns an HTTP request's permit.
    pub(crate) fn from_extensions(request: &Extensions) -> Option<Self> {
        request.get::<Parts>()?.extensions.get().cloned()
    }
}
