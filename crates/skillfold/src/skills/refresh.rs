//! How the handle gets a new snapshot: by a refresh of everything, of some folders, or because trust changed.

#[cfg(feature = "watch")]
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use arc_swap::ArcSwapOption;
use skillfold_core::catalog::Changes;
use skillfold_core::{Catalog, Error, Loader, Root};

use crate::discovery::report::DiscoveryReport;
use crate::discovery::roots::{RootStatus, SearchedRoot};
use crate::environment;
#[cfg(feature = "watch")]
use crate::skills::watched_paths::WatchedPaths;
use crate::skills::{Skills, SkillsInner, Snapshot, lock, new_loader};
use crate::trust::check::TrustCheck;
use crate::trust::trusted::TrustRule;

impl Skills {
    /// Refreshes only the folders that `choose` returns, without reading the settings again. Falls back to a full
    /// [`refresh`](Self::refresh) if it returns `None` or if those folders are not enough to tell what changed.
    #[cfg(feature = "watch")]
    pub(crate) fn refresh_folders(
        &self,
        choose: impl FnOnce(&Catalog) -> Option<Vec<(usize, String)>>,
    ) -> Result<Changes, Error> {
        let inner = &*self.inner;
        // Only a full refresh looks at everything that is in a pinned folder.
        if let Some(TrustRule::Pinned(_)) = inner.current.load().report.trusted_by {
            return self.refresh();
        }
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
        found.keep_trusted_skills(&old.report.trusted_skills);
        match found
            .take_trust_fault(before)
            .or(found.take_root_fault(before))
        {
            Some(fault) => Err(fault),
            None => Ok(inner.refresh(found.roots, found.report, now)),
        }
    }

    /// Checks that the user still trusts what the current snapshot serves, and swaps in one without the rest.
    /// A folder that was removed from one of the lists is out of use then, whatever the settings say. Trust given by
    /// settings ends when they are read again.
    ///
    /// [`refresh`](Self::refresh), a turn, the watcher and whatever gives content, such as [`load`](Self::load), call it.
    /// A host that only reads [`catalog`](Self::catalog) calls it when that matters. It reads small files, at most every
    /// 200 ms, and waits for a refresh only if trust changed.
    pub fn check_trust(&self) {
        let inner = &*self.inner;
        let is_current = |snapshot: &Snapshot| {
            let DiscoveryReport {
                settings,
                trusted,
                rule_by_path,
                trusted_skills,
                ..
            } = &*snapshot.report;
            let environment = &inner.host.environment;
            let check = &snapshot.trust_check;
            check.is_current(|| {
                // The rule is found anew, because a folder that replaced a trusted one is not trusted.
                let rule = || TrustRule::find(environment, settings, &mut trusted.clone());
                trusted.is_unchanged() && trusted_skills.is_unchanged() && rule() == *rule_by_path
            })
        };
        let current = inner.current.load();
        if is_current(&current) {
            return;
        }
        let _guard = lock(&inner.refresh_lock);
        let current = inner.current.load();
        // The previous holder of the lock may have noticed it too.
        if is_current(&current) {
            return;
        }
        let now = environment::now();
        // The settings are not read again: a settings file that is broken by now must not keep old trust alive.
        let settings = current.report.settings.clone();
        let mut found = inner
            .host
            .find_roots_with(settings, current.catalog.roots());
        found.keep_trusted_skills(&current.report.trusted_skills);
        // If the trust list cannot be read just now, trust is not known to be revoked; the next answer checks again.
        if found.take_trust_fault(current.catalog.roots()).is_some() {
            return;
        }
        let changes = inner.refresh(found.roots, found.report, now);
        #[cfg(feature = "watch")]
        merge_changes(&mut lock(&inner.unreported), changes);
        #[cfg(not(feature = "watch"))]
        drop(changes);
    }

    /// Checks whether the user still trusts the project, and returns the changes caused by trust since the last call.
    #[cfg(feature = "watch")]
    pub(crate) fn take_trust_changes(&self) -> Changes {
        self.check_trust();
        std::mem::take(&mut *lock(&self.inner.unreported))
    }
}

impl SkillsInner {
    /// Reads what changed in `roots` and publishes a new snapshot. The caller holds the refresh lock.
    fn refresh(&self, roots: Vec<Root>, mut report: DiscoveryReport, now: SystemTime) -> Changes {
        let old = self.current.load();
        #[cfg(feature = "index")]
        report.root_caches.clone_from(&old.report.root_caches);
        let refreshed = old.catalog.refresh(roots, report.catalog_options(), now);
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
            answers: Arc::default(),
            project_words: OnceLock::new(),
        }));
        self.counters.count_refresh();
    }
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
