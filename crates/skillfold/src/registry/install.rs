//! Restores what the lock says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use skillfold_core::load::Digest;
use skillfold_core::{Error, ErrorKind};
use skillfold_registry::{Fetcher, LockedSkill, Pin};
use skillfold_store::{SkillFiles, SkillPath, VersionCause};

use super::files::{Change, Files, fits};
use super::{AddRequest, AddedSkill, Names, Registry};
use crate::environment;

/// The folder of copies, in a project or in the home.
const VENDOR: &str = ".skillfold/vendor";
const EDITED: &str =
    "Keep the edits with `skillfold update`, or install over them with `--discard-edits`";

/// How the lock is restored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InstallOptions {
    /// Whether only the lock counts: a skill that is wanted and not locked is an error.
    pub frozen: bool,
    /// Whether a skill that was edited is replaced. Its edited version is kept, and can be restored.
    pub discard_edits: bool,
}

/// What became of a skill of the lock.
#[derive(Debug)]
#[non_exhaustive]
pub enum InstalledSkill {
    /// It was installed or replaced.
    Installed,
    /// It was there already.
    Unchanged,
    /// It could not be installed.
    Failed(Error),
}

/// What was restored.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct InstallReport {
    /// Every skill that is locked or could not be proposed, by name, with what became of it.
    pub skills: Vec<(String, InstalledSkill)>,
    /// The skills that are wanted and not in the lock yet, as proposals.
    pub proposed: Vec<AddedSkill>,
    /// The skills that are in the lock and no longer wanted.
    pub unwanted: Vec<String>,
}

impl InstallReport {
    /// Returns the number of skills that could not be installed.
    pub fn failed(&self) -> usize {
        let skills = self.skills.iter();
        skills
            .filter(|(_, skill)| matches!(skill, InstalledSkill::Failed(_)))
            .count()
    }
}

impl Registry<'_> {
    /// Restores the skills of the lock: each has the digest that the lock says, or is not installed. Skills that are wanted and
    /// not locked become proposals, unless the lock is frozen.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if the lock cannot be read, or is frozen and does not fit `skills.toml`;
    /// [`Refused`](ErrorKind::Refused) if the [policy](Self::policy) cannot be read. A skill that fails, or whose source the policy
    /// does not allow, is in the report.
    pub fn install(&self, options: InstallOptions) -> Result<InstallReport, Error> {
        let mut fetcher = self.fetcher()?;
        let (files, mut report) = self.planned(
            |files| {
                self.check_exists()?;
                if options.frozen {
                    self.check_fits(files)?;
                }
                Ok(self.fetch_needed(files, options, &mut fetcher))
            },
            |files, plan| {
                let report = self.restore(&files, plan)?;
                Ok((files, report))
            },
        )?;
        for name in missing(&files) {
            match self.propose_wanted(&files, &name) {
                Ok(proposed) => report.proposed.extend(proposed),
                Err(error) => report.skills.push((name, InstalledSkill::Failed(error))),
            }
        }
        report.skills.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(report)
    }

    /// Proposes a skill of the manifest that is not locked like that.
    fn propose_wanted(&self, files: &Files, name: &str) -> Result<Vec<AddedSkill>, Error> {
        let wanted = files.wanted.get(name);
        let wanted = wanted.ok_or_else(|| Error::not_found(name))?;
        let mut new = AddRequest::new(wanted.address()?);
        new.names = Names::These(vec![name.to_owned()]);
        new.clients.clone_from(&wanted.clients);
        Ok(self.propose(&new)?.skills)
    }

    /// Refuses a lock that does not have what the manifest wants.
    fn check_fits(&self, files: &Files) -> Result<(), Error> {
        let missing = missing(files);
        if missing.is_empty() {
            return Ok(());
        }
        let message = format!(
            "`{}` does not fit `{}`: {}",
            self.lock.display(),
            self.wanted.display(),
            missing.join(", ")
        );
        let hint = "Run `skillfold install` without `--frozen`, and commit the lock";
        Err(Error::new(ErrorKind::Invalid, message, hint))
    }

    /// Fetches the skills of the lock that are not installed.
    fn fetch_needed(&self, files: &Files, options: InstallOptions, fetcher: &mut Fetcher) -> Plan {
        let without: BTreeSet<String> = missing(files).into_iter().collect();
        let (mut plan, mut needed) = (Plan::default(), Vec::new());
        for locked in files.lock.iter() {
            let name = locked.name.to_string();
            if without.contains(&name) {
                continue;
            }
            // What is on this machine is not fetched, and is from that source too.
            let allowed = fetcher.check_locked(locked);
            match allowed.and_then(|()| self.needed(locked, options)) {
                Ok(None) => plan.decided.push((name, InstalledSkill::Unchanged)),
                Ok(Some((place, current))) => needed.push((locked, place, current)),
                Err(error) => plan.decided.push((name, InstalledSkill::Failed(error))),
            }
        }
        self.read_ahead(needed.iter().map(|(locked, ..)| *locked), fetcher);
        for (locked, place, current) in needed {
            let name = locked.name.to_string();
            match self.locked_version(locked, fetcher) {
                Ok(after) => plan.changes.push((name, (place, current, after))),
                Err(error) => plan.decided.push((name, InstalledSkill::Failed(error))),
            }
        }
        plan
    }

    /// Installs what was fetched, and links what clients have in a folder of their own.
    fn restore(&self, files: &Files, plan: Plan) -> Result<InstallReport, Error> {
        let mut report = self.make(files, plan)?;
        let unwanted = files.lock.iter().map(|locked| locked.name.to_string());
        let unwanted = unwanted.filter(|name| files.wanted.get(name).is_none());
        report.unwanted = unwanted.collect();
        for (name, state) in &mut report.skills {
            if let Some(wanted) = files.wanted.get(name)
                && let Some(locked) = files.lock.get(name)
                && !matches!(state, InstalledSkill::Failed(_))
                && let Err(error) = self.link_clients(&locked.name, &wanted.clients)
            {
                *state = InstalledSkill::Failed(error);
            }
        }
        Ok(report)
    }

    /// Writes the skills of a plan.
    fn make(&self, files: &Files, plan: Plan) -> Result<InstallReport, Error> {
        let mut report = InstallReport {
            skills: plan.decided,
            ..InstallReport::default()
        };
        if !plan.changes.is_empty() {
            self.keep(&files.lock)?;
            let (names, changes): (Vec<String>, Vec<_>) = plan.changes.into_iter().unzip();
            let store = self.store()?;
            let done = store.install(&self.lock, changes, environment::now())?;
            for (name, done) in names.into_iter().zip(done) {
                let state = done.map_or_else(InstalledSkill::Failed, |_| InstalledSkill::Installed);
                report.skills.push((name, state));
            }
        }
        report.skills.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(report)
    }

    /// Returns where a skill of the lock has to be installed, and what is there; `None` if it is installed.
    fn needed(
        &self,
        locked: &LockedSkill,
        options: InstallOptions,
    ) -> Result<Option<(SkillPath, SkillFiles)>, Error> {
        let place = self.place(locked.name.as_str())?;
        let current = place.read()?.unwrap_or_default();
        if current.digest() == locked.digest {
            return Ok(None);
        }
        let is_edited = || -> Result<bool, Error> {
            Ok(!current.is_empty() && !self.is_from_source(&place, current.digest())?)
        };
        if !options.discard_edits && is_edited()? {
            let message = format!("`{}` was edited here", locked.name);
            return Err(Error::new(ErrorKind::Refused, message, EDITED));
        }
        Ok(Some((place, current)))
    }

    /// Returns whether a skill is as a source had it: installed from the lock, or approved without edits.
    fn is_from_source(&self, place: &SkillPath, current: Digest) -> Result<bool, Error> {
        if self.store()?.is_needed_by(&self.lock, current)? {
            return Ok(true);
        }
        let versions = self.store()?.history(place, environment::now())?;
        match versions.last().map(|version| &version.cause) {
            Some(VersionCause::Installed { .. }) => Ok(true),
            Some(VersionCause::Approved { .. }) => {
                let proposal = self.store()?.last_origin(place)?;
                let change = proposal.and_then(|it| Change::of_proposal(&it).ok());
                let locked = change.and_then(|change| change.locked);
                Ok(locked.is_some_and(|locked| locked.digest == current))
            }
            _ => Ok(false),
        }
    }

    /// Fetches skills that are not on this machine: all of one source at once. What fails here fails again, with a message, when
    /// the skill is read.
    fn read_ahead<'l>(&self, skills: impl Iterator<Item = &'l LockedSkill>, fetcher: &mut Fetcher) {
        let mut by_source: BTreeMap<(&str, &Pin), Vec<&LockedSkill>> = BTreeMap::new();
        for locked in skills {
            let is_there = self
                .local_version(locked)
                .is_ok_and(|found| found.is_some());
            if !is_there {
                let source = (&*locked.source, &locked.pin);
                by_source.entry(source).or_default().push(locked);
            }
        }
        for ((_, pin), skills) in by_source {
            let folders: Vec<&str> = skills.iter().map(|locked| &*locked.folder).collect();
            let Some(Ok(address)) = skills.first().map(|locked| locked.address()) else {
                continue;
            };
            if let Ok(snapshot) = fetcher.open(&address, pin) {
                _ = snapshot.read_ahead(&folders);
            }
        }
    }

    /// Returns the files of a locked skill: from the store, from the vendor folder or from its source. Whatever they are from,
    /// they have the digest of the lock.
    pub(super) fn locked_version(
        &self,
        locked: &LockedSkill,
        fetcher: &mut Fetcher,
    ) -> Result<SkillFiles, Error> {
        if let Some(files) = self.local_version(locked)? {
            return Ok(files);
        }
        let address = locked.address()?;
        let snapshot = fetcher.open(&address, &locked.pin)?;
        let files: SkillFiles = snapshot.read(&locked.folder)?.into_iter().collect();
        check_digest(locked, files.digest())?;
        Ok(files)
    }

    /// Returns the files of a locked skill, if they are on this machine.
    fn local_version(&self, locked: &LockedSkill) -> Result<Option<SkillFiles>, Error> {
        if let Some(files) = self.store()?.version(locked.digest)? {
            return Ok(Some(files));
        }
        let vendored = self.vendored(locked.name.as_str())?.read()?;
        Ok(vendored.filter(|files| files.digest() == locked.digest))
    }

    /// Returns where a skill is in the vendor folder.
    pub(super) fn vendored(&self, name: &str) -> Result<SkillPath, Error> {
        SkillPath::new(&self.base, &self.vendor_folder().join(name))
    }

    /// Returns the folder that [`vendor`](Self::vendor) copies into.
    pub fn vendor_folder(&self) -> PathBuf {
        self.base.join(VENDOR)
    }

    /// Copies every skill of the lock into a folder of the project, so that `install` needs no network. What else is in a skill's
    /// folder there is replaced.
    ///
    /// # Errors
    ///
    /// Those of [`install`](Self::install). A skill that fails is in the report.
    pub fn vendor(&self) -> Result<InstallReport, Error> {
        let mut fetcher = self.fetcher()?;
        self.planned(
            |files| {
                let mut plan = Plan::default();
                self.read_ahead(files.lock.iter(), &mut fetcher);
                for locked in files.lock.iter() {
                    let name = locked.name.to_string();
                    match self.vendored_change(locked, &mut fetcher) {
                        Ok(None) => plan.decided.push((name, InstalledSkill::Unchanged)),
                        Ok(Some(change)) => plan.changes.push((name, change)),
                        Err(error) => plan.decided.push((name, InstalledSkill::Failed(error))),
                    }
                }
                Ok(plan)
            },
            |files, plan| self.make(&files, plan),
        )
    }

    /// Returns what `vendor` has to change for a skill: its place, its files now and then.
    fn vendored_change(
        &self,
        locked: &LockedSkill,
        fetcher: &mut Fetcher,
    ) -> Result<Option<FolderChange>, Error> {
        let place = self.vendored(locked.name.as_str())?;
        let before = place.read()?.unwrap_or_default();
        if before.digest() == locked.digest {
            return Ok(None);
        }
        fetcher.check_locked(locked)?;
        let after = self.locked_version(locked, fetcher)?;
        Ok(Some((place, before, after)))
    }
}

/// A folder of a skill, with its files now and then.
type FolderChange = (SkillPath, SkillFiles, SkillFiles);

/// What is fetched before anything is installed.
#[derive(Default)]
struct Plan {
    /// Skills that need not, or cannot, be installed.
    decided: Vec<(String, InstalledSkill)>,
    /// Skills that change.
    changes: Vec<(String, FolderChange)>,
}

/// Returns the skills that are wanted, and not locked or locked from another source or version.
fn missing(files: &Files) -> Vec<String> {
    let missing = files.wanted.iter().filter(|(name, wanted)| {
        let locked = files.lock.get(name.as_str());
        !locked.is_some_and(|locked| fits(locked, wanted))
    });
    missing.map(|(name, _)| name.to_string()).collect()
}

/// Refuses content that is not what the lock says.
fn check_digest(locked: &LockedSkill, found: Digest) -> Result<(), Error> {
    if found == locked.digest {
        return Ok(());
    }
    let message = format!(
        "`{}` is not what is locked: {found} instead of {}",
        locked.name, locked.digest
    );
    let hint =
        "Its source gave other content for the same version; nothing was installed. Ask its author";
    Err(Error::new(ErrorKind::Refused, message, hint))
}
