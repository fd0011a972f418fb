//! Skill versions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::SystemTime;

use skillfold_core::Error;
use skillfold_core::load::Digest;
use skillfold_core::text::utc;

use crate::files::skill_files::SkillFiles;
use crate::files::skill_folder::SkillPath;
use crate::proposals::log::{Event, LogRecords, Operation, Record, RecordedApproval, Target};
use crate::proposals::store::{LockedStore, Store};

/// A version of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillVersion {
    /// Its digest; `None` if the skill was removed.
    pub digest: Option<Digest>,
    /// When it appeared, in UTC. For the first version, when it was first seen.
    pub time: String,
    /// What created it.
    pub cause: VersionCause,
    /// Whether its files are stored, or are the skill's current ones.
    pub is_kept: bool,
}

/// What created a version of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VersionCause {
    /// It existed before anything was recorded.
    Found,
    /// A proposal was approved.
    Approved {
        /// The proposal.
        proposal: Digest,
        /// Who approved it, and how.
        approval: RecordedApproval,
        /// Why it was proposed.
        reason: String,
    },
    /// An earlier version was restored.
    RolledBack {
        /// Who approved it, and how.
        approval: RecordedApproval,
        /// Why.
        reason: String,
    },
    /// It was installed from a lock.
    Installed {
        /// The lock.
        lock: PathBuf,
    },
    /// It was removed.
    Removed {
        /// Why.
        reason: String,
    },
    /// It was edited outside Skillfold: by an editor, an update, an agent with file access.
    Edited,
}

impl Store {
    /// Returns a skill's known versions, oldest first. If the skill has any records, the last version is its current
    /// state. Writes nothing; reads a damaged log up to the damage.
    pub fn history(&self, place: &SkillPath, now: SystemTime) -> Result<Vec<SkillVersion>, Error> {
        let log = self.log()?;
        let mut versions = versions(&log, place);
        for version in &mut versions {
            version.is_kept = match version.digest {
                Some(digest) => self.version(digest)?.is_some(),
                None => false,
            };
        }
        // During a change, the skill is between versions.
        if let Some(last) = versions.last()
            && log.unfinished().is_none()
        {
            let digest = place.read()?.as_ref().map(SkillFiles::digest);
            if digest != last.digest {
                versions.push(SkillVersion {
                    digest,
                    time: utc(now),
                    cause: VersionCause::Edited,
                    is_kept: digest.is_some(),
                });
            }
        }
        Ok(versions)
    }
}

impl LockedStore<'_> {
    /// Records the skill's current state if it differs from the log.
    pub(crate) fn observe(&mut self, place: &SkillPath, now: SystemTime) -> Result<(), Error> {
        let Some(known) = versions(&self.log.read, place).pop() else {
            return Ok(());
        };
        let known = known.digest;
        let current = place.read()?;
        let after = current.as_ref().map(SkillFiles::digest);
        if known == after {
            return Ok(());
        }
        if let Some(current) = &current {
            self.contents().put_skill(current)?;
        }
        let event = Event::Edited {
            skill: place.clone(),
            before: known,
            after,
        };
        self.log.append(event, now)?;
        Ok(())
    }

    /// Removes contents that nothing needs, once a skill has more versions than are kept. Errors are ignored.
    pub(crate) fn prune(&self) {
        let by_skill = self.versions_by_skill();
        let kept = self.store.kept_versions;
        if by_skill.values().any(|versions| versions.len() > kept) {
            self.remove_unneeded(&by_skill);
        }
    }

    /// Removes contents that no kept version, pending proposal or lock needs. Returns their number.
    pub(crate) fn clean(&self) -> usize {
        self.remove_unneeded(&self.versions_by_skill())
    }

    fn versions_by_skill(&self) -> BTreeMap<&SkillPath, Vec<Digest>> {
        let mut by_skill: BTreeMap<&SkillPath, Vec<Digest>> = BTreeMap::new();
        let records = self.log.read.records.iter();
        for (place, digest) in records.filter_map(changed_to(&self.log.read)) {
            let versions = by_skill.entry(place).or_default();
            versions.extend(digest);
            // The version before a change is usually the one after the previous change.
            versions.dedup();
        }
        by_skill
    }

    fn remove_unneeded(&self, by_skill: &BTreeMap<&SkillPath, Vec<Digest>>) -> usize {
        // An unfinished operation uses versions that are not recorded yet.
        if self.log.read.unfinished().is_some() {
            return 0;
        }
        let mut kept = BTreeSet::new();
        for versions in by_skill.values() {
            for digest in versions.iter().rev().take(self.store.kept_versions) {
                self.contents().mark_skill(*digest, &mut kept);
            }
        }
        for it in &self.proposals().waiting {
            kept.insert(it.proposal.digest);
            let of_source = it.proposal.origin.get("version");
            let of_source = of_source.and_then(|digest| digest.parse().ok());
            let versions = [it.proposal.base, it.proposal.after, of_source];
            for version in versions.into_iter().flatten() {
                self.contents().mark_skill(version, &mut kept);
            }
        }
        match self.contents().mark_needed(&mut kept) {
            Some(()) => self.contents().retain(&kept),
            None => 0,
        }
    }
}

/// Returns a function that maps a record to its skill and the versions it introduced: before the first one, and after
/// it.
fn changed_to(log: &LogRecords) -> impl Fn(&Record) -> Option<(&SkillPath, Vec<Digest>)> {
    let done: BTreeSet<u64> = log.done().map(|record| record.number).collect();
    move |record| match &record.event {
        Event::Started {
            target: Target::Skill(place, _),
            before,
            after,
            ..
        } if done.contains(&record.number) => {
            Some((place, before.iter().chain(after).copied().collect()))
        }
        Event::Edited {
            skill,
            before,
            after,
        } => Some((skill, before.iter().chain(after).copied().collect())),
        _ => None,
    }
}

fn versions(log: &LogRecords, place: &SkillPath) -> Vec<SkillVersion> {
    let done: BTreeSet<u64> = log.done().map(|record| record.number).collect();
    let mut versions: Vec<SkillVersion> = Vec::new();
    for record in &log.records {
        let (before, after, cause) = match &record.event {
            Event::Started {
                operation,
                target: Target::Skill(changed, _),
                before,
                after,
            } if changed == place && done.contains(&record.number) => {
                let cause = match operation {
                    Operation::Approve {
                        proposal,
                        approval,
                        reason,
                    } => VersionCause::Approved {
                        proposal: *proposal,
                        approval: approval.clone(),
                        reason: reason.clone(),
                    },
                    Operation::RollBack { approval, reason } => VersionCause::RolledBack {
                        approval: approval.clone(),
                        reason: reason.clone(),
                    },
                    Operation::Install { lock } => VersionCause::Installed { lock: lock.clone() },
                    Operation::Remove { reason } => VersionCause::Removed {
                        reason: reason.clone(),
                    },
                    _ => continue,
                };
                (*before, *after, cause)
            }
            Event::Edited {
                skill,
                before,
                after,
            } if skill == place => (*before, *after, VersionCause::Edited),
            _ => continue,
        };
        let version = |digest, cause| SkillVersion {
            digest,
            time: record.time.clone(),
            cause,
            is_kept: false,
        };
        if versions.is_empty() && before.is_some() {
            versions.push(version(before, VersionCause::Found));
        }
        versions.push(version(after, cause));
    }
    versions
}
