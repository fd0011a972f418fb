//! CPU cost of a piece of work on a shared machine.

use std::time::Duration;

/// Returns this thread's CPU time for `work`: the minimum of `runs` runs, since interference only adds time.
///
/// Compare two of these in one test; a bound on a single one would measure the machine.
pub fn min_cpu_time(runs: usize, work: impl Fn()) -> Duration {
    let cost = |_| {
        let start = cpu_time();
        work();
        cpu_time().saturating_sub(start)
    };
    (0..runs).map(cost).min().unwrap_or_default()
}

#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.try_into().unwrap_or_default(),
        time.tv_nsec.try_into().unwrap_or_default(),
    )
}

/// Reading a thread's clock would need unsafe code here.
#[cfg(not(unix))]
fn cpu_time() -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}
