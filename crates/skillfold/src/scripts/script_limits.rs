//! How much time, memory and output scripts have, and how many processes.

use std::time::Duration;

use serde::Deserialize;
use skillfold_run::{RunError, RunErrorKind, RunLimits};

use crate::settings::Settings;

/// Limits that a caller sets for a run. What is not set is as the settings say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ScriptLimits {
    /// Maximum seconds.
    pub seconds: Option<u64>,
    /// Maximum memory, in MiB.
    pub memory_mb: Option<u64>,
    /// Maximum output, in KiB.
    pub output_kb: Option<u64>,
    /// Maximum processes and threads.
    pub processes: Option<u64>,
}

macro_rules! setters {
    ($($setter:ident($field:ident),)*) => {
        impl ScriptLimits {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](field@Self::", stringify!($field), "); `None` for what the settings say.")]
                #[must_use]
                pub fn $setter(mut self, $field: impl Into<Option<u64>>) -> Self {
                    self.$field = $field.into();
                    self
                }
            )*
        }
    };
}

setters! {
    with_seconds(seconds),
    with_memory_mb(memory_mb),
    with_output_kb(output_kb),
    with_processes(processes),
}

impl ScriptLimits {
    /// Returns what the settings say.
    pub(super) fn from_settings(settings: &Settings) -> Self {
        let number = |value: usize| u64::try_from(value).ok();
        Self {
            seconds: number(settings.script_seconds.value),
            memory_mb: number(settings.script_memory_mb.value),
            output_kb: number(settings.script_output_kb.value),
            processes: number(settings.script_processes.value),
        }
    }

    /// Refuses more than the settings say.
    pub(super) fn check(self, settings: Self) -> Result<(), RunError> {
        let limits = [
            ("script_seconds", self.seconds, settings.seconds),
            ("script_memory_mb", self.memory_mb, settings.memory_mb),
            ("script_output_kb", self.output_kb, settings.output_kb),
            ("script_processes", self.processes, settings.processes),
        ];
        for (setting, asked, most) in limits {
            let (Some(asked), Some(most)) = (asked, most) else {
                continue;
            };
            if asked > most {
                let message =
                    format!("Limit is higher than the setting `{setting}`: {asked}, not {most}");
                let hint = "Ask for less, or raise the setting";
                return Err(RunError::new(RunErrorKind::NotPermitted, message, hint));
            }
        }
        Ok(())
    }

    /// Changes the limits of a run. Zero counts as one: without any time or memory nothing runs.
    pub(super) fn apply(self, limits: RunLimits) -> RunLimits {
        let mut limits = limits;
        if let Some(seconds) = self.seconds {
            let time = Duration::from_secs(seconds.max(1));
            limits = limits.with_wall_time(time).with_cpu_time(time);
        }
        if let Some(mb) = self.memory_mb {
            limits = limits.with_memory_bytes(mb.max(1).saturating_mul(1024 * 1024));
        }
        if let Some(kb) = self.output_kb {
            let bytes = kb.max(1).saturating_mul(1024);
            limits = limits.with_output_bytes(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        if let Some(processes) = self.processes {
            limits = limits.with_processes(processes.max(1));
        }
        limits
    }
}
