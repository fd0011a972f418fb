//! Runs a script within limits and returns its output.

use std::fmt;
use std::time::{Duration, Instant};

use skillfold_core::name::ResourcePath;

use crate::copy::SkillCopy;
use crate::corrections::Corrections;
use crate::dependencies::dependency_file;
use crate::error::{RunError, RunErrorKind};
use crate::guard::Guard;
use crate::installed::find;
use crate::interpreter;
use crate::layers::SandboxReport;
use crate::options::RunOptions;
use crate::packages::Packages;
use crate::process::{LanguageHost, Process};
use crate::request::{RunInput, RunRequest};
use crate::running::Running;
use crate::sandboxes::default_sandbox;
use crate::scripts::script;
use crate::supervise::{Observer, Outcome, Stream, Supervision};

/// Returns the layers of the sandbox that runs use, and which of them this system has. The first call probes them.
pub fn layers() -> SandboxReport {
    default_sandbox().report()
}

/// A script and everything it runs with.
pub struct Run<'a> {
    copy: &'a SkillCopy,
    script: &'a ResourcePath,
    host: Option<LanguageHost>,
    arguments: Vec<String>,
    input: Option<Vec<u8>>,
    options: RunOptions,
    observer: Option<Observer<'a>>,
}

impl fmt::Debug for Run<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Run")
            .field("script", &self.script)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}

impl<'a> Run<'a> {
    /// Creates a run without arguments or input, with the default options.
    pub fn new(copy: &'a SkillCopy, script: &'a ResourcePath) -> Self {
        Self {
            copy,
            script,
            host: None,
            arguments: Vec::new(),
            input: None,
            options: RunOptions::default(),
            observer: None,
        }
    }

    /// Sets the arguments, which reach the script unchanged: there is no shell.
    #[must_use]
    pub fn with_arguments(
        mut self,
        arguments: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// Sets a program that runs instead of the script.
    pub(crate) fn with_language_host(mut self, host: LanguageHost) -> Self {
        self.host = Some(host);
        self
    }

    /// Sets the script's stdin.
    #[must_use]
    pub fn with_input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Sets limits, permissions and other options.
    #[must_use]
    pub fn with_options(mut self, options: RunOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets a function that receives output as it arrives, within the limit.
    #[must_use]
    pub fn with_observer(mut self, observer: impl FnMut(Stream, &[u8]) + 'a) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Runs the script and returns when it and everything it started have exited.
    ///
    /// # Errors
    ///
    /// Fails if the script did not start, or if it changed what stays read-only and that could not be put right. What
    /// ended it is in the outcome.
    pub fn run(mut self) -> Result<Outcome, RunError> {
        let observer = self.observer.take();
        let started = Instant::now();
        let (process, guard) = self.spawn(match &self.input {
            Some(bytes) => RunInput::Bytes(bytes),
            None => RunInput::None,
        })?;
        let outcome = Supervision::new(&self.options.limits, &self.options.cancel, started)
            .with_observer(observer)
            .until_end(process);
        // Whatever happened, before anybody hears of it.
        let corrections = Corrections::new(guard.check());
        if let Some(error) = corrections.failure() {
            return Err(error);
        }
        let failed = |error| RunError::failed_to_start("Could not supervise the script", error);
        match outcome {
            Ok(outcome) => Ok(Outcome {
                corrections,
                ..outcome
            }),
            Err(error) => Err(corrections.added_to(failed(error))),
        }
    }

    /// Starts the script as a long-lived process with pipes, such as a server. It has no time or output limit; those on
    /// memory, processes and files apply.
    ///
    /// # Errors
    ///
    /// Fails if the script did not start.
    pub fn start(mut self) -> Result<Running, RunError> {
        // A server may run for days; using CPU time is no fault.
        self.options.limits.cpu_time = Duration::MAX;
        let (process, guard) = self.spawn(RunInput::Pipe)?;
        Ok(Running::new(process, guard))
    }

    fn spawn(&self, input: RunInput<'_>) -> Result<(Process, Guard), RunError> {
        self.check_arguments()?;
        let (search, permissions) = (&self.options.search, &self.options.permissions);
        let granted = permissions.open()?;
        let deadline = self.options.limits.deadline();
        let cancel = &self.options.cancel;
        let is_over = || cancel.is_cancelled() || Instant::now() > deadline;
        let guard = Guard::new(&granted, permissions.protected(), is_over)?;
        let candidates = match self.host {
            Some(host) if !host.interpreters.is_empty() => interpreter::programs(host.interpreters),
            _ => script(self.copy, self.script)?.interpreters,
        };
        let interpreter = find(&candidates, search, permissions, self.script)?;
        let sandbox = match &self.options.sandbox {
            Some(sandbox) => &**sandbox,
            None => default_sandbox(),
        };
        let report = sandbox.report();
        if let Some(state) = report.refusal(&self.options.accept) {
            return Err(RunError::sandbox_unavailable(state));
        }
        let request = RunRequest {
            copy: self.copy,
            interpreter,
            script: self.script.as_str(),
            host: self.host,
            arguments: &self.arguments,
            input,
            limits: &self.options.limits,
            permissions,
            granted,
            guard: &guard,
            directory: self.options.directory(),
            resolver: &self.options.resolver,
            connections: self.options.connections.as_ref(),
            packages: self.packages()?,
            report,
        };
        let process = sandbox.start(&request)?;
        drop(request);
        Ok((process, guard))
    }

    /// Returns the script's packages.
    fn packages(&self) -> Result<Option<&Packages>, RunError> {
        let Some(file) = dependency_file(self.copy, self.script) else {
            return Ok(None);
        };
        let mut granted = self.options.permissions.packages().iter();
        let Some(packages) = granted.find(|packages| packages.file == file) else {
            return Ok(None);
        };
        packages.check()?;
        Ok(Some(packages))
    }

    fn check_arguments(&self) -> Result<(), RunError> {
        let refused = |kind, message: String, hint| Err(RunError::new(kind, message, hint));
        let (count, limits) = (self.arguments.len(), &self.options.limits);
        let bytes: usize = self.arguments.iter().map(String::len).sum();
        let input = self.input.as_ref().map_or(0, Vec::len);
        if count > limits.arguments {
            let message = format!(
                "Script got {count} arguments, the limit is {}",
                limits.arguments
            );
            let hint = "Give fewer, or pass them on stdin";
            return refused(RunErrorKind::TooManyArguments, message, hint);
        }
        if bytes > limits.argument_bytes {
            let max = limits.argument_bytes;
            let message = format!("Arguments of the script have {bytes} bytes, the limit is {max}");
            let hint = "Give shorter ones, or pass them on stdin";
            return refused(RunErrorKind::ArgumentsTooLong, message, hint);
        }
        if input > limits.input_bytes {
            let max = limits.input_bytes;
            let message = format!("Input of the script has {input} bytes, the limit is {max}");
            let hint = "Give less, or grant reading a file";
            return refused(RunErrorKind::InputTooLarge, message, hint);
        }
        if self
            .arguments
            .iter()
            .any(|argument| argument.contains('\0'))
        {
            let message = "An argument of the script has a NUL character".to_owned();
            let hint = "Pass it on stdin";
            return refused(RunErrorKind::NotPermitted, message, hint);
        }
        Ok(())
    }
}
