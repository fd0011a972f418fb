//! Lookup of ids, names and folder names.

use std::hash::BuildHasher;

use crate::catalog::canonical::canonical;
use crate::catalog::root::Root;
use crate::catalog::scope::Scope;
use crate::catalog::tables::{Item, SkillRow, Tables, Usability, scope_rank};

impl Tables {
    /// Returns the item with an id, a name or a folder name.
    pub(crate) fn find(&self, roots: &[Root], id: &str) -> Option<Item> {
        if let Some(at) = self.numbered_ids.get(id) {
            return Some(Item::Skill(*at));
        }
        let qualified = id
            .split_once(':')
            .and_then(|(qualifier, rest)| self.find_qualified(roots, qualifier, rest));
        qualified.or_else(|| {
            let key = canonical(id);
            let aliased = || self.items_with_alias(&key).first().copied();
            match self.winner(&key) {
                // A skill that cannot be used does not hide a usable one by folder name.
                Some(winner) if !self.is_usable(Item::Skill(winner)) => aliased()
                    .filter(|item| self.is_usable(*item))
                    .or(Some(Item::Skill(winner))),
                Some(winner) => Some(Item::Skill(winner)),
                None => aliased(),
            }
        })
    }

    fn is_usable(&self, item: Item) -> bool {
        match item {
            Item::Skill(at) => self.row(at).usability == Usability::Usable,
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
            let mut aliased = self.items_with_alias(&key).iter().copied();
            aliased.find(|item| candidates.contains(&self.location(*item).0))
        })
    }

    /// Returns the first skill of a name that is in one of the candidate roots. Skills of one name are ordered by rank
    /// and root, and a root has two ranks: one for usable skills, one for the others.
    fn first_in_roots(&self, roots: &[Root], winner: u32, candidates: &[usize]) -> Option<Item> {
        let winning = self.row(winner);
        let losers = &winning.losers;
        let rank_and_root = |row: &SkillRow| {
            let root = &roots[row.skill.source];
            (
                scope_rank(root, row.usability, self.precedence),
                row.skill.source,
            )
        };
        let ranks = candidates.iter().flat_map(|root| {
            [Usability::Usable, Usability::Unusable]
                .map(|usability| (scope_rank(&roots[*root], usability, self.precedence), *root))
        });
        let firsts = ranks.filter_map(|wanted| {
            if rank_and_root(winning) == wanted {
                return Some((0, winner));
            }
            let first = losers.partition_point(|at| rank_and_root(self.row(*at)) < wanted);
            let index = *losers.get(first)?;
            (rank_and_root(self.row(index)) == wanted).then_some((first + 1, index))
        });
        firsts.min().map(|(_, first)| Item::Skill(first))
    }

    /// Returns the items with a folder name that is not their name, by rank.
    fn items_with_alias(&self, key: &str) -> &[Item] {
        self.aliases.get(key).map_or(&[], Vec::as_slice)
    }

    pub(super) fn winner(&self, key: &str) -> Option<u32> {
        let name = |at: &u32| self.row(*at).name();
        let hash = self.hasher.hash_one(key);
        // Most names are already canonical.
        let has_key = |at: &u32| name(at) == key || canonical(name(at)) == key;
        let row = self.names.find(hash, has_key)?;
        Some(self.row(*row).winner)
    }
}
