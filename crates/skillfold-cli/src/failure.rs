//! Why a command could not do what was asked, and the exit code for it.

use std::io;
use std::process::ExitCode;

use skillfold::core::{Error, ErrorKind, visible};
use skillfold::view::{self, Document};

use crate::output::{BAD, DIM, Output, painted};

#[derive(Debug)]
pub(crate) enum Failure {
    /// The engine could not do it.
    Engine(Error),
    /// There is no such skill, or its folder holds none.
    NoSkill(view::Failure),
    /// The command line makes no sense.
    Usage(String),
    /// Nobody reads the output, or it cannot be written.
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Something is wrong with what was looked at.
pub(crate) const WRONG: u8 = 1;
const USAGE: u8 = 2;

/// Returns the exit code for a kind of error.
pub(crate) fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Invalid => USAGE,
        ErrorKind::NotFound => 3,
        ErrorKind::Refused | ErrorKind::Exists => 4,
        _ => 5,
    }
}

/// Says why, and returns the exit code.
pub(crate) fn report(failure: &Failure, output: &mut Output) -> ExitCode {
    match failure {
        // Whoever reads the output has seen enough.
        Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Failure::Output(error) => {
            say(
                output,
                &format!("Output could not be written: {error}"),
                None,
            );
            ExitCode::from(5)
        }
        Failure::Usage(message) => {
            if !said_as_json(output, Document::Error(view::Failure::usage(message))) {
                say(output, message, None);
            }
            ExitCode::from(USAGE)
        }
        Failure::Engine(error) => {
            let document = Document::Error(view::Failure::new(error));
            if !said_as_json(output, document) {
                say(output, &error.with_cause(), Some(error.hint()));
            }
            ExitCode::from(code(error.kind()))
        }
        Failure::NoSkill(missing) => {
            if !said_as_json(output, Document::Error(missing.clone())) {
                say_missing(output, missing);
            }
            ExitCode::from(if missing.diagnostics.is_empty() {
                3
            } else {
                WRONG
            })
        }
    }
}

fn said_as_json(output: &mut Output, document: Document) -> bool {
    output.is_json() && output.json(document).and_then(|()| output.finish()).is_ok()
}

pub(crate) fn say(output: &mut Output, message: &str, hint: Option<&str>) {
    output.say(format!("{}: {message}", painted(BAD, "error")));
    if let Some(hint) = hint {
        output.say(format!("{}: {hint}", painted(DIM, "hint")));
    }
}

fn say_missing(output: &mut Output, missing: &view::Failure) {
    let hint = match &*missing.nearest {
        [] if missing.diagnostics.is_empty() => "`skillfold list` shows all skills".to_owned(),
        [] => missing.hint.clone(),
        nearest => {
            let words = nearest.iter().map(|id| format!("`{}`", visible(id)));
            let words: Vec<_> = words.collect();
            format!("Did you mean {}?", words.join(" or "))
        }
    };
    say(output, &missing.message, None);
    for diagnostic in &missing.diagnostics {
        let place = match &diagnostic.span {
            Some(span) => format!(" at {}:{}", span.start.line, span.start.column),
            None => String::new(),
        };
        let head = format!("{}[{}]{place}", diagnostic.severity, diagnostic.code);
        output.say(format!("  {head}: {}", diagnostic.message));
        output.say(format!("  {}: {}", painted(DIM, "hint"), diagnostic.hint));
    }
    if missing.diagnostics.is_empty() {
        output.say(format!("{}: {hint}", painted(DIM, "hint")));
    }
}
