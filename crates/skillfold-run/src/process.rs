//! A started process, however it was started.

use std::fmt;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::approved_path::OpenedPath;
use crate::copy::SkillCopy;
use crate::dependencies::Installer;
use crate::guard::Guard;
use crate::installed::Installed;
use crate::layers::SandboxReport;
use crate::limits::RunLimits;
use crate::network::{Connection, ConnectionObserver, Resolver, proxy_environment};
use crate::packages::Packages;
use crate::permissions::{Network, Permissions};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    Exited(i32),
    Signalled(i32),
}

/// A program from this crate that runs in place of a script and gets the script's path as its first argument. It is
/// beside the skill, not in it: the skill in the sandbox is the one that was reviewed. Our own module is the one
/// exception, since `node_modules` beside the skill holds its packages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LanguageHost {
    /// Its file name.
    pub(crate) file: &'static str,
    pub(crate) text: &'static str,
    /// The programs that can run it, each with its arguments, in order of preference.
    pub(crate) interpreters: &'static [&'static [&'static str]],
    /// A module that scripts can import.
    pub(crate) module: Option<Module>,
}

/// A module provided by this crate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Module {
    /// The name it is imported by.
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

impl Module {
    /// Returns its file's path inside a skill; none if the skill has a module with this name, or a file in its way.
    fn path(self, copy: &SkillCopy) -> Option<PathBuf> {
        let folder = Path::new("node_modules").join(self.name);
        let is_taken = |path: &Path| path.starts_with(&folder) || folder.starts_with(path);
        let mut paths = copy.paths().map(|path| Path::new(path.as_str()));
        (!paths.any(is_taken)).then(|| folder.join("index.js"))
    }
}

impl LanguageHost {
    /// Its folder, beside the skill's.
    pub(crate) const FOLDER: &'static str = "language-host";

    /// Returns its file's path, for a skill at this path.
    pub(crate) fn path(&self, skill: &Path) -> PathBuf {
        skill.with_file_name(Self::FOLDER).join(self.file)
    }

    /// Returns its file and module with their contents, for a skill at this path.
    pub(crate) fn files(&self, skill: &Path, copy: &SkillCopy) -> Vec<(PathBuf, &'static [u8])> {
        let module = self.module.and_then(|module| {
            let path = module.path(copy)?;
            Some((skill.join(path), module.text.as_bytes()))
        });
        let own = (self.path(skill), self.text.as_bytes());
        [own].into_iter().chain(module).collect()
    }
}

/// Everything needed to start a process.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) copy: &'a SkillCopy,
    pub(crate) interpreter: Installed,
    /// The script's path inside the skill.
    pub(crate) script: &'a str,
    pub(crate) host: Option<LanguageHost>,
    pub(crate) arguments: &'a [String],
    pub(crate) input: Input<'a>,
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "enforced on Linux alone")
    )]
    pub(crate) limits: &'a RunLimits,
    pub(crate) permissions: &'a Permissions,
    /// The granted paths.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "mounted on Linux alone")
    )]
    pub(crate) granted: Vec<OpenedPath>,
    /// What stays read-only in the granted paths.
    pub(crate) guard: &'a Guard,
    /// The working directory, if it is not the skill's folder.
    pub(crate) directory: Option<&'a Path>,
    /// Looks up names for the proxy.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "the proxy is on Linux alone")
    )]
    pub(crate) resolver: &'a Resolver,
    /// Receives connections.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "the proxy is on Linux alone")
    )]
    pub(crate) connections: Option<&'a ConnectionObserver>,
    /// The script's packages.
    pub(crate) packages: Option<&'a Packages>,
    pub(crate) report: SandboxReport,
}

impl Request<'_> {
    /// Returns the process's arguments, starting with its own name, for a skill in `folder`.
    pub(crate) fn command_line(&self, folder: &str) -> Vec<String> {
        let mut words = vec![self.interpreter.name.clone()];
        words.extend(self.interpreter.arguments.iter().cloned());
        let host = self.host.map(|host| host.path(folder.as_ref()));
        words.extend(host.map(|path| path.to_string_lossy().into_owned()));
        words.push(format!("{folder}/{}", self.script));
        words.extend(self.arguments.iter().cloned());
        words
    }

    /// Returns the environment for a process with this home, which is also its temporary folder, and for a skill at
    /// this path.
    pub(crate) fn environment(&self, home: &str, skill: &str) -> Vec<(String, String)> {
        let mut folders: Vec<String> = Vec::new();
        let own = self.interpreter.path.parent().map(PathBuf::from);
        folders.extend(own.map(|folder| folder.to_string_lossy().into_owned()));
        folders.extend(["/usr/bin", "/bin"].map(str::to_owned));
        folders.dedup();
        let fixed = [
            ("PATH", folders.join(":")),
            ("HOME", home.to_owned()),
            ("TMPDIR", home.to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
        ];
        let fixed = fixed
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        let python = (self.packages.iter())
            .filter(|packages| packages.installer == Installer::Uv)
            .map(|packages| packages.path(skill.as_ref()))
            .map(|path| ("PYTHONPATH".to_owned(), path.to_string_lossy().into_owned()));
        let proxy = match self.permissions.network() {
            Network::Hosts(_) => proxy_environment(),
            Network::None | Network::Host => Vec::new(),
        };
        let granted = self.permissions.environment().iter().cloned();
        fixed.chain(python).chain(proxy).chain(granted).collect()
    }
}

/// A process's stdin.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input<'a> {
    /// Empty.
    None,
    /// These bytes.
    Bytes(&'a [u8]),
    /// A pipe that the host writes to.
    Pipe,
}

/// Kills a process and waits for it, from any thread.
pub(crate) trait Control: fmt::Debug + Send + Sync {
    /// Kills the process and everything it started, as far as the layers allow.
    fn kill(&self);

    /// Waits until the process has exited.
    fn wait(&self) -> io::Result<ExitStatus>;

    /// Takes the connections of a process that has exited, and the number of those that were not kept.
    fn take_connections(&self) -> (Vec<Connection>, u64) {
        Default::default()
    }
}

/// A started process. Dropping it kills the process.
pub(crate) struct Process {
    pub(crate) stdin: Option<Box<dyn Write + Send>>,
    pub(crate) stdout: Option<Box<dyn Read + Send>>,
    pub(crate) stderr: Option<Box<dyn Read + Send>>,
    pub(crate) control: Arc<dyn Control>,
}

impl fmt::Debug for Process {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Process")
            .field("control", &self.control)
            .finish_non_exhaustive()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.control.kill();
        let _ = self.control.wait();
    }
}

/// Locks a value that a panic elsewhere cannot corrupt.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
