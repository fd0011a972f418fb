//! The listing: one line per skill, and the same bytes for the same skills.

use std::borrow::Cow;

use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;
use crate::disclose::fit::{ListingDetail, ListingLine, fit};
use crate::disclose::policy::Policy;
use crate::disclose::style::{Style, StyleLayout};

/// A listing of skills for a model, and what did not fit into it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// The text for the model; empty if there are no skills.
    pub text: String,
    /// Tokens of the text.
    pub tokens: u64,
    /// The number of skills that a model may see.
    pub skills: usize,
    /// How much of the listing fits.
    pub detail: ListingDetail,
    /// The ids of the skills whose description was clipped or dropped.
    pub shortened: Vec<Box<str>>,
    /// The ids of the skills that did not fit.
    pub left_out: Vec<Box<str>>,
}

impl Catalog {
    /// Returns the listing of the skills that a model may see, within the budget. It depends on the skills and the
    /// policy alone, so it is the same in every turn.
    pub fn listing(&self, policy: &Policy) -> Listing {
        listing(self.visible(), policy)
    }
}

/// Returns the listing of some skills, within the budget.
pub(crate) fn listing<'a>(entries: impl Iterator<Item = Entry<'a>>, policy: &Policy) -> Listing {
    let lines: Vec<(&str, Cow<'a, str>)> = entries
        .map(|entry| (entry.id(), description(&entry, policy.style)))
        .collect();
    fit_listing(
        &lines,
        &StyleLayout::new(policy.style, &policy.tools),
        policy,
    )
}

/// Fits lines, each an id and a description, into the budget of a listing.
pub(super) fn fit_listing(
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

/// Returns the description of a skill that a listing of this style shows.
pub(super) fn description<'a>(entry: &Entry<'a>, style: Style) -> Cow<'a, str> {
    match style {
        Style::Tiers => entry.manifest().brief(),
        _ => Cow::Borrowed(entry.manifest().description()),
    }
}
