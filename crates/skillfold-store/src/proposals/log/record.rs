//! The log's records, one per event.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use skillfold_core::load::Digest;
use skillfold_core::text::truncate_bytes;

use crate::files::skill_folder::SkillPath;

/// The record format this version writes. Bump it when a member changes its meaning or one that matters is added.
pub(super) const FORMAT: u32 = 2;

/// A log record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The record's format.
    pub format: u32,
    /// Its number, counted from 1.
    pub number: u64,
    /// When it was written, in UTC.
    pub time: String,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// The members of a record in any format besides those of [`ForeignRecord`].
#[derive(Deserialize)]
pub(super) struct RecordHead {
    pub(super) format: u32,
}

/// A record in another format.
#[derive(Deserialize)]
pub(super) struct ForeignRecord {
    format: u32,
    number: u64,
    time: String,
    #[serde(flatten)]
    event: UnknownEvent,
}

impl From<ForeignRecord> for Record {
    fn from(record: ForeignRecord) -> Self {
        Self {
            format: record.format,
            number: record.number,
            time: record.time,
            event: Event::Unknown(record.event),
        }
    }
}

/// An event unknown to this version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownEvent {
    event: String,
    #[serde(flatten)]
    members: BTreeMap<String, serde_json::Value>,
}

impl UnknownEvent {
    /// Returns the event's name.
    pub fn name(&self) -> &str {
        &self.event
    }
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A proposal was written.
    Proposed {
        /// The digest of the proposal's file.
        proposal: Digest,
        /// The name of the proposal's file.
        file: String,
        /// The skill's id.
        skill: String,
        /// Who proposed it.
        author: Author,
    },
    /// A change that is already pending was proposed again.
    ProposedAgain {
        /// The pending proposal.
        proposal: Digest,
        /// Who proposed it again.
        author: Author,
        /// Why.
        justification: String,
    },
    /// A reviewer who may not decide gave an opinion.
    Recommended {
        /// The proposal.
        proposal: Digest,
        /// Who gave it.
        by: String,
        /// The opinion.
        verdict: Verdict,
        /// Why.
        reason: String,
    },
    /// A proposal was rejected.
    Rejected {
        /// The proposal.
        proposal: Digest,
        /// Who rejected it.
        by: String,
        /// Why.
        reason: String,
    },
    /// An operation is about to start.
    Started {
        /// The operation, and who performs it.
        #[serde(flatten)]
        operation: Operation,
        /// What it changes.
        target: Target,
        /// The digest before; `None` if the target does not exist yet.
        before: Option<Digest>,
        /// The digest after; `None` if the target is removed.
        after: Option<Digest>,
    },
    /// An operation ended.
    Finished {
        /// The number of its `Started` record.
        started: u64,
        /// How it ended.
        outcome: OperationOutcome,
    },
    /// The user decided whether clients may ask to run a skill.
    ClientsMayAsk {
        /// Whether they may from now on.
        allowed: bool,
        /// Who decided it, and how.
        approval: RecordedApproval,
    },
    /// A skill with stored versions was edited outside Skillfold.
    Edited {
        /// The skill.
        skill: SkillPath,
        /// The last known version.
        before: Option<Digest>,
        /// The version found.
        after: Option<Digest>,
    },
    /// An event recorded by a newer version.
    #[serde(untagged)]
    Unknown(UnknownEvent),
}

/// An operation that changes more than the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Operation {
    /// A proposal is approved and applied.
    Approve {
        /// The proposal.
        proposal: Digest,
        /// Who approved it, and how.
        approval: RecordedApproval,
        /// Why it was proposed.
        reason: String,
    },
    /// An earlier version of a skill is restored.
    RollBack {
        /// Who approved it, and how.
        approval: RecordedApproval,
        /// Why.
        reason: String,
    },
    /// A skill becomes what a lock says.
    Install {
        /// The lock.
        lock: PathBuf,
    },
    /// A skill is removed.
    Remove {
        /// Why.
        reason: String,
    },
    /// A folder is trusted.
    Trust {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder is no longer trusted.
    Distrust {
        /// The folder.
        folder: PathBuf,
    },
    /// Skills are trusted that would otherwise be held back.
    TrustSkills {
        /// The first of their folders.
        folders: Vec<PathBuf>,
        /// Their total number.
        total: usize,
    },
    /// A skill is no longer trusted.
    DistrustSkill {
        /// Its folder.
        folder: PathBuf,
    },
    /// A skill may run its scripts and tools.
    Allow {
        /// What it may do.
        #[serde(flatten)]
        allowance: Box<Allowance>,
        /// Who allowed it, and how.
        approval: RecordedApproval,
    },
    /// A skill may no longer run anything.
    Disallow {
        /// Its folder.
        folder: PathBuf,
    },
    /// The passphrase for approvals is set or changed.
    SetPassphrase,
}

/// What a skill may do when it runs. An approval signs all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Allowance {
    /// The skill's folder.
    pub folder: PathBuf,
    /// The digest of what was reviewed.
    pub digest: Digest,
    /// The permissions granted, one per line.
    pub granted: Vec<String>,
    /// The packages installed for its scripts, with versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
    /// The digest of its entry in the list of skills that may run.
    pub entry: Digest,
}

impl Allowance {
    /// Creates an allowance without permissions or packages.
    pub fn new(folder: impl Into<PathBuf>, digest: Digest, entry: Digest) -> Self {
        Self {
            folder: folder.into(),
            digest,
            granted: Vec::new(),
            packages: Vec::new(),
            entry,
        }
    }

    /// Sets the permissions granted, one per line.
    #[must_use]
    pub fn with_granted(mut self, granted: Vec<String>) -> Self {
        self.granted = granted;
        self
    }

    /// Sets the packages installed for its scripts.
    #[must_use]
    pub fn with_packages(mut self, packages: Vec<String>) -> Self {
        self.packages = packages;
        self
    }

    /// Returns the text that an approval to run the skill signs.
    pub(crate) fn signed_text(&self) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        format!("allow\n{json}")
    }
}

/// What an operation changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Target {
    /// A skill, with its new folder's name while it is built.
    Skill(SkillPath, String),
    /// A file.
    File(PathBuf),
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OperationOutcome {
    /// It is done.
    Done,
    /// Nothing was changed.
    Undone,
    /// Neither done nor undone: something else changed the target.
    Overtaken,
}

/// Who proposed a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Author {
    /// The agent or user.
    pub name: String,
    /// The conversation, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Maximum length in bytes of an author's name and of a conversation's. Clients choose them.
const MAX_NAME_BYTES: usize = 256;

impl Author {
    /// Creates an author without a conversation. A name over 256 bytes is cut and ends with `…`.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: cut(name.into()),
            session: None,
        }
    }

    /// Adds the conversation. A name over 256 bytes is cut and ends with `…`.
    #[must_use]
    pub fn in_session(mut self, session: Option<impl Into<String>>) -> Self {
        self.session = session.map(|session| cut(session.into()));
        self
    }
}

fn cut(name: String) -> String {
    if name.len() <= MAX_NAME_BYTES {
        return name;
    }
    format!(
        "{}…",
        truncate_bytes(&name, MAX_NAME_BYTES - '…'.len_utf8())
    )
}

/// A reviewer's opinion of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// It should be approved.
    Approve,
    /// It should be rejected.
    Reject,
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
        })
    }
}

/// How an approval was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovedBy {
    /// The user was asked at a terminal.
    Terminal,
    /// The user gave the passphrase.
    Passphrase,
    /// The host program decided, or someone it delegated to.
    Host,
    /// A client asked, and says the user agreed.
    Client,
}

impl fmt::Display for ApprovedBy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Terminal => "terminal",
            Self::Passphrase => "passphrase",
            Self::Host => "host",
            Self::Client => "client",
        })
    }
}

/// An approval as logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedApproval {
    /// The user, or the name given by the host.
    pub by: String,
    /// How it was given.
    pub how: ApprovedBy,
    /// With a passphrase: proof that the approver knew it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
}
