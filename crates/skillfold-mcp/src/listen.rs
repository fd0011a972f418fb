//! Connections: how many, how fast, and how they end.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep, sleep};

use crate::limits::HttpLimits;
use crate::metrics::add;
use crate::offer::Shared;

/// Bytes of all headers of a request; more is answered with 431.
const HEADER_BYTES: usize = 32 * 1024;

/// Headers of a request; more is answered with 431.
const HEADERS: usize = 64;

/// How long nothing is accepted after the system had no descriptor left.
const BREATH: Duration = Duration::from_millis(50);

/// The answer to a connection for which there is no room.
const NO_ROOM: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\n\
    Content-Type: text/plain\r\nContent-Length: 39\r\n\r\nThere is no room for another connection";

/// Serves connections until `stop`; returns those that are still open, to be ended.
pub(crate) async fn listen(
    listener: TcpListener,
    router: Router,
    limits: HttpLimits,
    shared: Arc<Shared>,
    stop: impl Future<Output = ()>,
) -> GracefulShutdown {
    let room = Arc::new(Semaphore::new(limits.connections));
    let (open, mut stop) = (GracefulShutdown::new(), std::pin::pin!(stop));
    loop {
        let stream = tokio::select! {
            stream = accept(&listener) => stream,
            () = &mut stop => return open,
        };
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
            add(&shared.metrics.connections_refused, 1);
            tracing::warn!(limit = limits.connections, "no room for another connection");
            tokio::spawn(turn_away(stream));
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.headers)
            .max_headers(HEADERS)
            .max_buf_size(HEADER_BYTES)
            .serve_connection(TokioIo::new(Patient::new(stream, limits.write)), service);
        let (connection, shared) = (open.watch(connection), Arc::clone(&shared));
        tokio::spawn(async move {
            add(&shared.metrics.connections, 1);
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
            shared.metrics.connections.fetch_sub(1, Ordering::Relaxed);
            drop(place);
        });
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

/// Says that there is no room, to whoever reads it soon.
async fn turn_away(mut stream: TcpStream) {
    let said = async {
        stream.write_all(NO_ROOM).await?;
        stream.shutdown().await
    };
    drop(tokio::time::timeout(Duration::from_secs(1), said).await);
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

/// A connection whose client has to take something of an answer from time to time.
struct Patient {
    stream: TcpStream,
    patience: Duration,
    /// Runs while the client takes nothing.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn new(stream: TcpStream, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            waiting: None,
        }
    }

    /// Passes on what became of a write; an error if there was none for too long.
    fn waited<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let patience = self.patience;
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + patience)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Patient {
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

    use tokio::io::AsyncWriteExt as _;
    use tokio::net::{TcpListener, TcpStream};

    use super::{NO_ROOM, Patient, accept};

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
        let mut stream = Patient::new(stream, Duration::from_millis(20));
        let large = vec![0; 64 * 1024 * 1024];
        let error = stream.write_all(&large).await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
        drop(client);
    }

    #[test]
    fn length_of_the_refusal_is_right() {
        let text = std::str::from_utf8(NO_ROOM).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(
            head.ends_with(&format!("Content-Length: {}", body.len())),
            "{text}"
        );
    }
}
