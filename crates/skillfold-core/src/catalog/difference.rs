//! What changed between two snapshots, as far as a listing shows it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::catalog::fingerprint::{
    DescriptionFingerprint, DescriptionFingerprints, hash_description,
};
use crate::catalog::snapshot::Catalog;

/// How a newer snapshot differs from recorded fingerprints.
#[derive(Debug, Default)]
pub(crate) struct Difference<'a> {
    pub(crate) added: Vec<Entry<'a>>,
    pub(crate) changed: Vec<Entry<'a>>,
    pub(crate) removed: Vec<Box<str>>,
}

impl Catalog {
    /// Returns the description fingerprints of the skills that a model may see.
    pub(crate) fn fingerprints(&self) -> &DescriptionFingerprints {
        self.fingerprints
            .get_or_init(|| DescriptionFingerprints::new(self))
    }
}

impl DescriptionFingerprints {
    fn new(catalog: &Catalog) -> Self {
        let fingerprints = catalog.visible().map(|entry| DescriptionFingerprint {
            id: entry.id().into(),
            hash: hash_description(entry.manifest()),
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
