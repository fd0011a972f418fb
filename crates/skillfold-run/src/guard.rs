//! What stays read-only in the folders that a run may write: repositories, settings of clients, skills.
//!
//! Only one run at a time writes to a folder: two that help each other could hide from the search what is in it.
//! Where such a thing exists, the sandbox mounts it read-only. Where it does not, no file system can forbid a name; what
//! a run created is moved aside before anybody gets the run's answer.

use std::fmt;
use std::path::{Path, PathBuf};

use skillfold_core::diagnostic::visible;

use crate::approved_path::OpenedPath;
use crate::error::RunError;
use crate::protected::Protected;

/// What was put right in a writable folder after a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Correction {
    /// The run created something that no run may, and it was renamed.
    MovedAside {
        /// Where it was created.
        path: PathBuf,
        /// Where it is now.
        to: PathBuf,
    },
    /// The run removed a link that no run may change, and it was created again.
    PutBack(PathBuf),
    /// The run changed something that no run may, and it could not be put right.
    Failed(PathBuf),
}

impl fmt::Display for Correction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |path: &Path| visible(&path.to_string_lossy()).into_owned();
        match self {
            Self::MovedAside { path, to } => write!(
                formatter,
                "The script created `{}`, which no skill may; it is now `{}`",
                shown(path),
                shown(to)
            ),
            Self::PutBack(path) => write!(
                formatter,
                "The script removed the link `{}`, which no skill may; it is back",
                shown(path)
            ),
            Self::Failed(path) => write!(
                formatter,
                "The script changed `{}`, which no skill may, and it could not be put right: check it before you use the folder",
                shown(path)
            ),
        }
    }
}

/// Something in a writable folder that stays read-only.
#[derive(Debug)]
pub(crate) struct ReadOnlyPart {
    /// The path without links.
    pub(crate) real: PathBuf,
    /// Where the run sees it.
    pub(crate) path: PathBuf,
    pub(crate) inode: (u64, u64),
}

/// Watches over the folders that a run may write.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    pub(crate) parts: Vec<ReadOnlyPart>,
    #[cfg(unix)]
    folders: Vec<unix::Folder>,
    #[cfg(unix)]
    names: Vec<String>,
}

#[cfg(unix)]
impl Guard {
    /// Returns the names that no run may create or change.
    #[cfg_attr(not(target_os = "macos"), expect(dead_code, reason = "for Seatbelt"))]
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }
}

#[cfg(not(unix))]
impl Guard {
    #[expect(clippy::unnecessary_wraps, reason = "fails on other systems")]
    pub(crate) fn new(
        _: &[OpenedPath],
        _: &Protected,
        _: impl Fn() -> bool,
    ) -> Result<Self, RunError> {
        Ok(Self::default())
    }

    pub(crate) fn check(&self) -> Vec<Correction> {
        Vec::new()
    }
}

#[cfg(unix)]
mod unix {
    use std::ffi::{CStr, OsStr, OsString};
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::{Path, PathBuf};
    use std::thread;
    use std::time::Duration;

    use rustix::fs::{
        AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, chmodat, flock, openat,
        readlinkat, renameat, statat, symlinkat,
    };
    use rustix::io::Errno;
    #[cfg(target_os = "linux")]
    use rustix::time::{ClockId, clock_gettime};

    use super::{Correction, Guard, OpenedPath, Protected, ReadOnlyPart, RunError};
    use crate::approved_path::{PathAccess, device};
    use crate::error::RunErrorKind;

    /// Maximum entries of a writable folder: it is searched before and after each run.
    const MAX_ENTRIES: usize = 1_000_000;

    /// Maximum folders inside each other: each takes a descriptor while it is searched.
    const MAX_DEPTH: usize = 64;

    /// Maximum copies of one name that are kept aside.
    const MAX_ASIDE: usize = 100;

    /// How often to look whether another run has ended.
    const POLL: Duration = Duration::from_millis(5);

    /// Appended to the name of what a run may not create.
    const ASIDE: &str = ".removed-by-skillfold";

    /// A folder that a run may write, and what it had before the run.
    #[derive(Debug)]
    pub(super) struct Folder {
        handle: OwnedFd,
        path: PathBuf,
        real: PathBuf,
        before: Vec<Part>,
        /// Before this nothing was changed by the run, in nanoseconds; 0 if the file system has a clock of its own.
        started: i128,
        /// Keeps other runs from writing to the folder, and to those around it and in it.
        _locks: Vec<OwnedFd>,
    }

    /// Something whose name stays read-only.
    #[derive(Debug, PartialEq, Eq)]
    struct Part {
        /// Its path inside the folder.
        inside: PathBuf,
        inode: (u64, u64),
        /// Where it leads, if it is a link.
        target: Option<OsString>,
    }

    impl Part {
        /// Returns whether this is the same thing, maybe elsewhere. Numbers of deleted links are used again.
        fn is(&self, other: &Self) -> bool {
            self.inode == other.inode && self.target == other.target
        }
    }

    /// Whether a folder is searched before a run or after it.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum When {
        Before,
        /// The run could lock folders and fill them, so all of them are opened, and nothing ends the search.
        After,
    }

    /// Why a folder was not searched to its end, before a run.
    enum Stopped {
        TooLarge,
        TooDeep(PathBuf),
        Locked(PathBuf),
    }

    impl Stopped {
        fn error(self, folder: &Path) -> RunError {
            let (message, hint) = match self {
                Self::TooLarge => (
                    format!(
                        "Folder has more than {MAX_ENTRIES} entries, too many to write to safely: `{}`",
                        folder.display()
                    ),
                    "Allow a folder inside it",
                ),
                Self::TooDeep(inside) => (
                    format!(
                        "Folder is more than {MAX_DEPTH} folders deep, too many to write to safely: `{}`",
                        folder.join(inside).display()
                    ),
                    "Delete what is so deep, or allow another folder",
                ),
                Self::Locked(inside) => (
                    format!(
                        "Folder cannot be searched for what stays read-only in it: `{}`",
                        folder.join(inside).display()
                    ),
                    "Make it readable for yourself, or allow another folder",
                ),
            };
            RunError::new(RunErrorKind::NotPermitted, message, hint)
        }
    }

    /// One entry with a name that stays read-only.
    struct Found<'a> {
        parent: BorrowedFd<'a>,
        name: &'a CStr,
        part: Part,
        /// When it was created, renamed or changed otherwise, in nanoseconds.
        changed: i128,
    }

    impl Guard {
        /// Finds what stays read-only in the writable folders. Waits until no other run writes to them, or `is_over`.
        pub(crate) fn new(
            granted: &[OpenedPath],
            protected: &Protected,
            is_over: impl Fn() -> bool,
        ) -> Result<Self, RunError> {
            let mut guard = Self {
                names: protected.read_only_names().to_vec(),
                ..Self::default()
            };
            let writable = granted
                .iter()
                .filter(|path| path.access == PathAccess::Write && path.real.is_dir());
            for granted in writable {
                if guard.names.is_empty() && protected.read_only_paths().is_empty() {
                    break;
                }
                let locks = lock(granted, &is_over)?;
                let mut before = Vec::new();
                let started = start_on(granted.handle());
                let walked = walk(granted.handle(), &guard.names, When::Before, &mut |found| {
                    before.push(found.part);
                });
                walked.map_err(|stopped| stopped.error(&granted.path))?;
                let handle = granted.handle().try_clone_to_owned();
                let folder = Folder {
                    handle: handle.map_err(|error| {
                        RunError::failed_to_start("Could not open a granted folder", error)
                    })?,
                    path: granted.path.clone(),
                    real: granted.real.clone(),
                    before,
                    started,
                    _locks: locks,
                };
                guard.add_parts(&folder, protected);
                guard.folders.push(folder);
            }
            Ok(guard)
        }

        /// Adds what is mounted read-only in a folder: what was found, where links lead, and the protected paths.
        fn add_parts(&mut self, folder: &Folder, protected: &Protected) {
            let mut inside: Vec<PathBuf> = Vec::new();
            for part in &folder.before {
                let real = folder.real.join(&part.inside);
                let real = match part.target {
                    None => Some(real),
                    Some(_) => real.canonicalize().ok(),
                };
                let relative =
                    real.and_then(|real| Some(real.strip_prefix(&folder.real).ok()?.to_owned()));
                inside.extend(relative);
            }
            let paths = protected.read_only_paths().iter();
            inside.extend(paths.filter_map(|path| {
                let real = path.canonicalize().ok()?;
                Some(real.strip_prefix(&folder.real).ok()?.to_owned())
            }));
            inside.sort();
            inside.dedup();
            for part in inside {
                let is_covered =
                    |known: &ReadOnlyPart| folder.real.join(&part).starts_with(&known.real);
                if part.as_os_str().is_empty() || self.parts.iter().any(is_covered) {
                    continue;
                }
                let Ok(found) = statat(&folder.handle, &part, AtFlags::SYMLINK_NOFOLLOW) else {
                    continue;
                };
                self.parts.push(ReadOnlyPart {
                    real: folder.real.join(&part),
                    path: folder.path.join(&part),
                    inode: (device(found.st_dev), found.st_ino),
                });
            }
        }

        /// Moves aside what the run created under a name that stays read-only, and puts links back. Call it when every
        /// process of the run has ended, or the next one is created behind its back.
        pub(crate) fn check(&self) -> Vec<Correction> {
            let mut corrections = Vec::new();
            for folder in &self.folders {
                let mut seen = Vec::new();
                let _ = walk(
                    folder.handle.as_fd(),
                    &self.names,
                    When::After,
                    &mut |found| {
                        let is_old = || folder.started > found.changed;
                        if folder.before.iter().any(|part| part.is(&found.part)) || is_old() {
                            seen.push(found.part);
                            return;
                        }
                        let path = folder.path.join(&found.part.inside);
                        corrections.push(match move_aside(&found) {
                            Some(name) => Correction::MovedAside {
                                to: path.with_file_name(name),
                                path,
                            },
                            None => Correction::Failed(path),
                        });
                    },
                );
                for link in folder.before.iter().filter(|part| part.target.is_some()) {
                    if !seen.iter().any(|part| part.is(link)) {
                        let path = folder.path.join(&link.inside);
                        corrections.push(match put_back(folder, link) {
                            Ok(()) => Correction::PutBack(path),
                            Err(_) => Correction::Failed(path),
                        });
                    }
                }
            }
            corrections
        }
    }

    /// Locks a folder for this run alone, and the folders around it against runs that could write to all of them.
    fn lock(granted: &OpenedPath, is_over: &impl Fn() -> bool) -> Result<Vec<OwnedFd>, RunError> {
        let mut locks = Vec::new();
        let own = openat(granted.handle(), c".", READ, Mode::empty());
        let around = granted.real.ancestors().skip(1);
        let around = around.filter_map(|folder| openat(CWD, folder, READ, Mode::empty()).ok());
        let around = around.map(|folder| (folder, FlockOperation::NonBlockingLockShared));
        let own = own.map(|folder| (folder, FlockOperation::NonBlockingLockExclusive));
        for (folder, operation) in own.into_iter().chain(around) {
            // A file system without locks has none to wait for.
            while let Err(Errno::WOULDBLOCK) = flock(&folder, operation) {
                if is_over() {
                    let path = granted.path.display();
                    let message = format!("Another run still writes to the folder: `{path}`");
                    let hint = "Wait until it has ended, and run it again";
                    return Err(RunError::new(RunErrorKind::NotPermitted, message, hint));
                }
                thread::sleep(POLL);
            }
            locks.push(folder);
        }
        Ok(locks)
    }

    /// Calls `visit` with everything in a folder whose name stays read-only, and does not look inside it.
    fn walk(
        folder: BorrowedFd<'_>,
        names: &[String],
        when: When,
        visit: &mut dyn FnMut(Found<'_>),
    ) -> Result<(), Stopped> {
        if names.is_empty() {
            return Ok(());
        }
        let mut left = match when {
            When::Before => MAX_ENTRIES,
            When::After => usize::MAX,
        };
        let Ok(opened) = openat(folder, c".", READ, Mode::empty()) else {
            return Ok(());
        };
        walk_folder(opened, Path::new(""), names, when, &mut left, visit)
    }

    const READ: OFlags = OFlags::RDONLY
        .union(OFlags::DIRECTORY)
        .union(OFlags::NOFOLLOW)
        .union(OFlags::CLOEXEC);

    fn walk_folder(
        folder: OwnedFd,
        inside: &Path,
        names: &[String],
        when: When,
        left: &mut usize,
        visit: &mut dyn FnMut(Found<'_>),
    ) -> Result<(), Stopped> {
        let Ok(mut entries) = Dir::new(folder) else {
            return Ok(());
        };
        let mut folders = Vec::new();
        let mut parts = Vec::new();
        while let Some(Ok(entry)) = entries.read() {
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            *left = left.checked_sub(1).ok_or(Stopped::TooLarge)?;
            let text = OsStr::from_bytes(name.to_bytes());
            if is_read_only(inside, text, names) {
                parts.push(name.to_owned());
            } else if matches!(entry.file_type(), FileType::Directory | FileType::Unknown) {
                folders.push(name.to_owned());
            }
        }
        parts.sort();
        folders.sort();
        let Ok(handle) = entries.fd() else {
            return Ok(());
        };
        for name in parts {
            let text = OsStr::from_bytes(name.to_bytes());
            let Ok(found) = statat(handle, &*name, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            let target = readlinkat(handle, &*name, Vec::new()).ok();
            visit(Found {
                parent: handle,
                name: &name,
                changed: nanoseconds(found.st_ctime, found.st_ctime_nsec),
                part: Part {
                    inside: inside.join(text),
                    inode: (device(found.st_dev), found.st_ino),
                    target: target.map(|target| OsStr::from_bytes(target.to_bytes()).to_owned()),
                },
            });
        }
        for name in folders {
            let inside = inside.join(OsStr::from_bytes(name.to_bytes()));
            let is_deep = inside.components().count() > MAX_DEPTH;
            match open_folder(handle, &name, when) {
                Ok(_) if is_deep && when == When::Before => return Err(Stopped::TooDeep(inside)),
                Ok(folder) if !is_deep => walk_folder(folder, &inside, names, when, left, visit)?,
                Err(Errno::ACCESS) if when == When::Before && is_own(handle, &name) => {
                    return Err(Stopped::Locked(inside));
                }
                // After the run, the next one is refused. What another user locked is closed to the run too.
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns whether the user could unlock a folder, and so could a run.
    fn is_own(parent: BorrowedFd<'_>, name: &CStr) -> bool {
        let found = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| {
            let is_folder = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
            is_folder && found.st_uid == rustix::process::geteuid().as_raw()
        })
    }

    /// Opens a folder to search it. A run can take away its owner's right to do so, and the owner can take it back.
    fn open_folder(parent: BorrowedFd<'_>, name: &CStr, when: When) -> Result<OwnedFd, Errno> {
        match openat(parent, name, READ, Mode::empty()) {
            Err(Errno::ACCESS) if when == When::After => {
                let found = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
                if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
                    return Err(Errno::NOTDIR);
                }
                chmodat(parent, name, Mode::RWXU, AtFlags::empty())?;
                openat(parent, name, READ, Mode::empty())
            }
            opened => opened,
        }
    }

    /// Returns whether an entry stays read-only. Letters count in both cases: some file systems see no difference.
    fn is_read_only(inside: &Path, name: &OsStr, names: &[String]) -> bool {
        let is = |one: &OsStr, other: &str| one.as_bytes().eq_ignore_ascii_case(other.as_bytes());
        names.iter().any(|known| match known.split_once('/') {
            None => is(name, known),
            Some((parent, known)) => {
                is(name, known) && inside.file_name().is_some_and(|it| is(it, parent))
            }
        })
    }

    /// File systems whose times are those of this machine: ext4, XFS, Btrfs, F2FS, ZFS, tmpfs, overlays.
    #[cfg(target_os = "linux")]
    const OWN_CLOCK: [u32; 7] = [
        0xef53,
        0x5846_5342,
        0x9123_683e,
        0xf2f5_2010,
        0x2fc1_2fc1,
        0x0102_1994,
        0x794c_7630,
    ];

    /// Returns the time before which nothing that a run creates can have been changed. Creating and renaming sets a time
    /// that no program can set itself. So something older was there before, even if the search missed it because
    /// somebody renamed a folder just then.
    #[cfg(target_os = "linux")]
    fn start_on(folder: BorrowedFd<'_>) -> i128 {
        let kind = rustix::fs::fstatfs(folder).map_or(0, |system| system.f_type);
        let has_own_clock = OWN_CLOCK.iter().any(|known| i64::from(*known) == kind);
        if !has_own_clock {
            return 0;
        }
        let now = clock_gettime(ClockId::Realtime);
        // The kernel's clock for files is a few milliseconds behind.
        nanoseconds(now.tv_sec, now.tv_nsec) - 100_000_000
    }

    #[cfg(not(target_os = "linux"))]
    fn start_on(_: BorrowedFd<'_>) -> i128 {
        0
    }

    fn nanoseconds(seconds: impl Into<i128>, rest: impl Into<i128>) -> i128 {
        seconds.into() * 1_000_000_000 + rest.into()
    }

    /// Renames what a run created, and returns its new name.
    fn move_aside(found: &Found<'_>) -> Option<OsString> {
        let name = OsStr::from_bytes(found.name.to_bytes());
        for number in 1..=MAX_ASIDE {
            let mut new = name.to_owned();
            new.push(ASIDE);
            if number > 1 {
                new.push(format!("-{number}"));
            }
            if statat(found.parent, &new, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                continue;
            }
            let rename = || renameat(found.parent, found.name, found.parent, &new);
            let renamed = match rename() {
                // The run took away the right to change the folder.
                Err(Errno::ACCESS) => {
                    rustix::fs::fchmod(found.parent, Mode::RWXU).and_then(|()| rename())
                }
                renamed => renamed,
            };
            return renamed.ok().map(|()| new);
        }
        None
    }

    /// Creates a link again that the run removed.
    fn put_back(folder: &Folder, link: &Part) -> io::Result<()> {
        let mut parent = folder.handle.try_clone()?;
        for part in link.inside.parent().unwrap_or(Path::new("")).components() {
            parent = openat(parent, part.as_os_str(), READ, Mode::empty())?;
        }
        let target = link.target.as_deref().unwrap_or_default();
        let name = link.inside.file_name().unwrap_or_default();
        Ok(symlinkat(target, parent, name)?)
    }
}
