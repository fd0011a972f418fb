//! An LRU cache that is limited by entries and by bytes.

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lru::LruCache;

/// The bytes of a cache divided by this is the largest entry: a larger one would push out all others.
const LARGEST_SHARE: usize = 4;

/// Bytes that an entry takes beside its content.
const ENTRY_BYTES: usize = 128;

/// Counters of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CacheStats {
    /// Cached entries.
    pub entries: usize,
    /// Bytes that they take.
    pub bytes: usize,
    /// Lookups answered from the cache.
    pub hits: u64,
    /// Lookups that had to read or compute.
    pub misses: u64,
    /// Entries evicted.
    pub evicted: u64,
    /// Entries that were too large to cache.
    pub too_large: u64,
}

impl CacheStats {
    /// Returns the share of lookups that were answered from the cache, from 0 to 1; 0 before the first lookup.
    pub fn hit_rate(&self) -> f64 {
        let lookups = self.hits + self.misses;
        if lookups == 0 {
            return 0.0;
        }
        #[expect(clippy::cast_precision_loss, reason = "a rate may be rounded")]
        let rate = self.hits as f64 / lookups as f64;
        rate
    }
}

/// An LRU cache. The least recently used entry is evicted first.
pub struct BoundedCache<K: Hash + Eq, V> {
    /// Values, each with the bytes that it takes.
    entries: LruCache<K, (V, usize)>,
    bytes: usize,
    max_entries: usize,
    max_bytes: usize,
    counters: Arc<CacheCounters>,
}

#[derive(Debug, Default)]
struct CacheCounters {
    hits: AtomicU64,
    misses: AtomicU64,
    evicted: AtomicU64,
    too_large: AtomicU64,
}

impl<K: Hash + Eq, V> fmt::Debug for BoundedCache<K, V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stats = self.stats();
        formatter.debug_tuple("BoundedCache").field(&stats).finish()
    }
}

impl<K: Hash + Eq, V> BoundedCache<K, V> {
    /// Creates a cache. With no entries allowed, it caches nothing.
    pub fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self {
            entries: LruCache::unbounded(),
            bytes: 0,
            max_entries,
            max_bytes,
            counters: Arc::default(),
        }
    }

    /// Returns an empty cache with the same limits and the same counters.
    pub(crate) fn next(&self) -> Self {
        Self {
            counters: Arc::clone(&self.counters),
            ..Self::new(self.max_entries, self.max_bytes)
        }
    }

    /// Returns a value and marks it as used. The caller counts whether it could be used.
    pub fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.entries.get(key).map(|(value, _)| value)
    }

    /// Counts a lookup.
    pub(crate) fn count(&self, is_hit: bool) {
        let CacheCounters { hits, misses, .. } = &*self.counters;
        add_one(if is_hit { hits } else { misses });
    }

    /// Caches a value whose key and content take `bytes`, unless it is too large.
    pub fn insert(&mut self, key: K, value: V, bytes: usize) {
        self.remove(&key);
        let bytes = bytes.saturating_add(ENTRY_BYTES);
        if self.max_entries == 0 {
            return;
        }
        if bytes > self.max_bytes / LARGEST_SHARE {
            add_one(&self.counters.too_large);
            return;
        }
        self.bytes += bytes;
        self.entries.put(key, (value, bytes));
        while self.entries.len() > self.max_entries || self.bytes > self.max_bytes {
            let Some((_, (_, bytes))) = self.entries.pop_lru() else {
                break;
            };
            self.bytes -= bytes;
            add_one(&self.counters.evicted);
        }
    }

    /// Removes an entry.
    pub fn remove(&mut self, key: &K) {
        if let Some((_, bytes)) = self.entries.pop(key) {
            self.bytes -= bytes;
        }
    }

    /// Removes every entry whose value `keeps` rejects.
    pub(crate) fn retain(&mut self, keeps: impl Fn(&V) -> bool) {
        let mut kept = LruCache::unbounded();
        self.bytes = 0;
        while let Some((key, (value, bytes))) = self.entries.pop_lru() {
            if keeps(&value) {
                self.bytes += bytes;
                kept.put(key, (value, bytes));
            }
        }
        self.entries = kept;
    }

    /// Removes all entries.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.bytes = 0;
    }

    pub(crate) fn stats(&self) -> CacheStats {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CacheStats {
            entries: self.entries.len(),
            bytes: self.bytes,
            hits: get(&self.counters.hits),
            misses: get(&self.counters.misses),
            evicted: get(&self.counters.evicted),
            too_large: get(&self.counters.too_large),
        }
    }
}

fn add_one(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::BoundedCache;

    fn keys(cache: &mut BoundedCache<u32, ()>, all: u32) -> Vec<u32> {
        (1..=all).filter(|key| cache.get(key).is_some()).collect()
    }

    #[test]
    fn the_least_recently_used_entry_is_evicted_first() {
        let mut cache = BoundedCache::new(2, usize::MAX);
        cache.insert(1, (), 0);
        cache.insert(2, (), 0);
        cache.get(&1);
        cache.insert(3, (), 0);
        assert_eq!(keys(&mut cache, 3), [1, 3]);
        assert_eq!(cache.stats().evicted, 1);
    }

    #[test]
    fn bytes_are_limited_and_freed() {
        let mut cache = BoundedCache::new(100, 4_000);
        for key in 1..=5 {
            cache.insert(key, (), 872);
        }
        assert_eq!(keys(&mut cache, 5), [2, 3, 4, 5]);
        cache.insert(5, (), 0);
        assert_eq!(cache.stats().bytes, 3_128);
        cache.remove(&2);
        cache.retain(|()| false);
        assert_eq!((cache.stats().bytes, cache.stats().entries), (0, 0));
        cache.insert(6, (), 873);
        assert_eq!((cache.stats().entries, cache.stats().too_large), (0, 1));
    }
}
