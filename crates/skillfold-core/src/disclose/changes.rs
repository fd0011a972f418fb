//! What changed since a model was given its listing: the difference alone, so that the listing stays as it is.

use crate::catalog::marks::{Difference, Marks};
use crate::catalog::snapshot::Catalog;
use crate::disclose::listing::described;
use crate::disclose::policy::Policy;
use crate::disclose::style::Styled;

/// What is said of a skill that is not there any more.
const GONE: &str = "(removed, do not use it)";

/// The listing that a model was given, in short. A clone costs nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub(crate) marks: Marks,
    pub(crate) tokens: u64,
}

/// What a model is told of changes, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Announced {
    /// Skills that are new.
    pub added: Vec<Box<str>>,
    /// Skills whose description is another.
    pub changed: Vec<Box<str>>,
    /// Skills that are not there any more.
    pub gone: Vec<Box<str>>,
}

impl Announced {
    /// Returns whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.gone.is_empty()
    }
}

/// Returns what changed since a listing was given, of the skills that may be seen, and the text about it.
pub(super) fn announce(
    shown: &Shown,
    catalog: &Catalog,
    policy: &Policy,
    may_see: impl Fn(&str) -> bool,
) -> Option<(Announced, String)> {
    let Difference {
        mut added,
        mut changed,
        mut gone,
    } = shown.marks.difference(catalog);
    added.retain(|entry| may_see(entry.id()));
    changed.retain(|entry| may_see(entry.id()));
    gone.retain(|id| may_see(id));
    let announced = Announced {
        added: added.iter().map(|entry| entry.id().into()).collect(),
        changed: changed.iter().map(|entry| entry.id().into()).collect(),
        gone,
    };
    if announced.is_empty() {
        return None;
    }
    let mut lines: Vec<_> = added
        .iter()
        .chain(&changed)
        .map(|entry| (entry.id(), described(entry, policy.style)))
        .collect();
    lines.extend(announced.gone.iter().map(|id| (&**id, GONE.into())));
    let layout = Styled::of_changes(policy.style, &policy.tools);
    let text = crate::disclose::listing::fitted(&lines, &layout, policy).text;
    Some((announced, text))
}
