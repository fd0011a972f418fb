//! The command line.

mod complete;
mod examples;
mod number;

mod improve;
mod install;
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
pub(crate) use self::install::{
    Add, Install, OutdatedOptions, Remove, Update, UpdateFormat, Vendor, Verify, WhyInstalled,
};
pub(crate) use self::manage::{
    AccessAction, AccessOptions, AddAccess, Cache, CacheAction, Check, Config, ConfigAction,
    Doctor, Format, Improve, Init, LanguageName, New, Overlap, ProfileName, ReportPage, Setup,
    SetupListChoice, Stats, Test, Trust,
};
pub(crate) use self::run::{Allow, RunScript, Tools};
pub(crate) use self::use_skills::{
    Compose, Files, Hook, List, Load, LogLevel, Prompt, Read, Search, Serve, Show, Why,
};

/// Give AI agents the right skill at the right moment
#[derive(Debug, Parser)]
#[command(name = "skillfold", version, infer_long_args = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    /// Shows the status if it is left out.
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
    /// Print only data and errors
    #[arg(short, long, global = true, hide = true)]
    pub(crate) quiet: bool,
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
        self.global.json
            || match &self.command {
                Some(Command::Check(check)) => check.format == Format::Json,
                Some(Command::Update(update)) => update.format == UpdateFormat::Json,
                _ => false,
            }
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
// The options of the other commands are not built: every start would pay for them.
#[command(defer = true)]
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
    /// Print a skill's instructions as a model gets them
    #[command(after_help = examples(&[
        "skillfold load pdf report.pdf",
        "skillfold load pdf --envelope skill_context",
    ]))]
    Load(Load),
    /// List a skill's files
    #[command(after_help = examples(&["skillfold files pdf"]))]
    Files(Files),
    /// Print one of a skill's files
    #[command(after_help = examples(&[
        "skillfold read pdf references/forms.md",
        "skillfold read pdf data.csv --range ..4096",
    ]))]
    Read(Read),
    /// Print what a model gets for a request, with its token count
    #[command(after_help = examples(&[
        "skillfold prompt \"Fill in the tax form\"",
        "skillfold prompt --client claude-code",
    ]))]
    Prompt(Prompt),
    /// Print the system prompt of an agent defined in the settings
    #[command(after_help = examples(&["skillfold compose builder --prompt prompt.md"]))]
    Compose(Compose),
    /// Explain which skills a request selects, and why not others
    #[command(after_help = examples(&[
        "skillfold why \"Fill in the tax form\"",
        "skillfold why \"Fill in the tax form\" --skill pdf",
        "skillfold why --last 5",
    ]))]
    Why(Why),
    /// Serve skills over MCP, on stdio or HTTP
    #[command(after_help = examples(&[
        "skillfold serve                 # a client starts it like this",
        "skillfold serve --http 8080",
        "skillfold serve --agent builder",
    ]))]
    Serve(Serve),
    /// Answer a client's hook: event on stdin, text to add on stdout
    #[command(after_help = examples(&["skillfold hook < event.json"]))]
    Hook(Hook),
    /// Check skills for problems, and fix what is safe to fix
    #[command(after_help = examples(&[
        "skillfold check                 # all skills",
        "skillfold check pdf --fix",
        "skillfold check .agents/skills --profile spec --strict",
        "skillfold check --watch",
    ]))]
    Check(Check),
    /// Test that skills' labelled requests select the right skill
    #[command(after_help = examples(&[
        "skillfold test",
        "skillfold test pdf --at-least 90",
    ]))]
    Test(Test),
    /// Add missed requests to a skill's tests; show terms it lacks
    #[command(after_help = examples(&[
        "skillfold improve pdf",
        "skillfold improve pdf --request \"Fill in the tax form\" --yes",
    ]))]
    Improve(Improve),
    /// Show which skills compete, and for which words
    #[command(after_help = examples(&[
        "skillfold overlap",
        "skillfold overlap pdf --limit 5",
    ]))]
    Overlap(Overlap),
    /// Show how well skills were selected over time, from a log
    #[command(after_help = examples(&[
        "skillfold stats",
        "skillfold stats agent.jsonl --every 1000 --svg chart.svg",
    ]))]
    Stats(Stats),
    /// Write an HTML report: cost, overlaps and usage of your skills
    #[command(after_help = examples(&[
        "skillfold report",
        "skillfold report skills.html --log agent.jsonl",
        "skillfold report --client codex",
    ]))]
    Report(ReportPage),
    /// Create a new skill
    #[command(after_help = examples(&[
        "skillfold new changelog --description \"Keeps the changelog. Use when users see a change.\"",
        "skillfold new notes --user --trigger \"meeting notes\"",
        "skillfold new greet --toolset python",
    ]))]
    New(New),
    /// Prepare a project: create its settings file, and trust it
    #[command(after_help = examples(&[
        "skillfold init",
        "skillfold init --trust",
    ]))]
    Init(Init),
    /// Connect your clients, after showing what changes
    #[command(after_help = examples(&[
        "skillfold setup                 # all clients that you have",
        "skillfold setup codex --dry-run",
        "skillfold setup codex --undo",
    ]))]
    Setup(Setup),
    /// Add skills from a repository, an archive or a folder
    #[command(after_help = examples(&[
        "skillfold add anthropics/skills --skill pdf",
        "skillfold add anthropics/skills@v1.2.0 --all --user",
        "skillfold add https://git.example.com/team/skills.git@^2 --client claude-code",
        "skillfold add ./drafts/pdf",
    ]))]
    Add(Add),
    /// Remove skills that were added
    #[command(after_help = examples(&["skillfold remove pdf"]))]
    Remove(Remove),
    /// Install the skills that skills.lock and skills.toml name
    #[command(after_help = examples(&[
        "skillfold install",
        "skillfold install --frozen      # in CI: exactly the lock",
        "skillfold install --frozen --offline",
    ]))]
    Install(Install),
    /// Check that installed skills are what skills.lock says
    #[command(after_help = examples(&["skillfold verify"]))]
    Verify(Verify),
    /// List skills whose source has a newer version
    #[command(after_help = examples(&["skillfold outdated --json"]))]
    Outdated(OutdatedOptions),
    /// Propose the newest versions of skills; you approve them
    #[command(after_help = examples(&[
        "skillfold update",
        "skillfold update pdf --dry-run",
        "skillfold update --in-ci --format pull-request",
    ]))]
    Update(Update),
    /// Copy the locked skills into the project, to install offline
    #[command(after_help = examples(&["skillfold vendor"]))]
    Vendor(Vendor),
    /// Show where an installed skill is from
    #[command(after_help = examples(&["skillfold why-installed pdf"]))]
    WhyInstalled(WhyInstalled),
    /// Let models have a project's skills, or a new skill
    #[command(after_help = examples(&[
        "skillfold trust                 # this project",
        "skillfold trust ~/projects/app --pin",
        "skillfold trust pdf             # a skill that is held",
        "skillfold trust --held          # all that are held",
        "skillfold trust --remove pdf",
    ]))]
    Trust(Trust),
    /// Let a skill run its scripts and tools, after showing them
    #[command(after_help = examples(&[
        "skillfold allow pdf             # shows what it would run, and asks",
        "skillfold allow --list",
        "skillfold allow pdf --remove",
        "skillfold allow --ask-in-clients on",
    ]))]
    Allow(Allow),
    /// Run a skill's script in a sandbox, or list its scripts
    #[command(after_help = examples(&[
        "skillfold run pdf               # its scripts",
        "skillfold run pdf scripts/fill.py -- form.json",
        "skillfold run pdf scripts/stat.py --stdin < report.csv",
        "skillfold run pdf --prepare     # installs the packages they need",
        "skillfold run --sandbox",
    ]))]
    Run(RunScript),
    /// List a skill's tools, or call one
    #[command(after_help = examples(&[
        "skillfold tools pdf",
        "skillfold tools pdf fields '{}'",
    ]))]
    Tools(Tools),
    /// Propose a change to a skill, or a new skill
    #[command(after_help = examples(&[
        "skillfold propose pdf ~/drafts/pdf --reason \"pdftk is gone, qpdf does it\"",
        "skillfold propose pdf new-SKILL.md --reason \"shorter\"",
    ]))]
    Propose(Propose),
    /// List pending proposals, or show one
    #[command(after_help = examples(&[
        "skillfold proposals",
        "skillfold proposals pdf-20261117T072000Z",
    ]))]
    Proposals(Proposals),
    /// Review pending proposals in the terminal
    #[command(after_help = examples(&["skillfold review"]))]
    Review,
    /// Approve a proposal, after showing it
    #[command(after_help = examples(&["skillfold approve pdf-20261117T072000Z"]))]
    Approve(Approve),
    /// Reject a proposal
    #[command(after_help = examples(&["skillfold reject pdf-20261117T072000Z --reason \"we use another tool\""]))]
    Reject(Reject),
    /// List a skill's versions
    #[command(after_help = examples(&["skillfold history pdf"]))]
    History(HistoryOptions),
    /// Compare two versions of a skill
    #[command(after_help = examples(&[
        "skillfold diff pdf              # what the last change did",
        "skillfold diff pdf 3f2a9c 81d0e7",
    ]))]
    Diff(Diff),
    /// Restore an earlier version, after showing the change
    #[command(after_help = examples(&[
        "skillfold rollback pdf previous",
        "skillfold rollback pdf 3f2a9c --reason \"the new one is worse\"",
    ]))]
    Rollback(Rollback),
    /// Show the audit log, or verify it
    #[command(after_help = examples(&[
        "skillfold audit",
        "skillfold audit verify",
    ]))]
    Audit(AuditOptions),
    /// Set the passphrase that approvals can require
    #[command(after_help = examples(&["skillfold passphrase"]))]
    Passphrase,
    /// Find out what is wrong with skills, settings and clients
    #[command(after_help = examples(&[
        "skillfold doctor",
        "skillfold doctor --all",
        "skillfold doctor --client codex",
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
    /// Show the cache, or empty it
    #[command(after_help = examples(&[
        "skillfold cache",
        "skillfold cache clean",
    ]))]
    Cache(Cache),
    /// List, add and remove tokens of programs that use a server
    #[command(after_help = examples(&[
        "skillfold access add build-server --days 90",
        "skillfold access",
        "skillfold access remove build-server",
    ]))]
    Access(AccessOptions),
    /// Print shell completions
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
