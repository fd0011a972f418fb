//! Packages that were installed for the scripts of a skill.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skillfold_core::load::Digest;
use skillfold_core::{Error, Refusal};
use skillfold_run::{Dependencies, Installer, Packages, Prepare, Prepared};

use crate::environment::{Environment, now, other_writer};
use crate::scripts::error::ScriptError;

/// The name of the folder, in the data folder of the user.
const FOLDER: &str = "packages";

/// Folders that are tried for the packages of one file.
const MAX_TRIES: usize = 1000;

/// How old a folder is that no skill uses before it is deleted.
const UNUSED_AFTER: Duration = Duration::from_secs(3600);

/// Packages that a person let be installed for a file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SkillPackages {
    /// The file that names them: a script, a toolset or a `package.json`.
    pub file: String,
    /// Who installed them.
    pub installer: Installer,
    /// The folder in which they are.
    pub folder: PathBuf,
    /// Each with its version, such as `requests 2.32.5`.
    pub installed: Vec<String>,
}

impl SkillPackages {
    /// Returns what runs are granted.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if others may write to the folder, or it is not one that Skillfold made.
    pub(super) fn granted(&self, environment: &Environment) -> Result<Packages, Error> {
        let file = self.file.parse();
        let file =
            file.map_err(|_| Error::invalid(&self.file, "It is not a path inside the skill"))?;
        let refused = |what: String, rule| Error::refused(what, Refusal::NotAllowed, rule);
        let folder = self.folder.to_string_lossy();
        if self.folder.parent() != Some(&packages_folder(environment)?) {
            let rule = "The packages are not where Skillfold installs them; allow the skill again";
            return Err(refused(folder.into_owned(), rule));
        }
        if let Some(why) = other_writer(&self.folder) {
            let rule = "The folder with the packages must be writable only by you";
            return Err(refused(format!("{folder}: {why}"), rule));
        }
        Ok(Packages::new(file, self.installer, &self.folder))
    }

    /// Returns whether these are the packages that a file names: the folder has the digest of what decided them.
    pub(super) fn is_for(&self, wanted: &Dependencies, digest: Digest) -> bool {
        let name = self.folder.file_name().and_then(|name| name.to_str());
        let start = format!("{}-", hex(digest));
        let is_named = name.is_some_and(|name| name.starts_with(&start));
        is_named && self.file == wanted.file.as_str() && self.installer == wanted.installer
    }
}

fn hex(digest: Digest) -> String {
    digest.to_string().trim_start_matches("sha256:").to_owned()
}

/// Deletes packages, as far as that is possible.
pub(super) fn delete<'a>(
    environment: &Environment,
    packages: impl IntoIterator<Item = &'a SkillPackages>,
) {
    let ours = packages_folder(environment).ok();
    let folders = packages.into_iter().map(|packages| &packages.folder);
    for folder in folders.filter(|folder| folder.parent() == ours.as_deref()) {
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

/// Installs the packages of one file of a skill in a new folder.
pub(super) fn install(
    environment: &Environment,
    wanted: &Dependencies,
    prepare: Prepare<'_>,
) -> Result<SkillPackages, ScriptError> {
    let folder = new_folder(environment, prepare.digest()?)?;
    let variables = (Prepare::variables().iter())
        .filter_map(|name| Some(((*name).to_owned(), environment.granted_variable(name)?)));
    let installed = prepare.with_variables(variables).install(&folder);
    // The sandbox of root is another user, who had to write to it.
    let closed = set_mode(&folder, 0o700);
    match (installed, closed) {
        (Ok(Prepared { installed, .. }), Ok(())) => Ok(SkillPackages {
            file: wanted.file.to_string(),
            installer: wanted.installer,
            folder,
            installed,
        }),
        (Err(error), _) => {
            let _ = fs::remove_dir_all(&folder);
            Err(error.into())
        }
        (_, Err(error)) => Err(Error::write(folder.to_string_lossy(), error).into()),
    }
}

fn packages_folder(environment: &Environment) -> Result<PathBuf, Error> {
    let data = environment
        .data_folder()
        .ok_or_else(|| Error::not_found("home"))?;
    Ok(data.join(FOLDER))
}

/// Creates a folder for packages, in one that is the user's alone.
fn new_folder(environment: &Environment, digest: Digest) -> Result<PathBuf, Error> {
    let parent = packages_folder(environment)?;
    let failed = |error| Error::write(parent.to_string_lossy(), error);
    fs::create_dir_all(&parent).map_err(failed)?;
    set_mode(&parent, 0o700).map_err(failed)?;
    let hex = hex(digest);
    for number in 0..MAX_TRIES {
        let folder = parent.join(format!("{hex}-{number}"));
        match fs::create_dir(&folder) {
            Ok(()) => {
                set_mode(&folder, 0o777).map_err(failed)?;
                return Ok(folder);
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
