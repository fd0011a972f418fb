//! The tables of a snapshot: skills by name, by id and by place.

mod find;

mod ids;

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

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
    hasher: DefaultHashBuilder,
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
        let facts: Vec<Facts<'_>> = skills
            .iter()
            .map(|skill| {
                let root = &roots[skill.source];
                Facts::of(skill, root, enablement.choice(skill, root), precedence)
            })
            .collect();
        let order = by_name(&facts);
        let mut node_of: Vec<u32> = vec![0; skills.len()];
        for (node, at) in order.iter().enumerate() {
            node_of[*at as usize] = index(node);
        }
        let nodes = order.iter().map(|at| Node {
            skill: Arc::clone(&skills[*at as usize]),
            id: None,
            winner: 0,
            choice: facts[*at as usize].choice,
        });
        let mut tables = Self {
            nodes: nodes.collect(),
            places: places(&skills, &refused, &node_of),
            refused: refused.into(),
            by_id: Box::default(),
            names: HashTable::with_capacity(skills.len()),
            hasher: DefaultHashBuilder::default(),
            aliases: HashMap::new(),
            numbered: HashMap::new(),
            precedence,
        };
        tables.enter_names(&facts, &order);
        tables.enter_aliases(&facts, &order);
        tables.give_ids(roots, &facts, &order);
        tables.order_by_id(&facts, &order);
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

    /// Finds the winner of each name, and enters it under its hash.
    fn enter_names(&mut self, facts: &[Facts<'_>], order: &[u32]) {
        let key = |node: usize| &facts[order[node] as usize].key;
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
    fn enter_aliases(&mut self, facts: &[Facts<'_>], order: &[u32]) {
        let mut aliased: Vec<(Rank, u32, u32)> = (0..)
            .zip(order)
            .filter(|(_, at)| facts[**at as usize].has_alias)
            .map(|(node, at)| (facts[*at as usize].rank, *at, node))
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
}

/// What is asked of each skill again and again, found in one pass: in a large catalog a skill is no longer at hand when it
/// is looked at a second time.
struct Facts<'a> {
    key: Key<'a>,
    rank: Rank,
    choice: Choice,
    /// Whether its folder has another name.
    has_alias: bool,
    /// Whether its name leads to it, if it is the winner of the name.
    is_plain: bool,
}

impl<'a> Facts<'a> {
    fn of(skill: &'a Skill, root: &Root, choice: Choice, precedence: Precedence) -> Self {
        let (name, folder) = (skill.manifest.name().as_str(), skill.folder.name());
        let key = Key::new(canonical(name));
        let is_other = folder != name && !folder.is_empty();
        let depth = skill.folder.path().matches('/').count();
        Self {
            rank: packed(rank(root, choice, precedence), skill.source, depth),
            choice,
            has_alias: is_other && canonical(folder) != key.as_str(),
            is_plain: !name.contains(':') && is_usable(root, choice),
            key,
        }
    }
}

/// How a skill stands among those of its name, the smallest first: by scope, by root, and by depth in the root, in one
/// number.
type Rank = u64;

/// Packs a rank; roots and depths are far fewer than there is room for.
fn packed(rank: usize, source: usize, depth: usize) -> Rank {
    let part = |number: usize, bits: u32| (number as u64).min((1 << bits) - 1);
    part(rank, 8) << 56 | part(source, 28) << 28 | part(depth, 28)
}

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
fn by_name(facts: &[Facts<'_>]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..index(facts.len())).collect();
    order.sort_by(|a, b| {
        let (a, b) = (&facts[*a as usize], &facts[*b as usize]);
        a.key.cmp(&b.key).then_with(|| a.rank.cmp(&b.rank))
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
