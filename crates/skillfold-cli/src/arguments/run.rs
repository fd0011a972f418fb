//! Options of the commands that run scripts and tools of skills.

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
    /// Do not let it run any more
    #[arg(long)]
    pub(crate) remove: bool,
    /// Whether clients may ask you, by a form of theirs, if a skill may run
    #[arg(long, value_name = "ON|OFF", value_parser = ["on", "off"], conflicts_with_all = ["id", "remove", "list"])]
    pub(crate) ask_in_clients: Option<String>,
}

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a command-line flag")]
pub(crate) struct RunScript {
    /// The skill
    #[arg(value_name = "ID", add = complete::skill_ids(), required_unless_present = "box_layers")]
    pub(crate) id: Option<String>,
    /// The script's path in the skill; its scripts are listed if none is named
    #[arg(value_name = "SCRIPT")]
    pub(crate) script: Option<String>,
    /// Give the script what comes on standard input
    #[arg(long)]
    pub(crate) stdin: bool,
    /// Show how the script is used: what it prints for `--help`, or the comment at its head
    #[arg(long, requires = "script", conflicts_with_all = ["stdin", "arguments"])]
    pub(crate) usage: bool,
    /// Install the packages that the skill's scripts name, in the box
    #[arg(long, requires = "id", conflicts_with_all = ["script", "stdin", "arguments"])]
    pub(crate) prepare: bool,
    /// Show the layers of the box that this system has
    #[arg(long = "box", conflicts_with = "id")]
    pub(crate) box_layers: bool,
    /// Arguments of the script, after `--`
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
    /// The arguments of the tool, as a JSON object
    #[arg(value_name = "JSON", default_value = "{}")]
    pub(crate) arguments: String,
}
