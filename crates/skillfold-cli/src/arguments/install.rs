//! Options of the commands that install skills from sources.

use clap::{Args, ValueEnum};
use skillfold::registry::InstallScope;

use super::complete;

// Whose skills are meant. As a doc comment it would replace what the command is said to do.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Whose {
    /// Your own skills, for all projects, instead of this project's
    #[arg(long)]
    pub(crate) user: bool,
}

impl Whose {
    pub(crate) fn scope(self) -> InstallScope {
        if self.user {
            InstallScope::User
        } else {
            InstallScope::Project
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct Add {
    /// Where the skills are: `owner/repo`, a git or archive address, or a folder; a version follows `@`
    #[arg(value_name = "SOURCE[@VERSION]")]
    pub(crate) source: String,
    /// Add this skill of the source; can be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub(crate) skill: Vec<String>,
    /// Add all skills of the source
    #[arg(long)]
    pub(crate) all: bool,
    /// Put it into this client's own folder too, if the client does not look into `.agents/skills`; can be repeated
    #[arg(long, value_name = "CLIENT")]
    pub(crate) client: Vec<String>,
    #[command(flatten)]
    pub(crate) whose: Whose,
}

#[derive(Args, Debug)]
pub(crate) struct Remove {
    /// The skill
    #[arg(value_name = "NAME", add = complete::skill_ids(), required = true)]
    pub(crate) names: Vec<String>,
    /// Remove it even if it was edited here; `skillfold rollback` restores it
    #[arg(long)]
    pub(crate) discard_edits: bool,
    #[command(flatten)]
    pub(crate) whose: Whose,
}

#[derive(Args, Debug)]
pub(crate) struct Install {
    /// Take the lock as it is, and fail if `skills.toml` wants something else
    #[arg(long)]
    pub(crate) frozen: bool,
    /// Fetch nothing
    #[arg(long)]
    pub(crate) offline: bool,
    /// Install over skills that were edited here; `skillfold rollback` restores the edits
    #[arg(long)]
    pub(crate) discard_edits: bool,
    #[command(flatten)]
    pub(crate) whose: Whose,
}

#[derive(Args, Debug)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) whose: Whose,
}

#[derive(Args, Debug)]
pub(crate) struct OutdatedOptions {
    #[command(flatten)]
    pub(crate) whose: Whose,
}

#[derive(Args, Debug)]
pub(crate) struct Update {
    /// The skills; all if none is named
    #[arg(value_name = "NAME", add = complete::skill_ids())]
    pub(crate) names: Vec<String>,
    /// Show what would change, and propose nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// On a CI machine: change the skills and the lock at once, for a pull request whose review is the approval
    #[arg(long, conflicts_with_all = ["dry_run", "user"])]
    pub(crate) in_ci: bool,
    /// The output format
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value = "human",
        conflicts_with = "json"
    )]
    pub(crate) format: UpdateFormat,
    #[command(flatten)]
    pub(crate) whose: Whose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UpdateFormat {
    /// For people
    Human,
    /// The same as `--json`
    Json,
    /// SARIF 2.1.0: one result for each thing that a reviewer should see
    Sarif,
    /// Markdown, for the body of a pull request
    PullRequest,
}

#[derive(Args, Debug)]
pub(crate) struct Vendor {
    #[command(flatten)]
    pub(crate) whose: Whose,
}

#[derive(Args, Debug)]
pub(crate) struct WhyInstalled {
    /// The skill
    #[arg(value_name = "NAME", add = complete::skill_ids())]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) whose: Whose,
}
