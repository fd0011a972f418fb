//! Decides whether a project is trusted: by `trust_project`, by the setting `trusted`, or by the list that `skillfold
//! trust` maintains.
//!
//! The list is a file in the user's state folder. Each entry has the folder's path and, if the system provides them,
//! its inode and creation time, so that a folder that replaced a trusted one is not trusted by accident. A list that
//! another user owns, or that others may write to, trusts nothing. So does an entry with a key that this version does
//! not know: a later version may have used it to narrow the entry.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use skillfold_core::diagnostic::visible;
use skillfold_core::{Code, Diagnostic};
#[cfg(feature = "store")]
use skillfold_core::{Error, Refusal};
#[cfg(feature = "store")]
use skillfold_store::{WriteTarget, lock_state};
use toml::Spanned;

#[cfg(feature = "store")]
use crate::environment::MAX_SETTINGS_BYTES;
use crate::environment::{
    Environment, FolderIdentity, folder_identity, other_writer, read_settings, real_path,
};
use crate::settings::{Origin, SettingFinding, Settings};

/// Maximum folders in the list. Users add them one by one.
const MAX_FOLDERS: usize = 10_000;

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
        }
    }
}

/// A folder that the user trusts, including all projects in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedFolder {
    path: PathBuf,
    identity: FolderIdentity,
    origin: Origin,
}

impl TrustedFolder {
    /// Returns its path with links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks whether it is still the folder that was trusted.
    pub fn state(&self) -> TrustedState {
        match folder_identity(&self.path) {
            None => TrustedState::Gone,
            Some(current) if current.matches(self.identity) => TrustedState::Trusted,
            Some(_) => TrustedState::Replaced,
        }
    }
}

/// The state of a folder that was trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustedState {
    /// The folder exists and is trusted.
    Trusted,
    /// Another folder has replaced it, and is not trusted.
    Replaced,
    /// The folder does not exist.
    Gone,
}

impl fmt::Display for TrustedState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Trusted => "trusted",
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
    /// The text of the file when it was read, or why it is not used.
    text: Option<Result<String, String>>,
}

/// An entry of the list file.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustRecord {
    path: PathBuf,
    inode: Option<i64>,
    created_ns: Option<i64>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustList {
    #[serde(default)]
    folder: Vec<Spanned<toml::Value>>,
}

/// Returns the text of the list, or why it is unsafe to use. `None` if there is no list.
fn read_list(file: &Path) -> io::Result<Option<Result<String, String>>> {
    let text = read_settings(file)?;
    Ok(text.map(|text| other_writer(file).map_or(Ok(text), Err)))
}

impl TrustedFolders {
    /// Reads the list. Invalid entries trust nothing and are reported in the findings.
    pub fn load(environment: &Environment) -> Self {
        let mut trusted = Self {
            file: environment.trusted_folders(),
            ..Self::default()
        };
        let Some(file) = trusted.file.clone() else {
            return trusted;
        };
        trusted.text = match read_list(&file) {
            Ok(text) => text,
            Err(error) => {
                trusted.report_unreadable(&file, 1, &error.to_string());
                return trusted;
            }
        };
        let text = match trusted.text.clone() {
            None => return trusted,
            Some(Ok(text)) => text,
            Some(Err(why)) => {
                let message = format!("List of trusted folders is not used: {why}");
                trusted.findings.push(SettingFinding {
                    origin: Origin::TrustList(file, 1),
                    diagnostic: Diagnostic::new(Code::TrustListUnsafe, None, message),
                });
                return trusted;
            }
        };
        let line_at = |offset: usize| {
            let ends = text.bytes().take(offset).filter(|byte| *byte == b'\n');
            u32::try_from(ends.count() + 1).unwrap_or(u32::MAX)
        };
        let list: TrustList = match toml::from_str(&text) {
            Ok(list) => list,
            Err(error) => {
                let start = error.span().map_or(0, |span| span.start);
                trusted.report_unreadable(&file, line_at(start), error.message());
                return trusted;
            }
        };
        if list.folder.len() > MAX_FOLDERS {
            let why =
                format!("it has more than {MAX_FOLDERS} folders, and the others are left out");
            trusted.report_unreadable(&file, 1, &why);
        }
        for folder in list.folder.into_iter().take(MAX_FOLDERS) {
            let line = line_at(folder.span().start);
            match folder.into_inner().try_into::<TrustRecord>() {
                Ok(record) if record.path.is_absolute() => trusted.folders.push(TrustedFolder {
                    path: record.path,
                    identity: FolderIdentity {
                        inode: record.inode,
                        created_ns: record.created_ns,
                    },
                    origin: Origin::TrustList(file.clone(), line),
                }),
                Ok(_) => trusted.report_unreadable(&file, line, "its path is not whole"),
                Err(error) => trusted.report_unreadable(&file, line, error.message()),
            }
        }
        trusted
    }

    /// Returns whether the file is still what was read. A file that can no longer be read counts as absent.
    pub(crate) fn is_unchanged(&self) -> bool {
        let read = |file: &PathBuf| read_list(file).ok().flatten();
        self.file.as_ref().and_then(read) == self.text
    }

    fn report_unreadable(&mut self, file: &Path, line: u32, why: &str) {
        let message = format!(
            "List of trusted folders is not understood here: {}",
            visible(why.trim())
        );
        self.findings.push(SettingFinding {
            origin: Origin::TrustList(file.to_owned(), line),
            diagnostic: Diagnostic::new(Code::TrustUnreadable, None, message),
        });
    }

    /// Returns the rule that trusts a project, whose path must have its links resolved. If only a replaced folder would
    /// have trusted it, that is reported.
    fn find_rule(&mut self, project: &Path) -> Option<TrustRule> {
        let mut replaced = None;
        for folder in &self.folders {
            if !project.starts_with(&folder.path) {
                continue;
            }
            match folder.state() {
                TrustedState::Trusted => return Some(TrustRule::List(folder.path.clone())),
                TrustedState::Replaced => replaced = Some(folder),
                TrustedState::Gone => {}
            }
        }
        if let Some(folder) = replaced {
            let message = format!(
                "Trusted folder was replaced by another one: `{}`",
                visible(&folder.path.to_string_lossy())
            );
            self.findings.push(SettingFinding {
                origin: folder.origin.clone(),
                diagnostic: Diagnostic::new(Code::TrustedFolderReplaced, None, message),
            });
        }
        None
    }

    /// Returns the entry by which the list trusts a folder: the folder itself or one above it.
    pub fn find_trusted(&self, folder: &Path) -> Option<&TrustedFolder> {
        let real = real_path(folder)?;
        let mut folders = self.folders.iter();
        folders
            .find(|entry| real.starts_with(&entry.path) && entry.state() == TrustedState::Trusted)
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
            "Your home is in it, and so is everything of yours; name a project, or a folder of projects",
        );
    }
    if folder_identity(&real).is_none() {
        return refused("Only a folder can be trusted");
    }
    if real.to_str().is_none() {
        return refused("Its path is not UTF-8 and cannot be written down");
    }
    Ok(real)
}

/// Adds a folder to the user's trust list, and returns its path with links resolved. All projects in it are trusted
/// from then on.
#[cfg(feature = "store")]
pub fn trust_folder(environment: &Environment, folder: &Path) -> Result<PathBuf, Error> {
    let real = check_trustable(environment, folder)?;
    let (Some(path), Some(identity)) = (real.to_str(), folder_identity(&real)) else {
        return Err(Error::not_found(folder.to_string_lossy()));
    };
    edit_list(environment, |folders| {
        folders.retain(|entry| path_of(entry) != Some(path));
        let mut table = toml_edit::Table::new();
        table["path"] = toml_edit::value(path);
        if let Some(inode) = identity.inode {
            table["inode"] = toml_edit::value(inode);
        }
        if let Some(created) = identity.created_ns {
            table["created_ns"] = toml_edit::value(created);
        }
        folders.push(table);
        ListEdit::Changed
    })?;
    Ok(real)
}

/// Removes a folder from the user's trust list. Fails if it is not in the list. A folder that is gone or was replaced
/// can be removed too.
#[cfg(feature = "store")]
pub fn distrust_folder(environment: &Environment, folder: &Path) -> Result<PathBuf, Error> {
    let real = real_path(folder).unwrap_or_else(|| folder.to_owned());
    let list = environment.trusted_folders();
    if !list.is_some_and(|list| list.exists()) {
        return Err(Error::not_found(real.to_string_lossy()));
    }
    let change = edit_list(environment, |folders| {
        let before = folders.len();
        folders.retain(|entry| path_of(entry).map(Path::new) != Some(&real));
        if folders.len() < before {
            ListEdit::Changed
        } else {
            ListEdit::Unchanged
        }
    })?;
    match change {
        ListEdit::Changed => Ok(real),
        ListEdit::Unchanged => Err(Error::not_found(real.to_string_lossy())),
    }
}

/// Whether an edit changed the list.
#[cfg(feature = "store")]
#[derive(Clone, Copy, PartialEq, Eq)]
enum ListEdit {
    Changed,
    Unchanged,
}

#[cfg(feature = "store")]
fn path_of(table: &toml_edit::Table) -> Option<&str> {
    table.get("path")?.as_str()
}

/// The comment at the top of a new list.
#[cfg(feature = "store")]
const LIST_HEADER: &str = "\
# Folders whose projects are trusted: their skills are given to models.
# `skillfold trust` and `skillfold trust --remove` keep this list.

";

/// Edits the list in its file and leaves everything else there unchanged. Concurrent edits are not lost. Only the user
/// can access the file and its folder afterwards.
#[cfg(feature = "store")]
fn edit_list(
    environment: &Environment,
    act: impl FnOnce(&mut toml_edit::ArrayOfTables) -> ListEdit,
) -> Result<ListEdit, Error> {
    let file = environment
        .trusted_folders()
        .ok_or_else(|| Error::not_found("home"))?;
    let invalid = |why: &str| Error::invalid(file.to_string_lossy(), why.trim());
    // Entries that others added must not become the user's decisions.
    if file.exists() && other_writer(&file).is_some() {
        let rule = "It is another user's, or others may write it; make it yours alone with `chown` and `chmod go-w`, the \
                    folder and the file, and look at what is in it";
        return Err(Error::refused(file.to_string_lossy(), Refusal::Write, rule));
    }
    let target = WriteTarget::for_user(&file)?;
    let _lock = lock_state(environment.state_folder().as_deref())?;
    let old = target.read(MAX_SETTINGS_BYTES)?;
    let text = target.text(old.as_ref())?;
    let mut document: toml_edit::DocumentMut = text
        .unwrap_or_default()
        .parse()
        .map_err(|error: toml_edit::TomlError| invalid(error.message()))?;
    let folders = document
        .entry("folder")
        .or_insert_with(|| toml_edit::Item::ArrayOfTables(toml_edit::ArrayOfTables::new()));
    let Some(folders) = folders.as_array_of_tables_mut() else {
        return Err(invalid("`folder` is not a list of tables"));
    };
    if act(folders) == ListEdit::Unchanged {
        return Ok(ListEdit::Unchanged);
    }
    let header = if text.is_some() { "" } else { LIST_HEADER };
    let new = format!("{header}{document}");
    target.write(
        old.as_ref(),
        new.as_bytes(),
        skillfold_store::Access::Private,
    )?;
    Ok(ListEdit::Changed)
}
