//! The listing: one line per skill, and the same bytes for the same skills.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;
use crate::disclose::fit::{ListingDetail, ListingLine, fit};
use crate::disclose::policy::Policy;
use crate::disclose::style::StyleLayout;

/// A listing of skills for a model.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename = "ListingText")]
#[non_exhaustive]
pub struct Listing {
    /// The text for the model.
    pub text: String,
    /// Tokens of the text.
    pub tokens: u64,
    /// The number of skills that the model may see.
    pub skills: usize,
    /// The number of skills that are listed.
    #[serde(skip)]
    pub listed: usize,
    /// How much of the listing fits.
    #[serde(skip)]
    pub detail: ListingDetail,
    /// Ids of the skills whose description was shortened or dropped to fit the budget.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<Box<str>>,
    /// Ids of the skills that did not fit the budget.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Box<str>>,
    /// Whether the text names these.
    #[serde(skip)]
    pub names_left_out: bool,
}

impl Catalog {
    /// Returns the listing of the skills that a model may see, within the budget. It depends on the skills and the
    /// policy alone, so it is the same in every turn. Its text is empty if there are no skills, or no room to mention them.
    pub fn listing(&self, policy: &Policy) -> Listing {
        listing(self.visible(), 0, policy)
    }
}

/// Returns the listing of some skills, within the budget, in the order of their ids. If not all fit, the policy says
/// which matter most. `unlisted` is the number of other skills, which are only counted.
pub(crate) fn listing<'a>(
    entries: impl Iterator<Item = Entry<'a>>,
    unlisted: usize,
    policy: &Policy,
) -> Listing {
    let ranks: HashMap<&str, usize> = policy
        .preferred
        .iter()
        .enumerate()
        .map(|(rank, id)| (&**id, rank))
        .collect();
    let mut briefs = HashSet::new();
    let mut lines: Vec<(&str, Cow<'a, str>)> = entries
        .map(|entry| {
            let shown = description(&entry, policy);
            if shown != entry.manifest().description() {
                briefs.insert(entry.id());
            }
            (entry.id(), shown)
        })
        .collect();
    if !ranks.is_empty() {
        let rank = |id: &str| ranks.get(id).copied().unwrap_or(usize::MAX);
        lines.sort_by_key(|(id, _)| rank(id));
    }
    let layout = StyleLayout::new(policy.style, &policy.tools);
    let mut listing = fit_listing(&lines, unlisted, &layout, policy, LineOrder::ById);
    let known: HashSet<_> = (listing.shortened.iter().chain(&listing.left_out)).collect();
    let is_new = |id: &&str| briefs.contains(id) && !known.contains(&Box::from(*id));
    let more: Vec<Box<str>> = lines
        .iter()
        .map(|(id, _)| *id)
        .filter(is_new)
        .map(Into::into)
        .collect();
    listing.shortened.extend(more);
    listing.shortened.sort_unstable();
    listing
}

/// The order of the lines of a listing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LineOrder {
    /// By id.
    ById,
    /// As given.
    AsGiven,
}

/// Fits lines, each an id and a description, into the budget of a listing; the first ones matter most.
pub(super) fn fit_listing(
    lines: &[(&str, Cow<'_, str>)],
    unlisted: usize,
    layout: &StyleLayout<'_>,
    policy: &Policy,
    order: LineOrder,
) -> Listing {
    let lines: Vec<ListingLine<'_>> = lines
        .iter()
        .map(|(id, description)| ListingLine { id, description })
        .collect();
    let mut fitted = fit(&lines, unlisted, layout, &policy.catalog, &*policy.counter);
    if order == LineOrder::ById {
        fitted.lines.sort_by_key(|line| line.id);
        fitted.left_out.sort_unstable();
    }
    let text = fitted.text(layout);
    Listing {
        tokens: policy.counter.count(&text),
        text,
        skills: lines.len() + unlisted,
        listed: fitted.lines.len(),
        detail: fitted.detail,
        shortened: fitted.shortened().map(Into::into).collect(),
        left_out: fitted.left_out.iter().map(|id| Box::from(*id)).collect(),
        names_left_out: fitted.names_left_out,
    }
}

/// Returns the description of a skill in a listing. It is brief if each request adds the full descriptions of the skills
/// that it may be about.
pub(super) fn description<'a>(entry: &Entry<'a>, policy: &Policy) -> Cow<'a, str> {
    if policy.lists_briefs() {
        entry.manifest().brief()
    } else {
        Cow::Borrowed(entry.manifest().description())
    }
}
