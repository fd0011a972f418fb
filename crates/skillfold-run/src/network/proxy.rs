//! The proxy of a run: answers the connections that a run makes on its loopback.

use std::io::{self, PipeWriter};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use super::connection::{Connection, ConnectionLog, Refusal};
use super::gate::{Gate, RefusedTarget, Target};
use super::http::{self, Parsed, ProxyRequest};
use super::relay::{Upload, relay};
use super::socks::{self, Reply};
use super::wire::Stop;

/// Maximum number of connections at a time. The next ones wait to be accepted.
const MAX_OPEN: usize = 64;

/// How long to wait before looking again whether a connection can be accepted.
const PAUSE: Duration = Duration::from_millis(20);

/// Maximum time for a program to say what it wants.
const REQUEST_TIME: Duration = Duration::from_secs(30);

/// Maximum size of what a program says before it is connected.
const MAX_REQUEST: usize = 32 * 1024;

/// Maximum time to connect to one address.
const CONNECT_TIME: Duration = Duration::from_secs(15);

/// How long and how much a refused program may still send: closing at once would lose the answer.
const LINGER_TIME: Duration = Duration::from_secs(1);
const MAX_LINGER: usize = 256 * 1024;

/// A host that the proxy has connected to. A connection that is over no longer knows its address.
#[derive(Debug)]
struct Reached {
    stream: TcpStream,
    address: IpAddr,
}

/// A proxy. Its threads and sockets end when it is finished or dropped.
#[derive(Debug)]
pub(crate) struct Proxy {
    /// Closing it ends all threads.
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
    log: Arc<ConnectionLog>,
}

impl Proxy {
    /// Starts to answer what comes to a listening socket, which is in the run's network namespace and stays there.
    pub(crate) fn start(listener: OwnedFd, gate: Gate, log: ConnectionLog) -> io::Result<Self> {
        let listener = TcpListener::from(listener);
        listener.set_nonblocking(true)?;
        let (reader, writer) = io::pipe()?;
        let log = Arc::new(log);
        let service = Service {
            gate,
            log: Arc::clone(&log),
            stop: Stop::new(reader),
            open: AtomicUsize::new(0),
        };
        let serve = move || service.serve(&listener);
        Ok(Self {
            stop: Some(writer),
            thread: Some(thread::Builder::new().spawn(serve)?),
            log,
        })
    }

    /// Ends all connections, and returns them and the number of those that were not kept.
    pub(crate) fn finish(mut self) -> (Vec<Connection>, u64) {
        self.end();
        self.log.take()
    }

    fn end(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.end();
    }
}

/// What the threads of a proxy share.
struct Service {
    gate: Gate,
    log: Arc<ConnectionLog>,
    stop: Stop,
    open: AtomicUsize,
}

impl Service {
    /// Accepts connections until the run ends, then waits for their threads.
    fn serve(&self, listener: &TcpListener) {
        thread::scope(|scope| {
            while !self.stop.is_set() {
                if self.open.load(Ordering::Acquire) >= MAX_OPEN {
                    self.stop.wait(PAUSE);
                    continue;
                }
                let forever = Instant::now() + Duration::from_secs(3600);
                let wanted = [Some((listener.as_fd(), PollFlags::IN))];
                if self.stop.poll(wanted, forever).is_err() {
                    continue;
                }
                let Ok((stream, _)) = listener.accept() else {
                    // No descriptor is left, or the program has gone again.
                    self.stop.wait(PAUSE);
                    continue;
                };
                self.open.fetch_add(1, Ordering::AcqRel);
                let slot = OpenSlot(&self.open);
                let answer = move || {
                    let _slot = slot;
                    self.answer(&stream);
                };
                // Without a thread the connection is closed.
                let _ = thread::Builder::new().spawn_scoped(scope, answer);
            }
        });
    }

    /// Answers one connection.
    fn answer(&self, stream: &TcpStream) {
        let _ = stream.set_nonblocking(true);
        let _ = stream.set_nodelay(true);
        let mut asked = Asked {
            stream,
            stop: &self.stop,
            received: Vec::new(),
            deadline: Instant::now() + REQUEST_TIME,
        };
        // A program that says nothing asks for nothing.
        let Ok(first) = asked.first_byte() else {
            return;
        };
        let _ = if first == socks::VERSION {
            self.answer_socks(asked)
        } else {
            self.answer_http(asked)
        };
    }

    fn answer_http(&self, mut asked: Asked<'_>) -> io::Result<()> {
        let request = match asked.read(http::parse)? {
            Ok(request) => request,
            Err(why) => {
                self.log.record(&invalid(None));
                return asked.refuse(&http_answer("400 Bad Request", why));
            }
        };
        let (target, head, upload) = match request {
            ProxyRequest::Tunnel(target) => (target, None, Upload::Unlimited),
            ProxyRequest::Forward { target, head, body } => {
                (target, Some(head), Upload::Bytes(body))
            }
        };
        let started = Instant::now();
        let host = match self.connect(&target) {
            Ok(host) => host,
            Err(refused) => {
                let (status, why) = explain(refused.0);
                self.record_refused(&target, refused, started);
                return asked.refuse(&http_answer(status, why));
            }
        };
        let greeted = match &head {
            None => {
                let established = b"HTTP/1.1 200 Connection established\r\n\r\n";
                asked.send(established)
            }
            Some(head) => self.stop.write_all(&host.stream, head, asked.deadline),
        };
        let sent = head.map_or(0, |head| head.len() as u64);
        self.carry(asked, &host, &target, upload, (started, sent), &greeted);
        Ok(())
    }

    fn answer_socks(&self, mut asked: Asked<'_>) -> io::Result<()> {
        match asked.read(socks::parse_greeting)? {
            Ok(true) => asked.send(&socks::CHOSEN)?,
            _ => return asked.refuse(&socks::NO_METHOD),
        }
        let target = match asked.read(socks::parse_request)? {
            Ok(Ok(target)) => target,
            Ok(Err(reply)) => {
                self.log.record(&invalid(None));
                return asked.refuse(&reply.message());
            }
            Err(_) => {
                self.log.record(&invalid(None));
                return Ok(());
            }
        };
        let started = Instant::now();
        let host = match self.connect(&target) {
            Ok(host) => host,
            Err(refused) => {
                self.record_refused(&target, refused, started);
                let reply = if refused.0.is_forbidden() {
                    Reply::NotAllowed
                } else {
                    Reply::Unreachable
                };
                return asked.refuse(&reply.message());
            }
        };
        let greeted = asked.send(&Reply::Connected.message());
        let begun = (started, 0);
        self.carry(asked, &host, &target, Upload::Unlimited, begun, &greeted);
        Ok(())
    }

    /// Connects to a target that is allowed.
    fn connect(&self, target: &Target) -> Result<Reached, RefusedTarget> {
        let addresses = self.gate.check(target, &self.stop)?;
        for address in &addresses {
            let deadline = Instant::now() + CONNECT_TIME;
            if let Ok(stream) = self.stop.connect(*address, deadline) {
                let _ = stream.set_nodelay(true);
                let address = address.ip();
                return Ok(Reached { stream, address });
            }
        }
        let last = addresses.last().map(SocketAddr::ip);
        Err((Refusal::Unreachable, last))
    }

    /// Carries bytes, and records the connection when it ends.
    fn carry(
        &self,
        asked: Asked<'_>,
        host: &Reached,
        target: &Target,
        upload: Upload,
        (started, sent): (Instant, u64),
        greeted: &io::Result<()>,
    ) {
        let (more, received) = match greeted {
            Ok(()) => relay(
                asked.stream,
                &host.stream,
                asked.received,
                upload,
                &self.stop,
            ),
            Err(_) => (0, 0),
        };
        self.log.record(&Connection {
            duration: started.elapsed(),
            host: target.host.to_string(),
            port: target.port,
            address: Some(host.address),
            refusal: None,
            sent: sent + more,
            received,
        });
    }

    fn record_refused(&self, target: &Target, refused: RefusedTarget, started: Instant) {
        let (refusal, address) = refused;
        self.log.record(&Connection {
            duration: started.elapsed(),
            address,
            refusal: Some(refusal),
            ..invalid(Some(target))
        });
    }
}

/// Counts an open connection.
struct OpenSlot<'s>(&'s AtomicUsize);

impl Drop for OpenSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Returns a request that is not understood.
fn invalid(target: Option<&Target>) -> Connection {
    Connection {
        duration: Duration::ZERO,
        host: target.map_or_else(String::new, |target| target.host.to_string()),
        port: target.map_or(0, |target| target.port),
        address: None,
        refusal: Some(Refusal::InvalidRequest),
        sent: 0,
        received: 0,
    }
}

/// Returns the status and text for a program. Many programs show the status alone, so it says why.
fn explain(refusal: Refusal) -> (&'static str, &'static str) {
    match refusal {
        Refusal::NotAllowed => (
            "403 Host not allowed by the permissions of the skill",
            "This host and port are not in `permissions.network` of the skill",
        ),
        Refusal::PrivateAddress => (
            "403 Host is in a private network",
            "The name resolves to a private address, which the user has not allowed for it",
        ),
        Refusal::ThisMachine => (
            "403 Host is this machine",
            "The name resolves to the user's own machine, which the skill may not reach by this name",
        ),
        Refusal::UnusableAddress => (
            "403 Host has an unusable address",
            "The name resolves to an address that nothing connects to",
        ),
        Refusal::NotResolved => ("502 Name does not resolve", "The name does not resolve"),
        Refusal::Unreachable => ("502 Host does not answer", "The host does not answer"),
        Refusal::InvalidRequest => ("400 Bad Request", "The request is not understood"),
    }
}

fn http_answer(status: &str, why: &str) -> Vec<u8> {
    let length = why.len() + 1;
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{why}\n"
    )
    .into_bytes()
}

/// A program that has not been answered yet.
struct Asked<'s> {
    stream: &'s TcpStream,
    stop: &'s Stop,
    received: Vec<u8>,
    deadline: Instant,
}

impl Asked<'_> {
    fn first_byte(&mut self) -> io::Result<u8> {
        self.receive()?;
        let first = self.received.first().copied();
        first.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn receive(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        let count = self.stop.read(self.stream, &mut buffer, self.deadline)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.received
            .extend_from_slice(buffer.get(..count).unwrap_or_default());
        Ok(())
    }

    /// Reads a message, and keeps what follows it.
    fn read<T>(
        &mut self,
        parse: impl Fn(&[u8]) -> Parsed<T>,
    ) -> io::Result<Result<T, &'static str>> {
        loop {
            match parse(&self.received) {
                Parsed::Complete(message, length) => {
                    self.received.drain(..length.min(self.received.len()));
                    return Ok(Ok(message));
                }
                Parsed::Invalid(why) => return Ok(Err(why)),
                Parsed::Incomplete if self.received.len() >= MAX_REQUEST => {
                    return Ok(Err("The request is too long"));
                }
                Parsed::Incomplete => self.receive()?,
            }
        }
    }

    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        self.stop.write_all(self.stream, bytes, self.deadline)
    }

    /// Sends a last answer.
    fn refuse(self, answer: &[u8]) -> io::Result<()> {
        self.send(answer)?;
        self.stream.shutdown(Shutdown::Write)?;
        let (deadline, mut left) = (Instant::now() + LINGER_TIME, MAX_LINGER);
        let mut buffer = [0; 4096];
        while left > 0 {
            let count = self.stop.read(self.stream, &mut buffer, deadline)?;
            if count == 0 {
                break;
            }
            left = left.saturating_sub(count);
        }
        Ok(())
    }
}
