//! Limits on unsent responses: counts them, and limits the bytes held for slow clients.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::metrics::add;
use crate::read_permit::ReadPermit;
use crate::state::ServerState;

/// Responses up to this size are not counted: most are smaller, and one per connection fits in memory.
const UNCOUNTED_BYTES: u64 = 64 * 1024;

/// Bytes per permit.
const UNIT_BYTES: u64 = 1024;

/// The total number of bytes that unsent responses may hold.
#[derive(Clone, Debug)]
pub(crate) struct SendBudget(Arc<Semaphore>);

/// A reserved part of the budget; empty for a small response.
#[derive(Debug)]
pub(crate) struct BudgetShare(Option<OwnedSemaphorePermit>);

impl SendBudget {
    pub(crate) fn new(bytes: usize) -> Self {
        let units = bytes / usize::try_from(UNIT_BYTES).unwrap_or(1);
        Self(Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS))))
    }

    /// Reserves budget for a response, or returns `None` if too little is left.
    fn try_reserve(&self, bytes: u64) -> Option<BudgetShare> {
        if bytes <= UNCOUNTED_BYTES {
            return Some(BudgetShare(None));
        }
        let units = u32::try_from(bytes.div_ceil(UNIT_BYTES)).ok()?;
        let permit = Arc::clone(&self.0).try_acquire_many_owned(units).ok()?;
        Some(BudgetShare(Some(permit)))
    }

    /// Returns a body that counts against the budget until its last byte is sent, or `None` if the budget is exhausted.
    ///
    /// A stream is counted event by event, and cut at the first event that does not fit.
    pub(crate) fn track(
        &self,
        body: Body,
        permit: Option<ReadPermit>,
        in_flight: Option<InFlight>,
    ) -> Option<Body> {
        let share = match body.size_hint().exact() {
            Some(bytes) => Some(self.try_reserve(bytes)?),
            None => None,
        };
        Some(Body::new(BudgetedBody {
            body,
            permit: permit.filter(|_| share.is_none()),
            share,
            has_started: false,
            budget: self.clone(),
            _in_flight: in_flight,
        }))
    }
}

/// A request in progress, counted until its response is handed over.
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

/// A response body counted against the budget, with its original length.
struct BudgetedBody {
    body: Body,
    /// The reservation for the full body, if its length is known.
    share: Option<BudgetShare>,
    /// Held until the response is counted.
    permit: Option<ReadPermit>,
    /// Whether the first event was sent. It only says how to resume the stream.
    has_started: bool,
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
        let share = self.share.take();
        let Some(share) = share.or_else(|| self.budget.try_reserve(data.len() as u64)) else {
            tracing::warn!("an answer was cut, as too much data is queued for slow clients");
            let full = io::Error::other("too much data is queued for slow clients");
            return Poll::Ready(Some(Err(axum::Error::new(full))));
        };
        // If the response never comes because another request used the same id, the permit is released at the first
        // keep-alive, after 15 seconds.
        if self.has_started {
            self.permit = None;
        }
        self.has_started = true;
        Poll::Ready(Some(Ok(Frame::data(match share {
            BudgetShare(None) => data,
            share => Bytes::from_owner(CountedBytes {
                data,
                _share: share,
            }),
        }))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Bytes that count until the connection drops them. The body itself is dropped before they are written.
struct CountedBytes {
    data: Bytes,
    _share: BudgetShare,
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

    /// A stream with the given number of events.
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
    async fn read_permit_is_held_until_the_answer_is_in_the_send_budget() {
        let (permits, budget) = (Arc::new(Semaphore::new(1)), SendBudget::new(1));
        let reader = ReadPermit::acquire(&permits).await.unwrap();
        let mut stream = budget
            .track(Body::new(Events(3)), Some(reader.clone()), None)
            .unwrap();
        drop(reader);
        stream.frame().await.unwrap().unwrap();
        assert_eq!(permits.available_permits(), 0);
        stream.frame().await.unwrap().unwrap();
        assert_eq!(permits.available_permits(), 1);
        // This one's client is gone, but its file is still being read.
        let reader = ReadPermit::acquire(&permits).await.unwrap();
        drop(budget.track(Body::new(Events(3)), Some(reader.clone()), None));
        assert_eq!(permits.available_permits(), 0);
        // A body with a known length is counted right away.
        drop(reader);
        let reader = ReadPermit::acquire(&permits).await;
        let whole = budget.track(Body::from("whole"), reader, None);
        assert_eq!(permits.available_permits(), 1);
        drop(whole);
    }
}
