//! A run's limits, each with its default and the reason for it.

use std::time::{Duration, Instant};

/// Limits of a run. Exceeding one ends the run and is reported; nothing is truncated silently.
///
/// ```
/// use std::time::Duration;
///
/// let limits = skillfold_run::RunLimits::default().with_wall_time(Duration::from_secs(5));
/// assert_eq!(limits.output_bytes, 1_048_576);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunLimits {
    /// Maximum time from start to end. 60 seconds.
    pub wall_time: Duration,
    /// Maximum size of stdout and stderr together. 1 MiB.
    pub output_bytes: usize,
    /// Maximum number of arguments. 100.
    pub arguments: usize,
    /// Maximum total size of the arguments. 4,096 bytes.
    pub argument_bytes: usize,
    /// Maximum size of stdin. 16 MiB.
    pub input_bytes: usize,
    /// Maximum memory: per process, and in total where a control group is available. 1 GiB, since Node needs a few
    /// hundred MiB.
    pub memory_bytes: u64,
    /// Maximum number of concurrent processes and threads. 128; Node starts eleven.
    pub processes: u64,
    /// Maximum number of open files per process. 512.
    pub open_files: u64,
    /// Maximum size of each written file. 256 MiB.
    pub file_bytes: u64,
    /// Maximum total size of the scratch folder. 256 MiB.
    pub scratch_bytes: u64,
    /// Maximum CPU time per process, in whole seconds; [`Duration::MAX`] for none. 60 seconds.
    pub cpu_time: Duration,
}

macro_rules! setters {
    ($($setter:ident($field:ident: $value:ty),)*) => {
        impl RunLimits {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](field@Self::", stringify!($field), ").")]
                #[must_use]
                pub fn $setter(mut self, $field: $value) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}

setters! {
    with_wall_time(wall_time: Duration),
    with_output_bytes(output_bytes: usize),
    with_arguments(arguments: usize),
    with_argument_bytes(argument_bytes: usize),
    with_input_bytes(input_bytes: usize),
    with_memory_bytes(memory_bytes: u64),
    with_processes(processes: u64),
    with_open_files(open_files: u64),
    with_file_bytes(file_bytes: u64),
    with_scratch_bytes(scratch_bytes: u64),
    with_cpu_time(cpu_time: Duration),
}

impl RunLimits {
    /// Returns the deadline of a run that starts now.
    pub(crate) fn deadline(&self) -> Instant {
        let now = Instant::now();
        // A time that overflows the clock counts as a year.
        now.checked_add(self.wall_time)
            .unwrap_or_else(|| now + Duration::from_secs(365 * 24 * 3600))
    }
}

impl Default for RunLimits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            wall_time: Duration::from_secs(60),
            output_bytes: 1024 * 1024,
            arguments: 100,
            argument_bytes: 4096,
            input_bytes: 16 * 1024 * 1024,
            memory_bytes: 1024 * MIB,
            processes: 128,
            open_files: 512,
            file_bytes: 256 * MIB,
            scratch_bytes: 256 * MIB,
            cpu_time: Duration::from_secs(60),
        }
    }
}
