//! Reads lines from an untrusted process, within limits.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use skillfold_core::text::last_bytes;

use crate::process::locked;

/// Maximum length of a line in bytes.
pub(super) const MAX_LINE: usize = 4 * 1024 * 1024;

/// How many of the last bytes of stderr are kept.
const MAX_TAIL: usize = 4096;

/// How many lines of stderr an error shows.
const SHOWN_LINES: usize = 6;

/// Output of a process.
#[derive(Debug)]
pub(super) enum Line {
    /// A line, without its line ending.
    Text(Vec<u8>),
    /// A line over the limit; nothing is read after it.
    TooLong,
}

/// Reads lines in a separate thread. At most one is queued, so a process that writes endlessly blocks on its pipe.
pub(super) fn read_lines(pipe: Box<dyn Read + Send>) -> io::Result<Receiver<Line>> {
    let (sender, receiver) = sync_channel(1);
    thread::Builder::new().spawn(move || forward_lines(pipe, &sender))?;
    Ok(receiver)
}

fn forward_lines(pipe: Box<dyn Read + Send>, sender: &SyncSender<Line>) {
    let mut pipe = BufReader::with_capacity(64 * 1024, pipe);
    loop {
        let mut line = Vec::new();
        let limit = (MAX_LINE as u64).saturating_add(1);
        match pipe.by_ref().take(limit).read_until(b'\n', &mut line) {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        if line.len() > MAX_LINE {
            // The second send blocks until the receiver is gone: until then the pipe stays open, so the process is not
            // killed by a closed pipe, which would hide the fault.
            while sender.send(Line::TooLong).is_ok() {}
            return;
        }
        line.pop_if(|last| *last == b'\n');
        if sender.send(Line::Text(line)).is_err() {
            return;
        }
    }
}

/// The last stderr output of a process.
#[derive(Debug)]
pub(super) struct LastWords {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    closed: Receiver<()>,
}

impl LastWords {
    /// Reads in a separate thread, and keeps the end.
    pub(super) fn listen(mut pipe: Box<dyn Read + Send>) -> io::Result<Self> {
        let (sender, closed) = sync_channel(1);
        let bytes = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&bytes);
        thread::Builder::new().spawn(move || {
            let mut buffer = vec![0; MAX_TAIL];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                let mut kept = locked(&kept);
                kept.extend(&buffer[..count]);
                let excess = kept.len().saturating_sub(MAX_TAIL);
                kept.drain(..excess);
            }
            let _ = sender.send(());
        })?;
        Ok(Self { bytes, closed })
    }

    /// Waits until stderr is closed, at most for `time`.
    pub(super) fn wait(&self, time: Duration) {
        let _ = self.closed.recv_timeout(time);
    }

    /// Returns the last lines, on one line.
    pub(super) fn text(&self) -> String {
        let kept = locked(&self.bytes);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        last_lines(&String::from_utf8_lossy(&bytes))
    }
}

/// Returns the last non-blank lines, on one line.
pub(super) fn last_lines(text: &str) -> String {
    let lines = last_bytes(text, MAX_TAIL).lines().map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join(" / ")
}
