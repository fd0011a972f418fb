//! What changed since a model was given its listing: the difference alone, so that the listing stays as it is.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::catalog::entry::Entry;
use crate::catalog::fingerprint::{DescriptionFingerprints, Difference};
use crate::catalog::snapshot::Catalog;
use crate::disclose::fit::ListingDetail;
use crate::disclose::listing::{Listing, described, fitted};
use crate::disclose::policy::Policy;
use crate::disclose::style::StyleLayout;

/// What is said of a skill that is not there any more.
const GONE: &str = "(removed, do not use it)";

/// The listing that a model was given, in short, and what it was told since. A clone costs little.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownListing {
    /// What stands in the listing.
    listing: DescriptionFingerprints,
    tokens: u64,
    /// Whether it has all skills, with all of their descriptions.
    is_whole: bool,
    /// What the model knows by the listing and what was told after it.
    told: DescriptionFingerprints,
    /// The ids of skills that are gone and that there was no room to tell of.
    owed: Vec<Box<str>>,
}

impl ShownListing {
    pub(crate) fn new(catalog: &Catalog, listed: &Listing) -> Self {
        let marks = catalog.marks();
        Self {
            listing: marks.clone(),
            tokens: listed.tokens,
            is_whole: listed.detail == ListingDetail::Whole,
            told: marks.clone(),
            owed: Vec::new(),
        }
    }

    /// Returns the tokens of the listing.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Returns whether the listing has all skills, with all of their descriptions.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Notes that the model was told what changed up to a snapshot, but for what there was no room for.
    pub(crate) fn was_told_of(&mut self, catalog: &Catalog, announced: &AnnouncedChanges) {
        self.told = catalog.marks().clone();
        let left_out: HashSet<&str> = announced.left_out.iter().map(|id| &**id).collect();
        let gone = announced.gone.iter();
        self.owed = gone
            .filter(|id| left_out.contains(&***id))
            .cloned()
            .collect();
    }

    /// Notes that the model knows the listing and nothing that was told after it.
    pub(crate) fn forget_what_was_told(&mut self) {
        self.told = self.listing.clone();
        self.owed.clear();
    }
}

/// What a model is told of changes, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnnouncedChanges {
    /// Skills that are new.
    pub added: Vec<Box<str>>,
    /// Skills whose description is another.
    pub changed: Vec<Box<str>>,
    /// Skills that are not there any more.
    pub gone: Vec<Box<str>>,
    /// Those of all these whose description is not whole.
    pub shortened: Vec<Box<str>>,
    /// Those of all these that there was no room for. A line counts them; those that are gone are told of in the next turn.
    pub left_out: Vec<Box<str>>,
}

impl AnnouncedChanges {
    /// Returns whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.gone.is_empty()
    }
}

/// Returns what changed since a listing was given, of the skills that may be seen, and the text about it.
pub(super) fn announce(
    shown: &ShownListing,
    catalog: &Catalog,
    policy: &Policy,
    may_see: impl Fn(&str) -> bool,
) -> Option<(AnnouncedChanges, Option<String>)> {
    let Difference {
        mut added,
        mut changed,
        mut gone,
    } = shown.told.difference(catalog);
    if !shown.owed.is_empty() {
        let there: HashSet<&str> = catalog.visible().map(|entry| entry.id()).collect();
        let owed = shown.owed.iter();
        gone.extend(owed.filter(|id| !there.contains(&***id)).cloned());
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
    // What is gone comes first: nothing else can tell of it.
    let gone = announced.gone.iter();
    let mut lines: Vec<(&str, Cow<'_, str>)> = gone.map(|id| (&**id, GONE.into())).collect();
    let rest = added.iter().chain(&changed);
    lines.extend(rest.map(|entry| (entry.id(), described(entry, policy.style))));
    let layout = StyleLayout::of_changes(policy.style, &policy.tools);
    let fitted = fitted(&lines, &layout, policy);
    announced.shortened = fitted.shortened;
    announced.left_out = fitted.left_out;
    let text = Some(fitted.text).filter(|text| !text.is_empty());
    Some((announced, text))
}
