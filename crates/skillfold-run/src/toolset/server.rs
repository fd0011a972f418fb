//! Tools of a process that speaks the Model Context Protocol over stdin and stdout.

use std::sync::Arc;

use serde_json::{Value, json};
use skillfold_core::name::ResourcePath;

use super::check::check_tools;
use super::connection::ServerConnection;
use super::lines::last_lines;
use super::message;
use super::options::{ToolsetLoader, ToolsetOptions};
use super::reference::ToolsetRef;
use super::tool::{ToolOutput, ToolSpec, Toolset};
use crate::copy::SkillCopy;
use crate::corrections::Corrections;
use crate::error::{RunError, RunErrorKind};
use crate::process::LanguageHost;
use crate::run::Run;
use crate::scripts::script;

/// Maximum number of pages in a list of tools.
const MAX_PAGES: usize = 100;

/// The name that marks a file as a server, whatever its extension.
pub(super) const SERVER: &str = "mcp";

/// Loads scripts and programs that are servers.
#[derive(Debug)]
pub(super) struct ServerLoader;

impl ToolsetLoader for ServerLoader {
    fn takes(&self, copy: &SkillCopy, file: &ResourcePath, _: &ToolsetRef) -> bool {
        script(copy, file).is_ok()
    }

    fn load(
        &self,
        copy: &Arc<SkillCopy>,
        file: &ResourcePath,
        _: &ToolsetRef,
        options: &ToolsetOptions,
    ) -> Result<Box<dyn Toolset>, RunError> {
        let server = Server {
            copy: Arc::clone(copy),
            file: file.clone(),
            host: None,
            arguments: Vec::new(),
            options: options.clone(),
        };
        Ok(Box::new(ServerToolset::start(server)?))
    }
}

/// How to start a server.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) copy: Arc<SkillCopy>,
    pub(super) file: ResourcePath,
    pub(super) host: Option<LanguageHost>,
    pub(super) arguments: Vec<String>,
    pub(super) options: ToolsetOptions,
}

impl Server {
    /// Returns whether a process may write to a folder of the host.
    fn may_write(&self) -> bool {
        self.options.run().permissions().may_write()
    }

    /// Starts a process and lists its tools, all within the time of one call.
    fn start(&self) -> Result<(ServerConnection, Vec<ToolSpec>), RunError> {
        let mut run = Run::new(&self.copy, &self.file).with_options(self.options.run().clone());
        if let Some(host) = self.host {
            run = run.with_language_host(host);
        }
        let run = run.with_arguments(self.arguments.iter().cloned());
        let mut connection = ServerConnection::start(run, &self.file, &self.options)?;
        match self.list_tools(&mut connection) {
            Ok(tools) => Ok((connection, tools)),
            Err(error) => Err(connection.end().added_to(error)),
        }
    }

    fn list_tools(&self, connection: &mut ServerConnection) -> Result<Vec<ToolSpec>, RunError> {
        let deadline = connection.deadline();
        let ask = |connection: &mut ServerConnection, method, params: &Value| {
            let answer = connection.request(method, params, deadline)?;
            answer.map_err(|refused| self.invalid(&last_lines(&refused.message)))
        };
        let hello = ask(connection, "initialize", &message::initialize())?;
        if let Some(why) = message::unknown_version(&hello) {
            return Err(self.invalid(&why));
        }
        connection.notify("notifications/initialized")?;
        let (mut tools, mut params) = (Vec::new(), json!({}));
        for _ in 0..MAX_PAGES {
            let page = ask(connection, "tools/list", &params)?;
            let next = message::read_tools(page, &mut tools).map_err(|why| self.invalid(&why))?;
            // Before the next page, so that the list cannot grow without bound.
            check_tools(&tools, &self.file)?;
            match next {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return Ok(tools),
            }
        }
        Err(self.invalid(&format!(
            "its list of tools has more than {MAX_PAGES} pages"
        )))
    }

    fn invalid(&self, why: &str) -> RunError {
        let message = format!("Toolset `{}` cannot be loaded: {why}", self.file);
        let hint = "Correct the file; `skillfold new NAME --toolset` writes one to compare it with";
        RunError::new(RunErrorKind::InvalidToolset, message, hint)
    }
}

/// A server and its tools.
#[derive(Debug)]
pub(super) struct ServerToolset {
    server: Server,
    tools: Vec<ToolSpec>,
    /// The process, until it fails. One that may write ends with each call.
    connection: Option<ServerConnection>,
}

impl ServerToolset {
    pub(super) fn start(server: Server) -> Result<Self, RunError> {
        let (connection, tools) = server.start()?;
        Ok(Self {
            server,
            tools,
            connection: Some(connection),
        })
    }

    /// Returns the process, or starts a new one once.
    fn connection(&mut self) -> Result<&mut ServerConnection, RunError> {
        if let Some(connection) = self.connection.take() {
            return Ok(self.connection.insert(connection));
        }
        let (connection, tools) = self.server.start()?;
        // The tools shown to the user or a model must be the tools that are called.
        if tools != self.tools {
            let message = format!(
                "Toolset `{}` lists different tools than before",
                self.server.file
            );
            let hint = "Reload it, and review its tools again";
            let error = RunError::new(RunErrorKind::InvalidToolset, message, hint);
            return Err(connection.end().added_to(error));
        }
        Ok(self.connection.insert(connection))
    }
}

impl Toolset for ServerToolset {
    fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<ToolOutput, RunError> {
        let connection = self.connection()?;
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = connection.request("tools/call", &params, connection.deadline());
        // A message that was not sent does not affect the process.
        let is_usable = match &answer {
            Ok(_) => true,
            Err(error) => error.kind() == RunErrorKind::InputTooLarge,
        };
        // What it may not create is put right when it has ended, before anybody hears of its answer.
        let corrections = if is_usable && !self.server.may_write() {
            Corrections::default()
        } else {
            self.end()
        };
        if let Some(error) = corrections.failure() {
            return Err(error);
        }
        match answer {
            Ok(Ok(result)) => Ok(message::read_output(result).with_corrections(corrections)),
            Ok(Err(refused)) => {
                let output = ToolOutput::new(refused.message).failed();
                Ok(output.with_corrections(corrections))
            }
            Err(error) => Err(corrections.added_to(error)),
        }
    }

    fn end(&mut self) -> Corrections {
        let connection = self.connection.take();
        connection.map_or_else(Corrections::default, ServerConnection::end)
    }
}
