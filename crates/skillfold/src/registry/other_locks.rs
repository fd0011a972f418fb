//! Takes over skills from the locks of other tools.

use std::path::Path;

use skillfold_core::load::Digest;
use skillfold_core::{Error, ErrorKind};
use skillfold_registry::Address;
use skillfold_registry::foreign::{
    APM_LOCK_FILE, ForeignSkill, SkillsLock, SkillsLockEntry, SkillsLockKind, TOOLHIVE_LOCK_FILE,
    parse_apm_lock, parse_toolhive_lock,
};
use skillfold_store::WriteTarget;

use super::add::{AddRequest, Names};
use super::proposing::AddedSkill;
use super::{InstallScope, Registry};

const MAX_BYTES: u64 = 16 << 20;
/// The locks in a project that can be taken over.
const PROJECT_LOCKS: [&str; 3] = ["skills-lock.json", APM_LOCK_FILE, TOOLHIVE_LOCK_FILE];

/// What was taken over from the lock of another tool.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct TakenOver {
    /// The skills, as proposals.
    pub skills: Vec<AddedSkill>,
    /// Entries that could not be taken over, with the reason.
    pub left_out: Vec<(String, Error)>,
}

/// An entry of another tool's lock.
struct Entry {
    name: String,
    request: AddRequest,
    /// The digest that its files must have, if that tool computes it as we do.
    digest: Option<Digest>,
}

impl Registry<'_> {
    /// Returns whether a path is that of a lock that [`take_over`](Self::take_over) reads, by its name.
    pub fn is_other_lock(path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str());
        let global = SkillsLockKind::Global.file_name();
        name.is_some_and(|name| name == global || PROJECT_LOCKS.contains(&name))
    }

    /// Proposes the skills in the lock of another tool: `skills-lock.json` and `.skill-lock.json` of `npx skills`,
    /// `apm.lock.yaml` or `toolhive.lock.yaml`. A commit in it is the one that is taken.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if the lock cannot be read; [`NotFound`](ErrorKind::NotFound) if there is none. An entry that
    /// cannot be taken over is in the result.
    pub fn take_over(&self, path: &Path) -> Result<TakenOver, Error> {
        let path = self.skills.environment().directory().join(path);
        let shown = path.to_string_lossy();
        let target = WriteTarget::for_user(&path)?;
        let read = target.read(MAX_BYTES)?;
        let text = target.text(read.as_ref())?;
        let text = text.ok_or_else(|| Error::not_found(&*shown))?;
        let mut taken = TakenOver::default();
        let name = path.file_name().and_then(|name| name.to_str());
        let entries: Vec<(String, Result<Entry, Error>)> = match name {
            Some(APM_LOCK_FILE) => of_packages(parse_apm_lock(text, &shown)?, |_| None),
            Some(TOOLHIVE_LOCK_FILE) => {
                let skills = parse_toolhive_lock(text, &shown)?;
                of_packages(skills, |skill| skill.content_digest.as_ref()?.parse().ok())
            }
            name => {
                let project = SkillsLockKind::Project;
                let is_project = name == Some(project.file_name());
                let kind = if is_project {
                    project
                } else {
                    SkillsLockKind::Global
                };
                let lock = SkillsLock::parse(text, kind, &shown)?;
                let entries = lock.entries().map(|it| (it.name.clone(), of_npx(it)));
                entries.collect()
            }
        };
        for (name, entry) in entries {
            match entry.and_then(|entry| self.take_entry(&entry)) {
                Ok(skills) => taken.skills.extend(skills),
                Err(error) => taken.left_out.push((name, error)),
            }
        }
        Ok(taken)
    }

    fn take_entry(&self, entry: &Entry) -> Result<Vec<AddedSkill>, Error> {
        let added = self.propose(&entry.request)?.skills;
        let other = |skill: &AddedSkill| entry.digest.is_some_and(|digest| digest != skill.digest);
        if let Some(skill) = added.iter().find(|skill| other(skill)) {
            for proposal in added.iter().filter_map(|skill| skill.proposal.as_ref()) {
                let who = self.skills.user_name();
                self.store()?.reject(
                    proposal.digest,
                    &who,
                    "Not what the lock says",
                    self.skills.now(),
                )?;
            }
            let message = format!(
                "`{}` is not what the lock says: {}",
                entry.name, skill.digest
            );
            let hint = "Its source has other content now; ask its author";
            return Err(Error::new(ErrorKind::Refused, message, hint));
        }
        Ok(added)
    }

    /// Returns the lock of another tool that is where ours would be.
    pub(super) fn other_lock(&self) -> Option<std::path::PathBuf> {
        let folder = self.lock.parent()?;
        let mut found = match self.scope {
            InstallScope::Project => PROJECT_LOCKS.map(|name| folder.join(name)).to_vec(),
            InstallScope::User => vec![self.npx_lock_file()],
        };
        found.retain(|path| path.exists());
        found.into_iter().next()
    }
}

/// Reads an entry of `npx skills`.
fn of_npx(entry: SkillsLockEntry) -> Result<Entry, Error> {
    let source = match &*entry.source_type {
        "github" => entry.source.clone(),
        "gitlab" | "git" => entry.source_url.clone().unwrap_or(entry.source.clone()),
        "local" if entry.source.starts_with(['.', '/', '~']) => entry.source.clone(),
        other => {
            let message = format!("`{}` is from a source of the kind `{other}`", entry.name);
            let hint = "Add it from a repository, an archive or a folder";
            return Err(Error::new(ErrorKind::Invalid, message, hint));
        }
    };
    let version = entry.git_ref.as_deref();
    let mut request = AddRequest::new(Address::with_version(&source, version)?);
    request.names = Names::These(vec![entry.name.clone()]);
    Ok(Entry {
        name: entry.name,
        request,
        digest: None,
    })
}

/// Reads the entries of `apm` or `ToolHive`. `digest` returns what the files must have.
fn of_packages(
    skills: Vec<ForeignSkill>,
    digest: fn(&ForeignSkill) -> Option<Digest>,
) -> Vec<(String, Result<Entry, Error>)> {
    let entries = skills.into_iter().map(|skill| {
        let name = skill.name.to_string();
        let entry = skill.address().map(|address| {
            let mut request = AddRequest::new(address);
            request.names = Names::All;
            if !skill.chosen.is_empty() {
                request.names = Names::These(skill.chosen.clone());
            }
            request.commit.clone_from(&skill.commit);
            Entry {
                name: name.clone(),
                request,
                digest: digest(&skill),
            }
        });
        (name, entry)
    });
    entries.collect()
}
