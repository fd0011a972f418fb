//! The `skillfold` command.

mod client_state;

mod arguments;

mod failure;

mod terminal;

mod host;

mod installation;

mod trace;

mod commands;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _};
use clap_complete::CompleteEnv;

use crate::arguments::{Arguments, Command, help};
use crate::failure::{EXIT_FAILED, EXIT_USAGE};
use crate::terminal::ask::can_ask;
use crate::terminal::output::{BAD, DIM, Output, paint, printable};
use crate::terminal::print_failure::print_failure;

fn main() -> ExitCode {
    // A shell asks for completions through a variable, and nothing else runs then.
    CompleteEnv::with_factory(help::command)
        .var(commands::COMPLETE_VARIABLE)
        .complete();
    let arguments = match parse(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            return hook_or(is_hook(std::env::args_os()), refuse(&error));
        }
        Err(help) => help.exit(),
    };
    arguments.global.color.write_global();
    let mut output = Output::new(&arguments);
    let result = trace::init(&arguments).and_then(|()| commands::run(&arguments, &mut output));
    let code = match result.and_then(|code| output.finish().map(|()| code)) {
        Ok(code) if code == ExitCode::SUCCESS && trace::write_failed() => {
            ExitCode::from(EXIT_FAILED)
        }
        Ok(code) => code,
        Err(failure) => print_failure(&failure, &mut output),
    };
    hook_or(matches!(arguments.command, Some(Command::Hook(_))), code)
}

fn parse(words: impl Iterator<Item = OsString>) -> Result<Arguments, clap::Error> {
    let mut command = help::command();
    let matches = command.try_get_matches_from_mut(words)?;
    let arguments = Arguments::from_arg_matches(&matches);
    let arguments = arguments.map_err(|error| error.format(&mut command))?;
    let unnamed = (arguments.command.as_ref()).and_then(Command::unnamed_argument);
    match unnamed {
        Some((name, argument)) if !can_ask() => Err(missing_argument(&mut command, name, argument)),
        _ => Ok(arguments),
    }
}

/// Returns what the parser says of an argument that a command needs.
fn missing_argument(command: &mut clap::Command, name: &str, argument: &str) -> clap::Error {
    let mut error = clap::Error::new(ErrorKind::MissingRequiredArgument);
    let argument = ContextValue::Strings(vec![argument.to_owned()]);
    error.insert(ContextKind::InvalidArg, argument);
    if let Some(command) = command.find_subcommand_mut(name) {
        let usage = ContextValue::StyledStr(command.render_usage());
        error.insert(ContextKind::Usage, usage);
        error = error.with_cmd(command);
    }
    error
}

/// Returns whether arguments that cannot be parsed name the hook: their first word that is a command.
fn is_hook(arguments: impl Iterator<Item = OsString>) -> bool {
    first_command(arguments).is_some_and(|word| word == "hook")
}

/// Returns the first word that is a command.
fn first_command(arguments: impl Iterator<Item = OsString>) -> Option<String> {
    let command = Arguments::command();
    let words = arguments.skip(1).filter_map(|word| word.into_string().ok());
    let is_command = |word: &String| command.get_subcommands().any(|it| *word == *it.get_name());
    words.into_iter().find(is_command)
}

/// Returns the exit code, which is always 0 for a hook: clients drop a prompt whose hook fails.
fn hook_or(is_hook: bool, code: ExitCode) -> ExitCode {
    if is_hook { ExitCode::SUCCESS } else { code }
}

/// Prints what is wrong with the arguments. They may come from file names, so they are escaped.
fn refuse(error: &clap::Error) -> ExitCode {
    let unknown = error.get(ContextKind::InvalidSubcommand);
    let message = match (error.kind(), unknown) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) => {
            let head = format!("{}: There is no command `{word}`\n", paint(BAD, "error"));
            let list = "`skillfold help` lists the commands".to_owned();
            let parent = first_command(std::env::args_os());
            let hint = help::instead_of(word, parent.as_deref()).unwrap_or(list);
            format!("{head}{}: {hint}\n", paint(DIM, "hint"))
        }
        (ErrorKind::UnknownArgument, _)
            if first_command(std::env::args_os()).as_deref() == Some("run") =>
        {
            let hint = "Put the script's own arguments after `--`, such as `-- form.json`";
            let shown = error.render().ansi().to_string();
            format!("{}\n{}: {hint}\n", shown.trim_end(), paint(DIM, "hint"))
        }
        _ => error.render().ansi().to_string(),
    };
    let _ = write!(anstream::stderr(), "{}", printable(&message));
    ExitCode::from(EXIT_USAGE)
}
