//! The list of skills whose scripts and tools may run, which `skillfold allow` maintains.
//!
//! An entry is for the bytes that the user looked at: it has the digest of the skill, what was granted, and the tools that
//! the skill had then. A skill that changes is not allowed any more.

use std::path::{Path, PathBuf};

use serde_json::Value;
use skillfold_core::load::Digest;
use skillfold_core::{Error, Refusal};
use skillfold_store::{Act, Approval};

use crate::environment::Environment;
use crate::folder_list::{FolderList, FolderRecord, ListEdit, edit_list, path_of};
use crate::scripts::tool::SkillTool;
use crate::settings::SettingFinding;

/// A skill whose scripts and tools may run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AllowedSkill {
    /// The real path of its folder.
    pub folder: PathBuf,
    /// The digest of its content.
    pub digest: Digest,
    /// What was granted, one line each.
    pub granted: Vec<String>,
    /// The tools of its toolsets.
    pub tools: Vec<SkillTool>,
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

/// An entry of the list file.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowedRecord {
    path: PathBuf,
    digest: String,
    #[serde(default)]
    granted: Vec<String>,
    /// The tools as JSON.
    #[serde(default)]
    tools: String,
}

impl FolderRecord for AllowedRecord {
    const LIST: &'static str = "List of skills that may run";

    const HEADER: &'static str = "\
# Skills whose scripts and tools may run, each with the digest of what was looked at.
# `skillfold allow` and `skillfold allow --remove` keep this list.

";

    fn list_file(environment: &Environment) -> Option<PathBuf> {
        environment.allowed_skills()
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

impl AllowedSkills {
    /// Reads the list. Invalid entries allow nothing and are reported in the findings.
    pub fn load(environment: &Environment) -> Self {
        let list = FolderList::<AllowedRecord>::load(environment);
        let skills = list.entries.into_iter().filter_map(|(record, _)| {
            Some(AllowedSkill {
                digest: record.digest.parse().ok()?,
                tools: serde_json::from_str(&record.tools).unwrap_or_default(),
                folder: record.path,
                granted: record.granted,
            })
        });
        Self {
            file: list.file.path.clone(),
            skills: skills.collect(),
            findings: list.findings,
        }
    }

    /// Returns the entry for a skill with exactly this content.
    pub fn find(&self, digest: Digest) -> Option<&AllowedSkill> {
        self.skills.iter().find(|skill| skill.digest == digest)
    }
}

/// Adds a skill to the list, in the place of what was known of its folder.
pub(super) fn allow(
    environment: &Environment,
    skill: &AllowedSkill,
    store: &skillfold_store::Store,
    approval: &Approval,
) -> Result<(), Error> {
    let Some(path) = skill.folder.to_str() else {
        let rule = "Its path is not UTF-8 and cannot be written down; rename the folder";
        let path = skill.folder.to_string_lossy();
        return Err(Error::refused(path, Refusal::Accept, rule));
    };
    let act = Act::Allow {
        folder: skill.folder.clone(),
        digest: skill.digest,
        granted: skill.granted.clone(),
        approval: store.check_allowance(skill.digest, &skill.granted, approval)?,
    };
    let tools = serde_json::to_value(&skill.tools).unwrap_or(Value::Null);
    edit_list::<AllowedRecord>(environment, act, |folders| {
        folders.retain(|entry| path_of(entry) != Some(path));
        let mut table = toml_edit::Table::new();
        table["path"] = toml_edit::value(path);
        table["digest"] = toml_edit::value(skill.digest.to_string());
        table["granted"] = toml_edit::value(toml_edit::Array::from_iter(&skill.granted));
        table["tools"] = toml_edit::value(tools.to_string());
        folders.push(table);
        ListEdit::Changed
    })?;
    Ok(())
}

/// Removes a skill from the list of those that may run, by the real path of its folder. Fails if it is not in the list.
pub fn disallow_skill(environment: &Environment, folder: &Path) -> Result<(), Error> {
    let not_found = || Error::not_found(folder.to_string_lossy());
    if !environment
        .allowed_skills()
        .is_some_and(|file| file.exists())
    {
        return Err(not_found());
    }
    let act = Act::Disallow {
        folder: folder.to_owned(),
    };
    let change = edit_list::<AllowedRecord>(environment, act, |folders| {
        let before = folders.len();
        folders.retain(|entry| path_of(entry).map(Path::new) != Some(folder));
        if folders.len() < before {
            ListEdit::Changed
        } else {
            ListEdit::Unchanged
        }
    })?;
    match change {
        ListEdit::Changed => Ok(()),
        ListEdit::Unchanged => Err(not_found()),
    }
}
