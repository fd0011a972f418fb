//! Starts git: the only file of this crate that starts a process.
//!
//! Git fetches into a bare repository in the cache, and hands out single objects. Nothing is ever checked out, so there are
//! no hooks, filters, links or submodules.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use skillfold_core::diagnostic::visible;
use skillfold_core::{Error, ErrorKind};

use crate::address::host;
use crate::options::FetchOptions;

/// Maximum bytes of an error message of git that are shown.
const MAX_MESSAGE: u64 = 4 << 10;
/// Maximum bytes that git prints, such as a list of references.
const MAX_OUTPUT: u64 = 64 << 20;
/// Maximum settings in the user's variables. If there are more, git gets none of them.
const MAX_SETTINGS: u32 = 8;

/// The user's variables that fetching uses: those of git, of ssh, of proxies and certificates. Git gets no others.
pub const VARIABLES: [&str; 55] = [
    "ALL_PROXY",
    "APPDATA",
    "DBUS_SESSION_BUS_ADDRESS",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_KEY_0",
    "GIT_CONFIG_KEY_1",
    "GIT_CONFIG_KEY_2",
    "GIT_CONFIG_KEY_3",
    "GIT_CONFIG_KEY_4",
    "GIT_CONFIG_KEY_5",
    "GIT_CONFIG_KEY_6",
    "GIT_CONFIG_KEY_7",
    "GIT_CONFIG_VALUE_0",
    "GIT_CONFIG_VALUE_1",
    "GIT_CONFIG_VALUE_2",
    "GIT_CONFIG_VALUE_3",
    "GIT_CONFIG_VALUE_4",
    "GIT_CONFIG_VALUE_5",
    "GIT_CONFIG_VALUE_6",
    "GIT_CONFIG_VALUE_7",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSL_CAINFO",
    "GNUPGHOME",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "KRB5CCNAME",
    "LOCALAPPDATA",
    "LOGNAME",
    "NO_PROXY",
    "PATH",
    "PATHEXT",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TMPDIR",
    "USER",
    "USERNAME",
    "USERPROFILE",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Settings that no configuration of the user or the system changes. Theirs has credential helpers, certificates and proxies.
const CONFIG: [&str; 15] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.symlinks=false",
    "core.askPass=",
    "credential.interactive=false",
    "fetch.fsckObjects=false",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "gc.auto=0",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
    "maintenance.auto=false",
    "protocol.version=2",
    "submodule.recurse=false",
    "transfer.bundleURI=false",
];

/// The variable that git gets a token in, and the helper that answers with it.
const TOKEN: &str = "SKILLFOLD_GIT_TOKEN";
const HELPER: &str =
    "!f() { echo username=x-access-token; echo \"password=$SKILLFOLD_GIT_TOKEN\"; }; f";
/// What is said if git says nothing.
const GIT_FAILED: &str = "git failed";
/// What git says if a server wants a login.
const REFUSALS: [&str; 4] = [
    "could not read Username",
    "unable to get password",
    "Authentication failed",
    "returned error: 403",
];

/// Why git did not do what it was asked to.
#[derive(Debug)]
pub(super) enum GitError {
    /// It could not be started.
    NotStarted(io::Error),
    /// It did not answer within these seconds.
    NoAnswer(u64),
    /// It failed, and said why.
    Failed(String),
}

/// Git with a repository.
pub(super) struct Git<'o> {
    options: &'o FetchOptions,
    /// A bare repository, or what is none: then only a source can be asked.
    folder: &'o Path,
    source: &'o str,
}

impl<'o> Git<'o> {
    pub(super) fn new(options: &'o FetchOptions, folder: &'o Path, source: &'o str) -> Self {
        Self {
            options,
            folder,
            source,
        }
    }

    /// Runs git on the repository with arguments and some input, and returns what it prints.
    pub(super) fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, GitError> {
        self.output(self.local_command().args(arguments), input)
    }

    /// Runs git to ask the source, with arguments and some input, and returns what it prints.
    pub(super) fn ask(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, Error> {
        let mut command = self.command();
        let ssh = ["config", "--get", "core.sshCommand"];
        let own_ssh = self.output(self.command().args(ssh), b"");
        let is_set = |name: &str| self.options.variable(name).is_some();
        if own_ssh.is_err() && !is_set("GIT_SSH_COMMAND") && !is_set("GIT_SSH") {
            command.env("GIT_SSH_COMMAND", "ssh -oBatchMode=yes");
        }
        self.set_token(&mut command);
        self.output(command.args(arguments), input)
            .map_err(|error| self.error(error))
    }

    fn output(&self, command: &mut Command, input: &[u8]) -> Result<Vec<u8>, GitError> {
        let (mut child, mut stdin, stdout, stderr) = spawn(command)?;
        let input = input.to_vec();
        // It may end without having read all.
        let writer = thread::spawn(move || _ = stdin.write_all(&input));
        let errors = thread::spawn(move || last_bytes(stderr));
        let (sender, output) = mpsc::channel();
        let reader = thread::spawn(move || _ = sender.send(limited(stdout)));
        let output = match output.recv_timeout(self.options.timeout) {
            Ok(output) => output,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                _ = child.kill();
                _ = child.wait();
                return Err(GitError::NoAnswer(self.options.timeout.as_secs()));
            }
        };
        if output.is_err() {
            _ = child.kill();
        }
        let status = child.wait().map_err(GitError::NotStarted)?;
        _ = (writer.join(), reader.join());
        let errors = errors.join().unwrap_or_default();
        match output {
            Err(error) => Err(GitError::Failed(error.to_string())),
            Ok(_) if !status.success() => Err(GitError::Failed(reason(&errors))),
            Ok(output) => Ok(output),
        }
    }

    /// Runs git on the repository with lines of input, and gives what it prints to `read` while it comes. Git ends when `read` does.
    pub(super) fn stream<T>(
        &self,
        arguments: &[&str],
        input: &str,
        read: impl FnOnce(ChildStdout) -> io::Result<T>,
    ) -> Result<T, GitError> {
        let (mut child, mut stdin, stdout, stderr) = spawn(self.local_command().args(arguments))?;
        let (read, errors) = thread::scope(|scope| {
            // Its answers would fill the pipe while we still ask.
            scope.spawn(move || _ = stdin.write_all(input.as_bytes()));
            let errors = scope.spawn(|| last_bytes(stderr));
            let read = read(stdout);
            // Both threads end with it, whatever was not read.
            _ = child.kill();
            (read, errors.join().unwrap_or_default())
        });
        _ = child.wait();
        read.map_err(|error| match &*reason(&errors) {
            GIT_FAILED => GitError::Failed(error.to_string()),
            reason => GitError::Failed(reason.to_owned()),
        })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "git is the one program that this crate starts"
    )]
    fn command(&self) -> Command {
        let mut command = Command::new(&self.options.git);
        command.env_clear();
        let count = self.options.variable("GIT_CONFIG_COUNT");
        let count = count.and_then(|count| count.parse().ok());
        let has_settings = count.is_some_and(|count: u32| count <= MAX_SETTINGS);
        for (name, value) in &self.options.environment {
            let is_known = VARIABLES.iter().any(|known| OsStr::new(known) == name);
            if is_known && (has_settings || !is_setting(name)) {
                command.env(name, value);
            }
        }
        // Plain HTTP stays on this machine: an address of another kind does not lead to it.
        let protocols = if self.source.starts_with("http://") {
            "https:http:ssh:file"
        } else {
            "https:ssh:file"
        };
        let fixed = [
            ("GIT_ALLOW_PROTOCOL", protocols),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GCM_INTERACTIVE", "never"),
            ("LC_ALL", "C"),
            // Without a terminal, a question of ssh would wait forever, whichever command the user has set for it.
            ("SSH_ASKPASS", "false"),
            ("SSH_ASKPASS_REQUIRE", "force"),
        ];
        command.envs(fixed);
        // The second one keeps a file of that name from leading to other settings.
        command.env("GIT_DIR", self.folder);
        command.env("GIT_COMMON_DIR", self.folder);
        for setting in CONFIG {
            command.args(["-c", setting]);
        }
        command
    }

    /// Returns a command that reads the repository: a mistake in the user's settings is no damage of it.
    fn local_command(&self) -> Command {
        let mut command = self.command();
        command.env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.env("GIT_CONFIG_NOSYSTEM", "1");
        command.env_remove("GIT_CONFIG_COUNT");
        command
    }

    /// Gives git the token of the host that is fetched from, as a credential: a redirect to another host does not get it.
    fn set_token(&self, command: &mut Command) {
        let Some((scheme, rest)) = self.source.split_once("://") else {
            return;
        };
        let authority = rest.split('/').next().unwrap_or_default();
        let token = host(self.source).and_then(|host| self.options.tokens.get(&host));
        if let Some(token) = token.filter(|_| scheme.starts_with("http")) {
            let key = format!("credential.{scheme}://{authority}.helper");
            command.env(TOKEN, token);
            // The first one keeps the user's helpers from storing the token.
            command.args(["-c", &format!("{key}="), "-c", &format!("{key}={HELPER}")]);
        }
    }

    /// Returns the error for the user, where the source was asked.
    pub(super) fn error(&self, error: GitError) -> Error {
        let source = self.source;
        let why = match error {
            GitError::NotStarted(error) => {
                let message = format!("Could not start git for `{source}`: {error}");
                let hint = "Install git, or add its directory to PATH";
                return Error::new(ErrorKind::Unreadable, message, hint);
            }
            GitError::NoAnswer(seconds) => format!("no answer within {seconds} s"),
            GitError::Failed(why) => why,
        };
        let host = host(source).filter(|_| source.starts_with("http"));
        let is_refusal = REFUSALS.iter().any(|refusal| why.contains(refusal));
        let message = match host.filter(|_| is_refusal) {
            // Servers say the same of what does not exist, so that nobody learns what exists.
            Some(host) => format!(
                "`{source}` does not exist, or needs a login: {}, or set up a git credential helper",
                self.options.tokens.advice(&host)
            ),
            None => format!("Could not fetch `{source}`: {}", visible(&why)),
        };
        let hint = "Check the address, the network and your git credentials; `git ls-remote` with the address tells more";
        Error::new(ErrorKind::Unreadable, message, hint)
    }
}

fn spawn(command: &mut Command) -> Result<(Child, ChildStdin, ChildStdout, ChildStderr), GitError> {
    let piped = Stdio::piped;
    let command = command.stdin(piped()).stdout(piped()).stderr(piped());
    let mut child = command.spawn().map_err(GitError::NotStarted)?;
    match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
        (Some(stdin), Some(stdout), Some(stderr)) => Ok((child, stdin, stdout, stderr)),
        _ => Err(GitError::NotStarted(io::ErrorKind::BrokenPipe.into())),
    }
}

/// Returns whether a variable has a part of the user's settings.
fn is_setting(variable: &OsString) -> bool {
    let name = variable.to_string_lossy();
    let parts = ["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];
    parts.iter().any(|part| name.starts_with(part))
}

fn limited(output: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    output.take(MAX_OUTPUT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_OUTPUT {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "git printed more than 64 MiB",
        ));
    }
    Ok(bytes)
}

/// Reads everything, and returns the end of it.
fn last_bytes(mut from: impl Read) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        kept.extend_from_slice(&buffer[..read]);
        let more = kept
            .len()
            .saturating_sub(usize::try_from(MAX_MESSAGE).unwrap_or(usize::MAX));
        kept.drain(..more);
    }
    kept
}

/// Returns the line of git's messages that says what is wrong.
fn reason(errors: &[u8]) -> String {
    let text = String::from_utf8_lossy(errors);
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|it| !it.is_empty())
        .collect();
    let starts = ["fatal: ", "ERROR: ", "error: ", "remote: "];
    let found = starts
        .iter()
        .find_map(|start| lines.iter().rev().find_map(|line| line.strip_prefix(start)));
    found
        .or(lines.last().copied())
        .unwrap_or(GIT_FAILED)
        .to_owned()
}
