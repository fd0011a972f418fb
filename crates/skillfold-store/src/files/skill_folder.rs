//! A skill's folder, read and replaced as a unit.
//!
//! A change is one atomic step: it exchanges a file for its new content or, if several files change, the folder for a
//! new one.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use skillfold_core::load::Digest;
use skillfold_core::name::is_vcs_name;
use skillfold_core::{Error, Refusal};

use crate::change::FileEdit;
use crate::files::dir::{Dir, Kind};
use crate::files::fault::{CHANGED, WriteFault, WriteResult};
use crate::files::restore::KEPT_PREFIX;
use crate::files::skill_files::{MAX_BYTES, MAX_DEPTH, SkillFiles};
use crate::files::staged::remove_leftovers;
use crate::files::staged_folder::{StagedFolder, remove_folder, replaced_name};
use crate::files::temporary_name::{TEMPORARY_PREFIX, is_temporary, random_name};
use crate::files::write_root::{Access, WriteRoot, missing_to_changed};

const HAS_MORE: &str = "Its folder has links or a repository of its own; remove the folder yourself if nothing in it is needed";

/// A skill's location: a folder the user trusts, and a path below it on which no link is followed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SkillPath {
    base: PathBuf,
    folder: PathBuf,
}

impl SkillPath {
    /// Creates the path of the skill in `folder`, which is `base` or below it.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the folder is not below `base`.
    pub fn new(base: &Path, folder: &Path) -> Result<Self, Error> {
        let refused = || {
            let rule = "It is not inside its root";
            Error::refused(folder.to_string_lossy(), Refusal::Write, rule)
        };
        let (base, relative) = match folder.strip_prefix(base) {
            Ok(relative) if relative.as_os_str().is_empty() => {
                let above = folder.parent().ok_or_else(refused)?;
                let name = folder.file_name().ok_or_else(refused)?;
                (above, Path::new(name))
            }
            Ok(relative) => (base, relative),
            Err(_) => return Err(refused()),
        };
        Ok(Self {
            base: base.to_owned(),
            folder: relative.to_owned(),
        })
    }

    /// Returns the trusted folder and the relative path.
    pub(crate) fn parts(&self) -> (&Path, &Path) {
        (&self.base, &self.folder)
    }

    /// Creates a path from its recorded parts.
    pub(crate) fn from_parts(base: PathBuf, folder: PathBuf) -> Result<Self, Error> {
        let is_below = folder
            .components()
            .all(|it| matches!(it, Component::Normal(_)));
        if base.is_absolute() && is_below && folder.file_name().is_some() {
            return Ok(Self { base, folder });
        }
        let why = "It is not the path of a skill's folder";
        Err(Error::invalid(base.join(folder).to_string_lossy(), why))
    }

    /// Returns the path of the skill's folder.
    pub fn path(&self) -> PathBuf {
        self.base.join(&self.folder)
    }

    fn error(&self, fault: WriteFault) -> Error {
        fault.into_error(&self.path())
    }

    /// Reads the skill's files; `None` if there is no such folder.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the skill has a visible link, a special file, a name that is
    /// not portable, or more than 10,000 entries or 64 MiB.
    pub fn read(&self) -> Result<Option<SkillFiles>, Error> {
        let read = || -> WriteResult<SkillFiles> {
            let (parent, name) = self.parent()?;
            let folder = parent.open_subfolder(name)?;
            SkillFiles::read(&folder)
        };
        match read() {
            Ok(files) => Ok(Some(files)),
            Err(fault) if fault.is_missing() => Ok(None),
            Err(fault) => Err(self.error(fault)),
        }
    }

    /// Flushes the names of the skill's files and of its folder.
    pub(crate) fn flush(&self) -> Result<(), Error> {
        let flush = || -> WriteResult<()> {
            let (parent, name) = self.parent()?;
            match parent.open_subfolder(name) {
                Err(fault) if fault.is_missing() => {}
                folder => flush_folders(&folder?, 0)?,
            }
            Ok(parent.sync()?)
        };
        match flush() {
            Err(fault) if !fault.is_missing() => Err(self.error(fault)),
            _ => Ok(()),
        }
    }

    /// Opens the parent folder, and returns it with the name of the skill's folder.
    fn parent(&self) -> WriteResult<(Dir, &OsStr)> {
        WriteRoot::open_folder(&self.base)?.open_parent(&self.folder)
    }

    /// Creates a new skill's folder with its files. `staging` is the folder's name while it is built.
    ///
    /// # Errors
    ///
    /// [`Exists`](skillfold_core::ErrorKind::Exists) if the name is taken.
    pub(crate) fn create(&self, edits: &[FileEdit], staging: &str) -> Result<(), Error> {
        let create = || -> WriteResult<()> {
            let root = WriteRoot::open_or_create_folder(&self.base, Access::Ordinary)?;
            let (parent, name) = root.open_or_create_parent(&self.folder, Access::Ordinary)?;
            if parent.stat(name)?.is_some() {
                return Err(WriteFault::Exists);
            }
            let mut new = StagedFolder::start(&parent, staging, 0o755)?;
            new.fill(None, edits)?;
            match parent.rename_no_replace(OsStr::new(staging), name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return Err(WriteFault::Exists);
                }
                renamed => renamed?,
            }
            if let Err(error) = parent.sync() {
                parent.rename(name, OsStr::new(staging))?;
                return Err(error.into());
            }
            new.keep();
            Ok(())
        };
        create().map_err(|fault| self.error(fault))
    }

    /// Changes the skill if it is still what was read. `staging` is the new folder's name while it is built.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the skill has changed. It is left as is then.
    pub(crate) fn change(
        &self,
        old: &SkillFiles,
        edits: &[FileEdit],
        staging: &str,
    ) -> Result<(), Error> {
        if let [
            FileEdit {
                path,
                old: Some(_),
                new: Some(new),
            },
        ] = edits
            && let Some(file) = old.files.get(path.as_str())
        {
            let root = WriteRoot::open(&self.base)?;
            return root.replace(
                &self.folder.join(path.as_str()),
                file,
                new,
                Access::Ordinary,
            );
        }
        let change = || -> WriteResult<()> {
            let (parent, name) = self.parent()?;
            let current = parent.open_subfolder(name)?;
            let mut new = StagedFolder::start(&parent, staging, current.mode()?)?;
            new.fill(Some(&current), edits)?;
            new.exchange(name, old, edits)
        };
        change().map_err(|fault| self.error(missing_to_changed(fault)))
    }

    /// Removes the skill if it is still what was read. `staging` is the folder's name until it is gone.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the skill has changed, or its folder has more than the skill: links, or
    /// a repository. It is left as is then.
    pub(crate) fn remove(&self, old: &SkillFiles, staging: &str) -> Result<(), Error> {
        let remove = || -> WriteResult<()> {
            let (parent, name) = self.parent()?;
            let staging = OsStr::new(staging);
            let is_old = |name: &OsStr| {
                let folder = parent.open_subfolder(name)?;
                if SkillFiles::read(&folder)?.digest() != old.digest() {
                    return Err(WriteFault::Refused(CHANGED));
                }
                if has_more(&folder, old, "")? {
                    return Err(WriteFault::Refused(HAS_MORE));
                }
                Ok(())
            };
            is_old(name)?;
            parent.rename_no_replace(name, staging)?;
            let checked = is_old(staging).and_then(|()| Ok(parent.sync()?));
            if let Err(fault) = checked {
                parent.rename_no_replace(staging, name)?;
                return Err(fault);
            }
            Ok(())
        };
        remove().map_err(|fault| self.error(missing_to_changed(fault)))
    }

    /// Cleans up after a change to version `before`, whether or not it completed. `old` returns that version's files;
    /// anything neither there nor in the skill is kept, under a name that is never cleaned up. Returns the skill's
    /// current digest.
    pub(crate) fn recover(
        &self,
        before: Option<Digest>,
        old: impl FnOnce() -> Result<Option<SkillFiles>, Error>,
        staging: &str,
    ) -> Result<Option<Digest>, Error> {
        let (staging, replaced) = (OsStr::new(staging), replaced_name(OsStr::new(staging)));
        let clear = || -> WriteResult<Option<Dir>> {
            let (parent, name) = self.parent()?;
            if let Ok(skill) = parent.open_subfolder(name) {
                remove_temporary_files(&skill, 0)?;
            }
            let digest = |name: &OsStr| match parent.open_subfolder(name) {
                Ok(folder) => Ok(Some(SkillFiles::read(&folder)?.digest())),
                Err(fault) if fault.is_missing() => Ok(None),
                Err(fault) => Err(fault),
            };
            let found = digest(name)?;
            if parent.stat(staging)?.is_some() {
                // The skill was not replaced if it is unchanged, gone, or was never there.
                if before.is_none() || found.is_none() || found == before {
                    remove_folder(&parent, staging)?;
                } else {
                    // This name marks it as the old folder, even when only part of it is left.
                    parent.rename(staging, &replaced)?;
                }
            }
            if found.is_none() && parent.stat(&replaced)?.is_some() {
                if digest(&replaced).ok().flatten() == before {
                    parent.rename_no_replace(&replaced, name)?;
                } else {
                    parent.rename_no_replace(&replaced, &random_name(KEPT_PREFIX))?;
                }
            }
            parent.sync()?;
            let is_left = parent.stat(&replaced)?.is_some();
            Ok(is_left.then_some(parent))
        };
        match clear() {
            Err(fault) if !fault.is_missing() => return Err(self.error(fault)),
            Ok(Some(parent)) => {
                let old = old()?.unwrap_or_default();
                let removed = self.remove_replaced(&parent, &replaced, &old);
                removed.map_err(|fault| self.error(fault))?;
            }
            _ => {}
        }
        Ok(self.read()?.map(|files| files.digest()))
    }

    /// Removes the replaced folder, except what is neither in the skill nor among its old files. A program may have
    /// saved that there.
    fn remove_replaced(&self, parent: &Dir, replaced: &OsStr, old: &SkillFiles) -> WriteResult<()> {
        let (_, name) = self.parent()?;
        let skill = parent.open_subfolder(name)?;
        if !remove_known(parent, replaced, Some(&skill), old, "")? {
            parent.rename_no_replace(replaced, &random_name(KEPT_PREFIX))?;
        }
        Ok(parent.sync()?)
    }
}

/// Removes a folder's entries that are also in the folder `other` or in `old`, and the folder itself if it is then
/// empty. Returns whether it was removed.
fn remove_known(
    parent: &Dir,
    name: &OsStr,
    other: Option<&Dir>,
    old: &SkillFiles,
    prefix: &str,
) -> WriteResult<bool> {
    let folder = parent.open_subfolder(name)?;
    let mut is_gone = true;
    for entry in folder.names_with_prefix("")? {
        let path = format!("{prefix}{}", entry.to_string_lossy());
        let Some(found) = folder.stat(&entry)? else {
            continue;
        };
        if found.kind == Kind::Folder {
            let other = other.and_then(|it| it.open_subfolder(&entry).ok());
            let path = format!("{path}/");
            is_gone &= remove_known(&folder, &entry, other.as_ref(), old, &path)?;
            continue;
        }
        let twin = other.and_then(|it| it.stat(&entry).ok().flatten());
        let is_same_file = found.identity.is_some() && twin == Some(found);
        let is_known = is_same_file || {
            let bytes = content(&folder, &entry);
            let other = other.and_then(|it| content(it, &entry));
            bytes.is_some() && (bytes == other || bytes.as_deref() == old.get(&path))
        };
        if is_known {
            folder.remove(&entry)?;
        } else {
            is_gone = false;
        }
    }
    if !is_gone {
        return Ok(false);
    }
    match parent.remove_folder(name) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
        removed => Ok(removed.map(|()| true)?),
    }
}

/// Returns a file's content.
fn content(folder: &Dir, name: &OsStr) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = folder.open_read(name).ok()?;
    let size = file.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
    (size as u64 <= MAX_BYTES).then_some(bytes)
}

/// Removes killed writers' temporary files from a folder and its subfolders. They would count as the skill's files.
fn remove_temporary_files(folder: &Dir, depth: usize) -> WriteResult<()> {
    remove_leftovers(folder);
    for name in folder.names_with_prefix("")? {
        let is_folder = folder
            .stat(&name)?
            .is_some_and(|found| found.kind == Kind::Folder);
        if is_folder && depth < MAX_DEPTH && !name.to_str().is_some_and(is_vcs_name) {
            remove_temporary_files(&folder.open_subfolder(&name)?, depth + 1)?;
        }
    }
    Ok(())
}

/// Returns whether a folder has entries that are not the skill's: links and version control's folders.
fn has_more(folder: &Dir, skill: &SkillFiles, prefix: &str) -> WriteResult<bool> {
    for name in folder.names_with_prefix("")? {
        let path = format!("{prefix}{}", name.to_string_lossy());
        let has_more = match folder.stat(&name)?.map(|found| found.kind) {
            Some(Kind::Folder) if !name.to_str().is_some_and(is_vcs_name) => {
                has_more(&folder.open_subfolder(&name)?, skill, &format!("{path}/"))?
            }
            Some(_) => !is_temporary(&name) && skill.get(&path).is_none(),
            None => false,
        };
        if has_more {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Flushes a folder and its subfolders.
fn flush_folders(folder: &Dir, depth: usize) -> WriteResult<()> {
    for name in folder.names_with_prefix("")? {
        let is_folder = folder
            .stat(&name)?
            .is_some_and(|found| found.kind == Kind::Folder);
        if is_folder && depth < MAX_DEPTH {
            flush_folders(&folder.open_subfolder(&name)?, depth + 1)?;
        }
    }
    Ok(folder.sync()?)
}

/// Returns a random name for a folder being built.
pub(crate) fn staging_name() -> String {
    random_name(TEMPORARY_PREFIX).to_string_lossy().into_owned()
}

#[cfg(test)]
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[expect(
    clippy::disallowed_methods,
    reason = "tests check the disk without the store"
)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    const STAGING: &str = ".skillfold-write-test";

    /// A skill with two files and a hidden one, and a change to both.
    struct Fixture {
        folder: TempDir,
        place: SkillPath,
        old: SkillFiles,
        edits: Vec<FileEdit>,
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("pdf")).unwrap();
            for name in ["SKILL.md", "notes.md", ".hidden"] {
                fs::write(folder.path().join("pdf").join(name), "old").unwrap();
            }
            let place = SkillPath::new(folder.path(), &folder.path().join("pdf")).unwrap();
            let edit = |path: &str| {
                let (old, new) = (Some(b"old".to_vec()), Some(b"new".to_vec()));
                FileEdit::new(path.parse().unwrap(), old, new)
            };
            Self {
                old: place.read().unwrap().unwrap(),
                edits: vec![edit("SKILL.md"), edit("notes.md")],
                folder,
                place,
            }
        }

        fn write(&self, file: &str) {
            fs::write(self.folder.path().join(file), "edit").unwrap();
        }

        fn recover(&self) {
            let old = || Ok(Some(self.old.clone()));
            let before = Some(self.old.digest());
            self.place.recover(before, old, STAGING).unwrap();
        }

        /// Returns the files below the folder, with the random part of their names removed.
        fn files(&self) -> Vec<String> {
            let mut files = Vec::new();
            for folder in fs::read_dir(self.folder.path()).unwrap() {
                let folder = folder.unwrap();
                let name = folder.file_name().into_string().unwrap();
                let name = name.split_once("kept").map_or(&*name, |_| "kept");
                for file in fs::read_dir(folder.path()).unwrap() {
                    let file = file.unwrap();
                    let text = fs::read_to_string(file.path()).unwrap();
                    files.push(format!("{name}/{}={text}", file.file_name().display()));
                }
            }
            files.sort();
            files
        }
    }

    #[test]
    fn hidden_file_written_during_a_change_is_kept() {
        for file in ["pdf/.new", "pdf/.hidden"] {
            let fixture = Fixture::new();
            let (parent, name) = fixture.place.parent().unwrap();
            let current = parent.open_subfolder(name).unwrap();
            let mut new = StagedFolder::start(&parent, STAGING, 0o755).unwrap();
            new.fill(Some(&current), &fixture.edits).unwrap();
            // As editors save: write another file, then rename it.
            fixture.write("pdf/.being-saved");
            let path = |file: &str| fixture.folder.path().join(file);
            fs::rename(path("pdf/.being-saved"), path(file)).unwrap();
            let exchanged = new.exchange(name, &fixture.old, &fixture.edits);
            assert!(matches!(exchanged, Err(WriteFault::Refused(CHANGED))));
            let files = fixture.files();
            assert!(files.contains(&format!("{file}=edit")), "{files:?}");
            assert!(files.contains(&"pdf/SKILL.md=old".to_owned()), "{files:?}");
        }
    }

    #[test]
    fn file_written_to_the_old_folder_is_kept_aside() {
        let fixture = Fixture::new();
        let Fixture { old, edits, .. } = &fixture;
        fixture.place.change(old, edits, STAGING).unwrap();
        // A program had opened the folder earlier.
        fixture.write(&format!("{STAGING}/.late"));
        fixture.write(&format!("{STAGING}/notes.md"));
        fixture.recover();
        assert_eq!(
            fixture.files(),
            [
                "kept/.late=edit",
                "kept/notes.md=edit",
                "pdf/.hidden=old",
                "pdf/SKILL.md=new",
                "pdf/notes.md=new"
            ]
        );
    }

    #[test]
    fn partially_removed_old_folder_is_removed() {
        let fixture = Fixture::new();
        let Fixture { old, edits, .. } = &fixture;
        fixture.place.change(old, edits, STAGING).unwrap();
        fs::remove_file(fixture.folder.path().join(STAGING).join("SKILL.md")).unwrap();
        fixture.recover();
        assert_eq!(
            fixture.files(),
            ["pdf/.hidden=old", "pdf/SKILL.md=new", "pdf/notes.md=new"]
        );
    }
}
