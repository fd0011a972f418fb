//! The command line.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::{NonZeroU16, NonZeroU64, NonZeroUsize};
use std::ops::Range;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use skillfold::core::author::DESCRIPTION_PLACEHOLDER;
use skillfold::core::{Envelope, Scope};
use skillfold_hook::HookClient;
use skillfold_setup::Client;

const EXIT_CODES: &str = "\
Exit codes:
  0  done, and nothing is wrong
  1  done, and something is wrong: errors in a skill, a folder without one, a skill that
     fails its `test`, or settings that `doctor` and `config` show and other commands would
     not follow
  2  the command line or a setting cannot be followed
  3  there is no such skill, file or folder
  4  refused: a rule forbids it, or the file is there already
  5  a file could not be read or written";

/// Work with agent skills
#[derive(Debug, Parser)]
#[command(
    name = "skillfold",
    version,
    after_help = EXIT_CODES,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    infer_long_args = true
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Work in this folder
    #[arg(
        short = 'C',
        long,
        global = true,
        value_name = "FOLDER",
        default_value = "."
    )]
    pub(crate) directory: PathBuf,
    /// Search this folder of skills too: PATH, SCOPE=PATH or PLUGIN=PATH
    #[arg(long, global = true, value_name = "ROOT")]
    pub(crate) root: Vec<String>,
    /// Override a setting: KEY=VALUE, as in a settings file
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Trust the skills of this project, for this run
    #[arg(long, global = true)]
    pub(crate) trust_project: bool,
    /// Print JSON; docs/schema/view-v1.json is its schema
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Append events to this file as JSON lines; `-` is stderr
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

impl Arguments {
    /// Returns whether the output is JSON.
    pub(crate) fn is_json(&self) -> bool {
        let is_format = |check: &Check| check.format == Format::Json;
        self.global.json || matches!(&self.command, Command::Check(check) if is_format(check))
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
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
    /// Show from an agent's log how well skills are chosen over time
    Stats(Stats),
    /// Create a new skill
    New(New),
    /// Add the server to a client's configuration, after showing the change
    Setup(Setup),
    /// Trust the skills of a project, after showing them
    Trust(Trust),
    /// Show the status of each root and skill, and what is wrong
    Doctor,
    /// Show the settings, or change one
    Config(Config),
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

#[derive(Args, Debug)]
pub(crate) struct Hook {
    /// The client that calls it, such as claude-code or codex; recognised by the event if left out
    #[arg(long, value_name = "CLIENT")]
    pub(crate) client: Option<HookClient>,
    /// Build the index of the skills instead, for the next prompts
    #[arg(long, hide = true)]
    pub(crate) build_index: bool,
}

#[derive(Args, Debug)]
pub(crate) struct List {
    /// Only skills whose id or tags have this text
    pub(crate) query: Option<String>,
    /// Only skills of this scope: project, user (or personal), plugin, bundled
    #[arg(long, value_name = "SCOPE", value_parser = parse_scope)]
    pub(crate) scope: Vec<Scope>,
    /// Only skills whose name this regular expression matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) name: Option<String>,
    /// Only skills whose description has all these words
    #[arg(long, value_name = "WORDS")]
    pub(crate) words: Option<String>,
    /// Only skills with this tag
    #[arg(long)]
    pub(crate) tag: Vec<String>,
    /// Show at most this many
    #[arg(long, value_name = "NUMBER")]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Start after this id
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<String>,
}

fn parse_scope(text: &str) -> Result<Scope, String> {
    text.parse()
        .map_err(|error: skillfold::core::catalog::InvalidScope| error.to_string())
}

#[derive(Args, Debug)]
pub(crate) struct Search {
    /// What you need, in any words
    #[arg(required = true)]
    pub(crate) request: Vec<String>,
    /// Show at most this many
    #[arg(long, value_name = "NUMBER", default_value = "10")]
    pub(crate) limit: NonZeroUsize,
    /// Include skills that a model may not see: shadowed, disabled, untrusted, for people only
    #[arg(long)]
    pub(crate) all: bool,
    /// Say how likely a skill is as a number too
    #[arg(long)]
    pub(crate) numbers: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Show {
    /// The id, name or folder name of a skill
    pub(crate) id: String,
}

#[derive(Args, Debug)]
pub(crate) struct Load {
    /// The id, name or folder name of a skill
    pub(crate) id: String,
    /// Arguments for the skill: one text, or words joined with spaces; put words that start with a hyphen
    /// after `--`
    pub(crate) arguments: Vec<String>,
    /// How to wrap the instructions for a model
    #[arg(long, value_name = "FORM", default_value = "plain")]
    pub(crate) envelope: EnvelopeName,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum EnvelopeName {
    /// The folder, then the instructions
    Plain,
    /// The id and size, the instructions, and the skills they require
    ReadSkill,
    /// In tags, with the files and a directive
    SkillContext,
    /// In the tags of the Agent Skills client guide
    SkillContent,
}

impl From<EnvelopeName> for Envelope {
    fn from(name: EnvelopeName) -> Self {
        match name {
            EnvelopeName::Plain => Self::Plain,
            EnvelopeName::ReadSkill => Self::ReadSkill,
            EnvelopeName::SkillContext => Self::SkillContext,
            EnvelopeName::SkillContent => Self::SkillContent,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct Files {
    /// The id, name or folder name of a skill
    pub(crate) id: String,
    /// Show at most this many
    #[arg(long, value_name = "NUMBER")]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Start after this file
    #[arg(long, value_name = "PATH")]
    pub(crate) after: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Read {
    /// The id, name or folder name of a skill
    pub(crate) id: String,
    /// The path of the file inside the skill, such as `references/forms.md`
    pub(crate) path: String,
    /// Only these bytes: START..END, either of which may be left out
    #[arg(long, value_name = "RANGE", value_parser = parse_range, default_value = "..", hide_default_value = true)]
    pub(crate) range: Range<u64>,
}

fn parse_range(text: &str) -> Result<Range<u64>, String> {
    let number = |text: &str, otherwise: u64| {
        if text.is_empty() {
            return Ok(otherwise);
        }
        text.parse()
            .map_err(|_| format!("`{text}` is not a whole number"))
    };
    let (start, end) = text.split_once("..").ok_or("not written as START..END")?;
    let range = number(start, 0)?..number(end, u64::MAX)?;
    if range.end < range.start {
        return Err("ends before it starts".to_owned());
    }
    Ok(range)
}

#[derive(Args, Debug)]
pub(crate) struct Prompt {
    /// The latest message of the user
    #[arg(required_unless_present = "client", conflicts_with = "client")]
    pub(crate) request: Option<String>,
    /// Go on with the conversation in this file, and save it there; it is started if the file does not exist
    #[arg(long, value_name = "FILE", conflicts_with = "client")]
    pub(crate) session: Option<PathBuf>,
    /// Show what the model of this client gets from `skillfold serve`, before any request
    #[arg(long, value_name = "CLIENT")]
    pub(crate) client: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Compose {
    /// The agent, as the settings name it
    pub(crate) agent: String,
    /// The agent's own prompt, from a file; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) prompt: Option<PathBuf>,
    /// Instructions to add after the skills
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) inline: String,
}

#[derive(Args, Debug)]
pub(crate) struct Why {
    /// The latest message of the user
    #[arg(required_unless_present = "last")]
    pub(crate) request: Option<String>,
    /// Explain why this skill would not be chosen: its id, name or folder name
    #[arg(long, value_name = "ID")]
    pub(crate) skill: Vec<String>,
    /// Show what the hook did for the last prompts, from its log
    #[arg(
        long,
        value_name = "NUMBER",
        num_args = 0..=1,
        default_missing_value = "1",
        conflicts_with_all = ["request", "skill"]
    )]
    pub(crate) last: Option<NonZeroU16>,
    /// Say how likely a skill is as a number too
    #[arg(long)]
    pub(crate) numbers: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// Serve over HTTP at this address: PORT on loopback, or ADDRESS:PORT; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    pub(crate) http: Option<SocketAddr>,
    /// Require no token; only on a loopback address
    #[arg(long, requires = "http")]
    pub(crate) no_token: bool,
    /// Accept requests to this host name too: HOST or HOST:PORT
    #[arg(long, value_name = "HOST", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    /// Accept requests from web pages of this origin: SCHEME://HOST:PORT
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,
    /// Maximum connections; each needs a file descriptor
    #[arg(long, value_name = "NUMBER", default_value = "4096", requires = "http")]
    pub(crate) max_connections: NonZeroUsize,
    /// Maximum sessions
    #[arg(long, value_name = "NUMBER", default_value = "4096", requires = "http")]
    pub(crate) max_sessions: NonZeroUsize,
    /// Seconds until an idle session ends
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "1800",
        requires = "http"
    )]
    pub(crate) session_idle: NonZeroU64,
    /// Rename a tool: `load_skill=use_skill`
    #[arg(long, value_name = "TOOL=NAME")]
    pub(crate) tool: Vec<String>,
    /// Serve an agent of the settings: only skills that it sees exist
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Also return each answer as JSON, for programs; many clients show a model this JSON instead of the text
    #[arg(long)]
    pub(crate) structured: bool,
    /// How much to log to stderr
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    pub(crate) log: LogLevel,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let text = text.replacen("localhost:", "127.0.0.1:", 1);
    text.parse()
        .map_err(|_| "not written as PORT or ADDRESS:PORT".to_owned())
}

#[derive(Args, Debug)]
pub(crate) struct Check {
    /// Skills to check, by id or path; all skills if none is named
    #[arg(value_name = "SKILL")]
    pub(crate) skills: Vec<String>,
    /// Fix what can be fixed without changing what the skill says; without a name, in this project only
    #[arg(long)]
    pub(crate) fix: bool,
    /// How strict to be
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<ProfileName>,
    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) strict: bool,
    /// Output format
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "human",
        conflicts_with = "json"
    )]
    pub(crate) format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ProfileName {
    /// Warn about what the specification forbids
    Lenient,
    /// Follow the specification to the letter
    Spec,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people, with source lines
    Human,
    /// The same as `--json`
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
}

#[derive(Args, Debug)]
pub(crate) struct Test {
    /// Skills to test, by id; all that ship trigger queries if none is named
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Pass a skill if this percentage of its queries is right
    #[arg(long, value_name = "PERCENT", default_value = "100", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) at_least: u8,
}

#[derive(Args, Debug)]
pub(crate) struct Stats {
    /// The log, written by `--trace` or a host's `TraceLines`; `-` is stdin; without it, the log of the hook
    pub(crate) file: Option<PathBuf>,
    /// Print a row for every N outcomes instead of every day
    #[arg(long, value_name = "NUMBER")]
    pub(crate) every: Option<NonZeroU64>,
    /// Write a chart of the requests over time into this file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct New {
    /// The name: lowercase letters, digits and single hyphens
    pub(crate) name: String,
    /// What the skill does and when to use it
    #[arg(
        long,
        value_name = "TEXT",
        default_value = DESCRIPTION_PLACEHOLDER
    )]
    pub(crate) description: String,
    /// Create it in your own folder, for all projects
    #[arg(long, conflicts_with = "into")]
    pub(crate) user: bool,
    /// Create it in this folder of skills
    #[arg(long = "in", value_name = "FOLDER", id = "into")]
    pub(crate) into: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a command-line flag")]
pub(crate) struct Setup {
    /// The client; without it, all clients that you have, server and hook
    pub(crate) client: Option<ClientName>,
    /// Change the project's configuration, shared by everyone who works on it, instead of yours
    #[arg(long)]
    pub(crate) project: bool,
    /// Also add the hook, which brings skills to each prompt
    #[arg(long)]
    pub(crate) hook: bool,
    /// Remove the server and the hook again
    #[arg(long)]
    pub(crate) undo: bool,
    /// Only show the change
    #[arg(long, short = 'n', conflicts_with_all = ["yes", "force"])]
    pub(crate) dry_run: bool,
    /// Replace or remove an entry that `setup` did not create
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ClientName {
    ClaudeCode,
    Codex,
    Cursor,
    Gemini,
    Goose,
    Opencode,
    Vscode,
}

impl From<ClientName> for Client {
    fn from(name: ClientName) -> Self {
        match name {
            ClientName::ClaudeCode => Self::ClaudeCode,
            ClientName::Codex => Self::Codex,
            ClientName::Cursor => Self::Cursor,
            ClientName::Gemini => Self::Gemini,
            ClientName::Goose => Self::Goose,
            ClientName::Opencode => Self::OpenCode,
            ClientName::Vscode => Self::VsCode,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct Trust {
    /// A project, or a folder of projects; the current project if none is named
    pub(crate) folder: Option<PathBuf>,
    /// List the trusted folders
    #[arg(long, conflicts_with_all = ["folder", "remove", "yes"])]
    pub(crate) list: bool,
    /// Stop trusting the folder
    #[arg(long)]
    pub(crate) remove: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Config {
    /// Show where each value was set
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(subcommand)]
    pub(crate) action: Option<ConfigAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Change a setting in your settings file, or in the project's
    Set {
        /// The setting
        key: String,
        /// Its value, written as in an environment variable; a list replaces the old one
        value: String,
        /// Write it to the project's file
        #[arg(long)]
        project: bool,
    },
}
