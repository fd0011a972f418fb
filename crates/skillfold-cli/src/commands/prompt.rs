//! `skillfold prompt`

use std::fmt::Write as _;
use std::process::ExitCode;

use skillfold::core::ContextLifetime;
use skillfold::core::diagnostic::visible;
use skillfold::view::{DecisionView, Document, Prompt};
use skillfold::{Skills, client::Client, conversation::SessionFile};
use skillfold_hook::HookClient;

use crate::arguments::{self, Global};
use crate::client_state::{all_tokens, client_prompt, cost_text, title};
use crate::commands::why::{likelihood, say_unread};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::output::{DIM, Output, paint, pluralize};

/// Maximum matching skills listed.
const MAX_DECISIONS: usize = 20;

pub(crate) fn run(
    global: &Global,
    options: &arguments::Prompt,
    output: &mut Output,
) -> CommandResult {
    let skills = host::skills(global, output)?;
    match (options.client, &options.request) {
        (Some(client), None) => return run_for_client(client, &skills, output),
        (Some(client), Some(request)) => return preview_hook(client, request, &skills, output),
        (None, _) => {}
    }
    let Some(request) = &options.request else {
        let message = "Name a request, or a client with `--client`";
        return Err(Failure::Usage(message.to_owned()));
    };
    let policy = skills.report().settings.policy();
    let file = match &options.session {
        Some(path) => {
            let path = host::environment(global)?.directory().join(path);
            Some(SessionFile::open(&path)?)
        }
        None => None,
    };
    let state = file.as_ref().and_then(SessionFile::state);
    let is_resumed = state.is_some();
    let mut session = match state {
        Some(state) => skills.resume(policy, state.clone()).with_project_files(),
        None => skills.session(policy, ContextLifetime::History),
    };
    let (listing, plain) = (session.listing(), session.plain_list_tokens());
    let turn = session.turn(request);
    if let Some(file) = file {
        file.save(session.state())?;
    }
    let mut prompt = Prompt::new(request, session.policy(), &listing, &turn, plain);
    if is_resumed {
        // The model has it from the first request.
        prompt.listing = None;
        prompt.tokens = prompt.added_tokens;
    }
    if output.is_json() {
        return output.json(Document::Prompt(Box::new(prompt)));
    }
    let listed = prompt.listing.as_ref().map(|listing| &*listing.text);
    let parts = [listed, prompt.text.as_deref()];
    let text: Vec<&str> = parts.into_iter().flatten().collect();
    if !text.is_empty() {
        let mut text = text.join("\n");
        // The next output on a terminal starts on its own line; the JSON has the exact text.
        if !text.ends_with('\n') {
            text.push('\n');
        }
        output.skill_text(text.as_bytes())?;
    }
    say_costs(&prompt, output);
    say_unread(
        prompt.decided.unread,
        prompt.decided.unread_by_patterns,
        output,
    );
    host::say_search_problem(&skills, output);
    host::say_withheld(&skills.catalog(), output);
    Ok(ExitCode::SUCCESS)
}

/// Prints what each part costs, and the decision for each match.
fn say_costs(prompt: &Prompt, output: &mut Output) {
    for decision in prompt.decided.decisions.iter().take(MAX_DECISIONS) {
        output.say(format!(
            "{}: {}",
            visible(&decision.id),
            decision_text(decision)
        ));
    }
    let more = prompt.decided.decisions.len().saturating_sub(MAX_DECISIONS);
    if more > 0 {
        let more = pluralize(more, "more skill matches", "more skills match");
        output.say(format!("{more}; `--json` has them all"));
    }
    if let Some(listing) = &prompt.listing {
        let skills = pluralize(listing.skills, "skill", "skills");
        output.say(format!(
            "listing: {} tokens for {skills}, {} shortened, {} left out",
            listing.tokens,
            listing.shortened.len(),
            listing.left_out.len()
        ));
    }
    output.say(format!(
        "request: tier {}, {} tokens",
        prompt.tier, prompt.added_tokens
    ));
    say_comparison(
        prompt.tokens,
        &prompt.decided.counted_by,
        prompt.plain_list_tokens,
        output,
    );
}

/// Prints the tokens in total, beside those of a plain list of all skills.
fn say_comparison(tokens: u64, counted_by: &str, plain: u64, output: &mut Output) {
    output.say(paint(
        DIM,
        format!("{tokens} tokens ({counted_by}); a list of all full descriptions takes {plain}"),
    ));
}

/// Prints what a client's model gets from the server before any request: the instructions and the tools.
fn run_for_client(client: &'static Client, skills: &Skills, output: &mut Output) -> CommandResult {
    let (prompt, listing) = client_prompt(skills, client);
    if output.is_json() {
        return output.json(Document::ClientPrompt(prompt));
    }
    let mut text = prompt.instructions.clone();
    for tool in &prompt.tools {
        // Writing to a string does not fail.
        let _ = writeln!(text, "\n{}: {}", tool.name, tool.description);
    }
    output.skill_text(text.as_bytes())?;
    let skills = pluralize(listing.skills, "skill", "skills");
    output.say(format!(
        "instructions: {} tokens for {skills}, {} shortened, {} not listed",
        prompt.tokens, prompt.shortened, prompt.unlisted
    ));
    output.say(format!("tools: {} tokens", prompt.tool_tokens));
    let name = title(client);
    if let Some(tokens) = prompt.own_tokens {
        let skills = pluralize(prompt.own_skills, "skill", "skills");
        output.say(format!(
            "{name}'s own list: about {tokens} tokens for {skills}"
        ));
    }
    let counted_by = format!(" ({})", prompt.counted_by);
    output.say(paint(
        DIM,
        format!(
            "{}{counted_by}",
            cost_text(all_tokens(&prompt), prompt.saved_tokens)
        ),
    ));
    Ok(ExitCode::SUCCESS)
}

/// Prints what a client's hook adds to a request.
fn preview_hook(
    client: &'static Client,
    request: &str,
    skills: &Skills,
    output: &mut Output,
) -> CommandResult {
    let hook = client.id.parse::<HookClient>().ok();
    let bars = skills.learned_bars();
    let preview = hook.and_then(|hook| skillfold_hook::preview(hook, skills, bars, request));
    let Some(preview) = preview else {
        let why = format!("{} has no hook, or hooks are turned off", title(client));
        return Err(Failure::Usage(why));
    };
    let mut session = skills.session(preview.policy.clone(), ContextLifetime::History);
    let (listing, plain) = (session.listing(), session.plain_list_tokens());
    let mut prompt = Prompt::new(request, &preview.policy, &listing, &preview.turn, plain);
    prompt.text = preview.text;
    if output.is_json() {
        return output.json(Document::Prompt(Box::new(prompt)));
    }
    if let Some(text) = &prompt.text {
        output.skill_text(format!("{text}\n").as_bytes())?;
    }
    say_costs(&prompt, output);
    say_unread(
        prompt.decided.unread,
        prompt.decided.unread_by_patterns,
        output,
    );
    host::say_search_problem(skills, output);
    host::say_withheld(&skills.catalog(), output);
    Ok(ExitCode::SUCCESS)
}

fn decision_text(decision: &DecisionView) -> String {
    let how = match (decision.signal.as_str(), decision.confidence) {
        ("search", Some(confidence)) => format!("search, {}", likelihood(confidence, false)),
        (signal, _) => format!("{signal} `{}`", visible(&decision.evidence)),
    };
    let what = match decision.outcome.as_str() {
        "given" => "its instructions are given",
        "no_room" => "its instructions do not fit the budget",
        "later" => "others came first",
        "suggested" => "suggested in a line",
        "failed" => "its instructions could not be loaded",
        other => other,
    };
    match decision.tokens {
        Some(tokens) => format!("{how}; {what} ({tokens} tokens)"),
        None => format!("{how}; {what}"),
    }
}
