//! What each skill says of itself, in a number: enough to tell what changed between two snapshots.

use std::collections::HashMap;
use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;

/// What the skills of a snapshot that a model may see say of themselves. A clone costs nothing, and all that look at one
/// snapshot share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DescriptionFingerprints(Arc<[DescriptionFingerprint]>);

/// What one skill says of itself.
#[derive(Debug, PartialEq, Eq)]
struct DescriptionFingerprint {
    id: Box<str>,
    said: u64,
}

/// What changed since marks were taken.
#[derive(Debug, Default)]
pub(crate) struct Difference<'a> {
    pub(crate) added: Vec<Entry<'a>>,
    pub(crate) changed: Vec<Entry<'a>>,
    pub(crate) gone: Vec<Box<str>>,
}

impl DescriptionFingerprints {
    pub(super) fn new(catalog: &Catalog) -> Self {
        let marks = catalog.visible().map(|entry| DescriptionFingerprint {
            id: entry.id().into(),
            said: said(&entry),
        });
        Self(marks.collect())
    }

    /// Returns what changed up to a newer snapshot.
    pub(crate) fn difference<'a>(&self, newer: &'a Catalog) -> Difference<'a> {
        let mut difference = Difference::default();
        let now = newer.marks();
        if Arc::ptr_eq(&self.0, &now.0) {
            return difference;
        }
        let mut old: HashMap<&str, u64> =
            self.0.iter().map(|mark| (&*mark.id, mark.said)).collect();
        for mark in &*now.0 {
            let list = match old.remove(&*mark.id) {
                None => &mut difference.added,
                Some(before) if before != mark.said => &mut difference.changed,
                Some(_) => continue,
            };
            list.extend(newer.get(&mark.id));
        }
        let gone = self.0.iter().filter(|mark| old.contains_key(&*mark.id));
        difference.gone = gone.map(|mark| mark.id.clone()).collect();
        difference
    }
}

/// Returns a number that stands for what a skill says of itself in a listing.
fn said(entry: &Entry<'_>) -> u64 {
    // FNV-1a: nobody gains by two descriptions with one number.
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
