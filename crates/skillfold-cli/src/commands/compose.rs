//! `skillfold compose`

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::ExitCode;

use skillfold::core::Error;
use skillfold::core::diagnostic::visible;
use skillfold::view::{Composed, Document};

use crate::arguments::{self, Global};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::output::{Output, say_diagnostics};

/// Maximum bytes of a prompt.
const MAX_PROMPT_BYTES: u64 = 1024 * 1024;

/// The file name that stands for stdin.
const STDIN: &str = "-";

pub(crate) fn run(
    global: &Global,
    options: &arguments::Compose,
    output: &mut Output,
) -> CommandResult {
    let skills = host::skills(global, output)?;
    let prompt = match &options.prompt {
        Some(file) => read_prompt(global, file)?,
        None => String::new(),
    };
    let composed = skills.compose(&options.agent, &prompt, &options.inline)?;
    say_diagnostics(&composed.notes, output);
    if output.is_json() {
        return output.json(Document::Composed(Composed::new(&options.agent, &composed)));
    }
    let mut text = composed.text;
    // The next output on a terminal starts on its own line; the JSON has the exact text.
    if !text.ends_with('\n') {
        text.push('\n');
    }
    output.skill_text(text.as_bytes())?;
    for missing in &composed.missing {
        let id = visible(&missing.id);
        output.say(format!("`{id}` is left out: {}", missing.reason));
    }
    Ok(ExitCode::SUCCESS)
}

fn read_prompt(global: &Global, file: &Path) -> Result<String, Failure> {
    let name = file.to_string_lossy();
    let mut text = String::new();
    let read = if file.as_os_str() == STDIN {
        io::stdin()
            .lock()
            .take(MAX_PROMPT_BYTES)
            .read_to_string(&mut text)
    } else {
        let path = host::environment(global)?.directory().join(file);
        let opened = OpenOptions::new().read(true).open(path);
        opened.and_then(|file| file.take(MAX_PROMPT_BYTES).read_to_string(&mut text))
    };
    match read {
        Ok(bytes) if bytes as u64 == MAX_PROMPT_BYTES => {
            Err(Error::invalid(&*name, "a prompt must be smaller than 1 MiB").into())
        }
        Ok(_) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Error::not_found(&*name).into())
        }
        Err(error) => Err(Error::read(&*name, error).into()),
    }
}
