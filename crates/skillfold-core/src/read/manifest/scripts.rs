//! The scripts and toolsets that a skill declares, with checked paths.

use crate::name::ResourcePath;
use crate::read::manifest::Manifest;
use crate::read::value::Value;

impl Manifest {
    /// Returns the paths of the scripts that the skill lists: each entry is a path, or a mapping with a `path`. Entries
    /// that are no path inside the skill are left out; they are reported as `SF209`.
    ///
    /// ```
    /// let file = b"---\nname: a\ndescription: d\nscripts: [scripts/run.py, ../evil.sh, { path: x.sh }]\n---\n";
    /// let manifest = skillfold_core::read::parse(file, "a").manifest.unwrap();
    /// let paths: Vec<_> = manifest.script_paths().map(|path| path.to_string()).collect();
    /// assert_eq!(paths, ["scripts/run.py", "x.sh"]);
    /// ```
    pub fn script_paths(&self) -> impl Iterator<Item = ResourcePath> {
        let paths = self.scripts().iter().filter_map(script_path);
        paths.filter_map(|path| path.parse().ok())
    }
}

/// Returns the path of an entry under `scripts`, as it is written.
pub(super) fn script_path(entry: &Value) -> Option<&str> {
    entry.text_or_field("path")
}

/// Returns whether a toolset is written as `path:Name`, with a path inside the skill.
pub(super) fn is_toolset(text: &str) -> bool {
    text.rsplit_once(':')
        .is_some_and(|(path, name)| !name.is_empty() && path.parse::<ResourcePath>().is_ok())
}
