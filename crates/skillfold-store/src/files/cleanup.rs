//! Lists and removes files by name prefix.

use std::ffi::OsString;
use std::path::Path;
use std::time::SystemTime;

use skillfold_core::Error;

use crate::files::dir::Kind;
use crate::files::fault::{WriteFault, WriteResult};
use crate::files::write_root::WriteRoot;

impl WriteRoot {
    /// Returns the names that start with `prefix`, in no particular order.
    ///
    /// # Errors
    ///
    /// [`Unwritable`](skillfold_core::ErrorKind::Unwritable) if the folder cannot be listed.
    pub fn names_with_prefix(&self, prefix: &str) -> Result<Vec<OsString>, Error> {
        let names = self.dir.names_with_prefix(prefix);
        let names = names.map_err(WriteFault::from);
        names.map_err(|fault| fault.into_error(&self.full_path(Path::new(""))))
    }

    /// Returns the names in a subfolder; none if the subfolder does not exist.
    pub(crate) fn names_in(&self, folder: impl AsRef<Path>) -> WriteResult<Vec<OsString>> {
        let inside = folder.as_ref().join("x");
        match self.open_parent(&inside) {
            Ok((dir, _)) => Ok(dir.names_with_prefix("")?),
            Err(fault) if fault.is_missing() => Ok(Vec::new()),
            Err(fault) => Err(fault),
        }
    }

    /// Removes a file, whatever its content.
    pub(crate) fn unlink(&self, file: &Path) -> Result<(), Error> {
        let unlink = || -> WriteResult<()> {
            let (dir, name) = self.open_parent(file)?;
            dir.remove(name)?;
            Ok(dir.sync()?)
        };
        unlink().map_err(|fault| fault.into_error(&self.full_path(file)))
    }

    /// Removes the files whose names start with `prefix` if they were last written before `oldest`, and all but the
    /// newest `keep` of the others. Keeps subfolders and links. Returns how many files were removed.
    ///
    /// # Errors
    ///
    /// [`Unwritable`](skillfold_core::ErrorKind::Unwritable) if the folder cannot be listed. A file that cannot be read
    /// or removed stays.
    pub fn remove_old(
        &self,
        prefix: &str,
        oldest: SystemTime,
        keep: usize,
    ) -> Result<usize, Error> {
        let remove = || -> WriteResult<usize> {
            let mut files: Vec<(SystemTime, OsString)> = Vec::new();
            for name in self.dir.names_with_prefix(prefix)? {
                let is_file = self
                    .dir
                    .stat(&name)?
                    .is_some_and(|it| it.kind == Kind::File);
                let written = is_file.then(|| self.dir.open_read(&name).ok()?.metadata().ok());
                if let Some(written) = written.flatten().and_then(|it| it.modified().ok()) {
                    files.push((written, name));
                }
            }
            files.sort_by(|one, other| other.cmp(one));
            let outdated = files.iter().skip(keep);
            let outdated = outdated.chain(files.iter().take(keep).filter(|it| it.0 < oldest));
            Ok(outdated
                .filter(|(_, name)| self.dir.remove(name).is_ok())
                .count())
        };
        remove().map_err(|fault| fault.into_error(&self.full_path(Path::new(""))))
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests check the disk without the store"
)]
mod tests {
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    use crate::WriteRoot;

    #[test]
    fn cleanup_removes_only_old_or_surplus_files() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        for (age, name) in [
            (0, "x-a"),
            (1, "x-b"),
            (2, "x-c"),
            (90, "x-d"),
            (90, "other"),
        ] {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(now - Duration::from_secs(age)).unwrap();
        }
        fs::create_dir(folder.path().join("x-folder")).unwrap();
        let root = WriteRoot::open(folder.path()).unwrap();
        let minute = now - Duration::from_secs(60);
        assert_eq!(root.remove_old("x-", minute, 2).unwrap(), 2);
        let entries = fs::read_dir(folder.path()).unwrap();
        let mut left: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["other", "x-a", "x-b", "x-folder"]);
    }
}
