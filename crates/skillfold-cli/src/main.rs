//! The `skillfold` command.

mod arguments;

mod failure;

mod progress;

mod table;

mod output;

mod finding_counts;
mod print_failure;

mod signals;

mod screen;

mod ask;
mod chart;
mod editor;
mod host;
mod trace;

mod list;

mod choose;

mod review;

mod accept;
mod cache;
mod check;
mod compose;
mod config;
mod diff;
mod evaluate;
mod files;
mod hook;
mod load;
mod overlap;
mod read;
mod serve;
mod setup;
mod shell;
mod show;
mod stats;
mod trust;
mod why;

mod doctor;
mod improve;
mod init;
mod new;
mod page;
mod prompt;
mod run;
mod search;
mod status;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _};
use clap_complete::CompleteEnv;

use crate::arguments::{Arguments, Command, help};
use crate::failure::{EXIT_FAILED, EXIT_USAGE, Failure};
use crate::output::{BAD, DIM, Output, paint, printable};
use crate::print_failure::print_failure;

fn main() -> ExitCode {
    // A shell asks for completions through a variable, and nothing else runs then.
    CompleteEnv::with_factory(help::command)
        .var(shell::COMPLETE_VARIABLE)
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
    let result = run(&arguments, &mut output);
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
        Some((name, argument)) if !ask::can_ask() => {
            Err(missing_argument(&mut command, name, argument))
        }
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

fn run(arguments: &Arguments, output: &mut Output) -> Result<ExitCode, Failure> {
    let global = &arguments.global;
    trace::init(arguments)?;
    let Some(command) = &arguments.command else {
        return status::run(global, output);
    };
    match command {
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
        Command::Overlap(options) => overlap::run(global, options, output),
        Command::Stats(options) => stats::run(global, options, output),
        Command::Report(options) => page::run(global, options, output),
        Command::New(options) => new::run(global, options, output),
        Command::Init(options) => init::run(global, options, output),
        Command::Setup(options) => setup::run(global, options, output),
        Command::Trust(options) => trust::run(global, options, output),
        Command::Accept(options) => accept::run(global, options, output),
        Command::Propose(options) => improve::propose::run(global, options, output),
        Command::Proposals(options) => improve::proposals::run(global, options, output),
        Command::Review => improve::review::run(global, output),
        Command::Approve(options) => improve::decide::approve(global, options, output),
        Command::Reject(options) => improve::decide::reject(global, options, output),
        Command::History(options) => improve::history::run(global, options, output),
        Command::Diff(options) => improve::history::diff(global, options, output),
        Command::Rollback(options) => improve::decide::rollback(global, options, output),
        Command::Audit(options) => improve::audit::run(global, options, output),
        Command::Passphrase => improve::passphrase::run(global, output),
        Command::Allow(options) => run::allow::run(global, options, output),
        Command::Run(options) => run::script::run(global, options, output),
        Command::Tools(options) => run::tools::run(global, options, output),
        Command::Doctor(options) => doctor::run(global, options, output),
        Command::Config(options) => config::run(global, options, output),
        Command::Cache(options) => cache::run(global, options, output),
        Command::Completions { shell } => shell::completions(*shell, output),
        Command::Man { command } => shell::man(command, output),
    }
}
