//! What one client's conversations were given.
//!
//! The process on stdio is one conversation, and so is an HTTP session, unless the client names several: then each id
//! is one. Ids are looked up only within the same connection, so that a forged one reaches no other client. Protocol
//! version 2026-07-28 has no sessions: there each request is its own conversation, which ends with the response. A
//! skill requested again is returned in full, except the first time after a hook gave it with a prompt.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use rmcp::model::RequestMetaObject;
use serde_json::Value;
use skillfold::{
    Session, ToolAnswer,
    conversation::{ConversationKey, Conversations as SharedConversations},
};

/// The `_meta` fields in which clients name a conversation: Codex, VS Code and Goose.
const ID_FIELDS: [&str; 3] = ["threadId", "vscode.conversationId", "agent-session-id"];

/// Maximum length of a conversation's id in bytes; a longer one is ignored.
const MAX_ID_BYTES: usize = 256;

/// Maximum number of conversations per client; one more evicts the least recently used.
const MAX_CONVERSATIONS: usize = 64;

/// Maximum memory for one client's conversations, in bytes. Above it, the least recently used are forgotten; one that
/// exceeds it alone starts over.
const MAX_BYTES: usize = 64 * 1024;

/// Bytes per remembered skill besides its id and arguments.
const SKILL_OVERHEAD_BYTES: usize = 128;

/// One client's conversations in which something was loaded, most recently used last.
#[derive(Debug, Default)]
pub(crate) struct Conversations(Mutex<VecDeque<Conversation>>);

/// The skills given to one conversation.
#[derive(Debug)]
struct Conversation {
    /// `None` for requests that name no conversation.
    id: Option<Box<str>>,
    session: Session,
    /// Upper bound on the bytes this conversation holds.
    bytes: usize,
}

impl Conversation {
    fn new(id: Option<&str>, start: &Session) -> Self {
        Self {
            id: id.map(Into::into),
            session: start.clone(),
            bytes: size_of::<Self>() + id.map_or(0, str::len),
        }
    }
}

impl Conversations {
    /// Returns a request's conversation, if something was loaded in it.
    pub(crate) fn session(&self, meta: &RequestMetaObject) -> Option<Session> {
        let mut all = self.lock();
        let used = take(&mut all, conversation_id(meta))?;
        let session = used.session.clone();
        all.push_back(used);
        Some(session)
    }

    /// Records what a response gave to the model; `arguments` is the length of the call's arguments. A new conversation
    /// starts as a copy of `start`.
    pub(crate) fn record(
        &self,
        meta: &RequestMetaObject,
        start: &Session,
        answer: &ToolAnswer,
        arguments: usize,
    ) {
        let id = conversation_id(meta);
        let new = || Conversation::new(id, start);
        let bytes = arguments + SKILL_OVERHEAD_BYTES;
        if !answer.gives_skill() || new().bytes + bytes > MAX_BYTES {
            return;
        }
        let mut all = self.lock();
        let mut used = take(&mut all, id).unwrap_or_else(new);
        if used.bytes + bytes > MAX_BYTES {
            let spent = used.session.state().tokens_spent();
            tracing::info!(spent, "a conversation is too large and starts over");
            used = new();
        }
        used.bytes += bytes;
        used.session.record_answer(answer);
        all.push_back(used);
        let mut total: usize = all.iter().map(|it| it.bytes).sum();
        while all.len() > MAX_CONVERSATIONS || total > MAX_BYTES {
            total -= all.pop_front().map_or(total, |oldest| oldest.bytes);
            tracing::debug!("the oldest conversation of a client was forgotten");
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Conversation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn take(all: &mut VecDeque<Conversation>, id: Option<&str>) -> Option<Conversation> {
    let at = all.iter().position(|it| it.id.as_deref() == id)?;
    all.remove(at)
}

/// Returns the conversation id named in a request.
pub(crate) fn conversation_id(meta: &RequestMetaObject) -> Option<&str> {
    let ids = ID_FIELDS.iter().filter_map(|field| meta.get(*field));
    let mut ids = ids.filter_map(Value::as_str);
    ids.find(|id| !id.is_empty() && id.len() <= MAX_ID_BYTES)
}

/// Records what a response gave where the user's hooks record it. Returns true if the model already got it with a
/// prompt, and requests it for the first time.
pub(crate) fn record_shared(
    conversations: &SharedConversations,
    id: &str,
    session: &Session,
    answer: &ToolAnswer,
) -> bool {
    // Nobody reads it until a hook has been called.
    if !conversations.folder().is_dir() {
        return false;
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "a conversation is kept by its age"
    )]
    let now = SystemTime::now();
    let key = ConversationKey::new(id, None);
    let recorded = conversations.update(&key, now, |conversation| {
        // Claude Code does not say which agent calls. A subagent of the conversation has its own context.
        if conversation.has_agents(now) {
            return false;
        }
        let state = conversation.session.clone();
        let mut session = session.skills().resume(session.policy().clone(), state);
        let is_already_given = !conversation.is_compacted
            && session.has_answer(answer)
            && answer
                .loaded_id()
                .is_some_and(|id| conversation.take_given_by_hook(id));
        if !is_already_given {
            if let Some(id) = answer.loaded_id()
                && !conversation.session.has_skill(id)
            {
                conversation.record_load(id);
            }
            session.record_answer(answer);
            conversation.session = session.state().clone();
        }
        is_already_given
    });
    recorded.unwrap_or_else(|error| {
        let why = error.with_cause();
        tracing::warn!(why, "hooks may give a loaded skill again");
        false
    })
}

#[cfg(test)]
mod tests {
    use rmcp::model::RequestMetaObject;
    use serde_json::json;
    use skillfold::core::{ContextLifetime, MemorySource, Policy};
    use skillfold::{Environment, Host, Session, Tool};

    use super::{Conversations, MAX_BYTES, MAX_CONVERSATIONS};

    fn session() -> Session {
        let text = "---\nname: pdf\ndescription: D\n---\nFill in $ARGUMENTS\n";
        let source = MemorySource::new([("pdf/SKILL.md".to_owned(), text.to_owned())]);
        let host = Host::new(Environment::new("/nowhere")).bundled("built in", source);
        let skills = host.discover().unwrap().skills;
        skills.session(Policy::default(), ContextLifetime::History)
    }

    fn meta(fields: serde_json::Value) -> RequestMetaObject {
        serde_json::from_value(fields).unwrap()
    }

    impl Conversations {
        fn load(
            &self,
            fields: serde_json::Value,
            session: &Session,
            id: &str,
            arguments: &str,
        ) -> u64 {
            let (meta, call) = (
                meta(fields),
                json!({ "skill_id": id, "arguments": arguments }),
            );
            let bytes = call.to_string().len();
            self.record(
                &meta,
                session,
                &session.answer(Tool::Load, crate::tools::json(call)),
                bytes,
            );
            let session = self.session(&meta);
            session.map_or(0, |session| session.state().tokens_spent())
        }

        fn bytes(&self) -> usize {
            self.lock().iter().map(|it| it.bytes).sum()
        }
    }

    #[test]
    fn repeated_load_is_counted_again() {
        let (session, conversations) = (session(), Conversations::default());
        let load = |id: &str| conversations.load(json!({}), &session, id, "");
        let tokens = load("pdf");
        assert!(tokens > 0);
        assert_eq!(load("pdf"), 2 * tokens);
        assert_eq!(load("other"), 2 * tokens);
    }

    #[test]
    fn memory_per_client_is_bounded_for_any_number_of_conversations() {
        let (session, conversations) = (session(), Conversations::default());
        for number in 0..1_000 {
            let arguments = format!("{number} ").repeat(1_000);
            let name = json!({ "threadId": (number % 100).to_string() });
            conversations.load(name, &session, "pdf", &arguments);
            assert!(conversations.bytes() <= MAX_BYTES);
        }
        for number in 0..200 {
            let arguments = format!("{number} ").repeat(1_000);
            conversations.load(json!({}), &session, "pdf", &arguments);
            assert!(conversations.bytes() <= MAX_BYTES);
        }
        let before = conversations.bytes();
        conversations.load(json!({}), &session, "pdf", &"a".repeat(MAX_BYTES));
        assert_eq!(
            conversations.bytes(),
            before,
            "what is too long is not remembered"
        );
    }

    #[test]
    fn conversations_are_separate_by_id_and_bounded() {
        let (session, conversations) = (session(), Conversations::default());
        let load = |fields| conversations.load(fields, &session, "pdf", "");
        let tokens = load(json!({ "progressToken": 1 }));
        assert_eq!(load(json!({ "threadId": "a" })), tokens);
        assert_eq!(load(json!({ "threadId": "" })), 2 * tokens);
        assert_eq!(load(json!({ "threadId": 7 })), 3 * tokens);
        assert_eq!(load(json!({ "threadId": "x".repeat(257) })), 4 * tokens);
        assert_eq!(load(json!({ "vscode.conversationId": "a" })), 2 * tokens);
        for number in 0..1_000 {
            load(json!({ "agent-session-id": number.to_string() }));
            let used = conversations.session(&meta(json!({ "threadId": "a" })));
            assert!(used.is_some(), "it is in use");
        }
        assert!(conversations.lock().len() <= MAX_CONVERSATIONS);
    }
}
