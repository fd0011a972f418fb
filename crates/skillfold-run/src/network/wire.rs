//! Sockets whose every wait has a deadline and ends with the run.

use std::io::{self, PipeReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType};

/// Tells all threads of a proxy to end: the other end of the pipe is closed.
#[derive(Debug)]
pub(super) struct Stop(PipeReader);

impl Stop {
    pub(super) fn new(pipe: PipeReader) -> Self {
        Self(pipe)
    }

    pub(super) fn is_set(&self) -> bool {
        let mut watched = [PollFd::new(&self.0, PollFlags::IN)];
        poll(&mut watched, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    /// Waits for some time, or until it is set.
    pub(super) fn wait(&self, time: Duration) {
        let time = Timespec::try_from(time).unwrap_or_default();
        let _ = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&time));
    }

    /// Waits until one of the descriptors is ready for what is asked of it, or broken, and returns for each whether it is.
    ///
    /// # Errors
    ///
    /// `TimedOut` at the deadline, `ConnectionAborted` if the run ends.
    pub(super) fn poll<const N: usize>(
        &self,
        wanted: [Option<(BorrowedFd<'_>, PollFlags)>; N],
        deadline: Instant,
    ) -> io::Result<[bool; N]> {
        loop {
            let mut watched = vec![PollFd::new(&self.0, PollFlags::IN)];
            for (fd, flags) in wanted.iter().flatten() {
                watched.push(PollFd::from_borrowed_fd(*fd, *flags));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let time = Timespec::try_from(left).unwrap_or_default();
            match poll(&mut watched, Some(&time)) {
                Ok(0) if left.is_zero() => return Err(io::ErrorKind::TimedOut.into()),
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
            let mut ready = watched.iter().map(|fd| !fd.revents().is_empty());
            if ready.next() == Some(true) {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            return Ok(wanted.map(|wanted| wanted.is_some() && ready.next() == Some(true)));
        }
    }

    /// Reads what is there, and waits for something if nothing is. Returns 0 at the end.
    pub(super) fn read(
        &self,
        mut stream: &TcpStream,
        buffer: &mut [u8],
        deadline: Instant,
    ) -> io::Result<usize> {
        loop {
            self.poll([Some((stream.as_fd(), PollFlags::IN))], deadline)?;
            match stream.read(buffer) {
                Err(error) if is_not_ready(&error) => {}
                result => return result,
            }
        }
    }

    /// Writes all bytes.
    pub(super) fn write_all(
        &self,
        mut stream: &TcpStream,
        mut bytes: &[u8],
        deadline: Instant,
    ) -> io::Result<()> {
        while !bytes.is_empty() {
            self.poll([Some((stream.as_fd(), PollFlags::OUT))], deadline)?;
            match stream.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) if is_not_ready(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Connects to exactly this address. The stream does not block.
    pub(super) fn connect(&self, address: SocketAddr, deadline: Instant) -> io::Result<TcpStream> {
        let family = match address {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
        match net::connect(&socket, &address) {
            Ok(()) => {}
            Err(Errno::INPROGRESS) => {
                self.poll([Some((socket.as_fd(), PollFlags::OUT))], deadline)?;
                net::sockopt::socket_error(&socket)??;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(socket.into())
    }
}

/// Returns whether a stream has to be waited for again.
pub(super) fn is_not_ready(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
