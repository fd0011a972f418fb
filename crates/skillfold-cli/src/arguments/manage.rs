//! Options of the commands that check, create and configure.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use skillfold::client::Client;
use skillfold::core::Code;
use skillfold::core::author::DESCRIPTION_PLACEHOLDER;
use skillfold_setup::SetupClient;

use super::{complete, number};
use crate::client_state::client_name;

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a command-line flag")]
pub(crate) struct Check {
    /// Skills to check, by id or path; all skills if none is named
    #[arg(value_name = "SKILL", add = complete::skill_ids())]
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
    /// Show every finding with its line; many findings of several skills are otherwise summed up
    #[arg(long)]
    pub(crate) all: bool,
    /// Only findings of this kind, such as SF405
    #[arg(long, value_name = "CODE", value_parser = parse_code, add = complete::codes(), conflicts_with = "fix")]
    pub(crate) only: Vec<Code>,
    /// Check again after each change, until Ctrl-C
    #[arg(long, conflicts_with = "json")]
    pub(crate) watch: bool,
    /// Output format
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "human",
        conflicts_with = "json"
    )]
    pub(crate) format: Format,
}

fn parse_code(text: &str) -> Result<Code, String> {
    let mut codes = Code::ALL.iter();
    let code = codes.find(|code| code.number().eq_ignore_ascii_case(text));
    code.copied()
        .ok_or_else(|| "unknown code; codes look like SF405".to_owned())
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
    #[arg(value_name = "ID", add = complete::skill_ids())]
    pub(crate) ids: Vec<String>,
    /// Pass a skill if this percentage of its queries is right
    #[arg(long, value_name = "PERCENT", default_value = "100", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) at_least: u8,
}

#[derive(Args, Debug)]
pub(crate) struct Improve {
    /// The skill's id, name or folder name
    #[arg(value_name = "ID", add = complete::skill_ids())]
    pub(crate) id: Option<String>,
    /// A request that should have selected the skill; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub(crate) request: Vec<String>,
    /// Write without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Overlap {
    /// Only what concerns these skills, by id, name or folder name; all skills if none is named
    #[arg(value_name = "ID", add = complete::skill_ids())]
    pub(crate) ids: Vec<String>,
    /// Show at most this many pairs, and groups of copies
    #[arg(long, value_name = "NUMBER", default_value = "20", value_parser = number::positive::<NonZeroUsize>)]
    pub(crate) limit: NonZeroUsize,
}

#[derive(Args, Debug)]
pub(crate) struct ReportPage {
    /// The file, in HTML; `-` is stdout
    #[arg(default_value = "skillfold-report.html")]
    pub(crate) file: PathBuf,
    /// The log to count uses in, written by `--trace` or a host's `TraceLines`; without it, the log of the hook
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Show what the model of this client gets; by default that of each client that is set up
    #[arg(long, value_name = "CLIENT", value_parser = client_name())]
    pub(crate) client: Option<&'static Client>,
    /// A request whose cost is shown, in place of the typical ones; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub(crate) request: Vec<String>,
    /// Replace the file even if this command did not write it
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Stats {
    /// The log, written by `--trace` or a host's `TraceLines`; `-` is stdin; without it, the log of the hook
    pub(crate) file: Option<PathBuf>,
    /// Print a row for every N outcomes instead of every day
    #[arg(long, value_name = "NUMBER", value_parser = number::positive::<NonZeroU64>)]
    pub(crate) every: Option<NonZeroU64>,
    /// Write a chart of the requests over time into this file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Make the hook forget how often you used a skill, or all skills; the log stays
    #[arg(long, value_name = "SKILL", num_args = 0..=1, conflicts_with_all = ["file", "every", "svg"])]
    #[expect(clippy::option_option, reason = "an empty id is not all skills")]
    pub(crate) forget: Option<Option<String>>,
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
    /// Words of requests that select it; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub(crate) trigger: Vec<String>,
    /// Add a toolset with one tool; Python if no language is named
    #[arg(long, value_name = "LANGUAGE", num_args = 0..=1, default_missing_value = "python")]
    pub(crate) toolset: Option<LanguageName>,
    /// Create it in your own folder, for all projects
    #[arg(long, conflicts_with = "into")]
    pub(crate) user: bool,
    /// Create it in this folder of skills
    #[arg(long = "in", value_name = "FOLDER", id = "into")]
    pub(crate) into: Option<PathBuf>,
    /// Trust the project too, without asking
    #[arg(long, conflicts_with_all = ["user", "into"])]
    pub(crate) trust: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LanguageName {
    Python,
    Javascript,
}

#[derive(Args, Debug)]
pub(crate) struct Init {
    /// Trust the project too, without asking
    #[arg(long)]
    pub(crate) trust: bool,
}

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a command-line flag")]
pub(crate) struct Setup {
    /// The client; without it, all clients that you have
    #[arg(value_parser = client_names())]
    pub(crate) client: Option<SetupClient>,
    /// Change the project's configuration, shared by everyone who works on it, instead of yours
    #[arg(long)]
    pub(crate) project: bool,
    /// Leave out the hook, which brings skills to each prompt
    #[arg(long)]
    pub(crate) no_hook: bool,
    /// Whose list of skills the model gets; by default the cheaper
    #[arg(long, value_enum, conflicts_with_all = ["project", "undo"])]
    pub(crate) list: Option<SetupListChoice>,
    /// Remove everything again
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

/// Whose list of skills a client's model gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SetupListChoice {
    /// Ours alone; the client's own is turned off
    Ours,
    /// Ours, and the client's own
    Both,
}

fn client_names() -> impl TypedValueParser<Value = SetupClient> {
    PossibleValuesParser::new(SetupClient::ALL.map(SetupClient::name))
        .try_map(|name| name.parse::<SetupClient>())
}

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a command-line flag")]
pub(crate) struct Trust {
    /// A project, a folder of projects, or skills that are held; the current project if none is named
    #[arg(value_name = "FOLDER|SKILL", add = complete::skill_ids())]
    pub(crate) names: Vec<String>,
    /// Trust all skills that are held
    #[arg(long, conflicts_with_all = ["names", "remove", "pin"])]
    pub(crate) held: bool,
    /// List what you trust: folders, or skills with `--held`
    #[arg(long, conflicts_with_all = ["names", "remove", "pin", "yes"])]
    pub(crate) list: bool,
    /// Stop trusting the folder or the skills
    #[arg(long)]
    pub(crate) remove: bool,
    /// Trust the skills as they are now: if any skill changes or a new one appears, trust ends
    #[arg(long, conflicts_with = "remove")]
    pub(crate) pin: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Doctor {
    /// Show every skill, root and finding, also if nothing is wrong
    #[arg(long)]
    pub(crate) all: bool,
    /// Of the clients, show this one only
    #[arg(long, value_name = "CLIENT", value_parser = client_name())]
    pub(crate) client: Option<&'static Client>,
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
    /// Print the value of a setting
    Get {
        /// The setting
        #[arg(add = complete::settings())]
        key: String,
    },
    /// Change a setting in your settings file, or in the project's
    Set {
        /// The setting
        #[arg(add = complete::settings())]
        key: String,
        /// Its value, written as in an environment variable; a list replaces the old one
        value: String,
        /// Write it to the project's file
        #[arg(long)]
        project: bool,
    },
    /// Remove a setting from your settings file, or from the project's
    Unset {
        /// The setting
        #[arg(add = complete::settings())]
        key: String,
        /// Remove it from the project's file
        #[arg(long)]
        project: bool,
    },
    /// Print the path of your settings file, or of the project's
    Path {
        /// The project's file
        #[arg(long)]
        project: bool,
    },
    /// Open your settings file, or the project's, in the editor of `VISUAL` or `EDITOR`
    Edit {
        /// The project's file
        #[arg(long)]
        project: bool,
    },
}

#[derive(Args, Debug)]
pub(crate) struct AccessOptions {
    /// The file of tokens [default: the setting `server_tokens`]
    #[arg(long, value_name = "PATH", global = true)]
    pub(crate) file: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) action: Option<AccessAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AccessAction {
    /// Make a token, and print it
    Add(AddAccess),
    /// Remove a token; servers refuse it within a second
    Remove {
        /// The name of the token
        name: String,
    },
}

#[derive(Args, Debug)]
pub(crate) struct AddAccess {
    /// The name of the program that gets the token
    pub(crate) name: String,
    /// Put it into a group, for the entries of `[identities]`
    #[arg(long, value_name = "NAME")]
    pub(crate) group: Vec<String>,
    /// Let it do more than read: `skills:propose` or `skills:run`
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Vec<String>,
    /// Days until it expires
    #[arg(long, value_name = "NUMBER", value_parser = number::positive::<NonZeroU32>)]
    pub(crate) days: Option<NonZeroU32>,
}

#[derive(Args, Debug)]
pub(crate) struct Cache {
    #[command(subcommand)]
    pub(crate) action: Option<CacheAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CacheAction {
    /// Print the path of the cache folder
    Dir,
    /// Delete what is in the cache folder; it is built again when it is needed
    Clean,
}
