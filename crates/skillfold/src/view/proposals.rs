//! The JSON views of proposals, of a skill's versions and of the log.

use skillfold_core::Error;
use skillfold_core::view::DiagnosticView;
use skillfold_store::{
    LogRecords, PendingProposal, Proposals, Record, SkillPath, SkillVersion, VersionCause,
};

use crate::improve::{ChangedQuery, Effects, Reach};
use crate::json::Json;

/// The proposals that wait for a decision.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProposalList {
    /// The proposals, oldest first.
    pub proposals: Vec<ProposalView>,
    /// Why a file in the folder of proposals is not one.
    pub unreadable: Vec<String>,
}

impl ProposalList {
    /// Creates the view of the proposals.
    pub fn new(proposals: &Proposals) -> Self {
        let unreadable = proposals.unreadable.iter();
        Self {
            proposals: proposals.waiting.iter().map(ProposalView::new).collect(),
            unreadable: unreadable.map(Error::with_cause).collect(),
        }
    }
}

/// A proposal that waits for a decision.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProposalView {
    /// Its name: that of its file without `.md`.
    pub name: String,
    /// The digest of its file.
    pub digest: String,
    /// The id of the skill.
    pub skill_id: String,
    /// The folder of the skill.
    pub folder: String,
    /// The digest of the version that it changes; absent for a new skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Who proposed it.
    pub author: String,
    /// The conversation in which it was proposed, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// When, in UTC as RFC 3339.
    pub time: String,
    /// Why.
    pub justification: String,
    /// What shows that it is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// Whether it was written by the tools or by the command, and not by other hands.
    pub is_recorded: bool,
    /// How often the same change was proposed again.
    pub repeated: usize,
    /// What reviewers who may not decide recommend.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recommendations: Vec<Recommendation>,
    /// The change as a unified diff; only if one proposal is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// What the change does; only if one proposal is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effects: Option<EffectsView>,
}

/// What a reviewer thinks of a proposal.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Recommendation {
    /// Who.
    pub by: String,
    /// `approve` or `reject`.
    pub verdict: String,
    /// Why.
    pub reason: String,
}

/// What a change of a skill does.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EffectsView {
    /// The effects as sentences.
    pub lines: Vec<String>,
    /// What the skill would reach and does not reach now, by kind.
    pub reaches: Vec<Reach>,
    /// The permissions that it would no longer ask for.
    pub removed_permissions: Vec<String>,
    /// The findings that the skill would have and does not have now.
    pub new_findings: Vec<DiagnosticView>,
    /// The tokens of the description, before and after.
    pub description_tokens: [u64; 2],
    /// The tokens of the instructions, before and after.
    pub instruction_tokens: [u64; 2],
    /// The labelled requests that were run.
    pub queries: usize,
    /// Those with another outcome.
    pub changed_queries: Vec<ChangedQuery>,
    /// The suggested step of the version: `patch`, `minor` or `major`.
    pub step: String,
    /// The suggested version, if the skill has one now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_version: Option<String>,
}

impl EffectsView {
    /// Creates the view of effects.
    pub fn new(effects: &Effects) -> Self {
        Self {
            lines: effects.lines(),
            reaches: effects.reaches.clone(),
            removed_permissions: effects.removed_permissions.clone(),
            new_findings: DiagnosticView::all(&effects.new_findings),
            description_tokens: effects.description_tokens,
            instruction_tokens: effects.instruction_tokens,
            queries: effects.queries,
            changed_queries: effects.changed_queries.clone(),
            step: effects.bump.bump.to_string(),
            next_version: effects.next_version.clone(),
        }
    }
}

impl ProposalView {
    /// Creates the view of a proposal, without its diff and its effects.
    pub fn new(waiting: &PendingProposal) -> Self {
        let proposal = &waiting.proposal;
        let recommendations = waiting.recommendations.iter();
        Self {
            name: proposal.name().to_owned(),
            digest: proposal.digest.to_string(),
            skill_id: proposal.skill.clone(),
            folder: proposal.place.path().to_string_lossy().into_owned(),
            base: proposal.base.map(|base| base.to_string()),
            author: proposal.author.name.clone(),
            session: proposal.author.session.clone(),
            time: proposal.time.clone(),
            justification: proposal.justification.clone(),
            evidence: proposal.evidence.clone(),
            is_recorded: waiting.is_recorded,
            repeated: waiting.repeated,
            recommendations: recommendations
                .map(|(by, verdict, reason)| Recommendation {
                    by: by.clone(),
                    verdict: verdict.to_string(),
                    reason: reason.clone(),
                })
                .collect(),
            diff: None,
            effects: None,
        }
    }

    /// Adds the diff and what the change does.
    #[must_use]
    pub fn with_effects(mut self, waiting: &PendingProposal, effects: &Effects) -> Self {
        self.diff = Some(waiting.proposal.diff.clone());
        self.effects = Some(EffectsView::new(effects));
        self
    }
}

/// The versions of a skill.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct History {
    /// The id of the skill.
    pub skill_id: String,
    /// The folder of the skill.
    pub folder: String,
    /// The versions, oldest first.
    pub versions: Vec<VersionRow>,
}

/// A version of a skill.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VersionRow {
    /// Its digest; absent if the skill was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// When it came, in UTC as RFC 3339.
    pub time: String,
    /// How it came: `found`, `approved`, `rolled_back` or `edited`.
    pub cause: String,
    /// Who approved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// How it was approved: `terminal`, `passphrase` or `host`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The digest of the proposal that brought it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<String>,
    /// Whether its files are kept, so that it can be taken again.
    pub is_kept: bool,
}

impl History {
    /// Creates the view of a skill's versions.
    pub fn new(id: &str, place: &SkillPath, versions: &[SkillVersion]) -> Self {
        Self {
            skill_id: id.to_owned(),
            folder: place.path().to_string_lossy().into_owned(),
            versions: versions.iter().map(VersionRow::new).collect(),
        }
    }
}

impl VersionRow {
    /// Creates the view of a version.
    pub fn new(version: &SkillVersion) -> Self {
        let (cause, approval, reason, proposal) = match &version.cause {
            VersionCause::Approved {
                proposal,
                approval,
                reason,
            } => ("approved", Some(approval), Some(reason), Some(proposal)),
            VersionCause::RolledBack { approval, reason } => {
                ("rolled_back", Some(approval), Some(reason), None)
            }
            VersionCause::Installed { .. } => ("installed", None, None, None),
            VersionCause::Removed { reason } => ("removed", None, Some(reason), None),
            VersionCause::Edited => ("edited", None, None, None),
            _ => ("found", None, None, None),
        };
        Self {
            digest: version.digest.map(|digest| digest.to_string()),
            time: version.time.clone(),
            cause: cause.to_owned(),
            by: approval.map(|approval| approval.by.clone()),
            how: approval.map(|approval| approval.how.to_string()),
            reason: reason.cloned(),
            proposal: proposal.map(ToString::to_string),
            is_kept: version.is_kept,
        }
    }
}

/// The log of what was proposed and decided.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Audit {
    /// The records, oldest first, each as it is in the file.
    pub records: Vec<Json>,
    /// The last hash, which stands for all records. Empty if there are none.
    pub head: String,
    /// Whether every record is bound to the one before.
    pub is_whole: bool,
    /// The first line that is not, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damaged_line: Option<u64>,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Audit {
    /// Creates the view of the log, with those of its records that `is_shown` accepts.
    pub fn new(log: &LogRecords, is_shown: impl Fn(&Record) -> bool) -> Self {
        let records = log.records.iter().filter(|record| is_shown(record));
        Self {
            records: records.map(Json::of).collect(),
            head: log.head.clone(),
            is_whole: log.damage.is_none(),
            damaged_line: log.damage.as_ref().map(|damage| damage.line),
            reason: log.damage.as_ref().map(|damage| damage.reason.to_owned()),
        }
    }
}
