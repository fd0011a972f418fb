//! What happened, as lines of JSON in a file.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use skillfold::TraceLines;
use skillfold::core::Error;
use tracing::subscriber::set_global_default;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::failure::Failure;

/// The name that stands for the error output.
const ERROR_OUTPUT: &str = "-";

/// Writes what happens from now on to the end of a file, or to the error output.
pub(crate) fn begin(file: &Path) -> Result<(), Failure> {
    let registry = tracing_subscriber::registry();
    let result = if file.as_os_str() == ERROR_OUTPUT {
        set_global_default(registry.with(TraceLines::new(io::stderr())))
    } else {
        let opened = OpenOptions::new().create(true).append(true).open(file);
        let opened = opened.map_err(|error| Error::write(file.to_string_lossy(), error))?;
        set_global_default(registry.with(TraceLines::new(opened)))
    };
    // Nobody else listens in this process.
    result.map_err(|error| Failure::Usage(error.to_string()))
}
