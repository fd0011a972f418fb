//! The merge policy for segments.
//!
//! Each change adds a segment, and a search visits every segment. Small segments are merged often, because that is
//! cheap. A large one is rewritten only if many of its documents are deleted, or if the change itself was large.

/// Number of documents that any change may rewrite.
const CHEAP_DOCUMENTS: u64 = 4 * 1024;
/// Number of documents that may be rewritten per changed document.
const REWRITES_PER_CHANGE: u64 = 16;
/// Number of cheap segments that triggers a merge.
const MIN_CHEAP_SEGMENTS: usize = 8;
/// Maximum number of segments.
const MAX_SEGMENTS: usize = 32;

/// The size of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentSize<I> {
    pub(super) id: I,
    /// Live documents.
    pub(super) live: u64,
    /// Deleted documents that still take space.
    pub(super) deleted: u64,
}

/// Returns the segments to merge after a change of `changed` documents; empty if no merge is needed.
pub(super) fn select_merge<I: Copy + Ord>(
    mut segments: Vec<SegmentSize<I>>,
    changed: u64,
) -> Vec<I> {
    segments.sort_by_key(|segment| (segment.live, segment.id));
    let live: u64 = segments.iter().map(|segment| segment.live).sum();
    let deleted: u64 = segments.iter().map(|segment| segment.deleted).sum();
    if deleted > live.max(CHEAP_DOCUMENTS) {
        return segments.iter().map(|segment| segment.id).collect();
    }
    let budget = CHEAP_DOCUMENTS.max(changed.saturating_mul(REWRITES_PER_CHANGE));
    let mut rewritten = 0;
    let cheap = segments.iter().take_while(|segment| {
        rewritten += segment.live;
        rewritten <= budget
    });
    let cheap = cheap.count();
    let count = if cheap >= MIN_CHEAP_SEGMENTS {
        cheap
    } else if segments.len() > MAX_SEGMENTS {
        MAX_SEGMENTS / 2
    } else {
        0
    };
    segments[..count].iter().map(|segment| segment.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(sizes: &[(u64, u64)]) -> Vec<SegmentSize<usize>> {
        let numbered = sizes.iter().enumerate();
        let segment = |(id, (live, deleted)): (usize, &(u64, u64))| SegmentSize {
            id,
            live: *live,
            deleted: *deleted,
        };
        numbered.map(segment).collect()
    }

    #[test]
    fn small_segments_merge_and_a_large_one_stays() {
        let mut sizes = vec![(100_000, 7)];
        for count in 1..MIN_CHEAP_SEGMENTS {
            sizes.push((1, 0));
            assert_eq!(select_merge(segments(&sizes), 1), [0; 0], "{count}");
        }
        sizes.push((1, 0));
        assert_eq!(select_merge(segments(&sizes), 1), [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn mostly_deleted_segment_is_rewritten() {
        assert_eq!(
            select_merge(segments(&[(50_000, 50_010), (9, 0)]), 1),
            [1, 0]
        );
        assert_eq!(
            select_merge(segments(&[(50_000, 50_009), (9, 0)]), 1),
            [0; 0]
        );
        assert_eq!(select_merge(segments(&[(3, 90)]), 1), [0; 0]);
    }

    #[test]
    fn large_change_may_rewrite_large_segments() {
        let sizes = [(10_000, 0); MIN_CHEAP_SEGMENTS];
        assert_eq!(select_merge(segments(&sizes), 1), [0; 0]);
        assert_eq!(
            select_merge(segments(&sizes), 5_000).len(),
            MIN_CHEAP_SEGMENTS
        );
    }

    #[test]
    fn segments_do_not_accumulate() {
        let mut sizes: Vec<(u64, u64)> = vec![(100_000, 0)];
        for _ in 0..300_000 {
            sizes.push((1, 0));
            let chosen = select_merge(segments(&sizes), 1);
            let merged: u64 = chosen.iter().map(|id| sizes[*id].0).sum();
            let mut next = 0;
            sizes.retain(|_| {
                next += 1;
                !chosen.contains(&(next - 1))
            });
            sizes.extend((!chosen.is_empty()).then_some((merged, 0)));
            assert!(sizes.len() <= MAX_SEGMENTS);
        }
    }
}
