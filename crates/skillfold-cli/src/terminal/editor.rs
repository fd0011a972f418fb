//! Starts the user's editor, and the command that tells them of a proposal. Nothing of a skill is run.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{self, ExitStatus, Stdio};

use skillfold::Environment;
use skillfold::core::diagnostic::visible;
use skillfold::core::load::split_words;

use crate::failure::Failure;
use crate::terminal::signals::HeldSignals;

/// Maximum bytes that are read back from the editor.
pub(crate) const MAX_BYTES: u64 = 1 << 20;

/// Returns the editor's command. `file` is what to open otherwise.
pub(crate) fn editor<'e>(environment: &'e Environment, file: &str) -> Result<&'e str, Failure> {
    environment.editor().ok_or_else(|| Failure::System {
        message: "No editor is set".to_owned(),
        hint: format!("Set `VISUAL` or `EDITOR`, or open {file} yourself"),
    })
}

/// Opens a file in the editor, and waits until it ends.
pub(crate) fn run(editor: &str, path: &Path) -> Result<ExitStatus, Failure> {
    let not_started = |error: io::Error| Failure::System {
        message: format!("`{}` did not start: {error}", visible(editor)),
        hint: "Correct `VISUAL` or `EDITOR`; a path with spaces is in quotes".to_owned(),
    };
    // Ctrl-C is for the editor.
    let _held = HeldSignals::hold().map_err(not_started)?;
    command(editor).arg(path).status().map_err(not_started)
}

/// Opens a text in the editor, and returns what is made of it.
pub(crate) fn edit_text(environment: &Environment, text: &[u8]) -> Result<Vec<u8>, Failure> {
    let editor = editor(environment, "the skill's file")?;
    let failed = |error: io::Error| Failure::System {
        message: format!("Your edit cannot be read: {error}"),
        hint: "Try again".to_owned(),
    };
    let mut file = tempfile::Builder::new()
        .suffix(".md")
        .tempfile()
        .map_err(failed)?;
    file.write_all(text).map_err(failed)?;
    if !run(editor, file.path())?.success() {
        return Ok(text.to_owned());
    }
    read(file.path()).map_err(failed)
}

/// Reads a file that was edited. Editors replace files, so it is opened again.
#[expect(clippy::disallowed_methods, reason = "it is our own temporary file")]
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut edited = Vec::new();
    let file = std::fs::File::open(path)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut edited)?;
    if edited.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("it has more than 1 MiB"));
    }
    Ok(edited)
}

/// Starts the user's command for a proposal, with its text as input, and does not wait for it.
pub(crate) fn notify(words: &str, text: &str) -> io::Result<()> {
    let mut started = command(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let (input, text) = (started.stdin.take(), text.to_owned());
    std::thread::spawn(move || {
        if let Some(mut input) = input {
            // It may have ended without reading.
            _ = input.write_all(text.as_bytes());
        }
        _ = started.wait();
    });
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the user chose the command in their own settings or environment"
)]
fn command(words: &str) -> process::Command {
    // A backslash is part of a path on Windows.
    let words = if cfg!(windows) {
        words.replace('\\', r"\\")
    } else {
        words.to_owned()
    };
    let words = split_words(&words);
    let mut words = words.iter().map(|word| &**word);
    let mut command = process::Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}
