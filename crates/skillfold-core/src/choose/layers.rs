//! What is made of the skills of a snapshot, in two layers, so that one change costs the same among ten skills and ten
//! thousand.

use std::collections::HashSet;
use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;
use crate::read::discover::Skill;

/// The number of a skill that the snapshot does not have any more.
const GONE: u32 = u32::MAX;
/// Of so many skills one may be in the second layer before both are put together anew.
const SHARE: usize = 20;
/// So many may be in any case.
const LEAST: usize = 64;

/// What is made of the skills of a snapshot: a base, and what is newer.
pub(super) struct Layers<T> {
    catalog: Catalog,
    base: Layer<T>,
    newer: Layer<T>,
    /// Which skills of a snapshot there are.
    has: fn(&Entry<'_>) -> bool,
}

/// What is made of some skills.
pub(super) struct Layer<T> {
    pub(super) made: Arc<T>,
    skills: Arc<[Arc<Skill>]>,
    /// The number of each skill in the snapshot.
    places: Vec<u32>,
}

/// A skill with its number in a snapshot.
type Placed = (u32, Arc<Skill>);

impl<T> Layers<T> {
    /// Makes something of the skills of a snapshot that `has` names.
    pub(super) fn new(
        catalog: &Catalog,
        has: fn(&Entry<'_>) -> bool,
        make: impl Fn(&[Arc<Skill>], Option<&T>) -> T,
    ) -> Self {
        let base = Layer::new(placed(catalog, has), |skills| make(skills, None));
        let newer = Layer::new(Vec::new(), |skills| make(skills, Some(&base.made)));
        Self {
            catalog: catalog.clone(),
            base,
            newer,
            has,
        }
    }

    /// Returns the same for a newer snapshot; only what changed is made, unless that is much. A second layer is made by its
    /// skills and the first.
    pub(super) fn refresh(
        &self,
        catalog: &Catalog,
        make: impl Fn(&[Arc<Skill>], Option<&T>) -> T,
    ) -> Self {
        let (base, newer) = if catalog.tables.comes_from(&self.catalog.tables) {
            self.followed(catalog)
        } else {
            self.compared(catalog)
        };
        let gone = base.places.iter().filter(|place| **place == GONE).count();
        if newer.len() + gone > LEAST.max(base.places.len() / SHARE) {
            return Self::new(catalog, self.has, make);
        }
        let same = self.newer.skills.iter().zip(&newer);
        let is_same = self.newer.skills.len() == newer.len()
            && same.into_iter().all(|(a, (_, b))| Arc::ptr_eq(a, b));
        let newer = if is_same {
            self.newer
                .moved(newer.into_iter().map(|(at, _)| at).collect())
        } else {
            Layer::new(newer, |skills| make(skills, Some(&base.made)))
        };
        Self {
            catalog: catalog.clone(),
            base,
            newer,
            has: self.has,
        }
    }

    /// Returns the base and what is newer, for a snapshot that was made from this one by changes: skills have the same
    /// numbers.
    fn followed(&self, catalog: &Catalog) -> (Layer<T>, Vec<Placed>) {
        let (before, now) = (&self.catalog.tables, &catalog.tables);
        let mut gone: Vec<u32> = now.gone()[before.gone().len()..].to_vec();
        gone.sort_unstable();
        let is_there = |at: &u32| *at != GONE && gone.binary_search(at).is_err();
        let kept = |at: &u32| if is_there(at) { *at } else { GONE };
        let base = self.base.moved(self.base.places.iter().map(kept).collect());
        let newer = self.newer.places.iter().copied();
        let newer = newer
            .chain(before.next_number()..now.next_number())
            .filter(is_there)
            .map(|at| catalog.entry(at))
            .filter(self.has)
            .map(|entry| (entry.at(), Arc::clone(entry.skill())));
        (base, newer.collect())
    }

    /// Returns the base and what is newer, for any snapshot: skills are the same if they were not read again.
    fn compared(&self, catalog: &Catalog) -> (Layer<T>, Vec<Placed>) {
        let all = placed(catalog, self.has);
        let places: std::collections::HashMap<*const Skill, u32> = all
            .iter()
            .map(|(at, skill)| (Arc::as_ptr(skill), *at))
            .collect();
        let skills = self.base.skills.iter();
        let kept = skills.map(|skill| places.get(&Arc::as_ptr(skill)).copied().unwrap_or(GONE));
        let base = self.base.moved(kept.collect());
        let known: HashSet<u32> = base.places.iter().copied().collect();
        let newer = all.into_iter().filter(|(at, _)| !known.contains(at));
        let newer = newer.collect();
        (base, newer)
    }

    pub(super) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Returns the layers, the base first.
    pub(super) fn all(&self) -> [&Layer<T>; 2] {
        [&self.base, &self.newer]
    }
}

impl<T> Layer<T> {
    fn new(all: Vec<Placed>, make: impl FnOnce(&[Arc<Skill>]) -> T) -> Self {
        let (places, skills): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        Self {
            made: Arc::new(make(&skills)),
            skills: skills.into(),
            places,
        }
    }

    fn moved(&self, places: Vec<u32>) -> Self {
        Self {
            made: Arc::clone(&self.made),
            skills: Arc::clone(&self.skills),
            places,
        }
    }

    /// Returns the skills that it is made of, those that are gone too.
    pub(super) fn skills(&self) -> &[Arc<Skill>] {
        &self.skills
    }

    /// Returns the number in the snapshot of a skill by its place here, unless it is gone.
    pub(super) fn place(&self, slot: usize) -> Option<u32> {
        Some(self.places[slot]).filter(|at| *at != GONE)
    }
}

fn placed(catalog: &Catalog, has: fn(&Entry<'_>) -> bool) -> Vec<Placed> {
    let entries = catalog.entries().filter(has);
    entries
        .map(|entry| (entry.at(), Arc::clone(entry.skill())))
        .collect()
}
