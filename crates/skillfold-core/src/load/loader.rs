//! The loader: reads the instructions of skills and caches them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::cache::CacheStats;
use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;
use crate::diagnostic::visible;
use crate::error::{Error, ErrorKind};
use crate::load::arguments::Dialect;
use crate::load::digest::DigestCache;
use crate::load::instruction_cache::{
    CachedInstructions, InstructionCache, InstructionKey, Validity,
};
use crate::load::instructions::{Instructions, Strictness};
use crate::source::{FileState, Revision, SKILL_FILE, Stability};

/// Options for loading skills.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Which placeholders for arguments are recognised in instructions.
    pub dialect: Dialect,
    /// Whether to load a skill whose file had to be repaired.
    pub strictness: Strictness,
    /// How file changes are detected.
    pub freshness: Freshness,
    /// Maximum number of cached texts; 0 disables the cache. An agent typically uses a few dozen skills.
    pub cache_entries: usize,
    /// Maximum total size of the cached texts in bytes. A hundred real skills take less than 1 MB.
    pub cache_bytes: usize,
}

setters! {
    LoadOptions {
        with_dialect(dialect: Dialect),
        with_strictness(strictness: Strictness),
        with_freshness(freshness: Freshness),
        with_cache_entries(cache_entries: usize),
        with_cache_bytes(cache_bytes: usize),
    }
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

/// How file changes are detected when a skill is loaded again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Freshness {
    /// Stats the file on every load: one system call.
    #[default]
    Checked,
    /// Trusts the snapshot until the next refresh: no system call.
    Snapshot,
}

/// Loads skills and caches their instructions. It can be shared between threads.
///
/// ```
/// use skillfold_core::{Catalog, Loader, LoadOptions, MemorySource, Root, CatalogOptions, Scope};
///
/// let pdf = "---\nname: pdf\ndescription: Fills in forms\n---\nFill in $ARGUMENTS.\n";
/// let root = Root::new(Scope::User, "mine", MemorySource::new([("pdf/SKILL.md", pdf)]));
/// let catalog = Catalog::discover(vec![root], CatalogOptions::default(), std::time::SystemTime::now());
///
/// let loader = Loader::new(LoadOptions::default(), std::time::SystemTime::now);
/// let instructions = loader.load(&catalog.resolve_or_suggest("pdf")?, "report.pdf")?;
/// assert_eq!(instructions.text(), "Fill in report.pdf.\n");
/// # Ok::<(), skillfold_core::Error>(())
/// ```
pub struct Loader {
    options: LoadOptions,
    clock: Box<dyn Fn() -> SystemTime + Send + Sync>,
    cache: Mutex<InstructionCache>,
    digests: Mutex<DigestCache>,
}

impl Loader {
    /// Creates a loader; `clock` returns the time, such as [`SystemTime::now`].
    pub fn new(
        options: LoadOptions,
        clock: impl Fn() -> SystemTime + Send + Sync + 'static,
    ) -> Self {
        Self {
            cache: Mutex::new(InstructionCache::new(
                options.cache_entries,
                options.cache_bytes,
            )),
            digests: Mutex::default(),
            clock: Box::new(clock),
            options,
        }
    }

    /// Returns the options that the loader was created with.
    pub fn options(&self) -> &LoadOptions {
        &self.options
    }

    /// Returns the instructions of a skill, with the arguments filled in.
    ///
    /// Reads the file through the source that found it, unless the cached instructions are still current. A file that
    /// changed since discovery is read as it is now, and the [notes](Instructions::notes) say so. A skill that is
    /// disabled or not trusted is refused.
    pub fn load(&self, entry: &Entry<'_>, arguments: &str) -> Result<Arc<Instructions>, Error> {
        check_refusal(entry)?;
        let key = InstructionKey::new(entry.skill(), arguments);
        if let Some(instructions) = self.cached(entry, &key)? {
            log_load(&instructions, "memory");
            return Ok(instructions);
        }
        let now = (self.clock)();
        let LoadOptions {
            dialect,
            strictness,
            ..
        } = self.options;
        let read = Instructions::read(entry, arguments, dialect, strictness);
        let (instructions, state) = log_refusal(entry, SKILL_FILE, read)?;
        let instructions = Arc::new(instructions);
        log_load(&instructions, "file");
        if state.stability == Stability::Stable {
            let cached = CachedInstructions {
                found: Arc::clone(entry.skill()),
                instructions: Arc::clone(&instructions),
                validity: validity(state, entry.catalog(), now),
            };
            let bytes = cached.bytes(&key);
            self.cache().insert(key, cached, bytes);
        }
        Ok(instructions)
    }

    /// Returns the counters of the instruction cache.
    pub fn stats(&self) -> CacheStats {
        self.cache().stats()
    }

    /// Empties the instruction cache.
    pub fn clear(&self) {
        self.cache().clear();
    }

    /// Removes the cached instructions of one skill, with any arguments.
    pub fn evict(&self, entry: &Entry<'_>) {
        self.cache()
            .retain(|cached| !Arc::ptr_eq(&cached.found, entry.skill()));
    }

    /// Removes the cached instructions of every skill that is missing from a newer snapshot or differs in it.
    pub fn retain_current(&self, catalog: &Catalog) {
        self.cache().retain(|cached| {
            let entry = catalog.get(cached.instructions.id());
            entry.is_some_and(|entry| Arc::ptr_eq(entry.skill(), &cached.found))
        });
    }

    /// Returns the cached instructions, if they are current.
    fn cached(
        &self,
        entry: &Entry<'_>,
        key: &InstructionKey,
    ) -> Result<Option<Arc<Instructions>>, Error> {
        let cached = {
            let mut cache = self.cache();
            let cached = cache.get(key);
            let cached = cached.map(|cached| (Arc::clone(&cached.instructions), cached.validity));
            if cached.is_none() {
                cache.count(false);
            }
            cached
        };
        // The lock is released before the file is checked.
        let Some((instructions, validity)) = cached else {
            return Ok(None);
        };
        let is_current = match self.options.freshness {
            Freshness::Snapshot => {
                validity == Validity::Settled
                    || validity == Validity::Unsettled(entry.catalog().serial())
            }
            Freshness::Checked => {
                let revision = self.revision(entry, key)?;
                validity == Validity::Settled && instructions.revision() == revision
            }
        };
        // The same skill may have a different id in another snapshot.
        let is_current = is_current && instructions.id() == entry.id();
        self.cache().count(is_current);
        Ok(is_current.then_some(instructions))
    }

    /// Returns the current revision of a skill's file. If it cannot be read, removes the cached instructions.
    fn revision(&self, entry: &Entry<'_>, key: &InstructionKey) -> Result<Revision, Error> {
        let source = entry.root().source();
        let revision = source.revision(&entry.skill().folder);
        log_refusal(entry, SKILL_FILE, revision).inspect_err(|_| {
            let mut cache = self.cache();
            cache.count(false);
            cache.remove(key);
        })
    }

    /// Counts a load that was answered from the cache.
    pub(super) fn count_hit(&self) {
        self.cache().count(true);
    }

    /// Returns the time.
    pub(super) fn now(&self) -> SystemTime {
        (self.clock)()
    }

    /// Locks the digest cache.
    pub(super) fn digests(&self) -> MutexGuard<'_, DigestCache> {
        self.digests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cache(&self) -> MutexGuard<'_, InstructionCache> {
        // A poisoned lock is safe to reuse: nothing called while it is held panics, so the cache is consistent.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

debug!(Loader, "Loader", |it| "options": it.options, "stats": it.stats());

/// Returns how long instructions that were just read stay valid; `now` is the time before the read.
fn validity(state: FileState, catalog: &Catalog, now: SystemTime) -> Validity {
    if state.revision.is_settled(now) {
        Validity::Settled
    } else {
        Validity::Unsettled(catalog.serial())
    }
}

/// Logs that a skill was loaded, and whether from the cache or from its file.
fn log_load(instructions: &Instructions, from: &'static str) {
    tracing::debug!(
        skill = &*visible(instructions.id()),
        approximate_tokens = instructions.tokens(),
        from,
        "skill loaded"
    );
}

/// Stands for the name of a refused skill, which the error must not reveal.
const UNNAMED_SKILL: &str = "a skill";

/// Refuses a skill that nobody may load. Whether a model may load it is checked before, by
/// [`Catalog::resolve_for_model`].
pub(super) fn check_refusal(entry: &Entry<'_>) -> Result<(), Error> {
    let result = match entry.refusal() {
        None => Ok(()),
        Some((refusal, rule)) => Err(Error::refused(UNNAMED_SKILL, refusal, rule)),
    };
    log_refusal(entry, SKILL_FILE, result)
}

/// Logs the refusal to open a path of a skill, if the result is one, and returns the result.
pub(super) fn log_refusal<T>(
    entry: &Entry<'_>,
    path: &str,
    result: Result<T, Error>,
) -> Result<T, Error> {
    result.inspect_err(|error| {
        if error.kind() == ErrorKind::Refused {
            tracing::warn!(
                skill = &*visible(entry.id()),
                path = &*visible(path),
                rule = error.hint(),
                "refused to open a skill's path"
            );
        }
    })
}
