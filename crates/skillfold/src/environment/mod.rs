//! The host's environment: folders, home, variables and the clock. The only module that reads them from the system.

mod owners;

mod folders;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use skillfold_core::Error;

pub(crate) use self::owners::other_writer;
#[cfg(feature = "registry")]
pub(crate) use self::owners::writer_besides_root;

/// The prefix of environment variables that are settings.
pub(crate) const SETTING_PREFIX: &str = "SKILLFOLD_";

/// The prefix of environment variables with a token for a host: `SKILLFOLD_TOKEN_GITHUB_COM`.
pub(crate) const TOKEN_PREFIX: &str = "SKILLFOLD_TOKEN_";

/// Variables with names of other programs, each with the setting that it sets.
const SETTING_ALIASES: [(&str, &str); 4] = [
    ("ENABLE_SENSITIVE_DATA", "log_content"),
    ("SKILL_MATCHING_MODE", "matching"),
    ("SKILL_MAX_PER_REQUEST", "max_per_request"),
    ("SKILL_FALLBACK_MODE", "fallback"),
];

/// The variables that clients set for hooks and servers.
const CLIENT_VARIABLES: [&str; 7] = [
    "CLAUDE_CODE_SESSION_ID",
    "COPILOT_CLI",
    "CURSOR_VERSION",
    "DEVIN_PROJECT_DIR",
    "GEMINI_SESSION_ID",
    "LOG_LEVEL",
    "QWEN_PROJECT_DIR",
];

/// Variables that name the user's editor, in the order in which they are asked.
const EDITOR_VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];

/// Variables that name the user, in the order in which they are asked.
const USER_VARIABLES: [&str; 3] = ["USER", "LOGNAME", "USERNAME"];

/// Variables that name the user's folders for configuration, state and caches.
const FOLDER_VARIABLES: [&str; 9] = [
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "APPDATA",
    "LOCALAPPDATA",
    "CODEX_HOME",
    "CLAUDE_CONFIG_DIR",
    "COPILOT_HOME",
];

/// The variable that names the user's settings file.
pub(crate) const SETTINGS_VARIABLE: &str = "SKILLFOLD_CONFIG";

/// The variable that holds the token of an HTTP server. It is not a setting, because settings are printed.
pub(crate) const TOKEN_VARIABLE: &str = "SKILLFOLD_HTTP_TOKEN";

/// The variable that forbids asking the system for the home directory if `HOME` is not set.
pub(crate) const NO_HOME_LOOKUP_VARIABLE: &str = "SKILLFOLD_NO_HOME_LOOKUP";

/// Maximum size of a settings file.
pub(crate) const MAX_SETTINGS_BYTES: u64 = 1024 * 1024;

/// The environment of a host: its working folder, the user's home, and environment variables.
///
/// [`Environment::from_process`] reads it from the process. Servers of many projects, and tests, build their own:
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
    is_home_from_system: bool,
    variables: BTreeMap<String, String>,
    /// The folder of the machine's policy, if it is not the fixed one.
    #[cfg(feature = "registry")]
    machine: Option<PathBuf>,
    /// Whether it was read from the process.
    is_process: bool,
}

impl Environment {
    /// Creates an environment with a working folder, no home and no variables.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            home: None,
            is_home_from_system: false,
            variables: BTreeMap::new(),
            #[cfg(feature = "registry")]
            machine: None,
            is_process: false,
        }
    }

    /// Reads the home and the variables of the process. A relative `directory` starts at the working directory of the
    /// process.
    ///
    /// The home is `HOME`, or `USERPROFILE` on Windows. If that is not set, the system's user database is asked, unless
    /// `SKILLFOLD_NO_HOME_LOOKUP` is set.
    pub fn from_process(directory: impl AsRef<Path>) -> Result<Self, Error> {
        let directory = directory.as_ref();
        let absolute = std::path::absolute(directory)
            .map_err(|error| Error::read(directory.to_string_lossy(), error))?;
        let variables = process_variables();
        let named = home_variable();
        let is_forbidden = |value: &String| !value.is_empty();
        let may_look_up = !variables
            .get(NO_HOME_LOOKUP_VARIABLE)
            .is_some_and(is_forbidden);
        let home = match named {
            None if may_look_up => system_home(),
            ref named => named.clone(),
        };
        let home = home.filter(|home| home.is_absolute());
        Ok(Self {
            directory: follow_links(absolute),
            is_home_from_system: named.is_none() && home.is_some(),
            home: home.map(follow_links),
            variables,
            #[cfg(feature = "registry")]
            machine: None,
            is_process: true,
        })
    }

    /// Sets the user's home.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self.is_home_from_system = false;
        self
    }

    /// Sets an environment variable, such as `SKILLFOLD_PRECEDENCE`.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Sets the folder of the machine's policy. Without it, that is a fixed one that only an administrator can write:
    /// `/etc/skillfold`, `/Library/Application Support/skillfold` or `C:\ProgramData\skillfold`.
    #[cfg(feature = "registry")]
    #[must_use]
    pub fn machine_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.machine = Some(folder.into());
        self
    }

    /// Returns the working folder.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the user's home.
    pub fn home_dir(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Returns the user's home if it came from the system and not from a variable.
    pub(crate) fn home_from_system(&self) -> Option<&Path> {
        self.home_dir().filter(|_| self.is_home_from_system)
    }

    /// Returns the variables that are settings as (variable, key, value). Aliases come first, so that our own names
    /// override them.
    pub(crate) fn setting_variables(&self) -> impl Iterator<Item = (&str, String, &str)> {
        let aliases = SETTING_ALIASES.iter().filter_map(|(name, key)| {
            let value = self.variables.get(*name)?;
            Some((*name, (*key).to_owned(), value.as_str()))
        });
        let own = self.variables.iter().filter_map(|(name, value)| {
            if name.starts_with(TOKEN_PREFIX) {
                return None;
            }
            let key = name.strip_prefix(SETTING_PREFIX)?.to_ascii_lowercase();
            Some((name.as_str(), key, value.as_str()))
        });
        aliases.chain(own)
    }

    /// The settings file named by the variable; blank text counts as unset.
    fn settings_variable(&self) -> Option<&str> {
        let path = self.variables.get(SETTINGS_VARIABLE)?.trim();
        (!path.is_empty()).then_some(path)
    }

    /// Returns the token that clients of an HTTP server must present, from `SKILLFOLD_HTTP_TOKEN`.
    pub fn http_token(&self) -> Option<&str> {
        let token = self.variables.get(TOKEN_VARIABLE)?;
        (!token.is_empty()).then_some(token)
    }

    /// Returns whether a variable names the user's settings file.
    pub(crate) fn has_settings_variable(&self) -> bool {
        self.settings_variable().is_some()
    }

    /// Returns the path of the user's trust list, in the system's state folder.
    pub fn trusted_folders(&self) -> Option<PathBuf> {
        Some(self.state_folder()?.join("trusted.toml"))
    }

    /// Returns the same environment with another working folder.
    pub(crate) fn at(&self, directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            ..self.clone()
        }
    }

    /// Returns the path of the user's list of skills that may run, in the system's state folder.
    pub fn allowed_skills(&self) -> Option<PathBuf> {
        Some(self.state_folder()?.join("allowed.toml"))
    }

    /// Returns the variables whose name has a prefix, without it.
    #[cfg(feature = "registry")]
    pub(crate) fn variables_with(&self, prefix: &str) -> impl Iterator<Item = (String, String)> {
        let variables = self.variables.iter();
        variables.filter_map(move |(name, value)| {
            let name = name.strip_prefix(prefix)?;
            Some((name.to_owned(), value.clone()))
        })
    }

    /// Returns a variable for a script to which the user granted it, or for the programs that fetch skills: one that was set
    /// here, or one of the process that the environment was read from.
    #[cfg(any(feature = "registry", feature = "run"))]
    #[expect(
        clippy::disallowed_methods,
        reason = "this module reads the environment"
    )]
    pub(crate) fn granted_variable(&self, name: &str) -> Option<String> {
        let set = self.variables.get(name).cloned();
        set.or_else(|| std::env::var(name).ok().filter(|_| self.is_process))
    }

    /// Returns the path of the user's list of trusted skills, in the system's state folder.
    pub fn trusted_skill_list(&self) -> Option<PathBuf> {
        Some(self.state_folder()?.join("trusted_skills.toml"))
    }

    /// Returns the path of the project's settings file.
    pub fn project_settings(&self) -> PathBuf {
        self.project().join(".skillfold").join("config.toml")
    }

    /// Returns the project's folder: the nearest ancestor of the working folder that contains `.git`, or the working
    /// folder itself.
    pub fn project(&self) -> &Path {
        let mut folders = self.directory.ancestors();
        folders
            .find(|folder| exists(&folder.join(".git")))
            .unwrap_or(&self.directory)
    }

    /// Returns a path relative to the project's folder, if it is inside it and has no `..`.
    pub(crate) fn relative_to_project<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let inside = path.strip_prefix(self.project()).ok()?;
        let is_name = |component| matches!(component, Component::Normal(_));
        inside.components().all(is_name).then_some(inside)
    }

    /// Returns the folders from the working folder up to the project's, without the user's home: what is there belongs
    /// to the user and not to the project.
    pub(crate) fn project_folders(&self) -> Vec<&Path> {
        let project = self.project();
        let folders = self.directory.ancestors();
        folders
            .take_while(|folder| folder.starts_with(project))
            .filter(|folder| Some(*folder) != self.home.as_deref())
            .collect()
    }

    /// Expands a path from user input: `~` is the home, and a relative path starts at `base`.
    pub(crate) fn expand_path(&self, text: &str, base: &Path) -> PathBuf {
        let from_home = text
            .strip_prefix('~')
            .filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\']));
        match (from_home, &self.home) {
            (Some(rest), Some(home)) => home.join(rest.trim_start_matches(['/', '\\'])),
            // Collecting the components drops `.`.
            _ => base.join(text).components().collect(),
        }
    }

    /// Returns a path for display: relative to the project or to the home, whichever is nearer, otherwise absolute.
    pub(crate) fn display_path(&self, path: &Path) -> String {
        let inside = |base: &Path| Some(with_slashes(path.strip_prefix(base).ok()?));
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
                // A project folder named `~` must not look like the user's home.
                inside if inside.starts_with('~') => format!("./{inside}"),
                inside => inside,
            },
            _ => with_slashes(path),
        }
    }

    /// Returns a variable that a client sets for the programs it starts, unless it is empty.
    pub fn client_variable(&self, variable: &str) -> Option<&str> {
        let is_known = CLIENT_VARIABLES.contains(&variable);
        let value = self.variables.get(variable).filter(|_| is_known);
        value.map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns the name of the user, from `USER`, `LOGNAME` or `USERNAME`.
    pub fn user_name(&self) -> Option<&str> {
        self.first_variable(&USER_VARIABLES)
    }

    /// Returns the command of the user's editor, from `VISUAL` or `EDITOR`.
    pub fn editor(&self) -> Option<&str> {
        self.first_variable(&EDITOR_VARIABLES)
    }

    fn first_variable(&self, names: &[&str]) -> Option<&str> {
        let mut values = names.iter().filter_map(|name| self.variables.get(*name));
        let value = values.find(|value| !value.trim().is_empty())?;
        Some(value.trim())
    }

    /// Returns the path of the running program as a user would start it: where `PATH` finds it, if that is the same file.
    /// Such a path survives an update that installs a new version next to the old one.
    pub fn program() -> Result<PathBuf, Error> {
        let running = running_program()?;
        let real = real_path(&running);
        let found = Self::programs_on_path()?.into_iter().next();
        Ok(found
            .filter(|found| real_path(found) == real)
            .unwrap_or(running))
    }

    /// Returns the path of the running program with links resolved, except on Windows.
    pub fn real_program() -> Result<PathBuf, Error> {
        running_program().map(follow_links)
    }

    /// Returns the files on `PATH` with the name of the running program, in its order.
    #[expect(
        clippy::disallowed_methods,
        reason = "this module reads the environment"
    )]
    pub fn programs_on_path() -> Result<Vec<PathBuf>, Error> {
        let running = running_program()?;
        let folders = std::env::var_os("PATH").unwrap_or_default();
        Ok(std::env::split_paths(&folders)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(running.file_name().unwrap_or_default()))
            .filter(|path| path.is_file())
            .collect())
    }
}

fn running_program() -> Result<PathBuf, Error> {
    std::env::current_exe().map_err(|error| Error::read("program", error))
}

/// Returns a path with `/` as its separator, as in ids and labels.
fn with_slashes(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) {
        text.replace('\\', "/")
    } else {
        text.into_owned()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this module reads the environment"
)]
fn process_variables() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            let is_known = name.starts_with(SETTING_PREFIX)
                || SETTING_ALIASES.iter().any(|(other, _)| name == *other)
                || FOLDER_VARIABLES.contains(&&*name)
                || CLIENT_VARIABLES.contains(&&*name)
                || EDITOR_VARIABLES.contains(&&*name)
                || USER_VARIABLES.contains(&&*name);
            // A value that is not UTF-8 is kept lossily, so that it is reported as invalid and not ignored.
            is_known.then(|| (name, value.to_string_lossy().into_owned()))
        })
        .collect()
}

#[expect(clippy::disallowed_methods, reason = "this module reads the home")]
fn system_home() -> Option<PathBuf> {
    std::env::home_dir()
}

#[expect(clippy::disallowed_methods, reason = "this module reads the home")]
fn home_variable() -> Option<PathBuf> {
    let name = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let home = std::env::var_os(name).filter(|home| !home.is_empty())?;
    Some(home.into())
}

/// Resolves links, so that project and home can be compared however they were reached. Not on Windows, where resolved
/// paths have a form that other programs do not accept.
fn follow_links(path: PathBuf) -> PathBuf {
    if cfg!(windows) {
        return path;
    }
    real_path(&path).unwrap_or(path)
}

/// Returns the time.
#[expect(clippy::disallowed_methods, reason = "this module reads the clock")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

thread_local! {
    /// The last transient I/O error on this thread since [`capture_fault`] began.
    static FAULT: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// Calls `f`, and also returns the last transient I/O error in it. The functions below treat what they cannot read as
/// absent; a caller that would lose something by that must know.
pub(crate) fn capture_fault<T>(f: impl FnOnce() -> T) -> (T, Option<Error>) {
    FAULT.take();
    let value = f();
    (value, FAULT.take())
}

/// Records an error for [`capture_fault`] if it is transient, and passes the result through.
fn record_fault<T>(path: &Path, result: io::Result<T>) -> io::Result<T> {
    result.inspect_err(|error| {
        // `io::Error` is not `Clone`.
        let copy = match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => error.kind().into(),
        };
        let fault = Error::read(path.to_string_lossy(), copy);
        if fault.is_transient() {
            FAULT.replace(Some(fault));
        }
    })
}

/// Returns whether a path exists.
pub(crate) fn exists(path: &Path) -> bool {
    record_fault(path, path.try_exists()).unwrap_or(false)
}

/// Returns the text of a settings file, or `None` if it does not exist.
pub(crate) fn read_settings(path: &Path) -> io::Result<Option<String>> {
    read_user_file(path, MAX_SETTINGS_BYTES)
}

/// Returns the text of a file of the user, or `None` if it does not exist. A file with more bytes is an error.
pub(crate) fn read_user_file(path: &Path, max_bytes: u64) -> io::Result<Option<String>> {
    record_fault(path, read_text(path, max_bytes))
}

#[expect(clippy::disallowed_methods, reason = "this module reads settings")]
fn read_text(path: &Path, max_bytes: u64) -> io::Result<Option<String>> {
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
    if size > max_bytes {
        let message = format!("larger than {} MiB", max_bytes / 1024 / 1024);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    std::fs::read_to_string(path).map(Some)
}

/// Returns a path with all links resolved.
#[expect(
    clippy::disallowed_methods,
    reason = "resolves paths to compare them; opens no file"
)]
pub(crate) fn try_real_path(path: &Path) -> io::Result<PathBuf> {
    record_fault(path, std::fs::canonicalize(path))
}

/// Returns a path with all links resolved, or `None` if that fails for whatever reason.
pub(crate) fn real_path(path: &Path) -> Option<PathBuf> {
    try_real_path(path).ok()
}

/// Identifies a folder, to notice if another one replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FolderIdentity {
    pub(crate) inode: Option<i64>,
    pub(crate) created_ns: Option<i64>,
}

impl FolderIdentity {
    /// Returns whether two identities belong to the same folder. A value that either lacks is ignored.
    pub(crate) fn matches(self, other: Self) -> bool {
        let matches = |one: Option<i64>, other: Option<i64>| {
            one.zip(other).is_none_or(|(one, other)| one == other)
        };
        matches(self.inode, other.inode) && matches(self.created_ns, other.created_ns)
    }
}

/// Returns the identity of a folder, or `None` if there is no folder at that path.
pub(crate) fn folder_identity(folder: &Path) -> Option<FolderIdentity> {
    let metadata = record_fault(folder, std::fs::metadata(folder)).ok()?;
    if !metadata.is_dir() {
        return None;
    }
    #[cfg(unix)]
    let inode = i64::try_from(std::os::unix::fs::MetadataExt::ino(&metadata)).ok();
    #[cfg(not(unix))]
    let inode = None;
    let created = metadata.created().ok();
    let since = created.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let created_ns = since.and_then(|since| i64::try_from(since.as_nanos()).ok());
    Some(FolderIdentity { inode, created_ns })
}

/// Returns the names of the subfolders and links in a folder, each with whether it is a link. Links may lead to a
/// folder or not. Entries that vanish meanwhile are left out.
#[cfg(feature = "watch")]
#[expect(
    clippy::disallowed_methods,
    reason = "lists folders to watch; opens no file"
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
