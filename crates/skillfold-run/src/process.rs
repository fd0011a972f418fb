//! A started process, however it was started.

use std::fmt;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::copy::SkillCopy;
use crate::network::Connection;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitStatus {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
}

/// A program from this crate that runs in place of a script and gets the script's path as its first argument. It is
/// beside the skill, not in it: the skill in the sandbox is the one that was reviewed. Our own module is the one
/// exception, since `node_modules` beside the skill holds its packages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LanguageHost {
    /// Its files, each with its text. The first is run.
    pub(crate) files: &'static [(&'static str, &'static str)],
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

    /// Returns the path of the file that is run, for a skill at this path.
    pub(crate) fn path(&self, skill: &Path) -> PathBuf {
        let name = self.files.first().map_or("", |(name, _)| name);
        skill.with_file_name(Self::FOLDER).join(name)
    }

    /// Returns its files and module with their contents, for a skill at this path.
    pub(crate) fn files(&self, skill: &Path, copy: &SkillCopy) -> Vec<(PathBuf, &'static [u8])> {
        let module = self.module.and_then(|module| {
            let path = module.path(copy)?;
            Some((skill.join(path), module.text.as_bytes()))
        });
        let folder = skill.with_file_name(Self::FOLDER);
        let own = self.files.iter();
        let own = own.map(|(name, text)| (folder.join(name), text.as_bytes()));
        own.chain(module).collect()
    }
}

/// Kills a process and waits for it, from any thread.
pub trait Control: fmt::Debug + Send + Sync {
    /// Kills the process and everything it started.
    fn kill(&self);

    /// Waits until the process has exited, and everything it started with it.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be waited for.
    fn wait(&self) -> io::Result<ExitStatus>;

    /// Takes the connections of a process that has exited.
    fn take_connections(&self) -> Connections {
        Connections::default()
    }
}

/// The connections of a run with [hosts](crate::Permissions::with_hosts).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "sandboxes make it")]
pub struct Connections {
    /// The first ones, in the order in which they ended.
    pub first: Vec<Connection>,
    /// How many more there were.
    pub more: u64,
}

/// A started process. Dropping it kills the process.
pub struct Process {
    pub(crate) stdin: Option<Box<dyn Write + Send>>,
    pub(crate) stdout: Option<Box<dyn Read + Send>>,
    pub(crate) stderr: Option<Box<dyn Read + Send>>,
    pub(crate) control: Arc<dyn Control>,
}

impl Process {
    /// Creates a process from what controls it.
    pub fn new(control: Arc<dyn Control>) -> Self {
        Self {
            stdin: None,
            stdout: None,
            stderr: None,
            control,
        }
    }

    /// Sets the pipe to stdin, if the run wants [one](crate::sandboxes::RunInput::Pipe).
    #[must_use]
    pub fn with_stdin(mut self, pipe: impl Write + Send + 'static) -> Self {
        self.stdin = Some(Box::new(pipe));
        self
    }

    /// Sets the pipes from stdout and stderr.
    #[must_use]
    pub fn with_output(
        mut self,
        stdout: impl Read + Send + 'static,
        stderr: impl Read + Send + 'static,
    ) -> Self {
        self.stdout = Some(Box::new(stdout));
        self.stderr = Some(Box::new(stderr));
        self
    }
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
