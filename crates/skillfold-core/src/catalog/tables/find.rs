//! What a word leads to.

use std::hash::BuildHasher;

use crate::catalog::enablement::Toggle;
use crate::catalog::key::canonical;
use crate::catalog::root::Root;
use crate::catalog::scope::Scope;
use crate::catalog::tables::{Item, SkillRow, Tables, is_usable, rank};

impl Tables {
    /// Returns what an id, a name or a folder's name leads to.
    pub(crate) fn find(&self, roots: &[Root], id: &str) -> Option<Item> {
        if let Some(at) = self.numbered.get(id) {
            return Some(Item::Skill(*at));
        }
        let qualified = id
            .split_once(':')
            .and_then(|(qualifier, rest)| self.qualified(roots, qualifier, rest));
        qualified.or_else(|| {
            let key = canonical(id);
            let aliased = || self.aliased(&key).first().copied();
            match self.winner(&key) {
                // A name that may not be used hides no folder that may.
                Some(winner) if !self.is_usable(roots, Item::Skill(winner)) => aliased()
                    .filter(|item| self.is_usable(roots, *item))
                    .or(Some(Item::Skill(winner))),
                Some(winner) => Some(Item::Skill(winner)),
                None => aliased(),
            }
        })
    }

    pub(super) fn is_usable(&self, roots: &[Root], item: Item) -> bool {
        match item {
            Item::Skill(at) => {
                let node = self.node(at);
                is_usable(&roots[node.skill.source], node.choice)
            }
            Item::Refused(_) => false,
        }
    }

    fn qualified(&self, roots: &[Root], qualifier: &str, rest: &str) -> Option<Item> {
        let scope = qualifier.parse::<Scope>().ok();
        let qualifier = canonical(qualifier);
        let is_meant =
            |root: &Root| Some(root.scope()) == scope || canonical(root.qualifier()) == qualifier;
        let meant: Vec<usize> = (0..roots.len())
            .filter(|at| is_meant(&roots[*at]))
            .collect();
        if meant.is_empty() {
            return None;
        }
        if rest.contains('/') {
            return meant.iter().find_map(|at| {
                let folder = rest.strip_prefix(roots[*at].label())?.strip_prefix('/')?;
                self.at(*at, folder)
            });
        }
        let key = canonical(rest);
        let named = self
            .winner(&key)
            .and_then(|winner| self.first_of(roots, winner, &meant));
        named.or_else(|| {
            let mut aliased = self.aliased(&key).iter().copied();
            aliased.find(|item| meant.contains(&self.place(*item).0))
        })
    }

    /// Returns the first skill of a name that is of some of the roots. Those of one name are ordered by rank and root, and
    /// a root has two ranks: of what may be used of it, and of what may not.
    fn first_of(&self, roots: &[Root], winner: u32, meant: &[usize]) -> Option<Item> {
        let winning = self.node(winner);
        let losers = &winning.losers;
        let place = |node: &SkillRow| {
            let root = &roots[node.skill.source];
            (rank(root, node.choice, self.precedence), node.skill.source)
        };
        let ranks = meant.iter().flat_map(|at| {
            [Toggle::On, Toggle::Off]
                .map(|choice| (rank(&roots[*at], choice, self.precedence), *at))
        });
        let firsts = ranks.filter_map(|wanted| {
            if place(winning) == wanted {
                return Some((0, winner));
            }
            let first = losers.partition_point(|at| place(self.node(*at)) < wanted);
            let at = *losers.get(first)?;
            (place(self.node(at)) == wanted).then_some((first + 1, at))
        });
        firsts.min().map(|(_, first)| Item::Skill(first))
    }

    /// Returns what stands in a folder of a root.
    fn at(&self, root: usize, folder: &str) -> Option<Item> {
        let found = self.places.binary_search_by(|item| {
            let (at, place) = self.place(*item);
            (at, place.path()).cmp(&(root, folder))
        });
        found.ok().map(|at| self.places[at])
    }

    pub(super) fn winner(&self, key: &str) -> Option<u32> {
        let name = |at: &u32| self.node(*at).name();
        let hash = self.hasher.hash_one(key);
        // Most names are written as they are looked up.
        let is_it = |at: &u32| name(at) == key || canonical(name(at)) == key;
        self.names.find(hash, is_it).copied()
    }
}
