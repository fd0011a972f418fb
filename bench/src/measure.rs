//! Timing on a noisy machine: this process's CPU time, interleaved runs, medians.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// CPU and wall time of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) cpu_ms: f64,
    pub(crate) wall_ms: f64,
}

/// Returns a run's result and duration.
pub(crate) fn measure<T>(run: impl FnOnce() -> T) -> (T, Sample) {
    let (cpu, wall) = (cpu_time(), Instant::now());
    let result = run();
    let sample = Sample {
        cpu_ms: milliseconds(cpu_time().saturating_sub(cpu)),
        wall_ms: milliseconds(wall.elapsed()),
    };
    (result, sample)
}

/// Returns this process's CPU time.
pub(crate) fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Returns the median.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Returns the median ratio of paired runs.
pub(crate) fn ratio_of(floor: &[Sample], runs: &[Sample]) -> f64 {
    let pairs = floor.iter().zip(runs);
    median(
        pairs
            .map(|(floor, run)| run.cpu_ms / floor.cpu_ms)
            .collect(),
    )
}

/// Rounds to three decimal places.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
