//! The commands, each in a file or folder with the name that is typed.

mod allow;
mod audit;
mod cache;
mod check;
mod completions;
mod compose;
mod diff;
mod files;
mod history;
mod list;
mod load;
mod man;
mod outdated;
mod overlap;
mod passphrase;
mod proposals;
mod propose;
mod read;
mod reject;
mod remove;
mod review;
mod serve;
mod setup;
mod show;
mod status;
mod test;
mod tools;
mod trust;
mod verify;

// Each uses something of a command above.
mod access;
mod add;
mod approve;
mod config;
mod doctor;
mod hook;
mod init;
mod new;
mod rollback;
mod run;
mod stats;
mod why_installed;

mod improve;
mod install;
mod report;
mod update;
mod vendor;
mod why;

mod prompt;
mod search;

use crate::arguments::{Arguments, Command};
use crate::failure::CommandResult;
use crate::terminal::output::Output;

pub(crate) use self::completions::COMPLETE_VARIABLE;

/// Runs the command, or shows the status if there is none.
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> CommandResult {
    let global = &arguments.global;
    let Some(command) = &arguments.command else {
        return status::run(global, output);
    };
    let result = match command {
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
        Command::Test(options) => test::run(global, options, output),
        Command::Improve(options) => improve::run(global, options, output),
        Command::Overlap(options) => overlap::run(global, options, output),
        Command::Stats(options) => stats::run(global, options, output),
        Command::Report(options) => report::run(global, options, output),
        Command::New(options) => new::run(global, options, output),
        Command::Init(options) => init::run(global, options, output),
        Command::Setup(options) => setup::run(global, options, output),
        Command::Add(options) => add::run(global, options, output),
        Command::Remove(options) => remove::run(global, options, output),
        Command::Install(options) => install::run(global, options, output),
        Command::Verify(options) => verify::run(global, options, output),
        Command::Outdated(options) => outdated::run(global, options, output),
        Command::Update(options) => update::run(global, options, output),
        Command::Vendor(options) => vendor::run(global, options, output),
        Command::WhyInstalled(options) => why_installed::run(global, options, output),
        Command::Trust(options) => trust::run(global, options, output),
        Command::Propose(options) => propose::run(global, options, output),
        Command::Proposals(options) => proposals::run(global, options, output),
        Command::Review => review::run(global, output),
        Command::Approve(options) => approve::run(global, options, output),
        Command::Reject(options) => reject::run(global, options, output),
        Command::History(options) => history::run(global, options, output),
        Command::Diff(options) => diff::run(global, options, output),
        Command::Rollback(options) => rollback::run(global, options, output),
        Command::Audit(options) => audit::run(global, options, output),
        Command::Passphrase => passphrase::run(global, output),
        Command::Allow(options) => allow::run(global, options, output),
        Command::Run(options) => run::run(global, options, output),
        Command::Tools(options) => tools::run(global, options, output),
        Command::Doctor(options) => doctor::run(global, options, output),
        Command::Config(options) => config::run(global, options, output),
        Command::Cache(options) => cache::run(global, options, output),
        Command::Access(options) => access::run(global, options, output),
        Command::Completions { shell } => completions::run(*shell, output),
        Command::Man { command } => man::run(command, output),
    };
    let can_add_skills = matches!(
        command,
        Command::Add(_)
            | Command::Approve(_)
            | Command::Install(_)
            | Command::New(_)
            | Command::Remove(_)
            | Command::Review
            | Command::Rollback(_)
    );
    if can_add_skills && result.is_ok() {
        setup::follow_all(global, output)?;
    }
    result
}
