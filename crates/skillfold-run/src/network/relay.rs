//! Carries bytes between a run and a host.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use super::wire::{Stop, is_not_ready};

/// How long nothing may be said before a connection is closed.
const IDLE_TIME: Duration = Duration::from_secs(300);

/// Bytes that are carried at a time.
const BUFFER: usize = 16 * 1024;

/// What a run may still send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Upload {
    /// As much as it wants.
    Unlimited,
    /// The rest of a request.
    Bytes(u64),
}

/// Carries bytes until both sides have ended, one is broken, or the run ends. Returns how many went to the host and came from
/// it. `early` was sent before the connection was made.
pub(super) fn relay(
    run: &TcpStream,
    host: &TcpStream,
    early: Vec<u8>,
    upload: Upload,
    stop: &Stop,
) -> (u64, u64) {
    let mut up = Direction::new(early, upload);
    let mut down = Direction::new(Vec::new(), Upload::Unlimited);
    while !(down.is_over && up.is_over) {
        // The host has answered a request, and hears no more.
        if down.is_over && upload != Upload::Unlimited {
            break;
        }
        if carry(run, host, &mut up, &mut down, stop).is_err() {
            break;
        }
    }
    (up.carried, down.carried)
}

fn carry(
    run: &TcpStream,
    host: &TcpStream,
    up: &mut Direction,
    down: &mut Direction,
    stop: &Stop,
) -> io::Result<()> {
    let wanted = [
        up.wants_to_read(run),
        up.wants_to_write(host),
        down.wants_to_read(host),
        down.wants_to_write(run),
    ];
    let ready = stop.poll(wanted, Instant::now() + IDLE_TIME)?;
    let [read_up, write_up, read_down, write_down] = ready;
    if read_up {
        up.read(run, host)?;
    }
    if read_down {
        down.read(host, run)?;
    }
    if write_up {
        up.write(host)?;
    }
    if write_down {
        down.write(run)?;
    }
    Ok(())
}

/// One direction of a connection.
struct Direction {
    buffer: Vec<u8>,
    /// Where the bytes in the buffer start that have not been written.
    start: usize,
    upload: Upload,
    carried: u64,
    is_over: bool,
}

impl Direction {
    fn new(early: Vec<u8>, upload: Upload) -> Self {
        let mut direction = Self {
            buffer: early,
            start: 0,
            upload,
            carried: 0,
            is_over: false,
        };
        if let Upload::Bytes(left) = upload {
            let count = u64::try_from(direction.buffer.len()).unwrap_or(u64::MAX);
            // What follows a request is another one.
            let kept = usize::try_from(left).unwrap_or(usize::MAX);
            direction.buffer.truncate(kept);
            direction.upload = Upload::Bytes(left.saturating_sub(count));
        }
        direction.end_request();
        direction
    }

    /// Ends the direction if all of a request was sent. The host's side stays open, since some hosts take its end for a
    /// client that has gone.
    fn end_request(&mut self) {
        if self.upload == Upload::Bytes(0) && self.start == self.buffer.len() {
            self.is_over = true;
        }
    }

    fn wants_to_read<'s>(&self, from: &'s TcpStream) -> Option<(BorrowedFd<'s>, PollFlags)> {
        let is_empty = self.start == self.buffer.len();
        (is_empty && !self.is_over).then(|| (from.as_fd(), PollFlags::IN))
    }

    fn wants_to_write<'s>(&self, to: &'s TcpStream) -> Option<(BorrowedFd<'s>, PollFlags)> {
        let is_empty = self.start == self.buffer.len();
        (!is_empty).then(|| (to.as_fd(), PollFlags::OUT))
    }

    fn read(&mut self, mut from: &TcpStream, to: &TcpStream) -> io::Result<()> {
        let most = match self.upload {
            Upload::Unlimited => BUFFER,
            Upload::Bytes(left) => usize::try_from(left).unwrap_or(BUFFER).min(BUFFER),
        };
        self.buffer.resize(most, 0);
        self.start = 0;
        let read = from.read(&mut self.buffer);
        self.buffer.truncate(*read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => {
                self.is_over = true;
                to.shutdown(Shutdown::Write)
            }
            Ok(count) => {
                if let Upload::Bytes(left) = &mut self.upload {
                    *left = left.saturating_sub(count as u64);
                }
                Ok(())
            }
            Err(error) if is_not_ready(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn write(&mut self, mut to: &TcpStream) -> io::Result<()> {
        match to.write(self.buffer.get(self.start..).unwrap_or_default()) {
            Ok(0) => Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                self.start += count;
                self.carried += count as u64;
                self.end_request();
                Ok(())
            }
            Err(error) if is_not_ready(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
