//! The list of trusted skills, which `skillfold trust SKILL` maintains. With `new_skills = "hold"`, other skills are held.
//!
//! An entry is the real path of a skill's folder. What is in the folder does not matter: a skill that changes stays
//! trusted, and one that another folder is moved over too.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillfold_core::text::FormatNumber;
#[cfg(feature = "store")]
use skillfold_core::{Error, Refusal};
#[cfg(feature = "store")]
use skillfold_store::Operation;

use crate::environment::Environment;
use crate::settings::{NewSkills, SettingFinding, Settings};
use crate::trust::folder_list::{FolderList, FolderRecord, ListFile};
#[cfg(feature = "store")]
use crate::trust::folder_list::{ListEdit, edit_list, path_of, remove_entry};

/// Maximum folders that the log names for one change.
#[cfg(feature = "store")]
const MAX_RECORDED: usize = 100;

/// The skills that the user trusts with `skillfold trust SKILL`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrustedSkillList {
    /// The path of the list; `None` without a home.
    pub file: Option<PathBuf>,
    /// The real paths of the skills' folders.
    pub folders: Arc<BTreeSet<PathBuf>>,
    /// Problems of the list.
    pub findings: Vec<SettingFinding>,
    list: ListFile,
}

/// An entry of the list file.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustedSkillRecord {
    path: PathBuf,
}

impl FolderRecord for TrustedSkillRecord {
    type Format = FormatNumber<1>;

    const LIST: &'static str = "List of trusted skills";

    #[cfg(feature = "store")]
    const HEADER: &'static str = "\
# Folders of the skills that you trust: with `new_skills = \"hold\"`, models get no others.
# `skillfold trust SKILL` and `skillfold trust --remove SKILL` maintain this list.

";

    fn list_file(environment: &Environment) -> Option<PathBuf> {
        environment.trusted_skill_list()
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

impl TrustedSkillList {
    /// Reads the list. Invalid entries trust nothing and are reported in the findings.
    pub fn load(environment: &Environment) -> Self {
        let FolderList {
            file,
            entries,
            findings,
        } = FolderList::<TrustedSkillRecord>::load(environment);
        let folders = entries.into_iter().map(|(record, _)| record.path);
        Self {
            file: file.path.clone(),
            folders: Arc::new(folders.collect()),
            findings,
            list: file,
        }
    }

    /// Reads the list if the settings hold new skills; otherwise it decides nothing.
    pub(crate) fn load_for(environment: &Environment, settings: &Settings) -> Self {
        match settings.new_skills.value {
            NewSkills::Show => Self::default(),
            NewSkills::Hold => Self::load(environment),
        }
    }

    /// Returns whether the file is still what was read.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.list.is_unchanged()
    }
}

/// Adds skills to the user's list of trusted skills, by the real paths of their folders; see
/// [`Entry::real_dir`](skillfold_core::Entry::real_dir). Returns how many were not in it.
#[cfg(feature = "store")]
pub fn trust_skills(
    environment: &Environment,
    folders: impl IntoIterator<Item = PathBuf>,
) -> Result<usize, Error> {
    let mut new = BTreeSet::new();
    for folder in folders {
        let Some(path) = folder.to_str() else {
            let rule = "Its path is not UTF-8 and cannot be stored; rename the folder";
            let path = folder.to_string_lossy();
            return Err(Error::refused(path, Refusal::Trust, rule));
        };
        new.insert(path.to_owned());
    }
    let mut added = 0;
    let act = Operation::TrustSkills {
        folders: new.iter().take(MAX_RECORDED).map(PathBuf::from).collect(),
        total: new.len(),
    };
    edit_list::<TrustedSkillRecord>(environment, act, |folders| {
        for known in folders.iter().filter_map(path_of) {
            new.remove(known);
        }
        added = new.len();
        for path in &new {
            let mut table = toml_edit::Table::new();
            table["path"] = toml_edit::value(path);
            folders.push(table);
        }
        if added > 0 {
            ListEdit::Changed
        } else {
            ListEdit::Unchanged
        }
    })?;
    Ok(added)
}

/// Removes a skill from the user's list of trusted skills. Fails if it is not in the list.
#[cfg(feature = "store")]
pub fn distrust_skill(environment: &Environment, folder: &Path) -> Result<(), Error> {
    let act = Operation::DistrustSkill {
        folder: folder.to_owned(),
    };
    remove_entry::<TrustedSkillRecord>(environment, act, folder)
}
