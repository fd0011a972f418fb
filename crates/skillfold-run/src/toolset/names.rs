//! Tool names for models.

use std::collections::BTreeMap;

use skillfold_core::load::Digest;

use crate::error::{RunError, RunErrorKind};

/// Maximum length of a name in characters, as in model APIs.
const MAX_NAME: usize = 64;

/// Number of digest characters at the end of a truncated name.
const DIGEST: usize = 8;

/// Separates skill and tool.
const SEPARATOR: &str = "__";

/// Returns a tool's name for models: `skill__tool`, of letters, digits, `_` and `-`. Other characters become `_`. A
/// name over 64 characters is truncated and ends with part of its digest, so that it stays unique and stable.
///
/// ```
/// use skillfold_run::toolset::qualified_name;
///
/// assert_eq!(qualified_name("pdf", "fill.form")?, "pdf__fill_form");
/// assert_eq!(qualified_name("pdf", &"x".repeat(100))?.len(), 64);
/// # Ok::<(), skillfold_run::RunError>(())
/// ```
///
/// # Errors
///
/// Fails with `invalid_toolset` if the skill or the tool has no name.
pub fn qualified_name(skill_id: &str, tool: &str) -> Result<String, RunError> {
    if skill_id.is_empty() || tool.is_empty() {
        let message = format!("Tool `{tool}` of skill `{skill_id}` has no full name");
        let hint = "Give both the skill and the tool a name";
        return Err(RunError::new(RunErrorKind::InvalidToolset, message, hint));
    }
    let full = format!("{skill_id}{SEPARATOR}{tool}");
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name: String = full
        .chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect();
    if name.len() <= MAX_NAME {
        return Ok(name);
    }
    let digest = Digest::sha256(full.as_bytes()).as_bytes()[..DIGEST / 2]
        .iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    Ok(format!("{}_{digest}", &name[..MAX_NAME - 1 - DIGEST]))
}

/// Tools that would have the same name for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collision {
    /// The name.
    pub name: String,
    /// The skill and name of each tool, in the order given.
    pub tools: Vec<(String, String)>,
}

/// Returns the tools, each given as skill and tool, that share a [`qualified_name`]. A host offers none of them.
///
/// ```
/// use skillfold_run::toolset::collisions;
///
/// let collisions = collisions([("pdf", "fill.form"), ("pdf", "fill_form"), ("pdf", "read")])?;
/// assert_eq!(collisions[0].name, "pdf__fill_form");
/// assert_eq!(collisions[0].tools.len(), 2);
/// # Ok::<(), skillfold_run::RunError>(())
/// ```
///
/// # Errors
///
/// Fails with `invalid_toolset` if a skill or a tool has no name.
pub fn collisions<'a>(
    tools: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<Collision>, RunError> {
    let mut by_name: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (skill_id, tool) in tools {
        let name = qualified_name(skill_id, tool)?;
        let same = by_name.entry(name).or_default();
        same.push((skill_id.to_owned(), tool.to_owned()));
    }
    Ok(by_name
        .into_iter()
        .filter(|(_, tools)| tools.len() > 1)
        .map(|(name, tools)| Collision { name, tools })
        .collect())
}
