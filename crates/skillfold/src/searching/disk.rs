//! The skills of a snapshot in an index on disk.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use skillfold_core::{
    Catalog, Covers, Digest, Document, Documents, Entry, Error, Query, read_body,
};
use skillfold_index::{DiskIndex, Key};

/// The folder of these indexes among other caches.
const FOLDER: &str = "search";

/// The skills of a snapshot in an index on disk.
pub(super) struct OnDisk {
    index: Arc<DiskIndex>,
    /// The folder of the index, by the roots that it is of.
    name: String,
    /// Where the skill of each key stands among the ids, which are in the order of the snapshot.
    places: HashMap<Key, u32>,
    ids: Vec<Box<str>>,
}

impl OnDisk {
    /// Brings the index of a snapshot's roots in step with it. Says beside it what of the skills it does not have; an error is
    /// why it cannot be used.
    pub(super) fn synced(
        caches: &Path,
        catalog: &Catalog,
        earlier: Option<&Self>,
    ) -> Result<(Self, Option<String>), String> {
        let name = name_of(catalog);
        let index = match earlier {
            Some(earlier) if earlier.name == name => Arc::clone(&earlier.index),
            _ => Arc::new(DiskIndex::open(
                caches.join(FOLDER).join(&name),
                Document::VERSION,
            )),
        };
        let keyed: Vec<(Key, Entry<'_>)> = catalog
            .entries()
            .map(|entry| (key_of(&entry), entry))
            .collect();
        let documents = std::cell::RefCell::new(Documents::new());
        let made = |entry: Entry<'_>| documents.borrow_mut().entry(&entry, Covers::Bodies);
        let skills = keyed
            .iter()
            .map(|(key, entry)| (*key, || Some(made(*entry))));
        let synced = index.sync(skills).map_err(|error| error.with_cause())?;
        if synced.missing > 0 {
            return Err(format!(
                "{} skills are not in the index on disk yet, as another process writes it",
                synced.missing
            ));
        }
        let rebuilt = synced.rebuilt.map(|damage| damage.to_string());
        let places = (0..).zip(&keyed).map(|(place, (key, _))| (*key, place));
        let disk = Self {
            places: places.collect(),
            ids: keyed.iter().map(|(_, entry)| entry.id().into()).collect(),
            index,
            name,
        };
        Ok((disk, rebuilt.map(|why| format!("{why}; it was made again"))))
    }

    /// Returns the ids of the skills that answer a request best, each with its score and its confidence.
    pub(super) fn search(
        &self,
        catalog: &Catalog,
        query: &Query,
        limit: usize,
        may_see: &dyn Fn(&Entry<'_>) -> bool,
    ) -> Result<Vec<(Box<str>, f32, f32)>, Error> {
        let seen = |key: Key| {
            let place = *self.places.get(&key)?;
            let entry = catalog.get(&self.ids[place as usize])?;
            may_see(&entry).then_some(place)
        };
        let answer = self.index.search(query, limit, seen)?;
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
