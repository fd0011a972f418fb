//! The project of one connection: the folder in which its user works.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::RoleServer;
use rmcp::service::Peer;
use tokio::sync::Mutex;

use crate::roots::{project_among, roots};
use crate::state::ServerState;

/// The project of one connection. The client is asked once, and again when it says that its roots changed.
#[derive(Debug, Default)]
pub(crate) struct ConnectionProject {
    /// How often the client's roots changed.
    changes: AtomicU64,
    /// The project, and the changes that there had been when it was found.
    found: Mutex<Option<(u64, PathBuf)>>,
}

impl ConnectionProject {
    /// Forgets the project, so that the client is asked again.
    pub(crate) fn forget(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns the folder that the user works in: the client's root, or the server's working folder. A server for many
    /// clients knows none, and no script looks for one where models run none.
    pub(crate) async fn find(
        &self,
        shared: &Arc<ServerState>,
        peer: &Peer<RoleServer>,
    ) -> Option<PathBuf> {
        let directory = shared.options.project.clone()?;
        if !shared.skills.report().settings.scripts.value {
            return Some(directory);
        }
        // Held while the client is asked, so that calls at the same time ask once.
        let mut found = self.found.lock().await;
        let changes = self.changes.load(Ordering::Acquire);
        if let Some((_, folder)) = found.as_ref().filter(|(at, _)| *at == changes) {
            return Some(folder.clone());
        }
        let roots = roots(peer).await;
        let choose = move |shared: &ServerState| {
            let can_be = |folder: &Path| shared.skills.can_be_project(folder);
            project_among(&roots, directory, can_be)
        };
        let folder = shared.read_blocking(choose).await.ok()?;
        *found = Some((changes, folder.clone()));
        Some(folder)
    }
}
