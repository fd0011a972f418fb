//! Explains settings: each value as text, with its key and origin.

use skillfold_core::catalog::Toggle;
use skillfold_core::diagnostic::visible;

use crate::settings::agent::ConfiguredAgent;
use crate::settings::key::{KEYS, Key, KeyKind, Settings};
use crate::settings::setting::{Origin, Setting};

/// A row of the explanation of settings: key, value as text, origin.
type Row = (String, Option<String>, Origin);

impl Settings {
    /// Returns each setting as text with its key and origin, in key order. A list has a row for each entry, or one row
    /// without a value if it is empty.
    pub fn explain(&self) -> Vec<(String, Option<String>, Origin)> {
        KEYS.iter().flat_map(|key| key.rows(self)).collect()
    }
}

impl Key {
    /// Returns a row for each value of the setting, or one row without a value if there is none.
    fn rows(&self, settings: &Settings) -> Vec<Row> {
        if matches!(self.kind, KeyKind::Agents) && !settings.agents.is_empty() {
            let agents = settings.agents.iter();
            return agents.flat_map(ConfiguredAgent::rows).collect();
        }
        let values = self.values(settings);
        if values.is_empty() {
            return vec![(self.name.to_owned(), None, Origin::Default)];
        }
        let values = values.into_iter();
        values
            .map(|(value, origin)| (self.name.to_owned(), Some(value), origin))
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
            many(&settings.enablement, |(pattern, toggle)| {
                (*toggle == wanted).then(|| pattern.clone())
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
            // `rows` handles agents.
            KeyKind::Agents => Vec::new(),
        }
    }
}

impl ConfiguredAgent {
    /// Returns its settings as text, each with its key and origin. A list has a row for each entry, or one row without
    /// a value if it is empty.
    fn rows(&self) -> Vec<Row> {
        let key = |field: &str| format!("agents.{}.{field}", visible(&self.id));
        let row = |value: Option<&str>| {
            let origin = self.uses_skills.origin.clone();
            (key("uses_skills"), value.map(str::to_owned), origin)
        };
        let skills = self.uses_skills.value.iter();
        let mut rows: Vec<_> = skills.map(|id| row(Some(id))).collect();
        if rows.is_empty() {
            rows.push(row(None));
        }
        let sees = self.sees.value.to_string();
        rows.push((key("sees"), Some(sees), self.sees.origin.clone()));
        rows
    }
}
