//! What one client was given: an engine session for each connection that has one.
//!
//! The process on stdio is one conversation, and so is an HTTP session. Protocol version 2026-07-28 has no sessions:
//! there each request is its own conversation, which ends with the response. A skill that is requested again is always
//! returned in full.

use std::sync::{Mutex, PoisonError};

use skillfold::{Session, ToolAnswer};

/// Maximum bytes of ids and arguments that one conversation remembers. Above it, the conversation starts over.
const MAX_BYTES: usize = 64 * 1024;

/// Bytes that a remembered skill takes besides its id and arguments.
const SKILL_OVERHEAD_BYTES: usize = 128;

/// The skills one client was given. Empty until something is loaded.
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
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use skillfold::core::{ContextLifetime, MemorySource, Policy};
    use skillfold::{Environment, Host, Session, Tool};

    use super::{Conversation, MAX_BYTES};

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
}
