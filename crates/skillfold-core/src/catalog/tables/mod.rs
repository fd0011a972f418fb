//! The lookup tables of a snapshot: skills by name, by id and by location (root and folder).
//!
//! They are built in one pass from what a scan found, and never changed: a refresh builds new ones.

mod find;

mod ids;

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::catalog::canonical::canonical;
use crate::catalog::enablement::{Enablement, Toggle};
use crate::catalog::root::{Root, Trust};
use crate::catalog::scope::{Precedence, Scope};
use crate::catalog::skill_trust::{SkillTrust, TrustedSkills};
use crate::catalog::versions::{Compatibility, MismatchPolicy, Versions};
use crate::read::discover::{Discovery, FoundFolder, RefusedFolder, Skill};
use crate::read::frontmatter::saturating_u32;
use crate::source::Folder;

/// Skills and refused folders with their lookup tables.
#[derive(Debug)]
pub(crate) struct Tables {
    /// The skills, ordered by root and folder.
    rows: Vec<SkillRow>,
    /// The refused folders, ordered by root and folder.
    refused: Vec<Arc<RefusedFolder>>,
    /// All items, ordered by root and folder.
    by_location: Vec<Item>,
    /// The rows, ordered by id.
    by_id: Vec<u32>,
    /// The position of each row in the order by id.
    positions: Vec<u32>,
    /// One row of each canonical name, by hash; that row knows the winner. The names themselves are in the rows.
    names: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// Items whose folder name differs from their name, by folder name: skills by rank, then refused folders.
    aliases: HashMap<Box<str>, Vec<Item>>,
    /// Ids with an appended number (`~2`), which are very rare.
    numbered_ids: HashMap<Box<str>, u32>,
    precedence: Precedence,
}

/// What decides about each skill that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SkillRules<'a> {
    pub(crate) precedence: Precedence,
    pub(crate) enablement: &'a Enablement,
    pub(crate) trusted_skills: &'a TrustedSkills,
    pub(crate) versions: &'a Versions,
    pub(crate) version_mismatch: MismatchPolicy,
}

/// A skill in the tables.
#[derive(Debug)]
pub(crate) struct SkillRow {
    pub(crate) skill: Arc<Skill>,
    /// The id, if it is not the name.
    id: Option<Box<str>>,
    /// The row that won the name.
    pub(crate) winner: u32,
    pub(crate) toggle: Toggle,
    pub(crate) skill_trust: SkillTrust,
    pub(crate) compatibility: Compatibility,
    usability: Usability,
    /// Whether the name alone resolves to the skill, provided that it won the name.
    is_plain: bool,
    /// The rows that lost the name to this one, by rank.
    pub(crate) losers: Box<[u32]>,
}

impl SkillRow {
    pub(crate) fn name(&self) -> &str {
        self.skill.manifest.name().as_str()
    }

    pub(crate) fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_else(|| self.name())
    }

    /// Returns whether the id is another one than the name.
    pub(crate) fn has_own_id(&self) -> bool {
        self.id.is_some()
    }
}

/// Whether a skill can be used: its root is trusted, and it is enabled, not held and not withheld because of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Usability {
    Usable,
    Unusable,
}

/// The index of a skill or of a refused folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Item {
    Skill(u32),
    Refused(u32),
}

impl Tables {
    /// Builds the tables from the result of a scan, whose skills and refused folders are ordered by root and folder.
    pub(crate) fn new(found: Discovery, roots: &[Root], rules: SkillRules<'_>) -> Self {
        let Discovery {
            skills, refused, ..
        } = found;
        let by_location = merge_by_location(&skills, &refused);
        let hasher = DefaultHashBuilder::default();
        // Everything that is needed of each skill is taken at once: among many, each one is a cache miss.
        let (mut rows, mut name_hashes) = (Vec::with_capacity(skills.len()), Vec::new());
        let mut aliased: Vec<u32> = Vec::new();
        for (index, skill) in (0..).zip(skills) {
            let root = &roots[skill.source];
            let toggle = rules.enablement.toggle(&skill, root);
            let skill_trust = rules.trusted_skills.trust_of(&skill, root);
            let compatibility = rules
                .versions
                .compatibility(&skill.manifest, rules.version_mismatch);
            let is_usable = root.trust() == Trust::Trusted
                && toggle == Toggle::On
                && skill_trust == SkillTrust::Trusted
                && compatibility == Compatibility::Compatible;
            let is_plain = {
                let (name, folder) = (skill.manifest.name().as_str(), skill.folder.name());
                let canonical_name = canonical(name);
                name_hashes.push(hasher.hash_one(&*canonical_name));
                if folder != name && canonical(folder) != canonical_name {
                    aliased.push(index);
                }
                is_usable && !name.contains(':')
            };
            rows.push(SkillRow {
                skill,
                id: None,
                winner: index,
                toggle,
                skill_trust,
                compatibility,
                usability: if is_usable {
                    Usability::Usable
                } else {
                    Usability::Unusable
                },
                is_plain,
                losers: Box::default(),
            });
        }
        let mut tables = Self {
            rows,
            refused,
            by_location,
            by_id: Vec::new(),
            positions: Vec::new(),
            names: HashTable::new(),
            hasher,
            aliases: HashMap::new(),
            numbered_ids: HashMap::new(),
            precedence: rules.precedence,
        };
        tables.index_names(roots, &name_hashes);
        tables.index_aliases(roots, aliased);
        tables.assign_ids(roots);
        tables.order_by_id();
        tables
    }

    /// Returns the number of skills.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn row(&self, index: u32) -> &SkillRow {
        &self.rows[index as usize]
    }

    /// Returns the refused folder at an index.
    pub(crate) fn refused_at(&self, index: u32) -> &Arc<RefusedFolder> {
        &self.refused[index as usize]
    }

    pub(crate) fn refused(&self) -> &[Arc<RefusedFolder>] {
        &self.refused
    }

    /// Returns the skills, ordered by id.
    pub(crate) fn by_id(&self) -> &[u32] {
        &self.by_id
    }

    /// Returns all items, ordered by root and folder.
    pub(crate) fn by_location(&self) -> &[Item] {
        &self.by_location
    }

    /// Returns the position of a skill in the order by id.
    pub(crate) fn position(&self, index: u32) -> u32 {
        self.positions[index as usize]
    }

    /// Returns the root and folder of an item.
    pub(crate) fn location(&self, item: Item) -> (usize, &Folder) {
        match item {
            Item::Skill(index) => {
                let skill = &self.row(index).skill;
                (skill.source, &skill.folder)
            }
            Item::Refused(index) => {
                let refused = self.refused_at(index);
                (refused.source, &refused.folder)
            }
        }
    }

    /// Returns the item in a folder of a root.
    pub(crate) fn found(&self, item: Item) -> FoundFolder {
        match item {
            Item::Skill(index) => FoundFolder::Skill(Arc::clone(&self.row(index).skill)),
            Item::Refused(index) => FoundFolder::Refused(Arc::clone(self.refused_at(index))),
        }
    }

    pub(crate) fn item_at(&self, root: usize, folder: &str) -> Option<Item> {
        let found = self.by_location.binary_search_by(|item| {
            let (item_root, item_folder) = self.location(*item);
            (item_root, item_folder.path()).cmp(&(root, folder))
        });
        found.ok().map(|at| self.by_location[at])
    }

    /// Returns all skills of the winner's name, by rank.
    fn group(&self, winner: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::once(winner).chain(self.row(winner).losers.iter().copied())
    }

    /// Indexes each name by hash, and sets the winner among the skills of one name.
    fn index_names(&mut self, roots: &[Root], hashes: &[u64]) {
        let rows = &self.rows;
        let name = |index: u32| canonical(rows[index as usize].name());
        let hash = |index: &u32| hashes[*index as usize];
        let mut names = HashTable::with_capacity(rows.len());
        let mut shared: HashMap<u32, Vec<u32>> = HashMap::new();
        for index in 0..saturating_u32(rows.len()) {
            let is_same = |other: &u32| name(*other) == name(index);
            let entry = names.entry(hash(&index), is_same, hash);
            match entry {
                hashbrown::hash_table::Entry::Occupied(first) => {
                    let first = *first.get();
                    shared
                        .entry(first)
                        .or_insert_with(|| vec![first])
                        .push(index);
                }
                hashbrown::hash_table::Entry::Vacant(entry) => {
                    entry.insert(index);
                }
            }
        }
        self.names = names;
        for mut group in shared.into_values() {
            group.sort_by_key(|index| (self.rank(roots, *index), *index));
            let (winner, losers) = (group[0], group[1..].into());
            for index in &group {
                self.rows[*index as usize].winner = winner;
            }
            self.rows[winner as usize].losers = losers;
        }
    }

    /// Indexes the folder names of the skills whose name is another one.
    fn index_aliases(&mut self, roots: &[Root], mut skills: Vec<u32>) {
        skills.sort_by_cached_key(|index| (self.rank(roots, *index), *index));
        let skills = skills.into_iter().map(Item::Skill);
        let refused = (0..saturating_u32(self.refused.len())).map(Item::Refused);
        let mut aliases: HashMap<Box<str>, Vec<Item>> = HashMap::new();
        for item in skills.chain(refused) {
            let alias: Box<str> = canonical(self.location(item).1.name()).into();
            if !alias.is_empty() {
                aliases.entry(alias).or_default().push(item);
            }
        }
        self.aliases = aliases;
    }

    /// Returns the rank of a skill among those of its name, lowest first: scope, root and depth in the root.
    fn rank(&self, roots: &[Root], index: u32) -> (usize, usize, usize) {
        let row = self.row(index);
        let skill = &row.skill;
        let depth = skill.folder.path().matches('/').count();
        let root = &roots[skill.source];
        (
            scope_rank(root, row.usability, self.precedence),
            skill.source,
            depth,
        )
    }
}

/// Returns the rank of a root's skills among those of the same name; the lowest wins. Skills that cannot be used come
/// after all that can.
fn scope_rank(root: &Root, usability: Usability, precedence: Precedence) -> usize {
    let scope = precedence.rank(root.scope());
    match usability {
        Usability::Usable => scope,
        Usability::Unusable => Scope::ALL.len() + scope,
    }
}

/// Merges skills and refused folders, both ordered by root and folder.
fn merge_by_location(skills: &[Arc<Skill>], refused: &[Arc<RefusedFolder>]) -> Vec<Item> {
    let mut items = Vec::with_capacity(skills.len() + refused.len());
    let mut done = 0;
    // Few folders are refused: a binary search for each avoids touching most skills.
    for (index, refused) in (0..).zip(refused) {
        let location = (refused.source, &refused.folder);
        let is_before = |skill: &Arc<Skill>| (skill.source, &skill.folder) < location;
        let before = done + skills[done..].partition_point(is_before);
        items.extend((saturating_u32(done)..saturating_u32(before)).map(Item::Skill));
        items.push(Item::Refused(index));
        done = before;
    }
    items.extend((saturating_u32(done)..saturating_u32(skills.len())).map(Item::Skill));
    items
}
