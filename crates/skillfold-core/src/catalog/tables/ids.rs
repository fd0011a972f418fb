//! The one string that leads to each skill.

use std::collections::HashSet;

use crate::catalog::key::Key;
use crate::catalog::root::Root;
use crate::catalog::tables::{Item, Tables, index};

impl Tables {
    /// Gives an id to each skill that its name does not lead to: the first of name by qualifier, place, and place with a
    /// number that leads to it.
    pub(super) fn give_ids(&mut self, roots: &[Root]) {
        let mut taken: HashSet<&str> = HashSet::new();
        let mut ids: Vec<(u32, Box<str>)> = Vec::new();
        let mut unnamed: Vec<u32> = Vec::new();
        for (at, node) in (0..).zip(&self.nodes) {
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
    pub(super) fn order_by_id(&mut self, keys: &[Key<'_>], order: &[u32]) {
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
