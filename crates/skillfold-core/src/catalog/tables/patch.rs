//! The next tables from these and what changed, for the cost of what changed.

use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasher;
use std::sync::{Arc, OnceLock};

use crate::catalog::enablement::Enablement;
use crate::catalog::key::canonical;
use crate::catalog::root::Root;
use crate::catalog::tables::ids::{LocationIds, have_distinct_location_ids};
use crate::catalog::tables::{Id, Item, Rank, SkillRow, Tables, index, rank_of};
use crate::read::discover::FoundFolder;
use crate::read::source::Folder;

/// Of so many skills one may be newer than the base before all is arranged anew.
const SHARE: usize = 20;
/// So many may be in any case.
const LEAST: usize = 64;

/// New tables, and how they differ.
pub(crate) struct Patched {
    pub(crate) tables: Tables,
    /// Skills whose number leads to nothing any more.
    pub(crate) left: Vec<u32>,
    /// Numbers that are new.
    pub(crate) entered: Vec<u32>,
    /// Of these, skills that had another number before: that one first.
    pub(crate) moved: Vec<(u32, u32)>,
    /// What was found, by its number.
    pub(crate) found: Vec<Item>,
}

impl Tables {
    /// Returns the tables without some items and with what was found instead. They are what they would be if all was
    /// arranged anew, but for the numbers. Returns nothing where all has to be arranged anew.
    pub(crate) fn patched(
        &self,
        out: &[Item],
        found: Vec<FoundFolder>,
        roots: &[Root],
        enablement: &Enablement,
    ) -> Option<Patched> {
        let room = 2 * LEAST.max(self.len() / SHARE);
        let newer = self.newer.len() + self.newer_refused.len() + self.gone.len();
        let is_full = newer + out.len() + found.len() > room || self.colons.len() > LEAST;
        if is_full || !self.numbered.is_empty() || !have_distinct_location_ids(roots) {
            return None;
        }
        let mut patch = Patch {
            old: self,
            roots,
            next: self.copied(),
            keys: BTreeSet::new(),
            left: Vec::new(),
            entered: Vec::new(),
            moved: Vec::new(),
            found: Vec::new(),
        };
        patch.take_out(out);
        patch.put_in(found, enablement);
        let colons: Vec<u32> = patch.next.colons.clone();
        for at in colons {
            let key = canonical(patch.next.node(at).name()).into();
            patch.keys.insert(key);
        }
        let keys: Vec<Box<str>> = patch.keys.iter().cloned().collect();
        for key in &keys {
            patch.regroup(key);
        }
        patch.enter_aliases();
        keys.iter().try_for_each(|key| patch.give_ids(key))?;
        Some(patch.finish())
    }

    fn copied(&self) -> Self {
        Self {
            base: Arc::clone(&self.base),
            newer: self.newer.clone(),
            newer_refused: self.newer_refused.clone(),
            newer_aliases: self.newer_aliases.clone(),
            gone: self.gone.clone(),
            refused: Arc::clone(&self.refused),
            by_id: self.by_id.clone(),
            places: self.places.clone(),
            names: self.names.clone(),
            hasher: self.hasher.clone(),
            colons: self.colons.clone(),
            numbered: HashMap::new(),
            orders: OnceLock::new(),
            precedence: self.precedence,
        }
    }

    /// Returns the number that the next skill gets.
    pub(crate) fn next_number(&self) -> u32 {
        index(self.base.nodes.len() + self.newer.len())
    }

    /// Returns the numbers of skills that went, in the order in which they did.
    pub(crate) fn gone(&self) -> &[u32] {
        &self.gone
    }

    /// Returns whether these tables were made from others by changes alone, so that a number which leads to something
    /// means the same in both.
    pub(crate) fn comes_from(&self, other: &Self) -> bool {
        let is_same = |(a, b): (&SkillRow, &SkillRow)| {
            Arc::ptr_eq(&a.skill, &b.skill) && a.winner == b.winner
        };
        Arc::ptr_eq(&self.base, &other.base)
            && self.gone.starts_with(&other.gone)
            && self.newer.len() >= other.newer.len()
            && self.newer.iter().zip(&other.newer).all(is_same)
    }

    /// Returns where a folder of a root stands among all places, or belongs.
    pub(crate) fn find_place(&self, root: usize, folder: &Folder) -> Result<usize, usize> {
        self.places
            .binary_search_by(|item| self.place(*item).cmp(&(root, folder)))
    }
}

struct Patch<'a> {
    old: &'a Tables,
    roots: &'a [Root],
    next: Tables,
    /// The words whose meaning may be another now.
    keys: BTreeSet<Box<str>>,
    left: Vec<u32>,
    entered: Vec<u32>,
    moved: Vec<(u32, u32)>,
    found: Vec<Item>,
}

impl Patch<'_> {
    fn take_out(&mut self, out: &[Item]) {
        for item in out {
            let (root, folder) = self.old.place(*item);
            if let Ok(at) = self.next.find_place(root, folder) {
                self.next.places.remove(at);
            }
            self.keys.insert(canonical(folder.name()).into());
            if let Item::Skill(at) = item {
                self.keys
                    .insert(canonical(self.old.node(*at).name()).into());
                self.leave(*at);
            }
        }
    }

    /// Takes a number away.
    fn leave(&mut self, at: u32) {
        let next = &mut self.next;
        let id = self.old.node(at).id();
        let place = next
            .by_id
            .binary_search_by(|other| self.old.node(*other).id().cmp(id));
        if let Ok(place) = place {
            next.by_id.remove(place);
        }
        next.colons.retain(|other| *other != at);
        next.gone.push(at);
        self.left.push(at);
    }

    fn put_in(&mut self, found: Vec<FoundFolder>, enablement: &Enablement) {
        for found in found {
            let item = match found {
                FoundFolder::Skill(skill) => {
                    let choice = enablement.toggle(&skill, &self.roots[skill.source]);
                    self.keys
                        .insert(canonical(skill.manifest.name().as_str()).into());
                    let source = index(skill.source);
                    Item::Skill(self.enter(SkillRow::new(skill, choice, source)))
                }
                FoundFolder::Refused(refused) => {
                    let next = &mut self.next;
                    let at = next.base.refused.len() + next.newer_refused.len();
                    next.newer_refused.push(refused);
                    Item::Refused(index(at))
                }
            };
            let (root, folder) = self.next.place(item);
            self.keys.insert(canonical(folder.name()).into());
            let at = self.next.find_place(root, folder);
            self.next.places.insert(at.unwrap_or_else(|at| at), item);
            self.found.push(item);
        }
    }

    /// Gives a skill a new number.
    fn enter(&mut self, node: SkillRow) -> u32 {
        let at = self.next.next_number();
        if node.name().contains(':') {
            self.next.colons.push(at);
        }
        self.next.newer.push(node);
        self.entered.push(at);
        at
    }

    /// Gives a skill that stays another number, as the others of its name are other ones now.
    fn renumber(&mut self, at: u32) -> u32 {
        let node = SkillRow {
            id: None,
            losers: Box::default(),
            ..self.old.node(at).clone()
        };
        self.leave(at);
        let new = self.enter(node);
        let (root, folder) = self.old.place(Item::Skill(at));
        if let Ok(place) = self.next.find_place(root, folder) {
            self.next.places[place] = Item::Skill(new);
        }
        self.moved.push((at, new));
        new
    }

    /// Finds out who has a name now.
    fn regroup(&mut self, key: &str) {
        let winner = self.old.winner(key);
        let before: Vec<u32> = winner.map_or_else(Vec::new, |at| self.old.group(at).collect());
        let is_left = |at: &u32| self.left.contains(at);
        let (gone, stay): (Vec<u32>, Vec<u32>) = before.into_iter().partition(is_left);
        let has_key = |at: &u32| canonical(self.next.node(*at).name()) == key;
        let mut members: Vec<u32> = self.entered.iter().copied().filter(has_key).collect();
        if gone.is_empty() && members.is_empty() {
            return;
        }
        members.extend(stay.into_iter().map(|at| self.renumber(at)));
        members.sort_by(|a, b| self.order(*a).cmp(&self.order(*b)));
        let next = &mut self.next;
        let first_newer = index(next.base.nodes.len());
        let hash = next.hasher.hash_one(key);
        if let Some(winner) = winner
            && let Ok(known) = next.names.find_entry(hash, |at| *at == winner)
        {
            known.remove();
        }
        let Some((winner, losers)) = members.split_first() else {
            return;
        };
        for at in &members {
            next.newer[(at - first_newer) as usize].winner = *winner;
        }
        next.newer[(winner - first_newer) as usize].losers = losers.into();
        let (names, base, newer, hasher) = (&mut next.names, &next.base, &next.newer, &next.hasher);
        names.insert_unique(hash, *winner, |at| {
            let at = *at as usize;
            let node = base.nodes.get(at);
            let node = node.unwrap_or_else(|| &newer[at - base.nodes.len()]);
            hasher.hash_one(&*canonical(node.name()))
        });
    }

    /// Returns how skills of one name or of one other word follow each other.
    fn order(&self, at: u32) -> (Rank, usize, &Folder) {
        let node = self.next.node(at);
        let root = &self.roots[node.skill.source];
        let rank = rank_of(&node.skill, root, node.choice, self.next.precedence);
        (rank, node.skill.source, &node.skill.folder)
    }

    /// Enters the names of folders, where something of that name is another now.
    fn enter_aliases(&mut self) {
        let moved = self.moved.iter();
        let folders = moved.map(|(_, at)| self.next.place(Item::Skill(*at)).1.name());
        let mut keys: BTreeSet<Box<str>> = folders.map(|name| canonical(name).into()).collect();
        keys.extend(self.keys.iter().cloned());
        keys.remove("");
        for key in keys {
            let known = self.next.aliased(&key);
            let mut skills: Vec<u32> = Vec::new();
            let mut refused: Vec<u32> = Vec::new();
            let is_there = |item: Item| {
                let (root, folder) = match item {
                    Item::Skill(at) if self.left.contains(&at) => return false,
                    item => self.next.place(item),
                };
                let place = self.next.find_place(root, folder);
                place.is_ok_and(|at| self.next.places[at] == item)
            };
            let entered = self.entered.iter().copied().map(Item::Skill);
            let new = entered
                .chain(self.found.iter().copied())
                .filter(|item| self.is_alias(*item, &key));
            for item in known
                .iter()
                .copied()
                .filter(|item| is_there(*item))
                .chain(new)
            {
                let (list, at) = match item {
                    Item::Skill(at) => (&mut skills, at),
                    Item::Refused(at) => (&mut refused, at),
                };
                if !list.contains(&at) {
                    list.push(at);
                }
            }
            skills.sort_by(|a, b| self.order(*a).cmp(&self.order(*b)));
            refused.sort_by_key(|at| self.next.place(Item::Refused(*at)));
            let skills = skills.into_iter().map(Item::Skill);
            let refused = refused.into_iter().map(Item::Refused);
            let items: Vec<Item> = skills.chain(refused).collect();
            if items != known {
                self.next.newer_aliases.insert(key, items);
            }
        }
    }

    /// Returns whether a word is the name of an item's folder, and not that of its skill.
    fn is_alias(&self, item: Item, key: &str) -> bool {
        if canonical(self.next.place(item).1.name()) != key {
            return false;
        }
        match item {
            Item::Skill(at) => canonical(self.next.node(at).name()) != key,
            Item::Refused(_) => true,
        }
    }

    /// Gives ids to the skills of one name. Where that of a skill is another only because of what other words lead to,
    /// all is arranged anew.
    fn give_ids(&mut self, key: &str) -> Option<()> {
        let Some(winner) = self.next.winner(key) else {
            return Some(());
        };
        let mut ids = Vec::new();
        let by_place = LocationIds::new(self.roots);
        self.next.group_ids(self.roots, winner, &by_place, &mut ids);
        let mut ids: HashMap<u32, Option<Id>> = ids.into_iter().collect();
        let first_newer = index(self.next.base.nodes.len());
        let members: Vec<u32> = self.next.group(winner).collect();
        for at in members {
            let id = match ids.remove(&at) {
                None => None,
                Some(None) => return None,
                Some(id) => id,
            };
            if self.entered.contains(&at) {
                self.next.newer[(at - first_newer) as usize].id = id;
            } else if self.next.node(at).id != id {
                return None;
            }
        }
        Some(())
    }

    /// Puts the new numbers in order.
    fn finish(self) -> Patched {
        let mut next = self.next;
        for at in &self.entered {
            let id = next.node(*at).id();
            let is_before = |other: &u32| next.node(*other).id() < id;
            let place = next.by_id.partition_point(is_before);
            next.by_id.insert(place, *at);
        }
        let is_refused = |item: &Item| matches!(item, Item::Refused(_));
        let refused = next.places.len() - next.by_id.len();
        if self.found.iter().any(is_refused) || refused != self.old.refused.len() {
            let refused = next.places.iter().filter_map(|item| match item {
                Item::Refused(at) => Some(next.refused_at(*at)),
                Item::Skill(_) => None,
            });
            next.refused = refused.cloned().collect();
        }
        Patched {
            tables: next,
            left: self.left,
            entered: self.entered,
            moved: self.moved,
            found: self.found,
        }
    }
}
