//! Compares what is installed with the lock.

use skillfold_core::load::Digest;
use skillfold_core::{Error, ErrorKind};
use skillfold_registry::LockedSkill;
use skillfold_store::{SkillFiles, SkillVersion};

use super::files::fits;
use super::{ClientFolder, Registry, not_installed};
use crate::environment;

/// How a skill compares with the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifyState {
    /// It is what is locked.
    Equal,
    /// Its files have another digest.
    Different,
    /// It is not there.
    Missing,
    /// It is wanted, and not in the lock.
    NotLocked,
    /// It is in the lock, and not wanted.
    NotWanted,
}

impl VerifyState {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Different => "different",
            Self::Missing => "missing",
            Self::NotLocked => "not_locked",
            Self::NotWanted => "not_wanted",
        }
    }
}

/// A skill compared with the lock.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VerifiedSkill {
    /// Its name.
    pub name: String,
    /// How it compares.
    pub state: VerifyState,
    /// The digest in the lock.
    pub locked: Option<Digest>,
    /// The digest of what is installed.
    pub installed: Option<Digest>,
    /// The folders of clients that do not have it as it is installed.
    pub broken_folders: Vec<ClientFolder>,
}

/// Everything compared with the lock.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Verification {
    /// Every skill that is locked or wanted, by name.
    pub skills: Vec<VerifiedSkill>,
}

impl Verification {
    /// Returns the skills that are not what is locked.
    pub fn problems(&self) -> impl Iterator<Item = &VerifiedSkill> {
        let skills = self.skills.iter();
        skills.filter(|it| it.state != VerifyState::Equal || !it.broken_folders.is_empty())
    }
}

/// Where an installed skill is from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SkillOrigin {
    /// Its entry in the lock.
    pub locked: LockedSkill,
    /// Whether `skills.toml` wants it.
    pub is_wanted: bool,
    /// The clients that have it in their own folder.
    pub clients: Vec<ClientFolder>,
    /// Its versions on this machine, oldest first.
    pub versions: Vec<SkillVersion>,
}

impl Registry<'_> {
    /// Compares what is installed with the lock. Fetches nothing and changes nothing.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if the manifest or the lock cannot be read; [`NotFound`](ErrorKind::NotFound) without either.
    pub fn verify(&self) -> Result<Verification, Error> {
        let files = self.files()?;
        self.check_exists()?;
        let mut verification = Verification::default();
        for locked in files.lock.iter() {
            let installed = self.place(locked.name.as_str())?.read()?;
            let digest = installed.as_ref().map(SkillFiles::digest);
            let wanted = files.wanted.get(locked.name.as_str());
            let clients = wanted.map_or(&[][..], |wanted| &wanted.clients);
            let folders = self.client_folders(&locked.name, clients, installed.as_ref())?;
            verification.skills.push(VerifiedSkill {
                name: locked.name.to_string(),
                state: match digest {
                    None => VerifyState::Missing,
                    Some(digest) if digest != locked.digest => VerifyState::Different,
                    Some(_) if wanted.is_none() => VerifyState::NotWanted,
                    Some(_) => VerifyState::Equal,
                },
                locked: Some(locked.digest),
                installed: digest,
                broken_folders: folders.into_iter().filter(|it| !it.is_current).collect(),
            });
        }
        for (name, wanted) in files.wanted.iter() {
            let locked = files.lock.get(name.as_str());
            if locked.is_some_and(|locked| fits(locked, wanted)) {
                continue;
            }
            verification.skills.retain(|it| it.name != name.as_str());
            let installed = self.place(name.as_str())?.read()?;
            verification.skills.push(VerifiedSkill {
                name: name.to_string(),
                state: VerifyState::NotLocked,
                locked: locked.map(|locked| locked.digest),
                installed: installed.as_ref().map(SkillFiles::digest),
                broken_folders: Vec::new(),
            });
        }
        verification
            .skills
            .sort_by(|one, other| one.name.cmp(&other.name));
        Ok(verification)
    }

    /// Refuses a folder that has neither manifest nor lock.
    pub(super) fn check_exists(&self) -> Result<(), Error> {
        if self.lock.exists() || self.wanted.exists() {
            return Ok(());
        }
        let (lock, environment) = (self.lock.display(), self.skills.environment());
        let (message, hint) = match self.other_lock() {
            Some(other) => (
                format!(
                    "There is no `{lock}`, but `{}`",
                    environment.display_path(&other)
                ),
                "`skillfold add` with that path takes over the skills of the other tool",
            ),
            None => (
                format!("There is no `{lock}`"),
                "`skillfold add` makes one; with `--user` it is yours for all projects",
            ),
        };
        Err(Error::new(ErrorKind::NotFound, message, hint))
    }

    /// Returns where a skill is from.
    ///
    /// # Errors
    ///
    /// [`NotFound`](ErrorKind::NotFound) if it is not in the lock.
    pub fn why_installed(&self, name: &str) -> Result<SkillOrigin, Error> {
        let files = self.files()?;
        let locked = files.lock.get(name).ok_or_else(|| not_installed(name))?;
        let wanted = files.wanted.get(name);
        let place = self.place(name)?;
        let clients = wanted.map_or(&[][..], |wanted| &wanted.clients);
        Ok(SkillOrigin {
            locked: locked.clone(),
            is_wanted: wanted.is_some(),
            clients: self.client_folders(&locked.name, clients, place.read()?.as_ref())?,
            versions: self.store()?.history(&place, environment::now())?,
        })
    }
}
