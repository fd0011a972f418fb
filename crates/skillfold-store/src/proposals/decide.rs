//! Approves and rejects proposals, and rolls back changes.

use std::time::SystemTime;

use skillfold_core::load::Digest;
use skillfold_core::{Error, Refusal};

use crate::files::skill_files::SkillFiles;
use crate::files::skill_folder::{SkillPath, staging_name};
use crate::proposals::approval::{Approval, approved, check};
use crate::proposals::log::{ApprovedBy, Event, Operation, Target, Verdict};
use crate::proposals::proposal::Proposal;
use crate::proposals::propose::not_pending;
use crate::proposals::store::{LockedStore, Store};

const MOVED: &str = "The skill has changed since; `skillfold review` merges the proposal with the current skill for \
                     another review";
const EXISTS: &str = "There is a skill in its folder; reject the proposal, or remove the skill";
const OTHER_BASE: &str =
    "The proposal is for a different version than the one reviewed; review it again";
const OWN: &str = "You can't approve your own proposal; ask another reviewer";
const NOT_KEPT: &str = "This version is no longer kept; `skillfold history` shows those that are";

/// A skill's new version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewVersion {
    /// The skill's version before; `None` if it is new.
    pub before: Option<Digest>,
    /// The skill's version now.
    pub after: Digest,
}

impl Store {
    /// Approves a proposal and applies it, if the proposal and the skill are still what was reviewed: `proposal` is the
    /// proposal's digest, `base` the skill's.
    ///
    /// # Errors
    ///
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if the settings do not accept the approval, or the skill has
    /// changed; [`NotFound`](skillfold_core::ErrorKind::NotFound) if the proposal was changed or decided. Nothing is
    /// changed then.
    pub fn approve(
        &self,
        proposal: Digest,
        base: Option<Digest>,
        approval: &Approval,
        now: SystemTime,
    ) -> Result<NewVersion, Error> {
        let mut approved = self.approve_all(&[(proposal, base)], approval, now)?;
        approved.pop().unwrap_or_else(|| Err(not_pending(proposal)))
    }

    /// Approves several proposals, each with the version that it was reviewed for. One failure does not stop the others.
    ///
    /// # Errors
    ///
    /// Those of the log.
    pub fn approve_all(
        &self,
        proposals: &[(Digest, Option<Digest>)],
        approval: &Approval,
        now: SystemTime,
    ) -> Result<Vec<Result<NewVersion, Error>>, Error> {
        let mut locked = self.write(now)?;
        let waiting = locked.proposals().waiting;
        let approved = proposals.iter().map(|(digest, base)| {
            let found = waiting.iter().find(|it| it.proposal.digest == *digest);
            let found = found.ok_or_else(|| not_pending(*digest))?;
            locked.approve(&found.proposal, *base, approval, now)
        });
        let approved = approved.collect();
        locked.prune();
        Ok(approved)
    }

    /// Rejects a proposal.
    pub fn reject(
        &self,
        proposal: Digest,
        by: &str,
        reason: &str,
        now: SystemTime,
    ) -> Result<(), Error> {
        let mut locked = self.write(now)?;
        let proposal = locked.waiting(proposal)?;
        locked.keep(&proposal)?;
        let event = Event::Rejected {
            proposal: proposal.digest,
            by: by.to_owned(),
            reason: reason.to_owned(),
        };
        locked.log.append(event, now)?;
        // If this fails, the log still marks it as decided, so it is not shown again.
        _ = locked.remove_file(&proposal);
        Ok(())
    }

    /// Records the opinion of a reviewer who may not decide, such as another agent.
    pub fn recommend(
        &self,
        proposal: Digest,
        by: &str,
        verdict: Verdict,
        reason: &str,
        now: SystemTime,
    ) -> Result<(), Error> {
        let mut locked = self.write(now)?;
        let proposal = locked.waiting(proposal)?.digest;
        let event = Event::Recommended {
            proposal,
            by: by.to_owned(),
            verdict,
            reason: reason.to_owned(),
        };
        locked.log.append(event, now)?;
        Ok(())
    }

    /// Restores an earlier version of a skill. `base` is its current version.
    ///
    /// # Errors
    ///
    /// As for [`approve`](Self::approve); [`NotFound`](skillfold_core::ErrorKind::NotFound) if the version is not kept.
    pub fn roll_back(
        &self,
        place: &SkillPath,
        base: Option<Digest>,
        version: Digest,
        approval: &Approval,
        reason: &str,
        now: SystemTime,
    ) -> Result<NewVersion, Error> {
        let path = place.path();
        let path = path.to_string_lossy();
        let mut locked = self.write(now)?;
        locked.observe(place, now)?;
        let before = place.read()?;
        if before.as_ref().map(SkillFiles::digest) != base {
            return Err(Error::refused(path, Refusal::Approval, MOVED_BACK));
        }
        if base == Some(version) {
            return Err(Error::invalid(path, "It already has this version"));
        }
        let Some(after) = self.version(version)? else {
            return Err(Error::new(
                skillfold_core::ErrorKind::NotFound,
                format!("There is no version `{version}`"),
                NOT_KEPT,
            ));
        };
        let what = approved(version, base, Some(version));
        let operation = Operation::RollBack {
            approval: check(&self.root, approval, self.requirement, &what)?,
            reason: reason.to_owned(),
        };
        let applied = locked.change_skill(place, before.as_ref(), &after, operation, now)?;
        locked.prune();
        Ok(applied)
    }
}

const MOVED_BACK: &str = "The skill has changed since; review it again";

impl LockedStore<'_> {
    /// Approves a proposal and applies it.
    fn approve(
        &mut self,
        proposal: &Proposal,
        base: Option<Digest>,
        approval: &Approval,
        now: SystemTime,
    ) -> Result<NewVersion, Error> {
        let refused = |rule| Err(Error::refused(&proposal.skill, Refusal::Approval, rule));
        if proposal.base != base {
            return refused(OTHER_BASE);
        }
        if approval.how() == ApprovedBy::Host && approval.by() == proposal.author.name {
            return refused(OWN);
        }
        let before = proposal.place.read()?;
        match (&before, base) {
            (Some(_), None) => return refused(EXISTS),
            (before, base) if before.as_ref().map(SkillFiles::digest) != base => {
                return refused(MOVED);
            }
            _ => {}
        }
        let files = before.clone().unwrap_or_default();
        let after = self.store.effect(proposal, files)?.after;
        let what = approved(proposal.digest, base, Some(after.digest()));
        let operation = Operation::Approve {
            proposal: proposal.digest,
            approval: check(&self.store.root, approval, self.store.requirement, &what)?,
            reason: proposal.justification.clone(),
        };
        self.keep(proposal)?;
        let applied =
            self.change_skill(&proposal.place, before.as_ref(), &after, operation, now)?;
        // If this fails, the log still marks it as decided, so it is not shown again.
        _ = self.remove_file(proposal);
        Ok(applied)
    }

    /// Changes a skill, stores both versions and logs the change.
    pub(crate) fn change_skill(
        &mut self,
        place: &SkillPath,
        before: Option<&SkillFiles>,
        after: &SkillFiles,
        operation: Operation,
        now: SystemTime,
    ) -> Result<NewVersion, Error> {
        let base = before.map(SkillFiles::digest);
        if let Some(before) = before {
            self.observe(place, now)?;
            self.contents().put_skill(before)?;
        }
        let digest = self.contents().put_skill(after)?;
        let staging = staging_name();
        let target = Target::Skill(place.clone(), staging.clone());
        self.perform(
            operation,
            target,
            base,
            Some(digest),
            now,
            || match before {
                None => place.create(&SkillFiles::default().edits_to(after), &staging),
                Some(before) => place.change(before, &before.edits_to(after), &staging),
            },
        )?;
        Ok(NewVersion {
            before: base,
            after: digest,
        })
    }
}
