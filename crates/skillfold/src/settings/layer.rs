//! One layer of settings: those of one file, of the variables, or of the arguments.

use std::path::PathBuf;

use skillfold_core::catalog::{Precedence, Toggle, nearest};
use skillfold_core::diagnostic::Severity;
use skillfold_core::disclose::{Breadcrumb, Fallback, Mode, Style};
use skillfold_core::load::{Dialect, Freshness};
use skillfold_core::read::Profile;
use skillfold_core::source::{HiddenPolicy, LinkPolicy};
use skillfold_core::{Code, Scope};

use crate::environment::{Environment, NO_HOME_LOOKUP_VARIABLE, SETTINGS_VARIABLE, TOKEN_VARIABLE};
use crate::settings::agent::{self, ConfiguredAgent};
use crate::settings::findings::LayerFindings;
use crate::settings::key::{KEYS, Key, KeyId, SetBy};
use crate::settings::matching::Matching;
use crate::settings::root::{self, ConfiguredRoot};
use crate::settings::setting::{Origin, Setting, SettingFinding, finding};
use crate::settings::value::{RawValue, ValueContext, one_of};

/// The settings of one layer.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    pub(super) precedence: Option<Setting<Precedence>>,
    pub(super) roots: Vec<Setting<ConfiguredRoot>>,
    pub(super) default_roots: Option<Setting<bool>>,
    pub(super) enablement: Vec<Setting<(String, Toggle)>>,
    pub(super) trusted: Vec<Setting<PathBuf>>,
    pub(super) trust_project: Option<Setting<bool>>,
    pub(super) links: Option<Setting<LinkPolicy>>,
    pub(super) hidden: Option<Setting<HiddenPolicy>>,
    pub(super) max_depth: Option<Setting<usize>>,
    pub(super) profile: Option<Setting<Profile>>,
    pub(super) arguments: Option<Setting<Dialect>>,
    pub(super) strict: Option<Setting<bool>>,
    pub(super) log_content: Option<Setting<bool>>,
    pub(super) watch: Option<Setting<bool>>,
    pub(super) index: Option<Setting<bool>>,
    pub(super) poll_seconds: Option<Setting<usize>>,
    pub(super) freshness: Option<Setting<Freshness>>,
    pub(super) cache_entries: Option<Setting<usize>>,
    pub(super) cache_bytes: Option<Setting<usize>>,
    pub(super) disclosure: Option<Setting<Mode>>,
    pub(super) style: Option<Setting<Style>>,
    pub(super) matching: Option<Setting<Matching>>,
    pub(super) model: Option<Setting<Option<PathBuf>>>,
    pub(super) max_per_request: Option<Setting<usize>>,
    pub(super) breadcrumb: Option<Setting<Breadcrumb>>,
    pub(super) fallback: Option<Setting<Fallback>>,
    pub(super) agents: Vec<ConfiguredAgent>,
    pub(super) findings: LayerFindings,
}

const HIDDEN: [(&str, HiddenPolicy); 2] = [
    ("skip", HiddenPolicy::Skip),
    ("search", HiddenPolicy::Search),
];

const MODES: [(&str, Mode); 3] = [
    ("catalog", Mode::Catalog),
    ("triggered", Mode::Triggered),
    ("hybrid", Mode::Hybrid),
];

const BREADCRUMBS: [(&str, Breadcrumb); 2] = [("on", Breadcrumb::On), ("off", Breadcrumb::Off)];

const SWITCHES: [(&str, bool); 2] = [("on", true), ("off", false)];

const FALLBACKS: [(&str, Fallback); 3] = [
    ("none", Fallback::None),
    ("show_all", Fallback::ShowAll),
    ("ask_user", Fallback::AskUser),
];

/// Maximum roots that a project may configure. Each is a folder that is kept open.
const MAX_PROJECT_ROOTS: usize = 32;

impl Layer {
    pub(crate) fn from_variables(environment: &Environment) -> Self {
        let mut layer = Self::default();
        for (variable, name, text) in environment.setting_variables() {
            let not_settings = [SETTINGS_VARIABLE, TOKEN_VARIABLE, NO_HOME_LOOKUP_VARIABLE];
            // An empty variable counts as unset.
            if not_settings.contains(&variable) || text.trim().is_empty() {
                continue;
            }
            let context = ValueContext {
                environment,
                base: environment.directory(),
                origin: Origin::Variable(variable.to_owned()),
                span: None,
                lines: None,
            };
            layer.set(&name, RawValue::Text(text), &context);
        }
        layer
    }

    /// Reads list entries, which are not split, and settings written as in a variable.
    pub(crate) fn from_arguments(
        environment: &Environment,
        entries: &[(String, String)],
        arguments: &[(String, String)],
    ) -> Self {
        let mut layer = Self::default();
        let entries = entries
            .iter()
            .map(|(name, text)| (name, RawValue::Entry(text)));
        let arguments = arguments
            .iter()
            .map(|(name, text)| (name, RawValue::Text(text)));
        for (name, value) in entries.chain(arguments) {
            let context = ValueContext {
                environment,
                base: environment.directory(),
                origin: Origin::Argument,
                span: None,
                lines: None,
            };
            layer.set(name, value, &context);
        }
        layer
    }

    /// Applies a setting, or reports what is wrong with it.
    pub(super) fn set(&mut self, name: &str, value: RawValue<'_>, context: &ValueContext<'_>) {
        let Some(key) = Key::find(name) else {
            return self.report(unknown_key(name, context));
        };
        if matches!(context.origin, Origin::Project(..)) && key.set_by == SetBy::User {
            let message = format!("A project may not set `{}`", key.name);
            return self.report(finding(
                Code::SettingNotAllowed,
                &context.origin,
                context.span,
                message,
            ));
        }
        if let Err(why) = self.apply(key, value, context) {
            let message = format!("Setting `{}` is not usable: {why}", key.name);
            self.report(finding(
                Code::SettingForm,
                &context.origin,
                context.span,
                message,
            ));
        }
    }

    /// Returns whether it trusts any project.
    pub(super) fn trusts_projects(&self) -> bool {
        let trust_project = self.trust_project.as_ref();
        !self.trusted.is_empty() || trust_project.is_some_and(|setting| setting.value)
    }

    /// Drops the settings that trust projects, and reports why.
    pub(super) fn revoke_trust(&mut self, why: &str) {
        let folder = self
            .trusted
            .first()
            .map(|setting| ("trusted", setting.origin.clone()));
        let project = self.trust_project.take_if(|setting| setting.value);
        let project = project.map(|setting| ("trust_project", setting.origin));
        self.trusted.clear();
        for (name, origin) in folder.into_iter().chain(project) {
            let message = format!("Setting `{name}` is not used: {why}");
            self.report(finding(Code::TrustListUnsafe, &origin, None, message));
        }
    }

    pub(super) fn report(&mut self, finding: SettingFinding) {
        self.findings.push(finding);
    }

    fn apply(
        &mut self,
        key: &Key,
        value: RawValue<'_>,
        context: &ValueContext<'_>,
    ) -> Result<(), String> {
        match key.id {
            KeyId::Precedence => self.precedence = Some(context.setting(read_precedence(value)?)),
            KeyId::DefaultRoots => self.default_roots = Some(context.setting(value.boolean()?)),
            KeyId::TrustProject => self.trust_project = Some(context.setting(value.boolean()?)),
            KeyId::Links => {
                let choices = [
                    ("follow", LinkPolicy::Follow),
                    ("refuse", LinkPolicy::Refuse),
                    ("strict", LinkPolicy::Strict),
                ];
                self.links = Some(context.setting(one_of(value, &choices)?));
            }
            KeyId::Hidden => self.hidden = Some(context.setting(one_of(value, &HIDDEN)?)),
            KeyId::Profile => {
                let choices = [("lenient", Profile::Lenient), ("spec", Profile::Spec)];
                self.profile = Some(context.setting(one_of(value, &choices)?));
            }
            KeyId::Arguments => {
                let choices = Dialect::ALL.map(|dialect| (dialect.as_str(), dialect));
                self.arguments = Some(context.setting(one_of(value, &choices)?));
            }
            KeyId::Strict => self.strict = Some(context.setting(value.boolean()?)),
            KeyId::LogContent => self.log_content = Some(context.setting(value.boolean()?)),
            KeyId::Watch => self.watch = Some(context.setting(one_of(value, &SWITCHES)?)),
            KeyId::Index => self.index = Some(context.setting(one_of(value, &SWITCHES)?)),
            KeyId::PollSeconds => self.poll_seconds = Some(context.setting(value.number()?)),
            KeyId::Freshness => {
                let choices = [
                    ("checked", Freshness::Checked),
                    ("snapshot", Freshness::Snapshot),
                ];
                self.freshness = Some(context.setting(one_of(value, &choices)?));
            }
            KeyId::CacheEntries => self.cache_entries = Some(context.setting(value.number()?)),
            KeyId::CacheBytes => self.cache_bytes = Some(context.setting(value.number()?)),
            KeyId::Disclosure => self.disclosure = Some(context.setting(one_of(value, &MODES)?)),
            KeyId::Style => {
                let choices = Style::ALL.map(|style| (style.as_str(), style));
                self.style = Some(context.setting(one_of(value, &choices)?));
            }
            KeyId::Matching => {
                self.matching = Some(context.setting(one_of(value, &Matching::ALL)?));
            }
            KeyId::Model => {
                let path = context.environment.expand_path(value.text()?, context.base);
                self.model = Some(context.setting(Some(path)));
            }
            KeyId::MaxPerRequest => self.max_per_request = Some(context.setting(value.number()?)),
            KeyId::Breadcrumb => {
                self.breadcrumb = Some(context.setting(one_of(value, &BREADCRUMBS)?));
            }
            KeyId::Fallback => self.fallback = Some(context.setting(one_of(value, &FALLBACKS)?)),
            KeyId::MaxDepth => self.max_depth = Some(context.setting(value.number()?)),
            KeyId::Agents => {
                let agents = agent::read(&mut self.findings, value, context)?;
                self.agents.extend(agents);
            }
            KeyId::Enable => self.add_patterns(value, Toggle::On, context)?,
            KeyId::Disable => self.add_patterns(value, Toggle::Off, context)?,
            KeyId::Trusted => {
                let paths = value.list(PATH_SEPARATOR)?.into_iter();
                let path = |entry: RawValue<'_>| {
                    let path = context.environment.expand_path(entry.text()?, context.base);
                    Ok(context.setting(path))
                };
                self.trusted
                    .extend(paths.map(path).collect::<Result<Vec<_>, String>>()?);
            }
            KeyId::Roots => {
                let roots = value.list(PATH_SEPARATOR)?.into_iter();
                let read = |entry| Ok(context.setting(root::read(entry, context)?));
                let roots = roots.map(read).collect::<Result<Vec<_>, String>>()?;
                let is_project = matches!(context.origin, Origin::Project(..));
                if is_project && self.roots.len() + roots.len() > MAX_PROJECT_ROOTS {
                    return Err(format!("a project names at most {MAX_PROJECT_ROOTS} roots"));
                }
                self.roots.extend(roots);
            }
        }
        Ok(())
    }

    fn add_patterns(
        &mut self,
        value: RawValue<'_>,
        toggle: Toggle,
        context: &ValueContext<'_>,
    ) -> Result<(), String> {
        let patterns = value.list(',')?.into_iter();
        let read = |entry: RawValue<'_>| {
            Ok(context.setting((read_pattern(entry.text()?.trim(), context)?, toggle)))
        };
        self.enablement
            .extend(patterns.map(read).collect::<Result<Vec<_>, String>>()?);
        Ok(())
    }
}

/// Reads a pattern of `enable` or `disable`. A project's pattern applies only to the project's own skills.
fn read_pattern(text: &str, context: &ValueContext<'_>) -> Result<String, String> {
    let stars = text.matches('*').count();
    if stars > 0 && !(stars == 1 && (text == "*" || text.ends_with(":*"))) {
        return Err(format!(
            "`{text}` is not a pattern; `*` stands alone or behind a scope or plugin"
        ));
    }
    if !matches!(context.origin, Origin::Project(..)) {
        return Ok(text.to_owned());
    }
    match text.split_once(':') {
        None => Ok(format!("{}:{text}", Scope::Project)),
        Some((scope, _)) if scope.parse() == Ok(Scope::Project) => Ok(text.to_owned()),
        Some(_) => Err(format!("`{text}` is not the project's own")),
    }
}

/// The separator of paths in a variable.
pub(super) const PATH_SEPARATOR: char = if cfg!(windows) { ';' } else { ':' };

pub(super) fn unknown_key(name: &str, context: &ValueContext<'_>) -> SettingFinding {
    let suggestions = nearest(name, KEYS.iter().map(|key| key.name), 1);
    let message = match suggestions.first() {
        Some(known) => format!("Setting `{name}` is not known; did you mean `{known}`?"),
        None => format!("Setting `{name}` is not known"),
    };
    let mut unknown = finding(Code::UnknownSetting, &context.origin, context.span, message);
    // Whoever types a name expects an effect; a file may be written for an older or newer version.
    if context.origin == Origin::Argument {
        unknown.diagnostic.severity = Severity::Error;
    }
    unknown
}

/// Reads the name of a client's precedence, or a list of scopes in order.
fn read_precedence(value: RawValue<'_>) -> Result<Precedence, String> {
    let scopes = match value.text() {
        Ok(text) => {
            if let Some(preset) = Precedence::preset(text) {
                return Ok(preset);
            }
            RawValue::Text(text).list(',')?
        }
        Err(_) => value.list(',')?,
    };
    let scope = |word: RawValue<'_>| {
        let word = word.text()?;
        word.parse::<Scope>().map_err(|_| {
            let clients = Precedence::PRESETS.iter().map(|(client, _)| *client);
            let words = clients.chain(Scope::ALL.iter().map(|scope| scope.as_str()));
            let words: Vec<_> = words.map(|word| format!("`{word}`")).collect();
            format!("`{word}` is not one of {}", words.join(", "))
        })
    };
    let scopes: Vec<Scope> = scopes.into_iter().map(scope).collect::<Result<_, _>>()?;
    Ok(Precedence::new(&scopes))
}
