//! A file that is written and synced under a temporary name, then renamed.
//!
//! A killed writer leaves its temporary file behind. The next write into the folder removes it, but must not remove a
//! live writer's file. So each writer locks its temporary file, and the system releases the lock when the process ends
//! for any reason: an unlocked file has no writer. A file that was created but not locked yet looks the same for a
//! moment. Its writer then finds the lock taken, or the name gone once it has the lock, and creates another file.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions, TryLockError};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;

use crate::files::calls::{flush, write_all};
use crate::files::dir::{Dir, Identity, Kind, identity};
use crate::files::fault::{CHANGED, WriteFault, WriteResult};
use crate::files::restore::{is_unchanged, restore_name};
use crate::files::temporary_name::{TEMPORARY_PREFIX, temporary_name};

/// How often another writer may remove a new temporary file as a leftover just before it is locked.
const MAX_ATTEMPTS: usize = 64;

/// Permissions of the new file.
#[derive(Debug)]
pub(crate) enum FileMode {
    /// 0644 less the umask.
    Ordinary,
    /// 0755 less the umask.
    Program,
    /// 0600.
    Private,
    /// The permissions of the file it replaces.
    Preserved(Permissions),
}

impl FileMode {
    fn when_created(&self) -> u32 {
        match self {
            Self::Ordinary => 0o644,
            Self::Program => 0o755,
            // Private until the content is complete, since the file it replaces may be private.
            Self::Private | Self::Preserved(_) => 0o600,
        }
    }
}

/// Writes and flushes a new file in a folder that nobody else knows.
pub(crate) fn write_new(dir: &Dir, name: &OsStr, bytes: &[u8], mode: &FileMode) -> io::Result<()> {
    let file = dir.create_file(name, mode.when_created())?;
    fill(&file, bytes, mode)
}

fn fill(file: &File, bytes: &[u8], mode: &FileMode) -> io::Result<()> {
    write_all(file, bytes)?;
    match mode {
        FileMode::Ordinary | FileMode::Program => {}
        #[cfg(unix)]
        FileMode::Private => file.set_permissions(Permissions::from_mode(0o600))?,
        #[cfg(not(unix))]
        FileMode::Private => {}
        FileMode::Preserved(permissions) => file.set_permissions(permissions.clone())?,
    }
    flush(file)
}

/// A temporary file in an open folder, removed on drop unless persisted.
#[derive(Debug)]
pub(crate) struct Staged<'a> {
    dir: &'a Dir,
    name: OsString,
    file: File,
    /// Identity of the temporary file to remove. Any other file with that name belongs to someone else.
    identity: Identity,
    is_persisted: bool,
}

impl<'a> Staged<'a> {
    /// Writes and syncs `bytes` under a temporary name, after removing killed writers' leftovers.
    pub(crate) fn write(dir: &'a Dir, bytes: &[u8], mode: &FileMode) -> io::Result<Self> {
        remove_leftovers(dir);
        let staged = Self::create(dir, mode)?;
        fill(&staged.file, bytes, mode)?;
        Ok(staged)
    }

    /// Creates and locks a temporary file, so that no other writer removes it as a leftover.
    fn create(dir: &'a Dir, mode: &FileMode) -> io::Result<Self> {
        for _ in 0..MAX_ATTEMPTS {
            let name = temporary_name();
            let file = match dir.create_file(&name, mode.when_created()) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            let identity = identity(&file.metadata()?);
            let is_ours = match file.try_lock() {
                Ok(()) => dir
                    .stat(&name)?
                    .is_some_and(|found| found.identity == identity),
                Err(TryLockError::WouldBlock) => false,
                // If this writer cannot lock, no other can either.
                Err(TryLockError::Error(_)) => true,
            };
            if is_ours {
                return Ok(Self {
                    dir,
                    name,
                    file,
                    identity,
                    is_persisted: false,
                });
            }
        }
        Err(io::Error::other("the temporary file was removed each time"))
    }

    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Renames the file to `name`. Fails if `name` exists.
    pub(crate) fn persist_new(mut self, name: &OsStr) -> io::Result<()> {
        self.dir.rename_no_replace(&self.name, name)?;
        self.is_persisted = true;
        Ok(())
    }

    /// Renames the file to `name`, replacing an existing file.
    pub(crate) fn persist(mut self, name: &OsStr) -> io::Result<()> {
        self.dir.rename(&self.name, name)?;
        self.is_persisted = true;
        Ok(())
    }

    /// Completes an exchange of names: removes the old file if it is still the one that was opened, with the content
    /// that was read. Otherwise, and if the check or the sync fails, swaps the names back.
    pub(crate) fn finish_exchange(
        mut self,
        name: &OsStr,
        old: &mut File,
        bytes: &[u8],
    ) -> WriteResult<()> {
        let result = is_unchanged(self.dir, &self.name, old, bytes).and_then(|is_unchanged| {
            if is_unchanged {
                self.dir.sync()?;
                self.identity = identity(&old.metadata()?);
            }
            Ok(is_unchanged)
        });
        if let Ok(true) = result {
            return Ok(());
        }
        let swapped_back = self.dir.exchange(&self.name, name);
        if swapped_back.is_err() || !self.owns_temporary_name() {
            restore_name(self.dir, &self.name, name)?;
        }
        Err(result.map_or_else(WriteFault::System, |_| WriteFault::Refused(CHANGED)))
    }

    /// Returns whether the temporary name still refers to this file.
    fn owns_temporary_name(&self) -> bool {
        let found = self.dir.stat(&self.name).ok().flatten();
        found.is_some_and(|found| found.identity == self.identity)
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.is_persisted && self.owns_temporary_name() {
            _ = self.dir.remove(&self.name);
        }
    }
}

/// Removes the temporary files of dead writers.
///
/// A file that cannot be listed, opened, locked or removed stays: wasted space is no reason to fail the write.
pub(crate) fn remove_leftovers(dir: &Dir) {
    for name in dir.names_with_prefix(TEMPORARY_PREFIX).unwrap_or_default() {
        let is_file = |kind| kind == Kind::File;
        let found = dir.stat(&name).ok().flatten();
        if !found.is_some_and(|found| is_file(found.kind)) {
            continue;
        }
        if let Ok(file) = dir.open_read(&name)
            && file.try_lock().is_ok()
        {
            // The lock is held until the name is gone, so the file's writer cannot lock it and still find the name.
            _ = dir.remove(&name);
        }
    }
}

#[cfg(test)]
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[expect(
    clippy::disallowed_methods,
    reason = "tests check the disk without the store"
)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::path::Path;

    use super::*;
    use crate::files::restore::{KEPT_ASIDE, remove_aside};

    /// A file `a` that was read with the content `old`, and its folder.
    struct Fixture {
        folder: tempfile::TempDir,
        dir: Dir,
        opened: File,
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("a"), "old").unwrap();
            let dir = Dir::open(folder.path()).unwrap();
            let opened = dir.open_read_write("a".as_ref()).unwrap();
            Self {
                folder,
                dir,
                opened,
            }
        }

        /// Replaces `name` as another program would.
        fn replace_file(&self, name: &Path, content: &str) {
            let other = self.folder.path().join("other");
            fs::write(&other, content).unwrap();
            fs::rename(other, self.folder.path().join(name)).unwrap();
        }

        /// Exchanges `a` for `new`, running `before` and `after` around it, and describes the result.
        fn exchange(mut self, before: fn(&Self), after: fn(&Self, &Path)) -> String {
            let staged = Staged::write(&self.dir, b"new", &FileMode::Ordinary).unwrap();
            let temporary = staged.name().to_owned();
            before(&self);
            self.dir.exchange(&temporary, "a".as_ref()).unwrap();
            after(&self, temporary.as_ref());
            let settled = staged.finish_exchange("a".as_ref(), &mut self.opened, b"old");
            self.describe(settled)
        }

        /// Removes `a`, running `before` and `after` around the rename, and describes the result.
        fn remove(mut self, before: fn(&Self), after: fn(&Self, &Path)) -> String {
            let aside = temporary_name();
            before(&self);
            self.dir.rename("a".as_ref(), &aside).unwrap();
            after(&self, aside.as_ref());
            let removed = remove_aside(&self.dir, &aside, "a".as_ref(), &mut self.opened, b"old");
            self.describe(removed)
        }

        fn describe(&self, done: WriteResult<()>) -> String {
            let done = match done {
                Ok(()) => "done".to_owned(),
                Err(WriteFault::Refused(CHANGED)) => "changed".to_owned(),
                Err(WriteFault::Refused(KEPT_ASIDE)) => "kept".to_owned(),
                Err(WriteFault::System(_)) => "failed".to_owned(),
                Err(other) => panic!("{other:?}"),
            };
            let entries = fs::read_dir(self.folder.path()).unwrap();
            let mut files: Vec<String> = entries
                .map(|entry| {
                    let path = entry.unwrap().path();
                    let name = path.file_name().unwrap().to_str().unwrap();
                    let name = name.trim_end_matches(|digit: char| digit.is_ascii_hexdigit());
                    let name = if name.is_empty() { "a" } else { name };
                    format!("{name}={}", fs::read_to_string(&path).unwrap())
                })
                .collect();
            files.sort();
            format!("{done}: {}", files.join(" "))
        }
    }

    fn noop(_: &Fixture) {}

    #[test]
    fn unchanged_file_is_replaced_or_removed() {
        assert_eq!(Fixture::new().exchange(noop, |_, _| {}), "done: a=new");
        assert_eq!(Fixture::new().remove(noop, |_, _| {}), "done: ");
    }

    #[test]
    fn file_of_another_writer_is_restored() {
        let before = |fixture: &Fixture| fixture.replace_file("a".as_ref(), "third");
        assert_eq!(
            Fixture::new().exchange(before, |_, _| {}),
            "changed: a=third"
        );
        assert_eq!(Fixture::new().remove(before, |_, _| {}), "changed: a=third");
    }

    #[test]
    fn file_of_another_writer_is_restored_even_if_the_new_one_was_removed() {
        let before = |fixture: &Fixture| fixture.replace_file("a".as_ref(), "third");
        let after =
            |fixture: &Fixture, _: &Path| fs::remove_file(fixture.folder.path().join("a")).unwrap();
        assert_eq!(Fixture::new().exchange(before, after), "changed: a=third");
    }

    #[test]
    fn files_of_two_other_writers_are_both_kept() {
        let before = |fixture: &Fixture| fixture.replace_file("a".as_ref(), "third");
        let after = |fixture: &Fixture, _: &Path| fixture.replace_file("a".as_ref(), "fourth");
        assert_eq!(
            Fixture::new().exchange(before, after),
            "kept: .skillfold-kept-=fourth a=third"
        );
        assert_eq!(
            Fixture::new().remove(before, after),
            "kept: .skillfold-kept-=third a=fourth"
        );
    }

    #[test]
    fn missing_or_replaced_old_file_counts_as_changed() {
        let gone = |fixture: &Fixture, temporary: &Path| {
            fs::remove_file(fixture.folder.path().join(temporary)).unwrap();
        };
        assert_eq!(Fixture::new().exchange(noop, gone), "changed: a=new");
        let other = |fixture: &Fixture, temporary: &Path| fixture.replace_file(temporary, "third");
        assert_eq!(Fixture::new().exchange(noop, other), "changed: a=third");
        assert_eq!(Fixture::new().remove(noop, other), "changed: a=third");
    }

    #[test]
    fn old_content_is_restored_if_it_cannot_be_compared() {
        for operation in [Fixture::exchange as fn(_, _, _) -> _, Fixture::remove] {
            let mut fixture = Fixture::new();
            let file = fixture.folder.path().join("a");
            // This handle is write-only.
            fixture.opened = OpenOptions::new().write(true).open(file).unwrap();
            assert_eq!(operation(fixture, noop, |_, _| {}), "failed: a=old");
        }
    }

    #[test]
    fn foreign_file_under_the_temporary_name_is_kept() {
        let fixture = Fixture::new();
        let staged = Staged::write(&fixture.dir, b"new", &FileMode::Ordinary).unwrap();
        fixture.replace_file(staged.name().as_ref(), "third");
        drop(staged);
        assert_eq!(
            fixture.describe(Ok(())),
            "done: .skillfold-write-=third a=old"
        );
    }
}
