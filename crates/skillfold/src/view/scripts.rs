//! The JSON views of what a skill can run, and of what a run did.

use skillfold_run::toolset::{ToolOutput, qualified_name};
use skillfold_run::{Connection, End, Outcome, Refusal};

use crate::json::Json;
use crate::scripts::{AllowedSkill, AllowedSkills, RunnableSkill, SkillTool};

/// What a skill can run, and whether the user has allowed it.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ScriptList {
    /// The skill's id.
    pub skill_id: String,
    /// The digest of what was looked at.
    pub digest: String,
    /// Whether the user has allowed exactly this.
    pub allowed: bool,
    /// What the skill asks for, one line each.
    pub asks: Vec<String>,
    /// Its scripts.
    pub scripts: Vec<ScriptView>,
    /// Files that it names or has under `scripts`, and that cannot be run.
    pub unusable: Vec<UnusableScriptView>,
    /// The packages that its files name.
    pub packages: Vec<ScriptPackagesView>,
    /// Why the packages that it names are not understood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packages_error: Option<String>,
    /// Its toolsets, as it names them.
    pub toolsets: Vec<String>,
    /// The tools of its toolsets; known once it is allowed.
    pub tools: Vec<SkillToolView>,
}

/// A script of a skill.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ScriptView {
    /// Its path in the skill.
    pub path: String,
    /// The programs that can run it, the preferred one first.
    pub programs: Vec<String>,
}

/// A file that cannot be run.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UnusableScriptView {
    /// The path as the skill has it.
    pub path: String,
    /// Why it cannot be run.
    pub reason: String,
}

/// The packages that a file of a skill names.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ScriptPackagesView {
    /// The Python script or the `package.json`.
    pub file: String,
    /// The packages as the file names them.
    pub names: Vec<String>,
    /// What is installed, each with its version; empty if nothing is.
    pub installed: Vec<String>,
}

/// A tool of a skill.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SkillToolView {
    /// Its name in the toolset.
    pub name: String,
    /// The name that models call it by, once its skill is loaded.
    pub model_name: String,
    /// The toolset, as the skill names it.
    pub toolset: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments.
    #[cfg_attr(
        any(test, feature = "schema"),
        schemars(with = "skillfold_core::view::Any")
    )]
    pub input_schema: Json,
}

impl ScriptList {
    /// Creates the view of what a skill can run.
    pub fn new(skill: &RunnableSkill) -> Self {
        let listed = skill.scripts();
        let allowed = skill.allowed();
        let tools = allowed.map_or(&[][..], |allowed| &allowed.tools);
        Self {
            skill_id: skill.id().to_owned(),
            digest: skill.digest().to_string(),
            allowed: allowed.is_some(),
            asks: skill.asked_lines(),
            scripts: (listed.scripts.iter())
                .map(|script| ScriptView {
                    path: script.path.to_string(),
                    programs: (script.interpreters.iter())
                        .map(|interpreter| interpreter.program.clone())
                        .collect(),
                })
                .collect(),
            unusable: (listed.unusable.iter())
                .map(|unusable| UnusableScriptView {
                    path: unusable.path.clone(),
                    reason: unusable.reason.to_owned(),
                })
                .collect(),
            packages_error: skill.dependencies().err().map(|error| error.to_string()),
            packages: (skill.dependencies().unwrap_or_default().into_iter())
                .map(|wanted| ScriptPackagesView {
                    installed: (skill.packages().iter())
                        .filter(|packages| packages.file == wanted.file.as_str())
                        .flat_map(|packages| packages.installed.iter().cloned())
                        .collect(),
                    file: wanted.file.to_string(),
                    names: wanted.requirements,
                })
                .collect(),
            toolsets: skill.toolsets().to_vec(),
            tools: tools
                .iter()
                .map(|tool| SkillToolView::new(skill.id(), tool))
                .collect(),
        }
    }
}

impl SkillToolView {
    /// Creates the view of a tool.
    pub fn new(skill_id: &str, tool: &SkillTool) -> Self {
        Self {
            name: tool.name.clone(),
            model_name: qualified_name(skill_id, &tool.name).unwrap_or_default(),
            toolset: tool.toolset.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
        }
    }
}

/// The skills that may run.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AllowedList {
    /// The skills.
    pub skills: Vec<AllowedRow>,
    /// Whether clients may ask if others may run.
    pub clients_may_ask: bool,
}

/// A skill that may run.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AllowedRow {
    /// Its folder.
    pub folder: String,
    /// The digest of what may run.
    pub digest: String,
    /// What was granted, one line each.
    pub granted: Vec<String>,
    /// The names of its tools.
    pub tools: Vec<String>,
}

impl AllowedList {
    /// Creates the view of the skills that may run.
    pub fn new(allowed: &AllowedSkills, clients_may_ask: bool) -> Self {
        let row = |skill: &AllowedSkill| AllowedRow {
            folder: skill.folder.to_string_lossy().into_owned(),
            digest: skill.digest.to_string(),
            granted: skill.lines(None),
            tools: skill.tools.iter().map(|tool| tool.name.clone()).collect(),
        };
        Self {
            skills: allowed.skills.iter().map(row).collect(),
            clients_may_ask,
        }
    }
}

/// What a script or a tool of a skill did.
#[derive(Clone, Debug, Default, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RunView {
    /// The skill's id.
    pub skill_id: String,
    /// The script or the tool.
    pub name: String,
    /// How it ended: `exited`, `signalled`, `timeout`, `output_too_large`, `cpu_time_exceeded`, `file_too_large`,
    /// `cancelled`; `failed` for a tool that says so.
    pub result: String,
    /// The exit code of a script that ended with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The number of the signal that ended a script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// What it wrote to standard output, or what a tool answered; bytes that are not UTF-8 are replaced.
    pub output: String,
    /// What it wrote to standard error.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub errors: String,
    /// What the sandbox had to do with a failure, and what was put right after the run, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Seconds from start to end, of a script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The connections that a script made or was refused, if it may reach some hosts; the first 1,000.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<ConnectionView>,
    /// How many more there were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_connections: Option<u64>,
    /// The title that a tool gave.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// What else a tool gave.
    #[cfg_attr(
        any(test, feature = "schema"),
        schemars(with = "skillfold_core::view::Any")
    )]
    #[serde(skip_serializing_if = "Json::is_null")]
    pub metadata: Json,
}

/// A connection that a script made or was refused.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ConnectionView {
    /// The host as the script named it; empty if its request was not understood.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The address that it was connected to, or because of which it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// `connected`, or why not: `not_allowed`, `private_address`, `this_machine`, `unusable_address`, `not_resolved`,
    /// `unreachable`, `invalid_request`.
    pub result: String,
    /// Bytes from the script to the host.
    pub sent: u64,
    /// Bytes from the host to the script.
    pub received: u64,
}

impl ConnectionView {
    fn new(connection: &Connection) -> Self {
        let result = connection.refusal.map_or("connected", Refusal::code);
        Self {
            host: connection.host.clone(),
            port: connection.port,
            address: connection.address.map(|address| address.to_string()),
            result: result.to_owned(),
            sent: connection.sent,
            received: connection.received,
        }
    }
}

impl RunView {
    /// Creates the view of what a script did.
    pub fn script(skill_id: &str, script: &str, outcome: &Outcome) -> Self {
        Self {
            skill_id: skill_id.to_owned(),
            name: script.to_owned(),
            result: outcome.end.code().to_owned(),
            exit_code: match outcome.end {
                End::Exited(code) => Some(code),
                _ => None,
            },
            signal: match outcome.end {
                End::Signalled(signal) => Some(signal),
                _ => None,
            },
            output: outcome.stdout_text().into_owned(),
            errors: outcome.stderr_text().into_owned(),
            seconds: Some(outcome.duration.as_secs_f64()),
            connections: outcome
                .connections
                .iter()
                .map(ConnectionView::new)
                .collect(),
            more_connections: Some(outcome.more_connections).filter(|more| *more > 0),
            ..Self::default()
        }
    }

    /// Sets the [notes](field@Self::notes).
    #[must_use]
    pub fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes = notes;
        self
    }

    /// Creates the view of what a tool answered.
    pub fn tool(skill_id: &str, tool: &str, output: &ToolOutput) -> Self {
        Self {
            skill_id: skill_id.to_owned(),
            name: tool.to_owned(),
            result: if output.is_error { "failed" } else { "exited" }.to_owned(),
            output: output.output.clone(),
            title: output.title.clone(),
            metadata: Json(output.metadata.clone()),
            notes: output.corrections.notes(),
            ..Self::default()
        }
    }
}
