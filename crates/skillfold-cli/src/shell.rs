//! `skillfold completions` and `skillfold man`

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;
use skillfold::core::catalog::nearest;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::output::Output;

pub(crate) fn completions(shell: Shell, output: &mut Output) -> Result<ExitCode, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "skillfold", &mut text);
    output.text(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(words: &[String], output: &mut Output) -> Result<ExitCode, Failure> {
    let mut command = Arguments::command();
    command.build();
    let mut title = "skillfold".to_owned();
    for word in words {
        let Some(found) = command.find_subcommand(word) else {
            return Err(Failure::Usage(unknown_command(&command, word)));
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

fn unknown_command(command: &clap::Command, name: &str) -> String {
    let names = command.get_subcommands().map(clap::Command::get_name);
    match nearest(name, names, 1).first() {
        Some(meant) => format!("There is no command `{name}`; did you mean `{meant}`?"),
        None => format!("There is no command `{name}`"),
    }
}
