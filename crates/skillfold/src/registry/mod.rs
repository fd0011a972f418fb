//! Installs skills from sources: what `skills.toml` wants, `skills.lock` says which, and an update is a proposal.
//!
//! Nothing here asks anybody. A skill that is added or updated becomes a proposal, which a person approves; restoring what the
//! lock says needs nobody, since the lock was reviewed.

// Modules are listed in dependency order.

mod files;
mod npx_lock;
mod policy;

mod clients;

mod proposing;

mod add;
mod remove;
mod verify;

mod install;
mod other_locks;
mod search;
mod update;

mod last_look;
mod pull_request;

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use skillfold_core::{Error, ErrorKind};
use skillfold_registry::{
    FetchOptions, FetchPolicy, Fetcher, LOCK_FILE, Tokens, VARIABLES, WANTED_FILE, token_host,
};
use skillfold_store::{Lock, SkillPath, Store, lock_state};

pub use self::add::{AddReport, AddRequest, Names, SkillInSource, SourceContents};
pub use self::clients::ClientFolder;
pub use self::install::{InstallOptions, InstallReport, InstalledSkill};
pub use self::last_look::LastLook;
pub use self::other_locks::TakenOver;
pub use self::proposing::AddedSkill;
pub use self::pull_request::pull_request;
pub use self::remove::RemovedSkill;
pub use self::update::{HeldBackSkill, Outdated, OutdatedSkill, UpdateResult, UpdatedSkill};
pub use self::verify::{SkillOrigin, Verification, VerifiedSkill, VerifyState};
use crate::discovery::roots::FOLDERS;
use crate::environment::{self, Environment, TOKEN_PREFIX};
use crate::skills::Skills;

pub use skillfold_registry::{
    Address, HeldBack, LeftOut, ListedSkill, LockedSkill, MinimumAge, Pin, PolicyRule, SourceKind,
    SourcePolicy, WantedSkill,
};

/// Whose skills are installed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstallScope {
    /// The project's.
    #[default]
    Project,
    /// The user's, for all projects.
    User,
}

/// The skills that are installed from sources, of a project or of the user.
#[derive(Debug)]
pub struct Registry<'s> {
    skills: &'s Skills,
    store: OnceLock<Store>,
    /// The folder below which no link is followed.
    base: PathBuf,
    /// The folder of the skills.
    folder: PathBuf,
    wanted: PathBuf,
    lock: PathBuf,
    scope: InstallScope,
    options: FetchOptions,
}

impl Skills {
    /// Opens what is installed from sources.
    ///
    /// # Errors
    ///
    /// [`NotFound`](ErrorKind::NotFound) without a home.
    pub fn registry(&self, scope: InstallScope) -> Result<Registry<'_>, Error> {
        let environment = self.environment();
        let no_home = || Error::not_found("home");
        let (base, files) = match scope {
            InstallScope::Project => (environment.project(), environment.project().to_owned()),
            InstallScope::User => {
                let settings = environment.user_settings().ok_or_else(no_home)?;
                let files = settings.parent().unwrap_or(Path::new("")).to_owned();
                (environment.home_dir().ok_or_else(no_home)?, files)
            }
        };
        Ok(Registry {
            store: OnceLock::new(),
            base: base.to_owned(),
            folder: base.join(FOLDERS[0]),
            wanted: files.join(WANTED_FILE),
            lock: files.join(LOCK_FILE),
            scope,
            options: fetch_options(environment, &files)?,
            skills: self,
        })
    }

    /// Opens what a lock is for: the user's, or a project's.
    pub(crate) fn registry_of(&self, lock: &Path) -> Result<Registry<'_>, Error> {
        let user = self.registry(InstallScope::User);
        if let Some(user) = user.ok().filter(|user| user.lock == lock) {
            return Ok(user);
        }
        let project = lock.parent().unwrap_or(lock);
        let mut registry = self.registry(InstallScope::Project)?;
        if registry.lock != lock {
            project.clone_into(&mut registry.base);
            registry.folder = project.join(FOLDERS[0]);
            registry.wanted = project.join(WANTED_FILE);
            lock.clone_into(&mut registry.lock);
            project.clone_into(&mut registry.options.base);
        }
        Ok(registry)
    }
}

impl Registry<'_> {
    /// Fetches nothing: what is not on this machine is an error.
    #[must_use]
    pub fn offline(mut self) -> Self {
        self.options.network = FetchPolicy::Offline;
        self
    }

    /// Calls `progress` with what is being fetched.
    #[must_use]
    pub fn with_progress(mut self, progress: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.options.progress = Some(Arc::new(progress));
        self
    }

    /// Returns the path of `skills.toml`.
    pub fn wanted_file(&self) -> &Path {
        &self.wanted
    }

    /// Returns the path of `skills.lock`.
    pub fn lock_file(&self) -> &Path {
        &self.lock
    }

    /// Returns the folder that the skills are in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the source that a person typed. A relative folder starts at the working folder then; the lock has it as it is from
    /// the lock's own folder, or absolute for the user's skills.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) if it is no source.
    pub fn address(&self, typed: &str) -> Result<Address, Error> {
        let address = Address::parse(typed)?;
        let (directory, base) = (self.skills.environment().directory(), &self.options.base);
        let is_relative = address.location().starts_with('.');
        if address.kind() != SourceKind::Folder || !is_relative || directory == base {
            return Ok(address);
        }
        let folder = without_dots(&directory.join(address.location()));
        let folder = match self.scope {
            InstallScope::Project => relative_path(base, &folder),
            InstallScope::User => folder.to_string_lossy().into_owned(),
        };
        Address::parse(&folder)
    }

    /// Returns what fetches, as the policy allows.
    fn fetcher(&self) -> Result<Fetcher, Error> {
        let mut options = self.options.clone();
        options.policy = self.policy()?;
        options.now = environment::now();
        Ok(Fetcher::new(options))
    }

    /// Returns the store. It is opened when it is needed first: whoever only looks writes nothing.
    fn store(&self) -> Result<&Store, Error> {
        if self.store.get().is_none() {
            _ = self.store.set(self.skills.store()?);
        }
        self.store.get().ok_or_else(|| Error::not_found("store"))
    }

    /// Returns where a skill is.
    fn place(&self, name: &str) -> Result<SkillPath, Error> {
        let base = match self.scope {
            InstallScope::Project => &self.base,
            // The user may have made it a link.
            InstallScope::User => &self.folder,
        };
        SkillPath::new(base, &self.folder.join(name))
    }

    /// Keeps other processes from changing the manifest and the lock.
    fn hold(&self) -> Result<Option<Lock>, Error> {
        lock_state(self.skills.environment().state_folder().as_deref())
    }
}

/// Returns a path without `.` and `..`, as it reads.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => _ = plain.pop(),
            other => plain.push(other),
        }
    }
    plain
}

/// Returns the path from one folder to another, with `/`.
fn relative_path(from: &Path, to: &Path) -> String {
    let common = from.components().zip(to.components());
    let common = common.take_while(|(one, other)| one == other).count();
    let up = from.components().skip(common).map(|_| "..".into());
    let down = to.components().skip(common);
    let down = down.map(|name| name.as_os_str().to_string_lossy());
    let names: Vec<_> = up.chain(down).collect();
    match names.first().map(|name| &**name) {
        Some("..") => names.join("/"),
        _ => format!("./{}", names.join("/")),
    }
}

/// Returns how skills are fetched.
fn fetch_options(environment: &Environment, base: &Path) -> Result<FetchOptions, Error> {
    let cache = environment.cache_folder();
    let cache = cache.ok_or_else(|| Error::not_found("cache folder"))?;
    let mut options = FetchOptions::new(cache, base.to_owned());
    options.home = environment.home_dir().map(Path::to_owned);
    let variables = VARIABLES.into_iter().filter_map(|name| {
        let value = environment.granted_variable(name)?;
        Some((name.into(), value.into()))
    });
    options.environment = variables.collect();
    options.tokens = tokens(environment);
    Ok(options)
}

/// Returns the tokens by host: `SKILLFOLD_TOKEN_GIT_EXAMPLE_COM`, and for GitHub also `GITHUB_TOKEN` or `GH_TOKEN`.
fn tokens(environment: &Environment) -> Tokens {
    let github = ["GH_TOKEN", "GITHUB_TOKEN"].into_iter().filter_map(|name| {
        let token = environment.granted_variable(name)?;
        Some(("github.com".to_owned(), token))
    });
    let own = environment.variables_with(TOKEN_PREFIX);
    let own = own.map(|(variable, token)| (token_host(&variable), token));
    github.chain(own).collect()
}

/// Returns an error for a name that is not installed.
fn not_installed(name: &str) -> Error {
    let message = format!("`{name}` is not in `{LOCK_FILE}`");
    let hint =
        "`skillfold list` shows all skills; those that were added by hand are not in the lock";
    Error::new(ErrorKind::NotFound, message, hint)
}
