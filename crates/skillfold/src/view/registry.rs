//! The JSON views of skills from sources.

use skillfold_core::Error;
use skillfold_core::text::utc;

use super::proposals::{EffectsView, VersionRow};
use crate::registry::{
    AddedSkill, HeldBack, InstallReport, InstalledSkill, Outdated, Pin, RemovedSkill, SkillOrigin,
    SourceContents, UpdateResult, UpdatedSkill, Verification,
};

/// Which version of a source was chosen.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PinView {
    /// The tag, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The commit, for git.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The digest of the archive, for archives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
}

impl PinView {
    fn new(pin: &Pin) -> Self {
        Self {
            tag: pin.tag.clone(),
            commit: pin.commit.clone(),
            archive: pin.archive.map(|digest| digest.to_string()),
        }
    }
}

/// The skills of a source.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SourceSkills {
    /// The source as typed.
    pub source: String,
    /// The skills: by name, or the best first if they were searched.
    pub skills: Vec<SourceSkill>,
    /// What the source has that is not among its skills.
    pub left_out: Vec<LeftOutView>,
}

/// What a source has that is not among its skills.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LeftOutView {
    /// The file or folder in the source.
    pub path: String,
    /// Why it was left out.
    pub reason: String,
}

/// A skill of a source.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SourceSkill {
    /// Its name.
    pub name: String,
    /// Its folder in the source; empty if the source is the skill.
    pub folder: String,
    /// Its description, on one line.
    pub description: String,
    /// The plugin that lists it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin: Option<String>,
    /// The version that is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installed: Option<PinView>,
}

impl SourceSkills {
    /// Creates the view of a source.
    pub fn new(source: &str, found: &SourceContents) -> Self {
        let skills = found.skills.iter().map(|it| SourceSkill {
            name: it.skill.name.to_string(),
            folder: it.skill.folder.clone(),
            description: it.skill.description.clone(),
            plugin: it.skill.plugin.clone(),
            installed: it.installed.as_ref().map(PinView::new),
        });
        let left_out = found.left_out.iter().map(|it| LeftOutView {
            path: it.path.clone(),
            reason: it.reason.clone(),
        });
        Self {
            source: source.to_owned(),
            skills: skills.collect(),
            left_out: left_out.collect(),
        }
    }
}

/// Skills that were proposed from a source.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SkillProposals {
    /// The skills.
    pub skills: Vec<SkillProposal>,
    /// The skills that could not be proposed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<InstallRow>,
}

/// A skill that was proposed from a source.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SkillProposal {
    /// Its name.
    pub name: String,
    /// Its source as typed.
    pub source: String,
    /// The version that is locked now; absent for a new skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<PinView>,
    /// Which version it is.
    pub version: PinView,
    /// The name of the proposal; absent if there is none, or the skill is installed like this already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<String>,
    /// What it would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effects: Option<EffectsView>,
    /// The change as a unified diff.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
    /// The files that the user and the author changed in the same lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
}

impl SkillProposals {
    /// Creates the view of proposals, and of what could not be proposed.
    pub fn new(added: &[AddedSkill], failed: &[(String, Error)]) -> Self {
        Self {
            skills: added.iter().map(SkillProposal::new).collect(),
            failed: InstallRow::failed(failed),
        }
    }
}

impl SkillProposal {
    fn new(added: &AddedSkill) -> Self {
        Self {
            name: added.name.clone(),
            source: added.source.clone(),
            before: added.before.as_ref().map(PinView::new),
            version: PinView::new(&added.pin),
            proposal: added.proposal.as_ref().map(|it| it.name().to_owned()),
            effects: added.effects.as_ref().map(EffectsView::new),
            diff: added.diff.clone(),
            conflicts: added.conflicts.clone(),
        }
    }
}

/// What was restored from the lock.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct InstallView {
    /// Every skill that is locked or could not be proposed.
    pub skills: Vec<InstallRow>,
    /// The skills that are wanted and not in the lock yet, as proposals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proposed: Vec<SkillProposal>,
    /// The skills that are in the lock and no longer wanted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unwanted: Vec<String>,
}

/// A skill of the lock.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct InstallRow {
    /// Its name.
    pub name: String,
    /// `installed`, `unchanged` or `failed`.
    pub state: &'static str,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl InstallRow {
    fn failed(failed: &[(String, Error)]) -> Vec<Self> {
        let rows = failed.iter().map(|(name, error)| Self {
            name: name.clone(),
            state: "failed",
            error: Some(error.with_cause()),
        });
        rows.collect()
    }
}

impl InstallView {
    /// Creates the view of a report.
    pub fn new(report: &InstallReport) -> Self {
        let skills = report.skills.iter().map(|(name, skill)| {
            let (state, error) = match skill {
                InstalledSkill::Installed => ("installed", None),
                InstalledSkill::Unchanged => ("unchanged", None),
                InstalledSkill::Failed(error) => ("failed", Some(error.with_cause())),
            };
            InstallRow {
                name: name.clone(),
                state,
                error,
            }
        });
        Self {
            skills: skills.collect(),
            proposed: report.proposed.iter().map(SkillProposal::new).collect(),
            unwanted: report.unwanted.clone(),
        }
    }
}

/// What is installed, compared with the lock.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VerificationView {
    /// Whether everything is as locked.
    pub is_as_locked: bool,
    /// Every skill that is locked or wanted.
    pub skills: Vec<VerificationRow>,
}

/// A skill compared with the lock.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VerificationRow {
    /// Its name.
    pub name: String,
    /// `equal`, `different`, `missing`, `not_locked` or `not_wanted`.
    pub state: &'static str,
    /// The digest in the lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locked: Option<String>,
    /// The digest of what is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installed: Option<String>,
    /// The folders of clients that do not have it as it is installed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub broken_folders: Vec<String>,
}

impl VerificationView {
    /// Creates the view of a comparison.
    pub fn new(verification: &Verification) -> Self {
        let skills = verification.skills.iter().map(|skill| VerificationRow {
            name: skill.name.clone(),
            state: skill.state.as_str(),
            locked: skill.locked.map(|digest| digest.to_string()),
            installed: skill.installed.map(|digest| digest.to_string()),
            broken_folders: skill
                .broken_folders
                .iter()
                .map(|it| it.folder.to_string_lossy().into_owned())
                .collect(),
        });
        Self {
            is_as_locked: verification.problems().next().is_none(),
            skills: skills.collect(),
        }
    }
}

/// The skills whose sources have another version.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OutdatedView {
    /// The skills.
    pub skills: Vec<OutdatedRow>,
    /// The skills whose newest version the policy does not allow yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held_back: Vec<HeldBackRow>,
    /// The skills whose source did not answer, or is not allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<InstallRow>,
}

/// A skill whose source has another version.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OutdatedRow {
    /// Its name.
    pub name: String,
    /// Its source as typed.
    pub source: String,
    /// The version that is locked.
    pub locked: PinView,
    /// The version that it would be updated to.
    pub newest: PinView,
}

/// A skill whose newest version the policy does not allow yet.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HeldBackRow {
    /// Its name.
    pub name: String,
    /// The newest version.
    pub newest: PinView,
    /// When it is allowed, in UTC; absent if that is never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Why, with the rule and its file.
    pub reason: String,
}

impl HeldBackRow {
    fn new(name: &str, held: &HeldBack) -> Self {
        Self {
            name: name.to_owned(),
            newest: PinView::new(&held.pin),
            until: held.until.map(utc),
            reason: held.error().to_string(),
        }
    }
}

impl OutdatedView {
    /// Creates the view of outdated skills.
    pub fn new(outdated: &Outdated) -> Self {
        let skills = outdated.skills.iter().map(|skill| OutdatedRow {
            name: skill.name.clone(),
            source: skill.source.clone(),
            locked: PinView::new(&skill.locked),
            newest: PinView::new(&skill.newest),
        });
        let failed = outdated.failed.iter();
        let held_back = outdated.held_back.iter();
        Self {
            skills: skills.collect(),
            held_back: held_back
                .map(|it| HeldBackRow::new(&it.name, &it.newest))
                .collect(),
            failed: failed
                .map(|(name, error)| failed_row(name, error))
                .collect(),
        }
    }
}

fn failed_row(name: &str, error: &Error) -> InstallRow {
    InstallRow {
        name: name.to_owned(),
        state: "failed",
        error: Some(error.with_cause()),
    }
}

/// What became of an update.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UpdateView {
    /// The updates that were proposed, or would be.
    pub proposed: Vec<SkillProposal>,
    /// The skills that changed, for a pull request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<SkillProposal>,
    /// The skills whose source has nothing newer, or the same files.
    pub current: Vec<String>,
    /// The skills whose newest version the policy does not allow yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held_back: Vec<HeldBackRow>,
    /// The skills that could not be looked up or fetched, or whose source is not allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<InstallRow>,
}

impl UpdateView {
    /// Creates the view of an update.
    pub fn new(updated: &[UpdatedSkill]) -> Self {
        let mut view = Self {
            proposed: Vec::new(),
            changed: Vec::new(),
            current: Vec::new(),
            held_back: Vec::new(),
            failed: Vec::new(),
        };
        for skill in updated {
            match &skill.result {
                UpdateResult::Proposed(added) if added.effects.is_some() => {
                    view.proposed.push(SkillProposal::new(added));
                }
                UpdateResult::HeldBack(held) => {
                    view.held_back.push(HeldBackRow::new(&skill.name, held));
                }
                UpdateResult::Changed(added) if added.effects.is_some() => {
                    view.changed.push(SkillProposal::new(added));
                }
                UpdateResult::Failed(error) => view.failed.push(failed_row(&skill.name, error)),
                _ => view.current.push(skill.name.clone()),
            }
        }
        view
    }
}

/// The skills that were removed.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RemovedSkills {
    /// Their names.
    pub skills: Vec<String>,
}

impl RemovedSkills {
    /// Creates the view of removed skills.
    pub fn new(removed: &[RemovedSkill]) -> Self {
        Self {
            skills: removed.iter().map(|skill| skill.name.clone()).collect(),
        }
    }
}

/// Where an installed skill is from.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OriginView {
    /// Its name.
    pub name: String,
    /// Its source as typed.
    pub source: String,
    /// The version as typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted: Option<String>,
    /// The version that was chosen.
    pub version: PinView,
    /// Its folder in the source.
    pub folder: String,
    /// Its digest.
    pub digest: String,
    /// When it was locked, in UTC.
    pub time: String,
    /// Whether `skills.toml` wants it.
    pub is_wanted: bool,
    /// The clients that have it in a folder of their own.
    pub clients: Vec<String>,
    /// Its versions on this machine, oldest first.
    pub versions: Vec<VersionRow>,
}

impl OriginView {
    /// Creates the view of a skill's origin.
    pub fn new(origin: &SkillOrigin) -> Self {
        let locked = &origin.locked;
        Self {
            name: locked.name.to_string(),
            source: locked.source.clone(),
            wanted: locked.version.clone(),
            version: PinView::new(&locked.pin),
            folder: locked.folder.clone(),
            digest: locked.digest.to_string(),
            time: locked.time.clone(),
            is_wanted: origin.is_wanted,
            clients: origin.clients.iter().map(|it| it.client.clone()).collect(),
            versions: origin.versions.iter().map(VersionRow::new).collect(),
        }
    }
}
