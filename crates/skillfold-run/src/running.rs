//! A long-lived process in the sandbox.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;

use crate::process::{Control, ExitStatus, Process};

/// A process in the sandbox that the host talks to over pipes. Dropping it ends the process and everything it started.
#[derive(Debug)]
pub struct Running {
    process: Process,
}

impl Running {
    pub(crate) fn new(process: Process) -> Self {
        Self { process }
    }

    /// Returns the pipe to standard input, once. Dropping it closes the pipe.
    pub fn take_stdin(&mut self) -> Option<Box<dyn Write + Send>> {
        self.process.stdin.take()
    }

    /// Returns the pipe from standard output, once.
    pub fn take_stdout(&mut self) -> Option<Box<dyn Read + Send>> {
        self.process.stdout.take()
    }

    /// Returns the pipe from standard error, once. The process stops when the pipe is full and nobody reads it.
    pub fn take_stderr(&mut self) -> Option<Box<dyn Read + Send>> {
        self.process.stderr.take()
    }

    /// Returns a handle that ends the process from any thread, for example when it was idle for too long.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.process.control))
    }

    /// Waits until the process has ended, and returns its exit code, or `None` if a signal ended it.
    pub fn wait(&self) -> io::Result<Option<i32>> {
        Ok(match self.process.control.wait()? {
            ExitStatus::Exited(code) => Some(code),
            ExitStatus::Signalled(_) => None,
        })
    }
}

/// Ends a [`Running`] process.
#[derive(Clone)]
pub struct Stopper(Arc<dyn Control>);

impl Stopper {
    /// Ends the process and everything it started.
    pub fn stop(&self) {
        self.0.kill();
    }
}

impl fmt::Debug for Stopper {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Stopper")
    }
}
