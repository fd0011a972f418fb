//! `skillfold` alone: where the user stands, and what to do next.

use std::process::ExitCode;

use skillfold::core::catalog::Status;
use skillfold::registry::{InstallScope, LastLook};
use skillfold::view::{Doctor, DoctorSummary, Document};
use skillfold::{Environment, Skills, settings::SettingFinding};

use crate::arguments::Global;
use crate::client_state::{
    ClientState, ListCosts, all_tokens, client_prompt, clients_that_list_untrusted, cost_text,
};
use crate::failure::CommandResult;
use crate::host;
use crate::terminal::output::{BAD, BOLD, DIM, Output, PLAIN, display_path, paint, pluralize};
use crate::terminal::table::Table;

/// Maximum next steps shown.
const MAX_STEPS: usize = 4;

pub(crate) fn run(global: &Global, output: &mut Output) -> CommandResult {
    let environment = host::environment(global)?;
    let skills = host::host(global)?.discover_lenient().skills;
    let doctor = Doctor::new(&skills);
    if output.is_json() {
        return output.json(Document::Doctor(doctor));
    }
    let clients = ClientState::all(&environment);
    let report = skills.report();
    let mut problems = report.settings.findings.iter();
    let is_broken = problems.any(SettingFinding::is_fatal);
    if is_broken {
        let text = "invalid, so most commands stop; run `skillfold doctor`";
        output.field(&paint(BAD, "Settings"), text)?;
    }
    let mut rows = vec![
        ("Skills", skills_text(&skills, &doctor.summary)),
        ("Project", project_text(&environment, &skills, &doctor)),
        ("Clients", clients_text(&clients)),
    ];
    let waiting = skills
        .waiting_proposals()
        .map_or(0, |waiting| waiting.len());
    if waiting > 0 {
        let text = pluralize(waiting, "proposal waits", "proposals wait");
        rows.push(("Review", format!("{text} for your decision")));
    }
    let outdated = outdated(&skills);
    if let Some(text) = &outdated {
        rows.push(("Updates", text.clone()));
    }
    if doctor.summary.active > 0 {
        let costs = clients.iter().filter_map(|state| cost_of(&skills, state));
        rows.extend(costs.map(|text| ("Cost", text)));
    }
    for (name, text) in rows {
        output.field(&paint(BOLD, format!("{name:7}")), &text)?;
    }
    output.line("")?;
    let mut table = Table::indented(2);
    let updates = usize::from(outdated.is_some());
    for (command, what) in next_steps(&doctor.summary, [waiting, updates], is_broken, &clients) {
        table.row([(PLAIN, &format!("skillfold {command}")), (DIM, what)]);
    }
    output.line(paint(BOLD, "Next"))?;
    output.table(&table)?;
    output.say(paint(DIM, "`skillfold help` lists all commands"));
    Ok(ExitCode::SUCCESS)
}

fn skills_text(skills: &Skills, summary: &DoctorSummary) -> String {
    if summary.found == 0 {
        return "none yet".to_owned();
    }
    let catalog = skills.catalog();
    let active = catalog.entries();
    let active = active.filter(|entry| entry.status() == Status::Active);
    let for_models = active.filter(skillfold::core::Entry::is_for_models).count();
    let counts = [
        (summary.active - for_models, "user only"),
        (summary.untrusted, "untrusted"),
        (summary.held, "held"),
        (summary.disabled, "disabled"),
        (summary.incompatible, "incompatible"),
        (summary.shadowed, "shadowed"),
        (summary.repaired, "repaired"),
        (summary.refused, "broken"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let parts = counts.map(|(count, what)| format!("{count} {what}"));
    let first = format!("{for_models} of {} for models", summary.found);
    let parts: Vec<_> = std::iter::once(first).chain(parts).collect();
    parts.join(", ")
}

fn project_text(environment: &Environment, skills: &Skills, doctor: &Doctor) -> String {
    let folder = display_path(environment.project());
    let roots = doctor.roots.iter().filter(|root| root.scope == "project");
    let number: usize = roots.map(|root| root.skills).sum();
    let report = skills.report();
    let is_trusted = report.roots.iter().any(|root| root.trusted_by.is_some());
    let state = match (number, is_trusted) {
        (0, _) => "no skills of its own".to_owned(),
        (number, true) => format!("trusted, {}", pluralize(number, "skill", "skills")),
        (number, false) => {
            let withheld = pluralize(number, "skill is", "skills are");
            let clients = clients_that_list_untrusted(skills, environment);
            if clients.is_empty() {
                format!("not trusted: its {withheld} not given to models")
            } else {
                let clients = clients.join(", ");
                format!(
                    "not trusted: its {withheld} withheld by Skillfold, but listed by {clients}"
                )
            }
        }
    };
    format!("{folder}: {state}")
}

fn clients_text(clients: &[ClientState]) -> String {
    let text = |state: &ClientState| {
        let what = match (state.has_server, state.has_hook) {
            (true, true) => "server and hook",
            (true, false) => "server",
            (false, true) => "hook",
            (false, false) => "not set up",
        };
        format!("{}: {what}", state.client.title())
    };
    let clients: Vec<_> = clients.iter().map(text).collect();
    if clients.is_empty() {
        return "none found".to_owned();
    }
    clients.join("; ")
}

/// Returns what a client's model pays for the skills, if the server is set up in it.
fn cost_of(skills: &Skills, state: &ClientState) -> Option<String> {
    let client = state.known().filter(|_| state.has_server)?;
    let (prompt, _) = client_prompt(skills, client);
    let text = format!(
        "{}: {}",
        state.client.title(),
        cost_text(all_tokens(&prompt), prompt.saved_tokens)
    );
    if prompt.own_skills > 0 && ListCosts::new(skills, client).saves() {
        let name = state.client;
        return Some(format!(
            "{text}; `skillfold setup {name} --list ours` turns off its own list"
        ));
    }
    Some(text)
}

/// Returns what the last look for newer versions found, in the project and for the user.
fn outdated(skills: &Skills) -> Option<String> {
    let looks = [InstallScope::Project, InstallScope::User].map(|scope| {
        let registry = skills.registry(scope).ok()?;
        registry.last_look().ok()?
    });
    let looks: Vec<LastLook> = looks.into_iter().flatten().collect();
    let skills: usize = looks.iter().map(|look| look.skills.len()).sum();
    let oldest = looks.iter().map(|look| &look.time).min()?;
    let day = oldest.split('T').next().unwrap_or(oldest);
    let text = pluralize(skills, "skill is outdated", "skills are outdated");
    (skills > 0).then(|| format!("{text}, as of {day}"))
}

fn next_steps(
    summary: &DoctorSummary,
    [waiting, updates]: [usize; 2],
    is_broken: bool,
    clients: &[ClientState],
) -> Vec<(&'static str, &'static str)> {
    let is_missing = |state: &ClientState| !state.has_server && !state.has_hook;
    let steps = [
        (
            summary.untrusted > 0,
            "trust",
            "review the project's skills, and let models have them",
        ),
        (
            summary.held > 0,
            "trust --held",
            "review new skills, and let models have them",
        ),
        (waiting > 0, "review", "see what agents propose, and decide"),
        (updates > 0, "update", "see newer versions, and decide"),
        (
            is_broken || summary.refused > 0,
            "doctor",
            "see what is broken, and how to fix it",
        ),
        (
            summary.repaired > 0,
            "check",
            "see mistakes that make other clients drop a skill",
        ),
        (
            clients.iter().any(is_missing),
            "setup",
            "connect your clients",
        ),
        (summary.found == 0, "new NAME", "write a skill"),
        (
            summary.active > 0,
            "why \"REQUEST\"",
            "see which skill a request selects, and why",
        ),
        (true, "list", "see all skills"),
    ];
    let steps = steps.into_iter().filter(|(is_due, ..)| *is_due);
    steps
        .map(|(_, command, what)| (command, what))
        .take(MAX_STEPS)
        .collect()
}
