//! The one string that leads to each skill.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::catalog::root::Root;
use crate::catalog::tables::{Facts, Id, Item, SkillRow, Tables, is_usable};

/// What the ids by place of some roots are made of.
pub(super) struct PlaceIds {
    /// What those of each root start with.
    starts: Vec<Arc<str>>,
    /// Whether no two folders can have the same.
    are_distinct: bool,
}

impl PlaceIds {
    pub(super) fn new(roots: &[Root]) -> Self {
        let start = |root: &Root| format!("{}:{}/", root.scope(), root.label()).into();
        Self {
            starts: roots.iter().map(start).collect(),
            are_distinct: are_places_distinct(roots),
        }
    }
}

impl Tables {
    /// Gives an id to each skill that its name does not lead to.
    pub(super) fn give_ids(&mut self, roots: &[Root], facts: &[Facts]) {
        let mut ids: Vec<(u32, Option<Id>)> = Vec::new();
        let by_place = PlaceIds::new(roots);
        let mut colons = Vec::new();
        for ((at, node), facts) in (0..).zip(&self.base.nodes).zip(facts) {
            if facts.has_colon {
                colons.push(at);
            }
            if node.winner == at && !(facts.is_plain && node.losers.is_empty()) {
                self.group_ids(roots, at, &by_place, &mut ids);
            }
        }
        self.colons = colons;
        let mut unnamed: Vec<u32> = Vec::new();
        let nodes = &mut Arc::make_mut(&mut self.base).nodes;
        for (at, id) in ids {
            match id {
                Some(id) => nodes[at as usize].id = Some(id),
                None => unnamed.push(at),
            }
        }
        for at in unnamed {
            let place = self.place_id(at, &by_place);
            let mut numbers = (2..).map(|number| format!("{place}~{number}"));
            if let Some(id) = numbers.find(|id| self.find(roots, id).is_none()) {
                self.numbered.insert(id.as_str().into(), at);
                Arc::make_mut(&mut self.base).nodes[at as usize].id = Some(Id::Text(id.into()));
            }
        }
    }

    /// Finds the ids of the skills of one name that it does not lead to: the first of name by qualifier and place that
    /// leads to it, or none where neither does.
    pub(super) fn group_ids(
        &self,
        roots: &[Root],
        winner: u32,
        by_place: &PlaceIds,
        ids: &mut Vec<(u32, Option<Id>)>,
    ) {
        let qualifier = |at: u32| roots[self.node(at).source as usize].qualifier();
        // There are few roots, and so are their qualifiers.
        let mut taken: Vec<&str> = Vec::new();
        for at in self.group(winner) {
            let node = self.node(at);
            let leads_here = |id: &str| self.find(roots, id) == Some(Item::Skill(at));
            let is_first = if at == winner {
                if is_plain(roots, node) || leads_here(node.name()) {
                    continue;
                }
                true
            } else {
                if taken.is_empty() {
                    taken.push(qualifier(winner));
                }
                let is_new = !taken.contains(&qualifier(at));
                if is_new {
                    taken.push(qualifier(at));
                }
                is_new
            };
            let wanted = is_first.then(|| format!("{}:{}", qualifier(at), node.name()));
            let wanted = wanted.filter(|id| leads_here(id));
            let id = wanted.map(|id| Id::Text(id.into())).or_else(|| {
                let is_its = by_place.are_distinct || leads_here(&self.place_id(at, by_place));
                is_its.then(|| Id::by_place(&by_place.starts[node.source as usize]))
            });
            ids.push((at, id));
        }
    }

    /// Returns the id of a skill by its place.
    fn place_id(&self, at: u32, by_place: &PlaceIds) -> String {
        let skill = &self.node(at).skill;
        format!("{}{}", by_place.starts[skill.source], skill.folder.path())
    }

    /// Orders the nodes by id: most have their canonical name as id and are in order already, or their place and are in
    /// order by place; the others are put between them.
    pub(super) fn order_by_id(&mut self, roots: usize, facts: &[Facts]) {
        let nodes = (0..).zip(&self.base.nodes).zip(facts);
        let orders = nodes.map(|((at, node), facts)| match &node.id {
            None if facts.key.is_as_written() => (at, InOrder::ByName),
            Some(Id::Place { .. }) => (at, InOrder::ByPlace),
            None | Some(Id::Text(_)) => (at, InOrder::No),
        });
        let orders: Vec<(u32, InOrder)> = orders.collect();
        let of = |wanted: InOrder| {
            let wanted = orders.iter().filter(move |(_, order)| *order == wanted);
            wanted.map(|(at, _)| *at)
        };
        let mut by_id: Vec<u32> = of(InOrder::ByName).collect();
        let mut odd: Vec<u32> = of(InOrder::No).collect();
        odd.sort_by(|a, b| self.compare_ids(*a, *b));
        self.merge(&mut by_id, &odd);
        for root in 0..roots {
            let of_root = |root: usize| self.places.partition_point(|at| self.place(*at).0 < root);
            let items = &self.places[of_root(root)..of_root(root + 1)];
            let by_place = items.iter().filter_map(|item| match item {
                Item::Skill(at) if orders[*at as usize].1 == InOrder::ByPlace => Some(*at),
                Item::Skill(_) | Item::Refused(_) => None,
            });
            self.merge(&mut by_id, &by_place.collect::<Vec<_>>());
        }
        self.by_id = by_id;
    }

    /// Puts nodes between others; both are in order by id.
    fn merge(&self, by_id: &mut Vec<u32>, nodes: &[u32]) {
        let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else {
            return;
        };
        // Ids by place stand together, with nothing between them.
        let start = by_id.partition_point(|other| self.compare_ids(*other, *first).is_lt());
        let next = by_id.get(start);
        if next.is_none_or(|next| self.compare_ids(*next, *last).is_gt()) {
            by_id.splice(start..start, nodes.iter().copied());
            return;
        }
        let mut merged = Vec::with_capacity(by_id.len() + nodes.len());
        let mut rest = &by_id[..];
        for node in nodes {
            let is_before = |other: &u32| self.compare_ids(*other, *node).is_lt();
            let (before, after) = rest.split_at(rest.partition_point(is_before));
            merged.extend_from_slice(before);
            merged.push(*node);
            rest = after;
        }
        merged.extend_from_slice(rest);
        *by_id = merged;
    }

    /// Compares the ids of two nodes, without putting one together.
    fn compare_ids(&self, a: u32, b: u32) -> Ordering {
        let ((a, a_rest), (b, b_rest)) = (self.node(a).id_parts(), self.node(b).id_parts());
        let bytes = a.bytes().chain(a_rest.bytes());
        bytes.cmp(b.bytes().chain(b_rest.bytes()))
    }
}

/// What a node is in order by already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InOrder {
    ByName,
    ByPlace,
    No,
}

/// Returns whether no two folders of roots of one scope can have the same id by place: no label goes on where another
/// ends.
pub(super) fn are_places_distinct(roots: &[Root]) -> bool {
    let goes_on = |root: &Root, other: &Root| {
        let rest = root.label().strip_prefix(other.label());
        root.scope() == other.scope() && rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let mut pairs = roots
        .iter()
        .flat_map(|root| roots.iter().map(move |other| (root, other)));
    !pairs.any(|(root, other)| goes_on(root, other))
}

/// Returns whether the name of a skill leads to it, if it is the winner of the name.
fn is_plain(roots: &[Root], node: &SkillRow) -> bool {
    is_usable(&roots[node.source as usize], node.choice) && !node.name().contains(':')
}
