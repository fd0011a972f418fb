//! How much a server over HTTP takes of all clients together.

use std::time::Duration;

/// How much a server over HTTP takes: of a request, and of all clients together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// Bytes of a request's body; more is answered with 413.
    pub body_bytes: usize,
    /// Connections at once of clients that may ask; a request of one more is answered with 503.
    pub connections: usize,
    /// Connections at once that have made no request which was let in; the oldest goes for one more.
    pub strangers: usize,
    /// How long such a connection may stay.
    pub stranger: Duration,
    /// Sessions at once, of clients that have them; one more is answered with 503.
    pub sessions: usize,
    /// How long a session lives that nothing is asked in.
    pub session_idle: Duration,
    /// How long a connection waits for the next request, its headers whole.
    pub headers: Duration,
    /// How long the body of a request may take; after it comes 408.
    pub body: Duration,
    /// How long an answer may take until it begins; after it comes 503.
    pub answer: Duration,
    /// Bytes of all answers that are not sent yet; a long answer beyond them is 503, or the end of its stream.
    pub answer_bytes: usize,
    /// How long a client may take for 64 KiB of an answer, before the connection is closed.
    pub write: Duration,
    /// How long open answers are waited for when the server stops.
    pub farewell: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            body_bytes: 1024 * 1024,
            connections: 4096,
            // A client sends its first request at once; the two are for those that do not.
            strangers: 256,
            stranger: Duration::from_secs(5),
            sessions: 4096,
            // Agents wait for people, and some clients do not begin anew by themselves.
            session_idle: Duration::from_secs(30 * 60),
            headers: Duration::from_secs(30),
            body: Duration::from_secs(10),
            answer: Duration::from_secs(30),
            // The longest answers have some 40 MiB.
            answer_bytes: 256 * 1024 * 1024,
            write: Duration::from_secs(30),
            farewell: Duration::from_secs(3),
        }
    }
}
