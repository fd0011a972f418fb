//! HTTP sessions by id: the conversation of each and the time of its last request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::conversation::Conversation;

/// The open sessions. The conversation itself is owned by the SDK's session.
#[derive(Debug, Default)]
pub(crate) struct Conversations(Mutex<HashMap<Box<str>, ConversationSlot>>);

#[derive(Debug)]
struct ConversationSlot {
    conversation: Weak<Conversation>,
    last_request: Instant,
}

impl Conversations {
    /// Records a request in a session. Notifications to the client do not count: they are also sent to a client that is
    /// gone.
    pub(crate) fn touch(&self, session: &str) {
        if let Some(slot) = self.lock().get_mut(session) {
            slot.last_request = Instant::now();
        }
    }

    /// Registers a new session.
    pub(crate) fn start(&self, session: &str) {
        let slot = ConversationSlot {
            conversation: Weak::new(),
            last_request: Instant::now(),
        };
        self.lock().insert(session.into(), slot);
    }

    /// Attaches the conversation to a registered session.
    pub(crate) fn attach(&self, session: &str, conversation: &Arc<Conversation>) {
        if let Some(slot) = self.lock().get_mut(session) {
            slot.conversation = Arc::downgrade(conversation);
        }
    }

    /// Removes a session.
    pub(crate) fn remove(&self, session: &str) {
        self.lock().remove(session);
    }

    /// Returns the conversation of a session and records a request in it.
    pub(crate) fn get(&self, session: &str) -> Option<Arc<Conversation>> {
        let mut sessions = self.lock();
        let slot = sessions.get_mut(session)?;
        slot.last_request = Instant::now();
        slot.conversation.upgrade()
    }

    /// Returns the sessions without a request for at least `time`.
    pub(crate) fn idle(&self, time: Duration) -> Vec<Box<str>> {
        let sessions = self.lock();
        let idle = sessions
            .iter()
            .filter(|(_, slot)| slot.last_request.elapsed() >= time);
        idle.map(|(session, _)| session.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, ConversationSlot>> {
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
        let conversation = Arc::default();
        for session in ["asked", "idle", "ended"] {
            conversations.start(session);
            conversations.attach(session, &conversation);
        }
        conversations.remove("ended");
        sleep(TIME);
        assert!(conversations.get("asked").is_some());
        assert_eq!(conversations.idle(TIME), ["idle".into()]);
        assert!(conversations.get("ended").is_none());
        conversations.attach("ended", &conversation);
        conversations.touch("ended");
        assert!(
            conversations.get("ended").is_none(),
            "it does not come back"
        );
    }
}
