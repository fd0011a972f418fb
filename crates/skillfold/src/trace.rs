//! Writes the engine's events as JSON lines.

use std::fmt;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::environment;
use crate::view::printable_json;

/// The target prefix of the engine's own events.
const TARGET: &str = "skillfold";

/// Writes each event of the engine as one line of JSON: `time_ms`, `level`, `event`, `spans`, and the event's fields. A
/// field with a dot in its name becomes a nested object: `tokens.total` is `{"tokens": {"total": …}}`.
///
/// ```
/// use tracing_subscriber::layer::SubscriberExt as _;
///
/// let lines = skillfold::TraceLines::new(std::io::stderr());
/// let subscriber = tracing_subscriber::registry().with(lines);
/// tracing::subscriber::with_default(subscriber, || { /* use the skills here */ });
/// ```
///
/// Lines contain names and numbers. Requests and the text given to models are included only if the setting
/// `log_content` is on.
#[derive(Debug)]
pub struct TraceLines<W> {
    writer: Mutex<W>,
}

impl<W: Write + Send + 'static> TraceLines<W> {
    /// Creates the layer. It writes all events except those of level `TRACE`.
    pub fn new(writer: W) -> Self {
        Self {
            writer: Mutex::new(writer),
        }
    }
}

impl<S, W> Layer<S> for TraceLines<W>
where
    S: Subscriber + for<'l> LookupSpan<'l>,
    W: Write + Send + 'static,
{
    // Events are filtered here and not with `enabled`, which would turn them off for other layers too.
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if !is_ours(event.metadata()) {
            return;
        }
        let mut line = Line::default();
        let since_1970 = environment::now().duration_since(UNIX_EPOCH);
        let milliseconds = since_1970.map_or(0, |since| since.as_millis());
        line.insert(
            "time_ms",
            u64::try_from(milliseconds).unwrap_or(u64::MAX).into(),
        );
        line.insert("level", event.metadata().level().as_str().into());
        event.record(&mut line);
        let spans = context.event_scope(event).into_iter();
        let spans = spans.flat_map(|scope| scope.from_root().map(|span| span.name()));
        line.insert("spans", spans.collect());
        let mut text = printable_json(&Value::Object(line.fields).to_string());
        text.push('\n');
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // A log that cannot be written must not stop the work.
        drop(
            writer
                .write_all(text.as_bytes())
                .and_then(|()| writer.flush()),
        );
    }
}

/// Returns whether an event comes from the engine and is above `TRACE`.
fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with(TARGET) && *metadata.level() <= Level::DEBUG
}

/// The fields of one event.
#[derive(Default)]
struct Line {
    fields: Map<String, Value>,
}

impl Line {
    /// Inserts a field. A name with a dot goes into a nested object.
    fn insert(&mut self, name: &str, value: Value) {
        match name.split_once('.') {
            Some((outer, inner)) => {
                let object = self
                    .fields
                    .entry(outer)
                    .or_insert_with(|| Map::new().into());
                if let Value::Object(object) = object {
                    object.insert(inner.to_owned(), value);
                }
            }
            None => {
                self.fields.insert(name.to_owned(), value);
            }
        }
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let name = match field.name() {
            "message" => "event",
            name => name,
        };
        self.insert(name, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.insert(field.name(), value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.insert(field.name(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field.name(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field.name(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field.name(), value.into());
    }
}
