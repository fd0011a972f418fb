//! Logging: JSON lines to a file, and text to stderr.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum as _;
use skillfold::TraceLines;
use skillfold::core::Error;
use skillfold::core::diagnostic::visible;
use skillfold_hook::{HookLog, log_layer};
use tracing::subscriber::set_global_default;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::Registry;

use crate::arguments::{Arguments, Command, Global, LogLevel};
use crate::failure::Failure;
use crate::host;
use crate::terminal::progress;

/// The file name that stands for stderr.
const STDERR: &str = "-";

pub(crate) type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Whether writing a line of the trace failed.
static WRITE_FAILED: AtomicBool = AtomicBool::new(false);

/// Returns whether writing the trace failed. The warning was printed when it happened.
pub(crate) fn write_failed() -> bool {
    WRITE_FAILED.load(Ordering::Relaxed)
}

/// Installs the log subscribers that the arguments ask for.
pub(crate) fn init(arguments: &Arguments) -> Result<(), Failure> {
    let mut layers: Vec<BoxedLayer> = progress::layer().into_iter().collect();
    if let Some(file) = &arguments.global.trace {
        layers.push(json_layer(file)?);
    }
    if let Some(Command::Serve(serve)) = &arguments.command {
        let level = match serve.log {
            Some(level) => level,
            None => level_of_variable(&arguments.global)?,
        };
        layers.push(text_layer(level));
    }
    if layers.is_empty() {
        return Ok(());
    }
    // This process has no other subscriber.
    set_global_default(tracing_subscriber::registry().with(layers))
        .map_err(|error| Failure::Usage(error.to_string()))
}

/// Appends what the hook does to its log from now on, unless events are logged already. If that fails, a warning says so.
pub(crate) fn append_to_hook_log(state_folder: &Path) {
    match HookLog::open(state_folder) {
        Ok(log) => {
            let layer = log_layer(WarnOnce(log));
            // The arguments may have asked for a log.
            drop(set_global_default(
                tracing_subscriber::registry().with(layer),
            ));
        }
        Err(error) => warn_once(&error.with_cause()),
    }
}

/// Returns a layer that appends JSON lines to a file, or writes them to stderr.
fn json_layer(file: &Path) -> Result<BoxedLayer, Failure> {
    if file.as_os_str() == STDERR {
        return Ok(TraceLines::new(io::stderr()).boxed());
    }
    let trace_file = trace_file_options().open(file);
    let trace_file = trace_file.map_err(|error| Error::write(file.to_string_lossy(), error))?;
    Ok(TraceLines::new(WarnOnce(trace_file)).boxed())
}

/// Returns the options to open a trace file: append, and readable only by the owner, as it may contain private data.
fn trace_file_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// A writer that warns once when it cannot write.
struct WarnOnce<W>(W);

impl<W: Write> Write for WarnOnce<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .write(bytes)
            .inspect_err(|error| warn_once(&error.to_string()))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0
            .flush()
            .inspect_err(|error| warn_once(&error.to_string()))
    }
}

fn warn_once(why: &str) {
    if !WRITE_FAILED.swap(true, Ordering::Relaxed) {
        // If stderr is gone too, the warning is lost.
        drop(writeln!(
            io::stderr(),
            "warning: the log could not be written: {}",
            visible(why)
        ));
    }
}

/// Writes each event to stderr on one line. Text from a client or a skill cannot start another line or move the cursor.
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

/// Returns the level of `LOG_LEVEL`; warnings, if it is not set or another program's word.
fn level_of_variable(global: &Global) -> Result<LogLevel, Failure> {
    let environment = host::environment(global)?;
    let level = environment
        .client_variable("LOG_LEVEL")
        .map(|word| LogLevel::from_str(word, true));
    Ok(level.and_then(Result::ok).unwrap_or(LogLevel::Warn))
}

/// Returns a layer that writes text to stderr; stdout of a server belongs to the protocol.
fn text_layer(level: LogLevel) -> BoxedLayer {
    let level = match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    tracing_subscriber::fmt::layer()
        .with_writer(|| OneLine(io::stderr()))
        .with_ansi(false)
        .with_filter(level)
        .boxed()
}
