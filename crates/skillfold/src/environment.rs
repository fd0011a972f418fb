//! What surrounds a host: folders, home, variables and the clock. The one place that asks the system for them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use skillfold_core::Error;

/// The prefix of the variables that are settings.
pub(crate) const PREFIX: &str = "SKILLFOLD_";

/// Names of variables that hosts know already, and the settings that they make.
const OTHER_NAMES: [(&str, &str); 3] = [
    ("SKILL_MATCHING_MODE", "matching"),
    ("SKILL_MAX_PER_REQUEST", "max_per_request"),
    ("SKILL_FALLBACK_MODE", "fallback"),
];

/// Names of variables that say where the system keeps what is the person's.
const FOLDER_NAMES: [&str; 7] = [
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "APPDATA",
    "LOCALAPPDATA",
    "CODEX_HOME",
    "CLAUDE_CONFIG_DIR",
];

/// The variable that names the person's settings file.
pub(crate) const SETTINGS_VARIABLE: &str = "SKILLFOLD_CONFIG";

/// The variable that has the token of an HTTP server. It is no setting: settings are shown.
pub(crate) const TOKEN_VARIABLE: &str = "SKILLFOLD_HTTP_TOKEN";

/// The variable that forbids to ask the system for the home where `HOME` is not set.
pub(crate) const HOME_VARIABLE: &str = "SKILLFOLD_NO_HOME_LOOKUP";

/// Bytes of a settings file that are read at most.
pub(crate) const SETTINGS_BYTES: u64 = 1024 * 1024;

/// Bytes of another program's configuration that are read at most: some keep more than settings in it.
#[cfg(feature = "setup")]
pub(crate) const CONFIGURATION_BYTES: u64 = 64 * 1024 * 1024;

/// What surrounds a host: the folder it works in, the person's home, and variables.
///
/// [`Environment::from_process`] asks the system. A server of many projects, and a test, say it themselves:
///
/// ```
/// use skillfold::Environment;
///
/// let environment = Environment::new("/srv/projects/app").home("/srv/people/ada").variable("SKILLFOLD_LINKS", "refuse");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    directory: PathBuf,
    home: Option<PathBuf>,
    is_home_looked_up: bool,
    variables: BTreeMap<String, String>,
}

impl Environment {
    /// Creates surroundings with a working folder, without a home and without variables.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            home: None,
            is_home_looked_up: false,
            variables: BTreeMap::new(),
        }
    }

    /// Asks the system for the home, the variables, and for the whole path of a folder that is relative to the one that
    /// the process works in.
    ///
    /// The home is in `HOME`, on Windows in `USERPROFILE`. Where that is not set it is what the system knows of the user,
    /// unless `SKILLFOLD_NO_HOME_LOOKUP` is set.
    pub fn from_process(directory: impl AsRef<Path>) -> Result<Self, Error> {
        let directory = directory.as_ref();
        let absolute = std::path::absolute(directory)
            .map_err(|error| Error::read(directory.to_string_lossy(), error))?;
        let variables = variables();
        let named = home_variable();
        let is_forbidden = |value: &String| !value.is_empty();
        let may_look_up = !variables.get(HOME_VARIABLE).is_some_and(is_forbidden);
        let home = match named {
            None if may_look_up => home(),
            ref named => named.clone(),
        };
        let home = home.filter(|home| home.is_absolute());
        Ok(Self {
            directory: through_links(absolute),
            is_home_looked_up: named.is_none() && home.is_some(),
            home: home.map(through_links),
            variables,
        })
    }

    /// Says where the person's home is.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self.is_home_looked_up = false;
        self
    }

    /// Says a variable, such as `SKILLFOLD_PRECEDENCE`.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Returns the folder that is worked in.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the person's home.
    pub fn home_dir(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Returns the person's home where no variable says it, and the system does.
    pub(crate) fn looked_up_home(&self) -> Option<&Path> {
        self.home_dir().filter(|_| self.is_home_looked_up)
    }

    /// Returns the variables that are settings, each with its key. Names that others gave come first: our own win.
    pub(crate) fn settings(&self) -> impl Iterator<Item = (&str, String, &str)> {
        let others = OTHER_NAMES.iter().filter_map(|(name, key)| {
            let value = self.variables.get(*name)?;
            Some((*name, (*key).to_owned(), value.as_str()))
        });
        let own = self.variables.iter().filter_map(|(name, value)| {
            let key = name.strip_prefix(PREFIX)?.to_ascii_lowercase();
            Some((name.as_str(), key, value.as_str()))
        });
        others.chain(own)
    }

    /// Returns where the person's settings are: `SKILLFOLD_CONFIG`, or the system's folder for settings.
    pub fn user_settings(&self) -> Option<PathBuf> {
        if let Some(written) = self.named_settings() {
            return Some(self.path(written, &self.directory));
        }
        let folder = if cfg!(windows) {
            self.folder_in("APPDATA")
        } else {
            self.folder_in("XDG_CONFIG_HOME")
        };
        let folder = folder.or_else(|| Some(self.home.as_ref()?.join(".config")))?;
        Some(folder.join("skillfold").join("config.toml"))
    }

    fn named_settings(&self) -> Option<&str> {
        let written = self.variables.get(SETTINGS_VARIABLE)?.trim();
        (!written.is_empty()).then_some(written)
    }

    /// Returns the token that clients of an HTTP server have to show, where `SKILLFOLD_HTTP_TOKEN` has one.
    pub fn http_token(&self) -> Option<&str> {
        let token = self.variables.get(TOKEN_VARIABLE)?;
        (!token.is_empty()).then_some(token)
    }

    /// Returns whether a variable says where the person's settings are.
    pub(crate) fn names_settings(&self) -> bool {
        self.named_settings().is_some()
    }

    /// Returns where the person's list of trusted folders is: in the system's folder for state.
    pub fn trusted_folders(&self) -> Option<PathBuf> {
        Some(self.state()?.join("trusted.toml"))
    }

    /// Returns the folder for what the program remembers for the person.
    pub(crate) fn state(&self) -> Option<PathBuf> {
        let folder = if cfg!(windows) {
            self.folder_in("LOCALAPPDATA")
        } else {
            self.folder_in("XDG_STATE_HOME")
        };
        let folder = folder.or_else(|| Some(self.home.as_ref()?.join(".local").join("state")))?;
        Some(folder.join("skillfold"))
    }

    /// Returns the person's folder for what can be made again: in the system's folder for caches. A host that wants it
    /// used says so by `Host::cache`.
    pub fn cache_folder(&self) -> Option<PathBuf> {
        if cfg!(windows) {
            return Some(
                self.folder_in("LOCALAPPDATA")?
                    .join("skillfold")
                    .join("cache"),
            );
        }
        let folder = self.folder_in("XDG_CACHE_HOME");
        let folder = folder.or_else(|| Some(self.home.as_ref()?.join(".cache")))?;
        Some(folder.join("skillfold"))
    }

    /// Returns where the project's settings are.
    pub fn project_settings(&self) -> PathBuf {
        self.project().join(".skillfold").join("config.toml")
    }

    /// Returns the project's folder: the nearest one from the working folder up that holds `.git`, or else the working
    /// folder itself.
    pub fn project(&self) -> &Path {
        let mut folders = self.directory.ancestors();
        folders
            .find(|folder| is_there(&folder.join(".git")))
            .unwrap_or(&self.directory)
    }

    /// Returns the path from the project's folder to what a path names in it, if it does so without `..`.
    pub(crate) fn below_project<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let inside = path.strip_prefix(self.project()).ok()?;
        let is_name = |component| matches!(component, Component::Normal(_));
        inside.components().all(is_name).then_some(inside)
    }

    /// Returns the folders from the working one up to the project's, without the person's home: what is there is the
    /// person's and not the project's.
    pub(crate) fn project_folders(&self) -> Vec<&Path> {
        let project = self.project();
        let folders = self.directory.ancestors();
        folders
            .take_while(|folder| folder.starts_with(project))
            .filter(|folder| Some(*folder) != self.home.as_deref())
            .collect()
    }

    /// Returns a path that a person wrote: `~` is their home, and a relative one starts at `base`.
    pub(crate) fn path(&self, written: &str, base: &Path) -> PathBuf {
        let from_home = written
            .strip_prefix('~')
            .filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\']));
        match (from_home, &self.home) {
            (Some(rest), Some(home)) => home.join(rest.trim_start_matches(['/', '\\'])),
            // Components, so that `.` is gone.
            _ => base.join(written).components().collect(),
        }
    }

    /// Returns a path as it is shown to the person: from the project or from home, whichever is nearer, or whole.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let inside = |base: &Path| Some(slashes(path.strip_prefix(base).ok()?));
        let home = self.home.as_deref().filter(|home| path.starts_with(home));
        let project = Some(self.project()).filter(|project| path.starts_with(project));
        match (home, project) {
            (Some(home), project)
                if project.is_none_or(|project| home.starts_with(project) && home != project) =>
            {
                let inside = inside(home).unwrap_or_default();
                format!("~/{inside}").trim_end_matches('/').to_owned()
            }
            (_, Some(project)) if path != project => match inside(project).unwrap_or_default() {
                // A folder of the project must not read as one of the person's.
                inside if inside.starts_with('~') => format!("./{inside}"),
                inside => inside,
            },
            _ => slashes(path),
        }
    }

    /// Returns the folder that a variable names.
    pub(crate) fn folder_in(&self, variable: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.variables.get(variable)?);
        path.is_absolute().then_some(path)
    }
}

/// Returns a path with `/`, as ids and labels have it.
fn slashes(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) {
        text.replace('\\', "/")
    } else {
        text.into_owned()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the file that reads the environment"
)]
fn variables() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            let is_wanted = name.starts_with(PREFIX)
                || OTHER_NAMES.iter().any(|(other, _)| name == *other)
                || FOLDER_NAMES.contains(&&*name);
            // A value that is no text is passed on as well as it can be, so that it is reported and not ignored.
            is_wanted.then(|| (name, value.to_string_lossy().into_owned()))
        })
        .collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the file that reads the home"
)]
fn home() -> Option<PathBuf> {
    std::env::home_dir()
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the file that reads the home"
)]
fn home_variable() -> Option<PathBuf> {
    let name = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let home = std::env::var_os(name).filter(|home| !home.is_empty())?;
    Some(home.into())
}

/// Returns the path of the program that runs, as a person would start it: where the search for programs finds it, if that is
/// the same file. Such a path outlives an update that puts a new version beside the old one.
#[cfg(feature = "setup")]
#[expect(
    clippy::disallowed_methods,
    reason = "this is the file that reads the environment"
)]
pub fn program() -> Result<PathBuf, Error> {
    let running = std::env::current_exe().map_err(|error| Error::read("program", error))?;
    let real = resolved(&running);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(running.file_name().unwrap_or_default()))
        .find(|path| path.is_file());
    Ok(found
        .filter(|found| resolved(found) == real)
        .unwrap_or(running))
}

/// Returns where a folder really is, so that a project and a home are told apart however they were reached. Windows
/// writes such paths in a form that other programs do not take.
fn through_links(path: PathBuf) -> PathBuf {
    if cfg!(windows) {
        return path;
    }
    resolved(&path).unwrap_or(path)
}

/// Returns the time in nanoseconds since 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the file that reads the clock"
)]
pub(crate) fn now_ns() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    })
}

thread_local! {
    /// What could not be looked at just now, since somebody asked.
    static FAULT: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// Does something that looks around, and returns what could not be looked at meanwhile for a reason that may pass. Each
/// look takes what it cannot see for absent; whoever would lose something by that has to know.
pub(crate) fn noting_faults<T>(act: impl FnOnce() -> T) -> (T, Option<Error>) {
    FAULT.take();
    let done = act();
    (done, FAULT.take())
}

/// Notes what could not be looked at, if the reason may pass.
fn noted<T>(path: &Path, looked: io::Result<T>) -> io::Result<T> {
    looked.inspect_err(|error| {
        let again = match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => error.kind().into(),
        };
        let fault = Error::read(path.to_string_lossy(), again);
        if fault.is_transient() {
            FAULT.replace(Some(fault));
        }
    })
}

/// Returns whether something is at a path.
pub(crate) fn is_there(path: &Path) -> bool {
    noted(path, path.try_exists()).unwrap_or(false)
}

/// Returns the text of a settings file, if it is there.
pub(crate) fn read_settings(path: &Path) -> io::Result<Option<String>> {
    noted(path, read_text(path))
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the file that reads settings"
)]
fn read_text(path: &Path) -> io::Result<Option<String>> {
    let size = match std::fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if size > SETTINGS_BYTES {
        let message = format!("larger than {} MiB", SETTINGS_BYTES / 1024 / 1024);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    std::fs::read_to_string(path).map(Some)
}

/// Returns who else than the person may write a file of theirs, or the folder that it is in. An administrator may.
#[cfg(unix)]
pub(crate) fn other_writer(file: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;

    let own = rustix::process::geteuid().as_raw();
    for path in [file.parent()?, file] {
        let metadata = std::fs::metadata(path).ok()?;
        let what = if metadata.is_dir() { "folder" } else { "file" };
        if ![own, 0].contains(&metadata.uid()) {
            let owner = metadata.uid();
            return Some(format!(
                "the {what} belongs to another user ({owner}), and not to you ({own})"
            ));
        }
        if metadata.mode() & 0o022 != 0 {
            let mode = metadata.mode() & 0o7777;
            return Some(format!("others may write the {what} (mode {mode:04o})"));
        }
    }
    None
}

/// Returns nothing: other systems keep what is the person's for the person.
#[cfg(not(unix))]
pub(crate) fn other_writer(_: &Path) -> Option<String> {
    None
}

/// Returns where a path leads, through links, if it is there.
#[expect(
    clippy::disallowed_methods,
    reason = "two paths are compared to say whose they are; nothing is opened by the answer"
)]
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    noted(path, std::fs::canonicalize(path))
}

/// The same, where it does not matter why it leads nowhere.
pub(crate) fn resolved(path: &Path) -> Option<PathBuf> {
    resolve(path).ok()
}

/// What tells a folder from another one that is put in its place later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FolderIdentity {
    pub(crate) inode: Option<i64>,
    pub(crate) created_ns: Option<i64>,
}

impl FolderIdentity {
    /// Returns whether two are those of one folder, as far as both are known.
    pub(crate) fn agrees(self, other: Self) -> bool {
        let agrees = |one: Option<i64>, other: Option<i64>| {
            one.zip(other).is_none_or(|(one, other)| one == other)
        };
        agrees(self.inode, other.inode) && agrees(self.created_ns, other.created_ns)
    }
}

/// Returns what tells a folder from others, if there is a folder.
pub(crate) fn identity(folder: &Path) -> Option<FolderIdentity> {
    let metadata = noted(folder, std::fs::metadata(folder)).ok()?;
    if !metadata.is_dir() {
        return None;
    }
    #[cfg(unix)]
    let inode = i64::try_from(std::os::unix::fs::MetadataExt::ino(&metadata)).ok();
    #[cfg(not(unix))]
    let inode = None;
    let created = metadata.created().ok();
    let since = created.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let created_ns = since.and_then(|since| i64::try_from(since.as_nanos()).ok());
    Some(FolderIdentity { inode, created_ns })
}

/// Returns the names of the folders in a folder, and whether each is a link, which may lead to one. What vanishes meanwhile
/// is left out.
#[cfg(feature = "watch")]
#[expect(
    clippy::disallowed_methods,
    reason = "folders are listed to be watched; nothing is opened by the answer"
)]
pub(crate) fn subfolders(folder: &Path) -> io::Result<Vec<(std::ffi::OsString, bool)>> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if let Ok(kind) = entry.file_type()
            && (kind.is_dir() || kind.is_symlink())
        {
            folders.push((entry.file_name(), kind.is_symlink()));
        }
    }
    Ok(folders)
}
