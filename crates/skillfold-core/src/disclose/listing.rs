//! The listing: a line for each skill, the same bytes for the same skills.

use std::borrow::Cow;

use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;
use crate::disclose::fit::{ListingDetail, ListingLine, fit};
use crate::disclose::policy::Policy;
use crate::disclose::style::{Style, StyleLayout};

/// A listing of skills for a model, and what of it there was no room for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// What the model is told; empty where there are no skills.
    pub text: String,
    /// Tokens of the text.
    pub tokens: u64,
    /// Skills that a model may see.
    pub skills: usize,
    /// How much there was room for.
    pub detail: ListingDetail,
    /// The ids of the skills whose description is not whole.
    pub shortened: Vec<Box<str>>,
    /// The ids of the skills that there was no room for.
    pub left_out: Vec<Box<str>>,
}

impl Catalog {
    /// Returns a line for each skill that a model may see, within the budget. It depends on the skills and the policy
    /// alone: the same in every turn.
    pub fn listing(&self, policy: &Policy) -> Listing {
        listing(self.visible(), policy)
    }
}

/// Returns a line for each of some skills, within the budget.
pub(crate) fn listing<'a>(entries: impl Iterator<Item = Entry<'a>>, policy: &Policy) -> Listing {
    let lines: Vec<(&str, Cow<'a, str>)> = entries
        .map(|entry| (entry.id(), described(&entry, policy.style)))
        .collect();
    fitted(
        &lines,
        &StyleLayout::new(policy.style, &policy.tools),
        policy,
    )
}

/// Returns lines, each an id and what is said of it, within the budget.
pub(super) fn fitted(
    lines: &[(&str, Cow<'_, str>)],
    layout: &StyleLayout<'_>,
    policy: &Policy,
) -> Listing {
    let lines: Vec<ListingLine<'_>> = lines
        .iter()
        .map(|(id, description)| ListingLine { id, description })
        .collect();
    let fitted = fit(&lines, layout, &policy.catalog, &*policy.counter);
    let text = if lines.is_empty() {
        String::new()
    } else {
        fitted.text(layout)
    };
    Listing {
        tokens: policy.counter.count(&text),
        text,
        skills: lines.len(),
        detail: fitted.detail,
        shortened: fitted.shortened().map(Into::into).collect(),
        left_out: fitted.left_out.iter().map(|id| Box::from(*id)).collect(),
    }
}

/// Returns what is said of a skill.
pub(super) fn described<'a>(entry: &Entry<'a>, style: Style) -> Cow<'a, str> {
    match style {
        Style::Tiers => entry.manifest().brief(),
        _ => Cow::Borrowed(entry.manifest().description()),
    }
}
