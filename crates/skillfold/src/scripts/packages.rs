//! Packages that were installed for the scripts of a skill.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skillfold_core::load::Digest;
use skillfold_core::{Error, Refusal};
use skillfold_run::{Dependencies, Installer, Packages, Prepare};

use crate::environment::{Environment, now, other_writer};
use crate::scripts::error::ScriptError;
use crate::settings::ApprovalRequires;

/// The name of the folder, in the data folder of the user.
const FOLDER: &str = "packages";

/// Folders that are tried for one installation.
const MAX_TRIES: usize = 1000;

/// How old a folder is that no skill uses before it is deleted.
const UNUSED_AFTER: Duration = Duration::from_secs(3600);

/// Packages that a person let be installed for a file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SkillPackages {
    /// The file that names them: a script, a toolset, a `requirements.txt` or a `package.json`.
    pub file: String,
    /// Who installed them.
    pub installer: Installer,
    /// The folder in which they are, named by the digest of what names them. Skills with the same dependencies share it.
    pub folder: PathBuf,
    /// Each with its version, such as `requests 2.32.5`.
    pub installed: Vec<String>,
    /// The digest of everything that was installed, which runs check.
    pub tree: Digest,
    /// The digest of the lock file, which has their versions and hashes. The next installation follows it.
    pub lock: Digest,
}

impl SkillPackages {
    /// Returns what runs are granted, with the check that nothing changed since it was installed.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if others may write to the folder, or it is not one that Skillfold made.
    pub(super) fn granted(
        &self,
        environment: &Environment,
        requires: ApprovalRequires,
    ) -> Result<Packages, Error> {
        let file = self.file.parse();
        let file =
            file.map_err(|_| Error::invalid(&self.file, "It is not a path inside the skill"))?;
        let refused = |what: String, rule| Error::refused(what, Refusal::NotAllowed, rule);
        let folder = self.folder.to_string_lossy();
        if self.folder.parent() != Some(&packages_folder(environment)?) {
            let rule = "The packages are not where Skillfold installs them; remove the skill with `skillfold allow --remove`, and allow it again";
            return Err(refused(folder.into_owned(), rule));
        }
        if let Some(why) = other_writer(&self.folder) {
            let rule = "The folder with the packages must be writable only by you";
            return Err(refused(format!("{folder}: {why}"), rule));
        }
        let packages = Packages::new(file, self.installer, &self.folder);
        Ok(match requires {
            // Whoever wants a passphrase does not rely on what other programs of the user can write.
            ApprovalRequires::Passphrase => packages.with_tree(self.tree),
            ApprovalRequires::Terminal => packages.with_tree_by_fingerprint(self.tree),
        })
    }

    /// Returns whether these are the packages that a file names: the folder has the digest of what decided them.
    pub(super) fn is_for(&self, wanted: &Dependencies, digest: Digest) -> bool {
        let name = self.folder.file_name().and_then(|name| name.to_str());
        let is_named = name == Some(&hex(digest));
        is_named && self.file == wanted.file.as_str() && self.installer == wanted.installer
    }

    /// Reads everything, and returns whether it is what was installed.
    pub(super) fn is_unchanged(&self, environment: &Environment) -> bool {
        let packages = self.granted(environment, ApprovalRequires::Passphrase);
        packages.is_ok_and(|packages| packages.check().is_ok())
    }

    /// Returns the lock file, if it is the one that was written.
    #[expect(clippy::disallowed_methods, reason = "it reads the engine's own file")]
    fn read_lock(&self) -> Option<Vec<u8>> {
        let file = self.file.parse().ok()?;
        let packages = Packages::new(file, self.installer, &self.folder);
        let lock = fs::read(packages.lock_file()).ok()?;
        (Digest::sha256(&lock) == self.lock).then_some(lock)
    }
}

fn hex(digest: Digest) -> String {
    digest.to_string().trim_start_matches("sha256:").to_owned()
}

/// Deletes packages that no skill uses, as far as that is possible.
pub(super) fn delete<'a>(
    environment: &Environment,
    packages: impl IntoIterator<Item = &'a SkillPackages>,
    is_used: impl Fn(&Path) -> bool,
) {
    let ours = packages_folder(environment).ok();
    let folders = packages.into_iter().map(|packages| &packages.folder);
    for folder in folders.filter(|folder| folder.parent() == ours.as_deref() && !is_used(folder)) {
        let _ = fs::remove_dir_all(folder);
    }
}

/// Deletes package folders that no skill uses: those left by an interrupted installation, or by one that the user declined
/// to allow afterwards. Only old folders are deleted, because another process may be installing.
#[expect(
    clippy::disallowed_methods,
    reason = "it looks at the engine's own folders, and follows no link"
)]
pub(super) fn delete_left(environment: &Environment, is_used: impl Fn(&Path) -> bool) {
    let Ok(folder) = packages_folder(environment) else {
        return;
    };
    let is_old = |entry: &fs::DirEntry| {
        let changed = entry.metadata().and_then(|metadata| metadata.modified());
        changed.is_ok_and(|time| {
            now()
                .duration_since(time)
                .is_ok_and(|age| age > UNUSED_AFTER)
        })
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if !is_used(&path) && is_old(&entry) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// What is known of packages before they are installed.
#[derive(Debug)]
pub(super) enum Earlier {
    /// They were not installed before.
    None,
    /// They are installed, and unchanged.
    Installed(SkillPackages),
    /// They are gone or changed; this is their lock file.
    Lock(Vec<u8>),
    /// They are gone or changed, and so is their lock file.
    Lost,
}

impl Earlier {
    /// Finds packages among the `known` ones, by the digest of what names them.
    pub(super) fn find(
        environment: &Environment,
        wanted: &Dependencies,
        digest: Digest,
        known: &[SkillPackages],
    ) -> Result<Self, Error> {
        let folder = packages_folder(environment)?.join(hex(digest));
        let known = known.iter().filter(|known| known.folder == folder);
        let known: Vec<&SkillPackages> = known.collect();
        if let Some(same) = known.iter().find(|known| known.is_unchanged(environment)) {
            let mut same = SkillPackages::clone(same);
            same.file = wanted.file.to_string();
            return Ok(Self::Installed(same));
        }
        Ok(match known.iter().find_map(|known| known.read_lock()) {
            Some(lock) => Self::Lock(lock),
            None if known.is_empty() => Self::None,
            None => Self::Lost,
        })
    }
}

/// Installs the packages of one file of a skill, in place of those that were changed.
pub(super) fn install(
    environment: &Environment,
    wanted: &Dependencies,
    prepare: Prepare<'_>,
) -> Result<SkillPackages, ScriptError> {
    let parent = packages_folder(environment)?;
    let folder = parent.join(hex(prepare.digest()?));
    let prepare = prepare.with_variables(variables(environment));
    let new = new_folder(&parent, &folder)?;
    let installed = fill(&new, wanted, prepare).and_then(|packages| {
        put_in_place(&new, &folder)
            .map_err(|error| Error::write(folder.to_string_lossy(), error))?;
        Ok(SkillPackages { folder, ..packages })
    });
    if installed.is_err() {
        let _ = fs::remove_dir_all(&new);
    }
    installed
}

/// Installs packages in a new folder.
#[expect(clippy::disallowed_methods, reason = "it reads the engine's own file")]
fn fill(
    folder: &Path,
    wanted: &Dependencies,
    prepare: Prepare<'_>,
) -> Result<SkillPackages, ScriptError> {
    let prepared = prepare.install(folder)?;
    // The sandbox of root is another user, who had to write to it.
    set_mode(folder, 0o700).map_err(|error| Error::write(folder.to_string_lossy(), error))?;
    let lock = prepared.packages.lock_file();
    let bytes = fs::read(&lock).map_err(|error| Error::read(lock.to_string_lossy(), error))?;
    Ok(SkillPackages {
        file: wanted.file.to_string(),
        installer: wanted.installer,
        folder: folder.to_owned(),
        installed: prepared.installed,
        tree: prepared.tree,
        lock: Digest::sha256(&bytes),
    })
}

/// Gives a new folder its name, in place of one whose packages are not what was installed there.
fn put_in_place(new: &Path, folder: &Path) -> io::Result<()> {
    if folder.symlink_metadata().is_err() {
        return fs::rename(new, folder);
    }
    let old = new.with_extension("old");
    fs::rename(folder, &old)?;
    fs::rename(new, folder)?;
    let _ = fs::remove_dir_all(old);
    Ok(())
}

/// Returns the variables that an installer gets.
fn variables(environment: &Environment) -> impl Iterator<Item = (String, String)> {
    (Prepare::variables().iter())
        .filter_map(|name| Some(((*name).to_owned(), environment.granted_variable(name)?)))
}

fn packages_folder(environment: &Environment) -> Result<PathBuf, Error> {
    let data = environment
        .data_folder()
        .ok_or_else(|| Error::not_found("home"))?;
    Ok(data.join(FOLDER))
}

/// Creates a folder to install packages in, beside the one that they get.
fn new_folder(parent: &Path, folder: &Path) -> Result<PathBuf, Error> {
    let failed = |error| Error::write(parent.to_string_lossy(), error);
    fs::create_dir_all(parent).map_err(failed)?;
    set_mode(parent, 0o700).map_err(failed)?;
    for number in 0..MAX_TRIES {
        let new = folder.with_extension(number.to_string());
        match fs::create_dir(&new) {
            Ok(()) => {
                set_mode(&new, 0o777).map_err(failed)?;
                return Ok(new);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Err(failed(io::ErrorKind::AlreadyExists.into()))
}

#[cfg(unix)]
fn set_mode(folder: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    fs::set_permissions(folder, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}
