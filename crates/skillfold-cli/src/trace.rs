//! What happened: as lines of JSON in a file, and as text on the error output.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use skillfold::TraceLines;
use skillfold::core::{Error, visible};
use tracing::subscriber::set_global_default;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::Registry;

use crate::arguments::{Arguments, Command, LogLevel};
use crate::failure::Failure;

/// The name that stands for the error output.
const ERROR_OUTPUT: &str = "-";

type Listener = Box<dyn Layer<Registry> + Send + Sync>;

/// Whether a line of the trace could not be written.
static IS_LOST: AtomicBool = AtomicBool::new(false);

/// Returns whether a line of the trace could not be written. That was said when it happened.
pub(crate) fn is_lost() -> bool {
    IS_LOST.load(Ordering::Relaxed)
}

/// Listens from now on, if the arguments say so.
pub(crate) fn begin(arguments: &Arguments) -> Result<(), Failure> {
    let mut listeners: Vec<Listener> = Vec::new();
    if let Some(file) = &arguments.global.trace {
        listeners.push(lines(file)?);
    }
    if let Command::Serve(serve) = &arguments.command {
        listeners.push(text(serve.log));
    }
    if listeners.is_empty() {
        return Ok(());
    }
    // Nobody else listens in this process.
    set_global_default(tracing_subscriber::registry().with(listeners))
        .map_err(|error| Failure::Usage(error.to_string()))
}

/// Writes to the end of a file, or to the error output.
fn lines(file: &Path) -> Result<Listener, Failure> {
    if file.as_os_str() == ERROR_OUTPUT {
        return Ok(TraceLines::new(io::stderr()).boxed());
    }
    let opened = options().open(file);
    let opened = opened.map_err(|error| Error::write(file.to_string_lossy(), error))?;
    Ok(TraceLines::new(Noticed(opened)).boxed())
}

/// Returns how a trace is opened: to be added to, and read by nobody else, as it may hold what others should not see.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// A writer that says once that it cannot write.
struct Noticed<W>(W);

impl<W: Write> Write for Noticed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).inspect_err(lost)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().inspect_err(lost)
    }
}

fn lost(error: &io::Error) {
    if !IS_LOST.swap(true, Ordering::Relaxed) {
        // Where the error output is gone too, there is nobody to tell.
        drop(writeln!(
            io::stderr(),
            "warning: the trace could not be written: {error}"
        ));
    }
}

/// The error output, a line for each event: what a client or a skill has a say in cannot begin another one, nor move the
/// cursor of a terminal.
struct OneLine(io::Stderr);

impl Write for OneLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let (line, end) = match text.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (&*text, ""),
        };
        let line = format!("{}{end}", visible(line));
        self.0.write_all(line.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes text to the error output; the data output of a server is the protocol's.
fn text(level: LogLevel) -> Listener {
    let level = match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    tracing_subscriber::fmt::layer()
        .with_writer(|| OneLine(io::stderr()))
        .with_ansi(false)
        .with_filter(level)
        .boxed()
}
