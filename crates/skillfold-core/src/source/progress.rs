//! How far long work is, as `tracing` events.

/// The target of the events.
pub const TARGET: &str = "skillfold::progress";

/// Every so many steps there is an event.
const STEPS: usize = 64;

/// Reports a step of long work, such as `indexing`; `total` is 0 if it is not known. Now and then, and at the end, that is
/// a `tracing` event with the fields `task`, `done` and `total`, so that a host can show progress.
pub fn report(task: &'static str, done: usize, total: usize) {
    if done.is_multiple_of(STEPS) || done == total {
        tracing::trace!(target: TARGET, task, done, total, "progress");
    }
}
