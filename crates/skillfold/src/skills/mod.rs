//! The live handle to a host's skills.

pub(crate) mod counters;
pub(crate) mod preferred;
#[cfg(feature = "run")]
pub(crate) mod toolset_pool;
#[cfg(feature = "watch")]
pub(crate) mod watched_paths;

mod refresh;

pub(crate) mod search;

mod warnings;

use std::ops::RangeBounds;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use arc_swap::{ArcSwap, ArcSwapOption, Guard};
#[cfg(feature = "watch")]
use skillfold_core::catalog::Changes;
use skillfold_core::catalog::SkillHandle;
use skillfold_core::disclose::Feedback;
use skillfold_core::disclose::Turn;
use skillfold_core::load::{CacheStats, FileContent, FileList, LoadedText, Publication, SkillFile};
use skillfold_core::source::Cursor;
use skillfold_core::{
    Budget, Catalog, Diagnostic, Entry, Envelope, Error, Instructions, Loader, Matcher, Root,
};

pub use self::counters::{CounterRow, Counters};
pub use self::search::{Hit, SearchResults};
pub use self::warnings::Warning;
use crate::answer::AnswerCache;
use crate::client::{Client, OwnList};
use crate::discovery::host::{DiscoveredRoots, Host};
use crate::discovery::report::DiscoveryReport;
use crate::environment::{self, Environment};
use crate::search_index::SnapshotIndex;
use crate::skills::counters::AtomicCounters;
use crate::skills::preferred::{ProjectWords, preferred};
#[cfg(feature = "run")]
use crate::skills::toolset_pool::ToolsetPool;
use crate::trust::check::TrustCheck;

/// The number of skills up to which a search in memory takes less time than a change of threads.
const MAX_QUICK_SKILLS: usize = 1_000;

/// The number of skills from which on it matters which are listed.
const MIN_PREFERENCE_SKILLS: usize = 5;

/// A live handle to all skills of a host. Clones share the same state and may be used from any thread.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let directory = folder.path();
/// let skills = skillfold::Skills::discover(directory)?.skills;
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

/// The skills that were discovered, with what the program should know about them.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let directory = folder.path();
/// let skillfold::Discovered { skills, warnings } = skillfold::Skills::discover(directory)?;
/// for warning in &warnings {
///     eprintln!("{warning}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "print its warnings, and use its skills"]
#[expect(
    clippy::exhaustive_structs,
    reason = "a program that takes it apart sees both fields"
)]
pub struct Discovered {
    /// The skills.
    pub skills: Skills,
    /// What is withheld or broken, such as the skills of a project that is not trusted, or a bundled skill that is not
    /// valid. Empty if all is well.
    pub warnings: Vec<Warning>,
}

/// A skill and everything it requires.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadOrder {
    /// The ids in the order of loading; the skill itself is last.
    pub ids: Vec<String>,
    /// What is missing or circular.
    pub findings: Vec<Diagnostic>,
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
    /// Held while the next snapshot is built. What gives content waits for it if trust changed; other reads never do.
    refresh_lock: Mutex<()>,
    /// Changes caused by a change of trust that the watcher has not reported yet.
    #[cfg(feature = "watch")]
    unreported: Mutex<Changes>,
    #[cfg(feature = "run")]
    toolsets: ToolsetPool,
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
    answers: Arc<AnswerCache>,
    /// Read when the first conversation starts.
    project_words: OnceLock<Arc<ProjectWords>>,
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
    pub fn discover(self) -> Result<Discovered, Error> {
        let now = environment::now();
        let DiscoveredRoots { roots, report, .. } = self.find_roots(&[])?;
        Ok(self.into_skills(roots, report, now))
    }

    /// Discovers all skills even if settings are invalid. Invalid settings are ignored and reported.
    pub fn discover_lenient(self) -> Discovered {
        let now = environment::now();
        let DiscoveredRoots { roots, report, .. } = self.find_roots_anyway(&[]);
        self.into_skills(roots, report, now)
    }

    fn into_skills(
        self,
        roots: Vec<Root>,
        mut report: DiscoveryReport,
        now: SystemTime,
    ) -> Discovered {
        let catalog = self.build_catalog(roots, &mut report, now);
        report.settings.check_patterns(&catalog);
        let warnings = warnings::warnings(&catalog, &report);
        let skills = Skills::from_catalog(self, catalog, report);
        Discovered { skills, warnings }
    }
}

impl Skills {
    /// Discovers the skills for a working folder: those of its project, of the user, and of the roots in the settings.
    ///
    /// The project's skills are discovered and listed, but given to models only after the user trusts the project.
    pub fn discover(directory: impl AsRef<Path>) -> Result<Discovered, Error> {
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
            answers: Arc::default(),
            project_words: OnceLock::new(),
        };
        Self {
            inner: Arc::new(SkillsInner {
                host,
                current: ArcSwap::from_pointee(snapshot),
                counters: AtomicCounters::default(),
                refresh_lock: Mutex::new(()),
                #[cfg(feature = "watch")]
                unreported: Mutex::default(),
                #[cfg(feature = "run")]
                toolsets: ToolsetPool::default(),
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
    /// # let skills = Host::new(Environment::new("/nowhere")).bundled("built in", source).discover()?.skills;
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

    /// Returns the current catalog. It is immutable; later refreshes do not change it. Touches no file and waits for
    /// nothing: [`check_trust`](Self::check_trust) tells whether the user still trusts all of it.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.snapshot().catalog)
    }

    /// Returns whether a catalog is the current one.
    pub fn is_current_catalog(&self, catalog: &Arc<Catalog>) -> bool {
        Arc::ptr_eq(&self.inner.current.load().catalog, catalog)
    }

    /// Returns a skill of the current catalog that can be kept.
    pub fn get(&self, id: &str) -> Result<SkillHandle, Error> {
        let current = self.snapshot();
        let entry = self.audience.resolve(&current.catalog, id)?;
        Ok(entry.handle())
    }

    /// Returns the report of how the current catalog was discovered.
    pub fn report(&self) -> Arc<DiscoveryReport> {
        Arc::clone(&self.snapshot().report)
    }

    /// Returns the instructions of a skill with the arguments filled in. They are read on first use and then cached.
    ///
    /// ```
    /// # use skillfold::{Environment, Host, core::MemorySource};
    /// # let file = "---\nname: greet\ndescription: Says hello\n---\nSay hello to $ARGUMENTS.\n";
    /// # let source = MemorySource::new([("greet/SKILL.md", file)]);
    /// # let skills = Host::new(Environment::new("/nowhere")).bundled("built in", source).discover()?.skills;
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
        self.with_loader(|catalog, loader| {
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

    /// Returns a skill and everything it requires, in the order in which they are loaded; see
    /// [`Catalog::resolve_requires`]. Loads nothing.
    pub fn load_order(&self, id: &str) -> Result<LoadOrder, Error> {
        self.with_catalog(|catalog| {
            let required = catalog.resolve_requires(id)?;
            let ids = required.skills.iter().map(|entry| entry.id().to_owned());
            Ok(LoadOrder {
                ids: ids.collect(),
                findings: required.findings,
            })
        })
    }

    /// Calls `f` with a skill, if the audience may have it, and the loader.
    fn with_skill<T>(
        &self,
        id: &str,
        f: impl FnOnce(&Entry<'_>, &Loader) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.count_refusal(
            self.with_loader(|catalog, loader| f(&self.audience.resolve(catalog, id)?, loader)),
        )
    }

    /// Returns the environment of the host.
    pub(crate) fn environment(&self) -> &Environment {
        &self.inner.host.environment
    }

    #[cfg(feature = "run")]
    pub(crate) fn toolset_pool(&self) -> &ToolsetPool {
        &self.inner.toolsets
    }

    #[cfg(feature = "store")]
    pub(crate) fn tell_of_proposal(&self, proposal: &skillfold_store::Proposal) {
        let report = self.report();
        self.inner.host.tell_of_proposal(&report.settings, proposal);
    }

    /// Returns the skills as they were with more roots, which win their names. Reads only what is new. Nothing of it is cached on
    /// the disk.
    #[cfg(feature = "store")]
    pub(crate) fn with_roots_before(&self, mut roots: Vec<Root>) -> Self {
        let (host, current) = (self.inner.host.without_cache(), self.snapshot());
        let catalog = &current.catalog;
        roots.extend(catalog.roots().iter().cloned());
        let options = catalog.options().clone();
        let refreshed = catalog.refresh(roots, options, environment::now());
        let report = DiscoveryReport::clone(&current.report);
        let skills = Self::from_catalog(host, refreshed.catalog, report);
        let matcher = current.latest_matcher();
        skills.inner.current.load().previous_matcher.store(matcher);
        skills
    }

    /// Returns the current snapshot. Touches no file and takes no lock.
    fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        self.inner.current.load()
    }

    /// Calls `f` with the current catalog. Touches no file and takes no lock.
    pub(crate) fn with_catalog<T>(&self, f: impl FnOnce(&Catalog) -> T) -> T {
        f(&self.snapshot().catalog)
    }

    /// Calls `f` with the current catalog and loader, after a [check of trust](Self::check_trust).
    pub(crate) fn with_loader<T>(&self, f: impl FnOnce(&Catalog, &Loader) -> T) -> T {
        self.check_trust();
        let current = self.snapshot();
        f(&current.catalog, &current.loader)
    }

    /// Calls `f` with the current matcher and loader, after a [check of trust](Self::check_trust).
    pub(crate) fn with_matcher<T>(&self, f: impl FnOnce(&Matcher, &Loader) -> T) -> T {
        self.check_trust();
        let current = self.snapshot();
        f(current.matcher(), &current.loader)
    }

    /// Returns the list that a client makes itself, by its settings now.
    pub fn own_list(&self, client: &'static Client) -> OwnList {
        OwnList::read(client, self.environment())
    }

    /// Returns the budget of the listing for a client of a server: what the settings say, or else what this version of
    /// the client is known to keep.
    pub fn listing_budget(&self, client: Option<&Client>, version: Option<&str>) -> Budget {
        let setting = self.snapshot().report.settings.listing.value;
        setting.or(Client::listing_budget(client, version))
    }

    /// Returns the words that the names of the project's files stand for. Reads them once per snapshot.
    pub(crate) fn project_words(&self) -> Arc<ProjectWords> {
        let current = self.snapshot();
        // So few fit every budget.
        if (current.catalog.visible())
            .nth(MIN_PREFERENCE_SKILLS)
            .is_none()
        {
            return Arc::default();
        }
        let project = self.inner.host.environment.project();
        let words = || Arc::new(ProjectWords::read(project));
        Arc::clone(current.project_words.get_or_init(words))
    }

    /// Returns the ids of the skills to list first if not all fit.
    pub(crate) fn preferred(&self, words: &ProjectWords) -> Vec<Box<str>> {
        let current = self.snapshot();
        let pinned = current.report.settings.pinned.iter();
        let pinned = pinned.map(|setting| setting.value.as_str());
        let first: Vec<_> = pinned.chain(self.inner.host.preferred()).collect();
        preferred(&current.catalog, &first, words)
    }

    /// Returns the cached answers of the current snapshot.
    pub(crate) fn answers(&self) -> Arc<AnswerCache> {
        Arc::clone(&self.snapshot().answers)
    }

    /// Returns the cached answers of the current snapshot, unless its trust has to be checked first: that would read a
    /// file.
    pub(crate) fn checked_answers(&self) -> Option<Arc<AnswerCache>> {
        let current = self.inner.current.load();
        let is_checked = current.trust_check.is_recent();
        is_checked.then(|| Arc::clone(&current.answers))
    }

    /// Returns whether a search reads no file and takes less time than a change of threads.
    pub(crate) fn is_quick_to_search(&self) -> bool {
        let current = self.inner.current.load();
        current.catalog.len() <= MAX_QUICK_SKILLS && current.index.is_in_memory()
    }

    /// Returns why searches are less complete than configured, such as a model that cannot be used or an index that was
    /// rebuilt. Known after the first search or request.
    pub fn search_problem(&self) -> Option<String> {
        self.index().problem().map(|problem| problem.to_string())
    }

    /// Returns the search index of the current snapshot.
    pub(crate) fn index(&self) -> Arc<SnapshotIndex> {
        Arc::clone(&self.snapshot().index)
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
}

impl Audience {
    /// Returns the skill with an id, if this audience may have it.
    fn resolve<'a>(self, catalog: &'a Catalog, id: &str) -> Result<Entry<'a>, Error> {
        match self {
            Self::Model => catalog.resolve_for_model(id),
            Self::User => catalog.resolve_for_user(id),
        }
    }
}

/// Takes a lock. Poisoning is ignored: a thread that panicked has published nothing, so the next one may proceed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn new_loader(report: &DiscoveryReport) -> Arc<Loader> {
    Arc::new(Loader::new(
        report.settings.load_options(),
        environment::now,
    ))
}
