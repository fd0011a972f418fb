//! The copy of a repository in the cache.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillfold_core::Error;

use crate::git::process::Git;
use crate::lock::Pin;
use crate::options::FetchOptions;

/// Maximum depth of folders in which locks of references are looked for.
const MAX_DEPTH: usize = 16;

/// Folder of the copies in the cache.
const FOLDER: &str = "git";

const HEAD: &str = "ref: refs/heads/main\n";
const SETTINGS: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";
const SETTINGS_OF_SHA256: &str =
    "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n";

/// Hexadecimal digits of an id of SHA-256.
const SHA256_DIGITS: usize = 64;

/// What git says if a server gives only what a branch or a tag names, or all of it.
const OLD_SERVER: [&str; 4] = [
    "not our ref",
    // JGit.
    "remote error: want ",
    "does not allow request for unadvertised object",
    "does not support",
];

/// A bare repository that has nothing but objects.
#[derive(Debug)]
pub(super) struct RepositoryCopy {
    options: Arc<FetchOptions>,
    location: String,
    folder: PathBuf,
    settings: &'static str,
    /// What names the commits on the server, for one that gives nothing else.
    references: Vec<String>,
}

impl RepositoryCopy {
    /// Returns the copy that has, or will have, these commits of a repository.
    pub(super) fn new(options: Arc<FetchOptions>, location: &str, pins: &[Pin]) -> Self {
        let mut folder = options.cached(FOLDER, location);
        let mut settings = SETTINGS;
        let commits = || pins.iter().filter_map(|pin| pin.commit.as_ref());
        if commits().any(|id| id.len() == SHA256_DIGITS) {
            folder.set_extension("sha256");
            settings = SETTINGS_OF_SHA256;
        }
        let tags = pins
            .iter()
            .map(|pin| Some(format!("refs/tags/{}", pin.tag.as_ref()?)));
        let tags: Option<Vec<String>> = tags.collect();
        Self {
            location: location.to_owned(),
            folder,
            settings,
            references: tags.unwrap_or_else(|| vec!["+refs/heads/*:refs/all/*".to_owned()]),
            options,
        }
    }

    pub(super) fn location(&self) -> &str {
        &self.location
    }

    /// Returns git with this copy. Its settings are rewritten if something else changed them.
    pub(super) fn git(&self) -> Result<Git<'_>, Error> {
        if !self.is_ready() {
            let _lock = self.lock();
            self.prepare()?;
        }
        Ok(Git::new(&self.options, &self.folder, &self.location))
    }

    /// Fetches objects, without contents of files that are not named.
    pub(super) fn fetch(&self, ids: &[&str]) -> Result<(), Error> {
        self.options.check_online(&self.location)?;
        self.options.tell(&self.location);
        let lock = self.lock();
        self.prepare()?;
        if lock.is_some() {
            remove_leftovers(&self.folder);
        }
        match self.fetch_filtered(Filter::NoContents, ids) {
            Err(error) if is_of_old_server(&error) => {
                let references: Vec<&str> = self.references.iter().map(|it| &**it).collect();
                let all = self.fetch_filtered(Filter::Nothing, &references);
                all.map_err(|_| error)
            }
            fetched => fetched,
        }
    }

    fn fetch_filtered(&self, filter: Filter, wanted: &[&str]) -> Result<(), Error> {
        let url = format!("remote.origin.url={}", self.location);
        // Set here alone and not in the copy: without them, reading never fetches by itself.
        let partial = [
            "remote.origin.promisor=true",
            "remote.origin.partialCloneFilter=blob:none",
            "fetch.negotiationAlgorithm=noop",
        ];
        let mut arguments = vec!["-c", &url];
        if filter == Filter::NoContents {
            arguments.extend(partial.iter().flat_map(|setting| ["-c", setting]));
        }
        arguments.extend(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"]);
        arguments.extend(["--recurse-submodules=no", "--no-auto-maintenance"]);
        match filter {
            Filter::NoContents => arguments.extend(["--depth=1", "--filter=blob:none"]),
            Filter::Nothing => arguments.push("--no-filter"),
        }
        arguments.extend(["--stdin", "origin"]);
        let wanted: String = wanted.iter().flat_map(|name| [name, "\n"]).collect();
        let git = Git::new(&self.options, &self.folder, &self.location);
        git.ask(&arguments, wanted.as_bytes()).map(drop)
    }

    /// Deletes a copy that is not what git wrote, if it can be fetched again.
    pub(super) fn delete(&self) -> Result<(), Error> {
        self.options.check_online(&self.location)?;
        let _lock = self.lock();
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed(error)),
            _ => Ok(()),
        }
    }

    fn is_ready(&self) -> bool {
        let has = |name: &str, text: &str| read(&self.folder.join(name)).is_ok_and(|it| it == text);
        has("config", self.settings) && has("HEAD", HEAD) && self.folder.join("objects").is_dir()
    }

    /// Makes the copy if there is none. Git runs programs that its settings name, so they are always these.
    fn prepare(&self) -> Result<(), Error> {
        if self.is_ready() {
            return Ok(());
        }
        let make = || {
            fs::create_dir_all(self.folder.join("objects"))?;
            fs::create_dir_all(self.folder.join("refs"))?;
            replace(&self.folder.join("config"), self.settings)?;
            replace(&self.folder.join("HEAD"), HEAD)
        };
        make().map_err(|error| self.failed(error))
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::write(self.folder.to_string_lossy(), error)
    }

    /// Locks the copy. On a file system without locks, git's own locks remain.
    fn lock(&self) -> Option<File> {
        fs::create_dir_all(self.folder.parent()?).ok()?;
        let mut path = self.folder.clone().into_os_string();
        path.push(".lock");
        let mut options = OpenOptions::new();
        // Windows locks no file that can only be appended to.
        let file = options
            .create(true)
            .read(true)
            .append(true)
            .open(path)
            .ok()?;
        file.lock().ok()?;
        Some(file)
    }
}

/// What a fetch leaves out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Filter {
    /// The contents of files that are not named.
    NoContents,
    /// Nothing.
    Nothing,
}

fn is_of_old_server(error: &Error) -> bool {
    let message = error.to_string();
    OLD_SERVER.iter().any(|said| message.contains(said))
}

/// Removes what a git that was killed left: its locks, which no other git would wait for, and packs that are not complete. Nobody
/// else has the copy now.
fn remove_leftovers(copy: &Path) {
    remove_in(copy, 0);
    remove_in(&copy.join("refs"), MAX_DEPTH);
    remove_in(&copy.join("objects").join("pack"), 0);
}

/// Removes what git left in a folder, and in those below it down to a depth. What stays is git's to report.
#[expect(
    clippy::disallowed_methods,
    reason = "it looks at the copy's own files, and follows no link"
)]
fn remove_in(folder: &Path, depth: usize) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let is_lock = path.extension().is_some_and(|it| it == "lock");
        let is_leftover = is_lock || name.to_string_lossy().starts_with("tmp_");
        let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
        if is_folder && depth > 0 {
            remove_in(&path, depth - 1);
        } else if !is_folder && is_leftover {
            _ = fs::remove_file(path);
        }
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let file = OpenOptions::new().read(true).open(path)?;
    file.take(1 << 16).read_to_string(&mut text)?;
    Ok(text)
}

/// Replaces a file at once: another process may be reading it.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let new = path.with_extension("new");
    _ = fs::remove_file(&new);
    let mut file = OpenOptions::new().write(true).create_new(true).open(&new)?;
    file.write_all(text.as_bytes())?;
    fs::rename(new, path)
}
