//! The lock of `npx skills`, where there is one: it says what we install too, so that both tools can be used.

use std::path::PathBuf;

use skillfold_core::Error;
use skillfold_core::text::utc;
use skillfold_registry::foreign::{SkillsLock, SkillsLockEntry, SkillsLockKind, computed_hash};
use skillfold_registry::{Address, FileTree, LockedSkill, SourceKind};
use skillfold_store::{Access, ReadFile, SkillFiles, WriteTarget};

use super::files::Change;
use super::{InstallScope, Registry};
use crate::environment;

const MAX_BYTES: u64 = 16 << 20;

/// The lock of `npx skills` as it is.
pub(super) struct NpxLock {
    target: WriteTarget,
    read: ReadFile,
    lock: SkillsLock,
    kind: SkillsLockKind,
}

impl Registry<'_> {
    /// Returns where `npx skills` has its lock.
    pub(super) fn npx_lock_file(&self) -> PathBuf {
        let kind = self.npx_lock_kind();
        match kind {
            SkillsLockKind::Global => {
                let state = self.skills.environment().granted_variable("XDG_STATE_HOME");
                let state = state.filter(|folder| !folder.is_empty());
                let folder = state.map_or(self.base.join(".agents"), |folder| {
                    PathBuf::from(folder).join("skills")
                });
                folder.join(kind.file_name())
            }
            _ => self.base.join(kind.file_name()),
        }
    }

    fn npx_lock_kind(&self) -> SkillsLockKind {
        match self.scope {
            InstallScope::Project => SkillsLockKind::Project,
            InstallScope::User => SkillsLockKind::Global,
        }
    }

    /// Reads the lock of `npx skills`; `None` if there is none. One that cannot be read is an error.
    pub(super) fn npx_lock(&self) -> Result<Option<NpxLock>, Error> {
        let (path, kind) = (self.npx_lock_file(), self.npx_lock_kind());
        if !path.exists() {
            return Ok(None);
        }
        let target = self.target(&path)?;
        let Some(read) = target.read(MAX_BYTES)? else {
            return Ok(None);
        };
        let text = target.text(Some(&read))?.unwrap_or_default();
        let lock = SkillsLock::parse(text, kind, &path.to_string_lossy())?;
        Ok(Some(NpxLock {
            target,
            read,
            lock,
            kind,
        }))
    }

    /// Returns whether a skill has the files that `npx skills` wrote into its lock.
    pub(super) fn is_of_npx(&self, name: &str, files: &SkillFiles) -> Result<bool, Error> {
        let entry = self.npx_lock()?.and_then(|lock| lock.lock.get(name));
        let hashes = entry.map(|it| [it.computed_hash, it.skill_folder_hash]);
        let found = hash(files);
        Ok(hashes.is_some_and(|hashes| found.is_some() && hashes.contains(&found)))
    }

    /// Writes changes into the lock of `npx skills`, if there is one. Entries of other skills stay as they are.
    pub(super) fn follow_in_npx_lock(&self, changes: &[Change]) -> Result<(), Error> {
        let Some(mut found) = self.npx_lock()? else {
            return Ok(());
        };
        for change in changes {
            let entry = change.locked.as_ref().and_then(|locked| {
                let files = change.place.read().ok()??;
                let known = found.lock.get(locked.name.as_str());
                self.npx_entry(found.kind, locked, known, &files)
            });
            match entry {
                Some(entry) => found.lock.set(entry),
                None => _ = found.lock.remove(change.name.as_str()),
            }
        }
        let text = found.lock.to_text();
        if text.as_bytes() == found.read.bytes() {
            return Ok(());
        }
        found
            .target
            .write(Some(&found.read), text.as_bytes(), Access::Ordinary)
    }

    /// Returns what `npx skills` would write for a skill; `None` for archives, which it does not write down.
    fn npx_entry(
        &self,
        kind: SkillsLockKind,
        locked: &LockedSkill,
        known: Option<SkillsLockEntry>,
        files: &SkillFiles,
    ) -> Option<SkillsLockEntry> {
        let address = locked.address().ok()?;
        let github = address.location().strip_prefix("https://github.com/");
        let (source_type, url) = match address.kind() {
            SourceKind::Git if github.is_some() => ("github", address.location().to_owned()),
            SourceKind::Git if address.location().starts_with("https://gitlab.com/") => {
                ("gitlab", address.location().to_owned())
            }
            SourceKind::Git => ("git", address.location().to_owned()),
            SourceKind::Folder => ("local", self.npx_folder(kind, &address)?),
            _ => return None,
        };
        let source = github.map_or(&*url, |repository| repository.trim_end_matches(".git"));
        let mut entry = SkillsLockEntry::new(locked.name.as_str(), source, source_type);
        if address.kind() == SourceKind::Git {
            // It has no field for a commit. As the version, it restores the same files.
            entry.git_ref = locked.pin.tag.clone().or(locked.pin.commit.clone());
            let folder = Some(locked.folder.as_str()).filter(|folder| !folder.is_empty());
            let path = folder.map(|folder| format!("{folder}/SKILL.md"));
            entry.skill_path = Some(path.unwrap_or_else(|| "SKILL.md".to_owned()));
        }
        // Empty means unknown there.
        let hash = hash(files).unwrap_or_default();
        if kind == SkillsLockKind::Global {
            // For GitHub it would be the id of git's tree.
            let hash = github.map_or(hash, |_| String::new());
            let now = utc(environment::now()).replace('Z', ".000Z");
            entry.source_url = Some(url.clone());
            entry.skill_folder_hash = Some(hash);
            entry.installed_at = known.and_then(|it| it.installed_at).or(Some(now.clone()));
            entry.updated_at = Some(now);
        } else {
            let needs_url = matches!(source_type, "git" | "gitlab");
            entry.source_url = needs_url.then(|| url.clone());
            entry.computed_hash = Some(hash);
        }
        Some(entry)
    }

    /// Returns a local source as `npx skills` writes it: relative in a project's lock, absolute in the user's.
    fn npx_folder(&self, kind: SkillsLockKind, address: &Address) -> Option<String> {
        let typed = address.location();
        if kind == SkillsLockKind::Project && typed.starts_with('.') {
            return Some(typed.to_owned());
        }
        let folder = address.local_folder(&self.options.base, self.options.home.as_deref())?;
        folder.to_str().map(str::to_owned)
    }
}

/// Returns the hash of a skill's files in that lock.
fn hash(files: &SkillFiles) -> Option<String> {
    let files = files.iter();
    let files = files.filter_map(|(path, bytes)| Some((path.parse().ok()?, bytes.to_vec())));
    computed_hash(&files.collect::<FileTree>())
}
