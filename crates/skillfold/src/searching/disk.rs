//! The skills of a snapshot in an index on disk.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use skillfold_core::{
    Catalog, Covers, Digest, Document, Documents, Entry, Error, Query, SearchIndex, Skill,
    read_body,
};
use skillfold_index::{DiskIndex, Key, Synced, tidy_indexes};

use crate::searching::Best;
use crate::searching::heal::{Healing, Turn};

/// The folder of these indexes among other caches.
const FOLDER: &str = "search";

/// The skills of a snapshot in an index on disk.
pub(super) struct OnDisk {
    index: Arc<DiskIndex>,
    /// The folder of the index, by the roots that it is of.
    name: String,
    catalog: Arc<Catalog>,
    /// The keys of the snapshot's skills, in its order.
    keys: Vec<Key>,
    /// Where the skill of each key stands in that order.
    places: HashMap<Key, u32>,
    ids: Vec<Box<str>>,
    /// Why the index is not searched, from when it turned out to be damaged until it is made again.
    damage: Mutex<Option<Arc<str>>>,
    /// What is searched meanwhile.
    stopgap: OnceLock<SearchIndex>,
    healing: Healing,
    /// The right to bring the index in step, which the newest snapshot has.
    turn: Turn,
}

impl OnDisk {
    /// Brings the index of a snapshot's roots in step with it. Says beside it what of the skills it does not have; an error is
    /// why it cannot be used.
    pub(super) fn synced(
        caches: &Path,
        catalog: &Arc<Catalog>,
        earlier: Option<&Self>,
    ) -> Result<(Self, Option<String>), String> {
        let name = name_of(catalog);
        let earlier = earlier.filter(|earlier| earlier.name == name);
        let index = earlier.map_or_else(
            || {
                let folder = caches.join(FOLDER).join(&name);
                Arc::new(DiskIndex::open(folder, Document::VERSION))
            },
            |earlier| Arc::clone(&earlier.index),
        );
        let keys = keys_of(catalog, earlier);
        let turn = earlier.map_or_else(Turn::default, |earlier| earlier.turn.next());
        let disk = Self {
            places: keys.iter().copied().zip(0..).collect(),
            ids: catalog.entries().map(|entry| entry.id().into()).collect(),
            catalog: Arc::clone(catalog),
            keys,
            index,
            name,
            damage: Mutex::default(),
            stopgap: OnceLock::new(),
            healing: Healing::default(),
            turn,
        };
        let problem = disk
            .turn
            .taken(|| disk.sync(earlier))
            .unwrap_or_else(|| Err("a newer snapshot is searched".into()))?;
        if earlier.is_none() {
            disk.tidy(&caches.join(FOLDER));
        }
        Ok((disk, problem))
    }

    /// Returns why the index is not searched.
    pub(super) fn damage(&self) -> Option<Arc<str>> {
        let damage = self.damage.lock();
        damage.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns what is searched in place of a damaged index: the metadata, which is in memory already.
    pub(super) fn stopgap(&self) -> &SearchIndex {
        let make = || SearchIndex::new(&self.catalog, Covers::Metadata);
        self.stopgap.get_or_init(make)
    }

    /// Makes a damaged index again on a thread of its own, unless that is under way.
    pub(super) fn heal(self: &Arc<Self>) {
        let disk = Arc::clone(self);
        self.healing.begin(move || {
            let Some(synced) = disk.turn.taken(|| disk.sync_all()) else {
                return Ok(());
            };
            match synced {
                Ok(synced) if synced.missing == 0 => {
                    disk.set_damage(None);
                    tracing::info!(skills = disk.keys.len(), "the search index was made again");
                    Ok(())
                }
                // Another process writes it; who searches next looks again.
                Ok(_) => Ok(()),
                Err(error) => Err(error.with_cause()),
            }
        });
    }

    fn set_damage(&self, damage: Option<Arc<str>>) {
        *self.damage.lock().unwrap_or_else(PoisonError::into_inner) = damage;
    }

    /// Deletes the indexes of other roots that nobody uses any more. One that stays does no harm.
    fn tidy(&self, folder: &Path) {
        match tidy_indexes(folder, &self.name) {
            Ok(deleted) if deleted.is_empty() => {}
            Ok(deleted) => {
                let deleted = deleted.len();
                tracing::info!(deleted, "search indexes that nobody used were deleted");
            }
            Err(error) => tracing::warn!(%error, "old search indexes could not be deleted"),
        }
    }

    /// Writes what changed; by what is known of an earlier snapshot if that is all that there is to know.
    fn sync(&self, earlier: Option<&Self>) -> Result<Option<String>, String> {
        let failed = |error: Error| error.with_cause();
        let changed = earlier.map(|earlier| self.change(earlier)).transpose();
        let mut synced = changed.map_err(failed)?.flatten();
        // Another process may have changed more than is known here.
        if self.index.documents() != self.places.len() as u64 {
            synced = None;
        }
        let synced = synced.map_or_else(|| self.sync_all(), Ok).map_err(failed)?;
        if synced.missing > 0 {
            return Err(format!(
                "{} skills are not in the index on disk yet, as another process writes it",
                synced.missing
            ));
        }
        let rebuilt = synced.rebuilt;
        Ok(rebuilt.map(|damage| format!("{damage}; it was made again")))
    }

    fn sync_all(&self) -> Result<Synced, Error> {
        let maker = RefCell::new(Documents::new());
        self.index.sync(self.documents(&maker, |_| true))
    }

    fn change(&self, earlier: &Self) -> Result<Option<Synced>, Error> {
        let removed = earlier.keys.iter().copied();
        let removed = removed.filter(|key| !self.places.contains_key(key));
        let maker = RefCell::new(Documents::new());
        let added = self.documents(&maker, |key| !earlier.places.contains_key(key));
        self.index.change(added, removed)
    }

    /// Returns some of the skills by their keys, each with what makes its document.
    fn documents<'a>(
        &'a self,
        maker: &'a RefCell<Documents>,
        is_wanted: impl Fn(&Key) -> bool + 'a,
    ) -> impl Iterator<Item = (Key, impl FnOnce() -> Option<Document>)> + 'a {
        let keyed = self.keys.iter().zip(self.catalog.entries());
        let wanted = keyed.filter(move |(key, _)| is_wanted(key));
        wanted.map(move |(key, entry)| {
            let make = move || Some(maker.borrow_mut().entry(&entry, Covers::Bodies));
            (*key, make)
        })
    }

    /// Returns the ids of the skills that answer a request best, each with its score and its confidence. The error says what
    /// is damaged; it stays until the index is [made again](Self::heal).
    pub(super) fn search(
        &self,
        query: &Query,
        limit: usize,
        may_see: &dyn Fn(&Entry<'_>) -> bool,
    ) -> Result<Best, Arc<str>> {
        if let Some(damage) = self.damage() {
            return Err(damage);
        }
        let seen = |key: Key| {
            let place = *self.places.get(&key)?;
            let entry = self.catalog.get(&self.ids[place as usize])?;
            may_see(&entry).then_some(place)
        };
        let answer = self.index.search(query, limit, seen).map_err(|error| {
            let damage: Arc<str> = error.with_cause().into();
            tracing::warn!(
                why = &*damage,
                "the search index is damaged and is made again"
            );
            self.set_damage(Some(Arc::clone(&damage)));
            damage
        })?;
        let hits = answer.hits.into_iter();
        let best = hits.map(|hit| {
            (
                self.ids[hit.seen as usize].clone(),
                hit.score,
                hit.confidence,
            )
        });
        Ok(best.collect())
    }
}

/// Returns the name of what is kept of some roots: others have another.
pub(super) fn name_of(catalog: &Catalog) -> String {
    let roots = catalog.roots().iter();
    let names = roots.map(|root| root.source().lasting_name().unwrap_or(root.label()));
    let names: Vec<&str> = names.collect();
    let digest = Digest::of(names.join("\n").as_bytes()).to_string();
    let hex = digest.rsplit(':').next().unwrap_or_default();
    hex.chars().take(32).collect()
}

/// Returns what the skills of a snapshot are known by; what an earlier one had too is not looked at again.
fn keys_of(catalog: &Catalog, earlier: Option<&OnDisk>) -> Vec<Key> {
    let known = earlier.into_iter().flat_map(|earlier| {
        let skills = earlier.catalog.entries();
        let skills = skills.map(|entry| Arc::as_ptr(entry.skill()));
        skills.zip(earlier.keys.iter().copied())
    });
    let known: HashMap<*const Skill, Key> = known.collect();
    let key = |entry: Entry<'_>| {
        let known = known.get(&Arc::as_ptr(entry.skill()));
        known.copied().unwrap_or_else(|| key_of(&entry))
    };
    catalog.entries().map(key).collect()
}

/// Returns what a skill is known by: where it is and the state of its file, or its content where that says nothing.
fn key_of(entry: &Entry<'_>) -> Key {
    let (skill, source) = (entry.skill(), entry.root().source());
    let mut bytes = Vec::with_capacity(256);
    if let Some(name) = source.lasting_name() {
        let revision = &skill.revision;
        for part in [name, skill.folder.path()] {
            bytes.extend_from_slice(part.as_bytes());
            bytes.push(0);
        }
        for number in [revision.device, revision.inode, revision.size] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for time in [revision.modified_ns, revision.changed_ns] {
            bytes.extend_from_slice(&time.to_le_bytes());
        }
    } else {
        let manifest = &skill.manifest;
        let parts = [entry.id(), manifest.name().as_str(), manifest.description()];
        for part in parts {
            bytes.extend_from_slice(part.as_bytes());
            bytes.push(0);
        }
        let limits = &entry.catalog().rules().reading.walk.limits;
        let body = read_body(source, skill, limits).ok();
        bytes.extend_from_slice(body.as_ref().map_or(&[], |body| &body.bytes));
    }
    let mut half = [0; 16];
    half.copy_from_slice(&Digest::of(&bytes).as_bytes()[..16]);
    Key::new(half)
}
