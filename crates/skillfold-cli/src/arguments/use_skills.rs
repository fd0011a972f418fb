//! Options of the commands that find, show, load and serve skills.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::{NonZeroU16, NonZeroU64, NonZeroUsize};
use std::ops::Range;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use skillfold::client::Client;
use skillfold::core::{Envelope, Scope};
use skillfold_hook::HookClient;

use super::{complete, number};
use crate::client_state::client_name;

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
    #[arg(long, value_name = "NUMBER", value_parser = number::positive::<NonZeroUsize>)]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Start after this id
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<String>,
    /// Say where this client's model finds them; by default the first one set up
    #[arg(long, value_name = "CLIENT", value_parser = client_name())]
    pub(crate) client: Option<&'static Client>,
}

fn parse_scope(text: &str) -> Result<Scope, String> {
    text.parse()
        .map_err(|error: skillfold::core::catalog::InvalidScope| error.to_string())
}

#[derive(Args, Debug)]
pub(crate) struct Search {
    /// What you need, in any words; with `--in`, all skills if you leave it out
    #[arg(required_unless_present = "source")]
    pub(crate) request: Vec<String>,
    /// Search a repository, an archive or a folder instead, before you add a skill of it
    #[arg(long = "in", id = "source", value_name = "SOURCE[@VERSION]", conflicts_with_all = ["all", "numbers"])]
    pub(crate) source: Option<String>,
    /// Show at most this many
    #[arg(long, value_name = "NUMBER", default_value = "10", value_parser = number::positive::<NonZeroUsize>)]
    pub(crate) limit: NonZeroUsize,
    /// Include skills that a model may not see: shadowed, incompatible, disabled, held, untrusted, user only
    #[arg(long)]
    pub(crate) all: bool,
    /// Say how likely a skill is as a number too
    #[arg(long)]
    pub(crate) numbers: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Show {
    /// The id, name or folder name of a skill; without it, you choose one on the terminal
    #[arg(add = complete::skill_ids())]
    pub(crate) id: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Load {
    /// The id, name or folder name of a skill; without it, you choose one on the terminal
    #[arg(add = complete::skill_ids())]
    pub(crate) id: Option<String>,
    /// Arguments for the skill: one text, or words joined with spaces; put words that start with a hyphen
    /// after `--`
    pub(crate) arguments: Vec<String>,
    /// How to wrap the instructions for a model
    #[arg(long, value_name = "FORM", default_value = "plain")]
    pub(crate) envelope: EnvelopeName,
    /// Print the skills that it requires too, each before those that require it
    #[arg(long)]
    pub(crate) required: bool,
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
    /// The id, name or folder name of a skill; without it, you choose one on the terminal
    #[arg(add = complete::skill_ids())]
    pub(crate) id: Option<String>,
    /// Show at most this many
    #[arg(long, value_name = "NUMBER", value_parser = number::positive::<NonZeroUsize>)]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Start after this file
    #[arg(long, value_name = "PATH")]
    pub(crate) after: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Read {
    /// The id, name or folder name of a skill
    #[arg(add = complete::skill_ids())]
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
    #[arg(required_unless_present = "client")]
    pub(crate) request: Option<String>,
    /// Go on with the conversation in this file, and save it there; it is started if the file does not exist
    #[arg(long, value_name = "FILE", conflicts_with = "client")]
    pub(crate) session: Option<PathBuf>,
    /// Show what the model of this client gets: from the server before any request, or from the hook for the request
    #[arg(long, value_name = "CLIENT", value_parser = client_name())]
    pub(crate) client: Option<&'static Client>,
}

#[derive(Args, Debug)]
pub(crate) struct Compose {
    /// The agent: as the settings name it, or the path of its `manifest.yaml` in a trusted project
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
    /// The latest message of the user; with `--skill` alone, you type it on the terminal
    #[arg(required_unless_present_any = ["last", "skill"])]
    pub(crate) request: Option<String>,
    /// Explain why this skill would not be chosen: its id, name or folder name; without it, you choose one on the
    /// terminal
    #[arg(long, value_name = "ID", add = complete::skill_ids(), num_args = 0..=1, default_missing_value = "")]
    pub(crate) skill: Vec<String>,
    /// Show what the hook did for the last prompts, from its log
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = number::positive::<NonZeroU16>,
        num_args = 0..=1,
        default_missing_value = "1",
        conflicts_with_all = ["request", "skill"]
    )]
    pub(crate) last: Option<NonZeroU16>,
    /// For the model of this client; by default the first one that is set up
    #[arg(long, value_name = "CLIENT", value_parser = client_name(), conflicts_with = "last")]
    pub(crate) client: Option<&'static Client>,
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
    #[arg(long, value_name = "NUMBER", default_value = "4096", requires = "http", value_parser = number::positive::<NonZeroUsize>)]
    pub(crate) max_connections: NonZeroUsize,
    /// Maximum sessions
    #[arg(long, value_name = "NUMBER", default_value = "4096", requires = "http", value_parser = number::positive::<NonZeroUsize>)]
    pub(crate) max_sessions: NonZeroUsize,
    /// Seconds until an idle session ends
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "1800",
        requires = "http",
        value_parser = number::positive::<NonZeroU64>
    )]
    pub(crate) session_idle: NonZeroU64,
    /// Rename a tool: `load_skill=use_skill`
    #[arg(long, value_name = "TOOL=NAME")]
    pub(crate) tool: Vec<String>,
    /// Serve an agent: as the settings name it, or the path of its `manifest.yaml` in a trusted project; only skills that
    /// it sees exist
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Also return each answer as JSON, for programs; many clients show a model this JSON instead of the text
    #[arg(long)]
    pub(crate) structured: bool,
    /// How much to log to stderr [default: `LOG_LEVEL`, or warn]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log: Option<LogLevel>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let text = text.replacen("localhost:", "127.0.0.1:", 1);
    text.parse()
        .map_err(|_| "not written as PORT or ADDRESS:PORT".to_owned())
}
