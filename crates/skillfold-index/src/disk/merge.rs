//! Which segments become one.
//!
//! Each change is a segment of its own, and a search looks at each of them. Small ones are put together often, because that is
//! cheap; a large one is written again only where much of it is gone, or where the change was large itself.

/// Documents that are written again for one change at most, as long as there is no need for more.
const CHEAP: u64 = 4 * 1024;
/// Documents that are written again for each one that changed.
const PER_CHANGE: u64 = 16;
/// Cheap segments that become one.
const FEW: usize = 8;
/// Segments at most.
const MANY: usize = 32;

/// A segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentSize<I> {
    pub(super) id: I,
    /// Its documents, without those that are gone.
    pub(super) alive: u64,
    /// Those that are gone and still take room.
    pub(super) gone: u64,
}

/// Returns the segments that become one after a change of so many documents; none, if all may stay.
pub(super) fn together<I: Copy + Ord>(mut parts: Vec<SegmentSize<I>>, changed: u64) -> Vec<I> {
    parts.sort_by_key(|part| (part.alive, part.id));
    let alive: u64 = parts.iter().map(|part| part.alive).sum();
    let gone: u64 = parts.iter().map(|part| part.gone).sum();
    if gone > alive.max(CHEAP) {
        return parts.iter().map(|part| part.id).collect();
    }
    let budget = CHEAP.max(changed.saturating_mul(PER_CHANGE));
    let mut written = 0;
    let cheap = parts.iter().take_while(|part| {
        written += part.alive;
        written <= budget
    });
    let cheap = cheap.count();
    let count = if cheap >= FEW {
        cheap
    } else if parts.len() > MANY {
        MANY / 2
    } else {
        0
    };
    parts[..count].iter().map(|part| part.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(sizes: &[(u64, u64)]) -> Vec<SegmentSize<usize>> {
        let numbered = sizes.iter().enumerate();
        let part = |(id, (alive, gone)): (usize, &(u64, u64))| SegmentSize {
            id,
            alive: *alive,
            gone: *gone,
        };
        numbered.map(part).collect()
    }

    #[test]
    fn small_segments_become_one_and_a_large_one_stays() {
        let mut sizes = vec![(100_000, 7)];
        for count in 1..FEW {
            sizes.push((1, 0));
            assert_eq!(together(parts(&sizes), 1), [0; 0], "{count}");
        }
        sizes.push((1, 0));
        assert_eq!(together(parts(&sizes), 1), [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn a_large_segment_is_written_again_where_more_is_gone_than_there() {
        assert_eq!(together(parts(&[(50_000, 50_010), (9, 0)]), 1), [1, 0]);
        assert_eq!(together(parts(&[(50_000, 50_009), (9, 0)]), 1), [0; 0]);
        assert_eq!(together(parts(&[(3, 90)]), 1), [0; 0]);
    }

    #[test]
    fn a_large_change_may_write_large_segments_again() {
        let sizes = [(10_000, 0); FEW];
        assert_eq!(together(parts(&sizes), 1), [0; 0]);
        assert_eq!(together(parts(&sizes), 5_000).len(), FEW);
    }

    #[test]
    fn segments_never_pile_up() {
        let mut sizes: Vec<(u64, u64)> = vec![(100_000, 0)];
        for _ in 0..300_000 {
            sizes.push((1, 0));
            let chosen = together(parts(&sizes), 1);
            let written: u64 = chosen.iter().map(|id| sizes[*id].0).sum();
            let mut number = 0;
            sizes.retain(|_| {
                number += 1;
                !chosen.contains(&(number - 1))
            });
            sizes.extend((!chosen.is_empty()).then_some((written, 0)));
            assert!(sizes.len() <= MANY);
        }
    }
}
