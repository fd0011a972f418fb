//! A plugin of a source.

use serde_json::{Map, Value};
use skillfold_core::name::SkillName;

/// A plugin whose folder is in the source.
pub(super) struct Plugin {
    pub(super) name: String,
    pub(super) folder: String,
    /// The folders that it lists: skills, or folders of skills.
    pub(super) listed: Vec<String>,
    pub(super) extent: Extent,
}

/// Which skills a plugin has besides those that it lists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// None.
    Listed,
    /// Its folder, if that is a skill, and all skills below its folder `skills`.
    Below,
    /// The skills directly in its folder `skills`.
    Children,
}

/// Returns a plugin's name, if it is safe to use.
pub(super) fn plugin_name(fields: &Map<String, Value>) -> Option<String> {
    let name: SkillName = fields.get("name")?.as_str()?.parse().ok()?;
    Some(name.as_str().to_owned())
}
