//! Installed packages, and the check that they are still what was installed.

use std::io;
use std::path::{Path, PathBuf};

use skillfold_core::load::Digest;
use skillfold_core::name::ResourcePath;

use crate::dependencies::Installer;
use crate::error::{RunError, RunErrorKind};
use crate::tree::{Tree, digest_by_fingerprint};

/// The file beside the packages that has their fingerprint.
const FINGERPRINT_FILE: &str = "fingerprint.json";

/// What to do if the packages are gone or changed.
const HINT: &str = "Install them again: `skillfold run` with the skill's id and `--prepare`";

/// Packages installed for a skill's file. Runs that need them can read but not change them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Packages {
    /// The file that lists them: a script, a toolset, a `requirements.txt` or a `package.json`.
    pub file: ResourcePath,
    /// The program that installed them.
    pub installer: Installer,
    /// The folder that contains them.
    pub folder: PathBuf,
    check: PackageCheck,
}

/// How packages are checked before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PackageCheck {
    /// Only that they are there.
    Exist,
    /// Every file is read.
    Read(Digest),
    /// Files are read if the file system says that one changed.
    Fingerprint(Digest),
}

impl Packages {
    /// Creates packages that [`Prepare`](crate::Prepare) has installed in a folder. A run only checks that they are
    /// there.
    pub fn new(file: ResourcePath, installer: Installer, folder: impl Into<PathBuf>) -> Self {
        Self {
            file,
            installer,
            folder: folder.into(),
            check: PackageCheck::Exist,
        }
    }

    /// Sets the [digest](crate::Prepared::tree) they had when they were installed. Each run reads every file, and refuses
    /// packages that changed.
    #[must_use]
    pub fn with_tree(mut self, tree: Digest) -> Self {
        self.check = PackageCheck::Read(tree);
        self
    }

    /// Sets their digest, like [`with_tree`](Self::with_tree). Runs read the files only if one has other metadata than
    /// when they were read last: size, inode, modification or change time. That is stored beside the packages, so whoever
    /// may write there can get around it.
    #[must_use]
    pub fn with_tree_by_fingerprint(mut self, tree: Digest) -> Self {
        self.check = PackageCheck::Fingerprint(tree);
        self
    }

    /// Returns the path of the lock file, which has the versions and hashes that were installed.
    pub fn lock_file(&self) -> PathBuf {
        self.folder.join(match self.installer {
            Installer::Uv => "lock.txt",
            Installer::Npm => "package-lock.json",
        })
    }

    /// Reads every file, and returns the digest of all.
    ///
    /// # Errors
    ///
    /// Fails with `packages_not_installed` if they are gone or cannot be read.
    pub fn read_tree(&self) -> Result<Digest, RunError> {
        self.check_folder()?;
        let digest = Tree::list(&self.source()).and_then(|tree| tree.digest());
        digest.map_err(|error| self.unreadable(&error))
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

    /// Checks that the packages are there, and are what was installed.
    ///
    /// # Errors
    ///
    /// Fails with `packages_not_installed` if they are not.
    pub fn check(&self) -> Result<(), RunError> {
        let (expected, found) = match self.check {
            PackageCheck::Exist => return self.check_folder(),
            PackageCheck::Read(expected) => (expected, self.read_tree()?),
            PackageCheck::Fingerprint(expected) => {
                self.check_folder()?;
                let file = self.folder.join(FINGERPRINT_FILE);
                let found = digest_by_fingerprint(&self.source(), &file);
                (expected, found.map_err(|error| self.unreadable(&error))?)
            }
        };
        if found == expected {
            return Ok(());
        }
        let (file, folder) = (&self.file, self.folder.display());
        let message =
            format!("Packages of `{file}` changed since they were installed, in {folder}");
        Err(RunError::new(
            RunErrorKind::PackagesNotInstalled,
            message,
            HINT,
        ))
    }

    /// Refuses packages that are gone, and a link in their place: it would expose another host folder.
    fn check_folder(&self) -> Result<(), RunError> {
        let found = self.source().symlink_metadata();
        if found.is_ok_and(|metadata| metadata.is_dir()) {
            return Ok(());
        }
        let (file, folder) = (&self.file, self.folder.display());
        let message = format!("Packages of `{file}` are gone from {folder}");
        Err(RunError::new(
            RunErrorKind::PackagesNotInstalled,
            message,
            HINT,
        ))
    }

    fn unreadable(&self, error: &io::Error) -> RunError {
        let (file, folder) = (&self.file, self.folder.display());
        let message = format!("Packages of `{file}` cannot be read in {folder}: {error}");
        RunError::new(RunErrorKind::PackagesNotInstalled, message, HINT)
    }
}
