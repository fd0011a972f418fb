//! The cache of matched messages.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::cache::{BoundedCache, CacheStats};
use crate::choose::compiled::TriggerHit;

/// Maximum cached messages.
const ENTRIES: usize = 256;
/// Maximum bytes of the messages and their hits.
const BYTES: usize = 1 << 20;

/// Matched messages of one snapshot.
pub(super) struct MatchCache(Mutex<BoundedCache<Box<str>, Arc<CachedMatch>>>);

/// What a message asks for, without positions: these are computed from the message at hand.
pub(super) struct CachedMatch {
    pub(super) hits: Vec<TriggerHit>,
    pub(super) asks_for_list: bool,
}

impl Default for MatchCache {
    fn default() -> Self {
        Self(Mutex::new(BoundedCache::new(ENTRIES, BYTES)))
    }
}

impl MatchCache {
    /// Empties this cache and returns one for the next snapshot, which goes on counting.
    pub(super) fn next(&self) -> Self {
        let mut cache = self.lock();
        cache.clear();
        Self(Mutex::new(cache.next()))
    }

    /// Returns the match of a text, computed without the lock unless it is cached.
    pub(super) fn get(&self, text: &str, find: impl FnOnce() -> CachedMatch) -> Arc<CachedMatch> {
        {
            let mut cache = self.lock();
            let cached = cache.get(text).map(Arc::clone);
            cache.count(cached.is_some());
            if let Some(cached) = cached {
                return cached;
            }
        }
        let found = Arc::new(find());
        let bytes = text.len() + found.hits.capacity() * size_of::<TriggerHit>();
        self.lock().insert(text.into(), Arc::clone(&found), bytes);
        found
    }

    pub(super) fn stats(&self) -> CacheStats {
        self.lock().stats()
    }

    // A poisoned lock is safe to reuse: nothing called while it is held panics.
    fn lock(&self) -> MutexGuard<'_, BoundedCache<Box<str>, Arc<CachedMatch>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
