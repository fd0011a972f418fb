//! What makes a project trusted: a word for one run, the setting `trusted`, or the list that `skillfold trust` keeps.
//!
//! The list is a file in the person's state. A folder in it stands with its path and, where the system tells, with what
//! tells it from another folder that is put in its place: a folder that was replaced is not trusted by accident. A list
//! that is another user's, or that others may write, trusts nothing. An entry
//! with a key that this version does not know trusts nothing: a later version may have narrowed it.

use std::path::{Path, PathBuf};
use std::{fmt, io};

#[cfg(feature = "store")]
use skillfold_core::Error;
use skillfold_core::{Code, Diagnostic, visible};
use toml::Spanned;

#[cfg(feature = "store")]
use crate::environment::SETTINGS_BYTES;
use crate::environment::{
    Environment, FolderIdentity, identity, other_writer, read_settings, resolved,
};
use crate::settings::{Origin, SettingFinding, Settings};
#[cfg(feature = "store")]
use crate::writable::{Writable, lock};

/// Folders that a list may have: it is written by a person, one by one.
const FOLDERS: usize = 10_000;

/// The rule by which the person trusts a project.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustRule {
    /// The setting `trust_project`, which trusts whatever project is worked in.
    Project(Origin),
    /// A folder in the setting `trusted`.
    Setting(PathBuf, Origin),
    /// A folder in the list that `skillfold trust` keeps.
    List(PathBuf),
}

impl TrustRule {
    /// Returns why the project is trusted, if it is. A folder in the list that was replaced trusts nothing, and is reported
    /// in the list's findings.
    pub(crate) fn of(
        environment: &Environment,
        settings: &Settings,
        trusted: &mut TrustedFolders,
    ) -> Option<Self> {
        if settings.trust_project.value {
            return Some(Self::Project(settings.trust_project.origin.clone()));
        }
        let project = resolved(environment.project())?;
        let holds = |folder: &Path| {
            let folder = resolved(folder);
            folder.is_some_and(|folder| project.starts_with(folder))
        };
        let mut named = settings.trusted.iter();
        if let Some(setting) = named.find(|setting| holds(&setting.value)) {
            let origin = setting.origin.clone();
            return Some(Self::Setting(setting.value.clone(), origin));
        }
        trusted.rule(&project)
    }
}

impl fmt::Display for TrustRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |path: &Path| visible(&path.to_string_lossy()).into_owned();
        match self {
            Self::Project(origin) => write!(formatter, "`trust_project` ({origin})"),
            Self::Setting(path, origin) => {
                write!(formatter, "`trusted`: {} ({origin})", shown(path))
            }
            Self::List(path) => write!(formatter, "`skillfold trust`: {}", shown(path)),
        }
    }
}

/// A folder that the person trusted, with the projects in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedFolder {
    path: PathBuf,
    identity: FolderIdentity,
    origin: Origin,
}

impl TrustedFolder {
    /// Returns its path, through links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Looks whether it is still the folder that was trusted.
    pub fn state(&self) -> TrustedState {
        match identity(&self.path) {
            None => TrustedState::Gone,
            Some(now) if now.agrees(self.identity) => TrustedState::Trusted,
            Some(_) => TrustedState::Replaced,
        }
    }
}

/// What became of a folder that was trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustedState {
    /// It is there.
    Trusted,
    /// Another folder is in its place, which is not trusted.
    Replaced,
    /// It is not there.
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

/// The list of folders that the person trusted with `skillfold trust`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrustedFolders {
    /// Where the list is; nowhere without a home.
    pub file: Option<PathBuf>,
    /// The folders, in the order in which they were trusted.
    pub folders: Vec<TrustedFolder>,
    /// What is wrong with the list, or with a folder of it that matters here.
    pub findings: Vec<SettingFinding>,
    /// The text of the file when it was read.
    text: Option<Result<String, String>>,
}

/// How a folder stands in the file.
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

/// Returns the text of the list if it is there, or why it is not used.
fn read_list(file: &Path) -> io::Result<Option<Result<String, String>>> {
    let text = read_settings(file)?;
    Ok(text.map(|text| other_writer(file).map_or(Ok(text), Err)))
}

impl TrustedFolders {
    /// Reads the list. What cannot be understood trusts nothing, and is in the findings.
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
                trusted.not_understood(&file, 1, &error.to_string());
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
        let line = |at: usize| {
            let ends = text.bytes().take(at).filter(|byte| *byte == b'\n');
            u32::try_from(ends.count() + 1).unwrap_or(u32::MAX)
        };
        let list: TrustList = match toml::from_str(&text) {
            Ok(list) => list,
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                trusted.not_understood(&file, line(at), error.message());
                return trusted;
            }
        };
        if list.folder.len() > FOLDERS {
            let why = format!("it has more than {FOLDERS} folders, and the others are left out");
            trusted.not_understood(&file, 1, &why);
        }
        for one in list.folder.into_iter().take(FOLDERS) {
            let line = line(one.span().start);
            match one.into_inner().try_into::<TrustRecord>() {
                Ok(written) if written.path.is_absolute() => trusted.folders.push(TrustedFolder {
                    path: written.path,
                    identity: FolderIdentity {
                        inode: written.inode,
                        created_ns: written.created_ns,
                    },
                    origin: Origin::TrustList(file.clone(), line),
                }),
                Ok(_) => trusted.not_understood(&file, line, "its path is not whole"),
                Err(error) => trusted.not_understood(&file, line, error.message()),
            }
        }
        trusted
    }

    /// Returns whether the file still says what was read. One that cannot be read any more says nothing.
    pub(crate) fn is_unchanged(&self) -> bool {
        let read = |file: &PathBuf| read_list(file).ok().flatten();
        self.file.as_ref().and_then(read) == self.text
    }

    fn not_understood(&mut self, file: &Path, line: u32, why: &str) {
        let message = format!(
            "List of trusted folders is not understood here: {}",
            visible(why.trim())
        );
        self.findings.push(SettingFinding {
            origin: Origin::TrustList(file.to_owned(), line),
            diagnostic: Diagnostic::new(Code::TrustUnreadable, None, message),
        });
    }

    /// Returns the rule for a project, by its path through links. A folder that was replaced is reported where no other one
    /// trusts the project.
    fn rule(&mut self, project: &Path) -> Option<TrustRule> {
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

    /// Returns whether the list trusts a folder, itself or by one above it.
    pub fn trusts(&self, folder: &Path) -> Option<&TrustedFolder> {
        let real = resolved(folder)?;
        let mut folders = self.folders.iter();
        folders.find(|one| real.starts_with(&one.path) && one.state() == TrustedState::Trusted)
    }
}

/// Returns the path of a folder through links, if it can be trusted.
///
/// The person's home, and what it lies in, is refused: everything would be trusted. So is what is no folder, and a path
/// that is not UTF-8.
#[cfg(feature = "store")]
pub fn trustable_folder(environment: &Environment, folder: &Path) -> Result<PathBuf, Error> {
    let refused = |rule| Err(Error::refused_trust(folder.to_string_lossy(), rule));
    let Some(real) = resolved(folder) else {
        return Err(Error::not_found(folder.to_string_lossy()));
    };
    let home = environment.home_dir().and_then(resolved);
    if home.is_some_and(|home| home.starts_with(&real)) || real.parent().is_none() {
        return refused(
            "Your home is in it, and so is everything of yours; name a project, or a folder of projects",
        );
    }
    if identity(&real).is_none() {
        return refused("Only a folder can be trusted");
    }
    if real.to_str().is_none() {
        return refused("Its path is not UTF-8 and cannot be written down");
    }
    Ok(real)
}

/// Puts a folder that can be trusted into the person's list, and returns its path through links. The projects in it are
/// trusted from then on.
#[cfg(feature = "store")]
pub fn trust_folder(environment: &Environment, folder: &Path) -> Result<PathBuf, Error> {
    let real = trustable_folder(environment, folder)?;
    let (Some(path), Some(identity)) = (real.to_str(), identity(&real)) else {
        return Err(Error::not_found(folder.to_string_lossy()));
    };
    change(environment, |folders| {
        folders.retain(|one| path_of(one) != Some(path));
        let mut table = toml_edit::Table::new();
        table["path"] = toml_edit::value(path);
        if let Some(inode) = identity.inode {
            table["inode"] = toml_edit::value(inode);
        }
        if let Some(created) = identity.created_ns {
            table["created_ns"] = toml_edit::value(created);
        }
        folders.push(table);
        Change::Made
    })?;
    Ok(real)
}

/// Takes a folder out of the person's list. One that the list does not have is not found; a folder that is gone or was
/// replaced can be taken out too.
#[cfg(feature = "store")]
pub fn distrust_folder(environment: &Environment, folder: &Path) -> Result<PathBuf, Error> {
    let real = resolved(folder).unwrap_or_else(|| folder.to_owned());
    let list = environment.trusted_folders();
    if !list.is_some_and(|list| list.exists()) {
        return Err(Error::not_found(real.to_string_lossy()));
    }
    let change = change(environment, |folders| {
        let before = folders.len();
        folders.retain(|one| path_of(one).map(Path::new) != Some(&real));
        if folders.len() < before {
            Change::Made
        } else {
            Change::None
        }
    })?;
    match change {
        Change::Made => Ok(real),
        Change::None => Err(Error::not_found(real.to_string_lossy())),
    }
}

/// Whether there is anything to write.
#[cfg(feature = "store")]
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Made,
    None,
}

#[cfg(feature = "store")]
fn path_of(table: &toml_edit::Table) -> Option<&str> {
    table.get("path")?.as_str()
}

/// What stands at the top of a list that is made.
#[cfg(feature = "store")]
const HEAD: &str = "\
# Folders whose projects are trusted: their skills are given to models.
# `skillfold trust` and `skillfold trust --remove` keep this list.

";

/// Changes the list in its file, and leaves everything else there as it is. Of two changes at once none is lost. The file
/// and its folder are the person's alone afterwards.
#[cfg(feature = "store")]
fn change(
    environment: &Environment,
    act: impl FnOnce(&mut toml_edit::ArrayOfTables) -> Change,
) -> Result<Change, Error> {
    let file = environment
        .trusted_folders()
        .ok_or_else(|| Error::not_found("home"))?;
    let invalid = |why: &str| Error::invalid(file.to_string_lossy(), why.trim());
    // What others put there must not become the person's word.
    if file.exists() && other_writer(&file).is_some() {
        let rule = "It is another user's, or others may write it; make it yours alone with `chown` and `chmod go-w`, the \
                    folder and the file, and look at what is in it";
        return Err(Error::refused_write(file.to_string_lossy(), rule));
    }
    let writable = Writable::of_person(&file)?;
    let _lock = lock(environment)?;
    let old = writable.read(SETTINGS_BYTES)?;
    let text = writable.text(old.as_ref())?;
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
    if act(folders) == Change::None {
        return Ok(Change::None);
    }
    let head = if text.is_some() { "" } else { HEAD };
    let new = format!("{head}{document}");
    writable.write(
        old.as_ref(),
        new.as_bytes(),
        skillfold_store::Access::Private,
    )?;
    Ok(Change::Made)
}
