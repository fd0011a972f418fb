//! An instantiated component: calls into it, and why they fail.

use std::time::Instant;

use skillfold_core::text::ellipsize;
use wasmtime::{Store, Trap, UpdateDeadline};

use super::bindings::exports::skillfold::toolset::tools::{Output, Tool};
use super::bindings::{Toolset, ToolsetPre};
use super::state::{Interruption, State};
use super::ticker::Runtime;
use crate::limits::RunLimits;
use crate::supervise::Cancel;
use crate::toolset::lines::{MAX_LINE, last_lines};

/// Maximum number of characters of an error shown.
const MAX_ERROR: usize = 400;

/// Why a component gave no result. It is unusable after that.
#[derive(Debug)]
pub(super) struct GuestFailure {
    pub(super) why: Why,
    /// The last lines it logged.
    pub(super) log: String,
}

#[derive(Debug)]
pub(super) enum Why {
    Interrupted(Interruption),
    /// It returned more than this many bytes at once.
    TooMuch(usize),
    /// It requested more memory than allowed, and did not do without.
    OutOfMemory,
    /// Its code did something WebAssembly forbids.
    Fault(String),
    /// The component or its output does not match the interface.
    Broken(String),
}

/// What a component was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GuestStep {
    Start,
    List,
    Call,
}

/// A running component. It keeps its state between calls.
pub(super) struct Guest {
    runtime: &'static Runtime,
    store: Store<State>,
    toolset: Toolset,
}

impl Guest {
    /// Instantiates a component.
    pub(super) fn start(
        runtime: &'static Runtime,
        component: &ToolsetPre<State>,
        limits: &RunLimits,
        cancel: &Cancel,
        deadline: Instant,
    ) -> Result<Self, GuestFailure> {
        let state = State::new(limits.memory_bytes, cancel.clone(), deadline);
        let mut store = Store::new(&runtime.engine, state);
        store.limiter(State::limiter);
        store.epoch_deadline_callback(|mut store| {
            Ok(match store.data_mut().interrupt() {
                Some(_) => UpdateDeadline::Interrupt,
                None => UpdateDeadline::Continue(1),
            })
        });
        let toolset = enter(runtime, &mut store, deadline, MAX_LINE, |store| {
            component.instantiate(store)
        })?;
        Ok(Self {
            runtime,
            store,
            toolset,
        })
    }

    /// Returns its tools.
    pub(super) fn list(&mut self, deadline: Instant) -> Result<Vec<Tool>, GuestFailure> {
        let tools = self.toolset.skillfold_toolset_tools();
        enter(self.runtime, &mut self.store, deadline, MAX_LINE, |store| {
            tools.call_list(store)
        })
    }

    /// Calls a tool. The inner error is the tool's own failure message.
    pub(super) fn call(
        &mut self,
        tool: &str,
        arguments: &str,
        limits: &RunLimits,
    ) -> Result<Result<Output, String>, GuestFailure> {
        let tools = self.toolset.skillfold_toolset_tools();
        enter(
            self.runtime,
            &mut self.store,
            limits.deadline(),
            limits.output_bytes,
            |store| tools.call_call(store, tool, arguments),
        )
    }
}

/// Runs a component until a deadline, with a limit on the bytes it returns at once.
fn enter<R>(
    runtime: &Runtime,
    store: &mut Store<State>,
    deadline: Instant,
    max_bytes: usize,
    run: impl FnOnce(&mut Store<State>) -> wasmtime::Result<R>,
) -> Result<R, GuestFailure> {
    store.data_mut().begin_call(deadline);
    if let Some(interruption) = store.data_mut().interrupt() {
        return Err(failure(store, Why::Interrupted(interruption)));
    }
    store.set_hostcall_fuel(max_bytes);
    store.set_epoch_deadline(1);
    let running = runtime.run();
    let answer = run(store);
    drop(running);
    answer.map_err(|error| {
        let state = store.data();
        let why = match state.interruption() {
            Some(interruption) => Why::Interrupted(interruption),
            None if is_too_much(&error) => Why::TooMuch(max_bytes),
            None if state.is_memory_refused() => Why::OutOfMemory,
            None => match error.downcast_ref::<Trap>() {
                Some(trap) => Why::Fault(trap.to_string().replace("wasm trap: ", "")),
                None => Why::Broken(one_line(&error)),
            },
        };
        failure(store, why)
    })
}

fn failure(store: &Store<State>, why: Why) -> GuestFailure {
    let log = last_lines(store.data().log());
    GuestFailure { why, log }
}

/// Returns whether a result, or a log line, exceeded the limit. The type of this error is not public.
fn is_too_much(error: &wasmtime::Error) -> bool {
    let root = error.root_cause().to_string();
    error.downcast_ref::<Trap>().is_none() && root.contains("fuel allocated for hostcalls")
}

/// Returns an error and its causes on one line.
pub(super) fn one_line(error: &wasmtime::Error) -> String {
    let text = format!("{error:#}");
    let words: Vec<&str> = text.split_whitespace().collect();
    ellipsize(&words.join(" "), MAX_ERROR).into()
}
