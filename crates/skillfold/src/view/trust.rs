//! The JSON view of the list of trusted folders.

use crate::trust::TrustedFolders;
use crate::view::settings::SettingProblem;

/// The folders that the user trusted with `skillfold trust`.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Trusted {
    /// The path of the list, which may not exist yet; absent without a home folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The folders, in the order in which they were trusted.
    pub folders: Vec<TrustedRow>,
    /// Problems with the list.
    pub findings: Vec<SettingProblem>,
}

/// A folder that the user trusted, including all projects in it.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TrustedRow {
    /// Its path, with links resolved.
    pub path: String,
    /// `trusted`, `replaced` (by another folder, which is not trusted) or `gone`.
    pub state: String,
}

impl Trusted {
    /// Creates the view of the list.
    pub fn new(trusted: &TrustedFolders) -> Self {
        let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let folders = trusted.folders.iter();
        Self {
            file: trusted.file.as_deref().map(path),
            folders: folders
                .map(|folder| TrustedRow {
                    path: path(folder.path()),
                    state: folder.state().to_string(),
                })
                .collect(),
            findings: trusted.findings.iter().map(SettingProblem::new).collect(),
        }
    }
}
