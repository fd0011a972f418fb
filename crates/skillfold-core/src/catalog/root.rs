//! A source of skills and its role in the catalog.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use crate::catalog::canonical::canonical;
use crate::catalog::scope::Scope;
use crate::name::{InvalidName, SkillName};
use crate::source::{Folder, SkillLayout, Source, join_folder};

/// Whether a model may get the skills of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trust {
    /// The host or the user configured it.
    Trusted,
    /// It belongs to a project that the user has not trusted: the user can see its skills, models cannot.
    Untrusted,
}

/// The name of a plugin, which qualifies the ids of its skills: one line, without `:`, `/` or `*`, and not the name of
/// a [`Scope`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PluginName(Box<str>);

impl PluginName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PluginName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let name: SkillName = text.parse()?;
        if name.as_str().contains([':', '*']) {
            return Err(InvalidName::new("has a colon or an asterisk"));
        }
        if canonical(name.as_str()).parse::<Scope>().is_ok() {
            return Err(InvalidName::new("is the word for a scope"));
        }
        Ok(Self(text.into()))
    }
}

display!(PluginName, |it| &it.0);

/// A source of skills with its label, scope and trust.
#[derive(Clone, Debug)]
pub struct Root {
    /// What the root was created with.
    opened: Arc<dyn Source>,
    /// What its files are read through: the same, or a source that checks what it reads from there.
    source: Arc<dyn Source>,
    label: Box<str>,
    scope: Scope,
    plugin: Option<PluginName>,
    trust: Trust,
}

impl Root {
    /// Creates a trusted root. The label is what the user sees, such as the root's path.
    pub fn new(scope: Scope, label: impl Into<Box<str>>, source: impl Source + 'static) -> Self {
        let source: Arc<dyn Source> = Arc::new(source);
        Self {
            opened: Arc::clone(&source),
            source,
            label: label.into(),
            scope,
            plugin: None,
            trust: Trust::Trusted,
        }
    }

    /// Creates the root of a plugin, whose name qualifies the ids of its skills.
    pub fn plugin(
        name: PluginName,
        label: impl Into<Box<str>>,
        source: impl Source + 'static,
    ) -> Self {
        Self {
            plugin: Some(name),
            ..Self::new(Scope::Plugin, label, source)
        }
    }

    /// Sets whether a model may get the skills of the root.
    #[must_use]
    pub fn with_trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Sets a source that checks what it reads from the one that the root was created with, and through which all files of the
    /// root are read. A second call replaces the first one's.
    #[must_use]
    pub fn checked_by<S: Source + 'static>(
        mut self,
        check: impl FnOnce(Arc<dyn Source>) -> S,
    ) -> Self {
        self.source = Arc::new(check(Arc::clone(&self.opened)));
        self
    }

    /// Returns the source that the root was created with, whose files nobody checked.
    pub fn unchecked_source(&self) -> &dyn Source {
        &*self.opened
    }

    /// Returns the source, through which all files of the root are read.
    pub fn source(&self) -> &dyn Source {
        &*self.source
    }

    /// Returns the name under which scans of the root are cached across processes: the path of its source, if it has one
    /// and it is UTF-8.
    pub fn cache_name(&self) -> Option<&str> {
        self.source.location()?.to_str()
    }

    /// Returns the label that the user sees, such as the root's path.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns the scope of the root's skills.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Returns the plugin that the root belongs to.
    pub fn plugin_name(&self) -> Option<&PluginName> {
        self.plugin.as_ref()
    }

    /// Returns whether a model may get the skills of the root.
    pub fn trust(&self) -> Trust {
        self.trust
    }

    /// Returns the qualifier in the ids of the root's skills: the plugin's name, or the scope.
    pub fn qualifier(&self) -> &str {
        self.plugin
            .as_ref()
            .map_or(self.scope.as_str(), PluginName::as_str)
    }

    /// Returns the path of a folder in the root, if the root is on the file system and its skills have folders.
    pub fn path_of(&self, folder: &Folder) -> Option<PathBuf> {
        let root = self.source.location()?;
        (self.source.layout() == SkillLayout::Folders).then(|| join_folder(root, folder))
    }

    /// Returns whether both are the same root, possibly opened twice.
    pub(crate) fn is_same_root(&self, other: &Self) -> bool {
        self.label == other.label
            && self.qualifier() == other.qualifier()
            && self.source.location() == other.source.location()
    }

    /// Returns whether both are the same root with the same scope and trust.
    pub(crate) fn is_equivalent(&self, other: &Self) -> bool {
        self.is_same_root(other) && self.scope == other.scope && self.trust == other.trust
    }
}

/// Sorts roots into search order and makes their labels unique by appending `~2`, `~3` and so on.
///
/// Trusted roots come first. A folder reachable from two roots belongs to the first, so a link in an untrusted project
/// cannot claim one of the user's skills.
pub(crate) fn sort_and_label(mut roots: Vec<Root>) -> Vec<Root> {
    roots.sort_by_key(|root| root.trust == Trust::Untrusted);
    for index in 1..roots.len() {
        let (before, rest) = roots.split_at_mut(index);
        let root = &mut rest[0];
        let mut number = 2;
        let label = root.label.clone();
        while before.iter().any(|other| other.label == root.label) {
            root.label = format!("{label}~{number}").into();
            number += 1;
        }
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::{PluginName, Root, sort_and_label};
    use crate::catalog::scope::Scope;
    use crate::source::MemorySource;

    #[test]
    fn plugin_name_that_could_forge_an_id_cannot_be_built() {
        for text in ["", "a:b", "user", "User", "PERSONAL", "*", "a/b", " a"] {
            assert!(text.parse::<PluginName>().is_err(), "{text:?}");
        }
        assert!("acme-tools".parse::<PluginName>().is_ok());
    }

    #[test]
    fn roots_with_the_same_label_get_numbered() {
        let root = || Root::new(Scope::User, "a", MemorySource::default());
        let roots = sort_and_label(vec![root(), root(), root()]);
        let labels: Vec<_> = roots.iter().map(Root::label).collect();
        assert_eq!(labels, ["a", "a~2", "a~3"]);
    }
}
