//! The results of a search in one snapshot.

use std::sync::Arc;

use skillfold_core::search::SearchCoverage;

/// Ids of the skills that were found, best first.
pub(super) type RankedIds = Vec<RankedId>;

/// A skill that was found.
pub(crate) struct RankedId {
    pub(crate) id: Box<str>,
    pub(crate) score: f32,
    /// How likely it is relevant if somebody searched.
    pub(crate) confidence: f32,
    /// How likely it is needed if nobody searched.
    pub(crate) activation: f32,
}

/// The results of a search.
pub(crate) struct Hits {
    pub(crate) ranked: RankedIds,
    pub(crate) coverage: SearchCoverage,
    pub(crate) problem: Option<Arc<str>>,
    /// Whether only the metadata was searched, because the index is damaged and is being rebuilt.
    pub(crate) is_fallback: bool,
}
