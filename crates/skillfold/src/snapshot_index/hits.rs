//! The results of a search in one snapshot.

use std::sync::Arc;

use skillfold_core::search::SearchCoverage;

/// Ids with score and confidence, best first.
pub(super) type RankedIds = Vec<(Box<str>, f32, f32)>;

/// The results of a search.
pub(crate) struct Hits {
    pub(crate) ranked: RankedIds,
    pub(crate) coverage: SearchCoverage,
    pub(crate) problem: Option<Arc<str>>,
    /// Whether only the metadata was searched, because the index is damaged and is being rebuilt.
    pub(crate) is_fallback: bool,
}
