//! Which skills are on.

use std::collections::BTreeMap;

use crate::catalog::key::canonical;
use crate::catalog::root::Root;
use crate::catalog::scope::Scope;
use crate::read::discover::Skill;

/// Which skills are on. Without a word all are, but for bundled ones that say `default_enabled: false`.
///
/// A pattern is a name (`pdf`), a qualified name (`user:pdf`, `acme:pdf`), all of a scope or plugin (`bundled:*`), or
/// all (`*`). The most specific pattern decides; of two equal ones the later.
///
/// ```
/// use skillfold_core::{Choice, Enablement};
///
/// let mut choices = Enablement::default();
/// choices.set("bundled:*", Choice::Off);
/// choices.set("pdf", Choice::On);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enablement {
    choices: BTreeMap<Box<str>, Choice>,
}

/// Whether a skill is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// It is offered.
    On,
    /// It is kept and not offered.
    Off,
}

impl Enablement {
    /// Decides for all skills of a pattern.
    pub fn set(&mut self, pattern: &str, choice: Choice) {
        self.choices.insert(pattern_key(pattern).into(), choice);
    }

    /// Returns the patterns that were decided, in their canonical form, in order.
    pub fn patterns(&self) -> impl Iterator<Item = (&str, Choice)> {
        self.choices
            .iter()
            .map(|(pattern, choice)| (&**pattern, *choice))
    }

    /// Returns the pattern that decides for a skill, and its choice.
    pub(crate) fn decisive(&self, skill: &Skill, root: &Root) -> Option<(&str, Choice)> {
        if self.choices.is_empty() {
            return None;
        }
        let name = canonical(skill.manifest.name().as_str());
        let qualifier = canonical(root.qualifier());
        let patterns = [
            format!("{qualifier}:{name}"),
            format!("{}:{name}", root.scope()),
            name.into_owned(),
            format!("{qualifier}:*"),
            format!("{}:*", root.scope()),
            "*".to_owned(),
        ];
        patterns.iter().find_map(|pattern| {
            let (pattern, choice) = self.choices.get_key_value(&**pattern)?;
            Some((&**pattern, *choice))
        })
    }

    pub(crate) fn choice(&self, skill: &Skill, root: &Root) -> Choice {
        match self.decisive(skill, root) {
            Some((_, choice)) => choice,
            None if root.scope() == Scope::Bundled && !skill.manifest.default_enabled() => {
                Choice::Off
            }
            None => Choice::On,
        }
    }
}

/// Returns a pattern in its canonical form; `personal:` is `user:`.
fn pattern_key(pattern: &str) -> String {
    let key = canonical(pattern.trim());
    match key.split_once(':') {
        Some((scope, name)) => match scope.parse::<Scope>() {
            Ok(scope) => format!("{scope}:{name}"),
            Err(_) => key.into_owned(),
        },
        None => key.into_owned(),
    }
}
