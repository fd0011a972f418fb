//! The folders that a client works in, if it says so.

use std::path::{Path, PathBuf};
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

/// Asks a client for its roots, and returns their URIs. None if it has none, or does not answer.
#[expect(
    deprecated,
    reason = "later versions have no roots; clients of today do"
)]
pub(crate) async fn roots(peer: &Peer<RoleServer>) -> Vec<String> {
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
    let Ok(ClientResult::ListRootsResult(result)) = sent.await_response().await else {
        tracing::warn!("the client did not say in which folders it works");
        return Vec::new();
    };
    let roots = result.roots.into_iter().take(MAX_ROOTS);
    roots.map(|root| root.uri).collect()
}

/// Returns the project of a client: the deepest of its roots around the working folder of the server that can be a
/// project, else the first root that can. If none can, the working folder in a root, or the first root: then a failure
/// says why it is none.
pub(crate) fn project_among(
    roots: &[String],
    directory: PathBuf,
    can_be_project: impl Fn(&Path) -> bool,
) -> PathBuf {
    let real = directory.canonicalize();
    let real = real.as_ref().unwrap_or(&directory);
    let folders: Vec<PathBuf> = roots.iter().filter_map(|uri| folder(uri)).collect();
    let around = |root: &PathBuf| real.starts_with(root);
    let possible: Vec<&PathBuf> = folders.iter().filter(|root| can_be_project(root)).collect();
    let deepest = possible.iter().filter(|root| around(root));
    let deepest = deepest.max_by_key(|root| root.components().count());
    match deepest.or(possible.first()) {
        Some(root) => (*root).clone(),
        None if folders.iter().any(around) => directory,
        None => folders.into_iter().next().unwrap_or(directory),
    }
}

/// Returns the folder that a `file:` URI names on this machine.
fn folder(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    // Anything else before the path is the name of another machine.
    let path = decode(Some(path).filter(|path| path.starts_with('/'))?)?;
    // `file:///C:/work` is `C:/work` on Windows.
    let path = match path.strip_prefix('/') {
        Some(rest) if cfg!(windows) => rest,
        _ => &path,
    };
    let path = Some(Path::new(path)).filter(|path| path.is_absolute())?;
    let folder = path.canonicalize().ok()?;
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
        let local = uri("a%20b").replace("file://", "file://localhost");
        assert_eq!(folder(&local), Some(kept.join("a b")));
        // Nothing is relative to the working folder of the server.
        assert!(Path::new("src").is_dir());
        for other in [
            uri("file"),
            uri("missing"),
            uri("%ff"),
            "file://server/share".to_owned(),
            "file://src".to_owned(),
            "file://localhostsrc".to_owned(),
            format!("file://%2F{}", &uri("a%20b")["file:///".len()..]),
            "https://example.com/".to_owned(),
            "file://".to_owned(),
            String::new(),
        ] {
            assert_eq!(folder(&other), None, "{other}");
        }
    }

    #[test]
    fn project_is_the_deepest_root_around_the_working_folder_that_can_be_one() {
        let tree =
            skillfold_testkit::folder("//- home/app/src/x\n//- home/other/x\n//- home/.ssh/x\n");
        let kept = tree.path().canonicalize().unwrap();
        let check = |roots: &[&str], directory: &str| {
            let uri = |root: &&str| match *root {
                "/" => "file:///".to_owned(),
                root => format!("file://{}/{root}", kept.display()),
            };
            let roots: Vec<String> = roots.iter().map(uri).collect();
            let can_be = |folder: &Path| !kept.join("home/.ssh").starts_with(folder);
            let chosen = project_among(&roots, kept.join(directory), can_be);
            chosen.strip_prefix(&kept).unwrap().display().to_string()
        };
        for (roots, directory, expected) in [
            (&["/", "home/app"][..], "home/app", "home/app"),
            (
                &["home", "home/app", "home/app/src"],
                "home/app/src",
                "home/app/src",
            ),
            (&["home/other", "home/app"], "home/app/src", "home/app"),
            (&["home/.ssh", "home/other"], "home/app", "home/other"),
            // The client works in a folder around it.
            (&["/"], "home/app", "home/app"),
            (&["home"], "home/app", "home/app"),
            // No project, and a failure says why.
            (&["home/.ssh"], "home/app", "home/.ssh"),
            (&[], "home/app", "home/app"),
        ] {
            assert_eq!(check(roots, directory), expected, "{roots:?} {directory}");
        }
    }
}
