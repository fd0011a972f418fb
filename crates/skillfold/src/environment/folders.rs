//! The user's folders, and the variables that move them.

use std::path::{Path, PathBuf};

#[cfg(feature = "registry")]
use skillfold_registry::POLICY_FILE;

use super::Environment;
#[cfg(feature = "registry")]
use super::{other_writer, writer_besides_root};

/// Folders of the home that a variable moves elsewhere.
const MOVABLE: [(&str, &str); 5] = [
    (".claude", "CLAUDE_CONFIG_DIR"),
    (".codex", "CODEX_HOME"),
    (".config", "XDG_CONFIG_HOME"),
    (".copilot", "COPILOT_HOME"),
    (".local/share", "XDG_DATA_HOME"),
];

impl Environment {
    /// Returns where a path inside the home is: where a variable moves it, or in the home.
    pub fn user_path(&self, path: &str) -> Option<PathBuf> {
        let moved = self.moved_path(path);
        moved.or_else(|| Some(self.home_dir()?.join(path)))
    }

    /// Returns where a variable moves a path inside the home.
    pub(crate) fn moved_path(&self, path: &str) -> Option<PathBuf> {
        MOVABLE.iter().find_map(|(folder, variable)| {
            let rest = Path::new(path).strip_prefix(folder).ok()?;
            Some(self.folder_variable(variable)?.join(rest))
        })
    }

    /// Returns the path of the user's settings file: `SKILLFOLD_CONFIG`, or a file in the system's configuration
    /// folder.
    pub fn user_settings(&self) -> Option<PathBuf> {
        if let Some(path) = self.settings_variable() {
            return Some(self.expand_path(path, &self.directory));
        }
        let variable = if cfg!(windows) {
            "APPDATA"
        } else {
            "XDG_CONFIG_HOME"
        };
        Some(self.own_folder(variable, ".config")?.join("config.toml"))
    }

    /// Returns the path of the user's policy for sources, beside the settings file.
    #[cfg(feature = "registry")]
    pub fn user_policy(&self) -> Option<PathBuf> {
        Some(self.user_settings()?.with_file_name(POLICY_FILE))
    }

    /// Returns the path of the machine's policy for sources. No variable moves it.
    #[cfg(feature = "registry")]
    pub fn machine_policy(&self) -> PathBuf {
        let fixed = if cfg!(windows) {
            r"C:\ProgramData\skillfold"
        } else if cfg!(target_os = "macos") {
            "/Library/Application Support/skillfold"
        } else {
            "/etc/skillfold"
        };
        let folder = self.machine.as_deref();
        folder.unwrap_or(Path::new(fixed)).join(POLICY_FILE)
    }

    /// Returns why the machine's policy is not one: somebody else than an administrator could have changed it. A folder that the
    /// host named may be the host's.
    #[cfg(feature = "registry")]
    pub(crate) fn machine_policy_writer(&self, path: &Path) -> Option<String> {
        match self.machine {
            Some(_) => other_writer(path),
            None => writer_besides_root(path),
        }
    }

    /// Returns the folder for the program's own state of this user.
    pub fn state_folder(&self) -> Option<PathBuf> {
        let variable = if cfg!(windows) {
            "LOCALAPPDATA"
        } else {
            "XDG_STATE_HOME"
        };
        self.own_folder(variable, ".local/state")
    }

    /// Returns the folder for proposals, versions of skills and the log of decisions.
    pub fn data_folder(&self) -> Option<PathBuf> {
        if cfg!(windows) {
            let folder = self.folder_variable("LOCALAPPDATA")?;
            return Some(folder.join("skillfold").join("data"));
        }
        self.own_folder("XDG_DATA_HOME", ".local/share")
    }

    /// Returns the user's cache folder, in the system's folder for caches. It is used only if the host passes it to
    /// `Host::cache`.
    pub fn cache_folder(&self) -> Option<PathBuf> {
        if cfg!(windows) {
            let folder = self.folder_variable("LOCALAPPDATA")?;
            return Some(folder.join("skillfold").join("cache"));
        }
        self.own_folder("XDG_CACHE_HOME", ".cache")
    }

    /// Returns the program's own folder in the one that a variable names, or in a folder of the home.
    fn own_folder(&self, variable: &str, default: &str) -> Option<PathBuf> {
        let folder = self.folder_variable(variable);
        let folder = folder.or_else(|| Some(self.home.as_ref()?.join(default)))?;
        Some(folder.join("skillfold"))
    }

    /// Returns the folder that a variable names, if the path is absolute.
    pub fn folder_variable(&self, variable: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.variables.get(variable)?);
        path.is_absolute().then_some(path)
    }
}
