//! Assigns each skill its unique id.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::catalog::root::Root;
use crate::catalog::tables::{Id, Item, SkillFacts, SkillRow, Tables, is_usable};

/// Builds ids by location.
pub(super) struct LocationIds {
    /// The prefix of each root's ids.
    prefixes: Vec<Arc<str>>,
    /// Whether no two folders can have the same id by location.
    are_distinct: bool,
}

impl LocationIds {
    pub(super) fn new(roots: &[Root]) -> Self {
        let prefix = |root: &Root| format!("{}:{}/", root.scope(), root.label()).into();
        Self {
            prefixes: roots.iter().map(prefix).collect(),
            are_distinct: have_distinct_location_ids(roots),
        }
    }
}

impl Tables {
    /// Assigns an id to each skill that its name does not resolve to.
    pub(super) fn assign_ids(&mut self, roots: &[Root], facts: &[SkillFacts]) {
        let mut ids: Vec<(u32, Option<Id>)> = Vec::new();
        let location_ids = LocationIds::new(roots);
        let mut colons = Vec::new();
        for ((index, row), facts) in (0..).zip(&self.base.nodes).zip(facts) {
            if facts.has_colon {
                colons.push(index);
            }
            if row.winner == index && !(facts.is_plain && row.losers.is_empty()) {
                self.group_ids(roots, index, &location_ids, &mut ids);
            }
        }
        self.colons = colons;
        let mut without_id: Vec<u32> = Vec::new();
        let rows = &mut Arc::make_mut(&mut self.base).nodes;
        for (index, id) in ids {
            match id {
                Some(id) => rows[index as usize].id = Some(id),
                None => without_id.push(index),
            }
        }
        for index in without_id {
            let location = self.location_id(index, &location_ids);
            let mut numbered = (2..).map(|number| format!("{location}~{number}"));
            if let Some(id) = numbered.find(|id| self.find(roots, id).is_none()) {
                self.numbered.insert(id.as_str().into(), index);
                Arc::make_mut(&mut self.base).nodes[index as usize].id = Some(Id::Text(id.into()));
            }
        }
    }

    /// Collects the ids of those skills of one name that the name does not resolve to: the qualified name or, if that
    /// resolves elsewhere, the id by location; `None` if neither resolves to the skill.
    pub(super) fn group_ids(
        &self,
        roots: &[Root],
        winner: u32,
        location_ids: &LocationIds,
        ids: &mut Vec<(u32, Option<Id>)>,
    ) {
        let qualifier = |index: u32| roots[self.node(index).source as usize].qualifier();
        // A linear search suffices: there are few roots, and so few qualifiers.
        let mut taken: Vec<&str> = Vec::new();
        for index in self.group(winner) {
            let row = self.node(index);
            let resolves_here = |id: &str| self.find(roots, id) == Some(Item::Skill(index));
            let is_first = if index == winner {
                if is_plain(roots, row) || resolves_here(row.name()) {
                    continue;
                }
                true
            } else {
                if taken.is_empty() {
                    taken.push(qualifier(winner));
                }
                let is_new = !taken.contains(&qualifier(index));
                if is_new {
                    taken.push(qualifier(index));
                }
                is_new
            };
            let by_name = is_first.then(|| format!("{}:{}", qualifier(index), row.name()));
            let by_name = by_name.filter(|id| resolves_here(id));
            let id = by_name.map(|id| Id::Text(id.into())).or_else(|| {
                let is_unique = location_ids.are_distinct
                    || resolves_here(&self.location_id(index, location_ids));
                is_unique.then(|| Id::from_location(&location_ids.prefixes[row.source as usize]))
            });
            ids.push((index, id));
        }
    }

    /// Returns the id of a skill by location.
    fn location_id(&self, index: u32, location_ids: &LocationIds) -> String {
        let skill = &self.node(index).skill;
        format!(
            "{}{}",
            location_ids.prefixes[skill.source],
            skill.folder.path()
        )
    }

    /// Sorts the rows by id. Rows whose id is their canonical name are already in order, and rows with an id by
    /// location are in order within their root; the few others are sorted, and all are merged.
    pub(super) fn order_by_id(&mut self, roots: usize, facts: &[SkillFacts]) {
        let rows = (0..).zip(&self.base.nodes).zip(facts);
        let presorted = rows.map(|((index, row), facts)| match &row.id {
            None if facts.key.is_as_written() => (index, PresortedBy::Name),
            Some(Id::Location { .. }) => (index, PresortedBy::Location),
            None | Some(Id::Text(_)) => (index, PresortedBy::Nothing),
        });
        let presorted: Vec<(u32, PresortedBy)> = presorted.collect();
        let select = |wanted: PresortedBy| {
            let selected = presorted.iter().filter(move |(_, by)| *by == wanted);
            selected.map(|(index, _)| *index)
        };
        let mut by_id: Vec<u32> = select(PresortedBy::Name).collect();
        let mut unsorted: Vec<u32> = select(PresortedBy::Nothing).collect();
        unsorted.sort_by(|a, b| self.compare_ids(*a, *b));
        self.merge(&mut by_id, &unsorted);
        for root in 0..roots {
            let start_of = |root: usize| {
                self.places
                    .partition_point(|item| self.place(*item).0 < root)
            };
            let items = &self.places[start_of(root)..start_of(root + 1)];
            let by_location = items.iter().filter_map(|item| match item {
                Item::Skill(index) if presorted[*index as usize].1 == PresortedBy::Location => {
                    Some(*index)
                }
                Item::Skill(_) | Item::Refused(_) => None,
            });
            self.merge(&mut by_id, &by_location.collect::<Vec<_>>());
        }
        self.by_id = by_id;
    }

    /// Merges rows into `by_id`; both are sorted by id.
    fn merge(&self, by_id: &mut Vec<u32>, rows: &[u32]) {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
            return;
        };
        // Ids by location usually form one run, which can be inserted at once.
        let start = by_id.partition_point(|other| self.compare_ids(*other, *first).is_lt());
        let next = by_id.get(start);
        if next.is_none_or(|next| self.compare_ids(*next, *last).is_gt()) {
            by_id.splice(start..start, rows.iter().copied());
            return;
        }
        let mut merged = Vec::with_capacity(by_id.len() + rows.len());
        let mut rest = &by_id[..];
        for row in rows {
            let is_before = |other: &u32| self.compare_ids(*other, *row).is_lt();
            let (before, after) = rest.split_at(rest.partition_point(is_before));
            merged.extend_from_slice(before);
            merged.push(*row);
            rest = after;
        }
        merged.extend_from_slice(rest);
        *by_id = merged;
    }

    /// Compares the ids of two rows without allocating.
    fn compare_ids(&self, a: u32, b: u32) -> Ordering {
        let ((a, a_rest), (b, b_rest)) = (self.node(a).id_parts(), self.node(b).id_parts());
        let bytes = a.bytes().chain(a_rest.bytes());
        bytes.cmp(b.bytes().chain(b_rest.bytes()))
    }
}

/// What a row is already sorted by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PresortedBy {
    Name,
    Location,
    Nothing,
}

/// Returns whether no two folders can have the same id by location: no root's label extends that of another root of the
/// same scope by a path.
pub(super) fn have_distinct_location_ids(roots: &[Root]) -> bool {
    let extends = |root: &Root, other: &Root| {
        let rest = root.label().strip_prefix(other.label());
        root.scope() == other.scope() && rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let mut pairs = roots
        .iter()
        .flat_map(|root| roots.iter().map(move |other| (root, other)));
    !pairs.any(|(root, other)| extends(root, other))
}

/// Returns whether the name alone resolves to a skill, provided that it won the name.
fn is_plain(roots: &[Root], row: &SkillRow) -> bool {
    is_usable(&roots[row.source as usize], row.choice) && !row.name().contains(':')
}
