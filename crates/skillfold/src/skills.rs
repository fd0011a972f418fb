//! The live handle to a host's skills.

use std::ops::RangeBounds;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use arc_swap::{ArcSwap, ArcSwapOption, Guard};
use skillfold_core::catalog::{Changes, SkillHandle};
use skillfold_core::disclose::Feedback;
use skillfold_core::disclose::Turn;
use skillfold_core::load::{CacheStats, FileContent, FileList, LoadedText, Publication, SkillFile};
use skillfold_core::source::Cursor;
use skillfold_core::{Agent, Catalog, Entry, Envelope, Error, Instructions, Loader, Matcher, Root};

use crate::counters::{AtomicCounters, Counters};
use crate::discovery_report::DiscoveryReport;
use crate::environment::{self, Environment};
use crate::host::{DiscoveredRoots, Host};
use crate::roots::{RootStatus, SearchedRoot};
use crate::snapshot_index::SnapshotIndex;
use crate::trust_check::TrustCheck;
#[cfg(feature = "watch")]
use crate::watched_paths::WatchedPaths;

/// A live handle to all skills of a host. Clones share the same state and may be used from any thread.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let directory = folder.path();
/// let skills = skillfold::Skills::discover(directory)?;
/// for entry in skills.catalog().entries() {
///     println!("{}: {}", entry.id(), entry.manifest().brief());
/// }
/// let changes = skills.refresh()?;
/// assert!(changes.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The handle serves models: it hides skills that only users may start. [`for_user`](Self::for_user) returns the
/// same handle for requests of the user.
#[derive(Clone, Debug)]
pub struct Skills {
    inner: Arc<SkillsInner>,
    audience: Audience,
}

/// Who receives the skills.
#[derive(Clone, Copy, Debug)]
enum Audience {
    Model,
    User,
}

#[derive(Debug)]
struct SkillsInner {
    host: Host,
    /// The snapshot that readers use. It is swapped as one pointer, so that they never see a mix of two.
    current: ArcSwap<Snapshot>,
    counters: AtomicCounters,
    /// Held while the next snapshot is built. Readers wait for it only when trust changed.
    refresh_lock: Mutex<()>,
    /// Changes caused by a change of trust that the watcher has not reported yet.
    #[cfg(feature = "watch")]
    unreported: Mutex<Changes>,
}

/// The skills at one point in time, with everything derived from them.
#[derive(Debug)]
struct Snapshot {
    catalog: Arc<Catalog>,
    report: Arc<DiscoveryReport>,
    /// Shared with later snapshots, so that cached instructions survive a refresh.
    loader: Arc<Loader>,
    /// Built when the first message is matched.
    matcher: OnceLock<Arc<Matcher>>,
    /// The matcher of an earlier snapshot. Building this one's from it is cheaper; dropped once that is done.
    previous_matcher: ArcSwapOption<Matcher>,
    index: Arc<SnapshotIndex>,
    trust_check: TrustCheck,
}

impl Snapshot {
    fn matcher(&self) -> &Arc<Matcher> {
        let matcher = self.matcher.get_or_init(|| {
            let matcher = match &*self.previous_matcher.load() {
                Some(previous) => previous.refresh(&self.catalog),
                None => Matcher::new(&self.catalog),
            };
            let finder = Arc::clone(&self.index);
            Arc::new(matcher.with_finder(finder))
        });
        if self.previous_matcher.load().is_some() {
            self.previous_matcher.store(None);
        }
        matcher
    }

    /// Returns this snapshot's matcher, or the previous one if that is not built. `None` before the first match.
    fn latest_matcher(&self) -> Option<Arc<Matcher>> {
        // The previous matcher must be read first: it disappears once this one's is set, which itself is never unset.
        let previous = self.previous_matcher.load_full();
        self.matcher.get().cloned().or(previous)
    }
}

impl Host {
    /// Discovers all skills.
    ///
    /// An invalid setting is an error: a typo must not turn on what the user turned off.
    pub fn discover(self) -> Result<Skills, Error> {
        let now = environment::now();
        let DiscoveredRoots { roots, report, .. } = self.find_roots(&[])?;
        Ok(self.into_skills(roots, report, now))
    }

    /// Discovers all skills even if settings are invalid. Invalid settings are ignored and reported.
    pub fn discover_lenient(self) -> Skills {
        let now = environment::now();
        let DiscoveredRoots { roots, report, .. } = self.find_roots_anyway(&[]);
        self.into_skills(roots, report, now)
    }

    fn into_skills(self, roots: Vec<Root>, mut report: DiscoveryReport, now: SystemTime) -> Skills {
        let catalog = self.build_catalog(roots, &mut report, now);
        report.settings.check_patterns(&catalog);
        Skills::from_catalog(self, catalog, report)
    }
}

impl Skills {
    /// Discovers the skills for a working folder: those of its project, of the user, and of the roots in the settings.
    ///
    /// The project's skills are discovered and listed, but given to models only after the user trusts the project.
    pub fn discover(directory: impl AsRef<Path>) -> Result<Self, Error> {
        Host::new(Environment::from_process(directory)?).discover()
    }

    fn from_catalog(host: Host, catalog: Catalog, report: DiscoveryReport) -> Self {
        let catalog = Arc::new(catalog);
        let snapshot = Snapshot {
            index: Arc::new(SnapshotIndex::new(&catalog, host.search_resources(&report))),
            catalog,
            loader: new_loader(&report),
            report: Arc::new(report),
            matcher: OnceLock::new(),
            previous_matcher: ArcSwapOption::empty(),
            trust_check: TrustCheck::default(),
        };
        Self {
            inner: Arc::new(SkillsInner {
                host,
                current: ArcSwap::from_pointee(snapshot),
                counters: AtomicCounters::default(),
                refresh_lock: Mutex::new(()),
                #[cfg(feature = "watch")]
                unreported: Mutex::default(),
            }),
            audience: Audience::Model,
        }
    }

    /// Returns the same handle for requests of the user, such as a typed command. It also gives skills that only users
    /// may start, and its errors say why a skill is withheld. Do not pass either to a model unless the user started the
    /// skill for it.
    ///
    /// ```
    /// # use skillfold::{Environment, Host, core::MemorySource};
    /// # let file = "---\nname: deploy\ndescription: Deploys\ndisable-model-invocation: true\n---\nDeploy.\n";
    /// # let source = MemorySource::new([("deploy/SKILL.md", file)]);
    /// # let skills = Host::new(Environment::new("/nowhere")).bundled("built in", source).discover()?;
    /// assert!(skills.load("deploy", "").is_err());
    /// assert_eq!(skills.for_user().load("deploy", "")?.text(), "Deploy.\n");
    /// # Ok::<(), skillfold::core::Error>(())
    /// ```
    #[must_use]
    pub fn for_user(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            audience: Audience::User,
        }
    }

    /// Returns the current catalog. It is immutable; later refreshes do not change it.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.current().catalog)
    }

    /// Returns a skill of the current catalog that can be kept.
    pub fn get(&self, id: &str) -> Result<SkillHandle, Error> {
        let current = self.current();
        let entry = self.audience.resolve(&current.catalog, id)?;
        Ok(entry.handle())
    }

    /// Returns the report of how the current catalog was discovered.
    pub fn report(&self) -> Arc<DiscoveryReport> {
        Arc::clone(&self.current().report)
    }

    /// Returns the instructions of a skill with the arguments filled in. They are read on first use and then cached.
    ///
    /// ```
    /// # use skillfold::{Environment, Host, core::MemorySource};
    /// # let file = "---\nname: greet\ndescription: Says hello\n---\nSay hello to $ARGUMENTS.\n";
    /// # let source = MemorySource::new([("greet/SKILL.md", file)]);
    /// # let skills = Host::new(Environment::new("/nowhere")).bundled("built in", source).discover()?;
    /// let greet = skills.load("greet", "Alice")?;
    /// assert_eq!(greet.text(), "Say hello to Alice.\n");
    /// # Ok::<(), skillfold::core::Error>(())
    /// ```
    pub fn load(&self, id: &str, arguments: &str) -> Result<Arc<Instructions>, Error> {
        self.with_skill(id, |entry, loader| loader.load(entry, arguments))
    }

    /// Returns a skill rendered for a model: its instructions in an envelope.
    pub fn render(
        &self,
        id: &str,
        arguments: &str,
        envelope: Envelope,
    ) -> Result<LoadedText, Error> {
        self.with_skill(id, |entry, loader| {
            loader.render(entry, arguments, envelope)
        })
    }

    /// Returns whether [`render`](Self::render) would return the same text again, without rendering it; see
    /// [`Loader::is_current`].
    pub fn is_current(&self, loaded: &LoadedText) -> bool {
        self.with_snapshot(|catalog, loader| {
            let entry = self.audience.resolve(catalog, loaded.instructions.id());
            entry.is_ok_and(|entry| loader.is_current(&entry, loaded))
        })
    }

    /// Returns up to `limit` files of a skill after `cursor`. Files that the instructions mention come first.
    pub fn files(
        &self,
        id: &str,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<FileList, Error> {
        self.with_skill(id, |entry, loader| loader.files(entry, cursor, limit))
    }

    /// Returns a file of a skill, up to the read limit. A path that leads out of the skill is refused.
    pub fn read(&self, id: &str, path: &str) -> Result<FileContent, Error> {
        self.read_range(id, path, ..)
    }

    /// Returns a part of a file of a skill; see [`read`](Self::read).
    pub fn read_range(
        &self,
        id: &str,
        path: &str,
        range: impl RangeBounds<u64>,
    ) -> Result<FileContent, Error> {
        self.with_skill(id, |entry, loader| loader.read(entry, path, range))
    }

    /// Returns a skill for publication to another host: its frontmatter verbatim, and all its files with their digests.
    /// See [`Loader::publish`] for when this fails.
    pub fn publish(&self, id: &str) -> Result<Publication, Error> {
        self.with_skill(id, |entry, loader| loader.publish(entry))
    }

    /// Returns the files of a skill that may be published to another host, by path; see [`Loader::published_files`].
    pub fn published_files(&self, id: &str) -> Result<Vec<SkillFile>, Error> {
        self.with_skill(id, |entry, loader| loader.published_files(entry))
    }

    /// Returns an agent from the settings, for [`bind`](Self::bind). The error suggests the nearest ids.
    pub fn agent(&self, id: &str) -> Result<Agent, Error> {
        self.report().settings.agent(id)
    }

    /// Calls `f` with a skill, if the audience may have it, and the loader.
    fn with_skill<T>(
        &self,
        id: &str,
        f: impl FnOnce(&Entry<'_>, &Loader) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.count_refusal(
            self.with_snapshot(|catalog, loader| f(&self.audience.resolve(catalog, id)?, loader)),
        )
    }

    /// Calls `f` with the current catalog and loader.
    pub(crate) fn with_snapshot<T>(&self, f: impl FnOnce(&Catalog, &Loader) -> T) -> T {
        let current = self.current();
        f(&current.catalog, &current.loader)
    }

    /// Calls `f` with the current matcher and loader.
    pub(crate) fn with_matcher<T>(&self, f: impl FnOnce(&Matcher, &Loader) -> T) -> T {
        let current = self.current();
        f(current.matcher(), &current.loader)
    }

    /// Returns whether the current snapshot's search index is built, so that a search reads no skill files.
    pub fn is_searchable(&self) -> bool {
        self.current().index.is_built()
    }

    /// Returns why searches are less complete than configured, such as a model that cannot be used or an index that was
    /// rebuilt. Known after the first search or request.
    pub fn search_problem(&self) -> Option<String> {
        self.index().problem().map(|problem| problem.to_string())
    }

    /// Returns the search index of the current snapshot.
    pub(crate) fn index(&self) -> Arc<SnapshotIndex> {
        Arc::clone(&self.current().index)
    }

    /// Returns the activity counters since the skills were first discovered.
    pub fn counters(&self) -> Counters {
        let current = self.inner.current.load();
        let matches = current.latest_matcher().map(|matcher| matcher.stats());
        let matches = matches.unwrap_or_default();
        self.inner
            .counters
            .snapshot(current.loader.stats(), matches)
    }

    pub(crate) fn count_turn(&self, turn: &Turn) {
        self.inner.counters.count_turn(turn);
    }

    pub(crate) fn count_compaction(&self, turn: &Turn) {
        self.inner.counters.count_compaction(turn);
    }

    pub(crate) fn count_feedback(&self, feedback: Feedback) {
        self.inner.counters.count_feedback(feedback);
    }

    /// Counts the result if it is a refusal, and passes it through.
    pub(crate) fn count_refusal<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        result.inspect_err(|error| self.inner.counters.count_refusal(error))
    }

    /// Returns the counters of the instruction cache.
    pub fn cache_stats(&self) -> CacheStats {
        self.inner.current.load().loader.stats()
    }

    /// Empties the instruction cache.
    pub fn clear_cache(&self) {
        self.inner.current.load().loader.clear();
    }

    /// Removes one skill from the instruction cache.
    pub fn evict(&self, id: &str) -> Result<(), Error> {
        let current = self.inner.current.load();
        let entry = current.catalog.resolve_or_suggest(id)?;
        current.loader.evict(&entry);
        Ok(())
    }

    /// Refreshes only the folders that `choose` returns, without reading the settings again. Falls back to a full
    /// [`refresh`](Self::refresh) if it returns `None` or if those folders are not enough to tell what changed.
    #[cfg(feature = "watch")]
    pub(crate) fn refresh_folders(
        &self,
        choose: impl FnOnce(&Catalog) -> Option<Vec<(usize, String)>>,
    ) -> Result<Changes, Error> {
        let inner = &*self.inner;
        let guard = lock(&inner.refresh_lock);
        let now = environment::now();
        let old = inner.current.load_full();
        let refreshed = choose(&old.catalog).and_then(|folders| {
            let folders: Vec<_> = folders
                .iter()
                .map(|(root, path)| (*root, &**path))
                .collect();
            old.catalog.refresh_folders(&folders, now)
        });
        let Some(refreshed) = refreshed else {
            drop(guard);
            return self.refresh();
        };
        old.loader.retain_current(&refreshed.catalog);
        let Changes { added, removed, .. } = &refreshed.changes;
        let report = if added.is_empty() && removed.is_empty() {
            Arc::clone(&old.report)
        } else {
            let mut report = DiscoveryReport::clone(&old.report);
            report.settings.check_patterns(&refreshed.catalog);
            Arc::new(report)
        };
        inner.swap(&old, refreshed.catalog, report, Arc::clone(&old.loader));
        Ok(refreshed.changes)
    }

    /// Returns whether something could not be read at the last refresh. Its previous content is kept, and the next
    /// refresh tries again.
    pub fn is_stale(&self) -> bool {
        let current = self.inner.current.load();
        let is_unopened = |root: &SearchedRoot| matches!(root.status, RootStatus::Stale(_));
        current.report.roots.iter().any(is_unopened)
            || (0..current.catalog.roots().len()).any(|root| current.catalog.is_stale(root))
    }

    /// Returns the paths that settings and skills come from.
    #[cfg(feature = "watch")]
    pub(crate) fn watched_paths(&self) -> WatchedPaths {
        let current = self.inner.current.load();
        let environment = &self.inner.host.environment;
        // Untrusted roots are not watched: they could contain anything, and models are told nothing about them.
        // Watching the folders above is enough to notice when one appears, disappears or becomes trusted.
        let roots = current.catalog.roots().iter();
        let roots = roots.filter(|root| root.trust() != skillfold_core::catalog::Trust::Untrusted);
        let roots = roots.filter_map(|root| root.source().location().map(Path::to_owned));
        let roots: Vec<_> = roots.collect();
        let searched = current.report.roots.iter().map(|root| root.path.clone());
        let mut others: Vec<_> = searched.filter(|path| !roots.contains(path)).collect();
        others.extend(environment.user_settings());
        others.push(environment.project_settings());
        WatchedPaths { roots, others }
    }

    /// Rescans the roots, reads only what changed, and swaps in a new snapshot. The settings are read again too.
    ///
    /// If the settings are invalid, or a temporary read failure would lose skills, the snapshot is left unchanged and
    /// the error says why.
    pub fn refresh(&self) -> Result<Changes, Error> {
        let inner = &*self.inner;
        let _guard = lock(&inner.refresh_lock);
        let now = environment::now();
        let old = inner.current.load();
        let before = old.catalog.roots();
        let mut found = inner.host.find_roots(before)?;
        match found
            .take_trust_fault(before)
            .or(found.take_root_fault(before))
        {
            Some(fault) => Err(fault),
            None => Ok(inner.refresh(found.roots, found.report, now)),
        }
    }

    /// Returns the current snapshot, after checking that the user still trusts what it serves. Every answer goes
    /// through here, so a folder that was removed from the trust list is soon out of use, whatever the settings say and
    /// even if the host does not watch the files. Trust given by settings ends when they are read again.
    fn current(&self) -> Guard<Arc<Snapshot>> {
        let inner = &*self.inner;
        let is_current = |snapshot: &Snapshot| {
            let DiscoveryReport {
                settings,
                trusted,
                trusted_by,
                ..
            } = &*snapshot.report;
            let environment = &inner.host.environment;
            let check = &snapshot.trust_check;
            check.is_current(environment, settings, trusted, trusted_by.as_ref())
        };
        let current = inner.current.load();
        if is_current(&current) {
            return current;
        }
        let _guard = lock(&inner.refresh_lock);
        let current = inner.current.load();
        // The previous holder of the lock may have noticed it too.
        if is_current(&current) {
            return current;
        }
        let now = environment::now();
        // The settings are not read again: a settings file that is broken by now must not keep old trust alive.
        let settings = current.report.settings.clone();
        let mut found = inner
            .host
            .find_roots_with(settings, current.catalog.roots());
        // If the trust list cannot be read just now, trust is not known to be revoked; the next answer checks again.
        if found.take_trust_fault(current.catalog.roots()).is_some() {
            return current;
        }
        let changes = inner.refresh(found.roots, found.report, now);
        #[cfg(feature = "watch")]
        merge_changes(&mut lock(&inner.unreported), changes);
        #[cfg(not(feature = "watch"))]
        drop(changes);
        inner.current.load()
    }

    /// Checks whether the user still trusts the project, and returns the changes caused by trust since the last call.
    #[cfg(feature = "watch")]
    pub(crate) fn take_trust_changes(&self) -> Changes {
        drop(self.current());
        std::mem::take(&mut *lock(&self.inner.unreported))
    }
}

impl SkillsInner {
    /// Reads what changed in `roots` and publishes a new snapshot. The caller holds the refresh lock.
    fn refresh(&self, roots: Vec<Root>, mut report: DiscoveryReport, now: SystemTime) -> Changes {
        let old = self.current.load();
        #[cfg(feature = "index")]
        report.root_caches.clone_from(&old.report.root_caches);
        let refreshed = old
            .catalog
            .refresh(roots, report.settings.catalog_options(), now);
        report.settings.check_patterns(&refreshed.catalog);
        let loader = if report.settings.load_options() == *old.loader.options() {
            old.loader.retain_current(&refreshed.catalog);
            Arc::clone(&old.loader)
        } else {
            new_loader(&report)
        };
        self.swap(&old, refreshed.catalog, Arc::new(report), loader);
        refreshed.changes
    }

    fn swap(
        &self,
        old: &Snapshot,
        catalog: Catalog,
        report: Arc<DiscoveryReport>,
        loader: Arc<Loader>,
    ) {
        let catalog = Arc::new(catalog);
        let resources = self.host.search_resources(&report);
        self.current.store(Arc::new(Snapshot {
            index: Arc::new(old.index.next(&catalog, resources)),
            catalog,
            report,
            loader,
            matcher: OnceLock::new(),
            previous_matcher: ArcSwapOption::new(old.latest_matcher()),
            trust_check: TrustCheck::default(),
        }));
        self.counters.count_refresh();
    }
}

impl Audience {
    /// Returns the skill with an id, if this audience may have it.
    fn resolve<'a>(self, catalog: &'a Catalog, id: &str) -> Result<Entry<'a>, Error> {
        match self {
            Self::Model => catalog.resolve_for_model(id),
            Self::User => catalog.resolve_for_person(id),
        }
    }
}

/// Takes a lock. Poisoning is ignored: a thread that panicked has published nothing, so the next one may proceed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds changes to those not reported yet, each id once.
#[cfg(feature = "watch")]
fn merge_changes(unreported: &mut Changes, changes: Changes) {
    let Changes {
        added,
        removed,
        changed,
        refused,
        cleared,
        ..
    } = changes;
    for (ids, more) in [
        (&mut unreported.added, added),
        (&mut unreported.removed, removed),
        (&mut unreported.changed, changed),
        (&mut unreported.refused, refused),
        (&mut unreported.cleared, cleared),
    ] {
        ids.extend(more);
        ids.sort_unstable();
        ids.dedup();
    }
}

fn new_loader(report: &DiscoveryReport) -> Arc<Loader> {
    Arc::new(Loader::new(
        report.settings.load_options(),
        environment::now,
    ))
}
