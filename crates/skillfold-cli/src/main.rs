//! The `skillfold` command.

mod arguments;

mod failure;

mod output;

mod report;

mod ask;
mod chart;
mod host;
mod trace;

mod check;
mod compose;
mod config;
mod diff;
mod evaluate;
mod files;
mod hook;
mod list;
mod load;
mod new;
mod read;
mod serve;
mod setup;
mod shell;
mod show;
mod stats;
mod trust;
mod why;

mod doctor;
mod prompt;
mod search;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser};

use crate::arguments::{Arguments, Command};
use crate::failure::{EXIT_FAILED, EXIT_USAGE, Failure};
use crate::output::{Output, printable};
use crate::report::report;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            return hook_or(is_hook(std::env::args_os()), refuse(&error));
        }
        Err(help) => help.exit(),
    };
    arguments.global.color.write_global();
    let mut output = Output::new(&arguments);
    let result = run(&arguments, &mut output);
    let code = match result.and_then(|code| output.finish().map(|()| code)) {
        Ok(code) if code == ExitCode::SUCCESS && trace::write_failed() => {
            ExitCode::from(EXIT_FAILED)
        }
        Ok(code) => code,
        Err(failure) => report(&failure, &mut output),
    };
    hook_or(matches!(arguments.command, Command::Hook(_)), code)
}

/// Returns whether arguments that cannot be parsed name the hook: their first word that is a command.
fn is_hook(arguments: impl Iterator<Item = OsString>) -> bool {
    let command = Arguments::command();
    let is_command = |word: &OsString| command.get_subcommands().any(|it| *word == *it.get_name());
    let mut words = arguments.skip(1).filter(is_command);
    words.next().is_some_and(|word| word == "hook")
}

/// Returns the exit code, which is always 0 for a hook: clients drop a prompt whose hook fails.
fn hook_or(is_hook: bool, code: ExitCode) -> ExitCode {
    if is_hook { ExitCode::SUCCESS } else { code }
}

/// Prints what is wrong with the arguments. They may come from file names, so they are escaped.
fn refuse(error: &clap::Error) -> ExitCode {
    let message = error.render().ansi().to_string();
    let _ = write!(anstream::stderr(), "{}", printable(&message));
    ExitCode::from(EXIT_USAGE)
}

fn run(arguments: &Arguments, output: &mut Output) -> Result<ExitCode, Failure> {
    let global = &arguments.global;
    trace::init(arguments)?;
    match &arguments.command {
        Command::List(options) => list::run(global, options, output),
        Command::Search(options) => search::run(global, options, output),
        Command::Show(options) => show::run(global, options, output),
        Command::Load(options) => load::run(global, options, output),
        Command::Files(options) => files::run(global, options, output),
        Command::Read(options) => read::run(global, options, output),
        Command::Prompt(options) => prompt::run(global, options, output),
        Command::Compose(options) => compose::run(global, options, output),
        Command::Why(options) => why::run(global, options, output),
        Command::Serve(options) => serve::run(global, options, output),
        Command::Hook(options) => hook::run(global, options, output),
        Command::Check(options) => check::run(global, options, output),
        Command::Test(options) => evaluate::run(global, options, output),
        Command::Stats(options) => stats::run(global, options, output),
        Command::New(options) => new::run(global, options, output),
        Command::Setup(options) => setup::run(global, options, output),
        Command::Trust(options) => trust::run(global, options, output),
        Command::Doctor => doctor::run(global, output),
        Command::Config(options) => config::run(global, options, output),
        Command::Completions { shell } => shell::completions(*shell, output),
        Command::Man { command } => shell::man(command, output),
    }
}
