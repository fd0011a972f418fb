//! The command line.

mod complete;
mod examples;
mod number;

mod improve;
mod manage;
mod run;
mod use_skills;

pub(crate) mod help;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use self::examples::examples;
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
    #[command(after_help = examples(&[
        "skillfold list",
        "skillfold list --scope project",
        "skillfold list git --limit 20",
    ]))]
    List(List),
    /// Search for skills, best match first
    #[command(after_help = examples(&[
        "skillfold search \"write release notes\"",
        "skillfold search \"fill in a form\" --limit 3 --numbers",
    ]))]
    Search(Search),
    /// Show everything about a skill
    #[command(after_help = examples(&["skillfold show pdf"]))]
    Show(Show),
    /// Print the instructions of a skill as a model gets them
    #[command(after_help = examples(&[
        "skillfold load pdf report.pdf",
        "skillfold load pdf --envelope skill_context",
    ]))]
    Load(Load),
    /// List the files of a skill, those that its instructions mention first
    #[command(after_help = examples(&["skillfold files pdf"]))]
    Files(Files),
    /// Print a file of a skill
    #[command(after_help = examples(&[
        "skillfold read pdf references/forms.md",
        "skillfold read pdf data.csv --range ..4096",
    ]))]
    Read(Read),
    /// Print what a model would be told for a request, and its cost in tokens
    #[command(after_help = examples(&[
        "skillfold prompt \"Fill in the tax form\"",
        "skillfold prompt --client claude-code",
    ]))]
    Prompt(Prompt),
    /// Print the text that an agent of the settings starts with
    #[command(after_help = examples(&["skillfold compose builder --prompt prompt.md"]))]
    Compose(Compose),
    /// Explain which skills a request would bring, and why others would not come
    #[command(after_help = examples(&[
        "skillfold why \"Fill in the tax form\"",
        "skillfold why \"Fill in the tax form\" --skill pdf",
        "skillfold why --last 5",
    ]))]
    Why(Why),
    /// Serve skills to agents over MCP, on stdin and stdout or over HTTP
    #[command(after_help = examples(&[
        "skillfold serve                 # a client starts it like this",
        "skillfold serve --http 8080",
        "skillfold serve --agent builder",
    ]))]
    Serve(Serve),
    /// Answer a client's hook: read its event on stdin, and print what to add to the prompt
    #[command(after_help = examples(&["skillfold hook < event.json"]))]
    Hook(Hook),
    /// Check skills for problems, and fix what can be fixed safely
    #[command(after_help = examples(&[
        "skillfold check                 # all skills",
        "skillfold check pdf --fix",
        "skillfold check .agents/skills --profile spec --strict",
        "skillfold check --watch",
    ]))]
    Check(Check),
    /// Run the trigger queries that skills ship, and show which skills are confused
    #[command(after_help = examples(&[
        "skillfold test",
        "skillfold test pdf --at-least 90",
    ]))]
    Test(Test),
    /// Show which skills compete with each other, and why
    #[command(after_help = examples(&[
        "skillfold overlap",
        "skillfold overlap pdf --limit 5",
    ]))]
    Overlap(Overlap),
    /// Show from an agent's log how well skills are chosen over time
    #[command(after_help = examples(&[
        "skillfold stats",
        "skillfold stats agent.jsonl --every 1000 --svg chart.svg",
    ]))]
    Stats(Stats),
    /// Write a page about the installed skills: what they cost, compete for, and are used
    #[command(after_help = examples(&[
        "skillfold report",
        "skillfold report skills.html --log agent.jsonl",
    ]))]
    Report(ReportPage),
    /// Create a new skill
    #[command(after_help = examples(&[
        "skillfold new changelog --description \"Keeps the changelog. Use when users see a change.\"",
        "skillfold new notes --user --trigger \"meeting notes\"",
        "skillfold new greet --toolset python",
    ]))]
    New(New),
    /// Prepare a project for skills: its settings file, and trust
    #[command(after_help = examples(&[
        "skillfold init",
        "skillfold init --trust",
    ]))]
    Init(Init),
    /// Add the server to a client's configuration, after showing the change
    #[command(after_help = examples(&[
        "skillfold setup                 # all clients that you have",
        "skillfold setup codex --hook --dry-run",
        "skillfold setup codex --undo",
    ]))]
    Setup(Setup),
    /// Trust the skills of a project, after showing them
    #[command(after_help = examples(&[
        "skillfold trust",
        "skillfold trust ~/projects/app",
        "skillfold trust --pin",
        "skillfold trust --remove",
    ]))]
    Trust(Trust),
    /// Accept skills that are held, after showing them
    #[command(after_help = examples(&[
        "skillfold accept                # what is held",
        "skillfold accept pdf",
        "skillfold accept --all",
        "skillfold accept --remove pdf",
    ]))]
    Accept(Accept),
    /// Let a skill run its scripts and tools, after showing them
    #[command(after_help = examples(&[
        "skillfold allow pdf             # shows what it would run, and asks",
        "skillfold allow --list",
        "skillfold allow pdf --remove",
        "skillfold allow --ask-in-clients on",
    ]))]
    Allow(Allow),
    /// Run a script of a skill in a box, or list its scripts
    #[command(after_help = examples(&[
        "skillfold run pdf               # its scripts",
        "skillfold run pdf scripts/fill.py -- form.json",
        "skillfold run pdf scripts/stat.py --stdin < report.csv",
        "skillfold run pdf --prepare     # installs the packages that they name",
        "skillfold run --box",
    ]))]
    Run(RunScript),
    /// List the tools of a skill, or call one
    #[command(after_help = examples(&[
        "skillfold tools pdf",
        "skillfold tools pdf fields '{}'",
    ]))]
    Tools(Tools),
    /// Propose a change of a skill, or a new one, for review
    #[command(after_help = examples(&[
        "skillfold propose pdf ~/drafts/pdf --reason \"pdftk is gone, qpdf does it\"",
        "skillfold propose pdf new-SKILL.md --reason \"shorter\"",
    ]))]
    Propose(Propose),
    /// List the proposed changes of skills, or show one
    #[command(after_help = examples(&[
        "skillfold proposals",
        "skillfold proposals pdf-20261117T072000Z",
    ]))]
    Proposals(Proposals),
    /// Review the proposed changes on the screen, and decide
    #[command(after_help = examples(&["skillfold review"]))]
    Review,
    /// Approve a proposed change, after showing it
    #[command(after_help = examples(&["skillfold approve pdf-20261117T072000Z"]))]
    Approve(Approve),
    /// Reject a proposed change
    #[command(after_help = examples(&["skillfold reject pdf-20261117T072000Z --reason \"we use another tool\""]))]
    Reject(Reject),
    /// List the versions of a skill
    #[command(after_help = examples(&["skillfold history pdf"]))]
    History(HistoryOptions),
    /// Compare two versions of a skill
    #[command(after_help = examples(&[
        "skillfold diff pdf              # what the last change did",
        "skillfold diff pdf 3f2a9c 81d0e7",
    ]))]
    Diff(Diff),
    /// Restore an earlier version of a skill, after showing the change
    #[command(after_help = examples(&[
        "skillfold rollback pdf previous",
        "skillfold rollback pdf 3f2a9c --reason \"the new one is worse\"",
    ]))]
    Rollback(Rollback),
    /// Show the log of what was proposed, decided and changed, or verify it
    #[command(after_help = examples(&[
        "skillfold audit",
        "skillfold audit verify",
    ]))]
    Audit(AuditOptions),
    /// Set the passphrase that approvals can require
    #[command(after_help = examples(&["skillfold passphrase"]))]
    Passphrase,
    /// Show the status of each root and skill, and what is wrong
    #[command(after_help = examples(&[
        "skillfold doctor",
        "skillfold doctor --all",
    ]))]
    Doctor(Doctor),
    /// Show the settings, or change one
    #[command(after_help = examples(&[
        "skillfold config --explain",
        "skillfold config get disclosure",
        "skillfold config set disable \"old-skill,other-*\"",
        "skillfold config unset disable",
    ]))]
    Config(Config),
    /// Show what is in the cache folder, or empty it
    #[command(after_help = examples(&[
        "skillfold cache",
        "skillfold cache clean",
    ]))]
    Cache(Cache),
    /// Print completions for a shell
    #[command(after_help = examples(&["skillfold completions bash > ~/.local/share/bash-completion/completions/skillfold"]))]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(after_help = examples(&["skillfold man check | man -l -"]))]
    Man {
        /// Print the page of one command
        command: Vec<String>,
    },
}
