//! The tables of a snapshot: skills by name, by id and by place.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use hashbrown::HashTable;

use crate::catalog::enablement::{Choice, Enablement};
use crate::catalog::key::{Key, canonical};
use crate::catalog::root::{Root, Trust};
use crate::catalog::scope::{Precedence, Scope};
use crate::read::discover::{Discovery, Refused, Skill};
use crate::read::source::Folder;

/// Skills and refused folders, and the ways to find each.
#[derive(Debug)]
pub(crate) struct Tables {
    /// Ordered by canonical name; of those with one name the winner stands first, and the others follow by rank.
    nodes: Box<[Node]>,
    refused: Box<[Arc<Refused>]>,
    /// The nodes ordered by id.
    by_id: Box<[u32]>,
    /// All folders, ordered by root and folder.
    places: Box<[Item]>,
    /// The first node of each name, by its hash: the names themselves are in the nodes.
    names: HashTable<u32>,
    hasher: RandomState,
    /// Other words for a skill or a refused folder: the names of folders.
    aliases: HashMap<Box<str>, Vec<Item>>,
}

/// A skill in the catalog.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) skill: Arc<Skill>,
    /// The id, where it is not the name.
    pub(crate) id: Option<Box<str>>,
    /// The node that won the name.
    pub(crate) winner: u32,
    pub(crate) choice: Choice,
}

impl Node {
    pub(crate) fn name(&self) -> &str {
        self.skill.manifest.name().as_str()
    }

    pub(crate) fn id(&self) -> &str {
        match &self.id {
            Some(id) => id,
            None => self.name(),
        }
    }
}

/// An index into the skills or into the refused folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Item {
    Skill(u32),
    Refused(u32),
}

impl Tables {
    /// Arranges what was found.
    pub(crate) fn new(
        found: Discovery,
        roots: &[Root],
        precedence: Precedence,
        enablement: &Enablement,
    ) -> Self {
        let Discovery {
            skills, refused, ..
        } = found;
        let choices: Vec<Choice> = skills
            .iter()
            .map(|skill| enablement.choice(skill, &roots[skill.source]))
            .collect();
        let rank = |at: u32| {
            let skill = &skills[at as usize];
            let root = &roots[skill.source];
            let depth = skill.folder.path().matches('/').count();
            (
                rank(root, choices[at as usize], precedence),
                skill.source,
                depth,
            )
        };
        let keys: Vec<Key<'_>> = skills
            .iter()
            .map(|skill| Key::new(canonical(skill.manifest.name().as_str())))
            .collect();
        let order = by_name(&keys, rank);
        let mut node_of: Vec<u32> = vec![0; skills.len()];
        for (node, at) in order.iter().enumerate() {
            node_of[*at as usize] = index(node);
        }
        let nodes = order.iter().map(|at| Node {
            skill: Arc::clone(&skills[*at as usize]),
            id: None,
            winner: 0,
            choice: choices[*at as usize],
        });
        let mut tables = Self {
            nodes: nodes.collect(),
            places: places(&skills, &refused, &node_of),
            refused: refused.into(),
            by_id: Box::default(),
            names: HashTable::with_capacity(skills.len()),
            hasher: RandomState::new(),
            aliases: HashMap::new(),
        };
        tables.enter_names(&keys, &order);
        tables.enter_aliases(&keys, &order, rank);
        tables.give_ids(roots);
        tables.order_by_id(&keys, &order);
        tables
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn refused(&self) -> &[Arc<Refused>] {
        &self.refused
    }

    pub(crate) fn by_id(&self) -> &[u32] {
        &self.by_id
    }

    pub(crate) fn places(&self) -> &[Item] {
        &self.places
    }

    /// Returns the root and folder of an item.
    pub(crate) fn place(&self, item: Item) -> (usize, &Folder) {
        match item {
            Item::Skill(at) => {
                let skill = &self.nodes[at as usize].skill;
                (skill.source, &skill.folder)
            }
            Item::Refused(at) => {
                let refused = &self.refused[at as usize];
                (refused.source, &refused.folder)
            }
        }
    }

    /// Returns the skills of one name, the winner first.
    pub(crate) fn group(&self, winner: u32) -> &[Node] {
        let rest = &self.nodes[winner as usize..];
        let length = rest.partition_point(|node| node.winner == winner);
        &rest[..length]
    }

    /// Returns what an id, a name or a folder's name leads to.
    pub(crate) fn find(&self, roots: &[Root], id: &str) -> Option<Item> {
        let qualified = id
            .split_once(':')
            .and_then(|(qualifier, rest)| self.qualified(roots, qualifier, rest));
        qualified.or_else(|| {
            let key = canonical(id);
            match self.winner(&key) {
                Some(winner) => Some(Item::Skill(winner)),
                None => self.aliases.get(&*key)?.first().copied(),
            }
        })
    }

    fn qualified(&self, roots: &[Root], qualifier: &str, rest: &str) -> Option<Item> {
        let scope = qualifier.parse::<Scope>().ok();
        let is_meant = |root: &Root| {
            Some(root.scope()) == scope || root.qualifier().eq_ignore_ascii_case(qualifier)
        };
        if rest.contains('/') {
            let mut meant = roots.iter().enumerate().filter(|(_, root)| is_meant(root));
            return meant.find_map(|(at, root)| {
                let folder = rest.strip_prefix(root.label())?.strip_prefix('/')?;
                self.at(at, folder)
            });
        }
        let key = canonical(rest);
        if let Some(winner) = self.winner(&key) {
            let group = self.group(winner);
            let first = group
                .iter()
                .position(|node| is_meant(&roots[node.skill.source]));
            if let Some(first) = first {
                return Some(Item::Skill(winner + index(first)));
            }
        }
        let mut aliased = self.aliases.get(&*key)?.iter().copied();
        aliased.find(|item| is_meant(&roots[self.place(*item).0]))
    }

    /// Returns what stands in a folder of a root.
    fn at(&self, root: usize, folder: &str) -> Option<Item> {
        let found = self.places.binary_search_by(|item| {
            let (at, place) = self.place(*item);
            (at, place.path()).cmp(&(root, folder))
        });
        found.ok().map(|at| self.places[at])
    }

    fn winner(&self, key: &str) -> Option<u32> {
        let name = |at: &u32| canonical(self.nodes[*at as usize].name());
        let hash = self.hasher.hash_one(key);
        self.names.find(hash, |at| name(at) == key).copied()
    }

    /// Finds the winner of each name, and enters it under its hash.
    fn enter_names(&mut self, keys: &[Key<'_>], order: &[u32]) {
        let key = |node: usize| &keys[order[node] as usize];
        let hash = |node: &u32| self.hasher.hash_one(key(*node as usize).as_str());
        let mut winner = 0;
        for node in 0..self.nodes.len() {
            if node == 0 || key(node) != key(node - 1) {
                winner = index(node);
                self.names.insert_unique(hash(&winner), winner, hash);
            }
            self.nodes[node].winner = winner;
        }
    }

    /// Enters the names of folders where they are not the names of their skills: skills by rank, then refused folders.
    fn enter_aliases(&mut self, keys: &[Key<'_>], order: &[u32], rank: impl Fn(u32) -> Rank) {
        let is_alias = |node: &Node, at: u32| {
            let folder = node.skill.folder.name();
            let is_other = folder != node.name() && !folder.is_empty();
            is_other && canonical(folder) != keys[at as usize].as_str()
        };
        let mut aliased: Vec<(Rank, u32, u32)> = (0..)
            .zip(order)
            .filter(|(node, at)| is_alias(&self.nodes[*node as usize], **at))
            .map(|(node, at)| (rank(*at), *at, node))
            .collect();
        aliased.sort_unstable();
        let skills = aliased.into_iter().map(|(_, _, node)| Item::Skill(node));
        let refused = (0..index(self.refused.len())).map(Item::Refused);
        for item in skills.chain(refused) {
            let alias = canonical(self.place(item).1.name()).into();
            self.aliases.entry(alias).or_default().push(item);
        }
    }

    /// Gives a qualified id to each skill that its name does not lead to.
    fn give_ids(&mut self, roots: &[Root]) {
        let mut taken: HashSet<&str> = HashSet::new();
        let mut ids: Vec<(usize, Box<str>)> = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let is_winner = node.winner as usize == at;
            if is_winner {
                taken.clear();
            }
            let root = &roots[node.skill.source];
            let is_first = taken.insert(root.qualifier());
            if is_winner
                && (!node.name().contains(':')
                    || self.find(roots, node.name()) == Some(Item::Skill(index(at))))
            {
                continue;
            }
            let id = if is_first {
                format!("{}:{}", root.qualifier(), node.name())
            } else {
                format!(
                    "{}:{}/{}",
                    root.scope(),
                    root.label(),
                    node.skill.folder.path()
                )
            };
            ids.push((at, id.into()));
        }
        for (at, id) in ids {
            self.nodes[at].id = Some(id);
        }
    }

    /// Orders the nodes by id: most have their canonical name as id and are in order already, the others are put between
    /// them.
    fn order_by_id(&mut self, keys: &[Key<'_>], order: &[u32]) {
        let is_in_order = |node: &u32| {
            self.nodes[*node as usize].id.is_none()
                && keys[order[*node as usize] as usize].is_as_written()
        };
        let (plain, mut odd): (Vec<u32>, Vec<u32>) =
            (0..index(self.nodes.len())).partition(is_in_order);
        let id = |node: &u32| self.nodes[*node as usize].id();
        odd.sort_by(|a, b| id(a).cmp(id(b)));
        let mut by_id = Vec::with_capacity(self.nodes.len());
        let mut rest = &plain[..];
        for node in &odd {
            let (before, after) = rest.split_at(rest.partition_point(|other| id(other) < id(node)));
            by_id.extend_from_slice(before);
            by_id.push(*node);
            rest = after;
        }
        by_id.extend_from_slice(rest);
        self.by_id = by_id.into();
    }
}

/// How a skill stands among those of its name, the smallest first: by scope, by root, and by depth in the root.
type Rank = (usize, usize, usize);

/// Returns how the skills of a root stand among those of the same name; the smallest wins. What may not be used wins over nothing.
fn rank(root: &Root, choice: Choice, precedence: Precedence) -> usize {
    let is_usable = root.trust() == Trust::Trusted && choice == Choice::On;
    let scope = precedence.rank(root.scope());
    if is_usable {
        scope
    } else {
        Scope::ALL.len() + scope
    }
}

/// Returns the order of skills by canonical name, then by rank, then as they were found: by folder.
fn by_name(keys: &[Key<'_>], rank: impl Fn(u32) -> Rank) -> Vec<u32> {
    let mut order: Vec<u32> = (0..index(keys.len())).collect();
    order.sort_by(|a, b| {
        let names = keys[*a as usize].cmp(&keys[*b as usize]);
        names.then_with(|| rank(*a).cmp(&rank(*b)))
    });
    order
}

/// Returns all folders, ordered by root and folder, from two lists that are.
fn places(skills: &[Arc<Skill>], refused: &[Arc<Refused>], node_of: &[u32]) -> Box<[Item]> {
    let mut places = Vec::with_capacity(skills.len() + refused.len());
    let mut refused = (0..).zip(refused).peekable();
    for (at, skill) in skills.iter().enumerate() {
        let is_before =
            |other: &Refused| (other.source, &other.folder) < (skill.source, &skill.folder);
        while let Some((before, _)) = refused.next_if(|(_, other)| is_before(other)) {
            places.push(Item::Refused(before));
        }
        places.push(Item::Skill(node_of[at]));
    }
    places.extend(refused.map(|(at, _)| Item::Refused(at)));
    places.into()
}

/// Returns a place as it is kept. A catalog has fewer skills than four thousand million: each root is capped.
fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
