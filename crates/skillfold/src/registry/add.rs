//! Adds skills: each becomes a proposal.

use std::collections::BTreeSet;

use skillfold_core::load::Digest;
use skillfold_core::text::utc;
use skillfold_core::{Error, ErrorKind};
use skillfold_registry::{Address, LeftOut, ListedSkill, LockedSkill, Pin, WantedSkill};
use skillfold_store::{Approval, NewVersion, Proposal};

use super::Registry;
use super::clients::check_clients;
use super::files::{Change, Files};
use super::proposing::{AddedSkill, Proposing, SourcedSkill};
use crate::environment;
use crate::skills::Skills;

/// Which skills of a source are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Names {
    /// The only one; an error if there are more.
    Only,
    /// These.
    These(Vec<String>),
    /// All.
    All,
}

/// What to add.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AddRequest {
    /// The source and the version.
    pub address: Address,
    /// Which skills of it.
    pub names: Names,
    /// The clients that get them in a folder of their own, by id.
    pub clients: Vec<String>,
    /// The commit to take instead of what the version means now.
    pub commit: Option<String>,
}

impl AddRequest {
    /// Asks for the only skill of a source.
    pub fn new(address: Address) -> Self {
        Self {
            address,
            names: Names::Only,
            clients: Vec::new(),
            commit: None,
        }
    }
}

/// A skill of a source, as it can be added.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillInSource {
    /// The skill.
    pub skill: ListedSkill,
    /// The version of it that is installed.
    pub installed: Option<Pin>,
}

/// The skills of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceContents {
    /// The skills that can be added, by name.
    pub skills: Vec<SkillInSource>,
    /// What is not among them, and why.
    pub left_out: Vec<LeftOut>,
}

/// What was proposed to be added.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct AddReport {
    /// The skills.
    pub skills: Vec<AddedSkill>,
    /// The skills that could not be proposed, by name. If none could, the call fails.
    pub failed: Vec<(String, Error)>,
    /// What the source has that cannot be added, and why.
    pub left_out: Vec<LeftOut>,
}

impl Registry<'_> {
    /// Returns the skills of a source.
    ///
    /// # Errors
    ///
    /// [`NotFound`](ErrorKind::NotFound) if there is no such source; [`Unreadable`](ErrorKind::Unreadable) if it cannot be fetched;
    /// [`Refused`](ErrorKind::Refused) if the [policy](Self::policy) does not allow it.
    pub fn skills_in(&self, address: &Address) -> Result<SourceContents, Error> {
        let mut fetcher = self.fetcher()?;
        let pin = fetcher.resolve(address)?.into_pin()?;
        let found = fetcher.open(address, &pin)?.found(address)?;
        let files = self.files()?;
        let skills = found.skills.iter().map(|skill| SkillInSource {
            installed: files
                .lock
                .get(skill.name.as_str())
                .map(|locked| locked.pin.clone()),
            skill: skill.clone(),
        });
        Ok(SourceContents {
            skills: skills.collect(),
            left_out: found.left_out.clone(),
        })
    }

    /// Proposes to add skills. Nothing is installed until each proposal is [approved](Self::approve).
    ///
    /// # Errors
    ///
    /// [`NotFound`](ErrorKind::NotFound) if the source does not have one of them; [`Exists`](ErrorKind::Exists) if there is another
    /// skill of that name; [`Refused`](ErrorKind::Refused) if a file of a skill is not safe, or the [policy](Self::policy) does not
    /// allow the source or its version.
    pub fn propose(&self, new: &AddRequest) -> Result<AddReport, Error> {
        check_clients(&new.clients)?;
        let mut fetcher = self.fetcher()?;
        let pin = match &new.commit {
            Some(commit) => {
                let address = Address::with_version(new.address.source(), Some(commit))?;
                fetcher.resolve(&address)?
            }
            None => fetcher.resolve(&new.address)?,
        };
        let pin = pin.into_pin()?;
        let snapshot = fetcher.open(&new.address, &pin)?;
        let listed = snapshot.found(&new.address)?;
        let left_out = listed.left_out.clone();
        let found = choose(&new.address, &listed.skills, &new.names)?;
        let files = self.files()?;
        let folders: Vec<&str> = found.iter().map(|skill| &*skill.folder).collect();
        snapshot.read_ahead(&folders)?;
        let mut read = Vec::new();
        for skill in &found {
            let wanted = WantedSkill::new(&new.address, new.clients.clone());
            let tree = snapshot.read(&skill.folder)?;
            self.check_name(&files, skill.name.as_str(), &wanted, tree.digest())?;
            read.push((skill, wanted, tree));
        }
        let pin = snapshot.pin().clone();
        let sourced = read.into_iter().map(|(skill, mut wanted, tree)| {
            let digest = tree.digest();
            let time = utc(environment::now());
            let name = skill.name.clone();
            if let Some(known) = files.wanted.get(name.as_str()) {
                wanted.clients.extend(known.clients.iter().cloned());
                wanted.clients.sort();
                wanted.clients.dedup();
            }
            let (folder, pin) = (&skill.folder, pin.clone());
            SourcedSkill {
                wanted: Some(wanted),
                locked: LockedSkill::new(name, &new.address, folder, pin, digest, time),
                files: tree.into_iter().collect(),
            }
        });
        let sourced: Vec<SourcedSkill> = sourced.collect();
        let names: Vec<String> = sourced
            .iter()
            .map(|it| it.locked.name.to_string())
            .collect();
        let proposed = self.propose_sourced(&sourced, &mut fetcher, Proposing::Now)?;
        let mut report = AddReport {
            skills: Vec::new(),
            failed: Vec::new(),
            left_out,
        };
        for (name, proposed) in names.into_iter().zip(proposed) {
            match proposed {
                Ok(skill) => report.skills.push(skill),
                Err(error) => report.failed.push((name, error)),
            }
        }
        match report.failed.pop() {
            Some((_, error)) if report.skills.is_empty() => Err(error),
            failed => {
                report.failed.extend(failed);
                Ok(report)
            }
        }
    }

    /// Refuses a name that another skill has. A skill that is not in the lock is taken over if it is the same, or as `npx skills`
    /// installed it.
    fn check_name(
        &self,
        files: &Files,
        name: &str,
        wanted: &WantedSkill,
        digest: Digest,
    ) -> Result<(), Error> {
        let exists = |message: String, hint| Err(Error::new(ErrorKind::Exists, message, hint));
        match files.lock.get(name) {
            Some(locked) if locked.source == wanted.source => Ok(()),
            Some(locked) if locked.address()?.location() == wanted.address()?.location() => Ok(()),
            Some(locked) => exists(
                format!("`{name}` is installed from `{}`", locked.source),
                "Remove that one first with `skillfold remove`",
            ),
            None => match self.place(name)?.read()? {
                Some(there) if there.digest() != digest && !self.is_of_npx(name, &there)? => {
                    exists(
                        format!(
                            "There is another skill `{name}` in `{}` that is not in the lock",
                            self.folder.display()
                        ),
                        "Rename its folder, or remove it",
                    )
                }
                _ => Ok(()),
            },
        }
    }

    /// Approves the proposal of a skill from a source: the skill is installed, and the manifest and the lock follow.
    ///
    /// # Errors
    ///
    /// Those of [`Store::approve`](skillfold_store::Store::approve), and if the manifest or the lock changed meanwhile, or the
    /// [policy](Self::policy) does not allow the source.
    pub fn approve(&self, proposal: &Proposal, approval: &Approval) -> Result<NewVersion, Error> {
        let mut approved = self.approve_all(&[proposal], approval)?;
        let missing = || Err(Error::not_found(proposal.name()));
        approved.pop().unwrap_or_else(missing)
    }

    /// Approves the proposals of several skills at once. One failure does not stop the others.
    ///
    /// # Errors
    ///
    /// Those of [`approve`](Self::approve), of what the skills share.
    pub fn approve_all(
        &self,
        proposals: &[&Proposal],
        approval: &Approval,
    ) -> Result<Vec<Result<NewVersion, Error>>, Error> {
        let (_held, files) = self.current_files()?;
        self.check_entries(&files, proposals)?;
        let changes = proposals
            .iter()
            .map(|proposal| Change::of_proposal(proposal));
        let changes = changes.collect::<Result<Vec<_>, _>>()?;
        // The policy may have come after the proposals.
        let fetcher = self.fetcher()?;
        let mut locked = changes.iter().filter_map(|it| it.locked.as_ref());
        locked.try_for_each(|locked| fetcher.check_locked(locked))?;
        self.perform(changes, || {
            let proposals: Vec<_> = proposals.iter().map(|it| (it.digest, it.base)).collect();
            self.store()?
                .approve_all(&proposals, approval, environment::now())
        })
    }
}

impl Skills {
    /// Approves a proposal and applies it. For a skill from a source, the manifest and the lock follow.
    ///
    /// # Errors
    ///
    /// Those of [`Store::approve`](skillfold_store::Store::approve).
    pub fn approve(&self, proposal: &Proposal, approval: &Approval) -> Result<NewVersion, Error> {
        match proposal.origin.get("lock") {
            Some(lock) => self.registry_of(lock.as_ref())?.approve(proposal, approval),
            None => {
                self.store()?
                    .approve(proposal.digest, proposal.base, approval, environment::now())
            }
        }
    }
}

/// Chooses skills of a source by name.
fn choose(
    address: &Address,
    found: &[ListedSkill],
    names: &Names,
) -> Result<Vec<ListedSkill>, Error> {
    let source = address.source();
    let error = |message: String, hint| Err(Error::new(ErrorKind::NotFound, message, hint));
    if found.is_empty() {
        let hint = "A skill is a folder with a `SKILL.md`; check the address and the folder";
        return error(format!("`{source}` has no skills"), hint);
    }
    let unique = |skills: Vec<&ListedSkill>| {
        let mut known = BTreeSet::new();
        for skill in &skills {
            if !known.insert(skill.name.as_str()) {
                let folders = skills.iter().filter(|other| other.name == skill.name);
                let folders: Vec<&str> = folders.map(|other| &*other.folder).collect();
                let message = format!(
                    "`{source}` has several skills named `{}`, in {}",
                    skill.name,
                    folders.join(", ")
                );
                let hint = "Add the folder to the source, as in `owner/repo/folder`";
                return Err(Error::new(ErrorKind::Invalid, message, hint));
            }
        }
        Ok(skills.into_iter().cloned().collect())
    };
    match names {
        Names::All => unique(found.iter().collect()),
        Names::Only if found.len() == 1 => unique(found.iter().collect()),
        Names::Only => {
            let message = format!("`{source}` has {} skills", found.len());
            let hint = "Name those you want with `--skill`, or take `--all`";
            let error = Error::new(ErrorKind::Invalid, message, hint);
            Err(error.with_nearest(found.iter().take(5).map(|skill| skill.name.as_str())))
        }
        Names::These(names) => {
            let mut chosen = Vec::new();
            for name in names {
                let before = chosen.len();
                chosen.extend(found.iter().filter(|skill| skill.name.as_str() == name));
                if chosen.len() == before {
                    let message = format!("`{source}` has no skill `{name}`");
                    let hint = "`skillfold search --in` lists the skills of a source";
                    let error = Error::new(ErrorKind::NotFound, message, hint);
                    return Err(error.with_nearest(found.iter().take(5).map(|it| it.name.as_str())));
                }
            }
            unique(chosen)
        }
    }
}
