//! Rebuilds a damaged index in the background, on one thread at a time, and only for the newest snapshot.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum failed rebuilds per snapshot: a full disk stays full.
const MAX_FAILURES: usize = 3;

/// Runs the rebuilds of one index.
#[derive(Clone, Debug, Default)]
pub(super) struct IndexRebuild(Arc<RebuildState>);

#[derive(Debug, Default)]
struct RebuildState {
    is_running: AtomicBool,
    failures: AtomicUsize,
}

impl IndexRebuild {
    /// Runs `work` on a separate thread, unless a rebuild is running or too many have failed. The error of `work` is
    /// logged.
    pub(super) fn start(&self, work: impl FnOnce() -> Result<(), String> + Send + 'static) {
        let state = &self.0;
        let has_failed = state.failures.load(Ordering::Relaxed) >= MAX_FAILURES;
        if has_failed || state.is_running.swap(true, Ordering::AcqRel) {
            return;
        }
        let guard = RebuildGuard(Arc::clone(state));
        let run = move || {
            if let Err(why) = work() {
                guard.0.failures.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(why, "the search index could not be rebuilt");
            }
        };
        let thread = thread::Builder::new().name("skillfold-rebuild".to_owned());
        if let Err(cause) = thread.spawn(run) {
            tracing::warn!(%cause, "could not start a thread to rebuild the search index");
        }
    }
}

/// Marks the rebuild as finished when dropped, and as failed if it panicked.
struct RebuildGuard(Arc<RebuildState>);

impl Drop for RebuildGuard {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.failures.fetch_add(1, Ordering::Relaxed);
        }
        self.0.is_running.store(false, Ordering::Release);
    }
}

/// How long a search waits for another snapshot that is writing the index. A rebuild may take minutes.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// How often that wait tries the lock.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// A snapshot's turn to write the index. Snapshots share the index, and none may write after a newer one: it would
/// remove what is new.
#[derive(Debug, Default)]
pub(super) struct WriteTurn {
    order: Arc<TurnOrder>,
    number: u64,
}

#[derive(Debug, Default)]
struct TurnOrder {
    /// The number of the newest snapshot.
    newest: AtomicU64,
    /// The number of the snapshot that wrote last. Locked while one writes.
    last_writer: Mutex<u64>,
}

impl WriteTurn {
    /// Returns the turn of the next snapshot. Must be called in snapshot order.
    pub(super) fn next(&self) -> Self {
        Self {
            order: Arc::clone(&self.order),
            number: self.order.newest.fetch_add(1, Ordering::Relaxed) + 1,
        }
    }

    /// Calls `f` while no other snapshot writes, however long that wait takes. Returns `None` without calling it if a
    /// newer snapshot has written.
    pub(super) fn run<T>(&self, f: impl FnOnce() -> T) -> Option<T> {
        let last = self.order.last_writer.lock();
        self.run_locked(last.unwrap_or_else(PoisonError::into_inner), f)
    }

    /// Like [`run`](Self::run), but also returns `None` if another snapshot writes for longer than [`MAX_WAIT`].
    pub(super) fn try_run<T>(&self, f: impl FnOnce() -> T) -> Option<T> {
        let start = Instant::now();
        let last = loop {
            match self.order.last_writer.try_lock() {
                Ok(last) => break last,
                Err(TryLockError::Poisoned(last)) => break last.into_inner(),
                Err(TryLockError::WouldBlock) if start.elapsed() > MAX_WAIT => return None,
                Err(TryLockError::WouldBlock) => thread::sleep(RETRY_INTERVAL),
            }
        };
        self.run_locked(last, f)
    }

    fn run_locked<T>(&self, mut last: MutexGuard<'_, u64>, f: impl FnOnce() -> T) -> Option<T> {
        if *last > self.number {
            return None;
        }
        *last = self.number;
        Some(f())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, mpsc};

    use super::{IndexRebuild, MAX_FAILURES, WriteTurn};

    #[test]
    fn older_snapshot_never_overwrites_a_newer_one() {
        let first = WriteTurn::default();
        let second = first.next();
        let third = second.next();
        assert_eq!(first.run(|| 1), Some(1));
        assert_eq!(third.run(|| 3), Some(3));
        assert_eq!((first.run(|| 1), second.run(|| 2)), (None, None));
        assert_eq!(third.try_run(|| 3), Some(3));
        assert_eq!(second.next().run(|| 4), Some(4));
    }

    #[test]
    fn panicking_rebuild_is_a_failure() {
        let rebuild = IndexRebuild::default();
        let (done, count) = mpsc::channel();
        for _ in 0..2 * MAX_FAILURES {
            let done = done.clone();
            rebuild.start(move || {
                done.send(()).unwrap();
                panic!("a fault of the index");
            });
            while rebuild
                .0
                .is_running
                .load(std::sync::atomic::Ordering::Acquire)
            {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
        drop(done);
        assert_eq!(count.iter().count(), MAX_FAILURES);
    }

    #[test]
    fn one_rebuild_runs_at_a_time_and_retries_are_limited() {
        let rebuild = IndexRebuild::default();
        let (go_on, wait) = mpsc::channel::<()>();
        let (done, count) = mpsc::channel();
        let first = done.clone();
        rebuild.start(move || {
            wait.recv().unwrap();
            first.send("first").unwrap();
            Err("full".to_owned())
        });
        let second = done.clone();
        rebuild.start(move || {
            second.send("second").unwrap();
            Ok(())
        });
        go_on.send(()).unwrap();
        assert_eq!(count.recv().unwrap(), "first");
        let runs = Arc::new(AtomicUsize::new(1));
        while rebuild.0.failures.load(Ordering::Relaxed) < MAX_FAILURES {
            let runs = Arc::clone(&runs);
            rebuild.start(move || {
                runs.fetch_add(1, Ordering::Relaxed);
                Err("full".to_owned())
            });
            std::thread::yield_now();
        }
        assert_eq!(runs.load(Ordering::Relaxed), MAX_FAILURES);
        rebuild.start(move || {
            done.send("last").unwrap();
            Ok(())
        });
        assert!(count.recv().is_err(), "all senders are gone, and none sent");
    }
}
