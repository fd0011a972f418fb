//! An index that turned out to be damaged is made again in the background, by one thread, and only for the newest snapshot.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// How often it may fail in one snapshot: a disk that is full stays full.
const FAILURES: usize = 3;

/// Whether an index is being made again.
#[derive(Clone, Debug, Default)]
pub(super) struct IndexRebuild(Arc<RebuildState>);

#[derive(Debug, Default)]
struct RebuildState {
    is_under_way: AtomicBool,
    failures: AtomicUsize,
}

impl IndexRebuild {
    /// Does the work on a thread of its own, unless that is under way or failed too often. Its error says why it failed.
    pub(super) fn begin(&self, work: impl FnOnce() -> Result<(), String> + Send + 'static) {
        let state = &self.0;
        let has_failed = state.failures.load(Ordering::Relaxed) >= FAILURES;
        if has_failed || state.is_under_way.swap(true, Ordering::AcqRel) {
            return;
        }
        let under_way = RebuildGuard(Arc::clone(state));
        let run = move || {
            if let Err(why) = work() {
                under_way.0.failures.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(why, "the search index could not be rebuilt");
            }
        };
        let thread = thread::Builder::new().name("skillfold-heal".to_owned());
        if let Err(cause) = thread.spawn(run) {
            tracing::warn!(%cause, "could not start a thread to rebuild the search index");
        }
    }
}

/// Ends with the work, however that ends.
struct RebuildGuard(Arc<RebuildState>);

impl Drop for RebuildGuard {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.failures.fetch_add(1, Ordering::Relaxed);
        }
        self.0.is_under_way.store(false, Ordering::Release);
    }
}

/// How long a search waits for another snapshot that brings the index in step. To make it again may take minutes.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long that wait sleeps.
const NAP: Duration = Duration::from_millis(5);

/// The right to bring an index in step with a snapshot. Snapshots share the index, and none may write after a newer one: it
/// would take out what is new.
#[derive(Debug, Default)]
pub(super) struct WriteTurn {
    shared: Arc<TurnOrder>,
    number: u64,
}

#[derive(Debug, Default)]
struct TurnOrder {
    /// The number of the newest snapshot.
    newest: AtomicU64,
    /// That of the one that wrote last; held by the one that writes.
    last: Mutex<u64>,
}

impl WriteTurn {
    /// Returns the right of the next snapshot. To be called in the order of the snapshots.
    pub(super) fn next(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            number: self.shared.newest.fetch_add(1, Ordering::Relaxed) + 1,
        }
    }

    /// Returns the snapshot's number.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Does something that no other snapshot does meanwhile, however long that takes; nothing, if a newer one did. What is
    /// done learns the number of the one that did last.
    pub(super) fn taken<T>(&self, act: impl FnOnce(u64) -> T) -> Option<T> {
        let last = self.shared.last.lock();
        self.act(last.unwrap_or_else(PoisonError::into_inner), act)
    }

    /// The same, and nothing too if another one takes long.
    pub(super) fn taken_soon<T>(&self, act: impl FnOnce(u64) -> T) -> Option<T> {
        let start = Instant::now();
        let last = loop {
            match self.shared.last.try_lock() {
                Ok(last) => break last,
                Err(TryLockError::Poisoned(last)) => break last.into_inner(),
                Err(TryLockError::WouldBlock) if start.elapsed() > PATIENCE => return None,
                Err(TryLockError::WouldBlock) => thread::sleep(NAP),
            }
        };
        self.act(last, act)
    }

    fn act<T>(&self, mut last: MutexGuard<'_, u64>, act: impl FnOnce(u64) -> T) -> Option<T> {
        if *last > self.number {
            return None;
        }
        let before = std::mem::replace(&mut *last, self.number);
        Some(act(before))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::{FAILURES, IndexRebuild, WriteTurn};

    #[test]
    fn snapshot_does_not_write_after_a_newer_one_whichever_is_made_first() {
        let first = WriteTurn::default();
        let second = first.next();
        let third = second.next();
        assert_eq!(first.taken(|last| last), Some(0));
        assert_eq!(third.taken(|last| last), Some(0));
        assert_eq!((first.taken(|_| ()), second.taken(|_| ())), (None, None));
        assert_eq!(third.taken_soon(|last| last), Some(2));
        assert_eq!(second.next().taken(|last| last), Some(2));
    }

    #[test]
    fn work_that_panics_is_a_failure() {
        let healing = IndexRebuild::default();
        let (done, count) = mpsc::channel();
        for _ in 0..1_000 {
            let done = done.clone();
            healing.begin(move || {
                done.send(()).unwrap();
                panic!("a fault of the index");
            });
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        drop(done);
        assert_eq!(count.iter().count(), FAILURES);
    }

    #[test]
    fn one_thread_heals_at_a_time_and_not_for_ever() {
        let healing = IndexRebuild::default();
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
