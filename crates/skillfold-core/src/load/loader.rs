//! Loads skills, and remembers what was loaded.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;
use crate::diagnostic::visible;
use crate::error::{Error, ErrorKind};
use crate::load::arguments::Dialect;
use crate::load::cache::{
    CacheStats, CachedInstructions, InstructionCache, InstructionKey, Validity,
};
use crate::load::digest::DigestCache;
use crate::load::instructions::{Instructions, Strictness};
use crate::read::source::{FileState, Revision, SKILL_FILE, Stability};

/// How skills are loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "hosts set single choices with struct update syntax"
)]
pub struct LoadOptions {
    /// Which argument placeholders instructions may use.
    pub dialect: Dialect,
    /// What is done with a skill whose file had to be repaired.
    pub strictness: Strictness,
    /// How a change of a file is noticed.
    pub freshness: Freshness,
    /// Texts that are remembered. An agent has some tens of skills in use; 0 remembers none.
    pub cache_entries: usize,
    /// Bytes of all texts that are remembered. A hundred real skills take under one million.
    pub cache_bytes: usize,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            dialect: Dialect::default(),
            strictness: Strictness::default(),
            freshness: Freshness::default(),
            cache_entries: 100,
            cache_bytes: 8 * 1024 * 1024,
        }
    }
}

/// How a change of a file is noticed when it is loaded again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Freshness {
    /// The state of the file is looked at for each load: one call to the system.
    #[default]
    Checked,
    /// The snapshot is trusted until the next refresh: no call to the system.
    Snapshot,
}

/// Loads skills, and remembers what was loaded. Every thread may use it.
///
/// ```
/// use skillfold_core::{Catalog, Loader, LoadOptions, MemorySource, Root, CatalogOptions, Scope};
///
/// let pdf = "---\nname: pdf\ndescription: Fills in forms\n---\nFill in $ARGUMENTS.\n";
/// let root = Root::new(Scope::User, "mine", MemorySource::new([("pdf/SKILL.md", pdf)]));
/// let catalog = Catalog::discover(vec![root], CatalogOptions::default(), 0);
///
/// let loader = Loader::new(LoadOptions::default(), || 0);
/// let instructions = loader.load(&catalog.resolve_or_suggest("pdf")?, "report.pdf")?;
/// assert_eq!(instructions.text(), "Fill in report.pdf.\n");
/// # Ok::<(), skillfold_core::Error>(())
/// ```
pub struct Loader {
    loading: LoadOptions,
    clock: Box<dyn Fn() -> i64 + Send + Sync>,
    cache: Mutex<InstructionCache>,
    digests: Mutex<DigestCache>,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Loader {
    /// Creates a loader; `clock` returns the time in nanoseconds since 1970.
    pub fn new(loading: LoadOptions, clock: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        Self {
            cache: Mutex::new(InstructionCache::new(
                loading.cache_entries,
                loading.cache_bytes,
            )),
            digests: Mutex::default(),
            clock: Box::new(clock),
            loading,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// Returns how skills are loaded.
    pub fn options(&self) -> &LoadOptions {
        &self.loading
    }

    /// Returns the instructions of a skill, with the arguments in their places.
    ///
    /// The file is read now, through the source that found it, unless it was loaded before and is the same. One that
    /// changed since it was found is read as it is now, and the [notes](Instructions::notes) say so. A skill that is
    /// switched off or not trusted is refused.
    pub fn load(&self, entry: &Entry<'_>, arguments: &str) -> Result<Arc<Instructions>, Error> {
        may_be_given(entry)?;
        let key = InstructionKey::new(entry.skill(), arguments);
        if let Some(instructions) = self.remembered(entry, &key)? {
            log(&instructions, "memory");
            return Ok(instructions);
        }
        let now_ns = (self.clock)();
        let LoadOptions {
            dialect,
            strictness,
            ..
        } = self.loading;
        let read = Instructions::read(entry, arguments, dialect, strictness);
        let (instructions, state) = logged(entry, SKILL_FILE, read)?;
        let instructions = Arc::new(instructions);
        log(&instructions, "file");
        if state.stability == Stability::Stable {
            let remembered = CachedInstructions {
                found: Arc::clone(entry.skill()),
                instructions: Arc::clone(&instructions),
                hold: hold(state, entry.catalog(), now_ns),
            };
            self.cache().insert(key, remembered);
        }
        Ok(instructions)
    }

    /// Returns how the cache does.
    pub fn stats(&self) -> CacheStats {
        CacheStats {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            ..self.cache().stats()
        }
    }

    /// Forgets everything that was loaded.
    pub fn clear(&self) {
        self.cache().retain(|_| false);
    }

    /// Forgets what was loaded of one skill, with whichever arguments.
    pub fn evict(&self, entry: &Entry<'_>) {
        self.cache()
            .retain(|remembered| !Arc::ptr_eq(&remembered.found, entry.skill()));
    }

    /// Forgets what a newer snapshot does not have as it was.
    pub fn retain_current(&self, catalog: &Catalog) {
        self.cache().retain(|remembered| {
            let entry = catalog.get(remembered.instructions.id());
            entry.is_some_and(|entry| Arc::ptr_eq(entry.skill(), &remembered.found))
        });
    }

    /// Returns what is remembered, if it is current.
    fn remembered(
        &self,
        entry: &Entry<'_>,
        key: &InstructionKey,
    ) -> Result<Option<Arc<Instructions>>, Error> {
        // The cache is not held while the file is looked at.
        let remembered = self.cache().get(key);
        let Some((instructions, hold)) = remembered else {
            self.misses.fetch_add(1, Ordering::Relaxed);
            return Ok(None);
        };
        let is_current = match self.loading.freshness {
            Freshness::Snapshot => {
                hold == Validity::Settled || hold == Validity::Unsettled(entry.catalog().serial())
            }
            Freshness::Checked => {
                let now = self.revision(entry, key)?;
                hold == Validity::Settled && instructions.revision() == now
            }
        };
        // One skill may have another id in another snapshot.
        let is_current = is_current && instructions.id() == entry.id();
        let counter = if is_current { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(is_current.then_some(instructions))
    }

    /// Returns the state of a skill's file; what has none is forgotten.
    fn revision(&self, entry: &Entry<'_>, key: &InstructionKey) -> Result<Revision, Error> {
        let source = entry.root().source();
        let revision = source.revision(&entry.skill().folder);
        logged(entry, SKILL_FILE, revision).inspect_err(|_| {
            self.misses.fetch_add(1, Ordering::Relaxed);
            self.cache().remove(key);
        })
    }

    /// Counts a load that was answered from memory.
    pub(super) fn count_hit(&self) {
        self.hits.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the time in nanoseconds since 1970.
    pub(super) fn now_ns(&self) -> i64 {
        (self.clock)()
    }

    /// Returns the digests that are remembered.
    pub(super) fn digests(&self) -> MutexGuard<'_, DigestCache> {
        self.digests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cache(&self) -> MutexGuard<'_, InstructionCache> {
        // A thread that panicked here left the cache whole: what is called while it is held does not panic.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Loader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Loader")
            .field("loading", &self.loading)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

/// Returns how far what was read can be relied on; `now_ns` is the time before it was read.
fn hold(state: FileState, catalog: &Catalog, now_ns: i64) -> Validity {
    if state.revision.is_settled(now_ns) {
        Validity::Settled
    } else {
        Validity::Unsettled(catalog.serial())
    }
}

/// Logs that a skill was loaded, and from where.
fn log(instructions: &Instructions, from: &'static str) {
    tracing::debug!(
        skill = &*visible(instructions.id()),
        approximate_tokens = instructions.tokens(),
        from,
        "skill loaded"
    );
}

/// What a skill that may not be given is called where its own name must not be said.
const NAMELESS: &str = "a skill";

/// Refuses a skill that may be given to nobody. Whether it is for a model is asked before, by [`Catalog::resolve_for_model`].
pub(super) fn may_be_given(entry: &Entry<'_>) -> Result<(), Error> {
    let allowed = match entry.refusal() {
        None => Ok(()),
        Some(rule) => Err(Error::refused(NAMELESS, rule)),
    };
    logged(entry, SKILL_FILE, allowed)
}

/// Logs a refusal to open a path of a skill, and passes the answer on.
pub(super) fn logged<T>(
    entry: &Entry<'_>,
    path: &str,
    answer: Result<T, Error>,
) -> Result<T, Error> {
    answer.inspect_err(|error| {
        if error.kind() == ErrorKind::Refused {
            tracing::warn!(
                skill = &*visible(entry.id()),
                path = &*visible(path),
                rule = error.hint(),
                "refused to open a path of a skill"
            );
        }
    })
}
