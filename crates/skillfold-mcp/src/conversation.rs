//! What the conversations of one client were given.
//!
//! The process on stdio is one conversation, and so is an HTTP session, unless the client names several: then each id is
//! one. Ids are looked up among those of the same connection only, so that a forged one reaches no other client. Protocol
//! version 2026-07-28 has no sessions: there each request is its own conversation, which ends with the response. A skill
//! that is requested again is returned in full, except for the first time after a hook gave it with a prompt.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rmcp::model::RequestMetaObject;
use serde_json::Value;
use skillfold::{ConversationKey, Conversations as SharedConversations, Session, ToolAnswer};

/// The fields of a request's `_meta` in which clients name a conversation: Codex, VS Code and Goose.
const ID_FIELDS: [&str; 3] = ["threadId", "vscode.conversationId", "agent-session-id"];

/// Maximum bytes of a conversation's id; a longer one is ignored.
const MAX_ID_BYTES: usize = 256;

/// Maximum conversations that a client can name; one more makes room for itself.
const MAX_NAMED: usize = 64;

/// Maximum bytes of ids and arguments that one conversation remembers. Above it, the conversation starts over.
const MAX_BYTES: usize = 64 * 1024;

/// Bytes that a remembered skill takes besides its id and arguments.
const SKILL_OVERHEAD_BYTES: usize = 128;

/// The conversations of one client.
#[derive(Debug, Default)]
pub(crate) struct Conversations {
    unnamed: Arc<Conversation>,
    /// Those with an id, the last used one last.
    named: Mutex<VecDeque<(Box<str>, Arc<Conversation>)>>,
}

impl Conversations {
    /// Returns the conversation that a request belongs to.
    pub(crate) fn get(&self, meta: &RequestMetaObject) -> Arc<Conversation> {
        match conversation_id(meta) {
            Some(id) => self.named(id),
            None => Arc::clone(&self.unnamed),
        }
    }

    fn named(&self, id: &str) -> Arc<Conversation> {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let known = named.iter().position(|(known, _)| **known == *id);
        let used = known.and_then(|at| named.remove(at));
        let used = used.unwrap_or_else(|| (id.into(), Arc::default()));
        if named.len() >= MAX_NAMED {
            named.pop_front();
        }
        let conversation = Arc::clone(&used.1);
        named.push_back(used);
        conversation
    }
}

/// Returns the id of the conversation that a request names.
pub(crate) fn conversation_id(meta: &RequestMetaObject) -> Option<&str> {
    let ids = ID_FIELDS.iter().filter_map(|field| meta.get(*field));
    let mut ids = ids.filter_map(Value::as_str);
    ids.find(|id| !id.is_empty() && id.len() <= MAX_ID_BYTES)
}

/// Records what an answer gave where the hooks of the same user record it. Returns true if the model got it with a prompt, and
/// asks for it for the first time.
pub(crate) fn record_shared(
    conversations: &SharedConversations,
    id: &str,
    session: &Session,
    answer: &ToolAnswer,
) -> bool {
    // Nobody reads it before a hook was called.
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
        // Claude Code does not say which agent calls. One that works for the conversation has a context of its own.
        if conversation.has_agents(now) {
            return false;
        }
        let state = conversation.session.clone();
        let mut session = session.skills().resume(session.policy().clone(), state);
        let is_there = !conversation.is_compacted
            && session.has_answer(answer)
            && answer
                .loaded_id()
                .is_some_and(|id| conversation.take_given_by_hook(id));
        if !is_there {
            session.record_answer(answer);
            conversation.session = session.state().clone();
        }
        is_there
    });
    recorded.unwrap_or_else(|error| {
        let why = error.with_cause();
        tracing::warn!(why, "hooks may give a skill again that was loaded");
        false
    })
}

/// The skills one conversation was given. Empty until something is loaded.
#[derive(Debug, Default)]
pub(crate) struct Conversation(Mutex<Option<GivenSkills>>);

#[derive(Debug)]
struct GivenSkills {
    session: Session,
    /// Upper bound of the bytes the session holds.
    bytes: usize,
}

impl Conversation {
    /// Records what an answer gave to the model; `arguments` is the length of the call's arguments. A new conversation
    /// starts as a copy of `start`.
    pub(crate) fn record(&self, start: &Session, answer: &ToolAnswer, arguments: usize) {
        let bytes = arguments + SKILL_OVERHEAD_BYTES;
        if !answer.gives_skill() || bytes > MAX_BYTES {
            return;
        }
        let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(full) = given.take_if(|given| given.bytes + bytes > MAX_BYTES) {
            let spent = full.session.state().tokens_spent();
            tracing::info!(spent, "a conversation remembers too much and begins anew");
        }
        let given = given.get_or_insert_with(|| GivenSkills {
            session: start.clone(),
            bytes: 0,
        });
        given.bytes += bytes;
        given.session.record_answer(answer);
    }

    /// Returns the conversation, if something was loaded in it.
    pub(crate) fn session(&self) -> Option<Session> {
        let given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        given.as_ref().map(|given| given.session.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use skillfold::core::{ContextLifetime, MemorySource, Policy};
    use skillfold::{Environment, Host, Session, Tool};

    use super::{Conversation, Conversations, MAX_BYTES, MAX_NAMED};

    fn session() -> Session {
        let text = "---\nname: pdf\ndescription: D\n---\nFill in $ARGUMENTS\n";
        let source = MemorySource::new([("pdf/SKILL.md".to_owned(), text.to_owned())]);
        let host = Host::new(Environment::new("/nowhere")).bundled("built in", source);
        let skills = host.discover().unwrap();
        skills.session(Policy::default(), ContextLifetime::History)
    }

    impl Conversation {
        fn load(&self, session: &Session, id: &str, arguments: &str) -> u64 {
            let call = json!({ "skill_id": id, "arguments": arguments });
            let bytes = call.to_string().len();
            self.record(session, &session.answer(Tool::Load, call), bytes);
            let given = self.0.lock().unwrap();
            let spent = |given: &super::GivenSkills| given.session.state().tokens_spent();
            given.as_ref().map_or(0, spent)
        }

        fn bytes(&self) -> usize {
            let given = self.0.lock().unwrap();
            given.as_ref().map_or(0, |given| given.bytes)
        }
    }

    #[test]
    fn what_is_loaded_again_is_counted_again() {
        let (session, conversation) = (session(), Conversation::default());
        let tokens = conversation.load(&session, "pdf", "");
        assert!(tokens > 0);
        assert_eq!(conversation.load(&session, "pdf", ""), 2 * tokens);
        assert_eq!(conversation.load(&session, "other", ""), 2 * tokens);
    }

    #[test]
    fn memory_of_a_conversation_is_bounded() {
        let (session, conversation) = (session(), Conversation::default());
        for number in 0..1_000 {
            let arguments = format!("{number} ").repeat(1_000);
            conversation.load(&session, "pdf", &arguments);
            assert!(conversation.bytes() <= MAX_BYTES);
        }
        let before = conversation.bytes();
        conversation.load(&session, "pdf", &"a".repeat(MAX_BYTES));
        assert_eq!(
            conversation.bytes(),
            before,
            "what is too long is not remembered"
        );
    }

    #[test]
    fn conversations_with_different_ids_are_apart_and_bounded() {
        let conversations = Conversations::default();
        let get =
            |meta: serde_json::Value| conversations.get(&serde_json::from_value(meta).unwrap());
        let unnamed = get(json!({ "progressToken": 1 }));
        let codex = get(json!({ "threadId": "a" }));
        assert!(!Arc::ptr_eq(&unnamed, &codex));
        assert!(Arc::ptr_eq(&unnamed, &get(json!({ "threadId": "" }))));
        assert!(Arc::ptr_eq(&unnamed, &get(json!({ "threadId": 7 }))));
        assert!(Arc::ptr_eq(
            &unnamed,
            &get(json!({ "threadId": "x".repeat(257) }))
        ));
        assert!(Arc::ptr_eq(
            &codex,
            &get(json!({ "vscode.conversationId": "a" }))
        ));
        for number in 0..1_000 {
            get(json!({ "agent-session-id": number.to_string() }));
            assert!(
                Arc::ptr_eq(&codex, &get(json!({ "threadId": "a" }))),
                "it is in use"
            );
        }
        assert_eq!(conversations.named.lock().unwrap().len(), MAX_NAMED);
    }
}
