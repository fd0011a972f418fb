//! The live handle that a host holds.

use std::ops::RangeBounds;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use arc_swap::{ArcSwap, ArcSwapOption, Guard};
use skillfold_core::{
    Agent, CacheStats, Catalog, Changes, ComposedInstructions, ContextLifetime, Cursor, Entry,
    Envelope, Error, Feedback, FileContent, FileList, Instructions, LoadedText, Loader, Matcher,
    Policy, Publication, Root, Session as Remembered, SkillFile, Turn,
};

use crate::counters::{AtomicCounters, Counters};
use crate::environment::{Environment, now_ns};
use crate::host::Host;
#[cfg(feature = "index")]
use crate::root_cache::RootCache;
use crate::roots::{RootStatus, SearchedRoot};
use crate::session::Session;
use crate::settings::Settings;
use crate::snapshot_index::SnapshotIndex;
use crate::trust::{TrustRule, TrustedFolders};
use crate::trust_check::TrustCheck;

/// All skills of a host, live: a clone is the same handle, and every thread may hold one.
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
/// What it gives is for a model: skills that only people may start are not there. [`for_person`](Self::for_person) is the
/// same handle for what a person asks.
#[derive(Clone, Debug)]
pub struct Skills {
    shared: Arc<SkillsInner>,
    reader: Audience,
}

/// Who is given skills.
#[derive(Clone, Copy, Debug)]
enum Audience {
    Model,
    Person,
}

#[derive(Debug)]
struct SkillsInner {
    host: Host,
    /// What readers see: one pointer, so that they see a whole.
    now: ArcSwap<Snapshot>,
    counting: AtomicCounters,
    /// Held by the one that makes the next state; readers wait for it only when trust changed.
    refreshing: Mutex<()>,
    /// What changed with the trust in a folder, until the one that watches tells of it.
    #[cfg(feature = "watch")]
    untold: Mutex<Changes>,
}

/// What was found at one time.
#[derive(Debug)]
struct Snapshot {
    catalog: Arc<Catalog>,
    report: Arc<DiscoveryReport>,
    /// It outlives the catalog, and remembers what did not change.
    loader: Arc<Loader>,
    /// Made when a message is matched for the first time.
    matcher: OnceLock<Arc<Matcher>>,
    /// That of an earlier state, from which this one's is made for less, until it is.
    earlier: ArcSwapOption<Matcher>,
    searching: Arc<SnapshotIndex>,
    trust_check: TrustCheck,
}

impl Snapshot {
    fn matcher(&self) -> &Arc<Matcher> {
        let made = self.matcher.get_or_init(|| {
            let matcher = match &*self.earlier.load() {
                Some(earlier) => earlier.refresh(&self.catalog),
                None => Matcher::new(&self.catalog),
            };
            let finder = Arc::clone(&self.searching);
            Arc::new(matcher.with_finder(finder))
        });
        if self.earlier.load().is_some() {
            self.earlier.store(None);
        }
        made
    }

    /// Returns what matches messages, or matched those before, if anything was matched.
    fn latest_matcher(&self) -> Option<Arc<Matcher>> {
        // What is made is looked at last: nothing takes it away again.
        let earlier = self.earlier.load_full();
        self.matcher.get().cloned().or(earlier)
    }
}

/// What a catalog was made from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DiscoveryReport {
    /// The settings, with the origin of each, and what is wrong with them.
    pub settings: Settings,
    /// The folders that were looked for, in the order in which they win names.
    pub roots: Vec<SearchedRoot>,
    /// The folders that the person trusted, and what is wrong with their list.
    pub trusted: TrustedFolders,
    /// Why the project is trusted, if it is.
    pub trusted_by: Option<TrustRule>,
    /// What was remembered of each root when the host started.
    #[cfg(feature = "index")]
    pub memory: Vec<RootCache>,
}

impl Skills {
    /// Finds the skills that are seen from a folder: those of its project, of the person, and of what settings name.
    ///
    /// Skills of the project are found and listed; they are given to a model only after the person trusts the project.
    pub fn discover(directory: impl AsRef<Path>) -> Result<Self, Error> {
        Host::new(Environment::from_process(directory)?).discover()
    }

    pub(crate) fn found(host: Host, catalog: Catalog, report: DiscoveryReport) -> Self {
        let catalog = Arc::new(catalog);
        let state = Snapshot {
            searching: Arc::new(SnapshotIndex::new(&catalog, host.means(&report))),
            catalog,
            loader: loader(&report),
            report: Arc::new(report),
            matcher: OnceLock::new(),
            earlier: ArcSwapOption::empty(),
            trust_check: TrustCheck::default(),
        };
        Self {
            shared: Arc::new(SkillsInner {
                host,
                now: ArcSwap::from_pointee(state),
                counting: AtomicCounters::default(),
                refreshing: Mutex::new(()),
                #[cfg(feature = "watch")]
                untold: Mutex::default(),
            }),
            reader: Audience::Model,
        }
    }

    /// Returns the same handle for what a person asks, such as a command that the person types: it also gives skills that
    /// only people may start, and its errors say why a skill is not given. Do not pass either to a model that the person did
    /// not start the skill for.
    ///
    /// ```
    /// # use skillfold::{Environment, Host, core::MemorySource};
    /// # let file = "---\nname: deploy\ndescription: Deploys\ndisable-model-invocation: true\n---\nDeploy.\n";
    /// # let source = MemorySource::new([("deploy/SKILL.md", file)]);
    /// # let skills = Host::new(Environment::new("/nowhere")).bundled("built in", source).discover()?;
    /// assert!(skills.load("deploy", "").is_err());
    /// assert_eq!(skills.for_person().load("deploy", "")?.text(), "Deploy.\n");
    /// # Ok::<(), skillfold::core::Error>(())
    /// ```
    #[must_use]
    pub fn for_person(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            reader: Audience::Person,
        }
    }

    /// Returns the snapshot of now. It stays as it is, whatever happens later.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.now().catalog)
    }

    /// Returns what the snapshot of now was made from.
    pub fn report(&self) -> Arc<DiscoveryReport> {
        Arc::clone(&self.now().report)
    }

    /// Returns the instructions of a skill, with the arguments in their places. They are read now, and remembered.
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
        self.of(id, |entry, loader| loader.load(entry, arguments))
    }

    /// Returns a skill as a model gets it: its instructions in an envelope.
    pub fn render(
        &self,
        id: &str,
        arguments: &str,
        envelope: Envelope,
    ) -> Result<LoadedText, Error> {
        self.of(id, |entry, loader| {
            loader.render(entry, arguments, envelope)
        })
    }

    /// Returns whether [`render`](Self::render) would give the same text again, without making it: see
    /// [`Loader::is_current`].
    pub fn is_current(&self, loaded: &LoadedText) -> bool {
        self.with_now(|catalog, loader| {
            let entry = self.reader.resolve(catalog, loaded.instructions.id());
            entry.is_ok_and(|entry| loader.is_current(&entry, loaded))
        })
    }

    /// Returns the files of a skill from after `cursor` on, at most `limit`: those that the instructions speak of first.
    pub fn files(
        &self,
        id: &str,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<FileList, Error> {
        self.of(id, |entry, loader| loader.files(entry, cursor, limit))
    }

    /// Returns a file of a skill, up to the limit on one read. A path that leads out of the skill is refused.
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
        self.of(id, |entry, loader| loader.read(entry, path, range))
    }

    /// Returns a skill as it goes out to another host: its frontmatter as it stands, and all its files with their digests.
    /// [`Loader::publish`] says when it cannot.
    pub fn publish(&self, id: &str) -> Result<Publication, Error> {
        self.of(id, |entry, loader| loader.publish(entry))
    }

    /// Returns the files of a skill that may go out to another host, by path; see [`Loader::published_files`].
    pub fn published_files(&self, id: &str) -> Result<Vec<SkillFile>, Error> {
        self.of(id, |entry, loader| loader.published_files(entry))
    }

    /// Returns an agent of the settings; the error names the nearest ids. [`bound_to`](Self::bound_to) gives it its skills.
    pub fn agent(&self, id: &str) -> Result<Agent, Error> {
        self.report().settings.agent(id)
    }

    /// Returns the text that an agent of the settings begins with: the prompt, the skills that it uses, its own
    /// instructions, in this order; see [`AgentSkills::compose`](crate::AgentSkills::compose).
    pub fn compose(
        &self,
        agent: &str,
        prompt: &str,
        inline: &str,
    ) -> Result<ComposedInstructions, Error> {
        self.bind(self.agent(agent)?).compose(prompt, inline)
    }

    /// Does something with a skill that may be given to who asks, and what loads it.
    fn of<T>(
        &self,
        id: &str,
        act: impl FnOnce(&Entry<'_>, &Loader) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.noted(self.with_now(|catalog, loader| act(&self.reader.resolve(catalog, id)?, loader)))
    }

    /// Does something with the snapshot of now and what loads by it.
    pub(crate) fn with_now<T>(&self, act: impl FnOnce(&Catalog, &Loader) -> T) -> T {
        let now = self.now();
        act(&now.catalog, &now.loader)
    }

    /// Begins a conversation.
    ///
    /// ```
    /// # use skillfold::{Environment, Host, core::{Budget, ContextLifetime, MemorySource, Policy}};
    /// # let file = "---\nname: greet\ndescription: Says hello\ntriggers: [bonjour]\n---\nSay hello.\n";
    /// # let source = MemorySource::new([("greet/SKILL.md", file)]);
    /// # let skills = Host::new(Environment::new("/nowhere")).bundled("built in", source).discover()?;
    /// let mut session = skills.session(Policy::hybrid(Budget::tokens(4_000)), ContextLifetime::History);
    /// let listing = session.listing().text;
    /// assert!(listing.contains("<id>greet</id>"));
    /// let turn = session.turn("Say bonjour to Alice");
    /// assert!(turn.text.unwrap().contains("Say hello."));
    /// # Ok::<(), skillfold::core::Error>(())
    /// ```
    pub fn session(&self, policy: Policy, lives: ContextLifetime) -> Session {
        self.resume(policy, Remembered::new(lives))
    }

    /// Takes up a conversation that was written down.
    pub fn resume(&self, policy: Policy, remembered: Remembered) -> Session {
        Session::new(self.clone(), policy, remembered)
    }

    /// Does something with what matches messages against the snapshot of now, and what loads by it.
    pub(crate) fn with_matcher<T>(&self, act: impl FnOnce(&Matcher, &Loader) -> T) -> T {
        let now = self.now();
        act(now.matcher(), &now.loader)
    }

    /// Returns whether a search reads no file: something was searched in the snapshot of now before.
    pub fn is_searchable(&self) -> bool {
        self.now().searching.is_made()
    }

    /// Returns why searches look at less, or in another way, than there is a place for: a model that cannot be used, an index
    /// that was made again. Known after the first search or request.
    pub fn search_problem(&self) -> Option<String> {
        self.searching()
            .problem()
            .map(|problem| problem.to_string())
    }

    /// Returns what searches the snapshot of now.
    pub(crate) fn searching(&self) -> Arc<SnapshotIndex> {
        Arc::clone(&self.now().searching)
    }

    /// Returns what was done since the skills were found, in numbers.
    pub fn counters(&self) -> Counters {
        let now = self.shared.now.load();
        let matches = now.latest_matcher().map(|matcher| matcher.stats());
        let matches = matches.unwrap_or_default();
        self.shared.counting.now(now.loader.stats(), matches)
    }

    /// Counts a request.
    pub(crate) fn counted(&self, turn: &Turn) {
        self.shared.counting.turn(turn);
    }

    /// Counts what is given again after a conversation was cut short.
    pub(crate) fn counted_again(&self, turn: &Turn) {
        self.shared.counting.again(turn);
    }

    /// Counts what became of a skill.
    pub(crate) fn counted_verdict(&self, verdict: Feedback) {
        self.shared.counting.verdict(verdict);
    }

    /// Counts what was refused.
    pub(crate) fn noted<T>(&self, answer: Result<T, Error>) -> Result<T, Error> {
        answer.inspect_err(|error| self.shared.counting.error(error))
    }

    /// Returns how the cache of loaded instructions does.
    pub fn cache_stats(&self) -> CacheStats {
        self.shared.now.load().loader.stats()
    }

    /// Forgets everything that was loaded.
    pub fn clear_cache(&self) {
        self.shared.now.load().loader.clear();
    }

    /// Forgets what was loaded of one skill.
    pub fn forget(&self, id: &str) -> Result<(), Error> {
        let now = self.shared.now.load();
        now.loader.evict(&now.catalog.resolve_or_suggest(id)?);
        Ok(())
    }

    /// Looks at some folders alone, as far as that can tell what changed, and otherwise at everything. Settings are not read
    /// again.
    #[cfg(feature = "watch")]
    pub(crate) fn refresh_folders(
        &self,
        choose: impl FnOnce(&Catalog) -> Option<Vec<(usize, String)>>,
    ) -> Result<Changes, Error> {
        let shared = &*self.shared;
        let one = lock(&shared.refreshing);
        let now_ns = now_ns();
        let old = shared.now.load_full();
        let refreshed = choose(&old.catalog).and_then(|folders| {
            let folders: Vec<_> = folders
                .iter()
                .map(|(root, path)| (*root, &**path))
                .collect();
            old.catalog.refresh_folders(&folders, now_ns)
        });
        let Some(refreshed) = refreshed else {
            drop(one);
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
        shared.swap(&old, refreshed.catalog, report, Arc::clone(&old.loader));
        Ok(refreshed.changes)
    }

    /// Returns whether something cannot be read right now: what was known of it stays, and the next refresh tries again.
    pub fn is_stale(&self) -> bool {
        let now = self.shared.now.load();
        let is_unopened = |root: &SearchedRoot| matches!(root.outcome, RootStatus::Stale(_));
        now.report.roots.iter().any(is_unopened)
            || (0..now.catalog.roots().len()).any(|root| now.catalog.is_stale(root))
    }

    /// Returns the places that settings and skills come from.
    #[cfg(feature = "watch")]
    pub(crate) fn places(&self) -> crate::watch::WatchedPaths {
        let now = self.shared.now.load();
        let environment = &self.shared.host.environment;
        // What nobody trusted is not followed: it could be anything, and no model is told of it. That it comes, goes or is
        // trusted is seen from above.
        let roots = now.catalog.roots().iter();
        let roots = roots.filter(|root| root.trust() != skillfold_core::Trust::Untrusted);
        let roots = roots.filter_map(|root| root.source().location().map(Path::to_owned));
        let roots: Vec<_> = roots.collect();
        let searched = now.report.roots.iter().map(|root| root.path.clone());
        let mut others: Vec<_> = searched.filter(|path| !roots.contains(path)).collect();
        others.extend(environment.user_settings());
        others.push(environment.project_settings());
        crate::watch::WatchedPaths { roots, others }
    }

    /// Looks again, reads only what changed, and swaps in a new snapshot. Settings are read again too.
    ///
    /// Where settings cannot be followed, or something cannot be looked at just now and skills would be lost by that, the
    /// snapshot stays as it was and the error says why.
    pub fn refresh(&self) -> Result<Changes, Error> {
        let shared = &*self.shared;
        let _one = lock(&shared.refreshing);
        let now_ns = now_ns();
        let old = shared.now.load();
        let before = old.catalog.roots();
        let mut looked = shared.host.look(before)?;
        match looked.takes_trust(before).or(looked.takes_root(before)) {
            Some(fault) => Err(fault),
            None => Ok(shared.refresh(looked.roots, looked.report, now_ns)),
        }
    }

    /// Returns the state of now, after a look at whether the person still trusts what it gives out. Every answer goes
    /// through here: no setting can keep a folder in use that was taken out of the list of trusted folders, and a host
    /// need not watch the files. Trust by settings ends when they are read again.
    fn now(&self) -> Guard<Arc<Snapshot>> {
        let shared = &*self.shared;
        let is_current = |state: &Snapshot| {
            let DiscoveryReport {
                settings,
                trusted,
                trusted_by,
                ..
            } = &*state.report;
            let environment = &shared.host.environment;
            let check = &state.trust_check;
            check.is_current(environment, settings, trusted, trusted_by.as_ref())
        };
        let now = shared.now.load();
        if is_current(&now) {
            return now;
        }
        let _one = lock(&shared.refreshing);
        let now = shared.now.load();
        // Whoever was waited for may have seen it too.
        if is_current(&now) {
            return now;
        }
        let now_ns = now_ns();
        // Settings may be broken by now; that must not keep the trust that they were read with.
        let settings = now.report.settings.clone();
        let mut looked = shared.host.look_by(settings, now.catalog.roots());
        // Trust that cannot be looked at just now is not known to be taken back; the next answer looks again.
        if looked.takes_trust(now.catalog.roots()).is_some() {
            return now;
        }
        let changes = shared.refresh(looked.roots, looked.report, now_ns);
        #[cfg(feature = "watch")]
        merge(&mut lock(&shared.untold), changes);
        #[cfg(not(feature = "watch"))]
        drop(changes);
        shared.now.load()
    }

    /// Looks whether the person still trusts the project, and returns what changed with that since it was asked last.
    #[cfg(feature = "watch")]
    pub(crate) fn changes_of_trust(&self) -> Changes {
        drop(self.now());
        std::mem::take(&mut *lock(&self.shared.untold))
    }
}

impl SkillsInner {
    /// Reads what changed in roots that were found just now, and shows readers the new state.
    fn refresh(&self, roots: Vec<Root>, mut report: DiscoveryReport, now_ns: i64) -> Changes {
        let old = self.now.load();
        #[cfg(feature = "index")]
        report.memory.clone_from(&old.report.memory);
        let refreshed = old
            .catalog
            .refresh(roots, report.settings.catalog_options(), now_ns);
        report.settings.check_patterns(&refreshed.catalog);
        let loader = if report.settings.load_options() == *old.loader.options() {
            old.loader.retain_current(&refreshed.catalog);
            Arc::clone(&old.loader)
        } else {
            loader(&report)
        };
        self.swap(&old, refreshed.catalog, Arc::new(report), loader);
        refreshed.changes
    }

    /// Shows readers another state.
    fn swap(
        &self,
        old: &Snapshot,
        catalog: Catalog,
        report: Arc<DiscoveryReport>,
        loader: Arc<Loader>,
    ) {
        let catalog = Arc::new(catalog);
        let means = self.host.means(&report);
        self.now.store(Arc::new(Snapshot {
            searching: Arc::new(old.searching.next(&catalog, means)),
            catalog,
            report,
            loader,
            matcher: OnceLock::new(),
            earlier: ArcSwapOption::new(old.latest_matcher()),
            trust_check: TrustCheck::default(),
        }));
        self.counting.refreshed();
    }
}

impl Audience {
    /// Returns the skill that an id leads to, if it may be given to this reader.
    fn resolve<'a>(self, catalog: &'a Catalog, id: &str) -> Result<Entry<'a>, Error> {
        match self {
            Self::Model => catalog.resolve_for_model(id),
            Self::Person => catalog.resolve_for_person(id),
        }
    }
}

/// Takes a lock. A thread that panicked under it has swapped nothing in; the next one may try.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds changes to those that were not told yet; each id stands once.
#[cfg(feature = "watch")]
fn merge(untold: &mut Changes, changes: Changes) {
    let Changes {
        added,
        removed,
        changed,
        refused,
        cleared,
        ..
    } = changes;
    for (ids, more) in [
        (&mut untold.added, added),
        (&mut untold.removed, removed),
        (&mut untold.changed, changed),
        (&mut untold.refused, refused),
        (&mut untold.cleared, cleared),
    ] {
        ids.extend(more);
        ids.sort_unstable();
        ids.dedup();
    }
}

/// Returns what loads skills by the settings.
fn loader(report: &DiscoveryReport) -> Arc<Loader> {
    Arc::new(Loader::new(report.settings.load_options(), now_ns))
}
