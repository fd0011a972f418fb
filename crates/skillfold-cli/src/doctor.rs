//! `skillfold doctor`

use std::process::ExitCode;

use skillfold::core::Entry;
use skillfold::core::catalog::Status;
use skillfold::core::diagnostic::visible;
use skillfold::view::{Doctor, DoctorSummary, Document, HookState, RootCacheState, RootState};
use skillfold::{Conversations, DiscoveryReport, Environment, SettingFinding, Skills};
use skillfold_setup::{Client, ClientFile, SetupChange, SetupPlan};

use crate::arguments::Global;
use crate::failure::{EXIT_PROBLEMS, Failure};
use crate::host;
use crate::output::{BAD, BOLD, DIM, GOOD, Output, WARN, paint, pluralize, print_findings};
use crate::show;

/// Indentation of findings.
const INDENT: &str = "      ";

pub(crate) fn run(global: &Global, output: &mut Output) -> Result<ExitCode, Failure> {
    let skills = host::host(global)?.discover_lenient();
    let environment = host::environment(global)?;
    let doctor = Doctor::new(&skills).with_hooks(hooks(&environment));
    let report = skills.report();
    let has_error = |root: &RootState| {
        root.outcome == "missing"
            || root
                .findings
                .iter()
                .any(|finding| finding.severity == "error")
    };
    let mut problems = report.settings.findings.iter();
    let is_broken = doctor.summary.refused > 0
        || doctor.roots.iter().any(has_error)
        || problems.any(SettingFinding::is_fatal);
    if output.is_json() {
        output.json(Document::Doctor(doctor))?;
    } else {
        print_settings(&report, output)?;
        print_roots(&doctor.roots, output)?;
        print_skills(&skills, output)?;
        print_refused(&skills, output)?;
        print_hooks(&doctor.hooks, output)?;
        output.say(summary_text(&doctor.summary));
    }
    Ok(ExitCode::from(if is_broken { EXIT_PROBLEMS } else { 0 }))
}

/// Returns the hooks of the clients that the user has.
fn hooks(environment: &Environment) -> Vec<HookState> {
    let heard = Conversations::of_user(environment).map(|conversations| conversations.last_heard());
    let heard = heard.unwrap_or_default();
    let clients = Client::ALL.into_iter();
    let clients = clients.filter(|client| client.has_hooks() && client.is_used(environment));
    clients
        .map(|client| {
            let name = client.name();
            let removal = SetupPlan::undo_hook(environment, client, ClientFile::User);
            let is_installed = removal.is_ok_and(|plan| plan.change() != SetupChange::Nothing);
            HookState::new(name, is_installed, heard.get(name).copied())
        })
        .collect()
}

fn print_hooks(hooks: &[HookState], output: &mut Output) -> Result<(), Failure> {
    if hooks.is_empty() {
        return Ok(());
    }
    output.line(paint(BOLD, "Hooks"))?;
    for hook in hooks {
        let client = &hook.client;
        let state = match (&hook.last_heard, hook.installed) {
            (Some(heard), true) => paint(GOOD, format!("last heard {heard}")),
            (Some(heard), false) => {
                format!(
                    "last heard {heard}; not in the configuration, so it was removed or is a plugin's"
                )
            }
            (None, true) if client == "codex" => paint(
                WARN,
                "installed, not heard in 30 days; type `/hooks` in Codex to approve it",
            ),
            (None, true) => paint(WARN, "installed, not heard in 30 days"),
            (None, false) => paint(
                DIM,
                format!("not installed; `skillfold setup {client} --hook` adds it"),
            ),
        };
        output.line(format!("  {client:12}  {state}"))?;
    }
    output.line("")
}

fn print_settings(report: &DiscoveryReport, output: &mut Output) -> Result<(), Failure> {
    let problems = report.settings.findings.iter();
    let mut problems = problems.chain(&report.trusted.findings).peekable();
    if problems.peek().is_none() {
        return Ok(());
    }
    output.line(paint(BOLD, "Settings"))?;
    for problem in problems {
        output.line(format!("  {}", problem.origin))?;
        print_findings([&problem.diagnostic], INDENT, output)?;
    }
    output.line("")
}

fn print_roots(roots: &[RootState], output: &mut Output) -> Result<(), Failure> {
    if let Some(rule) = roots.iter().find_map(|root| root.trusted_by.as_ref()) {
        output.line(paint(BOLD, "Project"))?;
        output.line(format!("  trusted by {rule}\n"))?;
    }
    output.line(paint(BOLD, "Roots"))?;
    let label_width = roots
        .iter()
        .map(|root| root.root.chars().count())
        .max()
        .unwrap_or_default();
    for root in roots {
        let owner = root.plugin.as_ref().unwrap_or(&root.scope);
        let owner = if root.trusted {
            owner.clone()
        } else {
            format!("{owner}, untrusted")
        };
        let state = match root.outcome.as_str() {
            "searched" => paint(GOOD, count_text(root)),
            "stale" => paint(
                BAD,
                format!("{}, could not be read whole", count_text(root)),
            ),
            "absent" => paint(DIM, "missing"),
            "same" => paint(
                DIM,
                format!(
                    "the same as {}",
                    visible(root.same_as.as_deref().unwrap_or_default())
                ),
            ),
            _ => paint(BAD, "missing"),
        };
        let label = format!("{:label_width$}", visible(&root.root));
        output.line(format!("  {label}  {owner:18}  {state}"))?;
        if let Some(cache) = &root.memory {
            output.line(format!("{INDENT}{}", cache_text(cache)))?;
        }
        for diagnostic in &root.findings {
            output.line(format!(
                "      {}[{}]: {}",
                diagnostic.severity, diagnostic.code, diagnostic.message
            ))?;
            output.line(format!("      {}: {}", paint(DIM, "hint"), diagnostic.hint))?;
        }
    }
    output.line("")
}

/// Describes how a root's cache was used.
fn cache_text(cache: &RootCacheState) -> String {
    let counts = format!("{} cached, {} read", cache.kept, cache.read);
    let file = visible(&cache.file);
    match (&cache.problem, cache.written) {
        (Some(problem), _) => paint(
            WARN,
            format!("{counts}; nothing is missing, but: {}", visible(problem)),
        ),
        (None, true) => paint(DIM, format!("{counts}; written to {file}")),
        (None, false) => paint(DIM, format!("{counts}; kept in {file}")),
    }
}

fn count_text(root: &RootState) -> String {
    let skills = pluralize(root.skills, "skill", "skills");
    match root.refused {
        0 => skills,
        number => format!(
            "{skills}, {}",
            pluralize(number, "invalid SKILL.md", "invalid SKILL.md files")
        ),
    }
}

fn print_skills(skills: &Skills, output: &mut Output) -> Result<(), Failure> {
    let catalog = skills.catalog();
    if catalog.is_empty() {
        return Ok(());
    }
    output.line(paint(BOLD, "Skills"))?;
    let id_width = catalog
        .entries()
        .map(|entry| entry.id().chars().count())
        .max()
        .unwrap_or_default();
    for entry in catalog.entries() {
        let id = format!("{:id_width$}", visible(entry.id()));
        output.line(format!("  {id}  {}", state_text(&entry)))?;
        print_findings(
            entry.skill().diagnostics.iter().chain(&entry.notes()),
            INDENT,
            output,
        )?;
        if let Some(why) = entry.instructions_only_reason() {
            let what = paint(DIM, "over MCP by tools only");
            output.line(format!("{INDENT}{what}: {why}"))?;
        }
    }
    output.line("")
}

/// Describes how a skill was read, and its status.
fn state_text(entry: &Entry<'_>) -> String {
    let read = if entry.skill().repaired {
        "repaired"
    } else {
        "parsed"
    };
    let style = match entry.status() {
        Status::Active => GOOD,
        _ => WARN,
    };
    let status = show::status_text(entry);
    format!("found, {read}, {}", paint(style, status))
}

fn print_refused(skills: &Skills, output: &mut Output) -> Result<(), Failure> {
    let catalog = skills.catalog();
    if catalog.refused().is_empty() {
        return Ok(());
    }
    output.line(paint(BOLD, "No skills"))?;
    for refused in catalog.refused() {
        let root = catalog.roots()[refused.source].label();
        let folder = refused.folder.to_string();
        let path = format!("{}/{}", visible(root), visible(&folder));
        output.line(format!("  {path}  {}", paint(BAD, "found, refused")))?;
        print_findings(&refused.diagnostics, INDENT, output)?;
    }
    output.line("")
}

fn summary_text(summary: &DoctorSummary) -> String {
    let parts = [
        (summary.parsed, "parsed"),
        (summary.repaired, "repaired"),
        (summary.active, "active"),
        (summary.shadowed, "shadowed"),
        (summary.disabled, "disabled"),
        (summary.untrusted, "untrusted"),
        (summary.refused, "refused"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    match summary.found {
        0 => "No skills found. `skillfold new NAME` creates one".to_owned(),
        found => format!("{found} found: {}", parts.join(", ")),
    }
}
