//! The conversations of sessions, by the ids of these.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::conversation::Conversation;

/// So many of them are held before those that ended are looked for.
const MANY: usize = 64;

/// The conversations of sessions that have begun. The session itself holds its conversation.
#[derive(Debug, Default)]
pub(crate) struct Conversations(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    by_session: HashMap<Box<str>, Place>,
    /// So many there were when those that ended were looked for.
    looked_at: usize,
    /// How long the SDK need not hear of a session.
    quiet: Duration,
}

#[derive(Debug)]
struct Place {
    conversation: Weak<Conversation>,
    /// When the SDK heard of the session.
    heard: Instant,
}

impl Conversations {
    /// Says how long the SDK need not hear of a session.
    pub(crate) fn keep_quiet(&self, quiet: Duration) {
        self.known().quiet = quiet;
    }

    /// Remembers the conversation of a session.
    pub(crate) fn begin(&self, session: &str, conversation: &Arc<Conversation>) {
        let mut known = self.known();
        if known.by_session.len() >= MANY.max(2 * known.looked_at) {
            known
                .by_session
                .retain(|_, place| place.conversation.strong_count() > 0);
            known.looked_at = known.by_session.len();
        }
        let place = Place {
            conversation: Arc::downgrade(conversation),
            heard: Instant::now(),
        };
        known.by_session.insert(session.into(), place);
    }

    /// Forgets the conversation of a session.
    pub(crate) fn end(&self, session: &str) {
        self.known().by_session.remove(session);
    }

    /// Returns the conversation of a session. Nothing from time to time, so that the SDK hears of the session too and does
    /// not take it for idle.
    pub(crate) fn get(&self, session: &str) -> Option<Arc<Conversation>> {
        let mut known = self.known();
        let quiet = known.quiet;
        let place = known.by_session.get_mut(session)?;
        if place.heard.elapsed() >= quiet {
            place.heard = Instant::now();
            return None;
        }
        place.conversation.upgrade()
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::{Conversations, MANY};

    #[test]
    fn session_that_ended_has_no_conversation_and_takes_no_place() {
        let conversations = Conversations::default();
        conversations.keep_quiet(Duration::MAX);
        let held = Arc::default();
        conversations.begin("held", &held);
        for number in 0..10 * MANY {
            conversations.begin(&number.to_string(), &Arc::default());
        }
        assert!(conversations.get("held").is_some());
        assert!(conversations.get("1").is_none());
        assert!(conversations.known().by_session.len() <= MANY + 1);
        conversations.end("held");
        assert!(conversations.get("held").is_none());
    }

    #[test]
    fn sdk_hears_of_a_session_from_time_to_time() {
        let conversations = Conversations::default();
        conversations.keep_quiet(Duration::ZERO);
        let held = Arc::default();
        conversations.begin("held", &held);
        assert!(conversations.get("held").is_none());
        conversations.keep_quiet(Duration::MAX);
        assert!(conversations.get("held").is_some());
    }
}
