//! `skillfold serve`

mod identities;

use std::io::{self, IsTerminal as _};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use skillfold::core::Entry;
use skillfold::store::Proposal;
use skillfold::{Settings, Skills, conversation::Conversations, settings::Origin, watch::Watcher};
use skillfold_mcp::{HttpAccess, HttpLimits, HttpOptions, Options, Server, Token};

use crate::arguments::{Global, Serve};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::editor;
use crate::terminal::output::{Output, pluralize};

pub(crate) fn run(global: &Global, options: &Serve, output: &mut Output) -> CommandResult {
    let mut tool_options = tool_names(&options.tool)?;
    if options.structured {
        tool_options = tool_options.structured();
    }
    let skills = host::discover(host::host(global)?.on_proposal(tell), output)?;
    let count = if let Some(id) = &options.agent {
        tool_options = tool_options.agent(id);
        let agent = skills.bind(skills.agent(id)?);
        agent.with_view(|view| view.entries().filter(Entry::is_visible).count())
    } else {
        skills.catalog().visible().count()
    };
    if options.http.is_none() {
        let environment = host::environment(global)?;
        tool_options = tool_options.project(environment.directory());
        let conversation = environment.client_variable("CLAUDE_CODE_SESSION_ID");
        if let Some(conversations) = Conversations::of_user(&environment) {
            tool_options = tool_options.share(conversations, conversation.map(str::to_owned));
        }
    }
    say_served(count, &skills, output);
    say_ignored_settings(&skills, output);
    let server = Server::new(skills.clone(), tool_options);
    let _watcher = watch(&skills, &server)?;
    let Some(address) = options.http else {
        if io::stdin().is_terminal() {
            output.say("Waiting for a client on stdin; usually an agent starts this command");
        }
        skillfold_mcp::stdio(server).map_err(|error| Failure::System {
            message: format!("Could not serve: {error}"),
            hint:
                "The client speaks another protocol, or a stream is broken; `--log debug` shows more"
                    .to_owned(),
        })?;
        return Ok(ExitCode::SUCCESS);
    };
    let http = HttpOptions::new(address, access(global, options, &skills, output)?)
        .with_hosts(options.allow_host.clone())
        .with_origins(options.allow_origin.clone())
        .with_limits(limits(options));
    let ready = |bound: SocketAddr| {
        output.say(format!("Listening on http://{bound}/mcp"));
        if !bound.ip().is_loopback() && options.allow_host.is_empty() {
            output.say(
                "Clients on other machines are refused until `--allow-host` names the host they connect to",
            );
        }
    };
    skillfold_mcp::http(server, &http, ready).map_err(|error| listen_failure(address, &error))?;
    Ok(ExitCode::SUCCESS)
}

/// Starts the command of the settings for a proposal.
fn tell(settings: &Settings, proposal: &Proposal) {
    let words = &settings.notify_command.value;
    if words.trim().is_empty() {
        return;
    }
    if let Err(error) = editor::notify(words, &proposal.text) {
        tracing::warn!(%error, "could not start `notify_command`");
    }
}

/// Prints which settings have no effect on a server: it hears no request, so it cannot add anything to one.
fn say_ignored_settings(skills: &Skills, output: &mut Output) {
    let report = skills.report();
    let Settings {
        matching,
        max_per_request,
        breadcrumb,
        fallback,
        ..
    } = &report.settings;
    let ignored = [
        ("matching", &matching.origin),
        ("max_per_request", &max_per_request.origin),
        ("breadcrumb", &breadcrumb.origin),
        ("fallback", &fallback.origin),
    ];
    for (name, origin) in ignored {
        if *origin != Origin::Default {
            output.say(format!(
                "The setting `{name}` has no effect on a server, which never sees prompts"
            ));
        }
    }
}

/// Returns why the server cannot listen on an address, with a hint.
fn listen_failure(address: SocketAddr, error: &io::Error) -> Failure {
    let hint = match error.kind() {
        io::ErrorKind::InvalidInput => return Failure::Usage(error.to_string()),
        io::ErrorKind::AddrInUse => {
            "Another program uses the port: stop it, or choose another port; `--http 0` picks a free one"
        }
        io::ErrorKind::PermissionDenied => {
            "Choose a port from 1024 up; lower ones need administrator rights"
        }
        io::ErrorKind::AddrNotAvailable => {
            "Name an address of this machine; `0.0.0.0` means all of them"
        }
        _ => "Check the address and the port",
    };
    Failure::System {
        message: format!("Could not listen on `{address}`: {error}"),
        hint: hint.to_owned(),
    }
}

/// Returns the limits for all clients together.
fn limits(options: &Serve) -> HttpLimits {
    let mut limits = HttpLimits::default();
    limits.connections = options.max_connections.get();
    limits.sessions = options.max_sessions.get();
    limits.session_idle_timeout = Duration::from_secs(options.session_idle.get());
    limits
}

/// Watches the skills' files and notifies clients of each change.
fn watch(skills: &Skills, server: &Server) -> Result<Watcher, Failure> {
    let server = server.clone();
    let watcher = skills.watch(move |result| match result {
        Ok(_) => server.notify_changed(),
        Err(error) => tracing::warn!(why = error.with_cause(), "the skills stay as they were"),
    })?;
    if let Some(problem) = watcher.status().problem {
        tracing::warn!(
            problem,
            "file notifications are unavailable; polling for changes instead"
        );
    }
    Ok(watcher)
}

/// Returns the tool names from the command line.
fn tool_names(tools: &[String]) -> Result<Options, Failure> {
    let mut options = Options::default();
    for tool in tools {
        let Some((tool, name)) = tool.split_once('=') else {
            let message = format!("`--tool {tool}` is not written as TOOL=NAME");
            return Err(Failure::Usage(message));
        };
        options = options
            .tool(tool.trim(), name.trim())
            .map_err(|error| Failure::Usage(format!("{error}; {}", error.hint())))?;
    }
    Ok(options)
}

/// Returns who may send requests: those whom the settings name; otherwise clients with the token of the environment variable, or
/// with a new one, which is printed here and nowhere else.
fn access(
    global: &Global,
    options: &Serve,
    skills: &Skills,
    output: &mut Output,
) -> Result<HttpAccess, Failure> {
    let identities = identities::identities(skills)?;
    let environment = host::environment(global)?;
    let other = match (options.no_token, environment.http_token()) {
        (true, _) => Some("`--no-token`"),
        (false, Some(_)) => Some("`SKILLFOLD_HTTP_TOKEN`"),
        (false, None) => None,
    };
    if let Some(identities) = identities {
        return match other {
            None => {
                output.say(identities::summary(&identities));
                Ok(HttpAccess::Identities(identities))
            }
            Some(other) => Err(Failure::Usage(format!(
                "{other} would let in whom the settings do not name: `server_issuer` or `server_tokens` is set, so leave it out"
            ))),
        };
    }
    if options.no_token {
        return Ok(HttpAccess::Open);
    }
    if let Some(token) = environment.http_token() {
        let token = Token::new(token).ok_or_else(|| {
            let message = "`SKILLFOLD_HTTP_TOKEN` needs at least 16 characters and no spaces";
            Failure::Usage(message.to_owned())
        })?;
        return Ok(HttpAccess::Token(token));
    }
    let token = Token::random().map_err(|error| Failure::System {
        message: format!("Could not generate a token: {error}"),
        hint: "Set one in `SKILLFOLD_HTTP_TOKEN`".to_owned(),
    })?;
    output.say(format!("Authorization: Bearer {}", token.reveal()));
    Ok(HttpAccess::Token(token))
}

/// Prints how many skills are served, and how many are withheld.
fn say_served(count: usize, skills: &Skills, output: &mut Output) {
    match count {
        0 => {
            output
                .say("No skills to serve; `skillfold doctor` lists the folders that are searched");
        }
        count => {
            let served = pluralize(count, "skill is", "skills are");
            output.say(format!("{served} served"));
        }
    }
    host::say_withheld(&skills.catalog(), output);
}
