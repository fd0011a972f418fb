//! Assigns each skill its unique id.

use crate::catalog::root::Root;
use crate::catalog::tables::{Item, Tables};
use crate::read::frontmatter::saturating_u32;

impl Tables {
    /// Assigns an id to each skill that its name does not resolve to.
    pub(super) fn assign_ids(&mut self, roots: &[Root]) {
        let mut ids: Vec<(u32, Option<String>)> = Vec::new();
        let are_distinct = have_distinct_location_ids(roots);
        for (index, row) in (0..).zip(&self.rows) {
            if row.winner == index && !(row.losers.is_empty() && row.is_plain) {
                self.group_ids(roots, index, are_distinct, &mut ids);
            }
        }
        let mut without_id: Vec<u32> = Vec::new();
        for (index, id) in ids {
            match id {
                Some(id) => self.rows[index as usize].id = Some(id.into()),
                None => without_id.push(index),
            }
        }
        for index in without_id {
            let location = self.location_id(roots, index);
            let mut numbered = (2..).map(|number| format!("{location}~{number}"));
            if let Some(id) = numbered.find(|id| self.find(roots, id).is_none()) {
                self.numbered_ids.insert(id.as_str().into(), index);
                self.rows[index as usize].id = Some(id.into());
            }
        }
    }

    /// Collects the ids of those skills of one name that the name does not resolve to: the qualified name or, if that
    /// resolves elsewhere, the id by location; `None` if neither resolves to the skill.
    fn group_ids(
        &self,
        roots: &[Root],
        winner: u32,
        are_distinct: bool,
        ids: &mut Vec<(u32, Option<String>)>,
    ) {
        // A linear search suffices: there are few roots, and so few qualifiers.
        let mut taken: Vec<&str> = Vec::new();
        for index in self.group(winner) {
            let row = self.row(index);
            let resolves_here = |id: &String| self.find(roots, id) == Some(Item::Skill(index));
            let qualifier = roots[row.skill.source].qualifier();
            let is_first = !taken.contains(&qualifier);
            if is_first {
                taken.push(qualifier);
            }
            if index == winner
                && (row.is_plain || self.find(roots, row.name()) == Some(Item::Skill(index)))
            {
                continue;
            }
            let id = is_first.then(|| format!("{qualifier}:{}", row.name()));
            let id = id.filter(resolves_here).or_else(|| {
                let id = self.location_id(roots, index);
                (are_distinct || resolves_here(&id)).then_some(id)
            });
            ids.push((index, id));
        }
    }

    /// Returns the id of a skill by location.
    fn location_id(&self, roots: &[Root], index: u32) -> String {
        let skill = &self.row(index).skill;
        let root = &roots[skill.source];
        format!("{}:{}/{}", root.scope(), root.label(), skill.folder.path())
    }

    /// Sorts the rows by id. Folders are usually named like their skill, so the order by location is sorted in long runs,
    /// which a stable sort only has to merge.
    pub(super) fn order_by_id(&mut self) {
        let mut by_id: Vec<u32> = (0..saturating_u32(self.rows.len())).collect();
        by_id.sort_by(|a, b| self.row(*a).id().cmp(self.row(*b).id()));
        let mut positions = vec![0; by_id.len()];
        for (position, index) in (0..).zip(&by_id) {
            positions[*index as usize] = position;
        }
        (self.by_id, self.positions) = (by_id, positions);
    }
}

/// Returns whether no two folders can have the same id by location: no root's label extends that of another root of the
/// same scope by a path.
fn have_distinct_location_ids(roots: &[Root]) -> bool {
    let extends = |root: &Root, other: &Root| {
        let rest = root.label().strip_prefix(other.label());
        root.scope() == other.scope() && rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let mut pairs = roots
        .iter()
        .flat_map(|root| roots.iter().map(move |other| (root, other)));
    !pairs.any(|(root, other)| extends(root, other))
}
