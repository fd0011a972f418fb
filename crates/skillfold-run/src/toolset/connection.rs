//! Requests to a process that speaks JSON-RPC over stdin and stdout, one message per line.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skillfold_core::name::ResourcePath;
use skillfold_core::text::ellipsize;

use super::lines::{LastWords, Line, MAX_LINE, read_lines};
use super::options::ToolsetOptions;
use crate::corrections::Corrections;
use crate::error::{RunError, RunErrorKind};
use crate::limits::RunLimits;
use crate::run::Run;
use crate::running::Running;
use crate::supervise::Cancel;

/// How often to check for cancellation.
const POLL: Duration = Duration::from_millis(20);

/// How long a process may live, and keep stderr open, after it closed stdout.
const GRACE: Duration = Duration::from_millis(200);

/// Maximum number of messages queued for writing.
const QUEUE: usize = 16;

/// Maximum number of characters of a line shown in an error.
const SHOWN: usize = 200;

/// The JSON-RPC error code for an unknown method.
const METHOD_NOT_FOUND: i64 = -32601;

/// An error response from the process.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) message: String,
}

/// A started process. Dropping it kills the process, and with it the threads on its pipes.
#[derive(Debug)]
pub(super) struct ServerConnection {
    running: Running,
    requests: SyncSender<Vec<u8>>,
    lines: Receiver<Line>,
    words: LastWords,
    file: ResourcePath,
    limits: RunLimits,
    cancel: Cancel,
    last_id: u64,
}

impl ServerConnection {
    /// Ends the process, and returns what was put right in the folders it can write.
    pub(super) fn end(self) -> Corrections {
        self.running.end()
    }

    /// Starts a process.
    pub(super) fn start(
        run: Run<'_>,
        file: &ResourcePath,
        options: &ToolsetOptions,
    ) -> Result<Self, RunError> {
        let failed = |error| RunError::failed_to_start(format!("Could not start `{file}`"), error);
        let mut running = run.start()?;
        let pipes = (
            running.take_stdin(),
            running.take_stdout(),
            running.take_stderr(),
        );
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(failed(io::Error::other("the process has no pipes")));
        };
        let (requests, messages) = sync_channel(QUEUE);
        let write = move || write_messages(stdin, &messages);
        thread::Builder::new().spawn(write).map_err(failed)?;
        Ok(Self {
            running,
            requests,
            lines: read_lines(stdout).map_err(failed)?,
            words: LastWords::listen(stderr).map_err(failed)?,
            file: file.clone(),
            limits: options.run().limits().clone(),
            cancel: options.run().cancel().clone(),
            last_id: 0,
        })
    }

    /// Returns the deadline of a request sent now.
    pub(super) fn deadline(&self) -> Instant {
        self.limits.deadline()
    }

    /// Sends a message without a response.
    pub(super) fn notify(&self, method: &str) -> Result<(), RunError> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method }))
    }

    /// Sends a request and waits for its response.
    ///
    /// The process is unusable after an error.
    pub(super) fn request(
        &mut self,
        method: &str,
        params: &Value,
        deadline: Instant,
    ) -> Result<Result<Value, Refused>, RunError> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let line = self.receive(method, deadline)?;
            let Ok(Value::Object(mut message)) = serde_json::from_slice(&line) else {
                let text = String::from_utf8_lossy(&line);
                let what = format!(
                    "wrote a line that is not a message: `{}`",
                    ellipsize(&text, SHOWN)
                );
                return Err(self.failed(
                    &what,
                    "Write only messages to stdout, and everything else to stderr",
                ));
            };
            match (message.remove("method"), message.remove("id")) {
                (Some(method), Some(id)) => self.answer(&method, &id)?,
                // Notifications, and responses to nothing.
                (Some(_), None) => {}
                (None, answered) if answered != Some(Value::from(id)) => {}
                (None, _) => {
                    let text = message.get("error").map(|error| {
                        let text = error.get("message").and_then(Value::as_str);
                        text.unwrap_or("an error without a message").to_owned()
                    });
                    return Ok(match text {
                        Some(message) => Err(Refused { message }),
                        None => Ok(message.remove("result").unwrap_or_default()),
                    });
                }
            }
        }
    }

    /// Answers a request from the process: it may not ask for anything.
    fn answer(&self, method: &Value, id: &Value) -> Result<(), RunError> {
        if method == "ping" {
            return self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
        }
        let error = json!({ "code": METHOD_NOT_FOUND, "message": "Method not found" });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
    }

    fn send(&self, message: &Value) -> Result<(), RunError> {
        let mut bytes = message.to_string().into_bytes();
        if bytes.len() > MAX_LINE {
            let text = format!(
                "A message to toolset `{}` has more than {MAX_LINE} bytes",
                self.file
            );
            let hint = "Give less, or grant reading a file";
            return Err(RunError::new(RunErrorKind::InputTooLarge, text, hint));
        }
        bytes.push(b'\n');
        match self.requests.try_send(bytes) {
            // A process that exited is noticed through its output.
            Ok(()) | Err(TrySendError::Disconnected(_)) => Ok(()),
            Err(TrySendError::Full(_)) => {
                Err(self.failed("does not read its input", "Read stdin line by line"))
            }
        }
    }

    /// Waits for a line.
    fn receive(&self, method: &str, deadline: Instant) -> Result<Vec<u8>, RunError> {
        loop {
            if self.cancel.is_cancelled() {
                let message = format!("Toolset `{}` was cancelled", self.file);
                let hint = "Call it again if you still need it";
                return Err(RunError::new(RunErrorKind::Cancelled, message, hint));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(self.too_late(method));
            }
            match self.lines.recv_timeout(left.min(POLL)) {
                Ok(Line::Text(line)) => return Ok(line),
                Ok(Line::TooLong) => {
                    let what = format!("wrote a line of more than {MAX_LINE} bytes");
                    return Err(self.failed(&what, "Return less in one answer"));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended(method)),
            }
        }
    }

    fn ended(&self, method: &str) -> RunError {
        let (stopper, now) = (self.running.stopper(), self.running.stopper());
        // Stdout is closed, but the process has not exited yet.
        let later = thread::Builder::new().spawn(move || {
            thread::sleep(GRACE);
            stopper.stop();
        });
        if later.is_err() {
            now.stop();
        }
        self.words.wait(GRACE);
        let end = match self.running.wait() {
            Ok(Some(code)) => format!("ended with code {code}"),
            Ok(None) | Err(_) => "ended".to_owned(),
        };
        let what = format!("{end} before it answered `{method}`");
        self.failed(
            &what,
            "Try again, which restarts it; its last output may say why",
        )
    }

    fn too_late(&self, method: &str) -> RunError {
        let seconds = self.limits.wall_time.as_secs_f64();
        let what = format!("did not answer `{method}` within {seconds} s and was stopped");
        let message = self.with_last_words(&what);
        let hint = "Try again with less to do, or raise the time limit";
        RunError::new(RunErrorKind::Timeout, message, hint)
    }

    fn failed(&self, what: &str, hint: &str) -> RunError {
        RunError::new(
            RunErrorKind::ToolsetFailed,
            self.with_last_words(what),
            hint,
        )
    }

    fn with_last_words(&self, what: &str) -> String {
        let words = self.words.text();
        let said = if words.is_empty() { "" } else { ". It said: " };
        format!("Toolset `{}` {what}{said}{words}", self.file)
    }
}

/// Writes messages until there are no more, or the process does not accept them.
fn write_messages(mut stdin: Box<dyn Write + Send>, messages: &Receiver<Vec<u8>>) {
    // SIGPIPE would kill a host that does not ignore it when the process closes its stdin. Blocked, the write fails.
    #[cfg(target_os = "linux")]
    crate::linux::sys::set_signal_mask(u64::MAX);
    for message in messages {
        if stdin
            .write_all(&message)
            .and_then(|()| stdin.flush())
            .is_err()
        {
            return;
        }
    }
}
