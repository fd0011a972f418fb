//! Answers of tools, remembered as they are written. They are those of one snapshot, and go with it; what was loaded is
//! given again only while its files are the same.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use lru::LruCache;
use skillfold::core::load::LoadedText;

use crate::tools::Tool;

/// Bytes that all answers of a snapshot take at most. A skill of 6 kB takes three times as much: some four hundred of them fit.
const BYTES: usize = 8 * 1024 * 1024;

/// Bytes of the longest answer that is remembered: one long one would push out many others.
const LONGEST: usize = BYTES / 16;

/// Bytes that an answer takes beside its texts.
const EACH: usize = 512;

/// The answers of a snapshot. The one that was used longest ago makes place for another.
pub(crate) struct Answers(Mutex<Held>);

struct Held {
    answers: LruCache<Key, Arc<Remembered>>,
    bytes: usize,
}

/// A call: the tool, and the arguments as the client wrote them.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    tool: Tool,
    arguments: Box<str>,
}

impl Key {
    fn new(tool: Tool, arguments: &str) -> Self {
        Self {
            tool,
            arguments: arguments.into(),
        }
    }
}

/// An answer that is no failure.
#[derive(Debug)]
pub(crate) struct Remembered {
    /// The answer as JSON.
    pub(crate) json: Bytes,
    /// What it was made of, if that was read from files.
    pub(crate) loaded: Option<Loaded>,
}

/// A skill that was loaded for an answer.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// What it was made of; the text itself is in the answer.
    pub(crate) made_of: LoadedText,
    pub(crate) arguments: String,
    /// What it costs a conversation.
    pub(crate) tokens: u64,
}

impl Remembered {
    fn bytes(&self) -> usize {
        let loaded = self.loaded.as_ref().map_or(0, |loaded| {
            loaded.arguments.len() + loaded.made_of.instructions.text().len()
        });
        EACH + self.json.len() + loaded
    }
}

impl Answers {
    pub(crate) fn get(&self, tool: Tool, arguments: &str) -> Option<Arc<Remembered>> {
        let key = Key::new(tool, arguments);
        self.held().answers.get(&key).map(Arc::clone)
    }

    /// Remembers an answer, unless it is too long.
    pub(crate) fn put(&self, tool: Tool, arguments: &str, answer: Remembered) {
        let cost = |key: &Key, answer: &Remembered| key.arguments.len() + answer.bytes();
        let key = Key::new(tool, arguments);
        let bytes = cost(&key, &answer);
        if bytes > LONGEST {
            return;
        }
        let mut held = self.held();
        if let Some((key, old)) = held.answers.pop_entry(&key) {
            held.bytes -= cost(&key, &old);
        }
        held.bytes += bytes;
        held.answers.put(key, Arc::new(answer));
        while held.bytes > BYTES
            && let Some((key, oldest)) = held.answers.pop_lru()
        {
            held.bytes -= cost(&key, &oldest);
        }
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Answers {
    fn default() -> Self {
        Self(Mutex::new(Held {
            answers: LruCache::unbounded(),
            bytes: 0,
        }))
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.held();
        formatter
            .debug_struct("Answers")
            .field("answers", &held.answers.len())
            .field("bytes", &held.bytes)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Answers, BYTES, LONGEST, Remembered};
    use crate::tools::Tool;

    fn answer(bytes: usize) -> Remembered {
        Remembered {
            json: vec![b' '; bytes].into(),
            loaded: None,
        }
    }

    #[test]
    fn memory_of_answers_is_bounded_and_the_oldest_goes_first() {
        let answers = Answers::default();
        let each = 100 * 1024;
        for number in 0..1_000 {
            answers.put(Tool::Search, &number.to_string(), answer(each));
            // Used all the time, and never the oldest.
            assert!(answers.get(Tool::Search, "0").is_some());
            assert!(answers.held().bytes <= BYTES);
        }
        assert!(answers.get(Tool::Search, "1").is_none());
        assert!(answers.get(Tool::Search, "999").is_some());
        assert!(answers.held().answers.len() > BYTES / each / 2);
    }

    #[test]
    fn long_answer_is_not_remembered_and_an_equal_call_is_counted_once() {
        let answers = Answers::default();
        answers.put(Tool::Load, "{}", answer(LONGEST));
        assert!(answers.get(Tool::Load, "{}").is_none());
        answers.put(Tool::Load, "{}", answer(1));
        let bytes = answers.held().bytes;
        answers.put(Tool::Load, "{}", answer(1));
        assert_eq!(answers.held().bytes, bytes);
        assert!(answers.get(Tool::Alias, "{}").is_none());
    }
}
