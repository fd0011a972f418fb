//! Answers on their way: how many there are, how many whole files become one at once, and how many bytes of them are held for
//! clients that read slowly.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::request::Parts;
use hyper::body::{Frame, SizeHint};
use rmcp::model::Extensions;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::client_view::ServerState;
use crate::metrics::add;

/// Bytes up to which an answer is not counted: most are shorter, and as many as there are connections fit in memory.
const FREE: u64 = 64 * 1024;

/// Bytes that one permit stands for.
const UNIT: u64 = 1024;

/// The bytes that all answers together may hold until they are sent.
#[derive(Clone, Debug)]
pub(crate) struct SendBudget(Arc<Semaphore>);

/// A part of the budget; nothing for a short answer.
#[derive(Debug)]
pub(crate) struct BudgetShare(Option<OwnedSemaphorePermit>);

impl SendBudget {
    pub(crate) fn new(bytes: usize) -> Self {
        let units = bytes / usize::try_from(UNIT).unwrap_or(1);
        Self(Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS))))
    }

    /// Takes what an answer needs, if it is there.
    fn take(&self, bytes: u64) -> Option<BudgetShare> {
        if bytes <= FREE {
            return Some(BudgetShare(None));
        }
        let units = u32::try_from(bytes.div_ceil(UNIT)).ok()?;
        let permit = Arc::clone(&self.0).try_acquire_many_owned(units).ok()?;
        Some(BudgetShare(Some(permit)))
    }

    /// Returns an answer that counts until its last byte is sent; nothing if too much is on its way already.
    ///
    /// A stream is counted event by event, and ends where one does not fit.
    pub(crate) fn send(
        &self,
        body: Body,
        turn: Option<ReadPermit>,
        in_flight: Option<InFlight>,
    ) -> Option<Body> {
        let held = match body.size_hint().exact() {
            Some(bytes) => Some(self.take(bytes)?),
            None => None,
        };
        Some(Body::new(BudgetedBody {
            body,
            turn: turn.filter(|_| held.is_none()),
            held,
            is_begun: false,
            budget: self.clone(),
            _in_flight: in_flight,
        }))
    }
}

/// A turn to read a whole file, shared by what reads it and what sends it. The next may begin when both let go of it.
#[derive(Clone, Debug)]
pub(crate) struct ReadPermit(#[expect(dead_code, reason = "it is held")] Arc<OwnedSemaphorePermit>);

impl ReadPermit {
    /// Waits for a turn.
    pub(crate) async fn wait(turns: &Arc<Semaphore>) -> Option<Self> {
        // It is never closed.
        let turn = Arc::clone(turns).acquire_owned().await.ok()?;
        Some(Self(Arc::new(turn)))
    }

    /// Returns the turn of a request of HTTP.
    pub(crate) fn of(request: &Extensions) -> Option<Self> {
        request.get::<Parts>()?.extensions.get().cloned()
    }
}

/// A request that is being answered, until its answer is handed over.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<ServerState>);

impl InFlight {
    pub(crate) fn new(shared: &Arc<ServerState>) -> Self {
        add(&shared.metrics.in_flight, 1);
        Self(Arc::clone(shared))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.metrics.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A body on its way, of the length that it has.
struct BudgetedBody {
    body: Body,
    /// What was taken for the whole of it, if its length is known.
    held: Option<BudgetShare>,
    /// Held until the answer is counted.
    turn: Option<ReadPermit>,
    /// Whether the first event is out. It says only how to take the stream up again.
    is_begun: bool,
    budget: SendBudget,
    _in_flight: Option<InFlight>,
}

impl HttpBody for BudgetedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(frame) = ready!(Pin::new(&mut self.body).poll_frame(context)?) else {
            return Poll::Ready(None);
        };
        let data = match frame.into_data() {
            Ok(data) => data,
            Err(other) => return Poll::Ready(Some(Ok(other))),
        };
        let held = self.held.take();
        let Some(held) = held.or_else(|| self.budget.take(data.len() as u64)) else {
            tracing::warn!("an answer was cut, as too much data is queued for slow clients");
            let full = io::Error::other("too much data is queued for slow clients");
            return Poll::Ready(Some(Err(axum::Error::new(full))));
        };
        // An answer that never comes, as another request had the same id, holds it no longer than until the first sign of
        // life, 15 seconds.
        if self.is_begun {
            self.turn = None;
        }
        self.is_begun = true;
        Poll::Ready(Some(Ok(Frame::data(match held {
            BudgetShare(None) => data,
            held => Bytes::from_owner(CountedBytes { data, _held: held }),
        }))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Bytes that count until the connection lets go of them. The body itself is gone before they are written.
struct CountedBytes {
    data: Bytes,
    _held: BudgetShare,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http_body_util::BodyExt as _;

    use super::*;

    /// A stream of so many events.
    struct Events(usize);

    impl HttpBody for Events {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            let rest = self.0.checked_sub(1);
            self.0 = rest.unwrap_or_default();
            Poll::Ready(rest.map(|_| Ok(Frame::data(Bytes::from_static(b"event")))))
        }
    }

    #[tokio::test]
    async fn turn_lasts_until_the_file_is_read_and_its_answer_is_counted() {
        let (turns, budget) = (Arc::new(Semaphore::new(1)), SendBudget::new(1));
        let reader = ReadPermit::wait(&turns).await.unwrap();
        let mut stream = budget
            .send(Body::new(Events(3)), Some(reader.clone()), None)
            .unwrap();
        drop(reader);
        stream.frame().await.unwrap().unwrap();
        assert_eq!(turns.available_permits(), 0);
        stream.frame().await.unwrap().unwrap();
        assert_eq!(turns.available_permits(), 1);
        // The client of this one is gone, and its file is still read.
        let reader = ReadPermit::wait(&turns).await.unwrap();
        drop(budget.send(Body::new(Events(3)), Some(reader.clone()), None));
        assert_eq!(turns.available_permits(), 0);
        // What has a length is counted at once.
        drop(reader);
        let reader = ReadPermit::wait(&turns).await;
        let whole = budget.send(Body::from("whole"), reader, None);
        assert_eq!(turns.available_permits(), 1);
        drop(whole);
    }
}
