//! `skillfold doctor`

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use anstyle::Style;
use skillfold::core::catalog::Status;
use skillfold::core::diagnostic::{Severity, visible};
use skillfold::core::{Code, Diagnostic, Entry};
use skillfold::discovery::CLIENT_FOLDERS;
use skillfold::view::{
    ClientCost, Doctor, DoctorSummary, Document, HookState, PolicyView, ProgramState,
    RootCacheState, RootState,
};
use skillfold::{
    Environment, Skills, conversation::Conversations, discovery::DiscoveryReport,
    settings::SettingFinding,
};
use skillfold_setup::SetupClient;

use crate::arguments::{Doctor as Options, Global};
use crate::client_state::{ClientState, all_tokens, client_prompt, cost_text, title};
use crate::commands::show;
use crate::failure::{CommandResult, EXIT_PROBLEMS, Failure};
use crate::host;
use crate::installation;
use crate::terminal::output::{
    BAD, BOLD, DIM, GOOD, Output, PLAIN, WARN, format_finding, paint, pluralize, print_findings,
    severity_style,
};
use crate::terminal::table::{Table, cut};

/// Indentation of findings.
const INDENT: &str = "      ";

/// Maximum columns of a list of ids if there is no terminal.
const MAX_ID_COLUMNS: usize = 120;

/// Maximum findings of skills that are shown one by one unasked.
const MAX_UNASKED: usize = 10;

pub(crate) fn run(global: &Global, options: &Options, output: &mut Output) -> CommandResult {
    let skills = host::host(global)?.discover_lenient().skills;
    let environment = host::environment(global)?;
    let mut doctor = Doctor::new(&skills).with_hooks(hooks(&environment));
    doctor.clients = client_costs(&skills, &environment);
    doctor.program = installation::running();
    if let Some(client) = options.client {
        doctor.hooks.retain(|it| it.client == client.id);
        doctor.clients.retain(|it| it.client == client.id);
    }
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
        || problems.any(SettingFinding::is_fatal)
        || doctor.policy.as_ref().is_some_and(|it| it.error.is_some())
        || doctor.clients.iter().any(|it| it.missing_program.is_some());
    if output.is_json() {
        output.json(Document::Doctor(doctor))?;
    } else {
        print_settings(&report, output)?;
        print_policy(doctor.policy.as_ref(), output)?;
        print_refused(&skills, options.all, output)?;
        print_skills(&skills, options.all, output)?;
        print_roots(&doctor.roots, options.all, output)?;
        print_hooks(&doctor.hooks, output)?;
        print_client_costs(&doctor.clients, output)?;
        if let (Some(client), true) = (options.client, doctor.clients.is_empty()) {
            let (name, id) = (title(client), client.id);
            output.say(format!(
                "{name} has no server of ours; `skillfold setup {id}` adds it"
            ));
        }
        if let Some(program) = &doctor.program {
            print_program(program, output)?;
        }
        output.say(summary_text(&doctor.summary));
        host::say_held(&skills.catalog(), output);
        host::say_proposals(&skills, output);
    }
    Ok(ExitCode::from(if is_broken { EXIT_PROBLEMS } else { 0 }))
}

/// Returns the hooks of the clients that the user has.
fn hooks(environment: &Environment) -> Vec<HookState> {
    let heard = Conversations::of_user(environment).map(|conversations| conversations.last_heard());
    let heard = heard.unwrap_or_default();
    let clients = SetupClient::ALL.into_iter();
    let clients = clients.filter(|client| client.has_hooks() && client.is_used(environment));
    clients
        .map(|client| {
            let name = client.name();
            let is_installed = client.has_hook(environment);
            HookState::new(name, is_installed, heard.get(name).copied())
        })
        .collect()
}

/// Returns what the models of the clients with our server pay for skills.
fn client_costs(skills: &Skills, environment: &Environment) -> Vec<ClientCost> {
    let clients = ClientState::all(environment).into_iter();
    let clients = clients.filter(|state| state.has_server);
    clients
        .filter_map(|state| Some((state.known()?, state.client)))
        .map(|(known, client)| {
            let (prompt, _) = client_prompt(skills, known);
            let missing = client.missing_program(environment);
            ClientCost {
                client: known.id.to_owned(),
                missing_program: missing.map(|it| it.to_string_lossy().into_owned()),
                own_skills: prompt.own_skills,
                tokens: all_tokens(&prompt),
                saved_tokens: prompt.saved_tokens,
            }
        })
        .collect()
}

fn print_client_costs(clients: &[ClientCost], output: &mut Output) -> Result<(), Failure> {
    if clients.is_empty() {
        return Ok(());
    }
    output.line(paint(BOLD, "Clients"))?;
    for it in clients {
        let client = &it.client;
        let state = match &it.missing_program {
            Some(program) => {
                let fix = format!("`skillfold setup {client} --force` repairs it");
                paint(
                    BAD,
                    format!("its server is missing: {}; {fix}", visible(program)),
                )
            }
            None => cost_text(it.tokens, it.saved_tokens),
        };
        output.line(format!("  {client:12}  {state}"))?;
    }
    output.line("")
}

fn print_program(program: &ProgramState, output: &mut Output) -> Result<(), Failure> {
    output.line(paint(BOLD, "Program"))?;
    let way = installation::description(&program.installed_by);
    let update = visible(&program.to_update);
    output.line(format!("  {}", visible(&program.path)))?;
    output.line(format!("{INDENT}{way}; to update, {update}"))?;
    for other in &program.others {
        let state = if other.first {
            paint(
                WARN,
                "is another program, which `skillfold` starts: it comes first on PATH",
            )
        } else {
            paint(DIM, "is another program on PATH, which is not started")
        };
        output.line(format!("  {}", visible(&other.path)))?;
        output.line(format!("{INDENT}{state}"))?;
    }
    output.line("")
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
                    "last called {heard}; not in the configuration: it was removed, or a plugin installed it"
                )
            }
            (None, true) if client == "codex" => paint(
                WARN,
                "installed, not called in 30 days; type `/hooks` in Codex to approve it",
            ),
            (None, true) => paint(WARN, "installed, not called in 30 days"),
            (None, false) => paint(
                DIM,
                format!("not installed; `skillfold setup {client}` adds it"),
            ),
        };
        output.line(format!("  {client:12}  {state}"))?;
    }
    output.line("")
}

fn print_settings(report: &DiscoveryReport, output: &mut Output) -> Result<(), Failure> {
    let mut problems = report.findings().peekable();
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

fn print_policy(policy: Option<&PolicyView>, output: &mut Output) -> Result<(), Failure> {
    let Some(policy) = policy else {
        return Ok(());
    };
    output.line(paint(BOLD, "Policy for sources"))?;
    let mut table = Table::indented(2);
    for rule in &policy.rules {
        let (value, origin) = (visible(&rule.value), visible(&rule.origin));
        table.row([(PLAIN, &*rule.name), (PLAIN, &value), (DIM, &origin)]);
    }
    output.table(&table)?;
    if let Some(error) = &policy.error {
        output.line(format!("  {}", paint(BAD, error)))?;
    }
    output.line("")
}

fn print_roots(roots: &[RootState], all: bool, output: &mut Output) -> Result<(), Failure> {
    if let Some(rule) = roots.iter().find_map(|root| root.trusted_by.as_ref()) {
        output.line(paint(BOLD, "Project"))?;
        output.line(format!("  trusted by {rule}\n"))?;
    }
    output.line(paint(BOLD, "Roots"))?;
    let is_shown = |root: &&RootState| all || root.outcome != "absent";
    let shown: Vec<_> = roots.iter().filter(is_shown).collect();
    let mut table = Table::indented(2);
    for root in &shown {
        let (style, state) = root_text(root);
        let owner = owner_text(root);
        table.row([(PLAIN, &root.root), (PLAIN, &owner), (style, &state)]);
    }
    for (root, line) in shown.iter().zip(table.lines(output.columns())) {
        output.drawing(line)?;
        if let Some(cache) = &root.memory {
            output.line(format!("{INDENT}{}", cache_text(cache)))?;
        }
        for diagnostic in &root.findings {
            output.line(format!(
                "{INDENT}{}[{}]: {}",
                diagnostic.severity, diagnostic.code, diagnostic.message
            ))?;
            output.line(format!(
                "{INDENT}{}: {}",
                paint(DIM, "hint"),
                diagnostic.hint
            ))?;
        }
    }
    let missing = roots.iter().filter(|root| !is_shown(root));
    let is_of_one_client =
        |root: &&RootState| CLIENT_FOLDERS.iter().any(|it| root.root.ends_with(it));
    let (of_one_client, shared): (Vec<_>, Vec<_>) = missing.partition(is_of_one_client);
    let mut missing: Vec<_> = shared.iter().map(|root| visible(&root.root)).collect();
    if !of_one_client.is_empty() {
        missing.push("folders of single clients".into());
    }
    if !missing.is_empty() {
        let missing = format!("searched too, but missing: {}", missing.join(", "));
        output.line(format!("  {}", paint(DIM, missing)))?;
    }
    output.line("")
}

fn owner_text(root: &RootState) -> String {
    let owner = root.plugin.as_ref().unwrap_or(&root.scope);
    if root.trusted {
        owner.clone()
    } else {
        format!("{owner}, untrusted")
    }
}

fn root_text(root: &RootState) -> (Style, String) {
    match root.outcome.as_str() {
        "searched" => (GOOD, count_text(root)),
        "stale" => (
            BAD,
            format!("{}, could not be read completely", count_text(root)),
        ),
        "absent" => (DIM, "missing".to_owned()),
        "same" => {
            let same = visible(root.same_as.as_deref().unwrap_or_default());
            (DIM, format!("the same as {same}"))
        }
        _ => (BAD, "missing".to_owned()),
    }
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

/// Prints the skills that something is wrong with; all skills if asked.
fn print_skills(skills: &Skills, all: bool, output: &mut Output) -> Result<(), Failure> {
    let catalog = skills.catalog();
    let has_problem = |entry: &Entry<'_>| {
        entry.status() != Status::Active
            || !findings(entry).is_empty()
            || entry.instructions_only_reason().is_some()
    };
    let shown = catalog.entries().filter(|entry| all || has_problem(entry));
    let shown: Vec<_> = shown.collect();
    if shown.is_empty() {
        return Ok(());
    }
    output.line(paint(BOLD, "Skills"))?;
    let number: usize = shown.iter().map(|entry| findings(entry).len()).sum();
    if all || number <= MAX_UNASKED {
        print_each(&shown, output)?;
    } else {
        print_kinds(&shown, output)?;
    }
    output.line("")
}

fn findings(entry: &Entry<'_>) -> Vec<Diagnostic> {
    let diagnostics = entry.skill().diagnostics.iter().cloned();
    diagnostics.chain(entry.notes()).collect()
}

fn print_each(entries: &[Entry<'_>], output: &mut Output) -> Result<(), Failure> {
    let mut table = Table::indented(2);
    for entry in entries {
        let (style, state) = state_text(entry);
        table.row([(PLAIN, entry.id()), (style, &state)]);
    }
    for (entry, line) in entries.iter().zip(table.lines(output.columns())) {
        output.drawing(line)?;
        print_findings(&findings(entry), INDENT, output)?;
        if let Some(why) = entry.instructions_only_reason() {
            let what = paint(DIM, "through MCP tools only");
            output.line(format!("{INDENT}{what}: {why}"))?;
        }
    }
    Ok(())
}

/// Prints each kind of finding once, with the skills that have it.
fn print_kinds(entries: &[Entry<'_>], output: &mut Output) -> Result<(), Failure> {
    let mut kinds: BTreeMap<(Reverse<Severity>, Code), BTreeSet<&str>> = BTreeMap::new();
    let mut by_tools = BTreeSet::new();
    for entry in entries {
        for finding in findings(entry) {
            let kind = (Reverse(finding.severity), finding.code);
            kinds.entry(kind).or_default().insert(entry.id());
        }
        if entry.instructions_only_reason().is_some() {
            by_tools.insert(entry.id());
        }
    }
    let mut print = |head: String, ids: &BTreeSet<&str>| {
        output.line(format!("  {head}"))?;
        let number = pluralize(ids.len(), "skill", "skills");
        let ids: Vec<_> = ids.iter().map(|id| visible(id)).collect();
        let ids = format!("{number}: {}", ids.join(", "));
        let columns = output.columns().unwrap_or(MAX_ID_COLUMNS);
        let ids = cut(&ids, columns.saturating_sub(INDENT.len()));
        output.line(format!("{INDENT}{}", paint(DIM, ids)))
    };
    for ((Reverse(severity), code), ids) in &kinds {
        let head = paint(severity_style(*severity), format!("{severity}[{code}]"));
        print(format!("{head}: {}", code.description()), ids)?;
    }
    if !by_tools.is_empty() {
        print("through MCP tools only".to_owned(), &by_tools)?;
    }
    output.line("  `skillfold show ID` explains those of one skill, `doctor --all` all")
}

/// Describes how a skill was read, and its status.
fn state_text(entry: &Entry<'_>) -> (Style, String) {
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
    (style, format!("found, {read}, {status}"))
}

fn print_refused(skills: &Skills, all: bool, output: &mut Output) -> Result<(), Failure> {
    let catalog = skills.catalog();
    let refused = catalog.refused();
    if refused.is_empty() {
        return Ok(());
    }
    output.line(paint(BOLD, "Broken"))?;
    let most = if all { usize::MAX } else { MAX_UNASKED };
    let mut last_hint = "";
    for refused in refused.iter().take(most) {
        let root = catalog.roots()[refused.source].label();
        let folder = refused.folder.to_string();
        let path = format!("{}/{}", visible(root), visible(&folder));
        output.line(format!("  {path}  {}", paint(BAD, "found, refused")))?;
        for finding in &refused.diagnostics {
            output.line(format!("{INDENT}{}", format_finding(finding)))?;
            // Many have the same mistake.
            if finding.hint() != last_hint {
                let hint = paint(DIM, "hint");
                output.line(format!("{INDENT}{hint}: {}", finding.hint()))?;
                last_hint = finding.hint();
            }
        }
    }
    if refused.len() > most {
        output.line(format!(
            "  {} more; `--all` shows them",
            refused.len() - most
        ))?;
    }
    output.line("")
}

fn summary_text(summary: &DoctorSummary) -> String {
    let parts = [
        (summary.parsed, "parsed"),
        (summary.repaired, "repaired"),
        (summary.active, "active"),
        (summary.shadowed, "shadowed"),
        (summary.incompatible, "incompatible"),
        (summary.disabled, "disabled"),
        (summary.held, "held"),
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
