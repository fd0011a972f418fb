//! Shows on a terminal how far long work is.

use std::fmt::Debug;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use skillfold::core::source::progress::TARGET;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::Registry;

/// How long work runs before it is shown.
const DELAY: Duration = Duration::from_secs(1);

/// Time between two updates of the line.
const INTERVAL: Duration = Duration::from_millis(100);

/// Whether the line of progress is on the screen.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// Returns the layer that shows progress; none if stderr is not a terminal.
pub(crate) fn layer() -> Option<Box<dyn Layer<Registry> + Send + Sync>> {
    io::stderr().is_terminal().then(|| {
        let layer = ProgressLine {
            next: Mutex::new(Instant::now() + DELAY),
        };
        let is_progress = filter_fn(|metadata| metadata.target() == TARGET);
        layer.with_filter(is_progress).boxed()
    })
}

/// Erases the line of progress, so that other output does not stand behind it.
pub(crate) fn clear() {
    if IS_SHOWN.swap(false, Ordering::Relaxed) {
        drop(write!(io::stderr(), "\r\u{1b}[K"));
    }
}

/// Returns a function that shows what is being fetched; it shows nothing if stderr is not a terminal.
pub(crate) fn fetching(is_quiet: bool) -> impl Fn(&str) + Send + Sync + 'static {
    let is_shown = !is_quiet && io::stderr().is_terminal();
    move |what: &str| {
        if is_shown {
            IS_SHOWN.store(true, Ordering::Relaxed);
            let what = skillfold::core::diagnostic::visible(what);
            drop(write!(io::stderr(), "\r\u{1b}[KFetching {what}"));
        }
    }
}

struct ProgressLine {
    /// When the line is drawn next.
    next: Mutex<Instant>,
}

impl<S: Subscriber> Layer<S> for ProgressLine {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let now = Instant::now();
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if now < *next {
            return;
        }
        *next = now + INTERVAL;
        let mut step = Step::default();
        event.record(&mut step);
        IS_SHOWN.store(true, Ordering::Relaxed);
        drop(write!(io::stderr(), "\r\u{1b}[K{}", step.text()));
    }
}

/// The fields of an event.
#[derive(Default)]
struct Step {
    task: String,
    done: u64,
    total: u64,
}

impl Step {
    fn text(&self) -> String {
        let Self { task, done, total } = self;
        match (done * 100).checked_div(*total) {
            Some(percent) => format!("{task} {total} skills: {percent} %"),
            None => format!("{task} skills: {done}"),
        }
    }
}

impl Visit for Step {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "done" => self.done = value,
            "total" => self.total = value,
            _ => {}
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "task" {
            value.clone_into(&mut self.task);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}
