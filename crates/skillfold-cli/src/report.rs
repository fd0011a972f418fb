//! Says why a command could not do what was asked.

use std::io;
use std::process::ExitCode;

use skillfold::core::{Error, visible};
use skillfold::view::{self, Document};

use crate::failure::{FAILED, Failure, USAGE, code};
use crate::output::{BAD, DIM, Output, finding, painted};

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
            ExitCode::from(FAILED)
        }
        Failure::Usage(message) => {
            if !said_as_json(output, Document::Error(view::Failure::usage(message))) {
                say(output, message, None);
            }
            ExitCode::from(USAGE)
        }
        Failure::System { message, hint } => {
            let failure = view::Failure::system(message, hint);
            if !said_as_json(output, Document::Error(failure)) {
                say(output, message, Some(hint));
            }
            ExitCode::from(FAILED)
        }
        Failure::Engine(error) => {
            if !said_as_json(output, Document::Error(view::Failure::new(error))) {
                say_error(output, error);
            }
            ExitCode::from(code(error))
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

fn say_error(output: &mut Output, error: &Error) {
    say(output, &error.with_cause(), None);
    for diagnostic in error.diagnostics() {
        output.say(format!("  {}", finding(diagnostic)));
        let hint = painted(DIM, "hint");
        output.say(format!("  {hint}: {}", diagnostic.hint()));
    }
    let hint = match error.nearest() {
        [] if !error.diagnostics().is_empty() => return,
        [] => error.hint().to_owned(),
        nearest => {
            let words = nearest.iter().map(|id| format!("`{}`", visible(id)));
            let words: Vec<_> = words.collect();
            format!("Did you mean {}?", words.join(" or "))
        }
    };
    output.say(format!("{}: {hint}", painted(DIM, "hint")));
}
