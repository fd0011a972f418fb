//! A long-lived sandboxed process.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;

use crate::corrections::Corrections;
use crate::guard::Guard;
use crate::process::{Control, ExitStatus, Process};

/// A sandboxed process that the host talks to over pipes. Dropping it kills the process and everything it started, as
/// [`end`](Self::end) does, but says nothing.
#[derive(Debug)]
pub struct Running {
    process: Process,
    /// Until the process has ended.
    guard: Option<Guard>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Running {
    pub(crate) fn new(process: Process, guard: Guard) -> Self {
        Self {
            process,
            guard: Some(guard),
        }
    }

    /// Kills the process and everything it started, puts right what it did in the folders it may write and may not do
    /// there, and returns that.
    pub fn end(mut self) -> Corrections {
        self.finish()
    }

    fn finish(&mut self) -> Corrections {
        let Some(guard) = self.guard.take() else {
            return Corrections::default();
        };
        self.process.control.kill();
        let _ = self.process.control.wait();
        Corrections::new(guard.check())
    }

    /// Returns the pipe to stdin, once. Dropping it closes the pipe.
    pub fn take_stdin(&mut self) -> Option<Box<dyn Write + Send>> {
        self.process.stdin.take()
    }

    /// Returns the pipe from stdout, once.
    pub fn take_stdout(&mut self) -> Option<Box<dyn Read + Send>> {
        self.process.stdout.take()
    }

    /// Returns the pipe from stderr, once. The process blocks when the pipe is full and nobody reads it.
    pub fn take_stderr(&mut self) -> Option<Box<dyn Read + Send>> {
        self.process.stderr.take()
    }

    /// Returns a handle that stops the process from any thread, for example after an idle timeout.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.process.control))
    }

    /// Waits until the process has exited, and returns its exit code, or `None` if a signal killed it.
    pub fn wait(&self) -> io::Result<Option<i32>> {
        Ok(match self.process.control.wait()? {
            ExitStatus::Exited(code) => Some(code),
            ExitStatus::Signalled(_) => None,
        })
    }
}

/// Stops a [`Running`] process.
#[derive(Clone)]
pub struct Stopper(Arc<dyn Control>);

impl Stopper {
    /// Stops the process and everything it started.
    pub fn stop(&self) {
        self.0.kill();
    }
}

impl fmt::Debug for Stopper {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Stopper")
    }
}
