//! Loads components as toolsets.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use skillfold_core::name::ResourcePath;

use super::bindings::ToolsetPre;
use super::bindings::exports::skillfold::toolset::tools::{Output, Tool};
use super::component::{Unusable, prepare};
use super::guest::{Guest, GuestFailure, GuestStep, Why};
use super::state::{Interruption, State};
use super::ticker::Runtime;
use crate::copy::SkillCopy;
use crate::error::{RunError, RunErrorKind};
use crate::toolset::check::MAX_TOOLS;
use crate::toolset::options::{ToolsetLoader, ToolsetOptions};
use crate::toolset::reference::{ToolsetRef, extension};
use crate::toolset::tool::{ToolOutput, ToolSpec, Toolset};

/// The name a reference may give: the interface that a component exports.
const TOOLS: &str = "tools";

/// Loads `.wasm` files.
#[derive(Debug)]
pub(in crate::toolset) struct WasmLoader;

impl ToolsetLoader for WasmLoader {
    fn takes(&self, _: &SkillCopy, file: &ResourcePath, _: &ToolsetRef) -> bool {
        extension(file) == Some("wasm")
    }

    fn load(
        &self,
        copy: &Arc<SkillCopy>,
        file: &ResourcePath,
        reference: &ToolsetRef,
        options: &ToolsetOptions,
    ) -> Result<Box<dyn Toolset>, RunError> {
        let report = Report { file, options };
        if let Some(name) = reference.name().filter(|name| *name != TOOLS) {
            let why = format!("it has no export `{name}`; leave the name out, or write `{TOOLS}`");
            return Err(report.invalid(&why));
        }
        let runtime = Runtime::get().map_err(|error| {
            RunError::failed_to_start("Could not start the WebAssembly runtime", error)
        })?;
        let deadline = options.run().limits().deadline();
        let bytes = copy.file(file).unwrap_or_default();
        let component =
            prepare(runtime, bytes, options.run().cancel(), deadline).map_err(|unusable| {
                match unusable {
                    Unusable::Interrupted(why) => report.interrupted(why, GuestStep::Start, ""),
                    Unusable::Invalid(why) => report.invalid(&why),
                }
            })?;
        let mut toolset = WasmToolset {
            runtime,
            component,
            file: file.clone(),
            options: options.clone(),
            tools: Vec::new(),
            guest: None,
        };
        let guest = toolset.guest(deadline)?;
        let listed = guest.list(deadline);
        let listed = listed.map_err(|failure| report.failed(GuestStep::List, failure))?;
        toolset.tools = report.read_tools(listed)?;
        Ok(Box::new(toolset))
    }
}

/// A component and its tools.
struct WasmToolset {
    runtime: &'static Runtime,
    component: ToolsetPre<State>,
    file: ResourcePath,
    options: ToolsetOptions,
    tools: Vec<ToolSpec>,
    /// The instance, until it fails.
    guest: Option<Guest>,
}

impl WasmToolset {
    /// Returns the instance, or creates a new one. It lists the same tools as the previous one: it has the same code,
    /// and no inputs.
    fn guest(&mut self, deadline: Instant) -> Result<&mut Guest, RunError> {
        let guest = match self.guest.take() {
            Some(guest) => guest,
            None => Guest::start(
                self.runtime,
                &self.component,
                self.options.run().limits(),
                self.options.run().cancel(),
                deadline,
            )
            .map_err(|failure| self.report().failed(GuestStep::Start, failure))?,
        };
        Ok(self.guest.insert(guest))
    }

    fn report(&self) -> Report<'_> {
        Report {
            file: &self.file,
            options: &self.options,
        }
    }
}

impl fmt::Debug for WasmToolset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WasmToolset")
            .field("file", &self.file)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

impl Toolset for WasmToolset {
    fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<ToolOutput, RunError> {
        let arguments = arguments.to_string();
        let most = self.options.run().limits().input_bytes;
        if arguments.len() > most {
            let message = format!(
                "The arguments for toolset `{}` have more than {most} bytes",
                self.file
            );
            let hint = "Give less";
            return Err(RunError::new(RunErrorKind::InputTooLarge, message, hint));
        }
        let limits = self.options.run().limits().clone();
        let answer = self
            .guest(limits.deadline())?
            .call(tool, &arguments, &limits);
        match answer {
            Ok(Ok(output)) => self.report().read_output(output),
            Ok(Err(message)) => Ok(ToolOutput::new(message).failed()),
            Err(failure) => {
                self.guest = None;
                Err(self.report().failed(GuestStep::Call, failure))
            }
        }
    }
}

/// Formats a toolset's errors.
struct Report<'a> {
    file: &'a ResourcePath,
    options: &'a ToolsetOptions,
}

impl Report<'_> {
    fn read_tools(&self, listed: Vec<Tool>) -> Result<Vec<ToolSpec>, RunError> {
        // The rest is checked as for other loaders.
        if listed.len() > MAX_TOOLS {
            return Err(self.invalid(&format!("it has more than {MAX_TOOLS} tools")));
        }
        let spec = |tool: Tool| {
            let schema = match tool.parameters.as_str() {
                "" => ToolSpec::empty_schema(),
                text => serde_json::from_str(text).map_err(|error| {
                    let name = &tool.name;
                    self.invalid(&format!("the parameters of `{name}` are not JSON: {error}"))
                })?,
            };
            Ok(ToolSpec::new(tool.name, tool.description, schema))
        };
        listed.into_iter().map(spec).collect()
    }

    fn read_output(&self, answer: Output) -> Result<ToolOutput, RunError> {
        let output = ToolOutput::new(answer.output).with_title(answer.title);
        if answer.metadata.is_empty() {
            return Ok(output);
        }
        match serde_json::from_str(&answer.metadata) {
            Ok(metadata) => Ok(output.with_metadata(metadata)),
            Err(error) => {
                let file = self.file;
                let message =
                    format!("Toolset `{file}` answered with metadata that is not JSON: {error}");
                let hint = "Return a JSON object, or an empty string";
                Err(RunError::new(RunErrorKind::ToolsetFailed, message, hint))
            }
        }
    }

    fn invalid(&self, why: &str) -> RunError {
        let message = format!("Toolset `{}` cannot be loaded: {why}", self.file);
        let hint = "Correct the component: it exports `list` and `call` of `skillfold:toolset/tools`, and imports only `logging`";
        RunError::new(RunErrorKind::InvalidToolset, message, hint)
    }

    fn failed(&self, step: GuestStep, failure: GuestFailure) -> RunError {
        let (what, hint) = match failure.why {
            Why::Interrupted(why) => return self.interrupted(why, step, &failure.log),
            Why::Broken(why) if step == GuestStep::Start => return self.invalid(&why),
            Why::TooMuch(bytes) => {
                let what = format!("gave more than {bytes} bytes at once");
                (what, "Return less in one answer")
            }
            Why::OutOfMemory => {
                let bytes = self.options.run().limits().memory_bytes;
                let what = format!("needs more than {bytes} bytes of memory and was stopped");
                (what, "Give it less to do, or raise the memory limit")
            }
            Why::Fault(fault) => {
                let when = match step {
                    GuestStep::Start => "while it started",
                    GuestStep::List => "before it answered `list`",
                    GuestStep::Call => "before it answered `call`",
                };
                let hint = "Try again, which restarts it; its last output may say why";
                (format!("ended {when}: {fault}"), hint)
            }
            Why::Broken(why) => (
                format!("broke a rule of the interface: {why}"),
                "Generate its bindings from toolset.wit",
            ),
        };
        let message = self.with_last_words(&what, &failure.log);
        RunError::new(RunErrorKind::ToolsetFailed, message, hint)
    }

    fn interrupted(&self, why: Interruption, step: GuestStep, log: &str) -> RunError {
        match why {
            Interruption::Cancelled => {
                let message = format!("Toolset `{}` was cancelled", self.file);
                let hint = "Call it again if you still need it";
                RunError::new(RunErrorKind::Cancelled, message, hint)
            }
            Interruption::Timeout => {
                let seconds = self.options.run().limits().wall_time.as_secs_f64();
                let did_not = match step {
                    GuestStep::Start => "did not start",
                    GuestStep::List => "did not answer `list`",
                    GuestStep::Call => "did not answer `call`",
                };
                let what = format!("{did_not} within {seconds} s and was stopped");
                let hint = "Try again with less to do, or raise the time limit";
                RunError::new(
                    RunErrorKind::Timeout,
                    self.with_last_words(&what, log),
                    hint,
                )
            }
        }
    }

    fn with_last_words(&self, what: &str, log: &str) -> String {
        let said = if log.is_empty() { "" } else { ". It said: " };
        format!("Toolset `{}` {what}{said}{log}", self.file)
    }
}
