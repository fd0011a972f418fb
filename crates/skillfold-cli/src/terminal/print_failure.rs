//! Prints why a command failed.

use std::io;
use std::process::ExitCode;

use skillfold::core::Error;
use skillfold::core::diagnostic::visible;
use skillfold::view::{self, Document};

use crate::failure::{EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE, Failure, exit_code};
use crate::terminal::output::{BAD, DIM, Output, format_finding, paint};

/// Prints the failure and returns its exit code.
pub(crate) fn print_failure(failure: &Failure, output: &mut Output) -> ExitCode {
    match failure {
        // The reader closed the pipe, which is not an error.
        Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Failure::Output(error) => {
            say_error(
                output,
                &format!("Output could not be written: {error}"),
                None,
            );
            ExitCode::from(EXIT_FAILED)
        }
        Failure::Interrupted => ExitCode::from(EXIT_INTERRUPTED),
        Failure::Usage(message) => {
            if !try_print_json(output, Document::Error(view::Failure::usage(message))) {
                say_error(output, message, None);
            }
            ExitCode::from(EXIT_USAGE)
        }
        Failure::System { message, hint } => {
            let failure = view::Failure::system(message, hint);
            if !try_print_json(output, Document::Error(failure)) {
                say_error(output, message, Some(hint));
            }
            ExitCode::from(EXIT_FAILED)
        }
        Failure::Run(error) => {
            if !try_print_json(output, Document::Error(view::Failure::run(error))) {
                say_error(output, &error.with_cause(), Some(error.hint()));
            }
            ExitCode::from(EXIT_FAILED)
        }
        Failure::Engine(error) => {
            if !try_print_json(output, Document::Error(view::Failure::new(error))) {
                say_engine_error(output, error);
            }
            ExitCode::from(exit_code(error))
        }
    }
}

fn try_print_json(output: &mut Output, document: Document) -> bool {
    output.is_json() && output.json(document).and_then(|_| output.finish()).is_ok()
}

pub(crate) fn say_error(output: &mut Output, message: &str, hint: Option<&str>) {
    output.speak_up();
    output.say(format!("{}: {message}", paint(BAD, "error")));
    if let Some(hint) = hint {
        output.say(format!("{}: {hint}", paint(DIM, "hint")));
    }
}

fn say_engine_error(output: &mut Output, error: &Error) {
    say_error(output, &error.with_cause(), None);
    for diagnostic in error.diagnostics() {
        output.say(format!("  {}", format_finding(diagnostic)));
        let hint = paint(DIM, "hint");
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
    output.say(format!("{}: {hint}", paint(DIM, "hint")));
}
