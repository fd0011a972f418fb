//! Suggests a skill's next version from a change.

use std::collections::BTreeSet;
use std::fmt;

use skillfold_core::load::FileKind;
use skillfold_core::read::{Fields, Parsed, ToolCheck, parse};
use skillfold_core::{Code, Manifest};

use crate::change::apply::FileEdit;
use crate::change::parts::{SKILL_FILE, quoted};

/// A semantic version bump, smallest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Bump {
    /// `1.2.3` to `1.2.4`: same behavior, better wording.
    Patch,
    /// `1.2.3` to `1.3.0`: the skill does more, or triggers at other times.
    Minor,
    /// `1.2.3` to `2.0.0`: anyone who relies on the skill, or granted it permissions, should look again.
    Major,
}

impl Bump {
    /// Returns the bump as a lowercase word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Major => "major",
        }
    }

    /// Returns the bumped version; `None` if `version` is not three dotted numbers.
    ///
    /// ```
    /// use skillfold_store::change::Bump;
    ///
    /// assert_eq!(Bump::Minor.next("1.2.3").as_deref(), Some("1.3.0"));
    /// assert_eq!(Bump::Minor.next("1.2.3-beta"), None);
    /// ```
    pub fn next(self, version: &str) -> Option<String> {
        let mut numbers = version.split('.').map(|number| {
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            let is_canonical = number == "0" || !number.starts_with('0');
            (is_number && is_canonical).then(|| number.parse::<u64>().ok())?
        });
        let mut number = || numbers.next().flatten();
        let (major, minor, patch) = (number()?, number()?, number()?);
        if numbers.next().is_some() {
            return None;
        }
        Some(match self {
            Self::Patch => format!("{major}.{minor}.{}", patch.checked_add(1)?),
            Self::Minor => format!("{major}.{}.0", minor.checked_add(1)?),
            Self::Major => format!("{}.0.0", major.checked_add(1)?),
        })
    }
}

impl fmt::Display for Bump {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Maximum number of reasons listed.
const MAX_REASONS: usize = 10;

/// A suggested bump, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SuggestedBump {
    /// The bump.
    pub bump: Bump,
    /// What calls for this bump, separated by semicolons, without a period.
    pub reason: String,
}

/// Suggests a bump for edits to the skill in the folder named `folder`, as a reviewer would:
///
/// - [Major](Bump::Major) if a file is deleted, which includes renames; if the name changes, `SKILL.md` no longer
///   parses, or the skill may do more: `allowed-tools` gains an entry or is removed, `toolsets` gains one, or a field
///   changes that runs commands, forbids tools, or controls who may start the skill.
/// - [Minor](Bump::Minor) if another frontmatter field changes (`description`, `triggers`, …), a file is added, or a
///   script changes. A script change is not major, because an agent can only run it with tools it already has; but it
///   changes more than wording.
/// - [Patch](Bump::Patch) otherwise: the instructions or another file's text changes. `version` itself does not count.
pub fn suggest_bump(edits: &[FileEdit], folder: &str) -> SuggestedBump {
    let mut reasons = Vec::new();
    for edit in edits.iter().filter(|edit| edit.old != edit.new) {
        let path = &edit.path;
        let what = if is_script(path.as_str()) {
            format!("the script `{path}`")
        } else {
            format!("`{path}`")
        };
        match (&edit.old, &edit.new) {
            (_, None) => reasons.push((Bump::Major, format!("{what} is deleted"))),
            (None, Some(_)) => reasons.push((Bump::Minor, format!("{what} is new"))),
            (Some(_), Some(_)) if is_script(path.as_str()) => {
                reasons.push((Bump::Minor, format!("{what} changes")));
            }
            (Some(old), Some(new)) => {
                reasons.push((Bump::Patch, format!("the text of {what} changes")));
                if path.as_str() == SKILL_FILE {
                    reasons.extend(compare_skill_files(old, new, folder));
                }
            }
        }
    }
    let bump = reasons.iter().map(|(bump, _)| *bump).max();
    let bump = bump.unwrap_or(Bump::Patch);
    reasons.retain(|(step, _)| *step == bump);
    let more = reasons.len().saturating_sub(MAX_REASONS);
    let reasons = reasons.into_iter().map(|(_, reason)| reason);
    let mut reasons: Vec<String> = reasons.take(MAX_REASONS).collect();
    if more > 0 {
        reasons.push(format!("and {more} more"));
    }
    SuggestedBump {
        bump,
        reason: reasons.join("; "),
    }
}

/// Returns whether a file is meant to be run.
fn is_script(path: &str) -> bool {
    let folder = path.split_once('/').map(|(folder, _)| folder);
    FileKind::from_path(path) == FileKind::Script
        || folder.is_some_and(|folder| folder.eq_ignore_ascii_case("scripts"))
}

/// Fields the engine ignores, but whose change widens or narrows what a client lets the skill do.
const PERMISSION_FIELDS: [&str; 3] = ["hooks", "disallowed-tools", "shell"];

fn compare_skill_files(old: &[u8], new: &[u8], folder: &str) -> Vec<(Bump, String)> {
    let (old, new) = (parse(old, folder), parse(new, folder));
    if describes_itself(&old) && new.manifest.is_some() && !describes_itself(&new) {
        let reason = format!("`{SKILL_FILE}` no longer has a description");
        return vec![(Bump::Major, reason)];
    }
    let (old, new) = (old.manifest, new.manifest);
    match (&old, &new) {
        (Some(_), None) => {
            let reason = format!("`{SKILL_FILE}` can no longer be read as a skill");
            vec![(Bump::Major, reason)]
        }
        (None, Some(_)) => {
            let reason = format!("`{SKILL_FILE}` can be read as a skill again");
            vec![(Bump::Minor, reason)]
        }
        (Some(old), Some(new)) => {
            let major = changed_promises(old, new).into_iter();
            let minor = changed_fields(old, new).into_iter();
            let major = major.map(|reason| (Bump::Major, reason));
            let minor = minor.map(|field| (Bump::Minor, format!("{} changes", quoted(field))));
            major.chain(minor).collect()
        }
        (None, None) => Vec::new(),
    }
}

/// Returns whether a skill has a description of its own.
fn describes_itself(parsed: &Parsed) -> bool {
    let findings = &parsed.diagnostics;
    parsed.manifest.is_some()
        && !findings
            .iter()
            .any(|it| it.code == Code::DescriptionFromBody)
}

/// Lists how a skill's name changes, what more it may do, and who else may start it.
fn changed_promises(old: &Manifest, new: &Manifest) -> Vec<String> {
    let mut reasons = Vec::new();
    if old.name() != new.name() {
        let (old, new) = (quoted(old.name().as_str()), quoted(new.name().as_str()));
        reasons.push(format!("the name changes from {old} to {new}"));
    }
    if !old.allowed_tools().is_empty() && new.allowed_tools().is_empty() {
        reasons.push("`allowed-tools` is removed".to_owned());
    }
    for entry in new.allowed_tools() {
        if is_wider(entry, old, new) {
            reasons.push(format!("`allowed-tools` gains {}", quoted(entry)));
        }
    }
    for toolset in new.toolsets() {
        if !old.toolsets().contains(toolset) {
            reasons.push(format!("`toolsets` gains {}", quoted(toolset)));
        }
    }
    if old.disable_model_invocation() != new.disable_model_invocation() {
        reasons.push("`disable-model-invocation` changes".to_owned());
    }
    if old.default_enabled() != new.default_enabled() {
        reasons.push("`default_enabled` changes".to_owned());
    }
    for field in PERMISSION_FIELDS {
        if old.other().get(field) != new.other().get(field) {
            reasons.push(format!("`{field}` changes"));
        }
    }
    reasons
}

/// Returns whether an entry in the new `allowed-tools` permits a use that the old ones do not.
fn is_wider(entry: &str, old: &Manifest, new: &Manifest) -> bool {
    if let Some((tool, _)) = entry.split_once('(') {
        let is_known = old.allowed_tools().iter().any(|known| **known == *entry);
        return !is_known && old.check_tool(tool.trim_end()) != ToolCheck::Allowed;
    }
    match (old.check_tool(entry), new.check_tool(entry)) {
        (ToolCheck::Allowed, _) => false,
        (ToolCheck::Conditional(old), ToolCheck::Conditional(new)) => {
            new.iter().any(|rule| !old.contains(rule))
        }
        _ => true,
    }
}

/// Returns the changed fields, except `version`.
fn changed_fields<'m>(old: &'m Manifest, new: &'m Manifest) -> Vec<&'m str> {
    let fields = [
        ("description", old.description() != new.description()),
        (
            "brief_description",
            old.brief_description() != new.brief_description(),
        ),
        ("triggers", old.triggers() != new.triggers()),
        ("tags", old.tags() != new.tags()),
        ("allowed-tools", old.allowed_tools() != new.allowed_tools()),
        ("toolsets", old.toolsets() != new.toolsets()),
        ("scripts", old.scripts() != new.scripts()),
        ("requires", old.requires() != new.requires()),
        ("model", old.model() != new.model()),
        ("license", old.license() != new.license()),
        ("compatibility", old.compatibility() != new.compatibility()),
        (
            "metadata",
            !changed_names(old.metadata(), new.metadata()).is_empty(),
        ),
    ];
    let changed = fields.into_iter().filter(|(_, is_changed)| *is_changed);
    let changed = changed.map(|(field, _)| field);
    changed
        .chain(changed_names(old.other(), new.other()))
        .collect()
}

/// Returns the names of the fields that differ, except `version`.
fn changed_names<'m>(old: &'m Fields, new: &'m Fields) -> BTreeSet<&'m str> {
    let names = old.iter().chain(new.iter()).map(|(name, _)| name);
    names
        .filter(|name| *name != "version" && old.get(name) != new.get(name))
        .collect()
}
