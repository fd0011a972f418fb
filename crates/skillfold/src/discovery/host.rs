//! What a host adds before discovery, and the roots that it finds.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use skillfold_core::catalog::{Trust, Versions};
use skillfold_core::search::Embedder;
use skillfold_core::{Catalog, Code, Error, Root, Scope, Source};

use crate::discovery::report::DiscoveryReport;
#[cfg(feature = "index")]
use crate::discovery::root_cache;
use crate::discovery::roots::{self, SearchedRoot};
use crate::environment::{Environment, capture_fault};
use crate::search_index::SearchResources;
#[cfg(feature = "index")]
use crate::search_index::{MIN_DISK_SKILLS, MIN_DISK_SKILLS_ONCE};
use crate::settings::{Origin, Settings, finding, setting_error};
use crate::trust::pins::Pins;
use crate::trust::trusted::{TrustRule, TrustedFolders};
use crate::trust::trusted_skills::TrustedSkillList;

/// Discovers skills, with what the host adds: settings, roots, bundled skills.
///
/// ```
/// use skillfold::{Environment, Host};
/// use skillfold::core::MemorySource;
///
/// let bundled = MemorySource::new([("greet/SKILL.md", "---\nname: greet\ndescription: Says hello\n---\nSay hello.\n")]);
/// let skills = Host::new(Environment::new("/nowhere")).bundled("built in", bundled).discover()?.skills;
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
    cache_folder: Option<std::path::PathBuf>,
    embedder: Option<Arc<dyn Embedder>>,
    preferred: Vec<String>,
    versions: Versions,
    is_for_one_request: bool,
    #[cfg(feature = "store")]
    on_proposal: Option<OnProposal>,
}

/// What a host does when a change is proposed.
#[cfg(feature = "store")]
type OnProposal = Arc<dyn Fn(&Settings, &skillfold_store::Proposal) + Send + Sync>;

impl Host {
    /// Creates a host in an environment.
    pub fn new(environment: Environment) -> Self {
        Self {
            environment,
            entries: Vec::new(),
            arguments: Vec::new(),
            roots: Vec::new(),
            #[cfg(feature = "index")]
            cache_folder: None,
            embedder: None,
            preferred: Vec::new(),
            versions: Versions::default(),
            is_for_one_request: false,
            #[cfg(feature = "store")]
            on_proposal: None,
        }
    }

    /// Calls `tell` with the settings and every change that is proposed, once it is written: to tell a person.
    #[cfg(feature = "store")]
    #[must_use]
    pub fn on_proposal(
        mut self,
        tell: impl Fn(&Settings, &skillfold_store::Proposal) + Send + Sync + 'static,
    ) -> Self {
        self.on_proposal = Some(Arc::new(tell));
        self
    }

    #[cfg(feature = "store")]
    pub(crate) fn tell_of_proposal(
        &self,
        settings: &Settings,
        proposal: &skillfold_store::Proposal,
    ) {
        if let Some(tell) = &self.on_proposal {
            tell(settings, proposal);
        }
    }

    /// Returns the host without its cache on the disk, for skills that are not the real ones.
    #[cfg(feature = "store")]
    pub(crate) fn without_cache(&self) -> Self {
        Self {
            #[cfg(feature = "index")]
            cache_folder: None,
            ..self.clone()
        }
    }

    /// Returns the environment.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Names the program that the skills are used with, such as the host itself, with its version. A skill may state under
    /// `engines` which versions it needs; the setting `version_mismatch` decides about those that do not fit. A program that is
    /// not named here is no mismatch.
    ///
    /// A server of several clients names each one with [`Session::for_client`](crate::Session::for_client).
    #[must_use]
    pub fn client(mut self, name: &str, version: &str) -> Self {
        self.versions = self.versions.with(name, version);
        self
    }

    /// Tells that the process ends after one request. Then fewer skills are worth an index on disk: the next process reads it.
    #[must_use]
    pub fn for_one_request(mut self) -> Self {
        self.is_for_one_request = true;
        self
    }

    /// Sets the cache folder. Metadata of roots with many skills is stored there, so that the next start reads only
    /// what changed, and so is the search index of large catalogs. Without a cache folder nothing is written. The
    /// setting `index` turns the cache off.
    ///
    /// [`Environment::cache_folder`] returns the user's. Other users must not be able to write to the folder.
    #[cfg(feature = "index")]
    #[must_use]
    pub fn cache(mut self, folder: impl Into<std::path::PathBuf>) -> Self {
        self.cache_folder = Some(folder.into());
        self
    }

    /// Sets the embedder that searches use to compare requests with skills by meaning. It takes precedence over the
    /// setting `model`; without either, searches use words alone.
    #[must_use]
    pub fn embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedder = Some(embedder);
        self
    }

    /// Sets the ids of the skills to list first if not all fit, the most important first: such as those that were used
    /// most. Those that the setting `pinned` names come before them.
    #[must_use]
    pub fn prefer(mut self, ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.preferred = ids.into_iter().map(Into::into).collect();
        self
    }

    pub(crate) fn preferred(&self) -> impl Iterator<Item = &str> {
        self.preferred.iter().map(String::as_str)
    }

    /// Sets a setting, overriding files and variables. The keys are those of a settings file; lists are written as in a
    /// variable.
    #[must_use]
    pub fn set(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.arguments.push((key.into(), value.into()));
        self
    }

    /// Adds one entry to a list setting without splitting it: a path that contains a colon stays one path.
    #[must_use]
    pub fn add(mut self, key: impl Into<String>, entry: impl Into<String>) -> Self {
        self.entries.push((key.into(), entry.into()));
        self
    }

    /// Adds a root. It takes precedence over discovered roots of the same scope.
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

    /// Returns the cache folder and embedder that searches may use.
    pub(crate) fn search_resources(&self, report: &DiscoveryReport) -> Arc<SearchResources> {
        Arc::new(SearchResources {
            #[cfg(feature = "index")]
            cache_folder: self
                .cache_folder
                .clone()
                .filter(|_| report.settings.index.value),
            host_embedder: self.embedder.clone(),
            model_folder: report.settings.model.value.clone(),
            opened_model: OnceLock::new(),
            #[cfg(feature = "index")]
            min_disk_skills: if self.is_for_one_request {
                MIN_DISK_SKILLS_ONCE
            } else {
                MIN_DISK_SKILLS
            },
        })
    }

    #[cfg(not(feature = "index"))]
    #[expect(
        clippy::unused_self,
        clippy::needless_pass_by_ref_mut,
        reason = "both are used with the feature `index`"
    )]
    pub(crate) fn build_catalog(
        &self,
        roots: Vec<Root>,
        report: &mut DiscoveryReport,
        now: SystemTime,
    ) -> Catalog {
        Catalog::discover(roots, report.catalog_options(), now)
    }

    /// Discovers all skills, using the cache if the host has one.
    #[cfg(feature = "index")]
    pub(crate) fn build_catalog(
        &self,
        roots: Vec<Root>,
        report: &mut DiscoveryReport,
        now: SystemTime,
    ) -> Catalog {
        let options = report.catalog_options();
        match &self.cache_folder {
            Some(folder) if report.settings.index.value => {
                let (catalog, caches) = root_cache::discover(folder, roots, options, now);
                report.root_caches = caches;
                catalog
            }
            _ => Catalog::discover(roots, options, now),
        }
    }

    /// Reads the settings and finds the roots. Fails on invalid settings. What cannot be read just now counts as
    /// absent, and the result carries the fault.
    pub(crate) fn find_roots(&self, before: &[Root]) -> Result<DiscoveredRoots, Error> {
        let found = self.find_roots_anyway(before);
        let mut findings = found.report.settings.findings.iter();
        match (findings.find(|finding| finding.is_fatal()), found.fault) {
            // The file cannot be read right now. That is a temporary fault, and not invalid settings.
            (Some(fatal), Some(fault)) if fatal.diagnostic.code == Code::Unavailable => Err(fault),
            (Some(fatal), _) => Err(setting_error(
                &fatal.origin.to_string(),
                &fatal.diagnostic.message,
            )),
            (None, fault) => Ok(DiscoveredRoots { fault, ..found }),
        }
    }

    /// Reads the settings and finds the roots, whatever is wrong with the settings.
    pub(crate) fn find_roots_anyway(&self, before: &[Root]) -> DiscoveredRoots {
        let (settings, fault) = capture_fault(|| {
            Settings::load_with(&self.environment, &self.entries, &self.arguments)
        });
        let found = self.find_roots_with(settings, before);
        DiscoveredRoots {
            fault: fault.or(found.fault),
            ..found
        }
    }

    /// Finds and opens the roots, and returns a temporary failure to do so.
    fn open_roots(
        &self,
        settings: &Settings,
        rule: Option<&TrustRule>,
        before: &[Root],
    ) -> (Vec<Root>, Vec<SearchedRoot>, Option<Error>) {
        let ((found, searched), fault) =
            capture_fault(|| roots::find(&self.environment, settings, rule, before));
        (found, searched, fault)
    }

    /// Finds the roots with settings that were read before. The lists of trusted folders and skills are read now.
    pub(crate) fn find_roots_with(&self, settings: Settings, before: &[Root]) -> DiscoveredRoots {
        let ((mut trusted, rule), trust_fault) = capture_fault(|| {
            let mut trusted = TrustedFolders::load(&self.environment);
            let rule = TrustRule::find(&self.environment, &settings, &mut trusted);
            (trusted, rule)
        });
        let (trusted_skills, skills_fault) =
            capture_fault(|| TrustedSkillList::load_for(&self.environment, &settings));
        let (mut found, searched, fault) = self.open_roots(&settings, rule.as_ref(), before);
        let rule_by_path = rule.clone();
        let (rule, pin_fault) = check_pins(rule, &mut trusted, (&mut found, &searched), &settings);
        let trust_fault = trust_fault.or(pin_fault);
        let (found, searched, fault) = if rule == rule_by_path {
            (found, searched, fault)
        } else {
            self.open_roots(&settings, None, before)
        };
        for fault in trust_fault.iter().chain(&skills_fault).chain(&fault) {
            let message = fault.with_cause();
            let finding = finding(Code::Unavailable, &Origin::Default, None, message);
            trusted.findings.push(finding);
        }
        let roots = self.roots.iter().cloned().chain(found).collect();
        let report = DiscoveryReport {
            settings,
            roots: searched,
            trusted,
            trusted_by: rule,
            rule_by_path,
            trusted_skills,
            versions: self.versions.clone(),
            #[cfg(feature = "index")]
            root_caches: Vec::new(),
        };
        DiscoveredRoots {
            roots,
            report,
            fault,
            trust_fault,
            skills_fault,
        }
    }
}

/// Checks a pinned folder against its pins. Returns the rule that still trusts the project, if any, and the error if the
/// folder is temporarily unreadable. Adds changes to the list's findings. If nothing changed, its roots refuse later changes.
fn check_pins(
    rule: Option<TrustRule>,
    trusted: &mut TrustedFolders,
    (roots, searched): (&mut [Root], &[SearchedRoot]),
    settings: &Settings,
) -> (Option<TrustRule>, Option<Error>) {
    let Some(TrustRule::Pinned(folder)) = &rule else {
        return (rule, None);
    };
    let mut folders = trusted.folders.iter();
    let entry = folders.find(|entry| entry.path() == folder && entry.pins().is_some());
    let pins = entry.and_then(|entry| entry.pins()).cloned();
    let pins: Pins = pins.unwrap_or_default();
    let what = match pins.enforce(folder, roots, searched, settings) {
        Ok(changes) => changes,
        Err(error) if error.is_transient() => return (None, Some(error)),
        Err(error) => Some(error.with_cause()),
    };
    match what {
        None => (rule, None),
        Some(what) => {
            trusted.report_changed(folder, &what);
            (None, None)
        }
    }
}

/// The roots, with the report of how they were found.
pub(crate) struct DiscoveredRoots {
    pub(crate) roots: Vec<Root>,
    pub(crate) report: DiscoveryReport,
    /// A temporary failure to read settings or roots. What could not be read counts as absent.
    pub(crate) fault: Option<Error>,
    /// A temporary failure to read the user's trust. What could not be read counts as untrusted.
    pub(crate) trust_fault: Option<Error>,
    /// A temporary failure to read the list of trusted skills. What could not be read counts as held.
    pub(crate) skills_fault: Option<Error>,
}

impl DiscoveredRoots {
    /// Keeps what was read before if the list of trusted skills cannot be read just now.
    pub(crate) fn keep_trusted_skills(&mut self, before: &TrustedSkillList) {
        if self.skills_fault.is_some() {
            self.report.trusted_skills.clone_from(before);
        }
    }

    /// Takes the fault if it would make a root of `before` disappear.
    pub(crate) fn take_root_fault(&mut self, before: &[Root]) -> Option<Error> {
        let is_present = |old: &Root| self.roots.iter().any(|root| is_same_root(old, root));
        self.fault.take_if(|_| !before.iter().all(is_present))
    }

    /// Takes the trust fault if it would make a root of `before` untrusted. Trust that is known to be revoked is not a
    /// fault, whatever else cannot be read.
    pub(crate) fn take_trust_fault(&mut self, before: &[Root]) -> Option<Error> {
        let loses_trust = |old: &Root, root: &Root| {
            is_same_root(old, root) && old.trust() != root.trust() && root.trust() != Trust::Trusted
        };
        let keeps_trust = |old: &Root| !self.roots.iter().any(|root| loses_trust(old, root));
        self.trust_fault
            .take_if(|_| !before.iter().all(keeps_trust))
    }
}

/// Returns whether two roots are the same folder in the same role. Labels cannot be compared: a catalog numbers
/// duplicate labels.
fn is_same_root(one: &Root, other: &Root) -> bool {
    one.source().location() == other.source().location()
        && one.scope() == other.scope()
        && one.plugin_name() == other.plugin_name()
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

    /// Returns the roots of a project that was trusted before and is not now.
    fn revoked() -> (Vec<Root>, DiscoveredRoots) {
        let root = |trust| {
            let source = MemorySource::new([("a/SKILL.md", "")]);
            Root::new(Scope::Project, "app", source).with_trust(trust)
        };
        let mut found = Host::new(Environment::new("/nowhere")).find_roots_anyway(&[]);
        found.roots = vec![root(Trust::Untrusted)];
        (vec![root(Trust::Trusted)], found)
    }

    #[test]
    fn revoked_trust_ends_even_if_other_lookups_fail() {
        let (before, mut found) = revoked();
        found.fault = Some(Error::not_found("a root of a disk that is gone"));
        assert!(found.take_trust_fault(&before).is_none());
        assert!(found.take_root_fault(&before).is_none());
    }

    #[test]
    fn trust_survives_a_transient_lookup_failure() {
        let (before, mut found) = revoked();
        found.trust_fault = Some(Error::not_found("the list"));
        assert!(found.take_trust_fault(&before).is_some());
    }

    #[test]
    fn root_survives_a_transient_lookup_failure() {
        let (before, mut found) = revoked();
        found.fault = Some(Error::not_found("the root"));
        found.roots.clear();
        assert!(found.take_root_fault(&before).is_some());
    }
}
