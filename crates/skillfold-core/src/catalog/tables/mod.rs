//! The lookup tables of a snapshot: skills by name, by id and by location (root and folder).

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

/// Skills and refused folders with their lookup tables: a shared base, and an overlay of newer items. A skill keeps its
/// index as long as the base is the same; a removed skill leaves a tombstone.
#[derive(Debug)]
pub(crate) struct Tables {
    base: Arc<Base>,
    /// Skills that are newer than the base; their indices follow those of the base.
    newer: Vec<SkillRow>,
    /// Refused folders that are newer than the base; their indices follow those of the base.
    newer_refused: Vec<Arc<RefusedFolder>>,
    /// Aliases that differ from the base.
    newer_aliases: HashMap<Box<str>, Vec<Item>>,
    /// Tombstones: the indices of removed skills, in the order of removal.
    gone: Vec<u32>,
    /// The refused folders, ordered by root and folder.
    refused: Arc<[Arc<RefusedFolder>]>,
    /// The skills, ordered by id.
    by_id: Vec<u32>,
    /// All items, ordered by root and folder.
    places: Vec<Item>,
    /// The winner of each canonical name, by hash. The names themselves are in the rows.
    names: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// Skills with a colon in their name: their ids depend on names other than their own.
    colons: Vec<u32>,
    /// Ids with an appended number (`~2`), which are very rare.
    numbered: HashMap<Box<str>, u32>,
    /// The position of each skill in the order by id, computed on first use.
    orders: OnceLock<Box<[u32]>>,
    precedence: Precedence,
}

/// Tables that were built in one pass and are shared between snapshots.
#[derive(Clone, Debug)]
struct Base {
    /// Ordered by canonical name; among equal names the winner is first, the others follow by rank.
    nodes: Vec<SkillRow>,
    refused: Arc<[Arc<RefusedFolder>]>,
    /// Skills and refused folders by folder name.
    aliases: HashMap<Box<str>, Vec<Item>>,
}

/// A skill in the tables.
#[derive(Clone, Debug)]
pub(crate) struct SkillRow {
    pub(crate) skill: Arc<Skill>,
    /// The id, if it is not the name.
    pub(crate) id: Option<Id>,
    /// The row that won the name.
    pub(crate) winner: u32,
    pub(crate) choice: Toggle,
    /// A copy of the skill's source index, which avoids a cache miss in a large catalog.
    source: u32,
    /// The rows that lost the name to this one, by rank.
    pub(crate) losers: Box<[u32]>,
}

impl SkillRow {
    /// Creates a row without an id and without other skills of its name.
    fn new(skill: Arc<Skill>, toggle: Toggle, source: u32) -> Self {
        Self {
            skill,
            id: None,
            winner: 0,
            choice: toggle,
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
            Some(Id::Location { prefix, text }) => {
                text.get_or_init(|| format!("{prefix}{}", self.skill.folder.path()).into())
            }
            None => self.name(),
        }
    }

    /// Returns the id in two parts, without allocating.
    fn id_parts(&self) -> (&str, &str) {
        match &self.id {
            Some(Id::Text(id)) => (id, ""),
            Some(Id::Location { prefix, .. }) => (prefix, self.skill.folder.path()),
            None => (self.name(), ""),
        }
    }
}

/// An id that is not the skill's name.
#[derive(Clone, Debug)]
pub(crate) enum Id {
    Text(Box<str>),
    /// By location. In catalogs with many shared names most ids are of this kind, and few are ever used, so the text is
    /// built on demand.
    Location {
        /// The common prefix of all ids by location in a root.
        prefix: Arc<str>,
        text: OnceLock<Box<str>>,
    },
}

impl Id {
    fn from_location(prefix: &Arc<str>) -> Self {
        Self::Location {
            prefix: Arc::clone(prefix),
            text: OnceLock::new(),
        }
    }
}

/// Compares two ids of the same skill, so the folder need not be compared.
impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(id), Self::Text(other)) => id == other,
            (Self::Location { prefix, .. }, Self::Location { prefix: other, .. }) => {
                prefix == other
            }
            (Self::Text(_), Self::Location { .. }) | (Self::Location { .. }, Self::Text(_)) => {
                false
            }
        }
    }
}

/// The index of a skill or of a refused folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Item {
    Skill(u32),
    Refused(u32),
}

impl Tables {
    /// Builds the tables from the result of a scan.
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
            SkillFacts::new(skill, root, enablement.toggle(skill, root), precedence)
        });
        let facts: Vec<SkillFacts> = facts.collect();
        let order = sort_by_name(&facts, &skills);
        let mut row_of: Vec<u32> = vec![0; skills.len()];
        for (row, at) in order.iter().enumerate() {
            row_of[*at as usize] = index(row);
        }
        let places = merge_by_location(&skills, &refused, &row_of);
        let found = skills.into_iter().zip(facts).map(Some);
        let mut found: Vec<Option<(Arc<Skill>, SkillFacts)>> = found.collect();
        let (mut rows, mut facts) = (
            Vec::with_capacity(order.len()),
            Vec::with_capacity(order.len()),
        );
        for (skill, skill_facts) in order.iter().filter_map(|at| found[*at as usize].take()) {
            rows.push(SkillRow::new(skill, skill_facts.toggle, skill_facts.source));
            facts.push(skill_facts);
        }
        let refused: Arc<[_]> = refused.into();
        let base = Base {
            nodes: rows,
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
        tables.index_names(&facts);
        tables.index_aliases(&facts, &order);
        tables.assign_ids(roots, &facts);
        tables.order_by_id(roots.len(), &facts);
        tables
    }

    /// Returns the number of skills.
    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn node(&self, index: u32) -> &SkillRow {
        let index = index as usize;
        match self.base.nodes.get(index) {
            Some(row) => row,
            None => &self.newer[index - self.base.nodes.len()],
        }
    }

    /// Returns the refused folder at an index.
    pub(crate) fn refused_at(&self, index: u32) -> &Arc<RefusedFolder> {
        let index = index as usize;
        match self.base.refused.get(index) {
            Some(refused) => refused,
            None => &self.newer_refused[index - self.base.refused.len()],
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

    /// Returns the position of a skill in the order by id.
    pub(crate) fn order(&self, index: u32) -> u32 {
        let positions = self.orders.get_or_init(|| {
            let mut positions = vec![u32::MAX; self.next_number() as usize];
            for (position, index) in (0..).zip(&self.by_id) {
                positions[*index as usize] = position;
            }
            positions.into()
        });
        positions[index as usize]
    }

    /// Returns the skills and refused folders with a folder name, by rank.
    fn aliased(&self, key: &str) -> &[Item] {
        let newer = self.newer_aliases.get(key);
        let items = newer.or_else(|| self.base.aliases.get(key));
        items.map_or(&[], Vec::as_slice)
    }

    /// Returns the root and folder of an item.
    pub(crate) fn place(&self, item: Item) -> (usize, &Folder) {
        match item {
            Item::Skill(index) => {
                let skill = &self.node(index).skill;
                (skill.source, &skill.folder)
            }
            Item::Refused(index) => {
                let refused = self.refused_at(index);
                (refused.source, &refused.folder)
            }
        }
    }

    /// Returns all skills of the winner's name, by rank.
    pub(crate) fn group(&self, winner: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::once(winner).chain(self.node(winner).losers.iter().copied())
    }

    /// Sets the winner of each name, and indexes it by hash.
    fn index_names(&mut self, facts: &[SkillFacts]) {
        let key = |row: usize| &facts[row].key;
        let rows = &mut Arc::make_mut(&mut self.base).nodes;
        let mut start = 0;
        for row in 0..rows.len() {
            if row > 0 {
                let names = || (rows[row].name(), rows[row - 1].name());
                if key(row).cmp(key(row - 1), names).is_ne() {
                    start = row;
                }
            }
            rows[row].winner = index(start);
        }
        let rows = &mut Arc::make_mut(&mut self.base).nodes;
        for group in rows.chunk_by_mut(|a, b| a.winner == b.winner) {
            if let [first, others @ ..] = group
                && !others.is_empty()
            {
                let start = first.winner;
                first.losers = (start + 1..=start + index(others.len())).collect();
            }
        }
        let (rows, hasher) = (&self.base.nodes, &self.hasher);
        let text = |row: u32| key(row as usize).text(rows[row as usize].name());
        let hash = |row: &u32| hasher.hash_one(text(*row));
        for (winner, _) in (0..).zip(rows).filter(|(index, row)| row.winner == *index) {
            self.names.insert_unique(hash(&winner), winner, hash);
        }
    }

    /// Indexes folder names that differ from the skill's name: skills by rank, then refused folders.
    fn index_aliases(&mut self, facts: &[SkillFacts], order: &[u32]) {
        let mut ranked: Vec<(Rank, u32, u32)> = (0..)
            .zip(order)
            .zip(facts)
            .filter(|(_, facts)| facts.has_alias)
            .map(|((row, at), facts)| (facts.rank, *at, row))
            .collect();
        ranked.sort_unstable();
        let skills = ranked.into_iter().map(|(_, _, row)| Item::Skill(row));
        let refused = (0..index(self.refused.len())).map(Item::Refused);
        let mut aliases: HashMap<Box<str>, Vec<Item>> = HashMap::new();
        for item in skills.chain(refused) {
            let alias: Box<str> = canonical(self.place(item).1.name()).into();
            if !alias.is_empty() {
                aliases.entry(alias).or_default().push(item);
            }
        }
        Arc::make_mut(&mut self.base).aliases = aliases;
    }
}

/// Frequently used properties of a skill, computed in one pass: in a large catalog, a second access to the skill would
/// miss the cache.
struct SkillFacts {
    key: NameKey,
    source: u32,
    rank: Rank,
    toggle: Toggle,
    /// Whether the folder name differs from the skill's name.
    has_alias: bool,
    /// Whether the name alone resolves to the skill, provided that it won the name.
    is_plain: bool,
    has_colon: bool,
}

impl SkillFacts {
    fn new(skill: &Skill, root: &Root, toggle: Toggle, precedence: Precedence) -> Self {
        let (name, folder) = (skill.manifest.name().as_str(), skill.folder.name());
        let key = NameKey::new(name);
        let differs = folder != name && !folder.is_empty();
        let has_colon = name.contains(':');
        Self {
            source: index(skill.source),
            rank: rank_of(skill, root, toggle, precedence),
            toggle,
            has_alias: differs && canonical(folder) != key.text(name),
            is_plain: !has_colon && is_usable(root, toggle),
            has_colon,
            key,
        }
    }
}

/// The rank of a skill among those of its name, lowest first: scope, root and depth in the root, packed into one
/// number.
type Rank = u64;

fn rank_of(skill: &Skill, root: &Root, toggle: Toggle, precedence: Precedence) -> Rank {
    let depth = skill.folder.path().matches('/').count();
    pack_rank(rank(root, toggle, precedence), skill.source, depth)
}

/// Packs a rank. Roots and depths never come near the 28 bits they have.
fn pack_rank(rank: usize, source: usize, depth: usize) -> Rank {
    let clamp = |number: usize, bits: u32| (number as u64).min((1 << bits) - 1);
    clamp(rank, 8) << 56 | clamp(source, 28) << 28 | clamp(depth, 28)
}

/// Returns the rank of a root's skills among those of the same name; the lowest wins. Skills that cannot be used come
/// after all that can.
fn rank(root: &Root, toggle: Toggle, precedence: Precedence) -> usize {
    let scope = precedence.rank(root.scope());
    if is_usable(root, toggle) {
        scope
    } else {
        Scope::ALL.len() + scope
    }
}

/// Returns whether a skill of a root can be used: it is trusted and enabled.
fn is_usable(root: &Root, toggle: Toggle) -> bool {
    root.trust() == Trust::Trusted && toggle == Toggle::On
}

/// Returns the indices of the skills, sorted by canonical name, then by rank, then by folder.
fn sort_by_name(facts: &[SkillFacts], skills: &[Arc<Skill>]) -> Vec<u32> {
    // The prefixes of the names are adjacent in memory, and decide most comparisons.
    let starts = (0..).zip(facts).map(|(at, facts)| (facts.key.start(), at));
    let mut order: Vec<(Start, u32)> = starts.collect();
    order.sort_unstable();
    let name = |at: u32| skills[at as usize].manifest.name().as_str();
    for equal in order.chunk_by_mut(|(start, _), (other, _)| start == other) {
        equal.sort_by(|(_, a), (_, b)| {
            let (left, right) = (&facts[*a as usize], &facts[*b as usize]);
            let keys = left.key.cmp(&right.key, || (name(*a), name(*b)));
            keys.then_with(|| left.rank.cmp(&right.rank))
        });
    }
    order.into_iter().map(|(_, at)| at).collect()
}

/// Merges skills and refused folders, both ordered by root and folder; `row_of` maps skills to rows.
fn merge_by_location(
    skills: &[Arc<Skill>],
    refused: &[Arc<RefusedFolder>],
    row_of: &[u32],
) -> Vec<Item> {
    let mut items = Vec::with_capacity(skills.len() + refused.len());
    let mut done = 0;
    // Few folders are refused: a binary search for each avoids touching most skills.
    for (index, refused) in (0..).zip(refused) {
        let location = (refused.source, &refused.folder);
        let is_before = |skill: &Arc<Skill>| (skill.source, &skill.folder) < location;
        let before = done + skills[done..].partition_point(is_before);
        items.extend(row_of[done..before].iter().copied().map(Item::Skill));
        items.push(Item::Refused(index));
        done = before;
    }
    items.extend(row_of[done..].iter().copied().map(Item::Skill));
    items
}

/// Converts an index for storage. The cap on skills per root keeps a catalog far below 2³² skills.
fn index(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
