//! What the log says: one record for each thing that happened.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use skillfold_core::load::Digest;
use skillfold_core::text::truncate_bytes;

use crate::files::skill_folder::SkillPath;

/// The format of the records that this version writes. Whoever gives a member another meaning, or adds one that matters, raises it.
pub(super) const FORMAT: u32 = 1;

/// A record of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The format of the record.
    pub format: u32,
    /// Its number, counted from 1.
    pub number: u64,
    /// When it was written, in UTC.
    pub time: String,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What a record of any format has besides the members of [`ForeignRecord`].
#[derive(Deserialize)]
pub(super) struct RecordHead {
    pub(super) format: u32,
}

/// A record of another format.
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

/// Something that happened, in a form that this version does not know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownEvent {
    event: String,
    #[serde(flatten)]
    members: BTreeMap<String, serde_json::Value>,
}

impl UnknownEvent {
    /// Returns the name of the event.
    pub fn name(&self) -> &str {
        &self.event
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A proposal was written.
    Proposed {
        /// The digest of its file.
        proposal: Digest,
        /// The name of its file.
        file: String,
        /// The id of the skill.
        skill: String,
        /// Who proposed it.
        author: Author,
    },
    /// A change was proposed again that is proposed already.
    ProposedAgain {
        /// The proposal that is there.
        proposal: Digest,
        /// Who proposed it again.
        author: Author,
        /// Why.
        justification: String,
    },
    /// A reviewer who may not decide said what they think.
    Recommended {
        /// The proposal.
        proposal: Digest,
        /// Who.
        by: String,
        /// What.
        verdict: Verdict,
        /// Why.
        reason: String,
    },
    /// A proposal was rejected.
    Rejected {
        /// The proposal.
        proposal: Digest,
        /// Who.
        by: String,
        /// Why.
        reason: String,
    },
    /// Something is about to be changed.
    Started {
        /// What is done, and by whom.
        #[serde(flatten)]
        operation: Operation,
        /// What it changes.
        target: Target,
        /// The digest before; `None` if there is nothing yet.
        before: Option<Digest>,
        /// The digest after; `None` if there is nothing then.
        after: Option<Digest>,
    },
    /// What was started has ended.
    Finished {
        /// The number of the record that started it.
        started: u64,
        /// How it ended.
        outcome: OperationOutcome,
    },
    /// Whether clients may ask if a skill may run.
    ClientsMayAsk {
        /// Whether they may, from then on.
        allowed: bool,
        /// Who decided it, and how.
        approval: RecordedApproval,
    },
    /// A skill whose versions are kept was changed outside Skillfold.
    Edited {
        /// The skill.
        skill: SkillPath,
        /// The version that was known.
        before: Option<Digest>,
        /// The version that was found.
        after: Option<Digest>,
    },
    /// Something that a newer version recorded.
    #[serde(untagged)]
    Unknown(UnknownEvent),
}

/// Something that changes more than the log.
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
    /// Skills are trusted that would be held otherwise.
    TrustSkills {
        /// The first of their folders.
        folders: Vec<PathBuf>,
        /// How many there are.
        total: usize,
    },
    /// A skill is no longer trusted.
    DistrustSkill {
        /// Its folder.
        folder: PathBuf,
    },
    /// A skill may run its scripts and tools.
    Allow {
        /// Its folder.
        folder: PathBuf,
        /// The digest of what was looked at.
        digest: Digest,
        /// What was granted, one line each.
        granted: Vec<String>,
        /// The packages that were installed for its scripts, each with its version.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        packages: Vec<String>,
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

/// What an operation changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Target {
    /// A skill, with the name under which its new folder is built.
    Skill(SkillPath, String),
    /// A file.
    File(PathBuf),
}

/// How something that was started ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OperationOutcome {
    /// It is done.
    Done,
    /// Nothing was changed.
    Undone,
    /// It was found neither done nor undone: something else changed the target.
    Overtaken,
}

/// Who proposed something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Author {
    /// The agent or the person.
    pub name: String,
    /// The conversation, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Maximum bytes of an author's name and of the conversation's. Clients choose them.
const MAX_NAME_BYTES: usize = 256;

impl Author {
    /// Creates an author without a conversation. A name of more than 256 bytes is cut, and ends with `…`.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: cut(name.into()),
            session: None,
        }
    }

    /// Adds the conversation. A name of more than 256 bytes is cut, and ends with `…`.
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

/// What a reviewer thinks of a proposal.
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
    /// Someone was asked at a terminal.
    Terminal,
    /// Someone gave the passphrase.
    Passphrase,
    /// The host program decided, or someone whom it lets decide.
    Host,
    /// A client asked, and says that the person agreed.
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

/// An approval as the log keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedApproval {
    /// The person, or the name that the host gave.
    pub by: String,
    /// How it was given.
    pub how: ApprovedBy,
    /// With a passphrase: the proof that whoever approved knew it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
}
