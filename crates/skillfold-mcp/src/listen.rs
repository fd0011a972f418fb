//! Connections: how many, how fast, and how they end.

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

use crate::client_view::ServerState;
use crate::connections::{ConnectionSlot, Connections};
use crate::limits::HttpLimits;
use crate::metrics::add;

/// Bytes of all headers of a request; more is answered with 431.
pub(crate) const HEADER_BYTES: usize = 32 * 1024;

/// Headers of a request; more is answered with 431.
const HEADERS: usize = 64;

/// Bytes that a client that makes a write wait has to take in its time.
const SHARE: usize = 64 * 1024;

/// How long nothing is accepted after the system had no descriptor left.
const BREATH: Duration = Duration::from_millis(50);

/// Serves connections until `stop`; returns those that are still open, to be ended.
pub(crate) async fn listen(
    listener: TcpListener,
    router: Router,
    limits: HttpLimits,
    shared: Arc<ServerState>,
    stop: impl Future<Output = ()>,
) -> GracefulShutdown {
    let room = Connections::new(limits, Arc::clone(&shared));
    let (open, mut stop) = (GracefulShutdown::new(), std::pin::pin!(stop));
    loop {
        let stream = tokio::select! {
            stream = accept(&listener) => stream,
            () = &mut stop => return open,
        };
        let place = room.enter();
        let service = ConnectionService {
            router: TowerToHyperService::new(router.clone()),
            place: Arc::clone(&place),
        };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.headers)
            .max_headers(HEADERS)
            .max_buf_size(HEADER_BYTES)
            .serve_connection(
                TokioIo::new(WriteTimeout::new(stream, limits.write)),
                service,
            );
        let (connection, shared) = (open.watch(connection), Arc::clone(&shared));
        tokio::spawn(async move {
            add(&shared.metrics.connections, 1);
            tokio::select! {
                ended = connection => if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended early");
                },
                () = place.overstayed() => {
                    tracing::debug!("a connection was closed that asked nothing it may ask");
                }
            }
            shared.metrics.connections.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// What answers requests, each with the place of its connection.
struct ConnectionService {
    router: TowerToHyperService<Router>,
    place: Arc<ConnectionSlot>,
}

impl Service<Request<Incoming>> for ConnectionService {
    type Response = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Response;
    type Error = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Error;
    type Future = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Future;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(Arc::clone(&self.place));
        self.router.call(request)
    }
}

/// Returns the next connection.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Without it small answers wait for more: 44 ms in place of 3.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "TCP_NODELAY could not be set");
                }
                return stream;
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(BREATH).await;
            }
        }
    }
}

/// Takes as many descriptors as the system allows: each connection needs one.
#[cfg(unix)]
pub(crate) fn take_descriptors() {
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
pub(crate) fn take_descriptors() {}

/// A connection whose client has to take a share of an answer from time to time. A byte now and then is none.
struct WriteTimeout {
    stream: TcpStream,
    patience: Duration,
    /// Runs from when the client made a write wait, until it has taken a share.
    waiting: Option<StalledWrite>,
}

struct StalledWrite {
    time: Pin<Box<Sleep>>,
    /// Bytes that were taken meanwhile.
    taken: usize,
}

impl WriteTimeout {
    fn new(stream: TcpStream, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            waiting: None,
        }
    }

    /// Passes on how a write went; an error if the client took too little for too long.
    fn waited(
        &mut self,
        written: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(written) = written {
            if let (Ok(count), Some(waiting)) = (&written, &mut self.waiting) {
                waiting.taken += count;
            }
            self.waiting.take_if(|waiting| waiting.taken >= SHARE);
            return Poll::Ready(written);
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| StalledWrite {
            time: Box::pin(sleep(patience)),
            taken: 0,
        });
        ready!(waiting.time.as_mut().poll(context));
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
        self.waited(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.waited(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Everything is taken; the next answer has its own time.
        self.waiting = None;
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
    async fn client_that_takes_nothing_is_left() {
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
    async fn client_that_takes_a_little_now_and_then_is_left_too() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let socket = TcpSocket::new_v4().unwrap();
        // With a small buffer the system passes on each little that is taken.
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
