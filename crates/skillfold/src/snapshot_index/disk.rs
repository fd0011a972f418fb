//! The skills of a snapshot in an index on disk.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use skillfold_core::{
    Catalog, Digest, Document, DocumentBuilder, Entry, Error, Query, SearchCoverage, SearchIndex,
    Skill, read_body,
};
use skillfold_index::{DiskIndex, Key, Synced, tidy_indexes};

use crate::snapshot_index::RankedIds;
use crate::snapshot_index::rebuild::{IndexRebuild, WriteTurn};

/// The folder of these indexes among other caches.
const FOLDER: &str = "search";

/// Why the index is not searched while another snapshot has it.
const BUSY: &str = "the index on disk is being made for other skills";

/// The skills of a snapshot in an index on disk.
pub(super) struct DiskSnapshotIndex {
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
    healing: IndexRebuild,
    /// The right to bring the index in step.
    turn: Arc<WriteTurn>,
}

impl DiskSnapshotIndex {
    /// Brings the index of a snapshot's roots in step with it. Says beside it what of the skills it does not have; an error is
    /// why it cannot be used.
    pub(super) fn synced(
        caches: &Path,
        catalog: &Arc<Catalog>,
        earlier: Option<&Self>,
        turn: &Arc<WriteTurn>,
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
        let disk = Self {
            places: keys.iter().copied().zip(0..).collect(),
            ids: catalog.entries().map(|entry| entry.id().into()).collect(),
            catalog: Arc::clone(catalog),
            keys,
            index,
            name,
            damage: Mutex::default(),
            stopgap: OnceLock::new(),
            healing: IndexRebuild::default(),
            turn: Arc::clone(turn),
        };
        // What is known of an earlier snapshot says what changed only if no other one wrote since.
        let wrote = |last| move |earlier: &&Self| earlier.turn.number() == last;
        let synced = disk
            .turn
            .taken_soon(|last| disk.sync(earlier.filter(wrote(last))));
        let problem = synced.transpose()?.unwrap_or_else(|| {
            disk.set_damage(Some(BUSY.into()));
            None
        });
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
        let make = || SearchIndex::new(&self.catalog, SearchCoverage::Metadata);
        self.stopgap.get_or_init(make)
    }

    /// Makes a damaged index again on a thread of its own, unless that is under way.
    pub(super) fn heal(self: &Arc<Self>) {
        let disk = Arc::clone(self);
        self.healing.begin(move || {
            let Some(synced) = disk.turn.taken(|_| disk.sync_all()) else {
                return Ok(());
            };
            match synced {
                Ok(synced) if synced.missing == 0 => {
                    disk.set_damage(None);
                    tracing::info!(skills = disk.keys.len(), "rebuilt the search index");
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
        Ok(rebuilt.map(|damage| format!("{damage}; it was rebuilt")))
    }

    fn sync_all(&self) -> Result<Synced, Error> {
        let maker = RefCell::new(DocumentBuilder::new());
        self.index.sync(self.documents(&maker, |_| true))
    }

    fn change(&self, earlier: &Self) -> Result<Option<Synced>, Error> {
        let removed = earlier.keys.iter().copied();
        let removed = removed.filter(|key| !self.places.contains_key(key));
        let maker = RefCell::new(DocumentBuilder::new());
        let added = self.documents(&maker, |key| !earlier.places.contains_key(key));
        self.index.change(added, removed)
    }

    /// Returns some of the skills by their keys, each with what makes its document.
    fn documents<'a>(
        &'a self,
        maker: &'a RefCell<DocumentBuilder>,
        is_wanted: impl Fn(&Key) -> bool + 'a,
    ) -> impl Iterator<Item = (Key, impl FnOnce() -> Option<Document>)> + 'a {
        let keyed = self.keys.iter().zip(self.catalog.entries());
        let wanted = keyed.filter(move |(key, _)| is_wanted(key));
        wanted.map(move |(key, entry)| {
            let make = move || {
                Some(
                    maker
                        .borrow_mut()
                        .from_entry(&entry, SearchCoverage::Bodies),
                )
            };
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
    ) -> Result<RankedIds, Arc<str>> {
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
            tracing::warn!(why = &*damage, "the search index is damaged; rebuilding it");
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
    let digest = Digest::sha256(names.join("\n").as_bytes()).to_string();
    let hex = digest.rsplit(':').next().unwrap_or_default();
    hex.chars().take(32).collect()
}

/// Returns what the skills of a snapshot are known by; what an earlier one had too is not looked at again.
fn keys_of(catalog: &Catalog, earlier: Option<&DiskSnapshotIndex>) -> Vec<Key> {
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
        let limits = &entry.catalog().options().read.walk.limits;
        let body = read_body(source, skill, limits).ok();
        bytes.extend_from_slice(body.as_ref().map_or(&[], |body| &body.bytes));
    }
    let mut half = [0; 16];
    half.copy_from_slice(&Digest::sha256(&bytes).as_bytes()[..16]);
    Key::new(half)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, OnceLock, mpsc};
    use std::thread;
    use std::time::Duration;

    use skillfold_core::{Catalog, CatalogOptions, MemorySource, Root, Scope};
    use tempfile::TempDir;

    use super::DiskSnapshotIndex;
    use crate::snapshot_index::{Index, MANY, SearchResources, SnapshotIndex};

    /// Returns many skills, one of which has a word of its own.
    fn catalog(word: &str) -> Arc<Catalog> {
        let files = (0..MANY).map(|number| {
            let word = if number == 7 { word } else { "things" };
            let text =
                format!("---\nname: skill-{number}\ndescription: Handles {word}\n---\nBody\n");
            (format!("skill-{number}/SKILL.md"), text)
        });
        let root = Root::new(Scope::User, "made", MemorySource::new(files));
        Arc::new(Catalog::discover(
            vec![root],
            CatalogOptions::default(),
            i64::MAX,
        ))
    }

    fn means(cache: &TempDir) -> Arc<SearchResources> {
        Arc::new(SearchResources {
            cache: Some(cache.path().to_owned()),
            given: None,
            model: None,
            opened: OnceLock::new(),
        })
    }

    fn next(searching: &SnapshotIndex, word: &str) -> SnapshotIndex {
        searching.next(&catalog(word), Arc::clone(&searching.means))
    }

    fn on_disk(searching: &SnapshotIndex) -> &Arc<DiskSnapshotIndex> {
        let Index::Disk(disk) = &searching.made().index else {
            panic!("it is in memory: {:?}", searching.problem());
        };
        disk
    }

    /// Returns how many skills have a word, and whether the index on disk says so.
    fn found(searching: &SnapshotIndex, word: &str) -> (usize, bool) {
        let hits = searching.search(&searching.query(word), 10, &|_| true);
        (hits.best.len(), !hits.is_stopgap)
    }

    /// Waits until the index on disk is searched again.
    fn wait(searching: &SnapshotIndex, word: &str) {
        while found(searching, word) != (1, true) {
            assert_eq!(found(searching, word).0, 1, "never silence");
            thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn index_is_that_of_the_newest_snapshot_in_whatever_order_they_are_searched() {
        let cache = tempfile::tempdir().unwrap();
        let first = SnapshotIndex::new(&catalog("zebras"), means(&cache));
        assert_eq!(found(&first, "zebras"), (1, true));
        let second = next(&first, "okapis");
        let third = next(&second, "giraffes");
        assert_eq!(found(&third, "giraffes"), (1, true));
        assert_eq!(found(&second, "okapis"), (1, false));
        assert_eq!(found(&third, "giraffes"), (1, true));
        // What is known of the third does not tell what the fourth left.
        let fourth = next(&third, "okapis");
        let fifth = next(&fourth, "giraffes");
        assert_eq!(found(&fourth, "okapis"), (1, true));
        assert_eq!(found(&fifth, "giraffes"), (1, true));
    }

    #[test]
    fn search_after_a_reload_does_not_wait_for_an_index_that_is_made_again() {
        let cache = tempfile::tempdir().unwrap();
        let first = SnapshotIndex::new(&catalog("zebras"), means(&cache));
        let disk = Arc::clone(on_disk(&first));
        let (go_on, wait_for) = mpsc::channel::<()>();
        let (begun, is_begun) = mpsc::channel();
        let healing = thread::spawn(move || {
            disk.turn.taken(|_| {
                begun.send(()).unwrap();
                wait_for.recv().unwrap();
            })
        });
        is_begun.recv().unwrap();
        let second = next(&first, "okapis");
        assert_eq!(found(&second, "okapis"), (1, false));
        go_on.send(()).unwrap();
        healing.join().unwrap();
        wait(&second, "okapis");
        assert_eq!(second.problem(), None);
    }

    #[test]
    fn index_that_is_gone_is_made_again_and_not_taken_for_an_empty_one() {
        let cache = tempfile::tempdir().unwrap();
        let searching = SnapshotIndex::new(&catalog("zebras"), means(&cache));
        assert_eq!(found(&searching, "zebras"), (1, true));
        let disk = on_disk(&searching);
        std::fs::remove_dir_all(disk.index.folder()).unwrap();
        disk.index.refresh();
        assert_eq!(found(&searching, "zebras"), (1, false));
        wait(&searching, "zebras");
    }
}
