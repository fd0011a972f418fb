//! Whole versions of skills: proposed, installed and removed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use skillfold_core::load::Digest;
use skillfold_core::text::utc;
use skillfold_core::{Error, Refusal};

use crate::change::shown_diff;
use crate::files::skill_files::SkillFiles;
use crate::files::skill_folder::{SkillPath, staging_name};
use crate::proposals::decide::NewVersion;
use crate::proposals::log::{Author, Event, Operation, Target};
use crate::proposals::proposal::Proposal;
use crate::proposals::propose::{LOG_FULL, MAX_PENDING_VERSIONS, Proposed, TOO_MANY, check_texts};
use crate::proposals::store::{LockedStore, Store};

const CHANGED: &str = "The skill was edited meanwhile, and nothing was changed; try again";

/// A version of a skill to propose.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever proposes names every part"
)]
pub struct ProposedVersion<'a> {
    /// The skill's id.
    pub skill: &'a str,
    /// The skill's current or future location.
    pub place: &'a SkillPath,
    /// What is there now; no files for a new skill.
    pub before: &'a SkillFiles,
    /// What it becomes.
    pub after: &'a SkillFiles,
    /// Where that is from, by field.
    pub origin: BTreeMap<String, String>,
    /// Who proposes it.
    pub author: Author,
    /// Why.
    pub justification: &'a str,
    /// Evidence that it is right.
    pub evidence: Option<&'a str>,
    /// The checks made, one per line, for whoever reads the file.
    pub checks: &'a [String],
}

impl Store {
    /// Proposes that a skill becomes another version, with any files. Replaces pending proposals of versions for the same skill.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the skill is not what `before` says, or too many proposals are pending.
    pub fn propose_version(
        &self,
        new: &ProposedVersion<'_>,
        now: SystemTime,
    ) -> Result<Proposed, Error> {
        let mut proposed = self.propose_versions(std::slice::from_ref(new), now)?;
        let missing = || Err(Error::not_found(new.skill));
        proposed.pop().unwrap_or_else(missing)
    }

    /// Proposes versions of several skills, as [`propose_version`](Self::propose_version) does. One failure does not stop the
    /// others.
    ///
    /// # Errors
    ///
    /// Those of the log.
    pub fn propose_versions(
        &self,
        new: &[ProposedVersion<'_>],
        now: SystemTime,
    ) -> Result<Vec<Result<Proposed, Error>>, Error> {
        let mut locked = self.write(now)?;
        let waiting: Vec<Proposal> = locked
            .proposals()
            .waiting
            .into_iter()
            .map(|it| it.proposal)
            .filter(|it| it.after.is_some())
            .collect();
        if waiting.len() + new.len() > MAX_PENDING_VERSIONS {
            let skill = new.first().map_or("", |new| new.skill);
            return Err(Error::refused(skill, Refusal::TooLarge, TOO_MANY));
        }
        let proposed = new
            .iter()
            .map(|new| locked.propose_version(new, &waiting, now));
        Ok(proposed.collect())
    }

    /// Makes skills what a lock says, which somebody reviewed. Each is changed only if it is still `before`; one failure does not
    /// stop the others.
    ///
    /// # Errors
    ///
    /// Those of the log.
    pub fn install(
        &self,
        lock: &Path,
        skills: impl IntoIterator<Item = (SkillPath, SkillFiles, SkillFiles)>,
        now: SystemTime,
    ) -> Result<Vec<Result<NewVersion, Error>>, Error> {
        let mut locked = self.write(now)?;
        let installed = skills.into_iter().map(|(place, before, after)| {
            let operation = Operation::Install {
                lock: lock.to_owned(),
            };
            check_unchanged(&place, &before)?;
            let before = (!before.is_empty()).then_some(&before);
            locked.change_skill(&place, before, &after, operation, now)
        });
        Ok(installed.collect())
    }

    /// Removes a skill that is still `before`. Its version is kept, so that it can be restored.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if it was edited meanwhile, or has links or a repository in its folder.
    pub fn remove(
        &self,
        place: &SkillPath,
        before: &SkillFiles,
        reason: &str,
        now: SystemTime,
    ) -> Result<(), Error> {
        let mut locked = self.write(now)?;
        check_unchanged(place, before)?;
        locked.observe(place, now)?;
        let digest = locked.contents().put_skill(before)?;
        let operation = Operation::Remove {
            reason: reason.to_owned(),
        };
        let staging = staging_name();
        let target = Target::Skill(place.clone(), staging.clone());
        let remove = || place.remove(before, &staging);
        locked.perform(operation, target, Some(digest), None, now, remove)
    }

    /// Stores a version of a skill and returns its digest.
    ///
    /// # Errors
    ///
    /// [`Unwritable`](skillfold_core::ErrorKind::Unwritable) on an I/O error.
    pub fn keep_version(&self, files: &SkillFiles) -> Result<Digest, Error> {
        self.contents().put_skill(files)
    }

    /// Records which versions a lock needs: they are kept as long as the lock is there.
    ///
    /// # Errors
    ///
    /// [`Unwritable`](skillfold_core::ErrorKind::Unwritable) on an I/O error.
    pub fn keep_for(
        &self,
        lock: &Path,
        skills: BTreeSet<Digest>,
        now: SystemTime,
    ) -> Result<(), Error> {
        self.write(now)?.contents().need(lock, skills)
    }

    /// Returns whether a lock needed a version when that was last [recorded](Self::keep_for).
    ///
    /// # Errors
    ///
    /// [`Unreadable`](skillfold_core::ErrorKind::Unreadable) on an I/O error.
    pub fn is_needed_by(&self, lock: &Path, skill: Digest) -> Result<bool, Error> {
        self.contents().is_needed_by(lock, skill)
    }

    /// Removes contents that no version, proposal or lock needs. Returns their number.
    ///
    /// # Errors
    ///
    /// Those of the log.
    pub fn clean(&self, now: SystemTime) -> Result<usize, Error> {
        Ok(self.write(now)?.clean())
    }

    /// Returns the version of a skill that a done approval of a proposal made, and where it is from: the last one for this place.
    ///
    /// # Errors
    ///
    /// Those of reading the log.
    pub fn last_origin(&self, place: &SkillPath) -> Result<Option<Proposal>, Error> {
        let log = self.log()?;
        let approved: Vec<Digest> = log
            .done()
            .filter_map(|record| match &record.event {
                Event::Started {
                    operation: Operation::Approve { proposal, .. },
                    target: Target::Skill(changed, _),
                    ..
                } if changed == place => Some(*proposal),
                _ => None,
            })
            .collect();
        for digest in approved.into_iter().rev() {
            if let Some(bytes) = self.contents().get(digest)? {
                let proposal = Proposal::parse("approved.md", &bytes)?;
                if proposal.after.is_some() {
                    return Ok(Some(proposal));
                }
            }
        }
        Ok(None)
    }

    /// Returns the user's folder of the store.
    pub fn folder(&self) -> PathBuf {
        self.root.full_path(Path::new(""))
    }
}

impl LockedStore<'_> {
    /// Proposes a version of a skill. `waiting` has the versions that are proposed already.
    fn propose_version(
        &mut self,
        new: &ProposedVersion<'_>,
        waiting: &[Proposal],
        now: SystemTime,
    ) -> Result<Proposed, Error> {
        check_texts(new.justification, new.evidence)?;
        let before = new.place.read()?;
        let base = before.as_ref().map(SkillFiles::digest);
        if before.unwrap_or_default().digest() != new.before.digest() {
            return Err(Error::refused(new.skill, Refusal::Changing, CHANGED));
        }
        let after = new.after.digest();
        let same_place = || waiting.iter().filter(|it| it.place == *new.place);
        let is_same =
            |it: &&Proposal| it.base == base && it.after == Some(after) && it.origin == new.origin;
        if let Some(same) = same_place().find(is_same) {
            return Ok(Proposed {
                proposal: same.clone(),
                is_repeated: true,
                repairs: Vec::new(),
            });
        }
        if !self.log.has_room_for_proposals() {
            return Err(Error::refused(new.skill, Refusal::TooLarge, LOG_FULL));
        }
        if base.is_some() {
            self.contents().put_skill(new.before)?;
        }
        self.contents().put_skill(new.after)?;
        let proposal = Proposal {
            file: String::new(),
            digest: after,
            skill: new.skill.to_owned(),
            place: new.place.clone(),
            base,
            author: new.author.clone(),
            time: utc(now),
            diff: shown_diff(&new.before.edits_to(new.after)),
            after: Some(after),
            origin: new.origin.clone(),
            justification: new.justification.trim().to_owned(),
            evidence: new.evidence.map(|it| it.trim().to_owned()),
            text: String::new(),
        };
        let proposal = self.add(proposal, new.checks, now)?;
        self.replace(same_place(), &proposal, now)?;
        Ok(Proposed {
            proposal,
            is_repeated: false,
            repairs: Vec::new(),
        })
    }

    /// Rejects the versions that the last one takes the place of, if whoever proposed it was interrupted.
    pub(crate) fn finish_replacing(&mut self, now: SystemTime) -> Result<(), Error> {
        let last = self.log.read.records.last().map(|it| &it.event);
        let Some(&Event::Proposed { proposal, .. }) = last else {
            return Ok(());
        };
        let waiting = self.proposals().waiting.into_iter();
        let waiting: Vec<Proposal> = waiting.map(|it| it.proposal).collect();
        let Some(new) = waiting.iter().find(|it| it.digest == proposal) else {
            return Ok(());
        };
        let is_replaced =
            |it: &&Proposal| it.digest != new.digest && it.after.is_some() && it.place == new.place;
        match new.after {
            Some(_) => self.replace(waiting.iter().filter(is_replaced), new, now),
            None => Ok(()),
        }
    }

    fn replace<'p>(
        &mut self,
        old: impl Iterator<Item = &'p Proposal>,
        new: &Proposal,
        now: SystemTime,
    ) -> Result<(), Error> {
        for it in old {
            let event = Event::Rejected {
                proposal: it.digest,
                by: new.author.name.clone(),
                reason: format!("Replaced by {}", new.name()),
            };
            self.keep(it)?;
            self.log.append(event, now)?;
            // If this fails, the log still marks it as decided, so it is not shown again.
            _ = self.remove_file(it);
        }
        Ok(())
    }
}

fn check_unchanged(place: &SkillPath, before: &SkillFiles) -> Result<(), Error> {
    let current = place.read()?.unwrap_or_default();
    if current.digest() == before.digest() {
        return Ok(());
    }
    let path = place.path();
    Err(Error::refused(
        path.to_string_lossy(),
        Refusal::Changing,
        CHANGED,
    ))
}
