//! Accepts connections and enforces their limits and timeouts.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep};

use crate::http::connections::{ConnectionSlot, Connections};
use crate::http::limits::HttpLimits;
use crate::metrics::add;
use crate::state::ServerState;

/// Maximum total size of a request's headers in bytes; more is answered with 431.
pub(crate) const MAX_HEADER_BYTES: usize = 32 * 1024;

/// Maximum number of headers in a request; more is answered with 431.
const MAX_HEADERS: usize = 64;

/// Bytes that a client must read within the timeout when a write stalls.
const MIN_WRITE_BYTES: usize = 64 * 1024;

/// How long to wait after accepting failed, for example because no file descriptor was left.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(50);

/// Serves connections until `stop`. Returns those that are still open, for shutdown.
pub(crate) async fn listen(
    listener: TcpListener,
    router: Router,
    limits: HttpLimits,
    shared: Arc<ServerState>,
    stop: impl Future<Output = ()>,
) -> GracefulShutdown {
    let connections = Connections::new(limits, Arc::clone(&shared));
    let (open, mut stop) = (GracefulShutdown::new(), std::pin::pin!(stop));
    loop {
        let stream = tokio::select! {
            stream = accept(&listener) => stream,
            () = &mut stop => return open,
        };
        let slot = connections.register();
        let service = ConnectionService {
            router: TowerToHyperService::new(router.clone()),
            slot: Arc::clone(&slot),
        };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.header_timeout)
            .max_headers(MAX_HEADERS)
            .max_buf_size(MAX_HEADER_BYTES)
            .serve_connection(
                TokioIo::new(WriteTimeout::new(stream, limits.write_timeout)),
                service,
            );
        let (connection, shared) = (open.watch(connection), Arc::clone(&shared));
        tokio::spawn(async move {
            add(&shared.metrics.connections, 1);
            tokio::select! {
                ended = connection => if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended early");
                },
                () = slot.wait_until_expired() => {
                    tracing::debug!("closed a connection that sent no authorized request");
                }
            }
            shared.metrics.connections.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Answers requests, passing each its connection's slot.
struct ConnectionService {
    router: TowerToHyperService<Router>,
    slot: Arc<ConnectionSlot>,
}

impl Service<Request<Incoming>> for ConnectionService {
    type Response = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Response;
    type Error = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Error;
    type Future = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Future;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(Arc::clone(&self.slot));
        self.router.call(request)
    }
}

/// Returns the next connection.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Without it small responses are delayed: 44 ms instead of 3.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "TCP_NODELAY could not be set");
                }
                return stream;
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(ACCEPT_BACKOFF).await;
            }
        }
    }
}

/// Raises the file descriptor limit to the maximum: each connection needs one.
#[cfg(unix)]
pub(crate) fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        limit.current = limit.maximum;
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::debug!(%error, "the limit on descriptors could not be raised");
        }
    }
}

#[cfg(not(unix))]
pub(crate) fn raise_descriptor_limit() {}

/// A connection whose client must keep reading. A byte now and then does not count as progress.
struct WriteTimeout {
    stream: TcpStream,
    timeout: Duration,
    /// Set from when a write stalls until the client has read enough bytes.
    stalled: Option<StalledWrite>,
}

struct StalledWrite {
    deadline: Pin<Box<Sleep>>,
    /// Bytes written since the stall.
    written: usize,
}

impl WriteTimeout {
    fn new(stream: TcpStream, timeout: Duration) -> Self {
        Self {
            stream,
            timeout,
            stalled: None,
        }
    }

    /// Passes on the result of a write. Returns an error if the client read too few bytes within the timeout.
    fn check_progress(
        &mut self,
        result: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(result) = result {
            if let (Ok(count), Some(stalled)) = (&result, &mut self.stalled) {
                stalled.written += count;
            }
            self.stalled
                .take_if(|stalled| stalled.written >= MIN_WRITE_BYTES);
            return Poll::Ready(result);
        }
        let timeout = self.timeout;
        let stalled = self.stalled.get_or_insert_with(|| StalledWrite {
            deadline: Box::pin(sleep(timeout)),
            written: 0,
        });
        ready!(stalled.deadline.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for WriteTimeout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for WriteTimeout {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check_progress(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.check_progress(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Everything was written; the next response gets its own timeout.
        self.stalled = None;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpSocket, TcpStream};

    use super::{WriteTimeout, accept};

    #[tokio::test]
    async fn answers_are_sent_without_delay() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stream, client) = tokio::join!(accept(&listener), TcpStream::connect(address));
        assert!(stream.nodelay().unwrap());
        drop(client);
    }

    #[tokio::test]
    async fn client_that_reads_nothing_is_disconnected() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stream, client) = tokio::join!(accept(&listener), TcpStream::connect(address));
        let mut stream = WriteTimeout::new(stream, Duration::from_millis(20));
        let large = vec![0; 64 * 1024 * 1024];
        let error = stream.write_all(&large).await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
        drop(client);
    }

    #[tokio::test]
    async fn client_that_reads_too_slowly_is_disconnected() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let socket = TcpSocket::new_v4().unwrap();
        // With a small buffer the system reports every small read.
        socket.set_recv_buffer_size(4096).unwrap();
        let connecting = socket.connect(listener.local_addr().unwrap());
        let (stream, client) = tokio::join!(accept(&listener), connecting);
        let mut client = client.unwrap();
        let mut stream = WriteTimeout::new(stream, Duration::from_millis(500));
        let large = vec![0; 64 * 1024 * 1024];
        let trickle = async {
            let mut few = [0; 1024];
            while client.read_exact(&mut few).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let error = tokio::select! {
            written = stream.write_all(&large) => written.unwrap_err(),
            () = trickle => panic!("the client stays"),
            () = tokio::time::sleep(Duration::from_secs(20)) => panic!("it is waited for"),
        };
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    }
}
