//! An index that turned out to be damaged is made again in the background, by one thread, and only for the newest snapshot.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// How often it may fail in one snapshot: a disk that is full stays full.
const FAILURES: usize = 3;

/// Whether an index is being made again.
#[derive(Clone, Debug, Default)]
pub(super) struct Healing(Arc<State>);

#[derive(Debug, Default)]
struct State {
    is_under_way: AtomicBool,
    failures: AtomicUsize,
}

impl Healing {
    /// Does the work on a thread of its own, unless that is under way or failed too often. Its error says why it failed.
    pub(super) fn begin(&self, work: impl FnOnce() -> Result<(), String> + Send + 'static) {
        let state = &self.0;
        let has_failed = state.failures.load(Ordering::Relaxed) >= FAILURES;
        if has_failed || state.is_under_way.swap(true, Ordering::AcqRel) {
            return;
        }
        let under_way = UnderWay(Arc::clone(state));
        let run = move || {
            if let Err(why) = work() {
                under_way.0.failures.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(why, "the search index could not be made again");
            }
        };
        let thread = thread::Builder::new().name("skillfold-heal".to_owned());
        if let Err(cause) = thread.spawn(run) {
            tracing::warn!(%cause, "no thread could be started to make the search index again");
        }
    }
}

/// Ends with the work, however that ends.
struct UnderWay(Arc<State>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.is_under_way.store(false, Ordering::Release);
    }
}

/// The right to bring an index in step with a snapshot. Snapshots share the index, and only the newest may write: an older
/// one would take out what is new.
#[derive(Debug, Default)]
pub(super) struct Turn {
    newest: Arc<Mutex<u64>>,
    number: u64,
}

impl Turn {
    /// Returns the right of the next snapshot. From then on this one's is gone.
    pub(super) fn next(&self) -> Self {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        *newest += 1;
        Self {
            newest: Arc::clone(&self.newest),
            number: *newest,
        }
    }

    /// Does something that no other snapshot does meanwhile; nothing, if there is a newer one.
    pub(super) fn taken<T>(&self, act: impl FnOnce() -> T) -> Option<T> {
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        (*newest == self.number).then(act)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::{FAILURES, Healing, Turn};

    #[test]
    fn older_snapshot_does_not_write() {
        let first = Turn::default();
        assert_eq!(first.taken(|| 1), Some(1));
        let second = first.next();
        assert_eq!((first.taken(|| 1), second.taken(|| 2)), (None, Some(2)));
        let third = first.next();
        assert_eq!((second.taken(|| 2), third.taken(|| 3)), (None, Some(3)));
    }

    #[test]
    fn one_thread_heals_at_a_time_and_not_for_ever() {
        let healing = Healing::default();
        let (go_on, wait) = mpsc::channel::<()>();
        let (done, count) = mpsc::channel();
        let first = done.clone();
        healing.begin(move || {
            wait.recv().unwrap();
            first.send("first").unwrap();
            Err("full".to_owned())
        });
        let second = done.clone();
        healing.begin(move || {
            second.send("second").unwrap();
            Ok(())
        });
        go_on.send(()).unwrap();
        assert_eq!(count.recv().unwrap(), "first");
        let mut tries = 1;
        while healing
            .0
            .failures
            .load(std::sync::atomic::Ordering::Relaxed)
            < FAILURES
        {
            healing.begin(|| Err("full".to_owned()));
            std::thread::yield_now();
            tries += 1;
        }
        assert!(tries >= FAILURES);
        healing.begin(move || {
            done.send("last").unwrap();
            Ok(())
        });
        assert!(count.recv().is_err(), "all senders are gone, and none sent");
    }
}
