//! One layer of settings: those of one file, of the variables, or of the arguments.

use skillfold_core::catalog::{Toggle, nearest};
use skillfold_core::diagnostic::Severity;
use skillfold_core::{Code, Scope};

use crate::environment::{Environment, NO_HOME_LOOKUP_VARIABLE, SETTINGS_VARIABLE, TOKEN_VARIABLE};
use crate::settings::key::{KEYS, Key, KeyKind, Layer, SetBy};
use crate::settings::root;
use crate::settings::setting::{EnablementPattern, Origin, SettingFinding, finding};
use crate::settings::tables;
use crate::settings::value::{RawValue, ValueContext};

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
            let origin = Origin::Variable(variable.to_owned());
            let context = ValueContext::new(environment, environment.directory(), origin);
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
        let context = ValueContext::new(environment, environment.directory(), Origin::Argument);
        for (name, value) in entries.chain(arguments) {
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
            return self.report(context.finding(Code::SettingNotAllowed, message));
        }
        if let Err(why) = self.apply(key, value, context) {
            let message = format!("Setting `{}` is not usable: {why}", key.name);
            self.report(context.finding(Code::SettingForm, message));
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
        match key.kind {
            KeyKind::Scalar { apply, .. } => apply(self, value, context)?,
            KeyKind::Agents => {
                let agents = tables::read(&mut self.findings, value, context)?;
                self.agents.extend::<Vec<_>>(agents);
            }
            KeyKind::Identities => {
                let identities = tables::read(&mut self.findings, value, context)?;
                self.identities.extend::<Vec<_>>(identities);
            }
            KeyKind::Enable => self.add_patterns(value, Toggle::On, context)?,
            KeyKind::Disable => self.add_patterns(value, Toggle::Off, context)?,
            KeyKind::Pinned => {
                let read = |entry: RawValue<'_>| Ok(entry.text()?.trim().to_owned());
                self.pinned.extend(context.list(value, ',', read)?);
            }
            KeyKind::Trusted => {
                let read = |entry: RawValue<'_>| {
                    Ok(context.environment.expand_path(entry.text()?, context.base))
                };
                self.trusted
                    .extend(context.list(value, PATH_SEPARATOR, read)?);
            }
            KeyKind::Roots => {
                let read = |entry: RawValue<'_>| root::read(entry, context);
                let roots = context.list(value, PATH_SEPARATOR, read)?;
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
        let read = |entry: RawValue<'_>| {
            let pattern = read_pattern(entry.text()?.trim(), context)?;
            Ok(EnablementPattern { pattern, toggle })
        };
        self.enablement.extend(context.list(value, ',', read)?);
        Ok(())
    }
}

/// Reads a pattern of `enable` or `disable`. A project's pattern applies only to the project's own skills.
fn read_pattern(text: &str, context: &ValueContext<'_>) -> Result<String, String> {
    let stars = text.matches('*').count();
    if stars > 0 && !(stars == 1 && (text == "*" || text.ends_with(":*"))) {
        return Err(format!(
            "`{text}` is not a pattern; `*` stands alone or after a scope or plugin"
        ));
    }
    if !matches!(context.origin, Origin::Project(..)) {
        return Ok(text.to_owned());
    }
    match text.split_once(':') {
        None => Ok(format!("{}:{text}", Scope::Project)),
        Some((scope, _)) if scope.parse() == Ok(Scope::Project) => Ok(text.to_owned()),
        Some(_) => Err(format!("`{text}` does not belong to the project")),
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
    let mut unknown = context.finding(Code::UnknownSetting, message);
    // Whoever types a name expects an effect; a file may be written for an older or newer version.
    if context.origin == Origin::Argument {
        unknown.diagnostic.severity = Severity::Error;
    }
    unknown
}
