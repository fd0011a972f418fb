//! What a run may access beyond its skill and scratch folder. Nothing by default.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use skillfold_core::name::ResourcePath;

use crate::dependencies::Installer;
use crate::error::{RunError, RunErrorKind};
use crate::protected::Protected;

/// Variables that the sandbox sets itself, or that change how programs are loaded.
const RESERVED: [&str; 5] = ["PATH", "HOME", "TMPDIR", "LANG", "PWD"];

/// Prefixes of variables that change how programs are loaded.
const RESERVED_PREFIXES: [&str; 3] = ["LD_", "DYLD_", "GLIBC_"];

/// A run's network access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Network {
    /// No sockets except pairs within the sandbox.
    #[default]
    None,
    /// The host's network, including loopback.
    Host,
}

/// Packages installed for a skill's file. Runs that need them can read but not change them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Packages {
    /// The file that lists them: a script, a toolset or a `package.json`.
    pub file: ResourcePath,
    /// The program that installed them.
    pub installer: Installer,
    /// The folder that contains them.
    pub folder: PathBuf,
}

impl Packages {
    /// Creates packages that [`Prepare`](crate::Prepare) has installed in a folder.
    pub fn new(file: ResourcePath, installer: Installer, folder: impl Into<PathBuf>) -> Self {
        Self {
            file,
            installer,
            folder: folder.into(),
        }
    }

    /// Returns the folder's name in the sandbox: Node looks for packages in folders with this name above a script.
    pub(crate) fn folder_name(&self) -> &'static str {
        match self.installer {
            Installer::Uv => "packages",
            Installer::Npm => "node_modules",
        }
    }

    /// Returns their path in the sandbox, for a skill at this path.
    pub(crate) fn path(&self, skill: &Path) -> PathBuf {
        skill.with_file_name(self.folder_name())
    }

    /// Returns their path on the host.
    pub(crate) fn source(&self) -> PathBuf {
        self.folder.join(self.folder_name())
    }

    /// Refuses packages that are gone, and a link in their place: it would expose another host folder.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let found = self.source().symlink_metadata();
        if found.is_ok_and(|metadata| metadata.is_dir()) {
            return Ok(());
        }
        let message = format!(
            "Packages of `{}` are gone from {}",
            self.file,
            self.folder.display()
        );
        let hint = "Prepare the skill again";
        Err(RunError::new(
            RunErrorKind::PackagesNotInstalled,
            message,
            hint,
        ))
    }
}

/// What the user has granted to a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    network: Network,
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    environment: Vec<(String, String)>,
    packages: Vec<Packages>,
    /// Where granted paths led when they were granted.
    real: BTreeMap<PathBuf, PathBuf>,
    protected: Protected,
}

impl Permissions {
    /// Grants the host's network.
    #[must_use]
    pub fn with_network(mut self) -> Self {
        self.network = Network::Host;
        self
    }

    /// Grants reading a host file or folder, at the same path.
    #[must_use]
    pub fn with_read(mut self, path: impl Into<PathBuf>) -> Self {
        self.read.push(path.into());
        self
    }

    /// Grants reading and writing a host file or folder, at the same path.
    ///
    /// A run started by root has an unprivileged user's rights; the folder must be writable for everyone.
    #[must_use]
    pub fn with_write(mut self, path: impl Into<PathBuf>) -> Self {
        self.write.push(path.into());
        self
    }

    /// Grants an environment variable and its value.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Grants the skill's packages, replacing earlier ones. A run only gets those of its own script.
    #[must_use]
    pub fn with_packages(mut self, packages: impl IntoIterator<Item = Packages>) -> Self {
        self.packages = packages.into_iter().collect();
        self
    }

    /// Sets a granted path's target, with all links resolved. A run is refused if the path leads elsewhere: someone
    /// with write access above it could have created a link since it was granted.
    #[must_use]
    pub fn with_real_path(mut self, path: impl Into<PathBuf>, real: impl Into<PathBuf>) -> Self {
        self.real.insert(path.into(), real.into());
        self
    }

    /// Sets what no run may access, whatever is granted.
    #[must_use]
    pub fn with_protected(mut self, protected: Protected) -> Self {
        self.protected = protected;
        self
    }

    /// Returns the network access.
    pub fn network(&self) -> Network {
        self.network
    }

    /// Returns the readable paths.
    pub fn read(&self) -> &[PathBuf] {
        &self.read
    }

    /// Returns the writable paths.
    pub fn write(&self) -> &[PathBuf] {
        &self.write
    }

    /// Returns the environment variables.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// Returns the packages.
    pub fn packages(&self) -> &[Packages] {
        &self.packages
    }

    /// Returns what no run may access.
    #[cfg(target_os = "linux")]
    pub(crate) fn protected(&self) -> &Protected {
        &self.protected
    }

    /// Returns a granted path's target.
    #[cfg(target_os = "linux")]
    pub(crate) fn real_path(&self, path: &Path) -> std::io::Result<PathBuf> {
        match self.real.get(path) {
            Some(real) => Ok(real.clone()),
            None => path.canonicalize(),
        }
    }

    /// Refuses grants for [protected](Self::with_protected) paths.
    ///
    /// # Errors
    ///
    /// Fails with `not_permitted`, naming the path and what it covers.
    pub fn check_protected(&self) -> Result<(), RunError> {
        for path in &self.read {
            let covered = |place: &PathBuf| self.protected.read_exposes(place);
            refuse_covered(
                path,
                "read",
                self.resolved_paths(path).iter().find_map(covered),
            )?;
        }
        for path in &self.write {
            let covered = |place: &PathBuf| self.protected.write_exposes(place);
            refuse_covered(
                path,
                "written",
                self.resolved_paths(path).iter().find_map(covered),
            )?;
        }
        Ok(())
    }

    /// Returns a granted path, its current target, and its target when it was granted.
    fn resolved_paths(&self, path: &Path) -> Vec<PathBuf> {
        let known = self.real.get(path).cloned();
        let resolved_paths = [Some(path.to_owned()), path.canonicalize().ok(), known];
        resolved_paths.into_iter().flatten().collect()
    }

    /// Refuses what cannot be granted.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let refused =
            |message: String, hint| Err(RunError::new(RunErrorKind::NotPermitted, message, hint));
        for (name, value) in &self.environment {
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            if name.is_empty() || !name.bytes().all(is_word) || value.contains('\0') {
                let hint = "Use only letters, digits and `_` in the name, and no NUL character in the value";
                return refused(format!("Not an environment variable: `{name}`"), hint);
            }
            if RESERVED.contains(&name.as_str())
                || RESERVED_PREFIXES
                    .iter()
                    .any(|prefix| name.starts_with(prefix))
            {
                let hint =
                    "The sandbox sets it, or it changes how programs are loaded; leave it out";
                return refused(format!("Variable cannot be granted: `{name}`"), hint);
            }
        }
        for path in self.read.iter().chain(&self.write) {
            if !is_grantable(path) {
                let hint = "Grant an absolute path without `..`, not `/` or `/tmp`, and none that the sandbox has itself, such as `/proc`, `/dev` or `/skill`";
                return refused(
                    format!("Path cannot be granted: `{}`", path.display()),
                    hint,
                );
            }
            let Ok(real) = path.canonicalize() else {
                let message = format!("Granted path does not exist: `{}`", path.display());
                return refused(message, "Create it first, or leave it out");
            };
            let (path, real) = (path.as_path(), real.as_path());
            if self.real.get(path).is_some_and(|known| known != real) || !is_grantable(real) {
                let (path, real) = (path.display(), real.display());
                let message = format!("Granted path now points elsewhere: `{path}` is `{real}`");
                let hint = "Check who made the link; if it is right, allow the skill again";
                return refused(message, hint);
            }
        }
        self.check_protected()
    }
}

fn refuse_covered(path: &Path, verb: &str, covered: Option<&Path>) -> Result<(), RunError> {
    let Some(covered) = covered else {
        return Ok(());
    };
    let (path, covered) = (path.display(), covered.display());
    let message = if path.to_string() == covered.to_string() {
        format!("Path cannot be granted to be {verb}, it is protected: `{path}`")
    } else {
        format!("Path cannot be granted to be {verb}, because of `{covered}`: `{path}`")
    };
    let hint = "Credentials, start-up files and the settings and skills of clients are never granted; ask for a folder of its own instead";
    Err(RunError::new(RunErrorKind::NotPermitted, message, hint))
}

fn is_grantable(path: &Path) -> bool {
    use std::path::Component;
    let plain = path
        .components()
        .all(|part| !matches!(part, Component::ParentDir | Component::CurDir));
    let taken = [
        "/proc",
        "/sys",
        "/dev",
        "/skill",
        "/language-host",
        "/packages",
        "/node_modules",
    ];
    path.is_absolute()
        && plain
        && path.parent().is_some()
        && path != Path::new("/tmp")
        && !taken.iter().any(|taken| path.starts_with(taken))
        && !path.as_os_str().as_encoded_bytes().contains(&0)
}
