//! `skillfold setup`

mod config_diff;
mod list_choice;

use std::path::PathBuf;
use std::process::ExitCode;

use similar::ChangeTag;
use skillfold::client::Client;
use skillfold::core::diagnostic::visible;
use skillfold::core::{Error, Refusal};
use skillfold::view::{self, Document, SetupFile};
use skillfold::{Environment, Skills};
use skillfold_setup::{ClientFile, ListFile, SetupChange, SetupClient, SetupPart, SetupPlan};

use crate::arguments::{Global, Setup, SetupListChoice};
use crate::client_state::ListCosts;
use crate::commands::setup::config_diff::{DiffPart, diff_lines};
use crate::commands::setup::list_choice::{WhoseList, choose, list_view, names};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::ask::{Answer, ask};
use crate::terminal::output::{BAD, BOLD, DIM, GOOD, Output, display_path, paint};

pub(crate) fn run(global: &Global, options: &Setup, output: &mut Output) -> CommandResult {
    let environment = host::environment(global)?;
    let mut setup = SetupRun {
        environment: &environment,
        skills: host::host(global)?.discover()?.skills,
        options,
        view: view::Setup::default(),
    };
    let result = match options.client {
        Some(client) => setup.one(client, output),
        None => setup.all(output),
    };
    // What was written before a failure is part of the answer.
    let SetupRun { view, .. } = setup;
    if output.is_json() && (result.is_ok() || view.files.iter().any(|file| file.written)) {
        output.json(Document::Setup(view))?;
    }
    result.map(|()| ExitCode::SUCCESS)
}

/// One call of the command.
struct SetupRun<'a> {
    environment: &'a Environment,
    skills: Skills,
    options: &'a Setup,
    view: view::Setup,
}

/// One change to one file.
#[derive(Clone)]
enum SetupStep {
    Server,
    Hook,
    TurnOffList(ListFile),
    TurnOnList(PathBuf),
}

impl SetupRun<'_> {
    /// Sets up all clients that the user has. What they do not agree to, or what fails, does not stop the rest.
    fn all(&mut self, output: &mut Output) -> Result<(), Failure> {
        let clients = SetupClient::ALL.into_iter();
        let clients: Vec<_> = clients
            .filter(|client| client.is_used(self.environment))
            .filter(|client| !self.options.project || client.has_project_file())
            .collect();
        if clients.is_empty() {
            let names = SetupClient::ALL.map(SetupClient::name).join(", ");
            output.say(format!(
                "No client was found; name the one to set up: {names}"
            ));
        }
        let mut failure = None;
        for client in clients {
            let Some(steps) = self.steps(client, output)? else {
                continue;
            };
            for step in steps {
                output.say(paint(BOLD, format!("{}: {}", client.title(), step.name())));
                let change = self
                    .plan(client, &step)
                    .and_then(|plan| self.change_file(&plan, output));
                match change {
                    Ok(Change::Declined) => output.say("Left as it is"),
                    Ok(_) => {}
                    Err(Failure::Engine(error)) => {
                        // The last one is printed at the end, with its hint.
                        if let Some(error) = failure.replace(error) {
                            output.say_problem(format!(
                                "{}: {}",
                                paint(BAD, "error"),
                                error.with_cause()
                            ));
                        }
                    }
                    Err(other) => return Err(other),
                }
            }
            self.say_next(client, output);
        }
        failure.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Sets up one client.
    fn one(&mut self, client: SetupClient, output: &mut Output) -> Result<(), Failure> {
        let Some(steps) = self.steps(client, output)? else {
            return Ok(());
        };
        // Nothing is written if a part cannot be.
        for step in &steps {
            self.plan(client, step)?;
        }
        for step in steps {
            // Some clients have all parts in one file, which the one before has just changed.
            let plan = self.plan(client, &step)?;
            let is_other_part = plan.part() != SetupPart::Server;
            if is_other_part && self.options.undo && plan.change() == SetupChange::Nothing {
                plan.write()?;
                continue;
            }
            if self.change_file(&plan, output)? == Change::Declined {
                let is_written = self.view.files.iter().any(|file| file.written);
                return Err(refused(
                    &plan,
                    if is_written {
                        "Cancelled; what was written before stays"
                    } else {
                        "Cancelled; nothing was changed"
                    },
                ));
            }
        }
        self.say_next(client, output);
        Ok(())
    }

    /// Says what to do next, if anything was written for a client.
    fn say_next(&self, client: SetupClient, output: &mut Output) {
        let written = self.view.files.iter().filter(|file| file.written);
        let is_written = written.into_iter().any(|file| file.client == client.name());
        if self.options.undo || output.is_json() || !is_written {
            return;
        }
        let project = if self.options.project {
            " --project"
        } else {
            ""
        };
        output.say(format!(
            "Restart {} to use it; `skillfold setup {client}{project} --undo` removes it again",
            client.title()
        ));
    }

    /// Returns the steps for a client; `None` if the user leaves it out.
    fn steps(
        &mut self,
        client: SetupClient,
        output: &mut Output,
    ) -> Result<Option<Vec<SetupStep>>, Failure> {
        let list_files = SetupPlan::list_files(self.environment, client);
        let turn_on = list_files.into_iter().map(SetupStep::TurnOnList);
        let hook = (client.has_hooks() && !self.options.no_hook).then_some(SetupStep::Hook);
        if self.options.undo {
            let hook = client.has_hooks().then_some(SetupStep::Hook);
            // The last part that was added is removed first: then every byte is restored.
            let is_user = !self.options.project;
            let steps = turn_on
                .filter(|_| is_user)
                .chain(hook)
                .chain([SetupStep::Server]);
            return Ok(Some(steps.collect()));
        }
        let mut steps = vec![SetupStep::Server];
        steps.extend(hook);
        if self.options.project {
            return Ok(Some(steps));
        }
        match self.choose_list(client, output)? {
            WhoseList::Ours => {
                steps.push(SetupStep::TurnOffList(ListFile::User));
                if !names(&self.skills, client, ListFile::Local).is_empty() {
                    match client.local_list_file(self.environment) {
                        Ok(None) => {}
                        Ok(Some(_)) => steps.push(SetupStep::TurnOffList(ListFile::Local)),
                        Err(refused) => output.say(format!(
                            "{}: {}",
                            visible(&refused.to_string()),
                            refused.hint()
                        )),
                    }
                }
            }
            WhoseList::Both => steps.extend(turn_on),
            WhoseList::Neither => return Ok(None),
        }
        Ok(Some(steps))
    }

    fn choose_list(
        &mut self,
        client: SetupClient,
        output: &mut Output,
    ) -> Result<WhoseList, Failure> {
        let known = Client::find(client.name()).filter(|known| known.list_switch.is_some());
        let Some(known) = known else {
            if self.options.list == Some(SetupListChoice::Ours) {
                let title = client.title();
                let why = format!("{title} has no setting that turns off a list of skills");
                return Err(Failure::Usage(why));
            }
            return Ok(WhoseList::Both);
        };
        let costs = ListCosts::new(&self.skills, known);
        let choice = choose(&costs, client, self.options, self.environment, output);
        self.view.clients.push(list_view(&costs, choice));
        Ok(choice)
    }

    fn plan(&self, client: SetupClient, step: &SetupStep) -> Result<SetupPlan, Failure> {
        let environment = self.environment;
        let file = if self.options.project {
            ClientFile::Project
        } else {
            ClientFile::User
        };
        let command = match file {
            // Other users may have it at another path.
            ClientFile::Project => "skillfold".to_owned(),
            // Clients started from a desktop do not use the shell's `PATH`.
            _ => Environment::program()?.to_string_lossy().into_owned(),
        };
        Ok(match (step, self.options.undo) {
            (SetupStep::Server, false) => SetupPlan::add(environment, client, file, &command)?,
            (SetupStep::Server, true) => SetupPlan::undo(environment, client, file)?,
            (SetupStep::Hook, false) => SetupPlan::add_hook(environment, client, file, &command)?,
            (SetupStep::Hook, true) => SetupPlan::undo_hook(environment, client, file)?,
            (SetupStep::TurnOffList(list), _) => {
                let names = names(&self.skills, client, *list);
                SetupPlan::turn_off_list(environment, client, *list, &names)?
            }
            (SetupStep::TurnOnList(file), _) => SetupPlan::undo_list(environment, client, file)?,
        })
    }
}

/// Changes the settings that turn off the clients' own lists after a command added or removed a skill.
pub(crate) fn follow_all(global: &Global, output: &mut Output) -> Result<(), Failure> {
    let environment = host::environment(global)?;
    let clients = SetupClient::ALL.into_iter();
    let mut clients = clients
        .filter(|it| it.has_list_off(&environment))
        .peekable();
    if clients.peek().is_none() {
        return Ok(());
    }
    let skills = host::host(global)?.discover()?.skills;
    for client in clients {
        if let Err(Failure::Engine(problem)) = follow(&environment, client, &skills) {
            output.say(format!(
                "Could not change {}'s own list of skills: {}",
                client.title(),
                visible(&problem.with_cause())
            ));
        }
    }
    Ok(())
}

/// Changes the settings that turn off a client's own list for the skills of now, if the user chose our list alone.
pub(crate) fn follow(
    environment: &Environment,
    client: SetupClient,
    skills: &Skills,
) -> Result<(), Failure> {
    if !client
        .list_switch()
        .is_some_and(|switch| switch.is_by_skill())
    {
        return Ok(());
    }
    for file in [ListFile::User, ListFile::Local] {
        let names = names(skills, client, file);
        let has_file = match file {
            // `setup` said so if it is under version control.
            ListFile::Local => matches!(client.local_list_file(environment), Ok(Some(_))),
            _ => true,
        };
        if has_file {
            SetupPlan::turn_off_list(environment, client, file, &names)?.write()?;
        }
    }
    Ok(())
}

impl SetupStep {
    const fn name(&self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Hook => "hook",
            Self::TurnOffList(_) | Self::TurnOnList(_) => "its own list",
        }
    }
}

/// How a plan ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    /// It was written, only shown, or there was nothing to do.
    Done,
    Declined,
}

impl SetupRun<'_> {
    /// Shows a change, asks, and makes it.
    fn change_file(&mut self, plan: &SetupPlan, output: &mut Output) -> Result<Change, Failure> {
        let options = self.options;
        let lines = diff_lines(plan);
        let text: Vec<&str> = lines.iter().flat_map(|(_, line)| [line, "\n"]).collect();
        let (client, change) = (plan.client().name(), plan.change().name());
        let part = plan.part().name();
        let file = SetupFile::new(client, part, plan.file(), change, text.concat());
        if plan.change() == SetupChange::Nothing {
            if !options.dry_run {
                plan.write()?;
            }
            if !output.is_json() {
                say_nothing_to_do(plan, options, output);
            }
            self.view.files.push(file);
            return Ok(Change::Done);
        }
        // The user must see what they agree to.
        if !output.is_json() || !options.dry_run && !options.yes {
            for (kind, line) in &lines {
                show_line(*kind, line, output)?;
            }
        }
        if options.dry_run {
            self.view.files.push(file);
            if !output.is_json() {
                output.say("Nothing was written; this is what would change");
                if plan.needs_force() {
                    output
                        .say("It was not created by `skillfold setup`; use `--force` to change it");
                }
            }
            return Ok(Change::Done);
        }
        if !is_agreed(plan, options, output)? {
            return Ok(Change::Declined);
        }
        plan.write()?;
        self.view.files.push(file.written());
        if !output.is_json() {
            output.say(success_text(plan));
            let is_new_hook = plan.part() == SetupPart::Hook && !options.undo;
            if is_new_hook && plan.client() == SetupClient::Codex {
                output.say(
                    "Codex calls a new hook only after you approve it: type `/hooks` in Codex and review it",
                );
            }
        }
        Ok(Change::Done)
    }
}

fn show_line(kind: DiffPart, line: &str, output: &mut Output) -> Result<(), Failure> {
    let line = line.replace('\t', "    ");
    let line = visible(&line);
    output.show_drawing(match kind {
        DiffPart::Head => paint(BOLD, line),
        DiffPart::Hunk => paint(DIM, line),
        DiffPart::Line(ChangeTag::Insert) => paint(GOOD, line),
        DiffPart::Line(ChangeTag::Delete) => paint(BAD, line),
        DiffPart::Line(ChangeTag::Equal) => line.into_owned(),
    })
}

fn say_nothing_to_do(plan: &SetupPlan, options: &Setup, output: &mut Output) {
    let file = display_path(plan.file());
    output.say(match plan.part() {
        SetupPart::List => format!("Nothing to do: the list is off in {file} already"),
        _ if options.undo => format!("Nothing to do: {file} has no `skillfold`"),
        _ => format!("Nothing to do: {file} has it already"),
    });
}

fn refused(plan: &SetupPlan, rule: &'static str) -> Failure {
    Error::refused(plan.file().to_string_lossy(), Refusal::Write, rule).into()
}

/// Asks for confirmation, unless `--yes` was given.
fn is_agreed(plan: &SetupPlan, options: &Setup, output: &mut Output) -> Result<bool, Failure> {
    if plan.needs_force() && !options.force {
        return Err(refused(
            plan,
            if options.undo {
                "Its `skillfold` entry starts another program; use `--force` to remove it"
            } else {
                "It already has a different `skillfold` entry; use `--force` to replace it as shown"
            },
        ));
    }
    if options.yes {
        return Ok(true);
    }
    match ask("Write this?", output) {
        Answer::Yes => Ok(true),
        Answer::No => Ok(false),
        Answer::NoTerminal => Err(refused(
            plan,
            "There is no terminal to ask on; review what is shown, then pass `--yes`",
        )),
    }
}

fn success_text(plan: &SetupPlan) -> String {
    let file = display_path(plan.file());
    match (plan.change(), plan.after()) {
        (SetupChange::Added | SetupChange::Replaced, _) => {
            format!("{}: {file}", paint(GOOD, "Written"))
        }
        (_, Some(_)) => format!("{}: {file}", paint(GOOD, "Taken out")),
        (_, None) => format!("{}: {file}", paint(GOOD, "Removed")),
    }
}
