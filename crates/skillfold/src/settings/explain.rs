//! Explains settings: each value as text, with its key and origin.

use skillfold_core::catalog::Toggle;
use skillfold_core::diagnostic::visible;

use crate::settings::agent::ConfiguredAgent;
use crate::settings::identity::ConfiguredIdentity;
use crate::settings::key::{KEYS, Key, KeyKind, Settings};
use crate::settings::setting::{Origin, Setting};

/// A setting and its origin.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename = "SettingRow")]
#[non_exhaustive]
pub struct ExplainedSetting {
    /// Its key in a settings file.
    pub key: String,
    /// Its value as text; absent for an empty list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Where it was set: `default`, a settings file as `path:line`, the name of a variable, or `argument`.
    #[cfg_attr(any(test, feature = "schema"), schemars(with = "String"))]
    pub origin: Origin,
}

impl ExplainedSetting {
    fn new(key: impl Into<String>, value: Option<String>, origin: Origin) -> Self {
        Self {
            key: key.into(),
            value,
            origin,
        }
    }
}

impl Settings {
    /// Returns each setting as text with its key and origin, in key order. A list has a row for each entry, or one row
    /// without a value if it is empty.
    pub fn explain(&self) -> Vec<ExplainedSetting> {
        KEYS.iter().flat_map(|key| key.rows(self)).collect()
    }
}

impl Key {
    /// Returns a row for each value of the setting, or one row without a value if there is none.
    fn rows(&self, settings: &Settings) -> Vec<ExplainedSetting> {
        if matches!(self.kind, KeyKind::Agents) && !settings.agents.is_empty() {
            let agents = settings.agents.iter();
            return agents.flat_map(ConfiguredAgent::rows).collect();
        }
        if matches!(self.kind, KeyKind::Identities) && !settings.identities.is_empty() {
            let identities = settings.identities.iter();
            return identities.flat_map(ConfiguredIdentity::rows).collect();
        }
        let values = self.values(settings);
        if values.is_empty() {
            return vec![ExplainedSetting::new(self.name, None, Origin::Default)];
        }
        let values = values.into_iter();
        values
            .map(|(value, origin)| ExplainedSetting::new(self.name, Some(value), origin))
            .collect()
    }

    /// Returns the values as text, each with its origin.
    fn values(&self, settings: &Settings) -> Vec<(String, Origin)> {
        fn many<T>(
            settings: &[Setting<T>],
            text: impl Fn(&T) -> Option<String>,
        ) -> Vec<(String, Origin)> {
            let rows = settings.iter();
            rows.filter_map(|setting| Some((text(&setting.value)?, setting.origin.clone())))
                .collect()
        }
        let patterns = |wanted: Toggle| {
            many(&settings.enablement, |one| {
                (one.toggle == wanted).then(|| one.pattern.clone())
            })
        };
        match self.kind {
            KeyKind::Scalar { explain, .. } => vec![explain(settings)],
            KeyKind::Roots => many(&settings.roots, |root| {
                let path = root.path.display();
                Some(match &root.plugin {
                    Some(plugin) => format!("{path} ({plugin})"),
                    None => format!("{path} ({})", root.scope),
                })
            }),
            KeyKind::Enable => patterns(Toggle::On),
            KeyKind::Disable => patterns(Toggle::Off),
            KeyKind::Pinned => many(&settings.pinned, |id| Some(id.clone())),
            KeyKind::Trusted => many(&settings.trusted, |path| Some(path.display().to_string())),
            // `rows` handles tables.
            KeyKind::Agents | KeyKind::Identities => Vec::new(),
        }
    }
}

impl ConfiguredIdentity {
    /// Returns its fields as text, each with its key and origin, or one row without a value if it names nothing.
    fn rows(&self) -> Vec<ExplainedSetting> {
        let name = visible(&self.name);
        let fields = self.fields();
        if fields.is_empty() {
            let key = format!("identities.{name}");
            return vec![ExplainedSetting::new(key, None, self.origin.clone())];
        }
        let fields = fields.into_iter();
        let row = |(field, value)| {
            let key = format!("identities.{name}.{field}");
            ExplainedSetting::new(key, Some(value), self.origin.clone())
        };
        fields.map(row).collect()
    }
}

impl ConfiguredAgent {
    /// Returns its settings as text, each with its key and origin. A list has a row for each entry, or one row without
    /// a value if it is empty.
    fn rows(&self) -> Vec<ExplainedSetting> {
        let key = |field: &str| format!("agents.{}.{field}", visible(&self.id));
        let row = |value: Option<&str>| {
            let origin = self.uses_skills.origin.clone();
            ExplainedSetting::new(key("uses_skills"), value.map(str::to_owned), origin)
        };
        let skills = self.uses_skills.value.iter();
        let mut rows: Vec<_> = skills.map(|id| row(Some(id))).collect();
        if rows.is_empty() {
            rows.push(row(None));
        }
        let sees = self.sees.value.to_string();
        let origin = self.sees.origin.clone();
        rows.push(ExplainedSetting::new(key("sees"), Some(sees), origin));
        rows
    }
}
