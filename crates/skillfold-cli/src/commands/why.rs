//! `skillfold why`

use std::process::ExitCode;

use skillfold::client::Client;
use skillfold::core::choose::{NearMiss, TriggerKind};
use skillfold::core::diagnostic::visible;
use skillfold::core::explain::UnmatchedReason;
use skillfold::core::text::ellipsize;
use skillfold::core::{ContextLifetime, Error};
use skillfold::store::PendingProposal;
use skillfold::view::{Bytes, Document, HookPrompts, LearnedBar, MatchedSkill, Unmatched, Why};
use skillfold::{
    Skills,
    reports::{HookPrompt, HookPromptSkill},
};

use crate::arguments::{self, Global};
use crate::client_state::{chosen, client_policy, title};
use crate::commands::stats;
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::ask::ask_line;
use crate::terminal::choose;
use crate::terminal::output::{BOLD, DIM, Output, paint, pluralize};

/// Maximum triggers of a skill shown.
const MAX_TRIGGERS: usize = 5;

/// Maximum skills shown that were nearest to being chosen.
const MAX_NEAREST: usize = 3;

/// Maximum matching skills shown.
const MAX_MATCHES: usize = 20;

/// Maximum characters of a quote.
const MAX_QUOTE_CHARS: usize = 60;

pub(crate) fn run(global: &Global, options: &arguments::Why, output: &mut Output) -> CommandResult {
    if let Some(number) = options.last {
        return show_last(global, number.get().into(), options.numbers, output);
    }
    let skills = host::skills(global, output)?;
    let client = chosen(options.client, &host::environment(global)?);
    let client_policy = client.and_then(|client| client_policy(&skills, client));
    if let (Some(client), None) = (options.client, &client_policy) {
        let why = format!("{} has no hook, or hooks are turned off", title(client));
        return Err(Failure::Usage(why));
    }
    let client = client.filter(|_| client_policy.is_some());
    let session = if let Some(policy) = client_policy {
        skills.session(policy, ContextLifetime::History)
    } else {
        let policy = skills.report().settings.policy();
        let mut session = skills.session(policy, ContextLifetime::History);
        // As for a model: a skill that is already listed is not announced again.
        session.listing();
        session
    };
    let (mut ids, mut absent) = (Vec::new(), Vec::new());
    for named in &options.skill {
        if is_proposed(&skills, named) {
            absent.push(Unmatched::absent(named, UnmatchedReason::Proposed));
            continue;
        }
        let named = Some(&**named).filter(|id| !id.is_empty());
        ids.push(choose::skill_id(named, &skills.catalog(), output)?);
    }
    let ids: Vec<&str> = ids.iter().map(|id| &**id).collect();
    let request = if let Some(request) = &options.request {
        request.clone()
    } else {
        ask_line("For which request? ", output)
            .filter(|request| !request.is_empty())
            .ok_or(Failure::Interrupted)?
    };
    let request = &*request;
    let mut explanation = session.why(request, &ids)?;
    if explanation.turn.decisions.is_empty() && options.skill.is_empty() {
        // Nothing was chosen: say how far the nearest skills were from it.
        let nearest = skills.search(request, MAX_NEAREST);
        let ids: Vec<_> = nearest.hits.iter().map(|hit| &*hit.id).collect();
        explanation = session.why(request, &ids)?;
    }
    let mut why = Why::new(request, session.policy(), &explanation);
    why.unmatched.extend(absent);
    why.client = client.map(|client| client.id.to_owned());
    if output.is_json() {
        return output.json(Document::Why(Box::new(why)));
    }
    print(&why, options.skill.is_empty(), options.numbers, output)?;
    if let Some(client) = client {
        say_client(client, &why, &skills, output);
    }
    host::say_search_problem(&skills, output);
    host::say_withheld(&skills.catalog(), output);
    Ok(ExitCode::SUCCESS)
}

/// Says for which client the answer holds, and which of the skills that client lists itself.
fn say_client(client: &'static Client, why: &Why, skills: &Skills, output: &mut Output) {
    let name = title(client);
    output.say(paint(
        DIM,
        format!("for {name}'s model; `--client` shows another's"),
    ));
    let (list, catalog) = (skills.own_list(client), skills.catalog());
    let matched = why
        .matched
        .iter()
        .filter_map(|it| catalog.get(&it.decision.id));
    let listed: Vec<_> = matched
        .filter(|it| list.shows(it))
        .map(|it| it.id().to_owned())
        .collect();
    if !listed.is_empty() {
        let ids = listed.join(", ");
        output.say(format!("{name} lists these itself: {}", visible(&ids)));
    }
}

/// Returns whether there is no such skill, but an agent has proposed it.
fn is_proposed(skills: &Skills, id: &str) -> bool {
    let is_meant =
        |waiting: &PendingProposal| waiting.proposal.base.is_none() && waiting.proposal.skill == id;
    let waiting = || skills.waiting_proposals().unwrap_or_default();
    skills.catalog().get(id).is_none() && waiting().iter().any(is_meant)
}

fn print(why: &Why, is_unasked: bool, numbers: bool, output: &mut Output) -> Result<(), Failure> {
    if why.matched.is_empty() {
        output.line(no_match_text(why, is_unasked && !why.unmatched.is_empty()))?;
    }
    for matched in why.matched.iter().take(MAX_MATCHES) {
        output.line(match_text(matched, numbers))?;
    }
    let more = why.matched.len().saturating_sub(MAX_MATCHES);
    if more > 0 {
        let more = pluralize(more, "more skill matches", "more skills match");
        output.line(format!("{more}; `--json` has them all"))?;
    }
    for unmatched in &why.unmatched {
        if is_unasked {
            let distance = distance_text(unmatched).unwrap_or_else(|| unmatched.message.clone());
            output.line(format!("-  {}\n   {distance}", visible(&unmatched.id)))?;
        } else {
            print_unmatched(unmatched, output)?;
        }
    }
    say_unread(why.unread, why.unread_by_patterns, output);
    let tier = match &*why.matched {
        [] => String::new(),
        _ => format!("tier {}, ", why.tier),
    };
    output.say(paint(
        DIM,
        format!(
            "{} mode, {tier}{} tokens ({})",
            why.mode, why.added_tokens, why.counted_by
        ),
    ));
    Ok(())
}

/// Prints which bytes of a request were skipped.
pub(crate) fn say_unread(
    unread: Option<Bytes>,
    unread_by_patterns: Option<Bytes>,
    output: &mut Output,
) {
    let parts = [(unread, "matching"), (unread_by_patterns, "patterns")];
    for (unread, who) in parts {
        if let Some(Bytes { start, end, .. }) = unread {
            output.say(format!(
                "{who} skipped bytes {start} to {end} of the request: it is too long"
            ));
        }
    }
}

/// Returns that no skill is selected, with a hint.
fn no_match_text(why: &Why, is_unasked: bool) -> &'static str {
    if why.mode == "catalog" {
        "no skill is selected: in `catalog` mode the model loads skills itself"
    } else if is_unasked {
        "no skill is selected; `--skill ID` explains why one is not. The nearest:"
    } else {
        "no skill is selected"
    }
}

/// Returns the text for a matching skill.
fn match_text(matched: &MatchedSkill, numbers: bool) -> String {
    let decision = &matched.decision;
    let how = match (decision.signal.as_str(), decision.confidence) {
        ("mention", _) => "the request names it".to_owned(),
        ("phrase", _) => "a trigger phrase matches".to_owned(),
        ("search", Some(confidence)) => {
            format!("search finds it: {}", likelihood(confidence, numbers))
        }
        _ => "a trigger matches".to_owned(),
    };
    let location = match (&matched.quote, matched.place) {
        (Some(text), Some(location)) => format!(
            ": `{}` at bytes {} to {}",
            quote(text),
            location.start,
            location.end
        ),
        _ => String::new(),
    };
    // A trigger with the same text as the match is not repeated.
    let is_same = matched
        .quote
        .as_ref()
        .is_some_and(|quote| quote.to_lowercase() == decision.evidence.to_lowercase());
    let evidence = if is_same || decision.evidence.is_empty() {
        String::new()
    } else {
        format!(" (by `{}`)", quote(&decision.evidence))
    };
    let what = match decision.outcome.as_str() {
        "given" => "its instructions are given",
        "no_room" => "its instructions do not fit the budget; it gets a line",
        "later" => "others come first; it gets a line",
        "suggested" => "suggested in a line",
        "failed" => "its instructions cannot be loaded",
        other => other,
    };
    let tokens = match decision.tokens {
        None => String::new(),
        Some(tokens) if decision.outcome == "given" => format!(", {}", token_count(tokens)),
        Some(tokens) => format!("; its instructions have {}", token_count(tokens)),
    };
    let restraint = match &decision.restraint {
        Some(restraint) => format!("; {restraint}"),
        None => String::new(),
    };
    let learned = match &matched.learned {
        Some(learned) => format!("\n   {}", learned_text(&decision.id, learned)),
        None => String::new(),
    };
    format!(
        "{}. {}\n   {how}{location}{evidence}\n   tier {}: {what}{restraint}{tokens}{learned}",
        matched.rank,
        visible(&decision.id),
        matched.tier
    )
}

fn print_unmatched(unmatched: &Unmatched, output: &mut Output) -> Result<(), Failure> {
    output.line(format!(
        "-  {}\n   {}\n   hint: {}",
        visible(&unmatched.id),
        unmatched.message,
        unmatched.hint
    ))?;
    if let Some(distance) = distance_text(unmatched) {
        output.line(format!("   {distance}"))?;
    }
    if let Some(learned) = &unmatched.learned {
        output.line(format!("   {}", learned_text(&unmatched.id, learned)))?;
    }
    for trigger in unmatched.triggers.iter().take(MAX_TRIGGERS) {
        output.line(format!("   {}", near_text(trigger)))?;
    }
    let more = unmatched.triggers.len().saturating_sub(MAX_TRIGGERS) + unmatched.more_triggers;
    if more > 0 {
        output.line(format!(
            "   {}",
            pluralize(more, "more trigger", "more triggers")
        ))?;
    }
    Ok(())
}

/// Returns how far a skill was from being chosen by search, and which words would do.
fn distance_text(unmatched: &Unmatched) -> Option<String> {
    let needed = unmatched.needed?;
    let percent = |share: f32| format!("{:.0} %", share * 100.0);
    let found = match unmatched.confidence {
        Some(confidence) => {
            format!(
                "{} ({})",
                percent(confidence),
                likelihood(confidence, false)
            )
        }
        None => "not found".to_owned(),
    };
    let enough = unmatched.enough_words.iter();
    let enough: Vec<_> = enough.map(|word| format!("`{}`", quote(word))).collect();
    let words = match &*enough {
        [] => "its name in the request would select it".to_owned(),
        [word] => format!("{word} in the request would select it"),
        [words @ .., last] => {
            let words = words.join(", ");
            format!("{words} and {last} in the request would select it")
        }
    };
    Some(format!(
        "by search: {found}, needs {}; {words}",
        percent(needed)
    ))
}

/// Returns what the use of a skill has taught.
fn learned_text(id: &str, learned: &LearnedBar) -> String {
    let percent = |share: f32| format!("{:.0} %", share * 100.0);
    let times = |count: f64| match count {
        0.0 => "never".to_owned(),
        1.0 => "once".to_owned(),
        2.0 => "twice".to_owned(),
        count => format!("{count:.0} times"),
    };
    let mut parts = Vec::new();
    if learned.ignored + learned.used > 0.0 {
        let suggested = times(learned.ignored + learned.used);
        let used = times(learned.used);
        parts.push(format!("suggested {suggested} lately, used {used}"));
    }
    if learned.missed > 0.0 {
        parts.push(format!(
            "used {} without a suggestion",
            times(learned.missed)
        ));
    }
    if parts.is_empty() {
        parts.push("some time ago".to_owned());
    }
    format!(
        "by use: {}; a line from {}, usually {}; `skillfold stats --forget {}` resets it",
        parts.join(", "),
        percent(learned.bar),
        percent(learned.usual_bar),
        visible(id)
    )
}

/// Returns how close a request comes to a trigger.
fn near_text(near: &NearMiss) -> String {
    let trigger = quote(&near.trigger);
    let words = |words: &[Box<str>]| {
        let words = words.iter().map(|word| format!("`{}`", quote(word)));
        words.collect::<Vec<_>>().join(", ")
    };
    match near.kind {
        TriggerKind::Pattern => format!("pattern `{trigger}`: does not match"),
        TriggerKind::BadPattern => {
            format!("pattern `{trigger}`: not valid; see `skillfold doctor`")
        }
        TriggerKind::UnusedPattern => {
            format!("pattern `{trigger}`: ignored, the skill has too many patterns")
        }
        _ if near.found.is_empty() => format!("trigger `{trigger}`: not in the request"),
        _ if near.missing.is_empty() => {
            format!("trigger `{trigger}`: its words are in the request, but not as a phrase")
        }
        _ => format!(
            "trigger `{trigger}`: {} found, {} missing",
            words(&near.found),
            words(&near.missing)
        ),
    }
}

/// Shows what the hook did for the last prompts.
fn show_last(global: &Global, number: usize, numbers: bool, output: &mut Output) -> CommandResult {
    let prompts = HookPrompt::read_last(stats::hook_log(global)?, number)
        .map_err(|error| Error::read("the hook's log", error))?;
    if output.is_json() {
        return output.json(Document::HookPrompts(HookPrompts::new(prompts)));
    }
    if prompts.is_empty() {
        output.say("The hook has logged no prompts yet");
    }
    for prompt in &prompts {
        let conversation = prompt.conversation.as_deref();
        let conversation = visible(conversation.unwrap_or("without a name"));
        let head = format!(
            "{}  {}  conversation {conversation}",
            visible(&prompt.time),
            visible(&prompt.client)
        );
        output.line(paint(BOLD, head))?;
        match &prompt.request {
            Some(request) => output.line(format!("  {}", quote(request)))?,
            None => output.line(paint(DIM, "  (`log_content` is off)"))?,
        }
        if prompt.skills.is_empty() {
            output.line("  nothing was added")?;
        }
        for skill in &prompt.skills {
            output.line(hook_skill_text(skill, numbers))?;
        }
        let uses = [
            (&prompt.loaded, "loaded by the model"),
            (&prompt.ignored, "not loaded by the model"),
            (&prompt.missed, "loaded by the model, but not offered"),
        ];
        for (ids, what) in uses {
            for id in ids {
                output.line(format!("  {}: {what}", visible(id)))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns what the hook did with a skill, and why.
fn hook_skill_text(skill: &HookPromptSkill, numbers: bool) -> String {
    let what = match skill.outcome.as_str() {
        "given" => "instructions given",
        "suggested" => "suggested in a line",
        "named" => "named, the client loads it itself",
        "known" => "nothing added, the model knows of it",
        "no_room" => "suggested in a line, its instructions are too long for the client",
        "later" => "left out, others came first",
        other => other,
    };
    let how = match skill.by.as_str() {
        "earlier" => "again, after a compaction".to_owned(),
        "mention" => "the prompt names it".to_owned(),
        "search" => "search finds it".to_owned(),
        // What matched is logged only with `log_content`.
        _ if skill.evidence.is_empty() => "a trigger matches".to_owned(),
        _ => format!("trigger `{}`", quote(&skill.evidence)),
    };
    let likely = match skill.confidence {
        Some(confidence) if skill.by == "search" => {
            #[expect(clippy::cast_possible_truncation, reason = "it is between 0 and 1")]
            let confidence = confidence as f32;
            format!(": {}", likelihood(confidence, numbers))
        }
        _ => String::new(),
    };
    format!(
        "  {}: {} ({how}{likely})",
        visible(&skill.id),
        visible(what)
    )
}

/// Returns a probability as a word, and as a percentage if asked for.
pub(crate) fn likelihood(confidence: f32, with_number: bool) -> String {
    let word = match confidence {
        0.6.. => "strong",
        0.4.. => "likely",
        0.15.. => "possible",
        _ => "unlikely",
    };
    if with_number {
        format!("{word}, {:.0} %", confidence * 100.0)
    } else {
        word.to_owned()
    }
}

fn token_count(tokens: u64) -> String {
    pluralize(
        usize::try_from(tokens).unwrap_or(usize::MAX),
        "token",
        "tokens",
    )
}

/// Returns the start of a text with control characters made visible.
fn quote(text: &str) -> String {
    ellipsize(&visible(text), MAX_QUOTE_CHARS).into_owned()
}
