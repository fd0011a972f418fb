//! What a host adds to what is found.

use std::fmt;
use std::sync::{Arc, OnceLock};

use skillfold_core::{Catalog, Code, Diagnostic, Embedder, Error, Root, Scope, Source, Trust};

use crate::environment::{Environment, noting_faults, now_ns};
#[cfg(feature = "index")]
use crate::root_cache;
use crate::roots;
use crate::settings::{Origin, SettingFinding, Settings};
use crate::skills::{DiscoveryReport, Skills};
use crate::snapshot_index::SearchResources;
use crate::trust::{TrustRule, TrustedFolders};

/// What a host adds to what is found: settings, roots, bundled skills.
///
/// ```
/// use skillfold::{Environment, Host};
/// use skillfold::core::MemorySource;
///
/// let bundled = MemorySource::new([("greet/SKILL.md", "---\nname: greet\ndescription: Says hello\n---\nSay hello.\n")]);
/// let skills = Host::new(Environment::new("/nowhere")).bundled("built in", bundled).discover()?;
/// assert_eq!(skills.catalog().get("greet").unwrap().id(), "greet");
/// # Ok::<(), skillfold::core::Error>(())
/// ```
#[derive(Clone)]
pub struct Host {
    pub(crate) environment: Environment,
    entries: Vec<(String, String)>,
    arguments: Vec<(String, String)>,
    roots: Vec<Root>,
    #[cfg(feature = "index")]
    cache: Option<std::path::PathBuf>,
    embedder: Option<Arc<dyn Embedder>>,
}

impl Host {
    /// Creates a host in some surroundings.
    pub fn new(environment: Environment) -> Self {
        Self {
            environment,
            entries: Vec::new(),
            arguments: Vec::new(),
            roots: Vec::new(),
            #[cfg(feature = "index")]
            cache: None,
            embedder: None,
        }
    }

    /// Names a folder for what can be made again: what was read of roots with many skills is kept there, so that the next
    /// start reads only what changed, and so are the words that a search among many skills looks for. Without it nothing is written. The setting `index` switches it off.
    ///
    /// [`Environment::cache_folder`] is the person's. Others must not be able to write to it.
    #[cfg(feature = "index")]
    #[must_use]
    pub fn cache(mut self, folder: impl Into<std::path::PathBuf>) -> Self {
        self.cache = Some(folder.into());
        self
    }

    /// Lets searches compare requests with skills by their meaning too. It wins over the setting `model`; nothing is compared
    /// so without either.
    #[must_use]
    pub fn embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedder = Some(embedder);
        self
    }

    /// Makes a setting that wins over files and variables. The keys are those of a settings file; lists are written as in
    /// a variable.
    #[must_use]
    pub fn set(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.arguments.push((key.into(), value.into()));
        self
    }

    /// Adds one entry to a setting that is a list, as it stands: a path with a colon in it is one path.
    #[must_use]
    pub fn add(mut self, key: impl Into<String>, entry: impl Into<String>) -> Self {
        self.entries.push((key.into(), entry.into()));
        self
    }

    /// Adds a root, which wins over those that are found in the same scope.
    #[must_use]
    pub fn root(mut self, root: Root) -> Self {
        self.roots.push(root);
        self
    }

    /// Adds skills that come with the host, from a folder or from memory.
    #[must_use]
    pub fn bundled(self, label: impl Into<Box<str>>, source: impl Source + 'static) -> Self {
        self.root(Root::new(Scope::Bundled, label, source))
    }

    /// Finds all skills.
    ///
    /// A setting that cannot be followed is an error: what the person switched off must not come on by a slip.
    pub fn discover(self) -> Result<Skills, Error> {
        let now_ns = now_ns();
        let DiscoveredRoots { roots, report, .. } = self.look(&[])?;
        Ok(self.skills(roots, report, now_ns))
    }

    /// Finds all skills whatever is wrong with the settings; what is wrong is left out, and in the report.
    pub fn discover_anyway(self) -> Skills {
        let now_ns = now_ns();
        let DiscoveredRoots { roots, report, .. } = self.look_anyway(&[]);
        self.skills(roots, report, now_ns)
    }

    fn skills(self, roots: Vec<Root>, mut report: DiscoveryReport, now_ns: i64) -> Skills {
        let catalog = self.find(roots, &mut report, now_ns);
        report.settings.check_patterns(&catalog);
        Skills::found(self, catalog, report)
    }

    /// Returns what searches may use.
    pub(crate) fn means(&self, report: &DiscoveryReport) -> Arc<SearchResources> {
        Arc::new(SearchResources {
            #[cfg(feature = "index")]
            cache: self.cache.clone().filter(|_| report.settings.index.value),
            given: self.embedder.clone(),
            model: report.settings.model.value.clone(),
            opened: OnceLock::new(),
        })
    }

    #[cfg(not(feature = "index"))]
    #[expect(
        clippy::unused_self,
        clippy::needless_pass_by_ref_mut,
        reason = "with the feature `index` both are used"
    )]
    fn find(&self, roots: Vec<Root>, report: &mut DiscoveryReport, now_ns: i64) -> Catalog {
        Catalog::discover(roots, report.settings.rules(), now_ns)
    }

    /// Finds all skills, from what is remembered of them where the host has a place for it.
    #[cfg(feature = "index")]
    fn find(&self, roots: Vec<Root>, report: &mut DiscoveryReport, now_ns: i64) -> Catalog {
        let rules = report.settings.catalog_options();
        match &self.cache {
            Some(folder) if report.settings.index.value => {
                let (catalog, memory) = root_cache::discover(folder, roots, rules, now_ns);
                report.memory = memory;
                catalog
            }
            _ => Catalog::discover(roots, rules, now_ns),
        }
    }

    /// Looks for the roots; also returns what could not be looked at just now, and counts as absent.
    pub(crate) fn look(&self, before: &[Root]) -> Result<DiscoveredRoots, Error> {
        let looked = self.look_anyway(before);
        let mut findings = looked.report.settings.findings.iter();
        match (findings.find(|finding| finding.is_fatal()), looked.fault) {
            // It may pass, and is then no fault of the settings.
            (Some(fatal), Some(fault)) if fatal.diagnostic.code == Code::Unavailable => Err(fault),
            (Some(fatal), _) => Err(Error::setting(
                fatal.origin.to_string(),
                fatal.diagnostic.message.clone(),
            )),
            (None, fault) => Ok(DiscoveredRoots { fault, ..looked }),
        }
    }

    fn look_anyway(&self, before: &[Root]) -> DiscoveredRoots {
        let (settings, fault) = noting_faults(|| {
            Settings::load_with(&self.environment, &self.entries, &self.arguments)
        });
        let looked = self.look_by(settings, before);
        DiscoveredRoots {
            fault: fault.or(looked.fault),
            ..looked
        }
    }

    /// Finds the roots by settings that were read before; the list of trusted folders is read now.
    pub(crate) fn look_by(&self, settings: Settings, before: &[Root]) -> DiscoveredRoots {
        let ((mut trusted, rule), trust_fault) = noting_faults(|| {
            let mut trusted = TrustedFolders::load(&self.environment);
            let rule = TrustRule::of(&self.environment, &settings, &mut trusted);
            (trusted, rule)
        });
        let ((found, searched), fault) =
            noting_faults(|| roots::find(&self.environment, &settings, rule.as_ref(), before));
        for fault in trust_fault.iter().chain(&fault) {
            trusted.findings.push(SettingFinding {
                origin: Origin::Default,
                diagnostic: Diagnostic::new(Code::Unavailable, None, fault.with_cause()),
            });
        }
        let roots = self.roots.iter().cloned().chain(found).collect();
        let report = DiscoveryReport {
            settings,
            roots: searched,
            trusted,
            trusted_by: rule,
            #[cfg(feature = "index")]
            memory: Vec::new(),
        };
        DiscoveredRoots {
            roots,
            report,
            fault,
            trust_fault,
        }
    }
}

/// The roots, and what they were found by.
pub(crate) struct DiscoveredRoots {
    pub(crate) roots: Vec<Root>,
    pub(crate) report: DiscoveryReport,
    /// What could not be looked at just now of settings and roots, and counts as absent.
    pub(crate) fault: Option<Error>,
    /// What could not be looked at just now of the person's trust, and counts as none.
    pub(crate) trust_fault: Option<Error>,
}

impl DiscoveredRoots {
    /// Returns the fault by which a root would be lost.
    pub(crate) fn takes_root(&mut self, before: &[Root]) -> Option<Error> {
        let is_there = |was: &Root| self.roots.iter().any(|root| is_same(was, root));
        self.fault.take_if(|_| !before.iter().all(is_there))
    }

    /// Returns the fault by which trust would be lost. Trust that is known to be taken back is no fault, whatever else cannot
    /// be looked at.
    pub(crate) fn takes_trust(&mut self, before: &[Root]) -> Option<Error> {
        let is_less = |was: &Root, root: &Root| {
            is_same(was, root) && was.trust() != root.trust() && root.trust() != Trust::Trusted
        };
        let is_trusted = |was: &Root| !self.roots.iter().any(|root| is_less(was, root));
        self.trust_fault.take_if(|_| !before.iter().all(is_trusted))
    }
}

/// Returns whether two roots are of one place. Labels do not tell: a catalog numbers those that are alike.
fn is_same(was: &Root, root: &Root) -> bool {
    was.source().location() == root.source().location()
        && was.scope() == root.scope()
        && was.plugin_name() == root.plugin_name()
}

impl fmt::Debug for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Host")
            .field("environment", &self.environment)
            .field("entries", &self.entries)
            .field("arguments", &self.arguments)
            .field("roots", &self.roots)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use skillfold_core::MemorySource;

    use super::*;

    /// Returns what is found where the project was trusted before and is not now.
    fn revoked() -> (Vec<Root>, DiscoveredRoots) {
        let root = |trust| {
            let source = MemorySource::new([("a/SKILL.md", "")]);
            Root::new(Scope::Project, "app", source).with_trust(trust)
        };
        let mut looked = Host::new(Environment::new("/nowhere")).look_anyway(&[]);
        looked.roots = vec![root(Trust::Untrusted)];
        (vec![root(Trust::Trusted)], looked)
    }

    #[test]
    fn trust_that_is_taken_back_ends_whatever_else_cannot_be_looked_at() {
        let (before, mut looked) = revoked();
        looked.fault = Some(Error::not_found("a root of a disk that is gone"));
        assert!(looked.takes_trust(&before).is_none());
        assert!(looked.takes_root(&before).is_none());
    }

    #[test]
    fn trust_that_cannot_be_looked_at_just_now_stays() {
        let (before, mut looked) = revoked();
        looked.trust_fault = Some(Error::not_found("the list"));
        assert!(looked.takes_trust(&before).is_some());
    }

    #[test]
    fn root_that_cannot_be_looked_at_just_now_is_not_lost() {
        let (before, mut looked) = revoked();
        looked.fault = Some(Error::not_found("the root"));
        looked.roots.clear();
        assert!(looked.takes_root(&before).is_some());
    }
}
