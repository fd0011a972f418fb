//! Calls that run what a skill brings, and can be interrupted.

use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use skillfold::run::Cancel as RunCancel;

use crate::error::or_raise;

/// How often a call that runs a script looks whether the user interrupted it.
const INTERRUPTION_INTERVAL: Duration = Duration::from_millis(50);

/// Ends a script or a tool that runs. `skillfold._threads` cancels it with the task that waits for it.
#[pyclass(frozen, module = "skillfold._skillfold")]
#[derive(Default)]
pub(crate) struct Cancel(pub(crate) RunCancel);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn cancel(&self) {
        self.0.cancel();
    }
}

/// Runs `f` on another thread until it ends, and raises what interrupts this one, such as Ctrl-C; then `cancel` ends `f`.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    cancel: &RunCancel,
    f: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    thread::scope(|scope| {
        let (sender, mut result) = mpsc::channel();
        let thread = scope.spawn(move || sender.send(f()));
        loop {
            let waiting = &mut result;
            match py.detach(move || waiting.recv_timeout(INTERRUPTION_INTERVAL)) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // A thread that panicked and is not joined would panic here too.
                    drop(thread.join());
                    return Err(PyRuntimeError::new_err(
                        "the run failed by a fault of its own",
                    ));
                }
            }
            if let Err(interruption) = py.check_signals() {
                cancel.cancel();
                let waiting = &mut result;
                py.detach(move || drop(waiting.recv()));
                return Err(interruption);
            }
        }
    })
}

/// Runs a script of a skill by its folder, with nothing granted: `skillfold.compat.skillkit`.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python passes a path")]
pub(crate) fn run_script(
    py: Python<'_>,
    folder: PathBuf,
    script: &str,
    input: Vec<u8>,
    seconds: f64,
    output_bytes: usize,
) -> PyResult<String> {
    let cancel = RunCancel::default();
    let limits = (seconds, output_bytes);
    let run = || skillfold_calls::run_folder(&folder, script, input, limits, &cancel);
    or_raise(py, interruptible(py, &cancel, run)?)
}
