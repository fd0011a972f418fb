//! Checks a frontend that is a process, such as a package for another language, by the cases that all frontends pass.
//!
//! ```sh
//! cargo run -p skillfold-testkit --bin conformance -- python3 bindings/python/tests/conformance_frontend.py
//! ```
//!
//! The process reads a request a line from standard input, with `folder`, where the input is, and writes the answer as a line
//! of JSON.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use skillfold_testkit::disagreements;

#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program for tests reads its arguments and prints"
)]
fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let program = words.next().ok_or("name the command of a frontend")?;
    let mut process = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut requests = process.stdin.take().ok_or("it has no standard input")?;
    let answers = process.stdout.take().ok_or("it has no standard output")?;
    let mut answers = BufReader::new(answers).lines();
    let mut count = 0;
    let wrong = disagreements(|request, folder| {
        count += 1;
        let mut request = request.clone();
        request["folder"] = folder.to_string_lossy().into();
        // If it has ended, the answer is empty, which is wrong.
        let _ = writeln!(requests, "{request}");
        answers
            .next()
            .and_then(Result::ok)
            .unwrap_or_else(|| "(no answer)".to_owned())
    });
    drop(requests);
    process.wait()?;
    if !wrong.is_empty() {
        return Err(format!("{} of {count} answers are wrong: {wrong:#?}", wrong.len()).into());
    }
    println!("{count} cases pass");
    Ok(())
}
