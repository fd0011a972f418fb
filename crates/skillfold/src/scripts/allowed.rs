//! The list of skills whose scripts and tools may run, which `skillfold allow` maintains.
//!
//! An entry is for the bytes that the user looked at: it has the digest of the skill, what was granted, and the tools that
//! the skill had then. A skill that changes is not allowed any more. Files and folders are stored as what they were, not as
//! names: see [`ApprovedPath`].

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::json;
use skillfold_core::diagnostic::visible;
use skillfold_core::load::Digest;
use skillfold_core::text::FormatNumber;
use skillfold_core::{Error, Refusal};
use skillfold_run::{ApprovedPath, HostRule, NamedInterpreter};
use skillfold_store::{Allowance, Approval, Operation};

use crate::environment::Environment;
use crate::scripts::asked::AskedPermissions;
use crate::scripts::packages::{self, SkillPackages};
use crate::scripts::project_access::{ProjectAccess, ProjectDecision, project_line};
use crate::scripts::tool::SkillTool;
use crate::settings::SettingFinding;
use crate::trust::folder_list::{FolderList, FolderRecord, put_entry, remove_entry};

/// A skill whose scripts and tools may run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AllowedSkill {
    /// The real path of its folder.
    #[serde(rename = "path")]
    pub folder: PathBuf,
    /// The digest of its content.
    pub digest: Digest,
    /// What was granted, one line each.
    #[serde(default)]
    pub granted: Vec<String>,
    /// The files and folders that were granted, as they were then.
    #[serde(default, deserialize_with = "from_json")]
    pub paths: Vec<ApprovedPath>,
    /// The programs that the user named to run its scripts.
    #[serde(default, deserialize_with = "from_json")]
    pub interpreters: Vec<NamedInterpreter>,
    /// What it may do with each project that the user decided about.
    #[serde(default, deserialize_with = "from_json")]
    pub projects: Vec<ProjectDecision>,
    /// What it may do with every other project.
    #[serde(default)]
    pub every_project: Option<ProjectAccess>,
    /// The hosts that it may reach.
    #[serde(default, deserialize_with = "from_json")]
    pub hosts: Vec<HostRule>,
    /// The tools of its toolsets.
    #[serde(default, deserialize_with = "from_json")]
    pub tools: Vec<SkillTool>,
    /// The packages that were installed for its scripts.
    #[serde(default, deserialize_with = "from_json")]
    pub packages: Vec<SkillPackages>,
}

/// The skills whose scripts and tools may run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AllowedSkills {
    /// The path of the list; `None` without a home.
    pub file: Option<PathBuf>,
    /// The skills.
    pub skills: Vec<AllowedSkill>,
    /// Problems of the list.
    pub findings: Vec<SettingFinding>,
}

/// Why a skill may not run.
#[derive(Clone, Debug)]
pub(super) enum NotAllowed {
    /// The user has not allowed it, or it has changed since.
    Unknown,
    /// It is in the list, but was not approved with the required passphrase.
    WithoutPassphrase,
    /// Something that it was granted has changed, which this says.
    Changed(String),
    /// It asks for the project, and the user has not decided about this one.
    OtherProject(String),
}

/// What the user decided about a skill.
pub(super) struct Decided {
    /// What it asks for. With an allowance, files and folders are what the user allowed, otherwise what they are now.
    pub(super) asked: AskedPermissions,
    pub(super) allowed: Result<AllowedSkill, NotAllowed>,
    /// The entry whose decisions about projects count: that of the allowance, or of one that only has to be renewed.
    pub(super) entry: Option<AllowedSkill>,
}

impl NotAllowed {
    pub(super) fn error(&self, id: &str) -> Error {
        let command = format!("`skillfold allow {}`", visible(id));
        let (why, rule) = match self {
            Self::Unknown => (
                format!("it is not allowed, or changed since it was allowed: {command}"),
                "In a terminal, this command shows what the skill would run, and asks the user",
            ),
            Self::WithoutPassphrase => (
                format!(
                    "it was not allowed with the passphrase that the settings require: {command}"
                ),
                "In a terminal, this command asks the user for the passphrase",
            ),
            Self::Changed(what) => (
                format!("{what}; if that is right: {command}"),
                "Check who changed it; in a terminal, this command shows what it is now, and asks the user",
            ),
            Self::OtherProject(folder) => (
                format!("it is not allowed in {folder} yet: {command}"),
                "It asks for the project, and an allowance is for one project; in a terminal, in this folder, this command asks the user",
            ),
        };
        Error::refused(id, Refusal::NotAllowed, rule).because(why)
    }
}

impl AllowedSkill {
    /// Returns the packages that were installed, each with its version.
    pub(super) fn installed(&self) -> Vec<String> {
        let packages = self.packages.iter();
        packages
            .flat_map(|packages| packages.installed.iter().cloned())
            .collect()
    }

    /// Returns a line for everything that was granted, projects included.
    pub fn lines(&self, home: Option<&Path>) -> Vec<String> {
        let projects = self.projects.iter().map(|project| project.line(home));
        let every = self
            .every_project
            .map(|access| project_line(access, "of every run"));
        let granted = self.granted.iter().cloned();
        granted.chain(projects).chain(every).collect()
    }

    /// Returns the digest of the whole entry.
    pub(super) fn entry_digest(&self) -> Digest {
        let all = json!([
            self.folder,
            self.digest.to_string(),
            self.granted,
            self.paths,
            self.interpreters,
            self.projects,
            self.every_project,
            self.hosts,
            self.tools,
            self.packages,
        ]);
        Digest::sha256(all.to_string().as_bytes())
    }

    /// Returns what an approval of this entry signs.
    pub(super) fn allowance(&self) -> Allowance {
        Allowance::new(&self.folder, self.digest, self.entry_digest())
            .with_granted(self.lines(None))
            .with_packages(self.installed())
    }
}

/// Reads what the list has as JSON.
fn from_json<'de, D: Deserializer<'de>, T: DeserializeOwned>(value: D) -> Result<T, D::Error> {
    let text = String::deserialize(value)?;
    serde_json::from_str(&text).map_err(serde::de::Error::custom)
}

impl FolderRecord for AllowedSkill {
    type Format = FormatNumber<2>;

    const LIST: &'static str = "List of skills that may run";

    const HEADER: &'static str = "\
# Skills whose scripts and tools may run, each with the digest of what was reviewed.
# `skillfold allow` and `skillfold allow --remove` maintain this list.

";

    fn list_file(environment: &Environment) -> Option<PathBuf> {
        environment.allowed_skills()
    }

    fn path(&self) -> &Path {
        &self.folder
    }
}

impl AllowedSkills {
    /// Reads the list. Invalid entries allow nothing and are reported in the findings.
    pub fn load(environment: &Environment) -> Self {
        let list = FolderList::<AllowedSkill>::load(environment);
        Self {
            file: list.file.path.clone(),
            skills: list.entries.into_iter().map(|(skill, _)| skill).collect(),
            findings: list.findings,
        }
    }

    /// Returns the entry for a skill with exactly this content in this folder. The same content in another folder has an entry of
    /// its own, so that whoever removes one knows what it ends.
    pub fn find(&self, digest: Digest, folder: &Path) -> Option<&AllowedSkill> {
        let mut skills = self.skills.iter();
        skills.find(|skill| skill.digest == digest && skill.folder == folder)
    }
}

/// Deletes the packages that no entry uses any more, after the list was changed.
fn delete_unused(environment: &Environment, before: &AllowedSkills) {
    let before = before.skills.iter().flat_map(|skill| &skill.packages);
    delete_unlisted(environment, before);
}

/// Deletes those of some packages that no entry of the list uses, and what is left of interrupted installations.
pub(super) fn delete_unlisted<'a>(
    environment: &Environment,
    packages: impl IntoIterator<Item = &'a SkillPackages>,
) {
    let list = AllowedSkills::load(environment);
    // What an entry uses that is not understood is not known.
    if !list.findings.is_empty() {
        return;
    }
    let used = list.skills.iter().flat_map(|skill| &skill.packages);
    let used: HashSet<&Path> = used.map(|packages| &*packages.folder).collect();
    let is_used = |folder: &Path| used.contains(folder);
    packages::delete(environment, packages, is_used);
    packages::delete_left(environment, is_used);
}

/// Adds a skill to the list, in the place of what was known of its folder.
pub(super) fn allow(
    environment: &Environment,
    skill: &AllowedSkill,
    store: &skillfold_store::Store,
    approval: &Approval,
) -> Result<(), Error> {
    let Some(path) = skill.folder.to_str() else {
        let rule = "Its path is not UTF-8 and cannot be stored; rename the folder";
        let path = skill.folder.to_string_lossy();
        return Err(Error::refused(path, Refusal::NotAllowed, rule));
    };
    let before = AllowedSkills::load(environment);
    let allowance = Box::new(skill.allowance());
    let act = Operation::Allow {
        approval: store.check_allowance(&allowance, approval)?,
        allowance,
    };
    let mut entry = toml_edit::Table::new();
    entry["path"] = toml_edit::value(path);
    entry["digest"] = toml_edit::value(skill.digest.to_string());
    entry["granted"] = toml_edit::value(toml_edit::Array::from_iter(&skill.granted));
    entry["tools"] = toml_edit::value(json!(skill.tools).to_string());
    let lists = [
        ("paths", json!(skill.paths)),
        ("interpreters", json!(skill.interpreters)),
        ("projects", json!(skill.projects)),
        ("hosts", json!(skill.hosts)),
        ("packages", json!(skill.packages)),
    ];
    for (key, list) in lists {
        if list != json!([]) {
            entry[key] = toml_edit::value(list.to_string());
        }
    }
    if let Some(access) = skill.every_project {
        entry["every_project"] = toml_edit::value(access.as_str());
    }
    put_entry::<AllowedSkill>(environment, act, entry)?;
    delete_unused(environment, &before);
    Ok(())
}

/// Removes a skill from the list of those that may run, by the real path of its folder. Fails if it is not in the list.
pub fn disallow_skill(environment: &Environment, folder: &Path) -> Result<(), Error> {
    let before = AllowedSkills::load(environment);
    let act = Operation::Disallow {
        folder: folder.to_owned(),
    };
    remove_entry::<AllowedSkill>(environment, act, folder)?;
    delete_unused(environment, &before);
    Ok(())
}
