//! What one client was given: an engine session for each connection that has one.
//!
//! The process on stdio is one conversation, and so is an HTTP session. Protocol version 2026-07-28 has no sessions:
//! there each request is its own conversation, which ends with the response. A skill that is requested again is always
//! returned in full.

use std::sync::{Mutex, PoisonError};

use skillfold::core::load::LoadedText;
use skillfold::core::{ContextLifetime, Envelope, Error, Policy};
use skillfold::{Session, Skills};

use crate::remembered::Loaded;

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
    /// Loads a skill that the model requested and records it in the session. Returns the text and its tokens.
    pub(crate) fn load(
        &self,
        skills: &Skills,
        policy: &Policy,
        id: &str,
        arguments: &str,
        envelope: Envelope,
    ) -> Result<(LoadedText, u64), Error> {
        let cost = id.len() + arguments.len() + SKILL_OVERHEAD_BYTES;
        self.with_session(skills, policy, cost, |session| {
            let before = session.state().tokens_spent();
            let loaded = session.render(id, arguments, envelope)?;
            let tokens = session.state().tokens_spent() - before;
            Ok((loaded, tokens))
        })
    }

    /// Records a skill that the model requested and that was answered from the cache.
    pub(crate) fn record_cached_load(&self, skills: &Skills, policy: &Policy, loaded: &Loaded) {
        let Loaded {
            made_of,
            arguments,
            tokens,
        } = loaded;
        let cost = made_of.instructions.id().len() + arguments.len() + SKILL_OVERHEAD_BYTES;
        self.with_session(skills, policy, cost, |session| {
            session.render_again(made_of, arguments, *tokens);
        });
    }

    /// Runs `act` on the session and charges it `cost` bytes.
    fn with_session<T>(
        &self,
        skills: &Skills,
        policy: &Policy,
        cost: usize,
        act: impl FnOnce(&mut Session) -> T,
    ) -> T {
        let start = || GivenSkills {
            session: skills.session(policy.clone(), ContextLifetime::History),
            bytes: 0,
        };
        if cost > MAX_BYTES {
            return act(&mut start().session);
        }
        let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(full) = given.take_if(|given| given.bytes + cost > MAX_BYTES) {
            let spent = full.session.state().tokens_spent();
            tracing::info!(spent, "a conversation remembers too much and begins anew");
        }
        let given = given.get_or_insert_with(start);
        given.bytes += cost;
        act(&mut given.session)
    }

    /// Returns the tokens given since the conversation started.
    #[cfg(test)]
    fn tokens_spent(&self) -> u64 {
        let given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let spent = |given: &GivenSkills| given.session.state().tokens_spent();
        given.as_ref().map_or(0, spent)
    }
}

#[cfg(test)]
mod tests {
    use skillfold::core::{Budget, Envelope, MemorySource, Policy};
    use skillfold::{Environment, Host, Skills};

    use super::{Conversation, MAX_BYTES};
    use crate::remembered::Loaded;

    fn skills() -> Skills {
        let text = "---\nname: pdf\ndescription: D\n---\nFill in $ARGUMENTS\n";
        let source = MemorySource::new([("pdf/SKILL.md".to_owned(), text.to_owned())]);
        let host = Host::new(Environment::new("/nowhere")).bundled("built in", source);
        host.discover().unwrap()
    }

    #[test]
    fn what_is_loaded_again_is_whole_and_counted_again() {
        let (skills, policy) = (skills(), Policy::hybrid(Budget::tokens(4_000)));
        let conversation = Conversation::default();
        let load = |id| conversation.load(&skills, &policy, id, "", Envelope::Plain);
        let (first, tokens) = load("pdf").unwrap();
        let (second, _) = load("pdf").unwrap();
        assert_eq!(first.text, second.text);
        assert_eq!(conversation.tokens_spent(), 2 * tokens);
        assert!(load("other").is_err());
        assert_eq!(conversation.tokens_spent(), 2 * tokens);
        let loaded = Loaded {
            made_of: first,
            arguments: String::new(),
            tokens,
        };
        conversation.record_cached_load(&skills, &policy, &loaded);
        assert_eq!(conversation.tokens_spent(), 3 * tokens);
    }

    #[test]
    fn memory_of_a_conversation_is_bounded() {
        let (skills, policy) = (skills(), Policy::hybrid(Budget::tokens(4_000)));
        let conversation = Conversation::default();
        let bytes = || {
            let given = conversation.0.lock().unwrap();
            given.as_ref().map_or(0, |given| given.bytes)
        };
        for number in 0..1_000 {
            let arguments = format!("{number} ").repeat(1_000);
            conversation
                .load(&skills, &policy, "pdf", &arguments, Envelope::Plain)
                .unwrap();
            assert!(bytes() <= MAX_BYTES);
        }
        let before = bytes();
        let arguments = "a".repeat(MAX_BYTES);
        conversation
            .load(&skills, &policy, "pdf", &arguments, Envelope::Plain)
            .unwrap();
        assert_eq!(bytes(), before, "what is too long is not remembered");
    }
}
