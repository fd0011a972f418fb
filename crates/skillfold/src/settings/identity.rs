//! Who may use a server, and what each may do there.

use crate::settings::setting::{Origin, Setting};
use crate::settings::tables::NamedTable;
use crate::settings::value::{RawValue, ValueContext};

/// An entry of `[identities]`: whom it fits, and what they get from a server. It fits who has any of what it names; one that
/// names nobody fits everybody. The first entry that fits counts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfiguredIdentity {
    /// Its name, for logs and metrics.
    pub name: String,
    /// Where it is.
    pub origin: Origin,
    /// Subjects of the identity provider.
    pub subjects: Vec<String>,
    /// Groups of the identity provider or of a named token.
    pub groups: Vec<String>,
    /// Scopes of a token of the identity provider.
    pub scopes: Vec<String>,
    /// Named tokens.
    pub tokens: Vec<String>,
    /// The agent whose skills they see; `None` for all skills.
    pub agent: Option<String>,
    /// Maximum number of open sessions of each.
    pub sessions: Option<usize>,
    /// Maximum number of requests of each in a minute.
    pub requests_per_minute: Option<usize>,
}

impl ConfiguredIdentity {
    /// Returns its fields as text, without those that are not set.
    pub(super) fn fields(&self) -> Vec<(&'static str, String)> {
        let lists = [
            ("subjects", &self.subjects),
            ("groups", &self.groups),
            ("scopes", &self.scopes),
            ("tokens", &self.tokens),
        ];
        let lists = lists.into_iter().flat_map(|(field, words)| {
            let words = words.iter();
            words.map(move |word| (field, word.clone()))
        });
        let agent = self.agent.iter().map(|agent| ("agent", agent.clone()));
        let numbers = [
            ("sessions", self.sessions),
            ("requests_per_minute", self.requests_per_minute),
        ];
        let numbers = numbers.into_iter();
        let numbers = numbers.filter_map(|(field, number)| Some((field, number?.to_string())));
        lists.chain(agent).chain(numbers).collect()
    }
}

impl NamedTable for ConfiguredIdentity {
    const KEY: &'static str = "identities";
    const FIELDS: &'static [&'static str] = &[
        "subjects",
        "groups",
        "scopes",
        "tokens",
        "agent",
        "sessions",
        "requests_per_minute",
    ];

    fn new(name: &str, context: &ValueContext<'_>) -> Self {
        let Setting { origin, .. } = context.setting(());
        Self {
            name: name.to_owned(),
            origin,
            subjects: Vec::new(),
            groups: Vec::new(),
            scopes: Vec::new(),
            tokens: Vec::new(),
            agent: None,
            sessions: None,
            requests_per_minute: None,
        }
    }

    fn set(
        &mut self,
        field: &str,
        value: RawValue<'_>,
        _: &ValueContext<'_>,
    ) -> Result<(), String> {
        let number = || match value.number()? {
            0 => Err("it is at least 1".to_owned()),
            number => Ok(Some(number)),
        };
        match field {
            "subjects" => self.subjects = value.words()?,
            "groups" => self.groups = value.words()?,
            "scopes" => self.scopes = value.words()?,
            "tokens" => self.tokens = value.words()?,
            "sessions" => self.sessions = number()?,
            "requests_per_minute" => self.requests_per_minute = number()?,
            _ => self.agent = Some(value.text()?.trim().to_owned()),
        }
        Ok(())
    }
}
