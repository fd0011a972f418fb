//! What a piece of work costs, on a machine that others use too.

use std::time::Duration;

/// Returns the CPU time that this thread takes for some work, the least of so many runs: what disturbs a run only adds to it.
///
/// Compare two of these in one test; a bound on one of them alone would judge the machine.
pub fn least_cost(runs: usize, work: impl Fn()) -> Duration {
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

/// There is no clock of a thread that is read without unsafe code.
#[cfg(not(unix))]
fn cpu_time() -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}
