//! Asks the person before something of theirs is changed.

use std::io::{self, BufRead, IsTerminal};

use crate::output::Output;

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
    /// There is no terminal, and so nobody to answer.
    Nobody,
}

/// Longest answer that is read.
const LINE: u64 = 1_000;

/// Asks a question on the terminal; everything but a clear yes is a no.
pub(crate) fn ask(question: &str, output: &mut Output) -> Answer {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Answer::Nobody;
    }
    output.say_open(format!("{question} [y/N] "));
    let mut line = String::new();
    let read = io::Read::take(io::stdin().lock(), LINE).read_line(&mut line);
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" if read.is_ok() => Answer::Yes,
        _ => Answer::No,
    }
}
