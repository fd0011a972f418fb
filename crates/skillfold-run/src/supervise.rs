//! Watches a process until it exits or reaches a limit, and collects its output.

use std::borrow::Cow;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::corrections::Corrections;
use crate::limits::RunLimits;
use crate::network::Connection;
use crate::process::{ExitStatus, Process, locked};

/// Bytes read from a pipe at a time.
const CHUNK: usize = 64 * 1024;

/// Maximum number of chunks queued for the observer, from both pipes together.
const QUEUE: usize = 4;

/// How often to check for cancellation.
const POLL: Duration = Duration::from_millis(20);

/// How long an exited process's pipes may stay open: a process that left the group can hold them.
const GRACE: Duration = Duration::from_secs(1);

/// Cancels a run from another thread.
///
/// ```
/// let cancel = skillfold_run::Cancel::default();
/// cancel.clone().cancel();
/// assert!(cancel.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<CancelState>);

#[derive(Debug, Default)]
struct CancelState {
    is_cancelled: AtomicBool,
    followed: Mutex<Option<Cancel>>,
}

impl Cancel {
    /// Cancels the runs that use this token.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns whether this token, or the one it follows, was cancelled.
    pub fn is_cancelled(&self) -> bool {
        let followed = || locked(&self.0.followed).clone();
        self.0.is_cancelled.load(Ordering::Relaxed)
            || followed().is_some_and(|followed| followed.is_cancelled())
    }

    /// Follows another token from now on, replacing the previous one: a toolset that stays loaded is cancelled with its
    /// current call, not with earlier ones. A token must not follow itself.
    pub fn follow(&self, other: Option<&Self>) {
        *locked(&self.0.followed) = other.cloned();
    }
}

/// A script's output stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The script exited with this code.
    Exited(i32),
    /// A signal killed the script.
    Signalled(i32),
    /// It exceeded its time limit.
    Timeout,
    /// It exceeded its output limit.
    OutputTooLarge,
    /// A process exceeded its CPU time limit.
    CpuTimeExceeded,
    /// A process exceeded its file size limit.
    FileTooLarge,
    /// The host cancelled it.
    Cancelled,
}

impl End {
    /// Returns the code, such as `timeout`, stable across releases.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Exited(_) => "exited",
            Self::Signalled(_) => "signalled",
            Self::Timeout => "timeout",
            Self::OutputTooLarge => "output_too_large",
            Self::CpuTimeExceeded => "cpu_time_exceeded",
            Self::FileTooLarge => "file_too_large",
            Self::Cancelled => "cancelled",
        }
    }

    fn from_status(status: ExitStatus) -> Self {
        // These numbers are the same on every system that has the signals.
        const CPU_TIME: i32 = 24;
        const FILE_SIZE: i32 = 25;
        match status {
            ExitStatus::Exited(code) => Self::Exited(code),
            ExitStatus::Signalled(CPU_TIME) => Self::CpuTimeExceeded,
            ExitStatus::Signalled(FILE_SIZE) => Self::FileTooLarge,
            ExitStatus::Signalled(signal) => Self::Signalled(signal),
        }
    }
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Standard output, up to the limit.
    pub stdout: Vec<u8>,
    /// Standard error, up to the limit.
    pub stderr: Vec<u8>,
    /// Time from start to end.
    pub duration: Duration,
    /// What was put right in the folders that it could write.
    pub corrections: Corrections,
    /// Connections to the [hosts](crate::Permissions::with_hosts) that it may reach, and those that were refused, in the
    /// order in which they ended; the first 1,000.
    pub connections: Vec<Connection>,
    /// How many more there were.
    pub more_connections: u64,
}

impl Outcome {
    /// Returns whether the script exited by itself with code 0.
    pub fn is_success(&self) -> bool {
        self.end == End::Exited(0)
    }

    /// Returns standard output as text; bytes that are not UTF-8 become `�`.
    pub fn stdout_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stdout)
    }

    /// Returns standard error as text; bytes that are not UTF-8 become `�`.
    pub fn stderr_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stderr)
    }
}

/// Receives output as it arrives, within the limit.
pub(crate) type Observer<'a> = Box<dyn FnMut(Stream, &[u8]) + 'a>;

/// Events reported by a run's threads.
enum Event {
    Output(Stream, Vec<u8>),
    Closed,
    Ended(ExitStatus),
}

/// Collects a process's output until it exits or reaches a limit.
pub(crate) struct Supervision<'a> {
    limits: &'a RunLimits,
    cancel: &'a Cancel,
    observer: Option<Observer<'a>>,
    started: Instant,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// The limit that ended the run, if any.
    limit: Option<End>,
}

impl<'a> Supervision<'a> {
    pub(crate) fn new(limits: &'a RunLimits, cancel: &'a Cancel, started: Instant) -> Self {
        Self {
            limits,
            cancel,
            observer: None,
            started,
            stdout: Vec::new(),
            stderr: Vec::new(),
            limit: None,
        }
    }

    pub(crate) fn with_observer(mut self, observer: Option<Observer<'a>>) -> Self {
        self.observer = observer;
        self
    }

    /// Returns when the process has exited and its output is closed. If threads cannot be started, fails and kills the
    /// process.
    pub(crate) fn until_end(mut self, mut process: Process) -> io::Result<Outcome> {
        let (events, received) = sync_channel(QUEUE);
        let pipes = [
            (Stream::Stdout, process.stdout.take()),
            (Stream::Stderr, process.stderr.take()),
        ];
        for (stream, pipe) in pipes {
            let events = events.clone();
            thread::Builder::new().spawn(move || forward(stream, pipe, &events))?;
        }
        let control = Arc::clone(&process.control);
        thread::Builder::new().spawn(move || {
            // A process that cannot be waited for has exited.
            let status = control.wait().unwrap_or(ExitStatus::Signalled(9));
            let _ = events.send(Event::Ended(status));
        })?;
        let control = Arc::clone(&process.control);
        let status = self.collect(&process, &received);
        // Unblocks threads that wait for room in the queue.
        drop(received);
        drop(process);
        let connections = control.take_connections();
        Ok(Outcome {
            end: self.limit.unwrap_or_else(|| End::from_status(status)),
            stdout: self.stdout,
            stderr: self.stderr,
            duration: self.started.elapsed(),
            corrections: Corrections::default(),
            connections: connections.first,
            more_connections: connections.more,
        })
    }

    /// Receives output until the process has exited and its pipes are closed.
    fn collect(&mut self, process: &Process, received: &Receiver<Event>) -> ExitStatus {
        let (mut status, mut open, mut patience) = (None, 2, None);
        loop {
            match received.recv_timeout(POLL) {
                Ok(Event::Output(stream, bytes)) => self.take(stream, &bytes),
                Ok(Event::Closed) => open -= 1,
                Ok(Event::Ended(ended)) => {
                    status = Some(ended);
                    patience = Some(Instant::now() + GRACE);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => open = 0,
            }
            if self.limit.is_none() && status.is_none() {
                self.check_time();
            }
            if self.limit.is_some() {
                process.control.kill();
            }
            let is_over = patience.is_some_and(|patience| Instant::now() > patience);
            if let Some(status) = status
                && (open == 0 || is_over)
            {
                return status;
            }
        }
    }

    fn check_time(&mut self) {
        if self.cancel.is_cancelled() {
            self.limit = Some(End::Cancelled);
        } else if self.started.elapsed() >= self.limits.wall_time {
            self.limit = Some(End::Timeout);
        }
    }

    /// Keeps output up to the limit; more ends the run.
    fn take(&mut self, stream: Stream, bytes: &[u8]) {
        let left = self.limits.output_bytes - self.stdout.len() - self.stderr.len();
        let kept = &bytes[..bytes.len().min(left)];
        if kept.len() < bytes.len() && self.limit.is_none() {
            self.limit = Some(End::OutputTooLarge);
        }
        match stream {
            Stream::Stdout => self.stdout.extend_from_slice(kept),
            Stream::Stderr => self.stderr.extend_from_slice(kept),
        }
        if let Some(observer) = self.observer.as_mut().filter(|_| !kept.is_empty()) {
            observer(stream, kept);
        }
    }
}

/// Forwards a pipe's output until it is closed or nobody receives.
fn forward(stream: Stream, pipe: Option<Box<dyn Read + Send>>, events: &SyncSender<Event>) {
    let mut buffer = vec![0; CHUNK];
    if let Some(mut pipe) = pipe {
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            let bytes = buffer[..count].to_vec();
            if events.send(Event::Output(stream, bytes)).is_err() {
                return;
            }
        }
    }
    let _ = events.send(Event::Closed);
}
