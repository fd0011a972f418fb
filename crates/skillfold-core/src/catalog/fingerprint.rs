//! Fingerprints of skill descriptions, to tell what changed between two snapshots.

use std::collections::HashMap;
use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;

/// Description fingerprints of the skills in a snapshot that a model may see. Clones are cheap and share the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DescriptionFingerprints(Arc<[DescriptionFingerprint]>);

/// The id of one skill and a hash of its description.
#[derive(Debug, PartialEq, Eq)]
struct DescriptionFingerprint {
    id: Box<str>,
    hash: u64,
}

/// How a newer snapshot differs from recorded fingerprints.
#[derive(Debug, Default)]
pub(crate) struct Difference<'a> {
    pub(crate) added: Vec<Entry<'a>>,
    pub(crate) changed: Vec<Entry<'a>>,
    pub(crate) removed: Vec<Box<str>>,
}

impl DescriptionFingerprints {
    pub(super) fn new(catalog: &Catalog) -> Self {
        let fingerprints = catalog.visible().map(|entry| DescriptionFingerprint {
            id: entry.id().into(),
            hash: hash_description(&entry),
        });
        Self(fingerprints.collect())
    }

    /// Compares these fingerprints with a newer snapshot.
    pub(crate) fn difference<'a>(&self, newer: &'a Catalog) -> Difference<'a> {
        let mut difference = Difference::default();
        let now = newer.fingerprints();
        if Arc::ptr_eq(&self.0, &now.0) {
            return difference;
        }
        let mut old: HashMap<&str, u64> = self
            .0
            .iter()
            .map(|skill| (&*skill.id, skill.hash))
            .collect();
        for skill in &*now.0 {
            let list = match old.remove(&*skill.id) {
                None => &mut difference.added,
                Some(before) if before != skill.hash => &mut difference.changed,
                Some(_) => continue,
            };
            list.extend(newer.get(&skill.id));
        }
        let gone = self.0.iter().filter(|skill| old.contains_key(&*skill.id));
        difference.removed = gone.map(|skill| skill.id.clone()).collect();
        difference
    }
}

/// Hashes the texts of a skill that a listing shows: its description and its brief.
fn hash_description(entry: &Entry<'_>) -> u64 {
    // FNV-1a is enough: an attacker gains nothing from a collision.
    let (mut hash, prime) = (0xcbf2_9ce4_8422_2325_u64, 0x0000_0100_0000_01b3);
    let manifest = entry.manifest();
    let brief = manifest.brief();
    for byte in manifest
        .description()
        .bytes()
        .chain([0])
        .chain(brief.bytes())
    {
        hash = (hash ^ u64::from(byte)).wrapping_mul(prime);
    }
    hash
}
