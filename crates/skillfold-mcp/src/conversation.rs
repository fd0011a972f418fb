//! What one client was given: an engine's session for each connection that has one.
//!
//! The process on stdio is one conversation, and so is a session of HTTP. The protocol of 2026-07-28 has no sessions: there
//! each request is a conversation of its own, which is gone with the answer. What is asked for is always given whole.

use std::sync::{Mutex, PoisonError};

use skillfold::core::{ContextLifetime, Envelope, Error, LoadedText, Policy};
use skillfold::{Session, Skills};

use crate::remembered::Loaded;

/// Bytes of ids and arguments that one conversation remembers. Above it, it begins anew.
const BYTES: usize = 64 * 1024;

/// Bytes that a skill takes in memory beside its id and its arguments.
const EACH: usize = 128;

/// What one client was given. Nothing is made before something is loaded.
#[derive(Debug, Default)]
pub(crate) struct Conversation(Mutex<Option<GivenSkills>>);

#[derive(Debug)]
struct GivenSkills {
    session: Session,
    /// At most so much is held by it.
    bytes: usize,
}

impl Conversation {
    /// Loads a skill that the model asked for, and remembers it. Returns the tokens of it too.
    pub(crate) fn load(
        &self,
        skills: &Skills,
        policy: &Policy,
        id: &str,
        arguments: &str,
        envelope: Envelope,
    ) -> Result<(LoadedText, u64), Error> {
        let cost = id.len() + arguments.len() + EACH;
        self.with(skills, policy, cost, |session| {
            let before = session.state().tokens_spent();
            let loaded = session.render(id, arguments, envelope)?;
            let tokens = session.state().tokens_spent() - before;
            Ok((loaded, tokens))
        })
    }

    /// Remembers a skill that the model asked for, and that was loaded before.
    pub(crate) fn load_again(&self, skills: &Skills, policy: &Policy, loaded: &Loaded) {
        let Loaded {
            made_of,
            arguments,
            tokens,
        } = loaded;
        let cost = made_of.instructions.id().len() + arguments.len() + EACH;
        self.with(skills, policy, cost, |session| {
            session.render_again(made_of, arguments, *tokens);
        });
    }

    /// Does something with the session, which holds so many bytes more after it.
    fn with<T>(
        &self,
        skills: &Skills,
        policy: &Policy,
        cost: usize,
        act: impl FnOnce(&mut Session) -> T,
    ) -> T {
        let begin = || GivenSkills {
            session: skills.session(policy.clone(), ContextLifetime::History),
            bytes: 0,
        };
        if cost > BYTES {
            return act(&mut begin().session);
        }
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(full) = remembered.take_if(|remembered| remembered.bytes + cost > BYTES) {
            let spent = full.session.state().tokens_spent();
            tracing::info!(spent, "a conversation remembers too much and begins anew");
        }
        let remembered = remembered.get_or_insert_with(begin);
        remembered.bytes += cost;
        act(&mut remembered.session)
    }

    /// Returns the tokens that were given since the conversation began.
    #[cfg(test)]
    fn spent(&self) -> u64 {
        let remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let spent = |remembered: &GivenSkills| remembered.session.state().tokens_spent();
        remembered.as_ref().map_or(0, spent)
    }
}

#[cfg(test)]
mod tests {
    use skillfold::core::{Budget, Envelope, MemorySource, Policy};
    use skillfold::{Environment, Host, Skills};

    use super::{BYTES, Conversation};
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
        assert_eq!(conversation.spent(), 2 * tokens);
        assert!(load("other").is_err());
        assert_eq!(conversation.spent(), 2 * tokens);
        let loaded = Loaded {
            made_of: first,
            arguments: String::new(),
            tokens,
        };
        conversation.load_again(&skills, &policy, &loaded);
        assert_eq!(conversation.spent(), 3 * tokens);
    }

    #[test]
    fn memory_of_a_conversation_is_bounded() {
        let (skills, policy) = (skills(), Policy::hybrid(Budget::tokens(4_000)));
        let conversation = Conversation::default();
        let held = || {
            let remembered = conversation.0.lock().unwrap();
            remembered.as_ref().map_or(0, |remembered| remembered.bytes)
        };
        for number in 0..1_000 {
            let arguments = format!("{number} ").repeat(1_000);
            conversation
                .load(&skills, &policy, "pdf", &arguments, Envelope::Plain)
                .unwrap();
            assert!(held() <= BYTES);
        }
        let before = held();
        let arguments = "a".repeat(BYTES);
        conversation
            .load(&skills, &policy, "pdf", &arguments, Envelope::Plain)
            .unwrap();
        assert_eq!(held(), before, "what is too long is not remembered");
    }
}
