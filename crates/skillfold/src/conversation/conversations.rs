//! What conversations were given, in files that the processes of one user share: the hook, which runs once for each prompt,
//! and the server.
//!
//! A file has the ids and revisions of skills, digests and times, and no text of the conversation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use skillfold_core::load::Digest;
use skillfold_core::text::FormatNumber;
use skillfold_core::{ContextLifetime, Error, ErrorKind, SessionState};
use skillfold_store::{Access, ReadFile, WriteRoot};

use crate::environment::Environment;

/// The folder of the files, below the user's state folder.
const FOLDER: &str = "conversations";

/// How the names of the files start: with their format, so that another version has files of its own.
const PREFIX: &str = "conversation-2-";

/// How the names of files of any format start. Old ones go, whoever wrote them.
const ANY_PREFIX: &str = "conversation-";

/// The name of the lock file, which is held while a file is replaced.
const LOCK_NAME: &str = "lock";

/// Maximum bytes of a file. A longer one counts as absent.
const MAX_BYTES: u64 = 256 * 1024;

/// Maximum skills that a conversation remembers.
pub(super) const MAX_SKILLS: usize = 200;

/// Maximum bytes of a loaded skill's name. Clients name other things too.
pub(super) const MAX_NAME_BYTES: usize = 1_024;

/// Maximum conversations that are kept.
const MAX_FILES: usize = 1_000;

/// How long a conversation is kept after its last change.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Maximum agents of a conversation that are known at a time.
const MAX_AGENTS: usize = 64;

/// How long an agent is taken to work if its end is not heard.
const MAX_AGENT_SECONDS: u64 = 60 * 60;

/// How often a change is decided again because another process made one meanwhile.
const MAX_ATTEMPTS: usize = 5;

/// How long after a prompt the same prompt is taken for the same event: some clients call the hooks of others too.
const REPEATED_WITHIN: Duration = Duration::from_secs(5);

/// The conversations of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversations {
    folder: PathBuf,
}

/// Names a conversation. It is a digest: ids that clients send are not written to the disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConversationKey(String);

impl ConversationKey {
    /// Returns the start of the key, to tell conversations apart in a log.
    pub fn short(&self) -> &str {
        self.0.get(..8).unwrap_or_default()
    }

    /// Returns the key of a conversation by the client's id for it. An agent that works for a conversation has one of its
    /// own.
    pub fn new(conversation: &str, agent: Option<&str>) -> Self {
        let text = format!("{conversation}\0{}", agent.unwrap_or_default());
        Self(short_digest(&text))
    }

    fn file_name(&self) -> String {
        format!("{PREFIX}{}.json", self.0)
    }
}

/// What one conversation was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Conversation {
    format: FormatNumber<2>,
    /// The client whose hook was heard last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Skills whose instructions came with a prompt, and that the model has not asked for since.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) given_by_hook: BTreeSet<Box<str>>,
    /// Agents that work for the conversation, and when each started, in seconds since 1970. Ids are digests.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    agents: BTreeMap<String, u64>,
    /// Skills that the hook suggested for the last prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) suggested: Vec<Box<str>>,
    /// Skills that the hook named, for a client that loads them itself.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) named: BTreeSet<Box<str>>,
    /// Those of the skills in these lines that only a search spoke for.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) judged: BTreeSet<Box<str>>,
    /// Whether an agent began to work since the last prompt.
    #[serde(default)]
    pub(super) had_agents: bool,
    /// Which loads the conversation has told of.
    #[serde(default)]
    pub(super) heard: HeardLoads,
    /// Skills that the last prompt named.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) mentioned: BTreeSet<Box<str>>,
    /// Skills that were loaded since the last prompt, by the name that was asked for.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) loaded: BTreeSet<Box<str>>,
    /// The last prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_prompt: Option<PromptDigest>,
    /// Whether the client is about to drop earlier messages, or has: the skills have to be given again.
    #[serde(default)]
    pub is_compacted: bool,
    /// The skills.
    pub session: SessionState,
}

/// Which loads of skills are heard. Not every client tells which skills it loads, nor the server for which conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HeardLoads {
    /// Those from our server.
    #[serde(default)]
    pub server: bool,
    /// Those with the client's own tool.
    #[serde(default)]
    pub client: bool,
}

impl HeardLoads {
    /// Returns the loads that are heard here or there.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self {
            server: self.server || other.server,
            client: self.client || other.client,
        }
    }
}

/// A prompt and when it was heard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PromptDigest {
    digest: String,
    /// Milliseconds since 1970.
    at: u64,
}

impl Default for Conversation {
    fn default() -> Self {
        Self {
            format: FormatNumber::default(),
            client: None,
            given_by_hook: BTreeSet::new(),
            agents: BTreeMap::new(),
            suggested: Vec::new(),
            named: BTreeSet::new(),
            judged: BTreeSet::new(),
            had_agents: false,
            heard: HeardLoads::default(),
            mentioned: BTreeSet::new(),
            loaded: BTreeSet::new(),
            last_prompt: None,
            is_compacted: false,
            session: SessionState::new(ContextLifetime::History),
        }
    }
}

impl Conversation {
    /// Records that the hook gave the instructions of a skill.
    pub fn record_given_by_hook(&mut self, id: &str) {
        if self.given_by_hook.len() < MAX_SKILLS {
            self.given_by_hook.insert(id.into());
        }
    }

    /// Returns whether the instructions of a skill came with a prompt. Only for the first time that it is asked: a model that
    /// asks again needs them.
    pub fn take_given_by_hook(&mut self, id: &str) -> bool {
        self.given_by_hook.remove(id)
    }

    /// Records that an agent began to work for the conversation.
    pub fn start_agent(&mut self, id: &str, now: SystemTime) {
        let now = since_1970(now).as_secs();
        self.agents
            .retain(|_, started| now.saturating_sub(*started) < MAX_AGENT_SECONDS);
        if self.agents.len() < MAX_AGENTS {
            self.agents.insert(short_digest(id), now);
        }
        self.had_agents = true;
    }

    /// Records that an agent ended.
    pub fn stop_agent(&mut self, id: &str) {
        self.agents.remove(&short_digest(id));
    }

    /// Returns whether an agent may be working for the conversation.
    pub fn has_agents(&self, now: SystemTime) -> bool {
        let now = since_1970(now).as_secs();
        let mut started = self.agents.values();
        started.any(|started| now.saturating_sub(*started) < MAX_AGENT_SECONDS)
    }

    /// Records a prompt. Returns false if it was heard a moment ago: another hook has answered it.
    pub fn record_prompt(&mut self, prompt: &str, now: SystemTime) -> bool {
        let at = since_1970(now);
        let at = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        let digest = short_digest(prompt);
        let is_repeated = self.last_prompt.as_ref().is_some_and(|last| {
            last.digest == digest && u128::from(last.at.abs_diff(at)) < REPEATED_WITHIN.as_millis()
        });
        self.last_prompt = Some(PromptDigest { digest, at });
        !is_repeated
    }
}

impl Conversations {
    /// Returns the conversations of the environment's user; `None` if there is no folder for state.
    pub fn of_user(environment: &Environment) -> Option<Self> {
        let folder = environment.state_folder()?.join(FOLDER);
        Some(Self { folder })
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns when the hook of each client was last heard, in seconds since 1970, as far as conversations are kept.
    pub fn last_heard(&self) -> BTreeMap<String, u64> {
        let mut heard = BTreeMap::new();
        let Ok(root) = WriteRoot::open(&self.folder) else {
            return heard;
        };
        for name in root.names_with_prefix(PREFIX).unwrap_or_default() {
            let conversation = read(&root, Path::new(&name)).as_ref().and_then(parse);
            if let Some(Conversation {
                client: Some(client),
                last_prompt: Some(prompt),
                ..
            }) = conversation
            {
                let last = heard.entry(client).or_default();
                *last = (prompt.at / 1_000).max(*last);
            }
        }
        heard
    }

    /// Changes a conversation, and writes it if it changed. A conversation without a file, or with one that is damaged, starts
    /// anew.
    ///
    /// Another process may change it meanwhile: then `change` is called again with what that one wrote.
    ///
    /// # Errors
    ///
    /// [`Unwritable`](skillfold_core::ErrorKind::Unwritable) if the file cannot be written, and
    /// [`Refused`](skillfold_core::ErrorKind::Refused) if others change it all the time.
    pub fn update<T>(
        &self,
        key: &ConversationKey,
        now: SystemTime,
        mut change: impl FnMut(&mut Conversation) -> T,
    ) -> Result<T, Error> {
        let root = WriteRoot::open_or_create(&self.folder, Access::Private)?;
        let name = key.file_name();
        let file = Path::new(&name);
        let mut read = read(&root, file);
        for _ in 0..MAX_ATTEMPTS {
            let before = read.as_ref().and_then(parse).unwrap_or_default();
            let mut conversation = before.clone();
            let changed = change(&mut conversation);
            if conversation == before {
                return Ok(changed);
            }
            conversation.session.remove_arguments();
            conversation.session.forget_oldest(MAX_SKILLS);
            // It consists of texts, numbers and lists of these, which can always be written.
            let bytes = serde_json::to_vec(&conversation).unwrap_or_default();
            let _lock = root.lock(LOCK_NAME)?;
            let written = match &read {
                Some(old) => root.replace(file, old, &bytes, Access::Private),
                None => root.create(file, &bytes, Access::Private),
            };
            match written {
                Err(error) if matches!(error.kind(), ErrorKind::Refused | ErrorKind::Exists) => {
                    read = self::read(&root, file);
                }
                written => {
                    if read.is_none() {
                        remove_old(&root, now);
                    }
                    return written.map(|()| changed);
                }
            }
        }
        let rule = "Other processes keep changing it; try again later";
        Err(Error::refused(
            self.folder.join(file).to_string_lossy(),
            skillfold_core::Refusal::Write,
            rule,
        ))
    }
}

/// Reads a file. One that cannot be read counts as absent: then it cannot be replaced either, and that is the error.
fn read(root: &WriteRoot, file: &Path) -> Option<ReadFile> {
    root.read(file, MAX_BYTES).ok().flatten()
}

fn parse(file: &ReadFile) -> Option<Conversation> {
    serde_json::from_slice(file.bytes()).ok()
}

/// Removes conversations that are old, or too many. If that fails they only take up space.
fn remove_old(root: &WriteRoot, now: SystemTime) {
    let oldest = now.checked_sub(MAX_AGE).unwrap_or(UNIX_EPOCH);
    drop(root.remove_old(ANY_PREFIX, oldest, MAX_FILES));
}

pub(super) fn since_1970(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Returns the first hex digits of a text's digest.
pub(super) fn digest_start(text: &str, digits: usize) -> String {
    let digest = Digest::sha256(text.as_bytes()).to_string();
    let hex = digest.rsplit(':').next().unwrap_or_default();
    hex.chars().take(digits).collect()
}

/// Returns the digest of what a client sent, as it is written to the disk.
fn short_digest(text: &str) -> String {
    digest_start(text, 32)
}
