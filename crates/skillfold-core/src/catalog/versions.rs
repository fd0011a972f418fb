//! The versions of the programs that skills are used with, and what skills need of them.

use std::collections::BTreeMap;
use std::fmt;

use crate::catalog::canonical::canonical;
use crate::diagnostic::quoted;
use crate::read::manifest::Manifest;
use crate::read::version::{Version, VersionRange};

/// The name of this engine among the programs.
const ENGINE: &str = "skillfold";

/// The versions of the programs that skills are used with: by default the version of this engine.
///
/// ```
/// use skillfold_core::catalog::Versions;
///
/// let file = "---\nname: pdf\ndescription: Fills in forms\nengines: { my-agent: '>=2.0' }\n---\n";
/// let manifest = skillfold_core::read::parse(file.as_bytes(), "pdf").manifest.unwrap();
/// assert_eq!(Versions::default().mismatches(&manifest), []);
/// let versions = Versions::default().with("my-agent", "1.4");
/// assert_eq!(versions.mismatches(&manifest)[0].to_string(), "it needs `my-agent` `>=2.0`, and this is 1.4.0");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions(BTreeMap<Box<str>, Version>);

/// A program that a skill needs another version of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VersionMismatch {
    /// The program, as the skill names it.
    pub program: Box<str>,
    /// The range of versions that the skill needs, as it is written there.
    pub needed: Box<str>,
    /// The version that is there.
    pub found: Box<str>,
}

impl fmt::Display for VersionMismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (program, needed) = (quoted(&self.program), quoted(&self.needed));
        write!(
            formatter,
            "it needs {program} {needed}, and this is {}",
            self.found
        )
    }
}

/// What becomes of a skill that needs another version of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MismatchPolicy {
    /// It is used, and reported.
    #[default]
    Warn,
    /// It is withheld, and reported.
    Hide,
}

/// Whether a skill is withheld because of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compatibility {
    Compatible,
    Incompatible,
}

impl Default for Versions {
    fn default() -> Self {
        Self::none().with(ENGINE, env!("CARGO_PKG_VERSION"))
    }
}

impl Versions {
    /// Creates an empty list, to which programs are added.
    pub fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// Adds a program. One whose version is not written in numbers stays unknown, and nothing is said about it.
    #[must_use]
    pub fn with(mut self, program: &str, version: &str) -> Self {
        if let Some(version) = Version::parse(version) {
            self.0.insert(canonical(program).into(), version);
        }
        self
    }

    /// Returns the programs that a skill needs another version of. Programs that are not known here, and ranges that cannot
    /// be read, are no mismatch.
    pub fn mismatches(&self, manifest: &Manifest) -> Vec<VersionMismatch> {
        if !manifest.has_engines() {
            return Vec::new();
        }
        let needed = manifest.engines().iter();
        let mismatches = needed.filter_map(|needed| {
            let version = self.0.get(&*canonical(&needed.program))?;
            let range = VersionRange::parse(&needed.range)?;
            (!range.contains(*version)).then(|| VersionMismatch {
                program: needed.program.clone(),
                needed: needed.range.clone(),
                found: version.to_string().into(),
            })
        });
        mismatches.collect()
    }

    pub(crate) fn compatibility(
        &self,
        manifest: &Manifest,
        policy: MismatchPolicy,
    ) -> Compatibility {
        match policy {
            MismatchPolicy::Hide if !self.mismatches(manifest).is_empty() => {
                Compatibility::Incompatible
            }
            _ => Compatibility::Compatible,
        }
    }
}
