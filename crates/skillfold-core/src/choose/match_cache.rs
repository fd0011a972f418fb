//! What messages asked for, remembered: at most so many and so many bytes, the one asked longest ago goes first.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;

use crate::choose::compiled::TriggerHit;

/// Messages that are remembered.
const ENTRIES: usize = 256;
/// Bytes that they and their answers may take.
const BYTES: usize = 1 << 20;
/// Messages above this share of the bytes are not remembered: one large one would push out all others.
const LARGEST: usize = 4;
/// Bytes that an entry takes beside its text and its hits.
const ENTRY_BYTES: usize = 128;

/// How the memory of matched messages does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatchStats {
    /// Messages that are remembered.
    pub entries: usize,
    /// Bytes that they and what they matched take.
    pub bytes: usize,
    /// Messages that were answered from memory.
    pub hits: u64,
    /// Messages that were matched.
    pub misses: u64,
    /// Messages that made place for others.
    pub evicted: u64,
    /// Messages that were too large to be remembered, or matched too much.
    pub too_large: u64,
}

/// Answers to messages, of one snapshot.
pub(super) struct MatchCache {
    entries: Mutex<Entries>,
    /// These go on over snapshots.
    counts: Arc<MatchCounters>,
}

/// What a message asked for, by itself: where it was found is computed from the message at hand.
pub(super) struct CachedMatch {
    pub(super) hits: Vec<TriggerHit>,
    pub(super) asks_for_list: bool,
}

struct Entries {
    answers: LruCache<Box<str>, Arc<CachedMatch>>,
    bytes: usize,
}

#[derive(Default)]
struct MatchCounters {
    hits: AtomicU64,
    misses: AtomicU64,
    evicted: AtomicU64,
    too_large: AtomicU64,
}

impl Default for MatchCache {
    fn default() -> Self {
        Self::with(Arc::default())
    }
}

impl MatchCache {
    fn with(counts: Arc<MatchCounters>) -> Self {
        let entries = Entries {
            answers: LruCache::unbounded(),
            bytes: 0,
        };
        Self {
            entries: Mutex::new(entries),
            counts,
        }
    }

    /// Returns those of the next snapshot: none, and the counts go on.
    pub(super) fn next(&self) -> Self {
        Self::with(Arc::clone(&self.counts))
    }

    /// Returns the answer to a text, computed unless it is remembered. Others are not kept waiting meanwhile.
    pub(super) fn get(&self, text: &str, answer: impl FnOnce() -> CachedMatch) -> Arc<CachedMatch> {
        let known = self.entries().answers.get(text).map(Arc::clone);
        if let Some(known) = known {
            add(&self.counts.hits);
            return known;
        }
        add(&self.counts.misses);
        let answer = Arc::new(answer());
        self.put(text, &answer);
        answer
    }

    fn put(&self, text: &str, answer: &Arc<CachedMatch>) {
        if cost(text, answer) > BYTES / LARGEST {
            add(&self.counts.too_large);
            return;
        }
        let mut entries = self.entries();
        // Another thread may have had the same text at the same time.
        if let Some((text, answer)) = entries.answers.push(text.into(), Arc::clone(answer)) {
            entries.bytes -= cost(&text, &answer);
        }
        entries.bytes += cost(text, answer);
        while entries.answers.len() > ENTRIES || entries.bytes > BYTES {
            let Some((text, answer)) = entries.answers.pop_lru() else {
                break;
            };
            entries.bytes -= cost(&text, &answer);
            add(&self.counts.evicted);
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&self) {
        let mut entries = self.entries();
        entries.answers.clear();
        entries.bytes = 0;
    }

    pub(super) fn stats(&self) -> MatchStats {
        let (entries, bytes) = {
            let entries = self.entries();
            (entries.answers.len(), entries.bytes)
        };
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        MatchStats {
            entries,
            bytes,
            hits: get(&self.counts.hits),
            misses: get(&self.counts.misses),
            evicted: get(&self.counts.evicted),
            too_large: get(&self.counts.too_large),
        }
    }

    // No step in between panics, so what a thread that did leaves is whole.
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn cost(text: &str, answer: &CachedMatch) -> usize {
    ENTRY_BYTES + text.len() + answer.hits.capacity() * size_of::<TriggerHit>()
}
