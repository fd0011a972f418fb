//! Conformance cases that every frontend must pass: a file tree, a request and the expected response.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::in_checkout;

/// Where a case's workspace skills are copied to: the user's skills folder.
const USER_SKILLS_PATH: &str = "person/.agents/skills";

/// A case: `input/`, `request.json` and `expected.json` in a folder.
#[derive(Debug)]
pub struct Case {
    /// Its folder's name.
    pub name: String,
    /// The request as JSON.
    pub request: String,
    /// The expected response as JSON, with `INPUT` for the folder that the input was copied to.
    pub expected: String,
    folder: PathBuf,
}

/// Returns the cases in the workspace's `conformance/cases`, by name.
///
/// # Panics
///
/// Panics if there are none: a run without cases proves nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "cases are files in the workspace"
)]
pub fn cases() -> Vec<Case> {
    let root = in_checkout("conformance/cases");
    let entries = std::fs::read_dir(&root).expect("the workspace has cases");
    let folders = entries.map(|entry| entry.expect("a case can be listed").path());
    let mut cases: Vec<Case> = folders
        .filter(|path| path.is_dir())
        .map(Case::read)
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!cases.is_empty(), "there are no cases");
    cases
}

impl Case {
    #[expect(
        clippy::disallowed_methods,
        reason = "cases are files in the workspace"
    )]
    fn read(folder: PathBuf) -> Self {
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        Self {
            name: name.into_owned(),
            request: text("request.json"),
            expected: text("expected.json"),
            folder,
        }
    }

    /// Copies the input into a temporary folder, outside the repository that contains the cases, together with the
    /// workspace skills named in the request.
    ///
    /// # Panics
    ///
    /// Panics if a file cannot be copied, or the request names a folder that does not exist.
    pub fn lay_out(&self) -> TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        copy_folder(&self.folder.join("input"), folder.path());
        let request: serde_json::Value = serde_json::from_str(&self.request).unwrap_or_default();
        if let Some(skills) = request["skills"].as_str() {
            lay_out(skills, &folder.path().join(USER_SKILLS_PATH));
        }
        folder
    }

    /// Writes the response into the case, to be reviewed before it is committed.
    ///
    /// # Panics
    ///
    /// Panics if the file cannot be written.
    #[expect(
        clippy::disallowed_methods,
        reason = "cases are files in the workspace"
    )]
    pub fn accept(&self, answer: &str) {
        std::fs::write(self.folder.join("expected.json"), answer).expect("a case can be written");
    }
}

/// Copies a workspace folder, such as `examples`.
///
/// # Panics
///
/// Panics if it does not exist or cannot be copied.
pub fn lay_out(folder: &str, to: &Path) {
    let from = in_checkout(folder);
    assert!(from.is_dir(), "the workspace has no folder `{folder}`");
    copy_folder(&from, to);
}

#[expect(
    clippy::disallowed_methods,
    reason = "cases are files in the workspace"
)]
fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder can be made");
    for entry in std::fs::read_dir(from).into_iter().flatten().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a file can be copied");
        }
    }
}
