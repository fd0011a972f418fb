//! A program that the user named to run scripts.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::approved_path::{ApprovedPath, PathAccess, PathKind};
use crate::error::{RunError, RunErrorKind};
use crate::interpreter::{is_known, without_version};
use crate::protected::Protected;

/// Folders besides `bin` that an interpreter outside the system folders needs.
const BESIDE_BIN: [&str; 3] = ["lib", "lib64", "libexec"];

/// A program that the user named to run a skill's scripts, with the libraries beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedInterpreter {
    name: String,
    program: ApprovedPath,
    libraries: Vec<ApprovedPath>,
}

impl NamedInterpreter {
    /// Finds out what a program is now. It runs scripts whose `#!` line or extension asks for its name.
    ///
    /// # Errors
    ///
    /// Fails with `interpreter_missing` if it is no program: it does not exist, cannot be executed, or is a script
    /// that starts one.
    pub fn resolve(path: &Path, protected: &Protected) -> Result<Self, RunError> {
        let Some(real) = program_at(path) else {
            let message = format!("Not a program: `{}`", path.display());
            let hint = "Name the file of an installed program, not a script that starts it";
            return Err(RunError::new(
                RunErrorKind::InterpreterMissing,
                message,
                hint,
            ));
        };
        let libraries = libraries(&real, protected);
        let resolve = |folder| ApprovedPath::resolve(folder, PathAccess::Read);
        Ok(Self {
            name: file_name(path).to_owned(),
            program: ApprovedPath::resolve(real, PathAccess::Read),
            libraries: libraries.into_iter().map(resolve).collect(),
        })
    }

    /// Finds out what the program is now, under the same name; `None` if there is none any more.
    #[must_use]
    pub fn resolve_again(&self, protected: &Protected) -> Option<Self> {
        let now = Self::resolve(self.program.path(), protected).ok()?;
        let name = self.name.clone();
        Some(Self { name, ..now })
    }

    /// Returns the program.
    pub fn program(&self) -> &ApprovedPath {
        &self.program
    }

    /// Returns the folders that it is mounted with.
    pub fn libraries(&self) -> &[ApprovedPath] {
        &self.libraries
    }

    /// Checks that the program and its folders are still what was allowed.
    ///
    /// # Errors
    ///
    /// Fails with `not_permitted`, and says what changed.
    pub fn check(&self) -> Result<(), RunError> {
        self.paths().try_for_each(ApprovedPath::check)
    }

    /// Returns the program and its folders.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &ApprovedPath> {
        [&self.program].into_iter().chain(&self.libraries)
    }

    /// Returns whether it runs scripts that ask for a program.
    pub fn runs(&self, program: &str) -> bool {
        let same_language =
            is_known(program) && without_version(&self.name) == without_version(program);
        self.name == program || same_language
    }
}

/// Returns the folders with a program's libraries: beside its `bin`, never the entire folder above, which may be a
/// home.
pub(crate) fn libraries(program: &Path, protected: &Protected) -> Vec<PathBuf> {
    let bin = program.parent().filter(|folder| folder.ends_with("bin"));
    let prefix = bin.and_then(Path::parent);
    let prefix = prefix.filter(|prefix| protected.is_free_of_others(prefix));
    let folders = prefix.into_iter().flat_map(|prefix| {
        let folder = |name| prefix.join(name);
        BESIDE_BIN.map(folder)
    });
    let is_folder = |folder: &PathBuf| {
        let found = ApprovedPath::resolve(folder, PathAccess::Read);
        found.kind() == PathKind::Folder && protected.read_exposes(found.real()).is_none()
    };
    folders.filter(is_folder).collect()
}

/// Returns the real path of a program, if there is one. Skips wrapper scripts, as installed by version managers: they
/// need files that the sandbox does not have.
#[expect(
    clippy::disallowed_methods,
    reason = "the path of an installed program, not of a skill"
)]
pub(crate) fn program_at(path: &Path) -> Option<PathBuf> {
    use std::io::Read as _;

    let path = fs::canonicalize(path).ok()?;
    // Opening a pipe would wait for its other end.
    if !fs::metadata(&path).ok()?.is_file() {
        return None;
    }
    let mut file = fs::File::open(&path).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if file.metadata().ok()?.permissions().mode() & 0o111 == 0 {
            return None;
        }
    }
    let mut start = [0; 2];
    let is_program = file.read_exact(&mut start).is_ok() && &start != b"#!";
    is_program.then_some(path)
}

pub(crate) fn file_name(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str());
    name.unwrap_or_default()
}
