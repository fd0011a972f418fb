//! The one string that leads to each skill.

use std::collections::HashSet;

use crate::catalog::root::Root;
use crate::catalog::tables::{Facts, Item, Tables, index};

impl Tables {
    /// Gives an id to each skill that its name does not lead to: the first of name by qualifier, place, and place with a
    /// number that leads to it.
    pub(super) fn give_ids(&mut self, roots: &[Root], facts: &[Facts<'_>], order: &[u32]) {
        let mut taken: HashSet<&str> = HashSet::new();
        let mut ids: Vec<(u32, Box<str>)> = Vec::new();
        let mut unnamed: Vec<u32> = Vec::new();
        let are_distinct = are_places_distinct(roots);
        for (at, node) in (0..).zip(&self.nodes) {
            let is_plain = facts[order[at as usize] as usize].is_plain;
            if node.winner == at && is_plain {
                taken.clear();
                continue;
            }
            let root = &roots[node.skill.source];
            if node.winner == at {
                taken.clear();
            } else if taken.is_empty() {
                let winner = &self.nodes[node.winner as usize].skill;
                taken.insert(roots[winner.source].qualifier());
            }
            // Most names have one skill, whose qualifier nobody asks for.
            let is_first = node.winner == at || taken.insert(root.qualifier());
            let leads_here = |id: &str| self.find(roots, id) == Some(Item::Skill(at));
            if node.winner == at && leads_here(node.name()) {
                continue;
            }
            let qualified = is_first.then(|| format!("{}:{}", root.qualifier(), node.name()));
            let id = qualified.filter(|id| leads_here(id)).or_else(|| {
                let place = self.place_id(roots, at);
                (are_distinct || leads_here(&place)).then_some(place)
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
    pub(super) fn order_by_id(&mut self, facts: &[Facts<'_>], order: &[u32]) {
        let is_in_order = |node: &u32| {
            self.nodes[*node as usize].id.is_none()
                && facts[order[*node as usize] as usize].key.is_as_written()
        };
        let plain: Vec<u32> = (0..index(self.nodes.len())).filter(is_in_order).collect();
        // Most of the others have their place as id, and are in order already if they are taken by place.
        let by_place = self.places.iter().filter_map(|item| match item {
            Item::Skill(node) => Some(*node),
            Item::Refused(_) => None,
        });
        let mut odd: Vec<u32> = by_place.filter(|node| !is_in_order(node)).collect();
        let id = |node: &u32| self.nodes[*node as usize].id();
        odd.sort_by(|a, b| id(a).cmp(id(b)));
        let mut by_id = Vec::with_capacity(self.nodes.len());
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
        self.by_id = by_id.into();
    }
}

/// Returns whether no two folders of roots of one scope can have the same id by place: no label goes on where another
/// ends.
fn are_places_distinct(roots: &[Root]) -> bool {
    let goes_on = |root: &Root, other: &Root| {
        let rest = root.label().strip_prefix(other.label());
        root.scope() == other.scope() && rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let mut pairs = roots
        .iter()
        .flat_map(|root| roots.iter().map(move |other| (root, other)));
    !pairs.any(|(root, other)| goes_on(root, other))
}
