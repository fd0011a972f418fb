//! `skillfold overlap`

use std::process::ExitCode;

use skillfold::core::diagnostic::visible;
use skillfold::core::text::ellipsize;
use skillfold::reports::{Overlap as Pair, Overlaps, Rival, SkillCopies};
use skillfold::view::Document;

use crate::arguments::{Global, Overlap};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::output::{BOLD, DIM, Output, paint, pluralize};

/// Maximum ids of one group of copies, and triggers of one pair, shown.
const MAX_SHOWN: usize = 10;
/// Maximum characters of a trigger shown.
const MAX_TRIGGER_CHARS: usize = 60;
/// Maximum characters of a request shown.
const MAX_REQUEST_CHARS: usize = 100;
/// The similarity from which on two skills are better one.
const SAME_TOPIC: f32 = 0.6;

pub(crate) fn run(global: &Global, options: &Overlap, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let ids: Vec<&str> = options.ids.iter().map(String::as_str).collect();
    let overlaps = skills.overlaps(&ids, options.limit.get())?;
    if output.is_json() {
        output.json(Document::Overlap(overlaps))?;
    } else {
        print(&overlaps, output)?;
        say_summary(&overlaps, output);
    }
    host::say_search_problem(&skills, output);
    host::say_withheld(&skills.catalog(), output);
    Ok(ExitCode::SUCCESS)
}

fn print(overlaps: &Overlaps, output: &mut Output) -> Result<(), Failure> {
    let hint = paint(DIM, "hint");
    for copies in &overlaps.copies {
        output.line(paint(BOLD, list(&copies.ids, "and")))?;
        output.line(format!("   {}", copies_reason(copies)))?;
        output.line(format!("   {hint}: {}", copies_advice(copies)))?;
    }
    for (number, pair) in overlaps.pairs.iter().enumerate() {
        let [one, other] = pair.ids.each_ref().map(|id| visible(id));
        let pair_line = paint(BOLD, format!("{one} and {other}"));
        output.line(format!("{}. {pair_line}", number + 1))?;
        for reason in reasons(pair) {
            output.line(format!("   {reason}"))?;
        }
        output.line(format!("   {hint}: {}", advice(pair)))?;
    }
    for crowded in overlaps.crowded.iter().take(MAX_SHOWN) {
        output.line(format!(
            "{} have the trigger {}",
            pluralize(crowded.skills, "skill", "skills"),
            quoted(&crowded.trigger)
        ))?;
    }
    Ok(())
}

/// Returns what to do about copies.
pub(crate) fn copies_advice(copies: &SkillCopies) -> &'static str {
    if copies.same_instructions {
        "keep one; remove the others, or name them in the setting `disable`"
    } else {
        "say in each description what its instructions are for, or keep one"
    }
}

/// Returns what is the same in copies.
pub(crate) fn copies_reason(copies: &SkillCopies) -> String {
    let number = copies.ids.len();
    if copies.same_instructions {
        format!("{number} copies: description, triggers and instructions are the same")
    } else {
        format!("{number} skills have the same description but different instructions")
    }
}

/// Returns why two skills compete, in plain words.
pub(crate) fn reasons(pair: &Pair) -> Vec<String> {
    let [one, other] = pair.ids.each_ref().map(|id| visible(id));
    let directions = [(&one, &other), (&other, &one)];
    let mut reasons = Vec::new();
    for (index, (own, rival)) in directions.into_iter().enumerate() {
        let how = match pair.rivals[index] {
            Rival::Ahead => "first",
            Rival::Close => "nearly as likely",
            _ => continue,
        };
        let request = pair.requests[index].as_deref().unwrap_or_default();
        let request = ellipsize(request, MAX_REQUEST_CHARS);
        reasons.push(format!(
            "a request in the words of `{own}` finds `{rival}` {how}: \"{}\"",
            visible(&request)
        ));
    }
    if !pair.triggers.is_empty() {
        let triggers: Vec<String> = pair
            .triggers
            .iter()
            .take(MAX_SHOWN)
            .map(|it| quoted(it))
            .collect();
        let more = match pair.triggers.len() - triggers.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let noun = if pair.triggers.len() == 1 {
            "trigger"
        } else {
            "triggers"
        };
        reasons.push(format!(
            "both have the {noun} {}{more}",
            triggers.join(", ")
        ));
    }
    if !pair.words.is_empty() {
        let words: Vec<_> = pair.words.iter().map(|word| visible(word)).collect();
        let words = words.join(", ");
        reasons.push(if pair.is_tied {
            format!("a request that only says {words} may find either")
        } else {
            format!("both mention: {words}")
        });
    }
    reasons
}

/// Returns what to do about two skills that compete.
pub(crate) fn advice(pair: &Pair) -> &'static str {
    let is_found = pair.is_tied || pair.rivals.iter().any(|rival| *rival != Rival::Behind);
    match (is_found, pair.triggers.is_empty()) {
        (false, _) => "remove the triggers from one of them",
        (true, _) if pair.similarity >= SAME_TOPIC => {
            "merge them, or name one in the setting `disable`"
        }
        (true, true) => {
            "say in each description when not to use it, and which skill to use instead"
        }
        (true, false) => {
            "say in each description when not to use it, and remove the triggers from one of them"
        }
    }
}

/// Returns ids as a list, at most ten.
pub(crate) fn list(ids: &[Box<str>], last: &str) -> String {
    let shown: Vec<_> = ids.iter().take(MAX_SHOWN).map(|id| visible(id)).collect();
    match (ids.len() - shown.len(), &shown[..]) {
        (0, [first @ .., end]) if !first.is_empty() => format!("{} {last} {end}", first.join(", ")),
        (0, _) => shown.join(", "),
        (more, _) => format!("{} {last} {more} more", shown.join(", ")),
    }
}

fn quoted(trigger: &str) -> String {
    format!("`{}`", ellipsize(&visible(trigger), MAX_TRIGGER_CHARS))
}

fn say_summary(overlaps: &Overlaps, output: &mut Output) {
    let compared = pluralize(overlaps.compared, "skill", "skills");
    let pairs = pluralize(overlaps.competing, "pair competes", "pairs compete");
    let groups = pluralize(overlaps.copy_groups, "group of copies", "groups of copies");
    output.say(format!("{compared} compared: {pairs}, {groups}"));
    let hidden = [
        (overlaps.competing - overlaps.pairs.len(), "pair", "pairs"),
        (
            overlaps.copy_groups - overlaps.copies.len(),
            "group",
            "groups",
        ),
    ];
    for (number, one, many) in hidden.into_iter().filter(|(number, ..)| *number > 0) {
        let more = pluralize(number, one, many);
        output.say(format!("{more} not shown; `--limit` shows more"));
    }
    if overlaps.crowded.len() > MAX_SHOWN {
        let more = pluralize(overlaps.crowded.len() - MAX_SHOWN, "trigger", "triggers");
        output.say(format!(
            "{more} of more than ten skills not shown; `--json` has them all"
        ));
    }
    if overlaps.unasked > 0 {
        let unasked = pluralize(overlaps.unasked, "pair", "pairs");
        output.say(format!(
            "{unasked} with fewer common words not compared; name a skill to compare it with all"
        ));
    }
}
