//! The log of the connections that skills' scripts and tools make.

use std::io::Write as _;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::Serialize;
use skillfold_core::Error;
use skillfold_core::text::FormatNumber;
use skillfold_run::{Connection, ConnectionObserver, Refusal};
use skillfold_store::BoundedLog;

use crate::environment::{Environment, now};

/// The name of the log in the user's state folder.
const NAME: &str = "network";

/// A line of the log.
#[derive(Serialize)]
struct ConnectionLine<'a> {
    format: FormatNumber<1>,
    time_ms: u64,
    skill: &'a str,
    host: &'a str,
    port: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    result: &'static str,
    sent: u64,
    received: u64,
}

/// Returns an observer that appends a skill's connections to the log; `None` without a state folder.
pub(super) fn observer(environment: &Environment, skill: &str) -> Option<ConnectionObserver> {
    let (folder, skill) = (environment.state_folder()?, skill.to_owned());
    Some(ConnectionObserver::new(move |connection| {
        // A log that cannot be written must not stop the work.
        if let Err(error) = append(&folder, &skill, connection) {
            tracing::warn!(%error, "log of connections");
        }
    }))
}

fn append(folder: &Path, skill: &str, connection: &Connection) -> Result<(), Error> {
    let since_1970 = now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let milliseconds = since_1970.saturating_sub(connection.duration).as_millis();
    let line = ConnectionLine {
        format: FormatNumber::default(),
        time_ms: u64::try_from(milliseconds).unwrap_or(u64::MAX),
        skill,
        host: &connection.host,
        port: connection.port,
        address: connection.address.map(|address| address.to_string()),
        result: connection.refusal.map_or("connected", Refusal::code),
        sent: connection.sent,
        received: connection.received,
    };
    let text = serde_json::to_string(&line).unwrap_or_default();
    let mut log = BoundedLog::open(folder, NAME)?;
    // One write, so that the lines of two processes do not mix.
    log.write_all(format!("{text}\n").as_bytes())
        .map_err(|error| Error::write(BoundedLog::path(folder, NAME).to_string_lossy(), error))
}
