//! The tools with which a model runs scripts and calls tools of skills that the user has allowed. No tool allows one.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use skillfold_core::Error;
use skillfold_core::diagnostic::visible;
use skillfold_core::disclose::Memory as _;
use skillfold_core::name::ResourcePath;
use skillfold_run::toolset::{ToolOutput, qualified_name};
use skillfold_run::{End, Outcome};

use crate::answer::{Payload, RunResult, Tool, ToolAnswer};
use crate::conversation::session::Session;
use crate::json::Json;
use crate::scripts::{RunnableSkill, ScriptError, SkillTool};
use crate::tools::definition::{ToolDefinition, definition};

/// Arguments of the tool that runs a script.
#[derive(Deserialize)]
pub(super) struct RunArguments {
    skill_id: String,
    script: String,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    input: Option<String>,
}

/// Arguments of the tool that calls a tool of a skill.
#[derive(Deserialize)]
pub(super) struct CallArguments {
    skill_id: String,
    tool: String,
    #[serde(default)]
    arguments: Json,
}

/// Returns the definitions of the tools.
pub(super) fn definitions() -> [ToolDefinition; 2] {
    let text = json!({ "type": "string" });
    let described = |what: &str| json!({ "type": "string", "description": what });
    [
        definition(
            Tool::RunScript,
            Tool::RUN_SCRIPT,
            "Run a skill's script",
            "Runs a script that a skill's instructions mention, in a sandbox: with the skill's files, an empty folder \
             `/tmp` and what the user granted. Returns what it writes."
                .to_owned(),
            json!({
                "skill_id": text,
                "script": described("The script's path in the skill, such as scripts/fill.py"),
                "arguments": { "type": "array", "items": text, "description": "Its arguments, one by one" },
                "input": described("What it reads from stdin"),
            }),
            &["skill_id", "script"],
        ),
        definition(
            Tool::CallTool,
            Tool::CALL_TOOL,
            "Call a skill's tool",
            "Calls a tool of a loaded skill. The skill's text lists its tools and their arguments."
                .to_owned(),
            json!({
                "skill_id": text,
                "tool": described("The tool's name, as in the skill's text"),
                "arguments": { "type": "object", "description": "Its arguments" },
            }),
            &["skill_id", "tool"],
        ),
    ]
}

impl Session {
    /// Returns whether the model may run scripts and tools of skills.
    pub(super) fn may_run(&self) -> bool {
        self.skills.report().settings.scripts.value
    }

    /// Returns a skill that the conversation may see, to run it.
    ///
    /// # Errors
    ///
    /// Those of [`Skills::runnable`](crate::Skills::runnable), and if the conversation may not see it.
    pub fn runnable(&self, id: &str) -> Result<RunnableSkill, Error> {
        self.skills.with_loader(|catalog, _| {
            let entry = self.state.resolve(catalog, id)?;
            let project = self.project.as_deref();
            self.skills.runnable_entry(&entry, project)
        })
    }

    pub(super) fn run_script(&self, asked: RunArguments) -> ToolAnswer {
        let run = || -> Result<ToolAnswer, ScriptError> {
            let skill = self.runnable(&asked.skill_id)?;
            let script: ResourcePath = (asked.script.parse())
                .map_err(|_| Error::invalid(&asked.script, "It is not a path inside the skill"))?;
            let run = skill.run(&script)?.with_arguments(asked.arguments.clone());
            let options = skill.options().with_cancel(self.cancel.clone());
            let run = run.with_options(options);
            let run = match asked.input {
                Some(input) => run.with_input(input.into_bytes()),
                None => run,
            };
            let outcome = run.run()?;
            let mut notes = skill.explain(&asked.arguments, &outcome);
            match skill.missing_packages(&script) {
                _ if outcome.is_success() => {}
                Ok(missing) if missing.is_empty() => {}
                Ok(missing) => notes.push(format!(
                    "The script's packages are not installed: {}. The user can install them with `skillfold run --prepare`",
                    visible(&missing.join(", "))
                )),
                Err(error) => notes.push(format!("The script's packages are not installed: {error}")),
            }
            Ok(ran(&outcome, &notes))
        };
        run().unwrap_or_else(|error| failed(&error))
    }

    pub(super) fn call_tool(&self, asked: &CallArguments) -> ToolAnswer {
        let call = || -> Result<ToolOutput, ScriptError> {
            let skill = self.runnable(&asked.skill_id)?;
            let none = Json(Value::Object(Map::new()));
            let arguments = match &asked.arguments {
                arguments if arguments.is_null() => &none,
                arguments => arguments,
            };
            let (skills, tool) = (&self.skills, &asked.tool);
            let mut output = skills.call_skill_tool_until(&skill, tool, arguments, &self.cancel)?;
            let mut notes = output.corrections.notes();
            if output.is_error {
                notes.extend(skill.explain_failure(&arguments.texts(), &output.output));
            }
            add_lines(&mut output.output, &notes);
            Ok(output)
        };
        match call() {
            Ok(output) => {
                let result = RunResult {
                    result: if output.is_error { "failed" } else { "exited" },
                    exit_code: None,
                    // It is in the content.
                    output: String::new(),
                    title: Some(output.title).filter(|title| !title.is_empty()),
                    metadata: Some(output.metadata),
                };
                ToolAnswer::new(output.output, Payload::Ran(result))
            }
            Err(error) => failed(&error),
        }
    }

    /// Returns the tools of the skills that the conversation has loaded and the user has allowed, by the names that models call
    /// them: `skill__tool`. A tool whose name is another one's too is left out; `call_skill_tool` reaches it.
    pub fn skill_tools(&self) -> Vec<ToolDefinition> {
        let mut definitions: Vec<ToolDefinition> = Vec::new();
        for (id, tool) in self.loaded_tools() {
            let Ok(name) = qualified_name(&id, &tool.name) else {
                continue;
            };
            if definitions.iter().any(|known| known.name == name) {
                continue;
            }
            definitions.push(ToolDefinition {
                tool: Tool::CallTool,
                name,
                title: "Skill tool",
                description: tool.description,
                input_schema: tool.input_schema,
            });
        }
        definitions
    }

    /// Returns the arguments with which [`Tool::CallTool`] calls a tool of a loaded skill by its name for models.
    pub fn skill_tool(&self, name: &str, arguments: &Json) -> Option<Json> {
        let mut tools = self.loaded_tools().into_iter();
        let (id, tool) = tools
            .find(|(id, tool)| qualified_name(id, &tool.name).is_ok_and(|known| known == name))?;
        let call = json!({ "skill_id": id, "tool": tool.name, "arguments": arguments });
        Some(Json(call))
    }

    fn loaded_tools(&self) -> Vec<(String, SkillTool)> {
        if !self.may_run() {
            return Vec::new();
        }
        self.skills.with_catalog(|catalog| {
            let loaded = catalog.entries().filter(|entry| {
                !entry.manifest().toolsets().is_empty()
                    && entry.is_for_models()
                    && self.state.may_see(entry.id())
                    && self.state.has_skill(entry.id())
            });
            let mut tools = Vec::new();
            for entry in loaded {
                let project = self.project.as_deref();
                let skill = self.skills.runnable_entry(&entry, project).ok();
                let allowed = skill.as_ref().and_then(RunnableSkill::allowed);
                let known = allowed.map_or(&[][..], |allowed| &allowed.tools);
                tools.extend(
                    known
                        .iter()
                        .map(|tool| (entry.id().to_owned(), tool.clone())),
                );
            }
            tools
        })
    }

    /// Returns what a model that loads a skill must know to run its scripts and call its tools; `None` if it may run nothing.
    pub(super) fn run_notes(&self, id: &str) -> Option<String> {
        if !self.may_run() {
            return None;
        }
        let skill = match self.runnable(id) {
            Ok(skill) => skill,
            Err(error) => {
                let why = error.with_cause();
                return Some(format!("Its scripts and tools cannot run: {why}\n"));
            }
        };
        let allowed = skill.allowed()?;
        let mut text = String::new();
        let scripts = skill.scripts().scripts;
        if !scripts.is_empty() {
            let paths: Vec<_> = scripts.iter().map(|script| script.path.as_str()).collect();
            let _ = writeln!(
                text,
                "`{}` runs these scripts of the skill: {}.",
                Tool::RUN_SCRIPT,
                paths.join(", ")
            );
        }
        for tool in &allowed.tools {
            let _ = writeln!(
                text,
                "`{}` calls its tool `{}`: {} Arguments: {}",
                Tool::CALL_TOOL,
                visible(&tool.name),
                visible(&tool.description),
                tool.input_schema
            );
        }
        (!text.is_empty()).then_some(text)
    }
}

/// Returns what a script did, and what there is to say about it.
fn ran(outcome: &Outcome, notes: &[String]) -> ToolAnswer {
    let mut text = outcome.stdout_text().into_owned();
    let errors = outcome.stderr_text();
    if !errors.is_empty() {
        end_line(&mut text);
        let _ = write!(text, "[stderr]\n{errors}");
    }
    let exit_code = match outcome.end {
        End::Exited(code) => Some(code),
        _ => None,
    };
    if !outcome.is_success() {
        let how = exit_code.map_or_else(
            || format!("The script was stopped: {}", outcome.end.code()),
            |code| format!("The script failed with exit code {code}"),
        );
        add_lines(&mut text, &[how]);
    }
    add_lines(&mut text, notes);
    let result = RunResult {
        result: outcome.end.code(),
        exit_code,
        // It is in the content.
        output: String::new(),
        title: None,
        metadata: None,
    };
    ToolAnswer::new(text, Payload::Ran(result))
}

/// Adds what we say ourselves to what a script wrote.
fn add_lines(text: &mut String, notes: &[String]) {
    for note in notes {
        end_line(text);
        let _ = write!(text, "[{note}]");
    }
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

fn failed(error: &ScriptError) -> ToolAnswer {
    ToolAnswer::failure(format!("{error}. {}.", error.hint()), error.failure())
}
