//! What a run may access beyond its skill and scratch folder. Nothing by default.

use std::path::{Path, PathBuf};

use crate::approved_path::{ApprovedPath, OpenedPath, PathAccess};
use crate::error::{RunError, RunErrorKind};
use crate::named_interpreter::NamedInterpreter;
use crate::network::{HostRule, is_proxy_variable};
use crate::packages::Packages;
use crate::protected::{Protected, is_grantable};

/// Variables that the sandbox sets itself, or that change how programs are loaded.
const RESERVED: [&str; 5] = ["PATH", "HOME", "TMPDIR", "LANG", "PWD"];

/// Prefixes of variables that change how programs are loaded.
const RESERVED_PREFIXES: [&str; 3] = ["LD_", "DYLD_", "GLIBC_"];

/// A run's network access.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Network {
    /// No sockets except pairs within the sandbox.
    #[default]
    None,
    /// These hosts, through a proxy that the run is told of: nothing else is reachable. Needs the layer `namespaces`.
    Hosts(Vec<HostRule>),
    /// The host's network, including loopback.
    Host,
}

/// What the user has granted to a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    network: Network,
    paths: Vec<ApprovedPath>,
    environment: Vec<(String, String)>,
    packages: Vec<Packages>,
    interpreters: Vec<NamedInterpreter>,
    protected: Protected,
}

impl Permissions {
    /// Grants the host's whole network, with the services on its loopback.
    #[must_use]
    pub fn with_network(mut self) -> Self {
        self.network = Network::Host;
        self
    }

    /// Grants these hosts, and no others. Programs reach them through a proxy, which variables such as `HTTPS_PROXY` name;
    /// a program that ignores these reaches nothing.
    #[must_use]
    pub fn with_hosts(mut self, hosts: impl IntoIterator<Item = HostRule>) -> Self {
        let rules: Vec<HostRule> = hosts.into_iter().collect();
        self.network = if rules.is_empty() {
            Network::None
        } else {
            Network::Hosts(rules)
        };
        self
    }

    /// Grants reading a host file or folder, as it is now, at the same path.
    #[must_use]
    pub fn with_read(self, path: impl Into<PathBuf>) -> Self {
        self.with_path(ApprovedPath::resolve(path, PathAccess::Read))
    }

    /// Grants reading and writing a host file or folder, as it is now, at the same path. A folder that does not exist
    /// yet is created by the first run.
    ///
    /// A run started by root has an unprivileged user's rights; the folder must be writable for everyone.
    #[must_use]
    pub fn with_write(self, path: impl Into<PathBuf>) -> Self {
        self.with_path(ApprovedPath::resolve(path, PathAccess::Write))
    }

    /// Grants a host file or folder as it was when it was allowed. Nested permissions are one: a path inside another
    /// one with the same access or more is left out.
    #[must_use]
    pub fn with_path(mut self, path: ApprovedPath) -> Self {
        if self.paths.iter().any(|known| known.contains(&path)) {
            return self;
        }
        self.paths.retain(|known| !path.contains(known));
        self.paths.push(path);
        // A path inside another one is mounted after it.
        self.paths
            .sort_by(|one, other| one.path().cmp(other.path()));
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

    /// Grants the use of a program that the user named.
    #[must_use]
    pub fn with_interpreter(mut self, interpreter: NamedInterpreter) -> Self {
        self.interpreters.push(interpreter);
        self
    }

    /// Sets what no run may access, whatever is granted.
    #[must_use]
    pub fn with_protected(mut self, protected: Protected) -> Self {
        self.protected = protected;
        self
    }

    /// Returns the network access.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Returns the granted paths, a folder before those inside it.
    pub fn paths(&self) -> &[ApprovedPath] {
        &self.paths
    }

    /// Returns whether a run may write to a folder of the host.
    pub fn may_write(&self) -> bool {
        let mut paths = self.paths.iter();
        paths.any(|path| path.access() == PathAccess::Write)
    }

    /// Returns the programs that the user named.
    pub fn interpreters(&self) -> &[NamedInterpreter] {
        &self.interpreters
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
    pub fn protected(&self) -> &Protected {
        &self.protected
    }

    /// Returns the same without writing: what exists can be read.
    pub(crate) fn read_only(&self) -> Self {
        let paths = self.paths.iter().filter_map(ApprovedPath::read_only);
        Self {
            paths: paths.collect(),
            ..self.clone()
        }
    }

    /// Returns the same interpreters and home, and nothing else.
    pub(crate) fn only_interpreters(&self) -> Self {
        Self {
            interpreters: self.interpreters.clone(),
            protected: self.protected.only_home(),
            ..Self::default()
        }
    }

    /// Refuses paths that cannot be granted, whoever asks: those of the system, and [protected](Self::with_protected)
    /// ones.
    ///
    /// # Errors
    ///
    /// Fails with `not_permitted`, naming the path and what it covers.
    pub fn check_paths(&self) -> Result<(), RunError> {
        let programs = self.interpreters.iter().flat_map(NamedInterpreter::paths);
        for approved in self.paths.iter().chain(programs) {
            for path in [approved.path(), approved.real()] {
                if !is_grantable(path) {
                    let hint = "Grant an absolute path without `..`, not `/` or `/tmp`, and none of the system, such as `/proc`, `/dev` or `/run`";
                    let message = format!("Path cannot be granted: `{}`", path.display());
                    return Err(RunError::new(RunErrorKind::NotPermitted, message, hint));
                }
                let (verb, covered) = match approved.access() {
                    PathAccess::Read => ("read", self.protected.read_exposes(path)),
                    PathAccess::Write => ("written", self.protected.write_exposes(path)),
                };
                if let Some(covered) = covered {
                    let hint = "Credentials, start-up files, the settings and skills of clients and other users' homes are never granted; ask for a folder of its own instead";
                    return Err(refused_covered(approved.path(), verb, &covered, hint));
                }
                let kept = || self.protected.kept_around(path);
                if let (PathAccess::Write, Some(kept)) = (approved.access(), kept()) {
                    let hint = "Repositories, the settings of clients and skills stay read-only; ask for a folder of its own instead";
                    return Err(refused_covered(approved.path(), verb, &kept, hint));
                }
            }
        }
        Ok(())
    }

    /// Checks that a folder can be the user's project: it is neither of the system, nor a home or around one, nor does it
    /// contain what is [protected](Self::with_protected). Nothing that no run may write is around a project to write.
    ///
    /// # Errors
    ///
    /// Fails with `not_permitted`, naming what is in the way.
    pub fn check_project(&self, folder: &Path, access: PathAccess) -> Result<(), RunError> {
        let hint = "Work in a folder of its own, such as `~/projects/app`";
        let refused =
            |message: String| Err(RunError::new(RunErrorKind::NotPermitted, message, hint));
        if !is_grantable(folder) {
            return refused(format!("Not a project: `{}`", folder.display()));
        }
        let exposed = |access| self.protected.project_exposes(folder, access);
        match exposed(access) {
            Some(exposed) if self.protected.is_home(&exposed) => refused(format!(
                "Not a project, it is or contains your home: `{}`",
                folder.display()
            )),
            Some(exposed) if exposed == folder => refused(format!(
                "Not a project, it is protected: `{}`",
                folder.display()
            )),
            Some(around) if exposed(PathAccess::Read).is_none() => refused(format!(
                "Not a project to write, because of `{}`: `{}`",
                around.display(),
                folder.display()
            )),
            Some(exposed) => refused(format!(
                "Not a project, because of `{}`: `{}`",
                exposed.display(),
                folder.display()
            )),
            None => Ok(()),
        }
    }

    /// Returns whether no run may read a path.
    pub fn is_protected(&self, path: &Path) -> bool {
        self.protected.read_exposes(path).is_some()
    }

    /// Returns whether a path stays read-only in every folder that a run may write.
    pub fn stays_read_only(&self, path: &Path) -> bool {
        self.protected.kept_around(path).is_some()
    }

    /// Opens what is granted, and refuses what cannot be granted or is no longer what was allowed.
    pub(crate) fn open(&self) -> Result<Vec<OpenedPath>, RunError> {
        self.check_variables()?;
        self.check_paths()?;
        self.paths.iter().map(ApprovedPath::open).collect()
    }

    fn check_variables(&self) -> Result<(), RunError> {
        let refused =
            |message: String, hint| Err(RunError::new(RunErrorKind::NotPermitted, message, hint));
        for (name, value) in &self.environment {
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            if name.is_empty() || !name.bytes().all(is_word) || value.contains('\0') {
                let hint = "Use only letters, digits and `_` in the name, and no NUL character in the value";
                return refused(format!("Not an environment variable: `{name}`"), hint);
            }
            let has_proxy = matches!(self.network, Network::Hosts(_));
            if RESERVED.contains(&name.as_str())
                || (has_proxy && is_proxy_variable(name))
                || RESERVED_PREFIXES
                    .iter()
                    .any(|prefix| name.starts_with(prefix))
            {
                let hint =
                    "The sandbox sets it, or it changes how programs are loaded; leave it out";
                return refused(format!("Variable cannot be granted: `{name}`"), hint);
            }
        }
        Ok(())
    }
}

fn refused_covered(path: &Path, verb: &str, covered: &Path, hint: &str) -> RunError {
    let message = if path == covered {
        format!(
            "Path cannot be granted to be {verb}, it is protected: `{}`",
            path.display()
        )
    } else {
        format!(
            "Path cannot be granted to be {verb}, because of `{}`: `{}`",
            covered.display(),
            path.display()
        )
    };
    RunError::new(RunErrorKind::NotPermitted, message, hint)
}
