//! The limits of a run, each with its default and the reason for it.

use std::time::{Duration, Instant};

/// Limits of a run. Reaching one ends the run and is reported; nothing is cut silently.
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
    /// Maximum bytes of standard output and standard error together. 1 MiB.
    pub output_bytes: usize,
    /// Maximum number of arguments. 100.
    pub arguments: usize,
    /// Maximum bytes of all arguments together. 4,096.
    pub argument_bytes: usize,
    /// Maximum bytes given to standard input. 16 MiB.
    pub input_bytes: usize,
    /// Maximum bytes of memory: of each process, and of all together where a control group can be made. 1 GiB, since
    /// Node needs a few hundred MiB.
    pub memory_bytes: u64,
    /// Maximum processes and threads at a time. 128; Node starts eleven.
    pub processes: u64,
    /// Maximum open files of each process. 512.
    pub open_files: u64,
    /// Maximum bytes of each file that is written. 256 MiB.
    pub file_bytes: u64,
    /// Maximum bytes of all files in the scratch folder. 256 MiB.
    pub scratch_bytes: u64,
    /// Maximum CPU time of each process, in whole seconds; [`Duration::MAX`] for none. 60 seconds.
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
    /// Returns when what starts now must have ended.
    pub(crate) fn deadline(&self) -> Instant {
        let now = Instant::now();
        // A time that the clock does not have is a year.
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
