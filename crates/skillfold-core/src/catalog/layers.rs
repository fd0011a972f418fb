//! Data derived from the skills of a snapshot, kept as a base and an overlay so that a change processes the changed skills
//! alone.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;
use crate::read::discover::Skill;

/// Snapshot index of a skill that has been removed.
const TOMBSTONE: u32 = u32::MAX;
/// The base is rebuilt once more than one in this many of its skills has changed.
const REBUILD_DIVISOR: usize = 20;
/// Number of changed skills that never causes a rebuild.
const REBUILD_MIN_SKILLS: usize = 64;

/// Data derived from the skills of a snapshot: a base, and an overlay with the skills added since.
pub(crate) struct Layers<T> {
    catalog: Catalog,
    base: Layer<T>,
    overlay: Layer<T>,
    /// Selects the skills of a snapshot to include.
    filter: fn(&Entry<'_>) -> bool,
}

/// Data derived from some skills. A skill's slot is its position in `skills`.
pub(crate) struct Layer<T> {
    pub(crate) data: Arc<T>,
    skills: Arc<[Arc<Skill>]>,
    /// Snapshot index of the skill in each slot, or [`TOMBSTONE`].
    indices: Vec<u32>,
}

/// A skill with its snapshot index.
type IndexedSkill = (u32, Arc<Skill>);

impl<T> Layers<T> {
    /// Builds the layers from the skills of a snapshot that pass `filter`.
    pub(crate) fn new(
        catalog: &Catalog,
        filter: fn(&Entry<'_>) -> bool,
        build: impl Fn(&[Arc<Skill>], Option<&T>) -> T,
    ) -> Self {
        let base = Layer::new(indexed_skills(catalog, filter), |skills| {
            build(skills, None)
        });
        let overlay = Layer::new(Vec::new(), |skills| build(skills, Some(&base.data)));
        Self {
            catalog: catalog.clone(),
            base,
            overlay,
            filter,
        }
    }

    /// Returns the layers for a newer snapshot. Only changed skills are processed, unless there are so many that the
    /// base is rebuilt. `build` gets the skills of a layer and, for an overlay, the data of the base.
    pub(crate) fn refresh(
        &self,
        catalog: &Catalog,
        build: impl Fn(&[Arc<Skill>], Option<&T>) -> T,
    ) -> Self {
        let (base, added) = self.compare(catalog);
        let removed = base
            .indices
            .iter()
            .filter(|index| **index == TOMBSTONE)
            .count();
        if added.len() + removed > REBUILD_MIN_SKILLS.max(base.indices.len() / REBUILD_DIVISOR) {
            return Self::new(catalog, self.filter, build);
        }
        let pairs = self.overlay.skills.iter().zip(&added);
        let is_same = self.overlay.skills.len() == added.len()
            && pairs.into_iter().all(|(a, (_, b))| Arc::ptr_eq(a, b));
        let overlay = if is_same {
            self.overlay
                .with_indices(added.into_iter().map(|(index, _)| index).collect())
        } else {
            Layer::new(added, |skills| build(skills, Some(&base.data)))
        };
        Self {
            catalog: catalog.clone(),
            base,
            overlay,
            filter: self.filter,
        }
    }

    /// Returns the base and the skills of the overlay for another snapshot. Skills are compared by pointer: one that was
    /// not read again is unchanged.
    fn compare(&self, catalog: &Catalog) -> (Layer<T>, Vec<IndexedSkill>) {
        let mut added = indexed_skills(catalog, self.filter);
        let mut indices: HashMap<*const Skill, u32> = added
            .iter()
            .map(|(index, skill)| (Arc::as_ptr(skill), *index))
            .collect();
        let skills = self.base.skills.iter();
        let remapped = skills.map(|skill| indices.remove(&Arc::as_ptr(skill)).unwrap_or(TOMBSTONE));
        let base = self.base.with_indices(remapped.collect());
        added.retain(|(_, skill)| indices.contains_key(&Arc::as_ptr(skill)));
        (base, added)
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Returns the layers, the base first.
    pub(crate) fn all(&self) -> [&Layer<T>; 2] {
        [&self.base, &self.overlay]
    }
}

impl<T> Layer<T> {
    fn new(skills: Vec<IndexedSkill>, build: impl FnOnce(&[Arc<Skill>]) -> T) -> Self {
        let (indices, skills): (Vec<_>, Vec<_>) = skills.into_iter().unzip();
        Self {
            data: Arc::new(build(&skills)),
            skills: skills.into(),
            indices,
        }
    }

    fn with_indices(&self, indices: Vec<u32>) -> Self {
        Self {
            data: Arc::clone(&self.data),
            skills: Arc::clone(&self.skills),
            indices,
        }
    }

    /// Returns the skills in slot order, including removed ones.
    pub(crate) fn skills(&self) -> &[Arc<Skill>] {
        &self.skills
    }

    /// Returns the number of slots, including those of removed skills.
    pub(crate) fn len(&self) -> usize {
        self.skills.len()
    }

    /// Returns the snapshot index of the skill in a slot, or `None` if it has been removed.
    pub(crate) fn snapshot_index(&self, slot: usize) -> Option<u32> {
        Some(self.indices[slot]).filter(|index| *index != TOMBSTONE)
    }
}

fn indexed_skills(catalog: &Catalog, filter: fn(&Entry<'_>) -> bool) -> Vec<IndexedSkill> {
    let entries = catalog.entries().filter(filter);
    entries
        .map(|entry| (entry.index(), Arc::clone(entry.skill())))
        .collect()
}
