//! One layer of settings: what one file, the variables or the arguments say.

use std::path::PathBuf;

use skillfold_core::{
    Breadcrumb, Code, Dialect, Fallback, Freshness, HiddenPolicy, LinkPolicy, Mode, Precedence,
    Profile, Scope, Severity, Style, Toggle, nearest,
};

use crate::environment::{Environment, HOME_VARIABLE, SETTINGS_VARIABLE, TOKEN_VARIABLE};
use crate::settings::key::{KEYS, Key, Name, SetBy};
use crate::settings::value::{RawValue, ValuePlace};
use crate::settings::{
    ConfiguredAgent, ConfiguredRoot, Matching, Origin, Setting, SettingFinding, agent, finding,
    root,
};

/// What one layer says.
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
    pub(super) findings: Vec<SettingFinding>,
    /// Findings that are only counted.
    pub(super) unlisted: usize,
}

const MODES: [(&str, Mode); 3] = [
    ("catalog", Mode::Catalog),
    ("triggered", Mode::Triggered),
    ("hybrid", Mode::Hybrid),
];

const BREADCRUMBS: [(&str, Breadcrumb); 2] = [("on", Breadcrumb::On), ("off", Breadcrumb::Off)];

const SWITCH: [(&str, bool); 2] = [("on", true), ("off", false)];

const FALLBACKS: [(&str, Fallback); 3] = [
    ("none", Fallback::None),
    ("show_all", Fallback::ShowAll),
    ("ask_user", Fallback::AskUser),
];

/// Findings that a layer lists one by one.
const FINDINGS: usize = 50;

/// Roots that a project may name: each is a folder that is held open.
const PROJECT_ROOTS: usize = 32;

impl Layer {
    pub(crate) fn of_variables(environment: &Environment) -> Self {
        let mut layer = Self::default();
        for (variable, name, text) in environment.settings() {
            // An empty variable is one that is not set.
            let others = [SETTINGS_VARIABLE, TOKEN_VARIABLE, HOME_VARIABLE];
            let is_other = others.contains(&variable);
            if is_other || text.trim().is_empty() {
                continue;
            }
            let place = ValuePlace {
                environment,
                base: environment.directory(),
                origin: Origin::Variable(variable.to_owned()),
                span: None,
                lines: None,
            };
            layer.set(&name, RawValue::Text(text), &place);
        }
        layer
    }

    /// Reads entries of lists, each as it stands, and settings that are written as in a variable.
    pub(crate) fn of_arguments(
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
        for (name, written) in entries.chain(arguments) {
            let place = ValuePlace {
                environment,
                base: environment.directory(),
                origin: Origin::Argument,
                span: None,
                lines: None,
            };
            layer.set(name, written, &place);
        }
        layer
    }

    /// Takes a setting, or reports what is wrong with it.
    pub(super) fn set(&mut self, name: &str, written: RawValue<'_>, place: &ValuePlace<'_>) {
        let Some(key) = Key::find(name) else {
            return self.report(unknown(name, place));
        };
        if matches!(place.origin, Origin::Project(..)) && key.reach == SetBy::Person {
            let message = format!("A project may not set `{}`", key.name);
            return self.report(finding(
                Code::SettingNotAllowed,
                &place.origin,
                place.span,
                message,
            ));
        }
        if let Err(why) = self.take(key, written, place) {
            let message = format!("Setting `{}` is not usable: {why}", key.name);
            self.report(finding(
                Code::SettingForm,
                &place.origin,
                place.span,
                message,
            ));
        }
    }

    /// Returns whether it trusts a project.
    pub(super) fn trusts(&self) -> bool {
        !self.trusted.is_empty() || self.trust_project.as_ref().is_some_and(|one| one.value)
    }

    /// Leaves out what trusts a project, and reports why.
    pub(super) fn trust_nothing(&mut self, why: &str) {
        let folder = self
            .trusted
            .first()
            .map(|one| ("trusted", one.origin.clone()));
        let project = self.trust_project.take_if(|one| one.value);
        let project = project.map(|one| ("trust_project", one.origin));
        self.trusted.clear();
        for (name, origin) in folder.into_iter().chain(project) {
            let message = format!("Setting `{name}` is not used: {why}");
            self.report(finding(Code::TrustListUnsafe, &origin, None, message));
        }
    }

    pub(super) fn report(&mut self, finding: SettingFinding) {
        if self.findings.len() < FINDINGS {
            self.findings.push(finding);
        } else {
            self.unlisted += 1;
        }
    }

    fn take(
        &mut self,
        key: &Key,
        written: RawValue<'_>,
        place: &ValuePlace<'_>,
    ) -> Result<(), String> {
        match key.id {
            Name::Precedence => self.precedence = Some(place.set(precedence(written)?)),
            Name::DefaultRoots => self.default_roots = Some(place.set(written.boolean()?)),
            Name::TrustProject => self.trust_project = Some(place.set(written.boolean()?)),
            Name::Links => {
                let choices = [
                    ("follow", LinkPolicy::Follow),
                    ("refuse", LinkPolicy::Refuse),
                    ("strict", LinkPolicy::Strict),
                ];
                self.links = Some(place.set(one_of(written, &choices)?));
            }
            Name::Hidden => {
                let choices = [
                    ("skip", HiddenPolicy::Skip),
                    ("search", HiddenPolicy::Search),
                ];
                self.hidden = Some(place.set(one_of(written, &choices)?));
            }
            Name::Profile => {
                let choices = [("lenient", Profile::Lenient), ("spec", Profile::Spec)];
                self.profile = Some(place.set(one_of(written, &choices)?));
            }
            Name::Arguments => {
                let choices = Dialect::ALL.map(|dialect| (dialect.as_str(), dialect));
                self.arguments = Some(place.set(one_of(written, &choices)?));
            }
            Name::Strict => self.strict = Some(place.set(written.boolean()?)),
            Name::LogContent => self.log_content = Some(place.set(written.boolean()?)),
            Name::Watch => self.watch = Some(place.set(one_of(written, &SWITCH)?)),
            Name::Index => self.index = Some(place.set(one_of(written, &SWITCH)?)),
            Name::PollSeconds => self.poll_seconds = Some(place.set(written.number()?)),
            Name::Freshness => {
                let choices = [
                    ("checked", Freshness::Checked),
                    ("snapshot", Freshness::Snapshot),
                ];
                self.freshness = Some(place.set(one_of(written, &choices)?));
            }
            Name::CacheEntries => self.cache_entries = Some(place.set(written.number()?)),
            Name::CacheBytes => self.cache_bytes = Some(place.set(written.number()?)),
            Name::Disclosure => self.disclosure = Some(place.set(one_of(written, &MODES)?)),
            Name::Style => {
                let choices = Style::ALL.map(|style| (style.as_str(), style));
                self.style = Some(place.set(one_of(written, &choices)?));
            }
            Name::Matching => self.matching = Some(place.set(one_of(written, &Matching::ALL)?)),
            Name::Model => {
                let path = place.environment.path(written.text()?, place.base);
                self.model = Some(place.set(Some(path)));
            }
            Name::MaxPerRequest => self.max_per_request = Some(place.set(written.number()?)),
            Name::Breadcrumb => self.breadcrumb = Some(place.set(one_of(written, &BREADCRUMBS)?)),
            Name::Fallback => self.fallback = Some(place.set(one_of(written, &FALLBACKS)?)),
            Name::MaxDepth => self.max_depth = Some(place.set(written.number()?)),
            Name::Agents => agent::read(self, written, place)?,
            Name::Enable => self.choose(written, Toggle::On, place)?,
            Name::Disable => self.choose(written, Toggle::Off, place)?,
            Name::Trusted => {
                let paths = written.list(PATHS)?.into_iter();
                let path = |entry: RawValue<'_>| {
                    let path = place.environment.path(entry.text()?, place.base);
                    Ok(place.set(path))
                };
                self.trusted
                    .extend(paths.map(path).collect::<Result<Vec<_>, String>>()?);
            }
            Name::Roots => {
                let roots = written.list(PATHS)?.into_iter();
                let read = |entry| Ok(place.set(root::read(entry, place)?));
                let roots = roots.map(read).collect::<Result<Vec<_>, String>>()?;
                let is_project = matches!(place.origin, Origin::Project(..));
                if is_project && self.roots.len() + roots.len() > PROJECT_ROOTS {
                    return Err(format!("a project names at most {PROJECT_ROOTS} roots"));
                }
                self.roots.extend(roots);
            }
        }
        Ok(())
    }

    fn choose(
        &mut self,
        written: RawValue<'_>,
        choice: Toggle,
        place: &ValuePlace<'_>,
    ) -> Result<(), String> {
        let patterns = written.list(',')?.into_iter();
        let read =
            |entry: RawValue<'_>| Ok(place.set((pattern(entry.text()?.trim(), place)?, choice)));
        self.enablement
            .extend(patterns.map(read).collect::<Result<Vec<_>, String>>()?);
        Ok(())
    }
}

/// Reads a pattern. One of a project is for the project's own skills.
fn pattern(text: &str, place: &ValuePlace<'_>) -> Result<String, String> {
    let stars = text.matches('*').count();
    if stars > 0 && !(stars == 1 && (text == "*" || text.ends_with(":*"))) {
        return Err(format!(
            "`{text}` is not a pattern; `*` stands alone or behind a scope or plugin"
        ));
    }
    if !matches!(place.origin, Origin::Project(..)) {
        return Ok(text.to_owned());
    }
    match text.split_once(':') {
        None => Ok(format!("{}:{text}", Scope::Project)),
        Some((scope, _)) if scope.parse() == Ok(Scope::Project) => Ok(text.to_owned()),
        Some(_) => Err(format!("`{text}` is not the project's own")),
    }
}

/// What stands between paths in a variable.
pub(super) const PATHS: char = if cfg!(windows) { ';' } else { ':' };

pub(super) fn unknown(name: &str, place: &ValuePlace<'_>) -> SettingFinding {
    let meant = nearest(name, KEYS.iter().map(|key| key.name), 1);
    let message = match meant.first() {
        Some(meant) => format!("Setting `{name}` is not known; did you mean `{meant}`?"),
        None => format!("Setting `{name}` is not known"),
    };
    let mut unknown = finding(Code::UnknownSetting, &place.origin, place.span, message);
    // Who types a name waits for what it does; a file may be older or newer than the program.
    if place.origin == Origin::Argument {
        unknown.diagnostic.severity = Severity::Error;
    }
    unknown
}

/// Reads a client's name, or scopes in their order.
fn precedence(written: RawValue<'_>) -> Result<Precedence, String> {
    let scopes = match written.text() {
        Ok(text) => {
            if let Some(preset) = Precedence::preset(text) {
                return Ok(preset);
            }
            RawValue::Text(text).list(',')?
        }
        Err(_) => written.list(',')?,
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

pub(super) fn one_of<T: Copy>(written: RawValue<'_>, choices: &[(&str, T)]) -> Result<T, String> {
    let text = written.text()?;
    let choice = choices.iter().find(|(word, _)| *word == text);
    choice.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<_> = choices
            .iter()
            .map(|(word, _)| format!("`{word}`"))
            .collect();
        format!("`{text}` is not one of {}", words.join(", "))
    })
}
