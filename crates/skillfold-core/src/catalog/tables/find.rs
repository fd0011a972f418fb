//! Lookup of ids, names and folder names.

use std::hash::BuildHasher;

use crate::catalog::enablement::Toggle;
use crate::catalog::key::canonical;
use crate::catalog::root::Root;
use crate::catalog::scope::Scope;
use crate::catalog::tables::{Item, SkillRow, Tables, is_usable, rank};

impl Tables {
    /// Returns the item with an id, a name or a folder name.
    pub(crate) fn find(&self, roots: &[Root], id: &str) -> Option<Item> {
        if let Some(at) = self.numbered.get(id) {
            return Some(Item::Skill(*at));
        }
        let qualified = id
            .split_once(':')
            .and_then(|(qualifier, rest)| self.find_qualified(roots, qualifier, rest));
        qualified.or_else(|| {
            let key = canonical(id);
            let aliased = || self.aliased(&key).first().copied();
            match self.winner(&key) {
                // A skill that cannot be used does not hide a usable one by folder name.
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
                let row = self.node(at);
                is_usable(&roots[row.skill.source], row.choice)
            }
            Item::Refused(_) => false,
        }
    }

    fn find_qualified(&self, roots: &[Root], qualifier: &str, rest: &str) -> Option<Item> {
        let scope = qualifier.parse::<Scope>().ok();
        let qualifier = canonical(qualifier);
        let is_qualified =
            |root: &Root| Some(root.scope()) == scope || canonical(root.qualifier()) == qualifier;
        let candidates: Vec<usize> = (0..roots.len())
            .filter(|root| is_qualified(&roots[*root]))
            .collect();
        if candidates.is_empty() {
            return None;
        }
        if rest.contains('/') {
            return candidates.iter().find_map(|root| {
                let folder = rest.strip_prefix(roots[*root].label())?.strip_prefix('/')?;
                self.item_at(*root, folder)
            });
        }
        let key = canonical(rest);
        let named = self
            .winner(&key)
            .and_then(|winner| self.first_in_roots(roots, winner, &candidates));
        named.or_else(|| {
            let mut aliased = self.aliased(&key).iter().copied();
            aliased.find(|item| candidates.contains(&self.place(*item).0))
        })
    }

    /// Returns the first skill of a name that is in one of the candidate roots. Skills of one name are ordered by rank
    /// and root, and a root has two ranks: one for usable skills, one for the others.
    fn first_in_roots(&self, roots: &[Root], winner: u32, candidates: &[usize]) -> Option<Item> {
        let winning = self.node(winner);
        let losers = &winning.losers;
        let rank_and_root = |row: &SkillRow| {
            let root = &roots[row.skill.source];
            (rank(root, row.choice, self.precedence), row.skill.source)
        };
        let ranks = candidates.iter().flat_map(|root| {
            [Toggle::On, Toggle::Off]
                .map(|toggle| (rank(&roots[*root], toggle, self.precedence), *root))
        });
        let firsts = ranks.filter_map(|wanted| {
            if rank_and_root(winning) == wanted {
                return Some((0, winner));
            }
            let first = losers.partition_point(|at| rank_and_root(self.node(*at)) < wanted);
            let index = *losers.get(first)?;
            (rank_and_root(self.node(index)) == wanted).then_some((first + 1, index))
        });
        firsts.min().map(|(_, first)| Item::Skill(first))
    }

    /// Returns the item in a folder of a root.
    fn item_at(&self, root: usize, folder: &str) -> Option<Item> {
        let found = self.places.binary_search_by(|item| {
            let (item_root, item_folder) = self.place(*item);
            (item_root, item_folder.path()).cmp(&(root, folder))
        });
        found.ok().map(|at| self.places[at])
    }

    pub(super) fn winner(&self, key: &str) -> Option<u32> {
        let name = |at: &u32| self.node(*at).name();
        let hash = self.hasher.hash_one(key);
        // Most names are already canonical.
        let has_key = |at: &u32| name(at) == key || canonical(name(at)) == key;
        self.names.find(hash, has_key).copied()
    }
}
