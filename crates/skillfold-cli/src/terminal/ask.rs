//! Asks the user for confirmation.

use std::io::{self, BufRead, IsTerminal};

use skillfold::core::{Error, Refusal};

use crate::failure::Failure;
use crate::terminal::output::Output;
use crate::terminal::screen::Screen;

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
    /// There is no terminal to ask on.
    NoTerminal,
}

/// Maximum bytes of an answer.
const MAX_LINE_BYTES: u64 = 1_000;

/// Returns whether there is a terminal to ask on.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks for something that is not to be seen on the terminal. `None` without a terminal, or if the user leaves.
pub(crate) fn ask_secret(question: &str, output: &mut Output) -> io::Result<Option<String>> {
    if !can_ask() {
        return Ok(None);
    }
    output.say_inline(question);
    let typed = Screen::read_hidden_line();
    output.say("");
    typed
}

/// Asks for a line on the terminal. `None` without a terminal, or at the end of the input.
pub(crate) fn ask_line(question: &str, output: &mut Output) -> Option<String> {
    if !can_ask() {
        return None;
    }
    output.say_inline(question);
    let mut line = String::new();
    let read = io::Read::take(io::stdin().lock(), MAX_LINE_BYTES).read_line(&mut line);
    if !line.ends_with('\n') {
        output.say("");
    }
    let is_typed = read.is_ok_and(|bytes| bytes > 0);
    is_typed.then(|| line.trim().to_owned())
}

/// Asks a question on the terminal. Everything but a clear yes is a no.
pub(crate) fn ask(question: &str, output: &mut Output) -> Answer {
    if !can_ask() {
        return Answer::NoTerminal;
    }
    let answer = ask_line(&format!("{question} [y/N] "), output).unwrap_or_default();
    if is_yes(&answer) {
        Answer::Yes
    } else {
        Answer::No
    }
}

/// Asks whether what is shown may be done, and refuses unless the answer is yes.
pub(crate) fn confirm(
    question: &str,
    what: &str,
    refusal: Refusal,
    output: &mut Output,
) -> Result<(), Failure> {
    let rule = match ask(question, output) {
        Answer::Yes => return Ok(()),
        Answer::No => "Cancelled; nothing was changed",
        Answer::NoTerminal => {
            "There is no terminal to ask on; review what is shown, then pass `--yes`"
        }
    };
    Err(Error::refused(what, refusal, rule).into())
}

/// Returns whether an answer is a clear yes.
pub(crate) fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}
