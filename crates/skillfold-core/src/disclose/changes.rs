//! Announces what changed since a model got its listing. Only the difference is sent, so the listing itself never
//! changes.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::catalog::difference::Difference;
use crate::catalog::entry::Entry;
use crate::catalog::fingerprint::DescriptionFingerprints;
use crate::catalog::snapshot::Catalog;
use crate::disclose::listing::{LineOrder, Listing, description, fit_listing};
use crate::disclose::policy::Policy;
use crate::disclose::style::StyleLayout;

/// Takes the place of the description of a removed skill.
const REMOVED_NOTE: &str = "(removed, do not use it)";

/// Fingerprints of the listing that a model got, and of what it was told since. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownListing {
    /// The skills in the listing.
    listed: DescriptionFingerprints,
    tokens: u64,
    /// Whether the listing has every skill with its full description.
    is_complete: bool,
    /// The skills that the model knows from the listing and later announcements.
    known: DescriptionFingerprints,
    /// The ids of removed skills that did not fit into an announcement yet.
    pending_removals: Vec<Box<str>>,
}

impl ShownListing {
    pub(crate) fn new(catalog: &Catalog, listed: &Listing) -> Self {
        let marks = catalog.fingerprints();
        Self {
            listed: marks.clone(),
            tokens: listed.tokens,
            is_complete: listed.listed == listed.skills && listed.shortened.is_empty(),
            known: marks.clone(),
            pending_removals: Vec::new(),
        }
    }

    /// Returns the tokens of the listing.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Returns whether the listing has every skill with its full description.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Records that the changes up to a snapshot were announced, except for removals that did not fit.
    pub(crate) fn record_announcement(&mut self, catalog: &Catalog, announced: &AnnouncedChanges) {
        self.known = catalog.fingerprints().clone();
        let left_out: HashSet<&str> = announced.left_out.iter().map(|id| &**id).collect();
        let gone = announced.gone.iter();
        self.pending_removals = gone
            .filter(|id| left_out.contains(&***id))
            .cloned()
            .collect();
    }

    /// Records that the model still has the listing, but none of the later announcements.
    pub(crate) fn reset_to_listing(&mut self) {
        self.known = self.listed.clone();
        self.pending_removals.clear();
    }
}

/// Changes to the skills since the listing, as skill ids.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename = "AnnouncedView")]
#[non_exhaustive]
pub struct AnnouncedChanges {
    /// New skills.
    pub added: Vec<Box<str>>,
    /// Skills with a new description.
    pub changed: Vec<Box<str>>,
    /// Skills that were removed or that the model may no longer use.
    pub gone: Vec<Box<str>>,
    /// Those of the above whose description was shortened or dropped to fit the budget.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<Box<str>>,
    /// Those of the above that did not fit the budget.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Box<str>>,
}

impl AnnouncedChanges {
    /// Returns whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.gone.is_empty()
    }
}

/// Returns the changes of visible skills since the listing and the announcement's text, or `None` if nothing changed. A
/// line counts those that do not fit; removals among them are announced again in the next turn.
pub(super) fn announce(
    shown: &ShownListing,
    catalog: &Catalog,
    policy: &Policy,
    may_see: impl Fn(&str) -> bool,
) -> Option<(AnnouncedChanges, Option<String>)> {
    let Difference {
        mut added,
        mut changed,
        removed: mut gone,
    } = shown.known.difference(catalog);
    if !shown.pending_removals.is_empty() {
        let visible: HashSet<&str> = catalog.visible().map(|entry| entry.id()).collect();
        let pending = shown.pending_removals.iter();
        gone.extend(pending.filter(|id| !visible.contains(&***id)).cloned());
    }
    gone.sort_unstable();
    gone.dedup();
    added.retain(|entry| may_see(entry.id()));
    changed.retain(|entry| may_see(entry.id()));
    gone.retain(|id| may_see(id));
    let ids = |entries: &[Entry<'_>]| entries.iter().map(|entry| entry.id().into()).collect();
    let mut announced = AnnouncedChanges {
        added: ids(&added),
        changed: ids(&changed),
        gone,
        ..AnnouncedChanges::default()
    };
    if announced.is_empty() {
        return None;
    }
    // Removals come first: the model cannot learn of them in any other way.
    let gone = announced.gone.iter();
    let mut lines: Vec<(&str, Cow<'_, str>)> =
        gone.map(|id| (&**id, REMOVED_NOTE.into())).collect();
    let rest = added.iter().chain(&changed);
    lines.extend(rest.map(|entry| (entry.id(), description(entry, policy))));
    let layout = StyleLayout::for_changes(policy.style, &policy.tools);
    let fitted = fit_listing(&lines, 0, &layout, policy, LineOrder::AsGiven);
    announced.shortened = fitted.shortened;
    announced.left_out = fitted.left_out;
    let text = Some(fitted.text).filter(|text| !text.is_empty());
    Some((announced, text))
}
