//! What the host keeps about a running component, and what the component may use.

use std::time::Instant;

use skillfold_core::text::last_bytes;
use wasmtime::ResourceLimiter;

use super::bindings::skillfold::toolset::logging;
use crate::supervise::Cancel;

/// Bytes of the log that are kept: the last ones.
const MAX_LOG: usize = 4096;

/// Maximum instances, memories and tables of a component, each. Those that compilers make have fewer than ten.
const MAX_ITEMS: usize = 32;

/// Bytes of an element of a table.
const TABLE_ELEMENT: usize = 16;

/// Why a component was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interruption {
    Timeout,
    Cancelled,
}

/// What belongs to one instance of a component.
pub(super) struct State {
    memory: Memory,
    log: String,
    cancel: Cancel,
    /// When the running call must have ended.
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

    /// Begins a call that must have ended by a deadline.
    pub(super) fn begin_call(&mut self, deadline: Instant) {
        self.deadline = deadline;
        // What a call before was refused is not why this one fails.
        self.memory.is_refused = false;
    }

    /// Returns why the component must end, if it must.
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

    /// Returns why the component was ended by us, if it was.
    pub(super) fn interruption(&self) -> Option<Interruption> {
        self.interruption
    }

    /// Returns whether the component asked for more memory than it may have.
    pub(super) fn is_memory_refused(&self) -> bool {
        self.memory.is_refused
    }

    pub(super) fn limiter(&mut self) -> &mut dyn ResourceLimiter {
        &mut self.memory
    }

    /// Returns the last lines that the component noted.
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

/// The bytes that memories and tables may still take, all together: a component can have many of each.
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
