//! The JSON views of the lists of trusted folders and skills.

use std::path::Path;

use crate::environment::Environment;
use crate::trust::trusted::TrustedFolders;
use crate::trust::trusted_skills::TrustedSkillList;
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
    /// `trusted`, `pinned` (trusted with the skills that it had), `changed` (pinned, and has others now, so it is not trusted),
    /// `replaced` (by another folder, which is not trusted) or `gone`.
    pub state: String,
}

impl Trusted {
    /// Creates the view of the list. What is in pinned folders is read; `environment` has the user's home and variables.
    pub fn new(trusted: &TrustedFolders, environment: &Environment) -> Self {
        let folders = trusted.folders.iter();
        Self {
            file: trusted.file.as_deref().map(path_text),
            folders: folders
                .map(|folder| TrustedRow {
                    path: path_text(folder.path()),
                    state: folder.state_with_content(environment).to_string(),
                })
                .collect(),
            findings: trusted.findings.iter().map(SettingProblem::new).collect(),
        }
    }
}

/// The skills that the user trusts with `skillfold trust SKILL`.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TrustedSkillsView {
    /// The path of the list, which may not exist yet; absent without a home folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The trusted skills, by path.
    pub folders: Vec<TrustedSkillRow>,
    /// Problems with the list.
    pub findings: Vec<SettingProblem>,
}

/// A skill that the user trusts.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TrustedSkillRow {
    /// The path of the skill's folder, with links resolved.
    pub path: String,
    /// `trusted`, or `gone` if there is no such folder.
    pub state: String,
}

impl TrustedSkillsView {
    /// Creates the view of the list.
    pub fn new(trusted: &TrustedSkillList) -> Self {
        let state = |path: &Path| if path.is_dir() { "trusted" } else { "gone" };
        let folders = trusted.folders.iter();
        Self {
            file: trusted.file.as_deref().map(path_text),
            folders: folders
                .map(|path| TrustedSkillRow {
                    path: path_text(path),
                    state: state(path).to_owned(),
                })
                .collect(),
            findings: trusted.findings.iter().map(SettingProblem::new).collect(),
        }
    }
}

fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
