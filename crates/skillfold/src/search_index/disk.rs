//! The search index of a snapshot on disk.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use skillfold_core::load::{Digest, read_body};
use skillfold_core::search::{DocumentBuilder, Query, SearchCoverage, SearchDocument, SearchIndex};
use skillfold_core::source::progress;
use skillfold_core::{Catalog, Entry, Error, Skill};
use skillfold_index::{DiskIndex, DocumentKey, SEARCH_FORMAT, SyncReport, delete_unused_indexes};

use crate::search_index::hits::{RankedId, RankedIds};
use crate::search_index::rebuild::{IndexRebuild, WriteTurn};

/// The subfolder of the cache folder for search indexes.
const SEARCH_FOLDER: &str = "search";

/// Why the index is not searched while another snapshot writes it.
const BUSY: &str = "the index on disk is being built for other skills";

/// The search index of a snapshot on disk. Snapshots of the same roots share it.
pub(super) struct DiskSnapshotIndex {
    index: Arc<DiskIndex>,
    /// The name of the index's folder, a fingerprint of the roots.
    name: String,
    catalog: Arc<Catalog>,
    /// The keys of the skills, in catalog order.
    keys: Vec<DocumentKey>,
    /// The position of each key in `keys`.
    positions: HashMap<DocumentKey, u32>,
    ids: Vec<Box<str>>,
    /// Why the index is not searched at the moment; set when it is found damaged, cleared when it is rebuilt.
    damage: Mutex<Option<Arc<str>>>,
    /// The index that is searched while this one is damaged.
    fallback: OnceLock<SearchIndex>,
    rebuild: IndexRebuild,
    /// The snapshot's turn to write the index.
    turn: Arc<WriteTurn>,
}

impl DiskSnapshotIndex {
    /// Opens the index of a catalog's roots and syncs it with the catalog. Also returns a problem that leaves it
    /// usable; the error says why it cannot be used.
    pub(super) fn open_synced(
        caches: &Path,
        catalog: &Arc<Catalog>,
        previous: Option<&Self>,
        turn: &Arc<WriteTurn>,
    ) -> Result<(Self, Option<String>), String> {
        let (documents, roots) = (SearchDocument::VERSION, roots_fingerprint(catalog));
        let name = format!("{SEARCH_FORMAT}-{documents}-{roots}");
        let previous = previous.filter(|previous| previous.name == name);
        let index = previous.map_or_else(
            || {
                let folder = caches.join(SEARCH_FOLDER).join(&name);
                Arc::new(DiskIndex::open(folder, SearchDocument::VERSION))
            },
            |previous| Arc::clone(&previous.index),
        );
        let keys = skill_keys(catalog, previous);
        let disk = Self {
            positions: keys.iter().copied().zip(0..).collect(),
            ids: catalog.entries().map(|entry| entry.id().into()).collect(),
            catalog: Arc::clone(catalog),
            keys,
            index,
            name,
            damage: Mutex::default(),
            fallback: OnceLock::new(),
            rebuild: IndexRebuild::default(),
            turn: Arc::clone(turn),
        };
        let synced = disk.turn.try_run(|| disk.sync());
        let problem = synced.transpose()?.unwrap_or_else(|| {
            disk.set_damage(Some(BUSY.into()));
            None
        });
        if previous.is_none() {
            disk.tidy(&caches.join(SEARCH_FOLDER));
        }
        Ok((disk, problem))
    }

    /// Returns why the index is not searched at the moment.
    pub(super) fn damage(&self) -> Option<Arc<str>> {
        let damage = self.damage.lock();
        damage.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the index to search instead of a damaged one. It has the metadata alone, which is in memory already.
    pub(super) fn fallback(&self) -> &SearchIndex {
        let build = || SearchIndex::new(&self.catalog, SearchCoverage::Metadata);
        self.fallback.get_or_init(build)
    }

    /// Rebuilds a damaged index on a separate thread, unless a rebuild is running.
    pub(super) fn rebuild(self: &Arc<Self>) {
        let disk = Arc::clone(self);
        self.rebuild.start(move || {
            let Some(synced) = disk.turn.run(|| disk.sync_all()) else {
                return Ok(());
            };
            match synced {
                Ok(synced) if synced.missing == 0 => {
                    disk.set_damage(None);
                    tracing::info!(skills = disk.keys.len(), "rebuilt the search index");
                    Ok(())
                }
                // Another process is writing it; the next search tries again.
                Ok(_) => Ok(()),
                Err(error) => Err(error.with_cause()),
            }
        });
    }

    fn set_damage(&self, damage: Option<Arc<str>>) {
        *self.damage.lock().unwrap_or_else(PoisonError::into_inner) = damage;
    }

    /// Deletes unused indexes of other roots. One that cannot be deleted does no harm.
    fn tidy(&self, folder: &Path) {
        match delete_unused_indexes(folder, &self.name) {
            Ok(deleted) if deleted.is_empty() => {}
            Ok(deleted) => {
                let deleted = deleted.len();
                tracing::info!(deleted, "deleted unused search indexes");
            }
            Err(error) => tracing::warn!(%error, "old search indexes could not be deleted"),
        }
    }

    /// Writes what changed. Returns a problem that leaves the index usable.
    fn sync(&self) -> Result<Option<String>, String> {
        let synced = self.sync_all().map_err(|error| error.with_cause())?;
        if synced.missing > 0 {
            return Err(format!(
                "{} skills are not in the index on disk yet: another process is writing it",
                synced.missing
            ));
        }
        let rebuilt = synced.rebuilt;
        Ok(rebuilt.map(|damage| format!("{damage}; it was rebuilt")))
    }

    fn sync_all(&self) -> Result<SyncReport, Error> {
        let builder = &RefCell::new(DocumentBuilder::new());
        let keyed = self.keys.iter().zip(self.catalog.entries());
        let (total, done) = (self.keys.len(), &Cell::new(0));
        self.index.sync(keyed.map(|(key, entry)| {
            let build = move || {
                done.set(done.get() + 1);
                progress::report("indexing", done.get(), total);
                let mut builder = builder.borrow_mut();
                Some(builder.from_entry(&entry, SearchCoverage::Bodies))
            };
            (*key, build)
        }))
    }

    /// Returns the ids of the skills that answer a request best, with score and confidence. The error says what is
    /// damaged; it is returned until the index is [rebuilt](Self::rebuild).
    pub(super) fn search(
        &self,
        query: &Query,
        limit: usize,
        may_see: &dyn Fn(&Entry<'_>) -> bool,
    ) -> Result<RankedIds, Arc<str>> {
        if let Some(damage) = self.damage() {
            return Err(damage);
        }
        let visible_position = |key: DocumentKey| {
            let position = *self.positions.get(&key)?;
            let entry = self.catalog.get(&self.ids[position as usize])?;
            may_see(&entry).then_some(position)
        };
        let found = self.index.search(query, limit, visible_position);
        let found = found.map_err(|error| {
            let damage: Arc<str> = error.with_cause().into();
            tracing::warn!(why = &*damage, "the search index is damaged; rebuilding it");
            self.set_damage(Some(Arc::clone(&damage)));
            damage
        })?;
        let hits = found.hits.into_iter();
        let ranked = hits.map(|hit| RankedId {
            id: self.ids[hit.value as usize].clone(),
            score: hit.score,
            confidence: hit.confidence,
            activation: hit.activation,
        });
        Ok(ranked.collect())
    }
}

/// Returns a fingerprint of a catalog's roots, to name their caches.
pub(super) fn roots_fingerprint(catalog: &Catalog) -> String {
    let roots = catalog.roots().iter();
    let names = roots.map(|root| root.cache_name().unwrap_or(root.label()));
    let names: Vec<&str> = names.collect();
    let digest = Digest::sha256(names.join("\n").as_bytes()).to_string();
    let hex = digest.rsplit(':').next().unwrap_or_default();
    hex.chars().take(32).collect()
}

/// Returns the keys of a catalog's skills. Keys of skills that are in the previous snapshot too are reused.
fn skill_keys(catalog: &Catalog, previous: Option<&DiskSnapshotIndex>) -> Vec<DocumentKey> {
    let known = previous.into_iter().flat_map(|previous| {
        let skills = previous.catalog.entries();
        let skills = skills.map(|entry| Arc::as_ptr(entry.skill()));
        skills.zip(previous.keys.iter().copied())
    });
    let known: HashMap<*const Skill, DocumentKey> = known.collect();
    let key = |entry: Entry<'_>| {
        let known = known.get(&Arc::as_ptr(entry.skill()));
        known.copied().unwrap_or_else(|| skill_key(&entry))
    };
    catalog.entries().map(key).collect()
}

/// Returns a skill's key: a digest of its path and file revision, or of its content if the source has no lasting name.
fn skill_key(entry: &Entry<'_>) -> DocumentKey {
    let (skill, source) = (entry.skill(), entry.root().source());
    let mut bytes = Vec::with_capacity(256);
    if let Some(name) = entry.root().cache_name() {
        for part in [name, skill.folder.path()] {
            bytes.extend_from_slice(part.as_bytes());
            bytes.push(0);
        }
        bytes.extend_from_slice(&skill.revision.to_bytes());
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
    DocumentKey::new(half)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, OnceLock, mpsc};
    use std::thread;
    use std::time::Duration;

    use skillfold_core::{Catalog, CatalogOptions, MemorySource, Root, Scope};
    use skillfold_testkit::far_future;
    use tempfile::TempDir;

    use super::DiskSnapshotIndex;
    use crate::search_index::{Index, MIN_DISK_SKILLS, SearchResources, SnapshotIndex};

    /// Returns enough skills for an index on disk, one of which has a unique word.
    fn catalog(word: &str) -> Arc<Catalog> {
        let files = (0..MIN_DISK_SKILLS).map(|number| {
            let word = if number == 7 { word } else { "things" };
            let text =
                format!("---\nname: skill-{number}\ndescription: Handles {word}\n---\nBody\n");
            (format!("skill-{number}/SKILL.md"), text)
        });
        let root = Root::new(Scope::User, "made", MemorySource::new(files));
        Arc::new(Catalog::discover(
            vec![root],
            CatalogOptions::default(),
            far_future(),
        ))
    }

    fn resources(cache: &TempDir) -> Arc<SearchResources> {
        Arc::new(SearchResources {
            cache_folder: Some(cache.path().to_owned()),
            host_embedder: None,
            model_folder: None,
            opened_model: OnceLock::new(),
            min_disk_skills: MIN_DISK_SKILLS,
        })
    }

    fn next(index: &SnapshotIndex, word: &str) -> SnapshotIndex {
        index.next(&catalog(word), Arc::clone(&index.resources))
    }

    fn on_disk(index: &SnapshotIndex) -> &Arc<DiskSnapshotIndex> {
        let Index::Disk(disk) = &index.built().index else {
            panic!("it is in memory: {:?}", index.problem());
        };
        disk
    }

    /// Returns how many skills have a word, and whether the index on disk was searched.
    fn found(index: &SnapshotIndex, word: &str) -> (usize, bool) {
        let (_, hits) = index.search(word, 10, &|_| true);
        (hits.ranked.len(), !hits.is_fallback)
    }

    /// Waits until the index on disk is searched again.
    fn wait_for_rebuild(index: &SnapshotIndex, word: &str) {
        while found(index, word) != (1, true) {
            assert_eq!(found(index, word).0, 1, "never silence");
            thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn index_follows_the_newest_snapshot_in_any_search_order() {
        let cache = tempfile::tempdir().unwrap();
        let first = SnapshotIndex::new(&catalog("zebras"), resources(&cache));
        assert_eq!(found(&first, "zebras"), (1, true));
        let second = next(&first, "okapis");
        let third = next(&second, "giraffes");
        assert_eq!(found(&third, "giraffes"), (1, true));
        assert_eq!(found(&second, "okapis"), (1, false));
        assert_eq!(found(&third, "giraffes"), (1, true));
        let fourth = next(&third, "okapis");
        let fifth = next(&fourth, "giraffes");
        assert_eq!(found(&fourth, "okapis"), (1, true));
        assert_eq!(found(&fifth, "giraffes"), (1, true));
    }

    #[test]
    fn search_after_a_reload_does_not_wait_for_the_rebuild() {
        let cache = tempfile::tempdir().unwrap();
        let first = SnapshotIndex::new(&catalog("zebras"), resources(&cache));
        let disk = Arc::clone(on_disk(&first));
        let (go_on, wait_for) = mpsc::channel::<()>();
        let (started, is_started) = mpsc::channel();
        let rebuild = thread::spawn(move || {
            disk.turn.run(|| {
                started.send(()).unwrap();
                wait_for.recv().unwrap();
            })
        });
        is_started.recv().unwrap();
        let second = next(&first, "okapis");
        assert_eq!(found(&second, "okapis"), (1, false));
        go_on.send(()).unwrap();
        rebuild.join().unwrap();
        wait_for_rebuild(&second, "okapis");
        assert_eq!(second.problem(), None);
    }

    #[test]
    fn missing_index_is_rebuilt_and_not_taken_for_an_empty_one() {
        let cache = tempfile::tempdir().unwrap();
        let index = SnapshotIndex::new(&catalog("zebras"), resources(&cache));
        assert_eq!(found(&index, "zebras"), (1, true));
        let disk = on_disk(&index);
        std::fs::remove_dir_all(disk.index.folder()).unwrap();
        disk.index.refresh();
        assert_eq!(found(&index, "zebras"), (1, false));
        wait_for_rebuild(&index, "zebras");
    }
}
