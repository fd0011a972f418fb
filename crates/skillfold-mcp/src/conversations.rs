//! The sessions of HTTP by their ids: the conversation of each, and when something was asked in it last.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::conversation::Conversation;

/// The sessions that have begun. The SDK's session itself holds its conversation.
#[derive(Debug, Default)]
pub(crate) struct Conversations(Mutex<HashMap<Box<str>, ConversationSlot>>);

#[derive(Debug)]
struct ConversationSlot {
    conversation: Weak<Conversation>,
    asked: Instant,
}

impl Conversations {
    /// Notes a request of a session. Notices to a client are none: a client that is gone gets them too.
    pub(crate) fn asked(&self, session: &str) {
        if let Some(place) = self.known().get_mut(session) {
            place.asked = Instant::now();
        }
    }

    /// Begins a session.
    pub(crate) fn begin(&self, session: &str) {
        let place = ConversationSlot {
            conversation: Weak::new(),
            asked: Instant::now(),
        };
        self.known().insert(session.into(), place);
    }

    /// Remembers the conversation of a session that has begun.
    pub(crate) fn is_about(&self, session: &str, conversation: &Arc<Conversation>) {
        if let Some(place) = self.known().get_mut(session) {
            place.conversation = Arc::downgrade(conversation);
        }
    }

    /// Forgets a session.
    pub(crate) fn end(&self, session: &str) {
        self.known().remove(session);
    }

    /// Returns the conversation of a session in which something is asked.
    pub(crate) fn get(&self, session: &str) -> Option<Arc<Conversation>> {
        let mut known = self.known();
        let place = known.get_mut(session)?;
        place.asked = Instant::now();
        place.conversation.upgrade()
    }

    /// Returns the sessions in which nothing was asked for so long.
    pub(crate) fn idle(&self, time: Duration) -> Vec<Box<str>> {
        let known = self.known();
        let idle = known
            .iter()
            .filter(|(_, place)| place.asked.elapsed() >= time);
        idle.map(|(session, _)| session.clone()).collect()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Box<str>, ConversationSlot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread::sleep;
    use std::time::Duration;

    use super::Conversations;

    #[test]
    fn session_is_idle_when_nothing_is_asked_in_it_and_gone_when_it_ended() {
        const TIME: Duration = Duration::from_millis(40);
        let conversations = Conversations::default();
        let held = Arc::default();
        for session in ["asked", "idle", "ended"] {
            conversations.begin(session);
            conversations.is_about(session, &held);
        }
        conversations.end("ended");
        sleep(TIME);
        assert!(conversations.get("asked").is_some());
        assert_eq!(conversations.idle(TIME), ["idle".into()]);
        assert!(conversations.get("ended").is_none());
        conversations.is_about("ended", &held);
        conversations.asked("ended");
        assert!(
            conversations.get("ended").is_none(),
            "it does not come back"
        );
    }
}
