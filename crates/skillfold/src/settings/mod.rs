//! Settings in layers: defaults, the user's file, the project's file, variables, arguments.

mod key;
mod line_starts;
mod matching;
mod setting;

mod findings;
mod value;

mod agent;
mod root;

mod layer;

mod file;
#[cfg(feature = "store")]
mod write;

mod explain;

use std::path::PathBuf;

use skillfold_core::catalog::{Enablement, Precedence, Toggle, canonical, nearest};
use skillfold_core::diagnostic::{Severity, visible};
use skillfold_core::disclose::{
    Breadcrumb, Fallback, LogDetail, Mode, Style, SuggestionThresholds,
};
use skillfold_core::load::{Dialect, Freshness, Strictness};
use skillfold_core::read::{Profile, ReadOptions};
use skillfold_core::source::{HiddenPolicy, LinkPolicy, WalkOptions};
use skillfold_core::{
    Agent, Catalog, CatalogOptions, Code, Diagnostic, Error, ErrorKind, Limits, LoadOptions, Policy,
};

use crate::environment::Environment;
use crate::settings::layer::Layer;
use crate::settings::setting::finding;

pub use agent::ConfiguredAgent;
pub use key::{KEYS, Key};
pub use matching::Matching;
pub use root::ConfiguredRoot;
pub(crate) use setting::setting_error;
pub use setting::{Origin, Setting, SettingFinding};
#[cfg(feature = "store")]
pub use write::{SettingsFile, write_setting};

/// Maximum agents to suggest for an unknown one.
const MAX_AGENT_SUGGESTIONS: usize = 3;

/// Maximum unmatched patterns to report.
const MAX_PATTERN_FINDINGS: usize = 20;
/// The end of the message that counts the other unmatched patterns.
const MORE_PATTERNS_SUFFIX: &str = " more patterns match nothing";
/// The default seconds between two rescans.
const DEFAULT_POLL_SECONDS: usize = 5;

/// The merged settings of all layers, each with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// Which scope takes precedence for a name.
    pub precedence: Setting<Precedence>,
    /// Roots in addition to the default ones, those of the last layer first.
    pub roots: Vec<Setting<ConfiguredRoot>>,
    /// Whether the default roots are searched.
    pub default_roots: Setting<bool>,
    /// Patterns that turn skills on or off, in layer order.
    pub enablement: Vec<Setting<(String, Toggle)>>,
    /// Folders whose projects are trusted.
    pub trusted: Vec<Setting<PathBuf>>,
    /// Whether the current project is trusted, whichever it is.
    pub trust_project: Setting<bool>,
    /// How links to folders are treated.
    pub links: Setting<LinkPolicy>,
    /// How folders whose name starts with a dot are treated.
    pub hidden: Setting<HiddenPolicy>,
    /// Maximum depth of a skill's folder below its root.
    pub max_depth: Setting<usize>,
    /// How strictly skills are checked.
    pub profile: Setting<Profile>,
    /// The placeholder syntax for arguments in instructions.
    pub arguments: Setting<Dialect>,
    /// Whether to refuse to load skills that needed repair.
    pub strict: Setting<bool>,
    /// How changes to a loaded file are noticed.
    pub freshness: Setting<Freshness>,
    /// Maximum texts in the instruction cache.
    pub cache_entries: Setting<usize>,
    /// Maximum bytes of all texts in the instruction cache.
    pub cache_bytes: Setting<usize>,
    /// How skills are disclosed to a model.
    pub disclosure: Setting<Mode>,
    /// The format of the text for a model.
    pub style: Setting<Style>,
    /// How a message is matched.
    pub matching: Setting<Matching>,
    /// The folder of the embedding model.
    pub model: Setting<Option<PathBuf>>,
    /// Maximum skills whose instructions one request adds.
    pub max_per_request: Setting<usize>,
    /// Whether a model is told the number of skills if nothing matches.
    pub breadcrumb: Setting<Breadcrumb>,
    /// What a model is told if nothing matches.
    pub fallback: Setting<Fallback>,
    /// Whether logs contain requests and the text given to models.
    pub log_content: Setting<bool>,
    /// Whether a watcher uses the system's change notifications.
    pub watch: Setting<bool>,
    /// Seconds between two rescans where there are no notifications; 0 turns rescans off.
    pub poll_seconds: Setting<usize>,
    /// Whether metadata and search indexes of large catalogs are cached on disk.
    pub index: Setting<bool>,
    /// Agents, in file order.
    pub agents: Vec<ConfiguredAgent>,
    /// Problems with the settings.
    pub findings: Vec<SettingFinding>,
}

impl Settings {
    /// Reads the settings of all layers. Never fails: invalid settings are ignored and reported in the findings.
    pub fn load(environment: &Environment, arguments: &[(String, String)]) -> Self {
        Self::load_with(environment, &[], arguments)
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
                "`HOME` is not set; the home that the system knows is used: `{}`",
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

    /// Applies a layer on top of the previous ones: single values are replaced, lists are extended.
    fn apply_layer(&mut self, layer: Layer) {
        fn override_with<T>(setting: &mut Setting<T>, new: Option<Setting<T>>) {
            if let Some(new) = new {
                *setting = new;
            }
        }
        override_with(&mut self.precedence, layer.precedence);
        override_with(&mut self.default_roots, layer.default_roots);
        override_with(&mut self.trust_project, layer.trust_project);
        override_with(&mut self.links, layer.links);
        override_with(&mut self.hidden, layer.hidden);
        override_with(&mut self.max_depth, layer.max_depth);
        override_with(&mut self.profile, layer.profile);
        override_with(&mut self.arguments, layer.arguments);
        override_with(&mut self.strict, layer.strict);
        override_with(&mut self.log_content, layer.log_content);
        override_with(&mut self.watch, layer.watch);
        override_with(&mut self.poll_seconds, layer.poll_seconds);
        override_with(&mut self.index, layer.index);
        override_with(&mut self.freshness, layer.freshness);
        override_with(&mut self.cache_entries, layer.cache_entries);
        override_with(&mut self.cache_bytes, layer.cache_bytes);
        override_with(&mut self.disclosure, layer.disclosure);
        override_with(&mut self.style, layer.style);
        override_with(&mut self.matching, layer.matching);
        override_with(&mut self.model, layer.model);
        override_with(&mut self.max_per_request, layer.max_per_request);
        override_with(&mut self.breadcrumb, layer.breadcrumb);
        override_with(&mut self.fallback, layer.fallback);
        self.roots.splice(..0, layer.roots);
        self.trusted.extend(layer.trusted);
        self.enablement.extend(layer.enablement);
        self.agents.extend(layer.agents);
        self.findings.extend(layer.findings.finish());
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
            let (pattern, toggle) = &setting.value;
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
            .map(|setting| (&setting.value.0, &setting.origin))
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

impl Default for Settings {
    fn default() -> Self {
        let (load_options, policy) = (LoadOptions::default(), Policy::default());
        Self {
            precedence: Setting::default(Precedence::default()),
            roots: Vec::new(),
            default_roots: Setting::default(true),
            enablement: Vec::new(),
            trusted: Vec::new(),
            trust_project: Setting::default(false),
            links: Setting::default(LinkPolicy::default()),
            hidden: Setting::default(HiddenPolicy::default()),
            max_depth: Setting::default(Limits::default().walk_depth),
            profile: Setting::default(Profile::default()),
            arguments: Setting::default(load_options.dialect),
            strict: Setting::default(load_options.strictness == Strictness::Strict),
            log_content: Setting::default(policy.log_detail == LogDetail::Content),
            watch: Setting::default(true),
            poll_seconds: Setting::default(DEFAULT_POLL_SECONDS),
            index: Setting::default(true),
            freshness: Setting::default(load_options.freshness),
            cache_entries: Setting::default(load_options.cache_entries),
            cache_bytes: Setting::default(load_options.cache_bytes),
            disclosure: Setting::default(policy.mode),
            style: Setting::default(policy.style),
            matching: Setting::default(Matching::default()),
            model: Setting::default(None),
            max_per_request: Setting::default(policy.max_skills),
            breadcrumb: Setting::default(policy.breadcrumb),
            fallback: Setting::default(policy.fallback),
            agents: Vec::new(),
            findings: Vec::new(),
        }
    }
}
