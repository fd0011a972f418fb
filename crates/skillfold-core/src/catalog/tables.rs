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
    /// Ids that are not made of names and places alone; there are hardly ever any.
    numbered: HashMap<Box<str>, u32>,
    precedence: Precedence,
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
            numbered: HashMap::new(),
            precedence,
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
        if let Some(at) = self.numbered.get(id) {
            return Some(Item::Skill(*at));
        }
        let qualified = id
            .split_once(':')
            .and_then(|(qualifier, rest)| self.qualified(roots, qualifier, rest));
        qualified.or_else(|| {
            let key = canonical(id);
            let aliased = || self.aliases.get(&*key)?.first().copied();
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

    fn is_usable(&self, roots: &[Root], item: Item) -> bool {
        match item {
            Item::Skill(at) => {
                let node = &self.nodes[at as usize];
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
            let mut aliased = self.aliases.get(&*key)?.iter().copied();
            aliased.find(|item| meant.contains(&self.place(*item).0))
        })
    }

    /// Returns the first skill of a name that is of some of the roots. Those of one name are ordered by rank and root, and
    /// a root has two ranks: of what may be used of it, and of what may not.
    fn first_of(&self, roots: &[Root], winner: u32, meant: &[usize]) -> Option<Item> {
        let group = self.group(winner);
        let place = |node: &Node| {
            let root = &roots[node.skill.source];
            (rank(root, node.choice, self.precedence), node.skill.source)
        };
        let ranks = meant.iter().flat_map(|at| {
            [Choice::On, Choice::Off]
                .map(|choice| (rank(&roots[*at], choice, self.precedence), *at))
        });
        let firsts = ranks.filter_map(|wanted| {
            let first = group.partition_point(|node| place(node) < wanted);
            (group.get(first).map(place) == Some(wanted)).then_some(first)
        });
        firsts.min().map(|first| Item::Skill(winner + index(first)))
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
            let alias: Box<str> = canonical(self.place(item).1.name()).into();
            if !alias.is_empty() {
                self.aliases.entry(alias).or_default().push(item);
            }
        }
    }

    /// Gives an id to each skill that its name does not lead to: the first of name by qualifier, place, and place with a
    /// number that leads to it.
    fn give_ids(&mut self, roots: &[Root]) {
        let mut taken: HashSet<&str> = HashSet::new();
        let mut ids: Vec<(u32, Box<str>)> = Vec::new();
        let mut unnamed: Vec<u32> = Vec::new();
        for (at, node) in (0..).zip(&self.nodes) {
            let root = &roots[node.skill.source];
            if node.winner == at {
                taken.clear();
            }
            let is_first = taken.insert(root.qualifier());
            let leads_here = |id: &str| self.find(roots, id) == Some(Item::Skill(at));
            let is_plain = !node.name().contains(':') && self.is_usable(roots, Item::Skill(at));
            if node.winner == at && (is_plain || leads_here(node.name())) {
                continue;
            }
            let qualified = is_first.then(|| format!("{}:{}", root.qualifier(), node.name()));
            let id = qualified.filter(|id| leads_here(id)).or_else(|| {
                let place = self.place_id(roots, at);
                leads_here(&place).then_some(place)
            });
            match id {
                Some(id) => ids.push((at, id.into())),
                None => unnamed.push(at),
            }
        }
        for (at, id) in ids {
            self.nodes[at as usize].id = Some(id);
        }
        for at in unnamed {
            let place = self.place_id(roots, at);
            let mut numbers = (2..).map(|number| format!("{place}~{number}"));
            if let Some(id) = numbers.find(|id| self.find(roots, id).is_none()) {
                self.numbered.insert(id.as_str().into(), at);
                self.nodes[at as usize].id = Some(id.into());
            }
        }
    }

    /// Returns the id of a skill by its place.
    fn place_id(&self, roots: &[Root], at: u32) -> String {
        let skill = &self.nodes[at as usize].skill;
        let root = &roots[skill.source];
        format!("{}:{}/{}", root.scope(), root.label(), skill.folder.path())
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
    let scope = precedence.rank(root.scope());
    if is_usable(root, choice) {
        scope
    } else {
        Scope::ALL.len() + scope
    }
}

/// Returns whether what was chosen so of a root may be used.
fn is_usable(root: &Root, choice: Choice) -> bool {
    root.trust() == Trust::Trusted && choice == Choice::On
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
