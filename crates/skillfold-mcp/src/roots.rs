//! The folders that a client works in, if it says so.

use std::path::PathBuf;
use std::time::Duration;

use rmcp::RoleServer;
#[expect(
    deprecated,
    reason = "later versions have no roots; clients of today do"
)]
use rmcp::model::{ClientResult, ListRootsRequest, ServerRequest};
use rmcp::service::{Peer, PeerRequestOptions};

use crate::protocol::uri::decode;

/// How long to wait for the client's answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Maximum roots that are looked at.
const MAX_ROOTS: usize = 100;

/// Asks a client for its roots, and returns those that are folders. None if it has none, or does not answer.
#[expect(
    deprecated,
    reason = "later versions have no roots; clients of today do"
)]
pub(crate) async fn roots(peer: &Peer<RoleServer>) -> Vec<PathBuf> {
    let info = peer.peer_info();
    if info.is_none_or(|info| info.capabilities.roots.is_none()) {
        return Vec::new();
    }
    let mut options = PeerRequestOptions::no_options();
    options.timeout = Some(PATIENCE);
    let request = ServerRequest::ListRootsRequest(ListRootsRequest::default());
    let Ok(sent) = peer.send_cancellable_request(request, options).await else {
        return Vec::new();
    };
    match sent.await_response().await {
        Ok(ClientResult::ListRootsResult(result)) => {
            let roots = result.roots.iter().take(MAX_ROOTS);
            roots.filter_map(|root| folder(&root.uri)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the folder that a `file:` URI names on this machine.
fn folder(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let path = decode(path)?;
    // `file:///C:/work` is `C:/work` on Windows.
    let path = match path.strip_prefix('/') {
        Some(rest) if cfg!(windows) => rest,
        _ => &path,
    };
    let folder = PathBuf::from(path).canonicalize().ok()?;
    folder.is_dir().then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_this_machine_are_roots() {
        let tree = skillfold_testkit::folder("//- a b/x\n//- file\n");
        let kept = tree.path().canonicalize().unwrap();
        let uri = |rest: &str| format!("file://{}/{rest}", kept.display());
        assert_eq!(folder(&uri("a%20b")), Some(kept.join("a b")));
        for other in [
            uri("file"),
            uri("missing"),
            uri("%ff"),
            "file://server/share".to_owned(),
            "https://example.com/".to_owned(),
            "file://".to_owned(),
            String::new(),
        ] {
            assert_eq!(folder(&other), None, "{other}");
        }
    }
}
