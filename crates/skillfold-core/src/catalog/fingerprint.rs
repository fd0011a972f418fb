//! Fingerprints of skill descriptions, to tell what changed between two snapshots.

use std::sync::Arc;

use crate::read::manifest::Manifest;
use crate::text::fnv_hash;

/// Description fingerprints of the skills in a snapshot that a model may see. Clones are cheap and share the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DescriptionFingerprints(pub(super) Arc<[DescriptionFingerprint]>);

/// The id of one skill and a hash of its description.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DescriptionFingerprint {
    pub(super) id: Box<str>,
    pub(super) hash: u64,
}

/// Hashes the texts of a skill that a listing shows: its description and its brief.
pub(super) fn hash_description(manifest: &Manifest) -> u64 {
    // FNV-1a is enough: an attacker gains nothing from a collision.
    let brief = manifest.brief();
    let description = manifest.description().bytes();
    fnv_hash(description.chain([0]).chain(brief.bytes()))
}
