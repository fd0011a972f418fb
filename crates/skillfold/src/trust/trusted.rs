//! Decides whether a project is trusted: by `trust_project`, by the setting `trusted`, or by the list that `skillfold
//! trust` maintains.
//!
//! An entry of the list has the folder's path and, if the system provides them, its inode and creation time, so that a
//! folder that replaced a trusted one is not trusted by accident. If it was trusted with `--pin`, it also has the digest of each
//! skill, and trusts the folder only while it has these.

use std::fmt;
use std::path::{Path, PathBuf};

use skillfold_core::Code;
use skillfold_core::diagnostic::visible;
use skillfold_core::text::FormatNumber;
#[cfg(feature = "store")]
use skillfold_core::{Error, Refusal};
#[cfg(feature = "store")]
use skillfold_store::Operation;

use crate::environment::{Environment, FolderIdentity, folder_identity, real_path};
use crate::settings::{Origin, SettingFinding, Settings, finding};
use crate::trust::folder_list::{FolderList, FolderRecord, ListFile};
#[cfg(feature = "store")]
use crate::trust::folder_list::{put_entry, remove_entry};
use crate::trust::pins::Pins;
/// The rule by which the user trusts a project.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustRule {
    /// The setting `trust_project`, which trusts any project.
    Project(Origin),
    /// A folder in the setting `trusted`.
    Setting(PathBuf, Origin),
    /// A folder in the list that `skillfold trust` maintains.
    List(PathBuf),
    /// A folder in that list that is trusted with the skills that it had.
    Pinned(PathBuf),
}

impl TrustRule {
    /// Returns the rule that trusts the project, if any. A listed folder that was replaced trusts nothing, and is
    /// reported in the list's findings.
    pub(crate) fn find(
        environment: &Environment,
        settings: &Settings,
        trusted: &mut TrustedFolders,
    ) -> Option<Self> {
        if settings.trust_project.value {
            return Some(Self::Project(settings.trust_project.origin.clone()));
        }
        let project = real_path(environment.project())?;
        let contains_project = |folder: &Path| {
            let folder = real_path(folder);
            folder.is_some_and(|folder| project.starts_with(folder))
        };
        let mut trusted_settings = settings.trusted.iter();
        if let Some(setting) = trusted_settings.find(|setting| contains_project(&setting.value)) {
            let origin = setting.origin.clone();
            return Some(Self::Setting(setting.value.clone(), origin));
        }
        trusted.find_rule(&project)
    }
}

impl fmt::Display for TrustRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let display = |path: &Path| visible(&path.to_string_lossy()).into_owned();
        match self {
            Self::Project(origin) => write!(formatter, "`trust_project` ({origin})"),
            Self::Setting(path, origin) => {
                write!(formatter, "`trusted`: {} ({origin})", display(path))
            }
            Self::List(path) => write!(formatter, "`skillfold trust`: {}", display(path)),
            Self::Pinned(path) => write!(formatter, "`skillfold trust --pin`: {}", display(path)),
        }
    }
}

/// A folder that the user trusts, including all projects in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedFolder {
    path: PathBuf,
    identity: FolderIdentity,
    pins: Option<Pins>,
    origin: Origin,
}

impl TrustedFolder {
    /// Returns its path with links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the skills that it was trusted with, if it is trusted with these alone.
    pub fn pins(&self) -> Option<&Pins> {
        self.pins.as_ref()
    }

    /// Checks whether it is still the folder that was trusted. What is in a pinned folder is not looked at; see
    /// [`state_with_content`](Self::state_with_content).
    pub fn state(&self) -> TrustedState {
        match folder_identity(&self.path) {
            None => TrustedState::Gone,
            Some(current) if !current.matches(self.identity) => TrustedState::Replaced,
            Some(_) if self.pins.is_some() => TrustedState::Pinned,
            Some(_) => TrustedState::Trusted,
        }
    }
}

/// The state of a folder that was trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustedState {
    /// The folder exists and is trusted.
    Trusted,
    /// The folder exists and is trusted with the skills that it had.
    Pinned,
    /// The folder was trusted with the skills that it had, and has others now.
    Changed,
    /// Another folder has replaced it, and is not trusted.
    Replaced,
    /// The folder does not exist.
    Gone,
}

impl fmt::Display for TrustedState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Trusted => "trusted",
            Self::Pinned => "pinned",
            Self::Changed => "changed",
            Self::Replaced => "replaced",
            Self::Gone => "gone",
        })
    }
}

/// The folders that the user trusted with `skillfold trust`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrustedFolders {
    /// The path of the list; `None` without a home.
    pub file: Option<PathBuf>,
    /// The folders, in the order in which they were trusted.
    pub folders: Vec<TrustedFolder>,
    /// Problems of the list, or of an entry that concerns this project.
    pub findings: Vec<SettingFinding>,
    list: ListFile,
}

/// An entry of the list file.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustRecord {
    path: PathBuf,
    inode: Option<i64>,
    created_ns: Option<i64>,
    /// The skills that the folder is trusted with; without it, whatever is in the folder is trusted.
    pinned: Option<Vec<PinRecord>>,
}

/// A skill of a pinned folder in the list file.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct PinRecord {
    path: String,
    digest: String,
}

impl FolderRecord for TrustRecord {
    type Format = FormatNumber<1>;

    const LIST: &'static str = "List of trusted folders";

    #[cfg(feature = "store")]
    const HEADER: &'static str = "\
# Folders whose projects are trusted: their skills are given to models.
# `skillfold trust` and `skillfold trust --remove` maintain this list.

";

    fn list_file(environment: &Environment) -> Option<PathBuf> {
        environment.trusted_folders()
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

impl TrustedFolders {
    /// Reads the list. Invalid entries trust nothing and are reported in the findings.
    pub fn load(environment: &Environment) -> Self {
        let FolderList {
            file,
            entries,
            findings,
        } = FolderList::<TrustRecord>::load(environment);
        let folder = |(record, origin): (TrustRecord, Origin)| TrustedFolder {
            path: record.path,
            identity: FolderIdentity {
                inode: record.inode,
                created_ns: record.created_ns,
            },
            pins: record.pinned.map(|pinned| {
                let entries = pinned.into_iter();
                Pins::from_entries(entries.map(|pin| (pin.path, pin.digest)))
            }),
            origin,
        };
        Self {
            file: file.path.clone(),
            folders: entries.into_iter().map(folder).collect(),
            findings,
            list: file,
        }
    }

    /// Returns whether the file is still what was read.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.list.is_unchanged()
    }

    /// Returns the rule that trusts a project, whose path must have its links resolved. If only a replaced folder would
    /// have trusted it, that is reported.
    fn find_rule(&mut self, project: &Path) -> Option<TrustRule> {
        let (mut replaced, mut pinned) = (None, None);
        for folder in &self.folders {
            if !project.starts_with(&folder.path) {
                continue;
            }
            match folder.state() {
                TrustedState::Trusted => return Some(TrustRule::List(folder.path.clone())),
                TrustedState::Pinned => pinned = Some(TrustRule::Pinned(folder.path.clone())),
                TrustedState::Replaced => replaced = Some(folder),
                TrustedState::Changed | TrustedState::Gone => {}
            }
        }
        if pinned.is_some() {
            return pinned;
        }
        if let Some(folder) = replaced {
            let message = format!(
                "Trusted folder was replaced by another one: `{}`",
                visible(&folder.path.to_string_lossy())
            );
            let code = Code::TrustedFolderReplaced;
            self.findings
                .push(finding(code, &folder.origin, None, message));
        }
        None
    }

    /// Returns the entry by which the list trusts a folder, whatever is in it: the folder itself or one above it.
    pub fn find_trusted(&self, folder: &Path) -> Option<&TrustedFolder> {
        let real = real_path(folder)?;
        let mut folders = self.folders.iter();
        folders
            .find(|entry| real.starts_with(&entry.path) && entry.state() == TrustedState::Trusted)
    }

    /// Returns the entry of a folder that is trusted with the skills that it had, if it is still that folder.
    pub fn find_pinned(&self, folder: &Path) -> Option<&TrustedFolder> {
        let real = real_path(folder)?;
        let mut folders = self.folders.iter();
        folders.find(|entry| real == entry.path && entry.state() == TrustedState::Pinned)
    }

    /// Reports that the skills of a pinned folder are not the ones that it was trusted with; `what` says which.
    pub(crate) fn report_changed(&mut self, folder: &Path, what: &str) {
        let entry = self.folders.iter().find(|entry| entry.path == folder);
        let origin = entry.map_or(&Origin::Default, |entry| &entry.origin);
        let path = folder.to_string_lossy();
        let message = format!(
            "Skills of the pinned folder `{}` differ: {what}",
            visible(&path)
        );
        let finding = finding(Code::PinnedContentChanged, origin, None, message);
        self.findings.push(finding);
    }
}

/// Returns the path of a folder with links resolved, if the folder can be trusted.
///
/// The user's home and the folders above it are refused, because everything in them would be trusted. So are files, and
/// paths that are not UTF-8.
#[cfg(feature = "store")]
pub fn check_trustable(environment: &Environment, folder: &Path) -> Result<PathBuf, Error> {
    let refused = |rule| {
        Err(Error::refused(
            folder.to_string_lossy(),
            Refusal::Trust,
            rule,
        ))
    };
    let Some(real) = real_path(folder) else {
        return Err(Error::not_found(folder.to_string_lossy()));
    };
    let home = environment.home_dir().and_then(real_path);
    if home.is_some_and(|home| home.starts_with(&real)) || real.parent().is_none() {
        return refused(
            "It contains your home and everything in it; name a project, or a folder of projects",
        );
    }
    if folder_identity(&real).is_none() {
        return refused("Only a folder can be trusted");
    }
    if real.to_str().is_none() {
        return refused("Its path is not UTF-8 and cannot be stored");
    }
    Ok(real)
}

/// Adds a folder to the user's trust list, and returns its path with links resolved. All projects in it are trusted
/// from then on.
#[cfg(feature = "store")]
pub fn trust_folder(environment: &Environment, folder: &Path) -> Result<PathBuf, Error> {
    add_folder(environment, folder, None)
}

/// Adds a folder to the user's trust list with the skills that it has, and returns its path with links resolved. It is trusted
/// while it has these skills and no others.
#[cfg(feature = "store")]
pub fn trust_pinned(
    environment: &Environment,
    folder: &Path,
    pins: &Pins,
) -> Result<PathBuf, Error> {
    add_folder(environment, folder, Some(pins))
}

#[cfg(feature = "store")]
fn add_folder(
    environment: &Environment,
    folder: &Path,
    pins: Option<&Pins>,
) -> Result<PathBuf, Error> {
    let real = check_trustable(environment, folder)?;
    let (Some(path), Some(identity)) = (real.to_str(), folder_identity(&real)) else {
        return Err(Error::not_found(folder.to_string_lossy()));
    };
    let act = Operation::Trust {
        folder: real.clone(),
    };
    let mut entry = toml_edit::Table::new();
    entry["path"] = toml_edit::value(path);
    if let Some(inode) = identity.inode {
        entry["inode"] = toml_edit::value(inode);
    }
    if let Some(created) = identity.created_ns {
        entry["created_ns"] = toml_edit::value(created);
    }
    if let Some(pins) = pins {
        entry["pinned"] = toml_edit::value(pin_array(pins));
    }
    put_entry::<TrustRecord>(environment, act, entry)?;
    Ok(real)
}

/// Returns pins as an array with a line for each.
#[cfg(feature = "store")]
fn pin_array(pins: &Pins) -> toml_edit::Array {
    let mut array = toml_edit::Array::new();
    for (path, digest) in pins.iter() {
        let mut pin = toml_edit::InlineTable::new();
        pin.insert("path", path.into());
        pin.insert("digest", digest.into());
        let mut pin = toml_edit::Value::from(pin);
        pin.decor_mut().set_prefix("\n  ");
        array.push_formatted(pin);
    }
    if !array.is_empty() {
        array.set_trailing("\n");
        array.set_trailing_comma(true);
    }
    array
}

/// Removes a folder from the user's trust list. Fails if it is not in the list. A folder that is gone or was replaced
/// can be removed too.
#[cfg(feature = "store")]
pub fn distrust_folder(environment: &Environment, folder: &Path) -> Result<PathBuf, Error> {
    let real = real_path(folder).unwrap_or_else(|| folder.to_owned());
    let act = Operation::Distrust {
        folder: real.clone(),
    };
    remove_entry::<TrustRecord>(environment, act, &real)?;
    Ok(real)
}
