//! Explains settings: each value as text, with its key and origin.

use skillfold_core::catalog::{Precedence, Toggle};
use skillfold_core::diagnostic::visible;
use skillfold_core::disclose::{Breadcrumb, Fallback, Mode, Style};
use skillfold_core::load::{Dialect, Freshness};
use skillfold_core::read::Profile;
use skillfold_core::source::{HiddenPolicy, LinkPolicy};

use crate::settings::Settings;
use crate::settings::agent::ConfiguredAgent;
use crate::settings::key::{KEYS, Key, KeyId};
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
        if self.id == KeyId::Agents && !settings.agents.is_empty() {
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
        fn one<T>(setting: &Setting<T>, text: impl Fn(&T) -> String) -> Vec<(String, Origin)> {
            vec![(text(&setting.value), setting.origin.clone())]
        }
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
        match self.id {
            KeyId::Precedence => one(&settings.precedence, Precedence::to_string),
            KeyId::Roots => many(&settings.roots, |root| {
                let path = root.path.display();
                Some(match &root.plugin {
                    Some(plugin) => format!("{path} ({plugin})"),
                    None => format!("{path} ({})", root.scope),
                })
            }),
            KeyId::DefaultRoots => one(&settings.default_roots, bool::to_string),
            KeyId::Enable => patterns(Toggle::On),
            KeyId::Disable => patterns(Toggle::Off),
            KeyId::Trusted => many(&settings.trusted, |path| Some(path.display().to_string())),
            KeyId::TrustProject => one(&settings.trust_project, bool::to_string),
            KeyId::Links => one(&settings.links, |links| match links {
                LinkPolicy::Refuse => "refuse".to_owned(),
                LinkPolicy::Strict => "strict".to_owned(),
                _ => "follow".to_owned(),
            }),
            KeyId::Hidden => one(&settings.hidden, |hidden| match hidden {
                HiddenPolicy::Search => "search".to_owned(),
                _ => "skip".to_owned(),
            }),
            KeyId::MaxDepth => one(&settings.max_depth, usize::to_string),
            KeyId::Profile => one(&settings.profile, |profile| match profile {
                Profile::Spec => "spec".to_owned(),
                _ => "lenient".to_owned(),
            }),
            KeyId::Arguments => one(&settings.arguments, Dialect::to_string),
            KeyId::Strict => one(&settings.strict, bool::to_string),
            KeyId::LogContent => one(&settings.log_content, bool::to_string),
            KeyId::Watch => one(&settings.watch, on_or_off),
            KeyId::Index => one(&settings.index, on_or_off),
            KeyId::PollSeconds => one(&settings.poll_seconds, usize::to_string),
            KeyId::Freshness => one(&settings.freshness, |freshness| match freshness {
                Freshness::Snapshot => "snapshot".to_owned(),
                _ => "checked".to_owned(),
            }),
            KeyId::CacheEntries => one(&settings.cache_entries, usize::to_string),
            KeyId::CacheBytes => one(&settings.cache_bytes, usize::to_string),
            KeyId::Disclosure => one(&settings.disclosure, |mode| match mode {
                Mode::Catalog => "catalog".to_owned(),
                Mode::Triggered => "triggered".to_owned(),
                _ => "hybrid".to_owned(),
            }),
            KeyId::Style => one(&settings.style, Style::to_string),
            KeyId::Matching => one(&settings.matching, |matching| matching.as_str().to_owned()),
            KeyId::Model => one(&settings.model, |model| match model {
                Some(path) => path.display().to_string(),
                None => "none".to_owned(),
            }),
            KeyId::MaxPerRequest => one(&settings.max_per_request, usize::to_string),
            KeyId::Breadcrumb => one(&settings.breadcrumb, |breadcrumb| match breadcrumb {
                Breadcrumb::On => "on".to_owned(),
                Breadcrumb::Off => "off".to_owned(),
            }),
            KeyId::Fallback => one(&settings.fallback, |fallback| match fallback {
                Fallback::ShowAll => "show_all".to_owned(),
                Fallback::AskUser => "ask_user".to_owned(),
                _ => "none".to_owned(),
            }),
            // `rows` handles agents.
            KeyId::Agents => Vec::new(),
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

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "passed as a function on references"
)]
fn on_or_off(is_on: &bool) -> String {
    if *is_on { "on" } else { "off" }.to_owned()
}
