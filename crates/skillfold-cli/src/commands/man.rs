//! `skillfold man`

use std::process::ExitCode;

use crate::arguments::help;
use crate::failure::{CommandResult, Failure};
use crate::terminal::output::Output;

pub(crate) fn run(words: &[String], output: &mut Output) -> CommandResult {
    let mut command = help::command();
    command.build();
    let mut title = "skillfold".to_owned();
    for word in words {
        let Some(found) = command.find_subcommand(word) else {
            let hint = help::instead_of(word, None).unwrap_or_default();
            let message = format!("There is no command `{word}`. {hint}");
            return Err(Failure::Usage(message.trim_end().to_owned()));
        };
        title = format!("{title}-{}", found.get_name());
        command = found.clone();
    }
    let command = command
        .name(title.clone())
        .version(env!("CARGO_PKG_VERSION"));
    let mut text = Vec::new();
    clap_mangen::Man::new(command)
        .title(title)
        .render(&mut text)?;
    output.text(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}
