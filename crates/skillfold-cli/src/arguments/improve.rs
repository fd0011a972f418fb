//! Options of the commands with which changes of skills are proposed and decided.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::complete;

#[derive(Args, Debug)]
pub(crate) struct Propose {
    /// The skill to change, or the name of a new one
    #[arg(value_name = "ID", add = complete::skill_ids())]
    pub(crate) id: String,
    /// The new content: a folder with all the skill's files, or a new `SKILL.md`
    #[arg(value_name = "FROM")]
    pub(crate) from: PathBuf,
    /// Why, for whoever reviews it
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    /// What shows that the change is needed
    #[arg(long, value_name = "TEXT")]
    pub(crate) evidence: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Proposals {
    /// The proposal to show, by name or the start of its digest; all are listed if none is named
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Approve {
    /// The proposal, by name or the start of its digest
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Args, Debug)]
pub(crate) struct Reject {
    /// The proposal, by name or the start of its digest
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Why, for the log
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) reason: String,
}

#[derive(Args, Debug)]
pub(crate) struct HistoryOptions {
    /// The skill
    #[arg(value_name = "ID", add = complete::skill_ids())]
    pub(crate) id: String,
}

#[derive(Args, Debug)]
pub(crate) struct Diff {
    /// The skill
    #[arg(value_name = "ID", add = complete::skill_ids())]
    pub(crate) id: String,
    /// The version to compare with, by the start of its digest; `previous`, the one before the last, if none is named
    #[arg(value_name = "VERSION")]
    pub(crate) from: Option<String>,
    /// The later version; the skill as it is now if none is named
    #[arg(value_name = "OTHER")]
    pub(crate) to: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Rollback {
    /// The skill
    #[arg(value_name = "ID", add = complete::skill_ids())]
    pub(crate) id: String,
    /// The version, by the start of its digest; `previous`, the one before the last, if none is named
    #[arg(value_name = "VERSION")]
    pub(crate) version: Option<String>,
    /// Why, for the log
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) reason: String,
}

#[derive(Args, Debug)]
pub(crate) struct AuditOptions {
    #[command(subcommand)]
    pub(crate) action: Option<AuditAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditAction {
    /// Check that no record was changed or removed, and print the last hash
    Verify {
        /// A hash that was printed before: fail if the log does not have it
        #[arg(long, value_name = "HASH")]
        head: Option<String>,
        /// Ask for the passphrase, and check that it was given for each approval
        #[arg(long)]
        passphrase: bool,
    },
}
