//! Proposes skills as a source has them, merged with what the user made of the locked versions.

use std::path::PathBuf;

use skillfold_core::load::Digest;
use skillfold_core::{Error, Refusal};
use skillfold_registry::{Fetcher, LockedSkill, Pin, WantedSkill};
use skillfold_store::change::shown_diff;
use skillfold_store::{
    Author, MergedSkill, Preview, Proposal, ProposedVersion, SkillFiles, SkillPath, merge_skills,
};

use super::Registry;
use super::files::{Change, Files, origin};
use crate::environment;
use crate::improve::Effects;

const EDITED_MEANWHILE: &str = "The skill was edited meanwhile; try again";

/// Whether a change is proposed, made, or only looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proposing {
    /// It is proposed.
    Now,
    /// It is only looked at.
    Later,
    /// It is made: a pull request is the proposal.
    InCi,
}

/// A skill that waits to be added or changed, or would.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AddedSkill {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Its source as typed.
    pub source: String,
    /// The version that is locked now; `None` for a new skill.
    pub before: Option<Pin>,
    /// The proposal; `None` if there is none, or the skill is installed like this already.
    pub proposal: Option<Proposal>,
    /// What it would do; `None` if the skill is installed like this already.
    pub effects: Option<Effects>,
    /// The change as a unified diff, cut like that of a proposal.
    pub diff: String,
    /// Which version it is.
    pub pin: Pin,
    /// The digest of its files in the source.
    pub digest: Digest,
    /// The files that the user and the author both changed in the same lines; the author's are beside them.
    pub conflicts: Vec<String>,
}

/// A skill as a source has it, with the entries that it gets.
pub(super) struct SourcedSkill {
    /// What the manifest says, if that changes.
    pub(super) wanted: Option<WantedSkill>,
    pub(super) locked: LockedSkill,
    pub(super) files: SkillFiles,
}

/// A skill that is going to be proposed.
struct Prepared<'n> {
    new: &'n SourcedSkill,
    place: SkillPath,
    before: SkillFiles,
    after: SkillFiles,
    justification: String,
    checks: Vec<String>,
}

/// A skill merged with what is there, or why that failed.
type Merged<'n> = Result<(AddedSkill, Prepared<'n>), Error>;

impl Prepared<'_> {
    /// Returns what the manifest and the lock say once the skill has a digest.
    fn change(&self, after: Digest) -> Change {
        Change {
            name: self.new.locked.name.clone(),
            place: self.place.clone(),
            after: Some(after),
            locked: Some(self.new.locked.clone()),
            wanted: self.new.wanted.clone(),
        }
    }
}

impl Registry<'_> {
    /// Proposes skills as a source has them, merged with local edits. One failure does not stop the others.
    pub(super) fn propose_sourced(
        &self,
        skills: &[SourcedSkill],
        fetcher: &mut Fetcher,
        proposing: Proposing,
    ) -> Result<Vec<Result<AddedSkill, Error>>, Error> {
        let (files, mut prepared) = self.planned(
            |files| {
                let bases = skills.iter().map(|new| self.base(new, files, fetcher));
                Ok(bases.collect::<Vec<_>>())
            },
            |files, bases| {
                let skills = skills.iter().zip(bases);
                let prepared = skills.map(|(new, base)| self.prepare(new, &files, base?));
                let prepared: Vec<Merged<'_>> = prepared.collect();
                Ok((files, prepared))
            },
        )?;
        match proposing {
            Proposing::Now => self.propose_prepared(&files, &mut prepared)?,
            Proposing::InCi => self.make_prepared(&files, &mut prepared)?,
            Proposing::Later => {}
        }
        let added = prepared.into_iter().map(|it| it.map(|(added, _)| added));
        Ok(added.collect())
    }

    /// Returns the files of the locked version, if the skill was edited since. They are kept for later merges.
    fn base(
        &self,
        new: &SourcedSkill,
        files: &Files,
        fetcher: &mut Fetcher,
    ) -> Result<Option<SkillFiles>, Error> {
        let name = new.locked.name.as_str();
        let Some(known) = files.lock.get(name) else {
            return Ok(None);
        };
        let before = self.place(name)?.read()?.unwrap_or_default();
        if before.is_empty() || before.digest() == known.digest {
            return Ok(None);
        }
        let base = self.locked_version(known, fetcher)?;
        self.store()?.keep_version(&base)?;
        Ok(Some(base))
    }

    /// Merges a skill with what is there.
    fn prepare<'n>(
        &self,
        new: &'n SourcedSkill,
        files: &Files,
        base: Option<SkillFiles>,
    ) -> Merged<'n> {
        let name = new.locked.name.to_string();
        let place = self.place(&name)?;
        let before = place.read()?.unwrap_or_default();
        let known = files.lock.get(&name);
        let is_edited = known.is_some_and(|it| !before.is_empty() && before.digest() != it.digest);
        let merged = match base {
            Some(base) => merge_skills(&base, &before, &new.files)?,
            // It was not when the base was looked for.
            None if is_edited => {
                return Err(Error::refused(&name, Refusal::Changing, EDITED_MEANWHILE));
            }
            None => MergedSkill::from(new.files.clone()),
        };
        let mut added = AddedSkill {
            name,
            folder: place.path(),
            source: new.locked.source.clone(),
            before: known.map(|known| known.pin.clone()),
            proposal: None,
            effects: None,
            diff: String::new(),
            pin: new.locked.pin.clone(),
            digest: new.locked.digest,
            conflicts: merged.conflicts,
        };
        if merged.files.digest() != before.digest() {
            let preview = Preview::of_version(before.clone(), merged.files.clone());
            added.effects = Some(self.skills.effects_of(&added.name, &place, &preview)?);
            added.diff = shown_diff(&preview.edits);
        }
        let (source, pin) = (&new.locked.source, &new.locked.pin);
        let justification = match known {
            Some(known) => format!("Update from {} {} to {pin}", known.source, known.pin),
            None => format!("Add from {source} {pin}"),
        };
        let checks = added.effects.iter().flat_map(Effects::lines);
        let checks = checks.collect();
        Ok((
            added,
            Prepared {
                new,
                place,
                before,
                after: merged.files,
                justification,
                checks,
            },
        ))
    }

    /// Proposes what changes a skill, and writes into the manifest and the lock what does not.
    fn propose_prepared(&self, files: &Files, prepared: &mut [Merged<'_>]) -> Result<(), Error> {
        let author = Author::named(self.skills.user_name());
        let changed = self.adopt_same(files, prepared)?;
        let new = changed.into_iter().map(|it| {
            Ok(ProposedVersion {
                skill: it.new.locked.name.as_str(),
                place: &it.place,
                before: &it.before,
                after: &it.after,
                origin: origin(self, files, it.new.wanted.as_ref(), &it.new.locked)?,
                author: author.clone(),
                justification: &it.justification,
                evidence: None,
                checks: &it.checks,
            })
        });
        let new = new.collect::<Result<Vec<_>, Error>>()?;
        let proposed = self.store()?.propose_versions(&new, environment::now())?;
        let proposed = proposed
            .into_iter()
            .map(|it| it.map(|it| Some(it.proposal)));
        note(prepared, proposed);
        Ok(())
    }

    /// Makes what changes a skill, and writes everything into the manifest and the lock.
    fn make_prepared(&self, files: &Files, prepared: &mut [Merged<'_>]) -> Result<(), Error> {
        let changed = self.adopt_same(files, prepared)?;
        if changed.is_empty() {
            return Ok(());
        }
        let _held = self.hold()?;
        self.finish_interrupted()?;
        let entries = changed.iter().map(|it| it.change(it.after.digest()));
        let skills = changed
            .iter()
            .map(|it| (it.place.clone(), it.before.clone(), it.after.clone()));
        let made = self.perform(entries.collect(), || {
            self.store()?
                .install(&self.lock, skills, environment::now())
        })?;
        note(prepared, made.into_iter().map(|it| it.map(|_| None)));
        Ok(())
    }

    /// Keeps the versions of the sources, and writes into the manifest and the lock what changes no skill. Returns the others.
    fn adopt_same<'p>(
        &self,
        files: &Files,
        prepared: &'p [Merged<'_>],
    ) -> Result<Vec<&'p Prepared<'p>>, Error> {
        let (mut same, mut changed) = (Vec::new(), Vec::new());
        for (added, it) in prepared.iter().flatten() {
            // The base of the next merge.
            self.store()?.keep_version(&it.new.files)?;
            let SourcedSkill { wanted, locked, .. } = &it.new;
            let (known, entry) = (files.lock.get(&added.name), files.wanted.get(&added.name));
            if added.effects.is_some() {
                changed.push(it);
            } else if wanted.as_ref().is_some_and(|it| entry != Some(it))
                || !known.is_some_and(|it| it.is_same(locked))
            {
                same.push(it);
            }
        }
        self.adopt(&same)?;
        Ok(changed)
    }

    /// Proposes what a proposal brings again, merged with what the skill has become.
    pub(crate) fn propose_again(&self, proposal: &Proposal) -> Result<AddedSkill, Error> {
        let change = Change::of_proposal(proposal)?;
        let missing = || Error::not_found(proposal.name());
        let locked = change.locked.ok_or_else(missing)?;
        let mut fetcher = self.fetcher()?;
        let new = SourcedSkill {
            wanted: change.wanted,
            files: self.locked_version(&locked, &mut fetcher)?,
            locked,
        };
        let mut proposed = self.propose_sourced(&[new], &mut fetcher, Proposing::Now)?;
        proposed.pop().ok_or_else(missing)?
    }

    /// Writes skills that are there already, byte for byte, into the manifest and the lock.
    fn adopt(&self, skills: &[&Prepared<'_>]) -> Result<(), Error> {
        if skills.is_empty() {
            return Ok(());
        }
        let _held = self.hold()?;
        self.finish_interrupted()?;
        let changes = skills.iter().map(|it| it.change(it.before.digest()));
        self.perform(changes.collect(), || Ok(()))
    }
}

/// Notes what became of the skills that change, in their order.
fn note(
    prepared: &mut [Merged<'_>],
    results: impl Iterator<Item = Result<Option<Proposal>, Error>>,
) {
    let changed = prepared
        .iter_mut()
        .filter(|it| it.as_ref().is_ok_and(|(added, _)| added.effects.is_some()));
    for (it, result) in changed.zip(results) {
        match (it, result) {
            (Ok((added, _)), Ok(proposal)) => added.proposal = proposal,
            (it, Err(error)) => *it = Err(error),
            _ => {}
        }
    }
}
