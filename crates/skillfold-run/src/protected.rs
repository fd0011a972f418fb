//! Host files and folders that no run gets, whatever is granted.

use std::path::{Component, Path, PathBuf};

use crate::approved_path::PathAccess;

/// Folders that hold the users' homes.
const HOMES: [&str; 3] = ["/home", "/Users", "/var/home"];

/// Folders among the homes that belong to no person.
const NOBODYS: [&str; 2] = ["linuxbrew", "Shared"];

/// Paths that are not granted: of the kernel, of running programs, and those that the sandbox has itself.
const TAKEN: [&str; 9] = [
    "/proc",
    "/sys",
    "/dev",
    "/run",
    "/var/run",
    "/skill",
    "/language-host",
    "/packages",
    "/node_modules",
];

/// Entries by which Git knows a repository, whatever the folder's name.
#[cfg(unix)]
pub(crate) const REPOSITORY_MARKS: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];

/// What a host withholds from every run: credentials, and files that would let a script run outside its sandbox.
///
/// A grant is refused if it covers one of them: the path itself, a path below it, or a path above it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protected {
    home: Option<PathBuf>,
    secret: Vec<PathBuf>,
    unwritable: Vec<PathBuf>,
    read_only_paths: Vec<PathBuf>,
    read_only_names: Vec<String>,
}

impl Protected {
    /// Sets the user's home. Other users' homes are then secret.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Adds paths that no run may read or write.
    #[must_use]
    pub fn with_secret(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.secret.extend(paths);
        self
    }

    /// Adds paths that no run may write.
    #[must_use]
    pub fn with_unwritable(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.unwritable.extend(paths);
        self
    }

    /// Adds paths that stay read-only in a folder that a run may write. They do not keep the folder from being granted.
    #[must_use]
    pub fn with_read_only_paths(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.read_only_paths.extend(paths);
        self
    }

    /// Adds names of files and folders that stay read-only wherever they are in a folder that a run may write, and that
    /// no run may create there: `.git`, or `.github/hooks` for a name in a folder of another. `.git` is also for
    /// repositories under any other name.
    #[must_use]
    pub fn with_read_only_names(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.read_only_names.extend(names);
        self
    }

    #[cfg(unix)]
    pub(crate) fn read_only_paths(&self) -> &[PathBuf] {
        &self.read_only_paths
    }

    #[cfg(unix)]
    pub(crate) fn read_only_names(&self) -> &[String] {
        &self.read_only_names
    }

    /// Returns what stays read-only that a path is, or is in.
    pub(crate) fn kept_around(&self, path: &Path) -> Option<PathBuf> {
        let is_around = |it: &&PathBuf| {
            path.starts_with(it) || it.canonicalize().is_ok_and(|real| path.starts_with(real))
        };
        let has_name = |part: &&Path| {
            let name = |part: &Path| {
                part.file_name()
                    .map(|name| name.to_string_lossy().into_owned())
            };
            let own = name(part).unwrap_or_default();
            let parent = part.parent().and_then(name).unwrap_or_default();
            let both = format!("{parent}/{own}");
            let mut known = self.read_only_names.iter();
            known.any(|known| known.eq_ignore_ascii_case(&own) || known.eq_ignore_ascii_case(&both))
        };
        let named = || path.ancestors().find(has_name).map(Path::to_owned);
        let known = self.read_only_paths.iter().find(is_around).cloned();
        known
            .or_else(named)
            .or_else(|| self.repository_around(path))
    }

    /// Returns whether repositories stay read-only, whatever their names.
    pub(crate) fn keeps_repositories(&self) -> bool {
        self.read_only_names.iter().any(|name| name == ".git")
    }

    /// Returns the repository that a path is, or is in. The files that somebody works on can be in one too.
    fn repository_around(&self, path: &Path) -> Option<PathBuf> {
        let has = |folder: &Path, name: &str| folder.join(name).symlink_metadata().is_ok();
        let is_worked_on = |folder: &&Path| !has(folder, ".git");
        let mut folders = path.ancestors().take_while(is_worked_on);
        folders
            .find(|folder| self.keeps_repositories() && is_repository(|mark| has(folder, mark)))
            .map(Path::to_owned)
    }

    /// Returns what keeps a folder from being anybody's project: a home, or something protected, in it or around it. A
    /// folder in one that is not written can be a project to read.
    pub(crate) fn project_exposes(&self, folder: &Path, access: PathAccess) -> Option<PathBuf> {
        let is_around = |it: &PathBuf| access == PathAccess::Write && folder.starts_with(it);
        let mut unwritable = self.unwritable.iter();
        let unwritable = unwritable.find(|it| it.starts_with(folder) || is_around(it));
        let home = self.home.iter().find(|home| home.starts_with(folder));
        home.or(unwritable)
            .cloned()
            .or_else(|| self.read_exposes(folder))
    }

    pub(crate) fn is_home(&self, path: &Path) -> bool {
        self.home.as_deref() == Some(path)
    }

    /// Returns the same home, and nothing else.
    pub(crate) fn only_home(&self) -> Self {
        Self {
            home: self.home.clone(),
            ..Self::default()
        }
    }

    /// Returns what reading a path would expose.
    pub(crate) fn read_exposes(&self, path: &Path) -> Option<PathBuf> {
        covered(&self.secret, path).or_else(|| self.other_home(path))
    }

    /// Returns what writing to a path could change.
    pub(crate) fn write_exposes(&self, path: &Path) -> Option<PathBuf> {
        self.read_exposes(path)
            .or_else(|| covered(&self.unwritable, path))
    }

    /// Returns the home that a path is in, the user's or another's.
    pub(crate) fn home_of(&self, path: &Path) -> Option<PathBuf> {
        if let Some(home) = self.home.as_ref().filter(|home| path.starts_with(home)) {
            return Some(home.clone());
        }
        let root = Path::new("/root");
        let among = HOMES.iter().find_map(|homes| {
            let name = path.strip_prefix(homes).ok()?.components().next()?;
            let is_persons = !NOBODYS.iter().any(|nobodys| name.as_os_str() == *nobodys);
            is_persons.then(|| Path::new(homes).join(name))
        });
        among.or_else(|| path.starts_with(root).then(|| root.to_owned()))
    }

    /// Returns another user's home that a path is in, or the folder of all homes if it is above them.
    fn other_home(&self, path: &Path) -> Option<PathBuf> {
        let own = self.home.as_ref()?;
        let above = HOMES.iter().map(Path::new);
        let above = above
            .filter(|homes| homes.starts_with(path))
            .map(Path::to_owned);
        above.chain(self.home_of(path)).find(|home| home != own)
    }

    /// Returns whether nothing protected is below a folder. Shared folders, such as the home and `~/.local`, contain
    /// more than an interpreter and its libraries.
    pub(crate) fn is_free_of_others(&self, folder: &Path) -> bool {
        let mut all = self.secret.iter().chain(&self.unwritable);
        !all.any(|path| path.starts_with(folder))
    }
}

fn covered(protected: &[PathBuf], path: &Path) -> Option<PathBuf> {
    let mut protected = protected.iter();
    let found = protected.find(|it| path.starts_with(it) || it.starts_with(path));
    found.cloned()
}

/// Returns whether a path can be granted at all.
pub(crate) fn is_grantable(path: &Path) -> bool {
    let is_plain = |part| !matches!(part, Component::ParentDir | Component::CurDir);
    path.is_absolute()
        && path.components().all(is_plain)
        && path.parent().is_some()
        && path != Path::new("/tmp")
        && !TAKEN.iter().any(|taken| path.starts_with(taken))
        && !path.as_os_str().as_encoded_bytes().contains(&0)
}

/// Returns whether Git takes a folder with these entries for a repository, whose configuration names programs to run.
pub(crate) fn is_repository(has: impl Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}
