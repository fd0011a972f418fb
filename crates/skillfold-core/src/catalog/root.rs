//! A source of skills with its place in the catalog.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use crate::catalog::key::canonical;
use crate::catalog::scope::Scope;
use crate::name::{InvalidName, SkillName};
use crate::read::source::{Folder, Source};

/// Whether what a root holds may be given to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trust {
    /// A host or a person named it.
    Trusted,
    /// It came with a folder that no person has said to trust; its skills are shown to the person and to no model.
    Untrusted,
}

/// The name of a plugin, which qualifies the ids of its skills: one line, no `:`, `/` or `*`, and not the word for a
/// scope.
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

impl fmt::Display for PluginName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A source of skills, and where its skills belong.
#[derive(Clone, Debug)]
pub struct Root {
    source: Arc<dyn Source>,
    label: Box<str>,
    scope: Scope,
    plugin: Option<PluginName>,
    trust: Trust,
}

impl Root {
    /// Creates a root that a host names, and so trusts. The label is what people see, such as its path.
    pub fn new(scope: Scope, label: impl Into<Box<str>>, source: impl Source + 'static) -> Self {
        Self {
            source: Arc::new(source),
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

    /// Says whether what the root holds may be given to a model.
    #[must_use]
    pub fn with_trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Returns the source, through which everything of the root is read.
    pub fn source(&self) -> &dyn Source {
        &*self.source
    }

    /// Returns what people see, such as the root's path.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns where the root's skills belong.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Returns the plugin that the root is of.
    pub fn plugin_name(&self) -> Option<&PluginName> {
        self.plugin.as_ref()
    }

    /// Returns whether what the root holds may be given to a model.
    pub fn trust(&self) -> Trust {
        self.trust
    }

    /// Returns the word that qualifies the ids of the root's skills: the plugin's name, or the word for the scope.
    pub fn qualifier(&self) -> &str {
        self.plugin
            .as_ref()
            .map_or(self.scope.as_str(), PluginName::as_str)
    }

    /// Returns the path of a folder of the root, if the root is a folder of the file system.
    pub fn path_of(&self, folder: &Folder) -> Option<PathBuf> {
        let root = self.source.location()?;
        Some(join(root, folder.path()))
    }

    /// Returns whether two roots are one, opened twice.
    pub(crate) fn is_same_place(&self, other: &Self) -> bool {
        self.label == other.label
            && self.qualifier() == other.qualifier()
            && self.source.location() == other.source.location()
    }

    /// Returns whether skills of two roots are treated alike.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        self.is_same_place(other) && self.scope == other.scope && self.trust == other.trust
    }
}

fn join(root: &Path, folder: &str) -> PathBuf {
    if folder.is_empty() {
        root.to_owned()
    } else {
        root.join(folder)
    }
}

/// Puts roots in the order in which they are searched, and gives each a label of its own: the second of one label gets a
/// number.
///
/// Trusted roots come first. A folder that is reached twice belongs to the first; a link in a project that nobody trusts
/// must not make the person's skill the project's.
pub(crate) fn arranged(mut roots: Vec<Root>) -> Vec<Root> {
    roots.sort_by_key(|root| root.trust == Trust::Untrusted);
    for at in 1..roots.len() {
        let (before, rest) = roots.split_at_mut(at);
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
    use super::{PluginName, Root, arranged};
    use crate::catalog::scope::Scope;
    use crate::read::source::MemorySource;

    #[test]
    fn plugin_name_that_could_forge_an_id_cannot_be_built() {
        for text in ["", "a:b", "user", "User", "PERSONAL", "*", "a/b", " a"] {
            assert!(text.parse::<PluginName>().is_err(), "{text:?}");
        }
        assert!("acme-tools".parse::<PluginName>().is_ok());
    }

    #[test]
    fn roots_of_one_label_are_told_apart() {
        let root = || Root::new(Scope::User, "a", MemorySource::default());
        let roots = arranged(vec![root(), root(), root()]);
        let labels: Vec<_> = roots.iter().map(Root::label).collect();
        assert_eq!(labels, ["a", "a~2", "a~3"]);
    }
}
