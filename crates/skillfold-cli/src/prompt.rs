//! `skillfold prompt`

use std::process::ExitCode;

use skillfold::core::ContextLifetime;
use skillfold::core::diagnostic::visible;
use skillfold::view::{DecisionView, Document, Prompt};

use crate::arguments::{self, Global};
use crate::failure::Failure;
use crate::host;
use crate::output::{DIM, Output, paint, pluralize};
use crate::why::{percent, say_unread};

/// Maximum matching skills listed.
const MAX_DECISIONS: usize = 20;

pub(crate) fn run(
    global: &Global,
    options: &arguments::Prompt,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let skills = host::skills(global, output)?;
    let policy = skills.report().settings.policy();
    let mut session = skills.session(policy, ContextLifetime::History);
    let (listing, eager) = (session.listing(), session.eager_tokens());
    let turn = session.turn(&options.request);
    let prompt = Prompt::new(&options.request, session.policy(), &listing, &turn, eager);
    if output.is_json() {
        output.json(Document::Prompt(Box::new(prompt)))?;
        return Ok(ExitCode::SUCCESS);
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
    say_unread(prompt.unread, prompt.unread_by_patterns, output);
    host::say_search_problem(&skills, output);
    host::say_untrusted(&skills.catalog(), output);
    Ok(ExitCode::SUCCESS)
}

/// Prints what each part costs, and the decision for each match.
fn say_costs(prompt: &Prompt, output: &mut Output) {
    for decision in prompt.decisions.iter().take(MAX_DECISIONS) {
        output.say(format!(
            "{}: {}",
            visible(&decision.id),
            decision_text(decision)
        ));
    }
    let more = prompt.decisions.len().saturating_sub(MAX_DECISIONS);
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
    let saved = prompt.eager_tokens.saturating_sub(prompt.tokens) * 100;
    let percent = saved.checked_div(prompt.eager_tokens).unwrap_or_default();
    output.say(paint(
        DIM,
        format!(
            "{} tokens ({}); all instructions would be {}, {percent} % are saved",
            prompt.tokens, prompt.counted_by, prompt.eager_tokens
        ),
    ));
}

fn decision_text(decision: &DecisionView) -> String {
    let how = match (decision.signal.as_str(), decision.confidence) {
        ("search", Some(confidence)) => format!("search, {} likely", percent(confidence)),
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
