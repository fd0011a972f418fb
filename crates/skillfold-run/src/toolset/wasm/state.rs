//! The host's state for a running component, and the component's limits.

use std::time::Instant;

use skillfold_core::text::last_bytes;
use wasmtime::ResourceLimiter;

use super::bindings::skillfold::toolset::logging;
use crate::supervise::Cancel;

/// How many of the last log bytes are kept.
const MAX_LOG: usize = 4096;

/// Maximum number of instances, memories and tables each. Compilers create fewer than ten.
const MAX_ITEMS: usize = 32;

/// Size of a table element in bytes.
const TABLE_ELEMENT: usize = 16;

/// Why a component was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interruption {
    Timeout,
    Cancelled,
}

/// The state of one component instance.
pub(super) struct State {
    memory: Memory,
    log: String,
    cancel: Cancel,
    /// When the running call must have returned.
    deadline: Instant,
    interruption: Option<Interruption>,
}

impl State {
    pub(super) fn new(memory_bytes: u64, cancel: Cancel, deadline: Instant) -> Self {
        Self {
            memory: Memory {
                left: usize::try_from(memory_bytes).unwrap_or(usize::MAX),
                is_refused: false,
            },
            log: String::new(),
            cancel,
            deadline,
            interruption: None,
        }
    }

    /// Begins a call that must return before the deadline.
    pub(super) fn begin_call(&mut self, deadline: Instant) {
        self.deadline = deadline;
        // A refusal during an earlier call does not explain this one's failure.
        self.memory.is_refused = false;
    }

    /// Returns why the component must stop, if it must.
    pub(super) fn interrupt(&mut self) -> Option<Interruption> {
        self.interruption = if self.cancel.is_cancelled() {
            Some(Interruption::Cancelled)
        } else if Instant::now() >= self.deadline {
            Some(Interruption::Timeout)
        } else {
            None
        };
        self.interruption
    }

    /// Returns why we stopped the component, if we did.
    pub(super) fn interruption(&self) -> Option<Interruption> {
        self.interruption
    }

    /// Returns whether the component requested more memory than allowed.
    pub(super) fn is_memory_refused(&self) -> bool {
        self.memory.is_refused
    }

    pub(super) fn limiter(&mut self) -> &mut dyn ResourceLimiter {
        &mut self.memory
    }

    /// Returns the last lines the component logged.
    pub(super) fn log(&self) -> &str {
        &self.log
    }
}

impl logging::Host for State {
    fn log(&mut self, message: String) {
        self.log.push_str(last_bytes(&message, MAX_LOG));
        self.log.push('\n');
        if self.log.len() > 2 * MAX_LOG {
            self.log = last_bytes(&self.log, MAX_LOG).to_owned();
        }
    }
}

/// Bytes that all memories and tables together may still take: a component can have many of each.
struct Memory {
    left: usize,
    is_refused: bool,
}

impl Memory {
    fn take(&mut self, bytes: usize) -> bool {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(self.left);
        self.is_refused |= left.is_none();
        left.is_some()
    }
}

impl ResourceLimiter for Memory {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let is_declared = maximum.is_none_or(|maximum| desired <= maximum);
        Ok(is_declared && self.take(desired.saturating_sub(current)))
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let is_declared = maximum.is_none_or(|maximum| desired <= maximum);
        let bytes = desired
            .saturating_sub(current)
            .saturating_mul(TABLE_ELEMENT);
        Ok(is_declared && self.take(bytes))
    }

    fn instances(&self) -> usize {
        MAX_ITEMS
    }

    fn tables(&self) -> usize {
        MAX_ITEMS
    }

    fn memories(&self) -> usize {
        MAX_ITEMS
    }
}
