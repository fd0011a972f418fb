//! Updates: each is a proposal against the locked version, with local edits merged in.

use std::collections::BTreeMap;

use skillfold_core::text::utc;
use skillfold_core::{Error, ErrorKind};
use skillfold_registry::{Address, Fetcher, HeldBack, LockedSkill, Pin, Resolved, WantedSkill};
use skillfold_store::SkillFiles;

use super::files::{Change, Files};
use super::proposing::{AddedSkill, Proposing, SourcedSkill};
use super::{InstallScope, Registry, not_installed};
use crate::environment;
use crate::settings::ApprovalRequires;

/// A skill whose source has another version.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct OutdatedSkill {
    /// Its name.
    pub name: String,
    /// Its source as typed.
    pub source: String,
    /// The version that is locked.
    pub locked: Pin,
    /// The version that it would be updated to.
    pub newest: Pin,
}

/// A skill whose source has a newer version, which the policy does not allow yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeldBackSkill {
    /// Its name.
    pub name: String,
    /// The version that is locked.
    pub locked: Pin,
    /// The newer version.
    pub newest: HeldBack,
}

/// What became of the update of a skill.
#[derive(Debug)]
#[non_exhaustive]
pub enum UpdateResult {
    /// Its source has nothing newer.
    Current,
    /// Its source has a newer version with the same files; only the lock changed.
    SameFiles(Pin),
    /// A change waits for approval, or would with a dry run.
    Proposed(Box<AddedSkill>),
    /// The skill and the lock changed, for a pull request.
    Changed(Box<AddedSkill>),
    /// Its source has a newer version, which the policy does not allow yet.
    HeldBack(HeldBack),
    /// It could not be looked up or fetched, or the policy does not allow its source.
    Failed(Error),
}

/// A skill that was to be updated.
#[derive(Debug)]
#[non_exhaustive]
pub struct UpdatedSkill {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub result: UpdateResult,
}

/// What the source of a skill has.
enum Newer {
    Done(Box<UpdateResult>),
    Files(Box<SourcedSkill>),
}

fn done(result: UpdateResult) -> Newer {
    Newer::Done(Box::new(result))
}

impl Registry<'_> {
    /// Asks the sources of all skills which have another version than the lock. One that fails is in the list of errors.
    /// [`last_look`](Self::last_look) returns later on what this found.
    ///
    /// # Errors
    ///
    /// [`Invalid`](skillfold_core::ErrorKind::Invalid) if the manifest or the lock cannot be read.
    pub fn outdated(&self) -> Result<Outdated, Error> {
        let files = self.files()?;
        let mut fetcher = self.fetcher()?;
        let mut outdated = Outdated::default();
        for locked in files.lock.iter() {
            let name = locked.name.to_string();
            let resolved = match newest(&files, locked, &mut fetcher) {
                Ok((_, resolved)) => resolved,
                Err(error) => {
                    outdated.failed.push((name, error));
                    continue;
                }
            };
            if let Some(held) = resolved.held_back() {
                outdated.held_back.push(HeldBackSkill {
                    name: name.clone(),
                    locked: locked.pin.clone(),
                    newest: held.clone(),
                });
            }
            if let Some(newest) = resolved.pin().filter(|pin| **pin != locked.pin) {
                outdated.skills.push(OutdatedSkill {
                    name,
                    source: locked.source.clone(),
                    locked: locked.pin.clone(),
                    newest: newest.clone(),
                });
            }
        }
        self.keep_look(&outdated.skills);
        Ok(outdated)
    }

    /// Proposes the newest version of skills, of all if none is named. Nothing changes until each proposal is
    /// [approved](Self::approve).
    ///
    /// # Errors
    ///
    /// [`NotFound`](skillfold_core::ErrorKind::NotFound) if a name is not in the lock. A skill that fails is in the result.
    pub fn update(&self, names: &[String]) -> Result<Vec<UpdatedSkill>, Error> {
        self.update_with(names, Proposing::Now)
    }

    /// Returns what [`update`](Self::update) would propose, and proposes nothing.
    ///
    /// # Errors
    ///
    /// Those of [`update`](Self::update).
    pub fn preview_update(&self, names: &[String]) -> Result<Vec<UpdatedSkill>, Error> {
        self.update_with(names, Proposing::Later)
    }

    /// Updates skills in a checkout whose changes become a pull request: the review of that is the approval. The skills, the
    /// manifest and the lock change at once, with local edits merged in.
    ///
    /// # Errors
    ///
    /// Those of [`update`](Self::update); [`Refused`](ErrorKind::Refused) unless the variable `CI` is set, for the user's own
    /// skills, and if the settings require a passphrase for approvals.
    pub fn update_in_ci(&self, names: &[String]) -> Result<Vec<UpdatedSkill>, Error> {
        let variable = self.skills.environment().granted_variable("CI");
        let is_ci = variable.is_some_and(|value| !["", "0", "false"].contains(&&*value));
        let requires = self.skills.report().settings.approval_requires.value;
        let why = match (is_ci, self.scope) {
            (false, _) => "This is not a CI machine: `CI` is not set",
            (_, InstallScope::User) => "Your own skills have no pull request to review",
            _ if requires == ApprovalRequires::Passphrase => {
                "The settings require a passphrase for approvals"
            }
            _ => return self.update_with(names, Proposing::InCi),
        };
        let hint = "Run `skillfold update` without `--in-ci`, and approve with `skillfold review`";
        Err(Error::new(ErrorKind::Refused, why, hint))
    }

    fn update_with(
        &self,
        names: &[String],
        proposing: Proposing,
    ) -> Result<Vec<UpdatedSkill>, Error> {
        let files = self.current_files()?.1;
        if let Some(unknown) = names.iter().find(|name| files.lock.get(name).is_none()) {
            return Err(not_installed(unknown));
        }
        let mut fetcher = self.fetcher()?;
        let chosen = files.lock.iter().filter(|locked| {
            names.is_empty() || names.iter().any(|name| name == locked.name.as_str())
        });
        let chosen: Vec<&LockedSkill> = chosen.collect();
        read_ahead(&files, &chosen, &mut fetcher);
        let (mut updated, mut newer) = (Vec::new(), Vec::new());
        for locked in chosen {
            let name = locked.name.to_string();
            match self.newer(&files, locked, &mut fetcher, proposing) {
                Ok(Newer::Files(new)) => newer.push(*new),
                Ok(Newer::Done(result)) => updated.push(UpdatedSkill {
                    name,
                    result: *result,
                }),
                Err(error) => updated.push(UpdatedSkill {
                    name,
                    result: UpdateResult::Failed(error),
                }),
            }
        }
        let names: Vec<String> = newer.iter().map(|it| it.locked.name.to_string()).collect();
        let proposed = self.propose_sourced(&newer, &mut fetcher, proposing)?;
        let proposed = names.into_iter().zip(proposed).map(|(name, added)| {
            let result = match (added.map(Box::new), proposing) {
                (Ok(added), Proposing::InCi) => UpdateResult::Changed(added),
                (Ok(added), _) => UpdateResult::Proposed(added),
                (Err(error), _) => UpdateResult::Failed(error),
            };
            UpdatedSkill { name, result }
        });
        updated.extend(proposed);
        updated.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(updated)
    }

    /// Fetches the newest version of a skill, if it has other files than the lock.
    fn newer(
        &self,
        files: &Files,
        locked: &LockedSkill,
        fetcher: &mut Fetcher,
        proposing: Proposing,
    ) -> Result<Newer, Error> {
        let (wanted, resolved) = newest(files, locked, fetcher)?;
        let pin = match resolved {
            Resolved::OldEnough(pin, held) if pin == locked.pin => {
                return Ok(done(UpdateResult::HeldBack(held)));
            }
            Resolved::TooNew(held) => return Ok(done(UpdateResult::HeldBack(held))),
            resolved => resolved.into_pin()?,
        };
        // A folder has no versions; its files are compared.
        if pin == locked.pin && pin != Pin::default() {
            return Ok(done(UpdateResult::Current));
        }
        let address = wanted.address()?;
        let snapshot = fetcher.open(&address, &pin)?;
        let mut folder = locked.folder.clone();
        let tree = match snapshot.read(&folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // It may have moved.
                let skills = snapshot.found(&address)?.skills.iter();
                let mut same_name = skills.filter(|skill| skill.name == locked.name);
                match (same_name.next(), same_name.next()) {
                    (Some(moved), None) => folder.clone_from(&moved.folder),
                    _ => return Err(error),
                }
                snapshot.read(&folder)?
            }
            read => read?,
        };
        let digest = tree.digest();
        let time = utc(environment::now());
        let new = LockedSkill::new(
            locked.name.clone(),
            &address,
            &folder,
            pin.clone(),
            digest,
            time,
        );
        if digest == locked.digest {
            if pin == locked.pin {
                return Ok(done(UpdateResult::Current));
            }
            if proposing != Proposing::Later {
                self.set_pin(&new)?;
            }
            return Ok(done(UpdateResult::SameFiles(pin)));
        }
        Ok(Newer::Files(Box::new(SourcedSkill {
            wanted: None,
            locked: new,
            files: tree.into_iter().collect(),
        })))
    }

    /// Changes only the version in the lock: the files are the same.
    fn set_pin(&self, new: &LockedSkill) -> Result<(), Error> {
        let (_held, files) = self.current_files()?;
        let known = files.lock.get(new.name.as_str());
        if known.is_none_or(|known| known.digest != new.digest) {
            return Ok(());
        }
        let place = self.place(new.name.as_str())?;
        let change = Change {
            name: new.name.clone(),
            after: place.read()?.as_ref().map(SkillFiles::digest),
            place,
            locked: Some(new.clone()),
            wanted: None,
        };
        self.perform(vec![change], || Ok(()))
    }
}

/// The skills whose sources have another version.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Outdated {
    /// The skills, by name.
    pub skills: Vec<OutdatedSkill>,
    /// The skills whose newest version the policy does not allow yet.
    pub held_back: Vec<HeldBackSkill>,
    /// The skills whose source did not answer, or that the policy does not allow, with the reason.
    pub failed: Vec<(String, Error)>,
}

/// Fetches what is newer: all skills of one source at once. What fails here fails again when the skill is read.
fn read_ahead(files: &Files, skills: &[&LockedSkill], fetcher: &mut Fetcher) {
    let mut by_source: BTreeMap<(String, Pin), Vec<&LockedSkill>> = BTreeMap::new();
    for locked in skills {
        if let Ok((wanted, resolved)) = newest(files, locked, fetcher)
            && let Some(pin) = resolved.pin().filter(|pin| **pin != locked.pin)
        {
            by_source
                .entry((wanted.source, pin.clone()))
                .or_default()
                .push(locked);
        }
    }
    for ((source, pin), skills) in by_source {
        let folders: Vec<&str> = skills.iter().map(|locked| &*locked.folder).collect();
        if let Ok(address) = Address::parse(&source)
            && let Ok(snapshot) = fetcher.open(&address, &pin)
        {
            _ = snapshot.read_ahead(&folders);
        }
    }
}

/// Returns what is wanted of a locked skill, and the newest version of that.
fn newest(
    files: &Files,
    locked: &LockedSkill,
    fetcher: &mut Fetcher,
) -> Result<(WantedSkill, Resolved), Error> {
    let wanted = match files.wanted.get(locked.name.as_str()) {
        Some(wanted) => wanted.clone(),
        None => WantedSkill::new(&locked.address()?, Vec::new()),
    };
    let resolved = fetcher.resolve_after(&wanted.address()?, &locked.pin)?;
    Ok((wanted, resolved))
}
