//! A skill's new folder, built beside the old one and swapped in.
//!
//! Unchanged files are hard links to the old ones, so a program that holds one open still writes to the skill.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;

use crate::change::FileEdit;
use crate::files::dir::{Dir, Identity, Kind};
use crate::files::fault::{CHANGED, WriteFault, WriteResult};
use crate::files::restore::KEPT_PREFIX;
use crate::files::skill_files::{MAX_DEPTH, MAX_ENTRIES, NOT_A_FILE_INSIDE, SkillFiles, TOO_LARGE};
use crate::files::staged::{FileMode, write_new};
use crate::files::temporary_name::random_name;

const KEPT_ASIDE: &str = "The skill changed twice in the meantime; the other content is beside it, in the newest folder whose name starts with \
     `.skillfold-kept-`";

/// Returns the replaced folder's name until it is removed.
pub(crate) fn replaced_name(staging: &OsStr) -> OsString {
    let mut name = staging.to_owned();
    name.push("-old");
    name
}

/// A folder being built beside its final name. Removed on drop.
pub(crate) struct StagedFolder<'a> {
    parent: &'a Dir,
    name: OsString,
    dir: Dir,
    entries: StagedEntries,
    is_kept: bool,
}

impl<'a> StagedFolder<'a> {
    pub(crate) fn start(parent: &'a Dir, name: &str, mode: u32) -> WriteResult<Self> {
        parent.create_folder(OsStr::new(name), mode)?;
        let dir = parent.open_subfolder(OsStr::new(name))?;
        Ok(Self {
            parent,
            name: name.into(),
            dir,
            entries: StagedEntries::default(),
            is_kept: false,
        })
    }

    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }

    /// Fills the folder with the entries of `from`, with the edits applied.
    pub(crate) fn fill(&mut self, from: Option<&Dir>, edits: &[FileEdit]) -> WriteResult<()> {
        let changes = &mut Changes::new(edits);
        self.entries.add(&self.dir, from, changes, b"")
    }

    /// Swaps the folder in for the old one, unless that has changed. `SkillPath::recover` removes the old one.
    pub(crate) fn exchange(
        self,
        name: &OsStr,
        old: &SkillFiles,
        edits: &[FileEdit],
    ) -> WriteResult<()> {
        let (parent, staging) = (self.parent, self.name.clone());
        let is_old = |name: &OsStr| {
            let folder = parent.open_subfolder(name)?;
            if SkillFiles::read(&folder)?.digest() == old.digest()
                && self.entries.is_old(&folder, edits)?
            {
                Ok(())
            } else {
                Err(WriteFault::Refused(CHANGED))
            }
        };
        is_old(name)?;
        match parent.exchange(&staging, name) {
            Ok(()) => {
                let checked = is_old(&staging).and_then(|()| Ok(parent.sync()?));
                let Err(fault) = checked else {
                    self.keep();
                    return Ok(());
                };
                if let Err(error) = parent.exchange(&staging, name) {
                    self.keep();
                    return Err(error.into());
                }
                // Someone may have written to the new folder while it had the name.
                let files = SkillFiles::read(&self.dir);
                let is_new = files.is_ok_and(|it| it.digest() == old.edited(edits).digest())
                    && self.entries.is_new(&self.dir)?;
                if !is_new {
                    self.keep();
                    parent.rename_no_replace(&staging, &random_name(KEPT_PREFIX))?;
                    return Err(WriteFault::Refused(KEPT_ASIDE));
                }
                Err(fault)
            }
            // This takes two steps. If the second is missing after a crash, `recover` reverts the first.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                let replaced = replaced_name(&staging);
                parent.rename(name, &replaced)?;
                let renamed =
                    is_old(&replaced).and_then(|()| Ok(parent.rename_no_replace(&staging, name)?));
                if let Err(fault) = renamed {
                    parent.rename_no_replace(&replaced, name)?;
                    return Err(fault);
                }
                self.keep();
                Ok(parent.sync()?)
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for StagedFolder<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            _ = remove_folder(self.parent, &self.name);
        }
    }
}

/// The contents of a new folder.
#[derive(Default)]
struct StagedEntries {
    entries: usize,
    /// Files and links hard-linked from the old folder.
    linked: Entries,
    /// All files and links in the new folder.
    new: Entries,
}

/// Files and links by path: the bytes of the names, joined with `/`.
type Entries = BTreeMap<Vec<u8>, Identity>;

impl StagedEntries {
    /// Copies the entries of `from` to the folder `to`, with the edits below `prefix` applied, and flushes it.
    fn add(
        &mut self,
        to: &Dir,
        from: Option<&Dir>,
        changes: &mut Changes<'_>,
        prefix: &[u8],
    ) -> WriteResult<()> {
        check_depth(prefix)?;
        let names = from.map(|from| from.names_with_prefix("")).transpose()?;
        for (from, name) in from.into_iter().cycle().zip(names.unwrap_or_default()) {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(WriteFault::Refused(TOO_LARGE));
            }
            let path = [prefix, name.as_encoded_bytes()].concat();
            match from.stat(&name)? {
                Some(found) if found.kind == Kind::Folder => {
                    let inner = from.open_subfolder(&name)?;
                    to.create_folder(&name, inner.mode()?)?;
                    let new = to.open_subfolder(&name)?;
                    self.add(&new, Some(&inner), changes, &[&path, &b"/"[..]].concat())?;
                    if changes.has(&path) {
                        // A file takes its place.
                        to.remove_folder(&name)?;
                    }
                }
                Some(found) if found.kind != Kind::Other => {
                    match changes.take(&path).map(|edit| &edit.new) {
                        None => {
                            from.link_into(&name, to)?;
                            self.linked.insert(path.clone(), found.identity);
                        }
                        Some(None) => continue,
                        Some(Some(bytes)) => {
                            let permissions = from.open_read(&name)?.metadata()?.permissions();
                            write_new(to, &name, bytes, &FileMode::Preserved(permissions))?;
                        }
                    }
                    self.added(to, &name, path)?;
                }
                Some(_) => return Err(WriteFault::Refused(NOT_A_FILE_INSIDE)),
                None => return Err(WriteFault::Refused(CHANGED)),
            }
        }
        self.add_new(to, changes, prefix)?;
        Ok(to.sync()?)
    }

    /// Applies the remaining edits below the folder `prefix`.
    fn add_new(&mut self, to: &Dir, changes: &mut Changes<'_>, prefix: &[u8]) -> WriteResult<()> {
        while let Some((path, edit)) = changes.first_below(prefix) {
            let rest = &path[prefix.len()..];
            let (name, inside) = rest.split_once('/').unwrap_or((rest, ""));
            let (name, path) = (OsStr::new(name), [prefix, name.as_bytes()].concat());
            if inside.is_empty() {
                changes.take(&path);
                if let Some(bytes) = &edit.new {
                    let mode = new_file_mode(bytes);
                    write_new(to, name, bytes, &mode)?;
                    self.added(to, name, path)?;
                }
                continue;
            }
            if to.stat(name)?.is_none() {
                to.create_folder(name, 0o755)?;
            }
            let new = to.open_subfolder(name)?;
            self.add(&new, None, changes, &[&path, &b"/"[..]].concat())?;
        }
        Ok(())
    }

    fn added(&mut self, to: &Dir, name: &OsStr, path: Vec<u8>) -> io::Result<()> {
        let found = to.stat(name)?;
        self.new.extend(found.map(|found| (path, found.identity)));
        Ok(())
    }

    /// Returns whether a folder is the old one, ignoring edited files. Hidden files count.
    fn is_old(&self, folder: &Dir, edits: &[FileEdit]) -> WriteResult<bool> {
        let mut found = Entries::new();
        list(folder, b"", &mut found)?;
        for edit in edits {
            found.remove(edit.path.as_str().as_bytes());
        }
        Ok(found == self.linked)
    }

    /// Returns whether a folder is the new one. Hidden files count.
    fn is_new(&self, folder: &Dir) -> WriteResult<bool> {
        let mut found = Entries::new();
        list(folder, b"", &mut found)?;
        Ok(found == self.new)
    }
}

/// Lists a folder's files and links.
fn list(folder: &Dir, prefix: &[u8], found: &mut Entries) -> WriteResult<()> {
    check_depth(prefix)?;
    for name in folder.names_with_prefix("")? {
        let path = [prefix, name.as_encoded_bytes()].concat();
        match folder.stat(&name)? {
            Some(entry) if entry.kind == Kind::Folder => {
                let inner = folder.open_subfolder(&name)?;
                list(&inner, &[&path, &b"/"[..]].concat(), found)?;
            }
            entry => found.extend(entry.map(|entry| (path, entry.identity))),
        }
    }
    Ok(())
}

fn check_depth(prefix: &[u8]) -> WriteResult<()> {
    if prefix.split(|byte| *byte == b'/').count() > MAX_DEPTH + 1 {
        return Err(WriteFault::Refused(TOO_LARGE));
    }
    Ok(())
}

/// The pending edits, by path.
struct Changes<'a>(BTreeMap<&'a str, &'a FileEdit>);

impl<'a> Changes<'a> {
    fn new(edits: &'a [FileEdit]) -> Self {
        Self(
            edits
                .iter()
                .map(|edit| (edit.path.as_str(), edit))
                .collect(),
        )
    }

    fn take(&mut self, path: &[u8]) -> Option<&'a FileEdit> {
        self.0.remove(str::from_utf8(path).ok()?)
    }

    /// Returns whether something is written at a path.
    fn has(&self, path: &[u8]) -> bool {
        let edit = str::from_utf8(path).ok().and_then(|path| self.0.get(path));
        edit.is_some_and(|edit| edit.new.is_some())
    }

    /// Returns the first edit below a folder.
    fn first_below(&self, prefix: &[u8]) -> Option<(&'a str, &'a FileEdit)> {
        let mut edits = self.0.iter().map(|(path, edit)| (*path, *edit));
        edits.find(|(path, _)| path.as_bytes().starts_with(prefix))
    }
}

/// Makes a new program executable, by the rule of the sandbox: the digest covers no modes.
fn new_file_mode(bytes: &[u8]) -> FileMode {
    if bytes.starts_with(b"#!") || bytes.starts_with(b"\x7fELF") {
        FileMode::Program
    } else {
        FileMode::Ordinary
    }
}

/// Removes a folder and its contents. Links are removed, not followed.
pub(crate) fn remove_folder(parent: &Dir, name: &OsStr) -> io::Result<()> {
    let open = parent.open_subfolder(name);
    let folder = open.map_err(|_| io::Error::from(io::ErrorKind::NotADirectory))?;
    for entry in folder.names_with_prefix("")? {
        match folder.stat(&entry)?.map(|found| found.kind) {
            Some(Kind::Folder) => remove_folder(&folder, &entry)?,
            Some(_) => folder.remove(&entry)?,
            None => {}
        }
    }
    parent.remove_folder(name)
}
