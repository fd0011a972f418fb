//! `skillfold hook`

use std::io::{self, Read as _};
use std::path::Path;
use std::process::{self, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, SystemTime};

use skillfold::core::Error;
use skillfold::core::diagnostic::visible;
use skillfold::{Environment, Skills, conversation::Conversations};
use skillfold_hook::{
    AnswerClaim, EventKind, Hook, HookAnswer, HookClient, HookEvent, MAX_EVENT_BYTES, format_answer,
};
use skillfold_setup::SetupClient;

use crate::arguments::{self, Global};
use crate::commands::setup;
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::output::Output;
use crate::trace;

/// How long a client waits at most for an answer. Clients wait longer, but a person is waiting too.
const DEADLINE: Duration = Duration::from_secs(2);

/// How long to wait beyond that for an answer that is being recorded: what the conversation is given must be delivered.
const RECORDING: Duration = Duration::from_secs(2);

pub(crate) fn run(
    global: &Global,
    options: &arguments::Hook,
    output: &mut Output,
) -> CommandResult {
    if options.build_index {
        return build_index(global);
    }
    let (global, client) = (global.clone(), options.client);
    let (sender, answer) = mpsc::channel();
    let claim = AnswerClaim::default();
    let claimed = claim.clone();
    // A client may never close stdin, and a disk may never answer.
    let worker = thread::Builder::new().name("skillfold-hook".to_owned());
    worker.spawn(move || sender.send(answer_event(&global, client, claimed)))?;
    let received = match answer.recv_timeout(DEADLINE) {
        Err(RecvTimeoutError::Timeout) if !claim.give_up() => answer.recv_timeout(RECORDING),
        received => received,
    };
    let answer = match received {
        Ok(answer) => Some(answer?),
        Err(RecvTimeoutError::Timeout) => {
            output.say("The hook took too long and adds nothing");
            None
        }
        Err(RecvTimeoutError::Disconnected) => {
            output.say("The hook failed (internal error) and adds nothing");
            None
        }
    };
    let Some((answer, list_problem)) = answer else {
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(problem) = list_problem {
        output.say(format!(
            "Could not change the client's own list of skills: {}",
            visible(&problem.with_cause())
        ));
    }
    if let Some(problem) = answer.problem {
        output.say(format!(
            "Could not save the conversation's state; no instructions added: {}",
            visible(&problem.with_cause())
        ));
    }
    if let Some(problem) = answer.not_learned {
        output.say(format!(
            "Could not save how skills were used: {}",
            visible(&problem.with_cause())
        ));
    }
    if let Some(answer) = answer.text {
        output.skill_text(answer.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads an event, and returns the answer, and why the client's own list could not be changed.
fn answer_event(
    global: &Global,
    client: Option<HookClient>,
    claim: AnswerClaim,
) -> Result<(HookAnswer, Option<Error>), Failure> {
    let mut bytes = Vec::new();
    let limit = MAX_EVENT_BYTES as u64 + 1;
    io::stdin().lock().take(limit).read_to_end(&mut bytes)?;
    let environment = host::environment(global)?;
    let event = Some(bytes).filter(|bytes| bytes.len() <= MAX_EVENT_BYTES);
    let Some(event) = event.and_then(|bytes| HookEvent::parse(&bytes, client, &environment)) else {
        let why = "Expected a JSON object of at most 8 MiB; the hook adds nothing";
        return Err(Error::invalid("the event", why).into());
    };
    let mut global = global.clone();
    if let Some(directory) = event
        .directory
        .as_deref()
        .filter(|folder| global.directory == Path::new(".") && folder.is_dir())
    {
        global.directory = directory.to_owned();
    }
    let environment = host::environment(&global).unwrap_or(environment);
    let hook = Hook::new(Conversations::of_user(&environment)).with_claim(claim);
    let state_folder = environment.state_folder();
    let mut found = None;
    let skills = || -> Result<Skills, Failure> {
        let skills = host::host(&global)?.for_one_request().discover()?.skills;
        found = Some(skills.clone());
        if skills.report().settings.hook_log.value
            && let Some(folder) = state_folder
        {
            trace::append_to_hook_log(&folder);
        }
        Ok(skills)
    };
    #[expect(clippy::disallowed_methods, reason = "the command reads the clock")]
    let now = SystemTime::now();
    let mut answer = hook.answer(&event, now, skills)?;
    let list_problem = match event.kind {
        EventKind::Started(_) | EventKind::Cleared => {
            match follow_skills(&global, &environment, event.client, found.as_ref()) {
                Err(Failure::Engine(problem)) => Some(problem),
                followed => {
                    followed?;
                    None
                }
            }
        }
        _ => None,
    };
    if matches!(event.kind, EventKind::Started(_) | EventKind::Cleared) && answer.text.is_none() {
        let notice = missing_server(&environment, event.client);
        answer.text = notice.map(|notice| format_answer(&event, &notice));
    }
    let is_incomplete = |skills: &Skills| !skills.is_search_prepared();
    if found.as_ref().is_some_and(is_incomplete) {
        // Without the index, the next prompt searches the metadata again. It is no reason to lose the answer.
        drop(start_building_index(environment.directory()));
    }
    Ok((answer, list_problem))
}

/// Turns off the skills in the client's own list that are new, and on again those that are gone, if the user chose our list
/// alone. Finds the skills if the answer did not need them.
fn follow_skills(
    global: &Global,
    environment: &Environment,
    client: HookClient,
    found: Option<&Skills>,
) -> Result<(), Failure> {
    let client: Option<SetupClient> = client.name().parse().ok();
    let is_chosen = |client: &SetupClient| client.has_list_off(environment);
    let Some(client) = client.filter(is_chosen) else {
        return Ok(());
    };
    let skills = match found {
        Some(skills) => skills.clone(),
        None => host::host(global)?.for_one_request().discover()?.skills,
    };
    setup::follow(environment, client, &skills)
}

/// Returns what to tell the model if the client's own list is turned off, and our server is not there to list the skills.
fn missing_server(environment: &Environment, client: HookClient) -> Option<String> {
    let client: SetupClient = client.name().parse().ok()?;
    let is_there = client.has_server(environment) && client.missing_program(environment).is_none();
    (client.has_list_off(environment) && !is_there).then(|| {
        format!(
            "The Skillfold server is not running in {}, so no skills are listed. Tell the user to run `skillfold setup {client} --force`.",
            client.title()
        )
    })
}

/// Builds the index in a process of its own, which goes on when this one has answered.
#[expect(
    clippy::disallowed_methods,
    reason = "it starts this program again, and runs nothing of a skill"
)]
fn start_building_index(directory: &Path) -> io::Result<()> {
    let program = std::env::current_exe()?;
    let mut builder = process::Command::new(program);
    builder
        .args(std::env::args_os().skip(1))
        .args(["--build-index", "-C"])
        .arg(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut builder, 0);
    builder.spawn().map(drop)
}

/// Builds the index of the skills.
fn build_index(global: &Global) -> CommandResult {
    let environment = host::environment(global)?;
    let discover = || -> Result<Skills, Failure> {
        Ok(host::host(global)?.for_one_request().discover()?.skills)
    };
    if let Some(cache) = environment.cache_folder() {
        skillfold_hook::build_index(&cache, discover)?;
    }
    Ok(ExitCode::SUCCESS)
}
