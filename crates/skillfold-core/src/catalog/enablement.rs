//! Which skills are on.

use std::collections::BTreeMap;

use crate::catalog::key::canonical;
use crate::catalog::root::Root;
use crate::catalog::scope::Scope;
use crate::read::discover::Skill;

/// Which skills are on. Without a word all are, but for bundled ones that say `default_enabled: false`.
///
/// A pattern is what leads to a skill (`pdf`, the name of its folder, `user:pdf`, `acme:pdf`, its place), all of a scope or
/// plugin (`bundled:*`), or all (`*`). A bare name is for all skills of that name. The most specific pattern decides; of
/// two equal ones the later.
///
/// ```
/// use skillfold_core::{Toggle, Enablement};
///
/// let mut choices = Enablement::default();
/// choices.set("bundled:*", Toggle::Off);
/// choices.set("pdf", Toggle::On);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enablement {
    choices: BTreeMap<Box<str>, Toggle>,
}

/// Whether a skill is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Toggle {
    /// It is offered.
    On,
    /// It is kept and not offered.
    Off,
}

impl Enablement {
    /// Decides for all skills of a pattern.
    pub fn set(&mut self, pattern: &str, choice: Toggle) {
        self.choices.insert(pattern_key(pattern).into(), choice);
    }

    /// Returns the patterns that were decided, in their canonical form, in order.
    pub fn patterns(&self) -> impl Iterator<Item = (&str, Toggle)> {
        self.choices
            .iter()
            .map(|(pattern, choice)| (&**pattern, *choice))
    }

    /// Returns the pattern that decides for a skill, and its choice.
    pub(crate) fn decisive(&self, skill: &Skill, root: &Root) -> Option<(&str, Toggle)> {
        if self.choices.is_empty() {
            return None;
        }
        let (qualifier, scope) = (canonical(root.qualifier()), root.scope());
        let place = format!("{}/{}", root.label(), skill.folder.path());
        // A name that could be read as another pattern is matched with its scope only.
        let is_bare = |name: &&str| !name.contains([':', '*']);
        let name = canonical(skill.manifest.name().as_str());
        let folder = canonical(skill.folder.name());
        let words = [&*name, &*folder];
        let with_root = words.iter().map(|word| format!("{qualifier}:{word}"));
        let with_scope = words.iter().map(|word| format!("{scope}:{word}"));
        let bare = words.iter().copied().filter(is_bare).map(str::to_owned);
        let patterns = [format!("{scope}:{}", canonical(&place))]
            .into_iter()
            .chain(with_root)
            .chain(with_scope)
            .chain(bare)
            .chain([
                format!("{qualifier}:*"),
                format!("{scope}:*"),
                "*".to_owned(),
            ]);
        let mut decided = patterns.filter_map(|pattern| {
            let (pattern, choice) = self.choices.get_key_value(&*pattern)?;
            Some((&**pattern, *choice))
        });
        decided.next()
    }

    pub(crate) fn choice(&self, skill: &Skill, root: &Root) -> Toggle {
        match self.decisive(skill, root) {
            Some((_, choice)) => choice,
            None if root.scope() == Scope::Bundled && !skill.manifest.default_enabled() => {
                Toggle::Off
            }
            None => Toggle::On,
        }
    }
}

/// Returns a pattern in its canonical form; `personal:` is `user:`.
fn pattern_key(pattern: &str) -> String {
    let Some((qualifier, name)) = pattern.trim().split_once(':') else {
        return canonical(pattern.trim()).into_owned();
    };
    let name = canonical(name);
    match canonical(qualifier).parse::<Scope>() {
        Ok(scope) => format!("{scope}:{name}"),
        Err(_) => format!("{}:{name}", canonical(qualifier)),
    }
}
