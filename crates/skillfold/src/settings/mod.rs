//! Settings in layers: defaults, the user's file, the project's file, variables, arguments.

mod hook_mode;
mod line_starts;
mod listing_budget;
mod matching;
mod new_skills;
mod setting;

mod findings;
mod value;

mod tables;

mod agent;
mod approval_requires;
mod identity;
mod root;

mod scalar;

mod key;

mod layer;

mod file;
#[cfg(feature = "store")]
mod write;

mod explain;

use skillfold_core::catalog::{Enablement, canonical, nearest};
use skillfold_core::diagnostic::{Severity, visible};
use skillfold_core::disclose::{LogDetail, SuggestionThresholds, Window};
use skillfold_core::load::Strictness;
use skillfold_core::read::ReadOptions;
use skillfold_core::source::WalkOptions;
use skillfold_core::{
    Agent, Budget, Catalog, CatalogOptions, Code, Diagnostic, Error, ErrorKind, Limits,
    LoadOptions, Policy,
};

use crate::environment::Environment;
use crate::settings::key::Layer;

pub use agent::ConfiguredAgent;
pub use approval_requires::ApprovalRequires;
pub use explain::ExplainedSetting;
pub use hook_mode::HookMode;
pub use identity::ConfiguredIdentity;
pub use key::{KEYS, Key, Settings};
pub use listing_budget::ListingBudget;
pub use matching::Matching;
pub use new_skills::NewSkills;
pub use root::ConfiguredRoot;
pub use setting::{EnablementPattern, Origin, Setting, SettingFinding};
pub(crate) use setting::{finding, setting_error};
#[cfg(feature = "store")]
pub use write::{SettingsFile, create_settings, remove_setting, write_setting};

/// Maximum agents to suggest for an unknown one.
const MAX_AGENT_SUGGESTIONS: usize = 3;

/// Maximum unmatched patterns to report.
const MAX_PATTERN_FINDINGS: usize = 20;
/// The end of the message that counts the other unmatched patterns.
const MORE_PATTERNS_SUFFIX: &str = " more patterns match nothing";

/// The settings of a policy.
const POLICY_KEYS: [&str; 8] = [
    "disclosure",
    "style",
    "listing",
    "matching",
    "max_per_request",
    "breadcrumb",
    "fallback",
    "log_content",
];

impl Settings {
    /// Reads the settings of all layers. Never fails: invalid settings are ignored and reported in the findings.
    pub fn load(environment: &Environment) -> Self {
        Self::load_with(environment, &[], &[])
    }

    /// Reads the settings of all layers, with additional list entries that are not split.
    pub(crate) fn load_with(
        environment: &Environment,
        entries: &[(String, String)],
        arguments: &[(String, String)],
    ) -> Self {
        let layers = [
            file::read_user(environment),
            file::read_project(environment),
            Layer::from_variables(environment),
            Layer::from_arguments(environment, entries, arguments),
        ];
        let mut settings = Self::default();
        if let Some(home) = environment.home_from_system() {
            let home = home.to_string_lossy();
            let message = format!(
                "`HOME` is not set; using the home of the user database: `{}`",
                visible(&home)
            );
            let origin = Origin::Variable("HOME".to_owned());
            let finding = finding(Code::HomeLookedUp, &origin, None, message);
            settings.findings.push(finding);
        }
        for layer in layers {
            settings.apply_layer(layer);
        }
        settings.check_matching();
        settings
    }

    /// Reports an error if semantic matching is set without a model.
    fn check_matching(&mut self) {
        if self.matching.value == Matching::Semantic && self.model.value.is_none() {
            let message = "Setting `matching` is `semantic`, which needs a model: name its folder in `model`, or \
                           set `matching` to `hybrid`";
            let origin = &self.matching.origin;
            let missing = finding(Code::SettingForm, origin, None, message.to_owned());
            self.findings.push(missing);
        }
    }

    /// Returns the catalog options of these settings.
    pub fn catalog_options(&self) -> CatalogOptions {
        let mut enablement = Enablement::default();
        for setting in &self.enablement {
            let EnablementPattern { pattern, toggle } = &setting.value;
            enablement.set(pattern, *toggle);
        }
        CatalogOptions::default()
            .with_read(
                ReadOptions::default().with_walk(
                    WalkOptions::default()
                        .with_hidden(self.hidden.value)
                        .with_limits(Limits::default().with_walk_depth(self.max_depth.value)),
                ),
            )
            .with_precedence(self.precedence.value)
            .with_enablement(enablement)
            .with_version_mismatch(self.version_mismatch.value)
    }

    /// Returns the load options of these settings.
    pub fn load_options(&self) -> LoadOptions {
        LoadOptions::default()
            .with_dialect(self.arguments.value)
            .with_strictness(if self.strict.value {
                Strictness::Strict
            } else {
                Strictness::Lenient
            })
            .with_freshness(self.freshness.value)
            .with_cache_entries(self.cache_entries.value)
            .with_cache_bytes(self.cache_bytes.value)
    }

    /// Returns the disclosure policy of these settings.
    pub fn policy(&self) -> Policy {
        Policy::default()
            .with_mode(self.disclosure.value)
            .with_style(self.style.value)
            .with_catalog(self.listing.value.or(Budget::catalog(Window::Unknown)))
            .with_max_skills(self.max_per_request.value)
            .with_suggestions(match self.matching.value {
                Matching::Keyword => None,
                Matching::Hybrid | Matching::Semantic => Some(SuggestionThresholds::default()),
            })
            .with_breadcrumb(self.breadcrumb.value)
            .with_fallback(self.fallback.value)
            .with_log_detail(if self.log_content.value {
                LogDetail::Content
            } else {
                LogDetail::Names
            })
    }

    /// Returns the disclosure policy of these settings, with some replaced for one conversation: each as `key=value`, as
    /// [`Host::set`](crate::Host::set) takes them.
    pub fn policy_with(
        &self,
        replaced: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Policy, Error> {
        let mut arguments = Vec::new();
        for setting in replaced {
            let setting = setting.as_ref();
            let Some((key, value)) = setting.split_once('=') else {
                return Err(Error::invalid(setting, "it is not of the form key=value"));
            };
            if Key::find(key).is_some() && !POLICY_KEYS.contains(&key) {
                let known = POLICY_KEYS.join(", ");
                let why = format!("a conversation can only set {known}");
                return Err(Error::invalid(key, why));
            }
            arguments.push((key.to_owned(), value.to_owned()));
        }
        // No setting of a policy is a path.
        let layer = Layer::from_arguments(&Environment::new("/"), &[], &arguments);
        let mut settings = self.clone();
        settings.findings.clear();
        settings.apply_layer(layer);
        match settings.findings.first() {
            Some(finding) => {
                let origin = finding.origin.to_string();
                Err(setting_error(&origin, &finding.diagnostic.message))
            }
            None => Ok(settings.policy()),
        }
    }

    /// Reports patterns that match no skill, and unknown skills of agents. For the user's file this is only
    /// informational: it applies to many projects.
    pub(crate) fn check_patterns(&mut self, catalog: &Catalog) {
        // Findings about an earlier catalog may no longer hold.
        self.findings.retain(|finding| {
            let Diagnostic { code, message, .. } = &finding.diagnostic;
            *code != Code::PatternMatchesNothing && !message.ends_with(MORE_PATTERNS_SUFFIX)
        });
        let is_missing = |pattern: &str| match pattern.strip_suffix(":*") {
            Some(qualifier) => {
                let qualifier = canonical(qualifier);
                !catalog.roots().iter().any(|root| {
                    canonical(root.qualifier()) == qualifier
                        || qualifier.parse() == Ok(root.scope())
                })
            }
            None => pattern != "*" && catalog.get(pattern).is_none(),
        };
        let patterns = self.enablement.iter();
        let patterns = patterns
            .map(|setting| (&setting.value.pattern, &setting.origin))
            .filter(|(pattern, _)| is_missing(pattern));
        let used = self.agents.iter().flat_map(|agent| {
            let Setting { value, origin } = &agent.uses_skills;
            value.iter().map(move |id| (id, origin))
        });
        let used = used.filter(|(id, _)| catalog.get(id).is_none());
        let missing: Vec<_> = patterns.chain(used).collect();
        let mut findings = Vec::new();
        // Each suggestion is a search through all skills, so their number is limited against hostile settings.
        for (pattern, origin) in missing.iter().take(MAX_PATTERN_FINDINGS) {
            let message = match catalog.nearest(pattern, 1).first() {
                Some(known) => format!("There is no skill `{pattern}`; did you mean `{known}`?"),
                None => format!("There is no skill `{pattern}`"),
            };
            let code = Code::PatternMatchesNothing;
            let mut finding = finding(code, origin, None, message);
            if matches!(origin, Origin::User(..)) {
                finding.diagnostic.severity = Severity::Info;
            }
            findings.push(finding);
        }
        if let Some((_, origin)) = missing.get(MAX_PATTERN_FINDINGS) {
            let message = format!(
                "{}{MORE_PATTERNS_SUFFIX}",
                missing.len() - MAX_PATTERN_FINDINGS
            );
            findings.push(finding(Code::MoreFindings, origin, None, message));
        }
        self.findings.extend(findings);
    }

    /// Returns what is wrong with the settings of a server over HTTP. It must not start then: an entry of `identities` that is
    /// left out would leave those it fits to the next one.
    pub fn server_problems(&self) -> impl Iterator<Item = &SettingFinding> {
        let starts = ["Setting `server_", "Setting `identities"];
        let findings = self.findings.iter();
        findings.filter(move |it| {
            starts
                .iter()
                .any(|start| it.diagnostic.message.starts_with(start))
        })
    }

    /// Returns an agent by its id; the error suggests the nearest ids.
    pub(crate) fn agent(&self, id: &str) -> Result<Agent, Error> {
        let agent = self.agents.iter().find(|agent| agent.id == id);
        agent.map(ConfiguredAgent::agent).ok_or_else(|| {
            let ids = self.agents.iter().map(|agent| &*agent.id);
            let message = format!("There is no agent `{id}`");
            let hint = "Check the id; `skillfold config` lists the agents";
            Error::new(ErrorKind::NotFound, message, hint).with_nearest(nearest(
                id,
                ids,
                MAX_AGENT_SUGGESTIONS,
            ))
        })
    }
}
