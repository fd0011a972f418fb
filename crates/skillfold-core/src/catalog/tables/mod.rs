//! The tables of a snapshot: skills by name, by id and by place.

mod find;

mod ids;

mod patch;

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, OnceLock};

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::catalog::enablement::{Enablement, Toggle};
use crate::catalog::key::{NameKey, Start, canonical};
use crate::catalog::root::{Root, Trust};
use crate::catalog::scope::{Precedence, Scope};
use crate::read::discover::{Discovery, RefusedFolder, Skill};
use crate::read::source::Folder;

pub(crate) use patch::Patched;

/// Skills and refused folders, and the ways to find each: what was arranged together, and what is newer. A skill keeps its
/// number while the base is the same; what is gone leaves its number unused.
#[derive(Debug)]
pub(crate) struct Tables {
    base: Arc<Base>,
    /// Skills that are newer than the base; their numbers follow those of the base.
    newer: Vec<SkillRow>,
    /// The same for refused folders.
    newer_refused: Vec<Arc<RefusedFolder>>,
    /// What the newer ones changed of the base's other words.
    newer_aliases: HashMap<Box<str>, Vec<Item>>,
    /// The numbers of skills that are gone, in the order in which they went.
    gone: Vec<u32>,
    /// The refused folders, ordered by root and folder.
    refused: Arc<[Arc<RefusedFolder>]>,
    /// The nodes ordered by id.
    by_id: Vec<u32>,
    /// All folders, ordered by root and folder.
    places: Vec<Item>,
    /// The winner of each name, by its hash: the names themselves are in the nodes.
    names: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// Skills with a colon in their name, whose ids depend on other names than their own.
    colons: Vec<u32>,
    /// Ids that are not made of names and places alone; there are hardly ever any.
    numbered: HashMap<Box<str>, u32>,
    /// How many skills come before each by id, from when it is asked for the first time.
    orders: OnceLock<Box<[u32]>>,
    precedence: Precedence,
}

/// What was arranged together.
#[derive(Clone, Debug)]
struct Base {
    /// Ordered by canonical name; of those with one name the winner stands first, and the others follow by rank.
    nodes: Vec<SkillRow>,
    refused: Arc<[Arc<RefusedFolder>]>,
    /// Other words for a skill or a refused folder: the names of folders.
    aliases: HashMap<Box<str>, Vec<Item>>,
}

/// A skill in the catalog.
#[derive(Clone, Debug)]
pub(crate) struct SkillRow {
    pub(crate) skill: Arc<Skill>,
    /// The id, where it is not the name.
    pub(crate) id: Option<Id>,
    /// The node that won the name.
    pub(crate) winner: u32,
    pub(crate) choice: Toggle,
    /// The root, which is the skill's own: in a large catalog the skill is far away.
    source: u32,
    /// The others of the name, by rank, if this one won it.
    pub(crate) losers: Box<[u32]>,
}

impl SkillRow {
    /// Creates a node that is alone.
    fn new(skill: Arc<Skill>, choice: Toggle, source: u32) -> Self {
        Self {
            skill,
            id: None,
            winner: 0,
            choice,
            source,
            losers: Box::default(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.skill.manifest.name().as_str()
    }

    pub(crate) fn id(&self) -> &str {
        match &self.id {
            Some(Id::Text(id)) => id,
            Some(Id::Place { of, text }) => {
                text.get_or_init(|| format!("{of}{}", self.skill.folder.path()).into())
            }
            None => self.name(),
        }
    }

    /// Returns the id in two parts, as they are: nothing is put together.
    fn id_parts(&self) -> (&str, &str) {
        match &self.id {
            Some(Id::Text(id)) => (id, ""),
            Some(Id::Place { of, .. }) => (of, self.skill.folder.path()),
            None => (self.name(), ""),
        }
    }
}

/// An id that is not the name of its skill.
#[derive(Clone, Debug)]
pub(crate) enum Id {
    Text(Box<str>),
    /// By place. Among many skills that share names most ids are of this kind, and few of them are ever looked at.
    Place {
        /// What the ids of all places of a root start with.
        of: Arc<str>,
        text: OnceLock<Box<str>>,
    },
}

impl Id {
    fn by_place(of: &Arc<str>) -> Self {
        Self::Place {
            of: Arc::clone(of),
            text: OnceLock::new(),
        }
    }
}

/// Ids of one and the same skill are equal if their parts are.
impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(id), Self::Text(other)) => id == other,
            (Self::Place { of, .. }, Self::Place { of: other, .. }) => of == other,
            (Self::Text(_), Self::Place { .. }) | (Self::Place { .. }, Self::Text(_)) => false,
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
        let facts = skills.iter().map(|skill| {
            let root = &roots[skill.source];
            Facts::of(skill, root, enablement.choice(skill, root), precedence)
        });
        let facts: Vec<Facts> = facts.collect();
        let order = by_name(&facts, &skills);
        let mut node_of: Vec<u32> = vec![0; skills.len()];
        for (node, at) in order.iter().enumerate() {
            node_of[*at as usize] = index(node);
        }
        let places = places(&skills, &refused, &node_of);
        let found = skills.into_iter().zip(facts).map(Some);
        let mut found: Vec<Option<(Arc<Skill>, Facts)>> = found.collect();
        let (mut nodes, mut facts) = (
            Vec::with_capacity(order.len()),
            Vec::with_capacity(order.len()),
        );
        for (skill, of) in order.iter().filter_map(|at| found[*at as usize].take()) {
            nodes.push(SkillRow::new(skill, of.choice, of.source));
            facts.push(of);
        }
        let refused: Arc<[_]> = refused.into();
        let base = Base {
            nodes,
            refused: Arc::clone(&refused),
            aliases: HashMap::new(),
        };
        let mut tables = Self {
            base: Arc::new(base),
            newer: Vec::new(),
            newer_refused: Vec::new(),
            newer_aliases: HashMap::new(),
            gone: Vec::new(),
            refused,
            by_id: Vec::new(),
            places,
            names: HashTable::with_capacity(order.len()),
            hasher: DefaultHashBuilder::default(),
            colons: Vec::new(),
            numbered: HashMap::new(),
            orders: OnceLock::new(),
            precedence,
        };
        tables.enter_names(&facts);
        tables.enter_aliases(&facts, &order);
        tables.give_ids(roots, &facts);
        tables.order_by_id(roots.len(), &facts);
        tables
    }

    /// Returns the number of skills.
    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn node(&self, at: u32) -> &SkillRow {
        let at = at as usize;
        match self.base.nodes.get(at) {
            Some(node) => node,
            None => &self.newer[at - self.base.nodes.len()],
        }
    }

    /// Returns the refused folder of a number.
    pub(crate) fn refused_at(&self, at: u32) -> &Arc<RefusedFolder> {
        let at = at as usize;
        match self.base.refused.get(at) {
            Some(refused) => refused,
            None => &self.newer_refused[at - self.base.refused.len()],
        }
    }

    pub(crate) fn refused(&self) -> &[Arc<RefusedFolder>] {
        &self.refused
    }

    pub(crate) fn by_id(&self) -> &[u32] {
        &self.by_id
    }

    pub(crate) fn places(&self) -> &[Item] {
        &self.places
    }

    /// Returns how many skills come before one, by id.
    pub(crate) fn order(&self, at: u32) -> u32 {
        let orders = self.orders.get_or_init(|| {
            let mut orders = vec![u32::MAX; self.next_number() as usize];
            for (order, at) in (0..).zip(&self.by_id) {
                orders[*at as usize] = order;
            }
            orders.into()
        });
        orders[at as usize]
    }

    /// Returns the other words for skills and refused folders.
    fn aliased(&self, key: &str) -> &[Item] {
        let newer = self.newer_aliases.get(key);
        let items = newer.or_else(|| self.base.aliases.get(key));
        items.map_or(&[], Vec::as_slice)
    }

    /// Returns the root and folder of an item.
    pub(crate) fn place(&self, item: Item) -> (usize, &Folder) {
        match item {
            Item::Skill(at) => {
                let skill = &self.node(at).skill;
                (skill.source, &skill.folder)
            }
            Item::Refused(at) => {
                let refused = self.refused_at(at);
                (refused.source, &refused.folder)
            }
        }
    }

    /// Returns the skills of one name, by rank, if this is the winner.
    pub(crate) fn group(&self, winner: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::once(winner).chain(self.node(winner).losers.iter().copied())
    }

    /// Finds the winner of each name, and enters it under its hash.
    fn enter_names(&mut self, facts: &[Facts]) {
        let key = |node: usize| &facts[node].key;
        let nodes = &mut Arc::make_mut(&mut self.base).nodes;
        let mut start = 0;
        for node in 0..nodes.len() {
            if node > 0 {
                let names = || (nodes[node].name(), nodes[node - 1].name());
                if key(node).cmp(key(node - 1), names).is_ne() {
                    start = node;
                }
            }
            nodes[node].winner = index(start);
        }
        let nodes = &mut Arc::make_mut(&mut self.base).nodes;
        for group in nodes.chunk_by_mut(|a, b| a.winner == b.winner) {
            if let [first, others @ ..] = group
                && !others.is_empty()
            {
                let start = first.winner;
                first.losers = (start + 1..=start + index(others.len())).collect();
            }
        }
        let (nodes, hasher) = (&self.base.nodes, &self.hasher);
        let text = |node: u32| key(node as usize).text(nodes[node as usize].name());
        let hash = |node: &u32| hasher.hash_one(text(*node));
        for node in (0..).zip(nodes).filter(|(at, node)| node.winner == *at) {
            self.names.insert_unique(hash(&node.0), node.0, hash);
        }
    }

    /// Enters the names of folders where they are not the names of their skills: skills by rank, then refused folders.
    fn enter_aliases(&mut self, facts: &[Facts], order: &[u32]) {
        let mut aliased: Vec<(Rank, u32, u32)> = (0..)
            .zip(order)
            .zip(facts)
            .filter(|(_, facts)| facts.has_alias)
            .map(|((node, at), facts)| (facts.rank, *at, node))
            .collect();
        aliased.sort_unstable();
        let skills = aliased.into_iter().map(|(_, _, node)| Item::Skill(node));
        let refused = (0..index(self.refused.len())).map(Item::Refused);
        let mut words: HashMap<Box<str>, Vec<Item>> = HashMap::new();
        for item in skills.chain(refused) {
            let alias: Box<str> = canonical(self.place(item).1.name()).into();
            if !alias.is_empty() {
                words.entry(alias).or_default().push(item);
            }
        }
        Arc::make_mut(&mut self.base).aliases = words;
    }
}

/// What is asked of each skill again and again, found in one pass: in a large catalog a skill is no longer at hand when it
/// is looked at a second time.
struct Facts {
    key: NameKey,
    source: u32,
    rank: Rank,
    choice: Toggle,
    /// Whether its folder has another name.
    has_alias: bool,
    /// Whether its name leads to it, if it is the winner of the name.
    is_plain: bool,
    has_colon: bool,
}

impl Facts {
    fn of(skill: &Skill, root: &Root, choice: Toggle, precedence: Precedence) -> Self {
        let (name, folder) = (skill.manifest.name().as_str(), skill.folder.name());
        let key = NameKey::new(name);
        let is_other = folder != name && !folder.is_empty();
        let has_colon = name.contains(':');
        Self {
            source: index(skill.source),
            rank: rank_of(skill, root, choice, precedence),
            choice,
            has_alias: is_other && canonical(folder) != key.text(name),
            is_plain: !has_colon && is_usable(root, choice),
            has_colon,
            key,
        }
    }
}

/// How a skill stands among those of its name, the smallest first: by scope, by root, and by depth in the root, in one
/// number.
type Rank = u64;

fn rank_of(skill: &Skill, root: &Root, choice: Toggle, precedence: Precedence) -> Rank {
    let depth = skill.folder.path().matches('/').count();
    packed(rank(root, choice, precedence), skill.source, depth)
}

/// Packs a rank; roots and depths are far fewer than there is room for.
fn packed(rank: usize, source: usize, depth: usize) -> Rank {
    let part = |number: usize, bits: u32| (number as u64).min((1 << bits) - 1);
    part(rank, 8) << 56 | part(source, 28) << 28 | part(depth, 28)
}

/// Returns how the skills of a root stand among those of the same name; the smallest wins. What may not be used wins over nothing.
fn rank(root: &Root, choice: Toggle, precedence: Precedence) -> usize {
    let scope = precedence.rank(root.scope());
    if is_usable(root, choice) {
        scope
    } else {
        Scope::ALL.len() + scope
    }
}

/// Returns whether what was chosen so of a root may be used.
fn is_usable(root: &Root, choice: Toggle) -> bool {
    root.trust() == Trust::Trusted && choice == Toggle::On
}

/// Returns the order of skills by canonical name, then by rank, then as they were found: by folder.
fn by_name(facts: &[Facts], skills: &[Arc<Skill>]) -> Vec<u32> {
    // The starts of the names stand side by side: most comparisons look at nothing else.
    let starts = (0..).zip(facts).map(|(at, facts)| (facts.key.start(), at));
    let mut order: Vec<(Start, u32)> = starts.collect();
    order.sort_unstable();
    let name = |at: u32| skills[at as usize].manifest.name().as_str();
    for alike in order.chunk_by_mut(|(start, _), (other, _)| start == other) {
        alike.sort_by(|(_, a), (_, b)| {
            let (left, right) = (&facts[*a as usize], &facts[*b as usize]);
            let keys = left.key.cmp(&right.key, || (name(*a), name(*b)));
            keys.then_with(|| left.rank.cmp(&right.rank))
        });
    }
    order.into_iter().map(|(_, at)| at).collect()
}

/// Returns all folders, ordered by root and folder, from two lists that are.
fn places(skills: &[Arc<Skill>], refused: &[Arc<RefusedFolder>], node_of: &[u32]) -> Vec<Item> {
    let mut places = Vec::with_capacity(skills.len() + refused.len());
    let mut done = 0;
    // There are few refused: each looks for its place, so that most skills are not looked at.
    for (at, refused) in (0..).zip(refused) {
        let place = (refused.source, &refused.folder);
        let is_before = |skill: &Arc<Skill>| (skill.source, &skill.folder) < place;
        let before = done + skills[done..].partition_point(is_before);
        places.extend(node_of[done..before].iter().copied().map(Item::Skill));
        places.push(Item::Refused(at));
        done = before;
    }
    places.extend(node_of[done..].iter().copied().map(Item::Skill));
    places
}

/// Returns a place as it is kept. A catalog has fewer skills than four thousand million: each root is capped.
fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
