//! Fetches skills from any source.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use skillfold_core::load::Digest;
use skillfold_core::{Error, ErrorKind};

use crate::address::{Address, SourceKind};
use crate::age::{HeldBack, Resolved};
use crate::archive;
use crate::find::{Found, find_skills};
use crate::folder::LocalFolder;
use crate::git::{References, Repository, is_id};
use crate::http;
use crate::lock::{LockedSkill, Pin};
use crate::options::FetchOptions;
use crate::policy::{Bases, MinimumAge, place_name};
use crate::seen::{FirstLook, first_seen};
use crate::tree::{FileTree, MemoryTree, Tree, read_ahead, read_skill};

/// Maximum versions in a range whose age is asked for.
const MAX_VERSIONS: usize = 20;

/// A source at one version.
pub struct Snapshot {
    pin: Pin,
    tree: Box<dyn Tree>,
    /// The skills that were found so far, by the folder that was searched.
    found: BTreeMap<Option<String>, Found>,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Snapshot");
        shown
            .field("pin", &self.pin)
            .field("found", &self.found)
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    fn new(pin: Pin, tree: Box<dyn Tree>) -> Self {
        Self {
            pin,
            tree,
            found: BTreeMap::new(),
        }
    }

    /// Returns which version it is.
    pub fn pin(&self) -> &Pin {
        &self.pin
    }

    /// Returns the skills in the folder that the address names, or in all of the source, and what is not used. They are looked
    /// for when they are asked for first.
    ///
    /// # Errors
    ///
    /// [`Unreadable`](ErrorKind::Unreadable) if they cannot be fetched; [`Refused`](ErrorKind::Refused) if there are more than
    /// 10,000.
    pub fn found(&mut self, address: &Address) -> Result<&Found, Error> {
        let folder = address.folder().map(str::to_owned);
        match self.found.entry(folder) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => {
                let found = find_skills(&mut *self.tree, address.folder())?;
                Ok(new.insert(found))
            }
        }
    }

    /// Fetches skills that are going to be read: all at once, where a source is far away.
    ///
    /// # Errors
    ///
    /// [`Unreadable`](ErrorKind::Unreadable) if they cannot be fetched.
    pub fn read_ahead(&mut self, folders: &[&str]) -> Result<(), Error> {
        read_ahead(&mut *self.tree, folders)
    }

    /// Reads the files of a skill in it.
    ///
    /// # Errors
    ///
    /// [`Refused`](ErrorKind::Refused) if a file of it is a link, has an unsafe name, or it is too large.
    pub fn read(&mut self, folder: &str) -> Result<FileTree, Error> {
        let file = match folder {
            "" => "SKILL.md".to_owned(),
            folder => format!("{folder}/SKILL.md"),
        };
        if !self.tree.entries().contains_key(&file) {
            let message = format!("There is no skill in the folder `{folder}` any more");
            let hint = "It was moved or removed; remove the skill, or name its new folder";
            return Err(Error::new(ErrorKind::NotFound, message, hint));
        }
        read_skill(&mut *self.tree, folder)
    }
}

/// Fetches skills. Each source is asked once, and each version is opened once.
#[derive(Debug)]
pub struct Fetcher {
    options: Arc<FetchOptions>,
    references: BTreeMap<String, References>,
    open: BTreeMap<(String, Pin), Snapshot>,
}

impl Fetcher {
    /// Creates a fetcher.
    pub fn new(options: FetchOptions) -> Self {
        Self {
            options: Arc::new(options),
            references: BTreeMap::new(),
            open: BTreeMap::new(),
        }
    }

    /// Refuses a source that the policy does not allow.
    ///
    /// # Errors
    ///
    /// [`Refused`](ErrorKind::Refused), with the rule.
    pub fn check_source(&self, address: &Address) -> Result<(), Error> {
        self.options.policy.check(address, self.bases())
    }

    fn bases(&self) -> Bases<'_> {
        Bases {
            base: &self.options.base,
            home: self.options.home.as_deref(),
        }
    }

    /// Refuses a locked skill whose source the policy does not allow.
    ///
    /// # Errors
    ///
    /// Those of [`check_source`](Self::check_source); under a policy also if the source is of a kind that this version does not know.
    pub fn check_locked(&self, locked: &LockedSkill) -> Result<(), Error> {
        if self.options.policy.rules().is_empty() {
            return Ok(());
        }
        self.check_source(&locked.address()?)
    }

    /// Finds out which version an address means now.
    ///
    /// # Errors
    ///
    /// [`NotFound`](ErrorKind::NotFound) if there is no such source or version; [`Unreadable`](ErrorKind::Unreadable) if it
    /// cannot be fetched; [`Refused`](ErrorKind::Refused) if the policy does not allow the source.
    pub fn resolve(&mut self, address: &Address) -> Result<Resolved, Error> {
        self.resolve_after(address, &Pin::default())
    }

    /// Finds out which version an address means now, where `locked` is used: that one is old enough for every policy, so that no
    /// older one takes its place.
    ///
    /// # Errors
    ///
    /// Those of [`resolve`](Self::resolve).
    pub fn resolve_after(&mut self, address: &Address, locked: &Pin) -> Result<Resolved, Error> {
        self.check_source(address)?;
        let pins = match address.kind() {
            SourceKind::Git => self.commits(address)?,
            SourceKind::Folder => return Ok(Resolved::Newest(Pin::default())),
            SourceKind::Archive => match address.digest() {
                Some(digest) => vec![Pin::archive(digest)],
                None => vec![self.open_archive(address, None)?.pin.clone()],
            },
        };
        match (pins.first(), self.options.policy.minimum_age()) {
            (Some(newest), Some(minimum)) if newest != locked => {
                let minimum = minimum.clone();
                self.old_enough(address, &pins, locked, &minimum)
            }
            (Some(newest), _) => Ok(Resolved::Newest(newest.clone())),
            (None, _) => Err(Error::not_found(address.location())),
        }
    }

    /// Returns the first of some versions that is old enough, or is locked.
    fn old_enough(
        &mut self,
        address: &Address,
        pins: &[Pin],
        locked: &Pin,
        minimum: &MinimumAge,
    ) -> Result<Resolved, Error> {
        let mut newest = None;
        // Mostly the newest is old enough, and the others need not be fetched.
        for pins in [&pins[..1], &pins[1..pins.len().min(MAX_VERSIONS)]] {
            for (pin, since) in pins.iter().zip(self.known_since(address, pins)?) {
                let age = self.now().saturating_sub(since);
                if pin == locked || age >= minimum.age.as_secs() {
                    return Ok(match newest {
                        None => Resolved::Newest(pin.clone()),
                        Some(held) => Resolved::OldEnough(pin.clone(), held),
                    });
                }
                newest.get_or_insert_with(|| HeldBack::new(address, pin, since, age, minimum));
            }
        }
        let newest = newest.map(Resolved::TooNew);
        newest.ok_or_else(|| Error::not_found(address.location()))
    }

    /// Returns the commits that an address may mean, the newest first.
    fn commits(&mut self, address: &Address) -> Result<Vec<Pin>, Error> {
        if let Some(commit) = address.version().filter(|version| is_id(version)) {
            return Ok(vec![Pin::commit(commit, None)]);
        }
        let references = self.references(address)?;
        references.resolve(address.location(), address.version())
    }

    fn references(&mut self, address: &Address) -> Result<&References, Error> {
        let location = address.location();
        if !self.references.contains_key(location) {
            let found = Repository::new(&self.options, address).references()?;
            if self.options.policy.minimum_age().is_some() {
                let ids: Vec<&str> = found.ids().collect();
                self.first_seen(address, &ids, FirstLook::Before)?;
            }
            self.references.insert(location.to_owned(), found);
        }
        Ok(&self.references[location])
    }

    /// Returns since when versions are known, in seconds since 1970. For a commit that is its own time, which its author can set to
    /// any, or when this machine first saw it, if no branch or tag had it when the machine looked for the first time.
    fn known_since(&mut self, address: &Address, pins: &[Pin]) -> Result<Vec<u64>, Error> {
        let times = match address.kind() {
            SourceKind::Git => {
                self.references(address)?;
                Repository::new(&self.options, address).commit_times(pins)?
            }
            SourceKind::Archive | SourceKind::Folder => vec![0; pins.len()],
        };
        let ids = pins.iter().map(|pin| match (&pin.commit, pin.archive) {
            (Some(commit), _) => commit.clone(),
            (None, archive) => archive.map_or_else(String::new, |it| it.to_string()),
        });
        let ids: Vec<String> = ids.collect();
        let named: Vec<&str> = ids.iter().map(|id| &**id).collect();
        let seen = self.first_seen(address, &named, FirstLook::Now)?;
        let times = ids.iter().zip(times);
        Ok(times.map(|(id, time)| time.max(seen[id])).collect())
    }

    fn first_seen(
        &self,
        address: &Address,
        ids: &[&str],
        first: FirstLook,
    ) -> Result<BTreeMap<String, u64>, Error> {
        let source = place_name(address, self.bases());
        first_seen(&self.options, &source, ids, first, self.now())
    }

    fn now(&self) -> u64 {
        let since = self.options.now.duration_since(UNIX_EPOCH);
        since.unwrap_or_default().as_secs()
    }

    /// Opens a source at a version.
    ///
    /// # Errors
    ///
    /// Those of [`resolve`](Self::resolve); [`Refused`](ErrorKind::Refused) if an archive has another digest.
    pub fn open(&mut self, address: &Address, pin: &Pin) -> Result<&mut Snapshot, Error> {
        self.check_source(address)?;
        if address.kind() == SourceKind::Archive {
            return self.open_archive(address, pin.archive);
        }
        let key = (address.location().to_owned(), pin.clone());
        if !self.open.contains_key(&key) {
            let tree: Box<dyn Tree> = if address.kind() == SourceKind::Git {
                Box::new(Repository::new(&self.options, address).tree(pin)?)
            } else {
                let Bases { base, home } = self.bases();
                let folder = address.local_folder(base, home);
                let folder = folder.ok_or_else(|| Error::not_found(address.location()))?;
                Box::new(LocalFolder::open(&folder)?)
            };
            let snapshot = Snapshot::new(pin.clone(), tree);
            self.open.insert(key.clone(), snapshot);
        }
        self.open
            .get_mut(&key)
            .ok_or_else(|| Error::not_found(address.location()))
    }

    /// Opens an archive that has the digest `wanted`, or the one that the address has.
    fn open_archive(
        &mut self,
        address: &Address,
        wanted: Option<Digest>,
    ) -> Result<&mut Snapshot, Error> {
        let location = address.location();
        let wanted = wanted.or(address.digest());
        let open = self.open.iter().find(|((known, pin), _)| {
            known == location && wanted.is_none_or(|wanted| pin.archive == Some(wanted))
        });
        let key = if let Some((key, _)) = open {
            key.clone()
        } else {
            let bytes = http::get(&self.options, location)?;
            let digest = Digest::sha256(&bytes);
            if let Some(wanted) = wanted.filter(|wanted| *wanted != digest) {
                let message =
                    format!("`{location}` is another archive now: {digest} instead of {wanted}");
                let hint =
                    "Ask whoever publishes it; if the new one is right, run `skillfold update`";
                return Err(Error::new(ErrorKind::Refused, message, hint));
            }
            let tree = Box::new(MemoryTree::from(archive::unpack(location, &bytes)?));
            let pin = Pin::archive(digest);
            let key = (location.to_owned(), pin.clone());
            self.open.insert(key.clone(), Snapshot::new(pin, tree));
            key
        };
        self.open
            .get_mut(&key)
            .ok_or_else(|| Error::not_found(location))
    }
}
