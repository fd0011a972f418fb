//! Which skills are enabled.

use std::collections::BTreeMap;

use crate::catalog::canonical::canonical;
use crate::catalog::root::Root;
use crate::catalog::scope::Scope;
use crate::read::discover::Skill;

/// Which skills are enabled. By default all are, except bundled ones with `default_enabled: false`.
///
/// A pattern is a name (`pdf`), a folder name, a qualified name (`user:pdf`, `acme:pdf`), an id by location, all skills
/// of a scope or plugin (`bundled:*`), or all skills (`*`). A bare name applies to every skill of that name. The most
/// specific pattern decides; setting a pattern again replaces its earlier value.
///
/// ```
/// use skillfold_core::catalog::{Enablement, Toggle};
///
/// let mut enablement = Enablement::default();
/// enablement.set("bundled:*", Toggle::Off);
/// enablement.set("pdf", Toggle::On);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enablement {
    toggles: BTreeMap<Box<str>, Toggle>,
}

/// Whether a skill is enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Toggle {
    /// The skill can be used.
    On,
    /// The skill stays in the catalog but cannot be used.
    Off,
}

impl Enablement {
    /// Switches all skills that match a pattern on or off.
    pub fn set(&mut self, pattern: &str, toggle: Toggle) {
        self.toggles.insert(pattern_key(pattern).into(), toggle);
    }

    /// Returns the patterns that were set, in canonical form and sorted.
    pub fn patterns(&self) -> impl Iterator<Item = (&str, Toggle)> {
        self.toggles
            .iter()
            .map(|(pattern, toggle)| (&**pattern, *toggle))
    }

    /// Returns the most specific pattern that matches a skill, and its toggle.
    pub(crate) fn deciding_pattern(&self, skill: &Skill, root: &Root) -> Option<(&str, Toggle)> {
        if self.toggles.is_empty() {
            return None;
        }
        let (qualifier, scope) = (canonical(root.qualifier()), root.scope());
        let location = format!("{}/{}", root.label(), skill.folder.path());
        // A name that looks like another pattern is matched only with its scope or plugin.
        let is_bare = |name: &&str| !name.contains([':', '*']);
        let name = canonical(skill.manifest.name().as_str());
        let folder = canonical(skill.folder.name());
        let names = [&*name, &*folder];
        let with_root = names.iter().map(|name| format!("{qualifier}:{name}"));
        let with_scope = names.iter().map(|name| format!("{scope}:{name}"));
        let bare = names.iter().copied().filter(is_bare).map(str::to_owned);
        let patterns = [format!("{scope}:{}", canonical(&location))]
            .into_iter()
            .chain(with_root)
            .chain(with_scope)
            .chain(bare)
            .chain([
                format!("{qualifier}:*"),
                format!("{scope}:*"),
                "*".to_owned(),
            ]);
        let mut matching = patterns.filter_map(|pattern| {
            let (pattern, toggle) = self.toggles.get_key_value(&*pattern)?;
            Some((&**pattern, *toggle))
        });
        matching.next()
    }

    pub(crate) fn toggle(&self, skill: &Skill, root: &Root) -> Toggle {
        match self.deciding_pattern(skill, root) {
            Some((_, toggle)) => toggle,
            None if root.scope() == Scope::Bundled && !skill.manifest.default_enabled() => {
                Toggle::Off
            }
            None => Toggle::On,
        }
    }
}

/// Returns a pattern in canonical form; `personal:` becomes `user:`.
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
