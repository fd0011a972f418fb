//! Settings in layers: defaults, the person's file, the project's file, variables, arguments.

mod agent;
mod file;
mod key;
mod lines;
mod root;
mod value;

pub(crate) mod layer;

#[cfg(feature = "store")]
mod write;

use std::fmt;
use std::path::PathBuf;

use skillfold_core::{
    Agent, Breadcrumb, Catalog, CatalogOptions, Code, Diagnostic, Dialect, Enablement, Error,
    Fallback, Freshness, HiddenPolicy, Limits, LinkPolicy, LoadOptions, LogDetail, Mode, Policy,
    Precedence, Profile, ReadOptions, Scope, Severity, Strictness, Style, SuggestionThresholds,
    Toggle, WalkOptions, canonical, nearest, visible,
};

use crate::environment::Environment;
use crate::settings::layer::Layer;

pub use agent::ConfiguredAgent;
pub use key::{KEYS, Key};
#[cfg(feature = "store")]
pub use write::{SettingsFile, write_setting};

/// Where a setting was made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// Nowhere; it is as it comes.
    Default,
    /// In the person's file, at a line.
    User(PathBuf, u32),
    /// In the project's file, at a line.
    Project(PathBuf, u32),
    /// By a variable.
    Variable(String),
    /// By an argument or by the host.
    Argument,
    /// In the person's list of trusted folders, at a line.
    TrustList(PathBuf, u32),
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::User(path, line) | Self::Project(path, line) | Self::TrustList(path, line) => {
                write!(formatter, "{}:{line}", visible(&path.to_string_lossy()))
            }
            Self::Variable(name) => formatter.write_str(name),
            Self::Argument => formatter.write_str("argument"),
        }
    }
}

/// Agents that the answer to an unknown one names.
const AGENTS_MEANT: usize = 3;

/// Patterns that switch nothing and are reported.
const PATTERNS: usize = 20;
/// The end of the message about the rest.
const MORE_PATTERNS: &str = " more patterns match nothing";
/// Seconds between two looks for changes, where nobody says otherwise.
const POLL_SECONDS: usize = 5;

/// A value, and where it was set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a setting is a value and an origin"
)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Where it was set.
    pub origin: Origin,
}

impl<T> Setting<T> {
    fn default(value: T) -> Self {
        Self {
            value,
            origin: Origin::Default,
        }
    }
}

/// How a message is matched against skills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Matching {
    /// By triggers alone: nothing is searched, and saying a name asks for no skill.
    Keyword,
    /// By triggers and names, and by what it is about: by words, and by meaning where there is a model.
    #[default]
    Hybrid,
    /// The same; without a model that is an error.
    Semantic,
}

impl Matching {
    /// Each with the word for it.
    pub(crate) const ALL: [(&'static str, Self); 3] = [
        ("keyword", Self::Keyword),
        ("hybrid", Self::Hybrid),
        ("semantic", Self::Semantic),
    ];

    pub(crate) fn as_str(self) -> &'static str {
        let known = Self::ALL.iter().find(|(_, matching)| *matching == self);
        known.map_or("hybrid", |(word, _)| word)
    }
}

/// A root that settings name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfiguredRoot {
    /// Its path, whole.
    pub path: PathBuf,
    /// Where its skills belong.
    pub scope: Scope,
    /// The plugin that it is of.
    pub plugin: Option<skillfold_core::PluginName>,
}

/// Something that is wrong with a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingFinding {
    /// Where the setting was made.
    pub origin: Origin,
    /// What is wrong with it.
    pub diagnostic: Diagnostic,
}

impl SettingFinding {
    /// Returns whether the person said something that cannot be done. What a project says wrong is left out and is no
    /// reason to stop.
    pub fn is_fatal(&self) -> bool {
        let is_of_project = matches!(self.origin, Origin::Project(..));
        // What a file says that cannot be read just now is not known, and not nothing.
        let is_unknown = self.diagnostic.code == Code::Unavailable;
        self.diagnostic.severity == Severity::Error && (!is_of_project || is_unknown)
    }
}

/// The settings of all layers together, with the origin of each.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// Which scope wins a name.
    pub precedence: Setting<Precedence>,
    /// Roots beside the default ones, the last layer's first.
    pub roots: Vec<Setting<ConfiguredRoot>>,
    /// Whether the default roots are searched.
    pub default_roots: Setting<bool>,
    /// Which skills are on and off, in the order of the layers.
    pub enablement: Vec<Setting<(String, Toggle)>>,
    /// Folders whose projects are trusted.
    pub trusted: Vec<Setting<PathBuf>>,
    /// Whether the project is trusted, whichever it is.
    pub trust_project: Setting<bool>,
    /// What is done with links to folders.
    pub links: Setting<LinkPolicy>,
    /// How hidden folders are treated.
    pub hidden: Setting<HiddenPolicy>,
    /// Folders between a root and a skill.
    pub max_depth: Setting<usize>,
    /// How strictly skills are judged.
    pub profile: Setting<Profile>,
    /// Which argument placeholders instructions may use.
    pub arguments: Setting<Dialect>,
    /// Whether loading refuses a skill that needed repair.
    pub strict: Setting<bool>,
    /// How changes to a loaded file are detected.
    pub freshness: Setting<Freshness>,
    /// Cached texts.
    pub cache_entries: Setting<usize>,
    /// Maximum bytes of cached instructions.
    pub cache_bytes: Setting<usize>,
    /// How skills are disclosed to a model.
    pub disclosure: Setting<Mode>,
    /// How it is written.
    pub style: Setting<Style>,
    /// How a message is matched.
    pub matching: Setting<Matching>,
    /// The folder of the model that compares texts by their meaning.
    pub model: Setting<Option<PathBuf>>,
    /// Maximum skills loaded for one request.
    pub max_per_request: Setting<usize>,
    /// Whether a model is told the number of skills when nothing matches.
    pub breadcrumb: Setting<Breadcrumb>,
    /// What a model is told when nothing matches.
    pub fallback: Setting<Fallback>,
    /// Whether logs hold requests and what models are told.
    pub log_content: Setting<bool>,
    /// Whether file changes are followed by system notifications.
    pub watch: Setting<bool>,
    /// Seconds between scans where notifications are not available; 0 for never.
    pub poll_seconds: Setting<usize>,
    /// Whether what was read of many skills is kept on disk for the next start.
    pub index: Setting<bool>,
    /// Agents, in the order in which they are written.
    pub agents: Vec<ConfiguredAgent>,
    /// What is wrong with the settings.
    pub findings: Vec<SettingFinding>,
}

impl Settings {
    /// Reads the settings of all layers. Never fails: what is wrong is in the findings, and left out.
    pub fn load(environment: &Environment, arguments: &[(String, String)]) -> Self {
        Self::load_with(environment, &[], arguments)
    }

    /// Reads them with entries that are added to lists as they stand.
    pub(crate) fn load_with(
        environment: &Environment,
        entries: &[(String, String)],
        arguments: &[(String, String)],
    ) -> Self {
        let layers = [
            file::user(environment),
            file::project(environment),
            Layer::of_variables(environment),
            Layer::of_arguments(environment, entries, arguments),
        ];
        let mut settings = Self::default();
        if let Some(home) = environment.looked_up_home() {
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
            settings.add(layer);
        }
        settings.check_matching();
        settings
    }

    /// Puts a layer over those before it: single values replace, lists grow.
    fn add(&mut self, layer: Layer) {
        fn put<T>(setting: &mut Setting<T>, new: Option<Setting<T>>) {
            if let Some(new) = new {
                *setting = new;
            }
        }
        put(&mut self.precedence, layer.precedence);
        put(&mut self.default_roots, layer.default_roots);
        put(&mut self.trust_project, layer.trust_project);
        put(&mut self.links, layer.links);
        put(&mut self.hidden, layer.hidden);
        put(&mut self.max_depth, layer.max_depth);
        put(&mut self.profile, layer.profile);
        put(&mut self.arguments, layer.arguments);
        put(&mut self.strict, layer.strict);
        put(&mut self.log_content, layer.log_content);
        put(&mut self.watch, layer.watch);
        put(&mut self.poll_seconds, layer.poll_seconds);
        put(&mut self.index, layer.index);
        put(&mut self.freshness, layer.freshness);
        put(&mut self.cache_entries, layer.cache_entries);
        put(&mut self.cache_bytes, layer.cache_bytes);
        put(&mut self.disclosure, layer.disclosure);
        put(&mut self.style, layer.style);
        put(&mut self.matching, layer.matching);
        put(&mut self.model, layer.model);
        put(&mut self.max_per_request, layer.max_per_request);
        put(&mut self.breadcrumb, layer.breadcrumb);
        put(&mut self.fallback, layer.fallback);
        self.roots.splice(..0, layer.roots);
        self.trusted.extend(layer.trusted);
        self.enablement.extend(layer.enablement);
        self.agents.extend(layer.agents);
        if let (Some(last), 1..) = (layer.findings.last(), layer.unlisted) {
            let message = format!("{} more findings are not listed", layer.unlisted);
            let more = finding(Code::MoreFindings, &last.origin, None, message);
            self.findings.extend(layer.findings);
            self.findings.push(more);
        } else {
            self.findings.extend(layer.findings);
        }
    }

    /// Reports that there is no model to match by.
    fn check_matching(&mut self) {
        if self.matching.value == Matching::Semantic && self.model.value.is_none() {
            let message = "Setting `matching` is `semantic`, which needs a model: name its folder in `model`, or \
                           set `matching` to `hybrid`";
            let origin = &self.matching.origin;
            let missing = finding(Code::SettingForm, origin, None, message.to_owned());
            self.findings.push(missing);
        }
    }

    /// Returns how a catalog is made by these settings.
    pub fn catalog_options(&self) -> CatalogOptions {
        let mut enablement = Enablement::default();
        for setting in &self.enablement {
            let (pattern, choice) = &setting.value;
            enablement.set(pattern, *choice);
        }
        CatalogOptions {
            read: ReadOptions {
                walk: WalkOptions {
                    hidden: self.hidden.value,
                    limits: Limits {
                        walk_depth: self.max_depth.value,
                        ..Limits::default()
                    },
                    ..WalkOptions::default()
                },
                ..ReadOptions::default()
            },
            precedence: self.precedence.value,
            enablement,
        }
    }

    /// Returns how skills are loaded by these settings.
    pub fn load_options(&self) -> LoadOptions {
        LoadOptions {
            dialect: self.arguments.value,
            strictness: if self.strict.value {
                Strictness::Strict
            } else {
                Strictness::Lenient
            },
            freshness: self.freshness.value,
            cache_entries: self.cache_entries.value,
            cache_bytes: self.cache_bytes.value,
        }
    }

    /// Returns what a model is told by these settings.
    pub fn policy(&self) -> Policy {
        Policy {
            mode: self.disclosure.value,
            style: self.style.value,
            max_skills: self.max_per_request.value,
            suggesting: match self.matching.value {
                Matching::Keyword => None,
                Matching::Hybrid | Matching::Semantic => Some(SuggestionThresholds::default()),
            },
            breadcrumb: self.breadcrumb.value,
            fallback: self.fallback.value,
            logged: if self.log_content.value {
                LogDetail::Content
            } else {
                LogDetail::Names
            },
            ..Policy::default()
        }
    }

    /// Reports the patterns that switch on or off what is not there, and skills of agents that are not there. What is in the user's file is for many projects, and
    /// only good to know in one.
    pub(crate) fn check_patterns(&mut self, catalog: &Catalog) {
        // What an earlier catalog did not have, this one may.
        self.findings.retain(|finding| {
            let Diagnostic { code, message, .. } = &finding.diagnostic;
            *code != Code::PatternMatchesNothing && !message.ends_with(MORE_PATTERNS)
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
        // What may be meant is looked for among all skills, and not for a hostile number of patterns.
        for (pattern, origin) in missing.iter().take(PATTERNS) {
            let message = match catalog.nearest(pattern, 1).first() {
                Some(meant) => format!("There is no skill `{pattern}`; did you mean `{meant}`?"),
                None => format!("There is no skill `{pattern}`"),
            };
            let code = Code::PatternMatchesNothing;
            let mut finding = finding(code, origin, None, message);
            if matches!(origin, Origin::User(..)) {
                finding.diagnostic.severity = Severity::Info;
            }
            findings.push(finding);
        }
        if let Some((_, origin)) = missing.get(PATTERNS) {
            let message = format!("{}{MORE_PATTERNS}", missing.len() - PATTERNS);
            findings.push(finding(Code::MoreFindings, origin, None, message));
        }
        self.findings.extend(findings);
    }

    /// Returns each setting as text with its origin, in the order of the keys. A list has a row for each entry, and one
    /// without a value where it is empty.
    pub fn explain(&self) -> Vec<(String, Option<String>, Origin)> {
        KEYS.iter().flat_map(|key| key.rows(self)).collect()
    }

    /// Returns an agent by its id; the error names the nearest ids.
    pub(crate) fn agent(&self, id: &str) -> Result<Agent, Error> {
        let agent = self.agents.iter().find(|agent| agent.id == id);
        agent.map(ConfiguredAgent::agent).ok_or_else(|| {
            let ids = self.agents.iter().map(|agent| &*agent.id);
            Error::no_agent(id, nearest(id, ids, AGENTS_MEANT))
        })
    }
}

impl Default for Settings {
    fn default() -> Self {
        let (loading, policy) = (LoadOptions::default(), Policy::default());
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
            arguments: Setting::default(loading.dialect),
            strict: Setting::default(loading.strictness == Strictness::Strict),
            log_content: Setting::default(policy.logged == LogDetail::Content),
            watch: Setting::default(true),
            poll_seconds: Setting::default(POLL_SECONDS),
            index: Setting::default(true),
            freshness: Setting::default(loading.freshness),
            cache_entries: Setting::default(loading.cache_entries),
            cache_bytes: Setting::default(loading.cache_bytes),
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

/// Creates a finding about a setting.
fn finding(
    code: Code,
    origin: &Origin,
    span: impl Into<Option<skillfold_core::Span>>,
    message: String,
) -> SettingFinding {
    SettingFinding {
        origin: origin.clone(),
        diagnostic: Diagnostic::new(code, span, message),
    }
}
