//! The command line.

mod complete;
mod number;

mod improve;
mod manage;
mod run;
mod use_skills;

pub(crate) mod help;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use self::improve::{
    Approve, AuditAction, AuditOptions, Diff, HistoryOptions, Proposals, Propose, Reject, Rollback,
};
pub(crate) use self::manage::{
    Accept, Cache, CacheAction, Check, Config, ConfigAction, Doctor, Format, Init, LanguageName,
    New, Overlap, ProfileName, ReportPage, Setup, Stats, Test, Trust,
};
pub(crate) use self::run::{Allow, RunScript, Tools};
pub(crate) use self::use_skills::{
    Compose, Files, Hook, List, Load, LogLevel, Prompt, Read, Search, Serve, Show, Why,
};

/// Work with agent skills
#[derive(Debug, Parser)]
#[command(name = "skillfold", version, infer_long_args = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    /// Where you stand if it is left out.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// Work in this folder
    #[arg(
        short = 'C',
        long,
        global = true,
        hide = true,
        value_name = "FOLDER",
        default_value = "."
    )]
    pub(crate) directory: PathBuf,
    /// Search this folder of skills too
    #[arg(long, global = true, hide = true, value_name = "ROOT")]
    pub(crate) root: Vec<String>,
    /// Override a setting, for this run
    #[arg(long, global = true, hide = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Trust the skills of this project, for this run
    #[arg(long, global = true, hide = true)]
    pub(crate) trust_project: bool,
    /// Print JSON
    #[arg(long, global = true, hide = true)]
    pub(crate) json: bool,
    /// Append events to this file; `-` is stderr
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Use colours: auto, always or never
    #[arg(
        long,
        global = true,
        hide = true,
        value_name = "WHEN",
        default_value = "auto"
    )]
    pub(crate) color: Color,
}

impl Arguments {
    /// Returns whether the output is JSON.
    pub(crate) fn is_json(&self) -> bool {
        let is_format = |check: &Check| check.format == Format::Json;
        self.global.json || matches!(&self.command, Some(Command::Check(check)) if is_format(check))
    }
}

impl Command {
    /// Returns the command and its argument if it needs one that can be asked for on the terminal.
    pub(crate) fn unnamed_argument(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Show(Show { id: None }) => Some(("show", "<ID>")),
            Self::Load(Load { id: None, .. }) => Some(("load", "<ID>")),
            Self::Files(Files { id: None, .. }) => Some(("files", "<ID>")),
            Self::Why(Why { skill, .. }) if skill.iter().any(String::is_empty) => {
                Some(("why", "--skill <ID>"))
            }
            Self::Why(Why {
                request: None,
                last: None,
                ..
            }) => Some(("why", "<REQUEST>")),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    pub(crate) fn write_global(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the skills
    List(List),
    /// Search for skills, best match first
    Search(Search),
    /// Show everything about a skill
    Show(Show),
    /// Print the instructions of a skill as a model gets them
    Load(Load),
    /// List the files of a skill, those that its instructions mention first
    Files(Files),
    /// Print a file of a skill
    Read(Read),
    /// Print what a model would be told for a request, and its cost in tokens
    Prompt(Prompt),
    /// Print the text that an agent of the settings starts with
    Compose(Compose),
    /// Explain which skills a request would bring, and why others would not come
    Why(Why),
    /// Serve skills to agents over MCP, on stdin and stdout or over HTTP
    Serve(Serve),
    /// Answer a client's hook: read its event on stdin, and print what to add to the prompt
    Hook(Hook),
    /// Check skills for problems, and fix what can be fixed safely
    Check(Check),
    /// Run the trigger queries that skills ship, and show which skills are confused
    Test(Test),
    /// Show which skills compete with each other, and why
    Overlap(Overlap),
    /// Show from an agent's log how well skills are chosen over time
    Stats(Stats),
    /// Write a page about the installed skills: what they cost, compete for, and are used
    Report(ReportPage),
    /// Create a new skill
    New(New),
    /// Prepare a project for skills: its settings file, and trust
    Init(Init),
    /// Add the server to a client's configuration, after showing the change
    Setup(Setup),
    /// Trust the skills of a project, after showing them
    Trust(Trust),
    /// Accept skills that are held, after showing them
    Accept(Accept),
    /// Let a skill run its scripts and tools, after showing them
    Allow(Allow),
    /// Run a script of a skill in a box, or list its scripts
    Run(RunScript),
    /// List the tools of a skill, or call one
    Tools(Tools),
    /// Propose a change of a skill, or a new one, for review
    Propose(Propose),
    /// List the proposed changes of skills, or show one
    Proposals(Proposals),
    /// Review the proposed changes on the screen, and decide
    Review,
    /// Approve a proposed change, after showing it
    Approve(Approve),
    /// Reject a proposed change
    Reject(Reject),
    /// List the versions of a skill
    History(HistoryOptions),
    /// Compare two versions of a skill
    Diff(Diff),
    /// Restore an earlier version of a skill, after showing the change
    Rollback(Rollback),
    /// Show the log of what was proposed, decided and changed, or verify it
    Audit(AuditOptions),
    /// Set the passphrase that approvals can require
    Passphrase,
    /// Show the status of each root and skill, and what is wrong
    Doctor(Doctor),
    /// Show the settings, or change one
    Config(Config),
    /// Show what is in the cache folder, or empty it
    Cache(Cache),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man {
        /// Print the page of one command
        command: Vec<String>,
    },
}
