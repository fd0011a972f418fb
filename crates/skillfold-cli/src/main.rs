//! The `skillfold` command.

mod arguments;

mod failure;

mod output;

mod report;

mod ask;
mod host;
mod trace;

mod check;
mod compose;
mod config;
mod evaluate;
mod files;
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

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command};
use crate::failure::{EXIT_FAILED, EXIT_USAGE, Failure};
use crate::output::{Output, printable};
use crate::report::report;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => return refuse(&error),
        Err(help) => help.exit(),
    };
    arguments.global.color.write_global();
    let mut output = Output::new(&arguments);
    match run(&arguments, &mut output).and_then(|code| output.finish().map(|()| code)) {
        Ok(code) if code == ExitCode::SUCCESS && trace::write_failed() => {
            ExitCode::from(EXIT_FAILED)
        }
        Ok(code) => code,
        Err(failure) => report(&failure, &mut output),
    }
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
