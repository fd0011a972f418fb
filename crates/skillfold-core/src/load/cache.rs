//! What was loaded, remembered: at most so many texts and so many bytes, the one used longest ago goes first.

use std::sync::Arc;

use lru::LruCache;

use crate::load::instructions::Instructions;
use crate::read::discover::Skill;

/// Entries above this share of the bytes are not remembered: one large text would push out all others.
const LARGEST: usize = 4;

/// Bytes that an entry takes beside its text.
const ENTRY_BYTES: usize = 128;

/// Bytes that a byte of frontmatter may take as fields: a short field is a name, a value and what holds them.
const FIELD_BYTES: usize = 16;

/// How the cache of loaded instructions does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheStats {
    /// Texts that are remembered.
    pub entries: usize,
    /// Bytes that they take.
    pub bytes: usize,
    /// Loads served from the cache.
    pub hits: u64,
    /// Loads that read the file.
    pub misses: u64,
    /// Texts that made place for others.
    pub evicted: u64,
    /// Texts that were too large to be remembered.
    pub too_large: u64,
}

impl CacheStats {
    /// Returns the share of loads that were answered from memory, from 0 to 1; 0 before the first load.
    pub fn hit_rate(&self) -> f64 {
        let loads = self.hits + self.misses;
        if loads == 0 {
            return 0.0;
        }
        #[expect(
            clippy::cast_precision_loss,
            reason = "a share of more loads than that is as good rounded"
        )]
        let rate = self.hits as f64 / loads as f64;
        rate
    }
}

/// Remembered instructions by skill and arguments.
pub(super) struct InstructionCache {
    entries: LruCache<InstructionKey, CachedInstructions>,
    max_entries: usize,
    max_bytes: usize,
    stats: CacheStats,
}

/// A skill as it was found, so its id, its place and its revision at once; and the arguments.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct InstructionKey {
    /// The address, which is not given to another while the entry holds the skill.
    skill: usize,
    arguments: Box<str>,
}

impl InstructionKey {
    pub(super) fn new(skill: &Arc<Skill>, arguments: &str) -> Self {
        Self {
            skill: Arc::as_ptr(skill).addr(),
            arguments: arguments.into(),
        }
    }
}

/// Instructions, and how far they can be relied on.
pub(super) struct CachedInstructions {
    /// The skill as it was found; what was read may be newer.
    pub(super) found: Arc<Skill>,
    pub(super) instructions: Arc<Instructions>,
    pub(super) validity: Validity,
}

/// How far remembered instructions can be relied on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Validity {
    /// An equal revision means equal content.
    Settled,
    /// The file had been written too short a time ago; only this snapshot, by its number, may take them for current.
    Unsettled(u64),
}

impl InstructionCache {
    pub(super) fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self {
            entries: LruCache::unbounded(),
            max_entries,
            max_bytes,
            stats: CacheStats::default(),
        }
    }

    /// Returns what is remembered, which makes it the one used last.
    pub(super) fn get(&mut self, key: &InstructionKey) -> Option<(Arc<Instructions>, Validity)> {
        let remembered = self.entries.get(key)?;
        Some((Arc::clone(&remembered.instructions), remembered.validity))
    }

    pub(super) fn insert(&mut self, key: InstructionKey, remembered: CachedInstructions) {
        self.remove(&key);
        let bytes = cost(&key, &remembered);
        if self.max_entries == 0 {
            return;
        }
        if bytes > self.max_bytes / LARGEST {
            self.stats.too_large += 1;
            return;
        }
        self.stats.bytes += bytes;
        self.entries.put(key, remembered);
        while self.entries.len() > self.max_entries || self.stats.bytes > self.max_bytes {
            if let Some((key, oldest)) = self.entries.pop_lru() {
                self.stats.bytes -= cost(&key, &oldest);
                self.stats.evicted += 1;
            }
        }
    }

    pub(super) fn remove(&mut self, key: &InstructionKey) {
        if let Some((key, removed)) = self.entries.pop_entry(key) {
            self.stats.bytes -= cost(&key, &removed);
        }
    }

    /// Forgets what `keeps` does not want to keep.
    pub(super) fn retain(&mut self, keeps: impl Fn(&CachedInstructions) -> bool) {
        let mut kept = LruCache::unbounded();
        self.stats.bytes = 0;
        while let Some((key, remembered)) = self.entries.pop_lru() {
            if keeps(&remembered) {
                self.stats.bytes += cost(&key, &remembered);
                kept.put(key, remembered);
            }
        }
        self.entries = kept;
    }

    /// Returns how the cache does; loads are counted by whoever loads.
    pub(super) fn stats(&self) -> CacheStats {
        CacheStats {
            entries: self.entries.len(),
            ..self.stats
        }
    }
}

fn cost(key: &InstructionKey, remembered: &CachedInstructions) -> usize {
    let instructions = &remembered.instructions;
    // A file that changed since it was found was read into a skill of its own.
    let own_skill = if Arc::ptr_eq(&remembered.found, instructions.skill()) {
        0
    } else {
        let frontmatter = usize::try_from(instructions.skill().body_start).unwrap_or(usize::MAX);
        frontmatter.saturating_mul(FIELD_BYTES)
    };
    ENTRY_BYTES + key.arguments.len() + instructions.memory_bytes() + own_skill
}
