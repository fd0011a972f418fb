//! The one string that leads to each skill.

use std::collections::HashSet;
use std::sync::Arc;

use crate::catalog::root::Root;
use crate::catalog::tables::{Facts, Item, Node, Tables, index, is_usable};

impl Tables {
    /// Gives an id to each skill that its name does not lead to.
    pub(super) fn give_ids(&mut self, roots: &[Root], facts: &[Facts<'_>], order: &[u32]) {
        let mut ids: Vec<(u32, Option<Arc<str>>)> = Vec::new();
        let are_distinct = are_places_distinct(roots);
        let mut colons = Vec::new();
        for (at, node) in (0..).zip(&self.base.nodes) {
            let facts = &facts[order[at as usize] as usize];
            if facts.has_colon {
                colons.push(at);
            }
            if node.winner == at && !(facts.is_plain && node.losers.is_empty()) {
                self.group_ids(roots, at, are_distinct, &mut ids);
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
            let place = self.place_id(roots, at);
            let mut numbers = (2..).map(|number| format!("{place}~{number}"));
            if let Some(id) = numbers.find(|id| self.find(roots, id).is_none()) {
                self.numbered.insert(id.as_str().into(), at);
                Arc::make_mut(&mut self.base).nodes[at as usize].id = Some(id.into());
            }
        }
    }

    /// Finds the ids of the skills of one name that it does not lead to: the first of name by qualifier and place that
    /// leads to it, or none where neither does.
    pub(super) fn group_ids(
        &self,
        roots: &[Root],
        winner: u32,
        are_distinct: bool,
        ids: &mut Vec<(u32, Option<Arc<str>>)>,
    ) {
        let qualifier = |at: u32| roots[self.node(at).skill.source].qualifier();
        let mut taken: HashSet<&str> = HashSet::new();
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
                    taken.insert(qualifier(winner));
                }
                taken.insert(qualifier(at))
            };
            let wanted = is_first.then(|| format!("{}:{}", qualifier(at), node.name()));
            let id = wanted.filter(|id| leads_here(id)).or_else(|| {
                let place = self.place_id(roots, at);
                (are_distinct || leads_here(&place)).then_some(place)
            });
            ids.push((at, id.map(Into::into)));
        }
    }

    /// Returns the id of a skill by its place.
    fn place_id(&self, roots: &[Root], at: u32) -> String {
        let skill = &self.node(at).skill;
        let root = &roots[skill.source];
        format!("{}:{}/{}", root.scope(), root.label(), skill.folder.path())
    }

    /// Orders the nodes by id: most have their canonical name as id and are in order already, the others are put between
    /// them.
    pub(super) fn order_by_id(&mut self, facts: &[Facts<'_>], order: &[u32]) {
        let is_in_order = |node: &u32| {
            self.node(*node).id.is_none()
                && facts[order[*node as usize] as usize].key.is_as_written()
        };
        let plain: Vec<u32> = (0..index(self.base.nodes.len()))
            .filter(is_in_order)
            .collect();
        // Most of the others have their place as id, and are in order already if they are taken by place.
        let by_place = self.places.iter().filter_map(|item| match item {
            Item::Skill(node) => Some(*node),
            Item::Refused(_) => None,
        });
        let mut odd: Vec<u32> = by_place.filter(|node| !is_in_order(node)).collect();
        let id = |node: &u32| self.node(*node).id();
        odd.sort_by(|a, b| id(a).cmp(id(b)));
        let mut by_id = Vec::with_capacity(self.base.nodes.len());
        let mut rest = &plain[..];
        for node in &odd {
            let is_before = |other: &u32| id(other) < id(node);
            // Ids by place stand together; the next one mostly belongs right here.
            let length = match rest.first() {
                Some(first) if is_before(first) => rest.partition_point(is_before),
                _ => 0,
            };
            let (before, after) = rest.split_at(length);
            by_id.extend_from_slice(before);
            by_id.push(*node);
            rest = after;
        }
        by_id.extend_from_slice(rest);
        self.by_id = by_id;
    }
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
fn is_plain(roots: &[Root], node: &Node) -> bool {
    !node.name().contains(':') && is_usable(&roots[node.skill.source], node.choice)
}
