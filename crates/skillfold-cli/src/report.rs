//! Says why a command could not do what was asked.

use std::io;
use std::process::ExitCode;

use skillfold::core::visible;
use skillfold::view::{self, Document};

use crate::failure::{Failure, USAGE, WRONG, code};
use crate::output::{BAD, DIM, Output, painted};

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
