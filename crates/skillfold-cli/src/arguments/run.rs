//! Options of the commands that run scripts and tools of skills.

use std::path::PathBuf;

use clap::Args;

use super::complete;

#[derive(Args, Debug)]
pub(crate) struct Allow {
    /// The skill
    #[arg(value_name = "ID", add = complete::skill_ids(), required_unless_present_any = ["list", "ask_in_clients"])]
    pub(crate) id: Option<String>,
    /// List the skills that may run
    #[arg(long, conflicts_with_all = ["id", "remove"])]
    pub(crate) list: bool,
    /// Stop allowing it to run
    #[arg(long)]
    pub(crate) remove: bool,
    /// Name a program that may run its scripts, with the libraries beside it; can be repeated
    #[arg(long, value_name = "PATH", requires = "id", conflicts_with = "remove")]
    pub(crate) interpreter: Vec<PathBuf>,
    /// Let it read or write the project you are in, or neither, whatever it asks for
    #[arg(long, value_name = "ACCESS", value_parser = ["read", "write", "none"], requires = "id", conflicts_with = "remove")]
    pub(crate) project: Option<String>,
    /// Give it the same access to every project
    #[arg(long, requires = "id", conflicts_with = "remove")]
    pub(crate) every_project: bool,
    /// Let a host that it asks for be in a private network; can be repeated
    #[arg(long, value_name = "HOST", requires = "id", conflicts_with = "remove")]
    pub(crate) private_network: Vec<String>,
    /// Let clients prompt you to allow a skill
    #[arg(long, value_name = "ON|OFF", value_parser = ["on", "off"], conflicts_with_all = ["id", "remove", "list"])]
    pub(crate) ask_in_clients: Option<String>,
}

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a command-line flag")]
pub(crate) struct RunScript {
    /// The skill
    #[arg(value_name = "ID", add = complete::skill_ids(), required_unless_present_any = ["show_sandboxes", "apparmor_profile"])]
    pub(crate) id: Option<String>,
    /// The script's path in the skill; its scripts are listed if none is named
    #[arg(value_name = "SCRIPT")]
    pub(crate) script: Option<String>,
    /// Let this run read a file or folder; can be repeated
    #[arg(long, value_name = "PATH", requires = "script")]
    pub(crate) read: Vec<PathBuf>,
    /// Let this run read and write a file or folder; can be repeated
    #[arg(long, value_name = "PATH", requires = "script")]
    pub(crate) write: Vec<PathBuf>,
    /// Maximum seconds of this run
    #[arg(long, value_name = "N", requires = "script")]
    pub(crate) seconds: Option<u64>,
    /// Maximum memory of this run, in MiB
    #[arg(long, value_name = "N", requires = "script")]
    pub(crate) memory_mb: Option<u64>,
    /// Maximum output of this run, in KiB
    #[arg(long, value_name = "N", requires = "script")]
    pub(crate) output_kb: Option<u64>,
    /// Maximum processes and threads of this run
    #[arg(long, value_name = "N", requires = "script")]
    pub(crate) processes: Option<u64>,
    /// Pass stdin to the script
    #[arg(long)]
    pub(crate) stdin: bool,
    /// Show how the script is used: what it prints for `--help`, or the comment at its head
    #[arg(long, requires = "script", conflicts_with_all = ["stdin", "arguments"])]
    pub(crate) usage: bool,
    /// Install the packages that the skill's scripts need, in the sandbox
    #[arg(long, requires = "id", conflicts_with_all = ["script", "stdin", "arguments"])]
    pub(crate) prepare: bool,
    /// Show which sandboxes this system has, and their layers
    #[arg(long = "sandbox", conflicts_with = "id")]
    pub(crate) show_sandboxes: bool,
    /// Print a profile with which AppArmor lets this program create its sandbox
    #[arg(long, conflicts_with_all = ["id", "show_sandboxes"])]
    pub(crate) apparmor_profile: bool,
    /// The script's arguments, after `--`
    #[arg(value_name = "ARGUMENT", last = true)]
    pub(crate) arguments: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Tools {
    /// The skill
    #[arg(value_name = "ID", add = complete::skill_ids())]
    pub(crate) id: String,
    /// The tool to call; the skill's tools are listed if none is named
    #[arg(value_name = "TOOL")]
    pub(crate) tool: Option<String>,
    /// The tool's arguments, as a JSON object
    #[arg(value_name = "JSON", default_value = "{}")]
    pub(crate) arguments: String,
}
