//! `skillfold test`

use std::process::ExitCode;

use skillfold::author::{
    EvaluatedQuery, EvaluatedSkill, Evaluation, EvaluationFinding, TriggeredBy,
};
use skillfold::core::diagnostic::{Severity, visible};
use skillfold::core::text::ellipsize;
use skillfold::view::{self, Document};

use crate::arguments::{Global, Test};
use crate::failure::{CommandResult, EXIT_PROBLEMS, Failure};
use crate::host;
use crate::terminal::output::{BAD, BOLD, DIM, GOOD, Output, format_finding, paint, pluralize};

/// Maximum failed queries per skill, and maximum confused pairs, shown.
const MAX_SHOWN: usize = 20;
/// Maximum characters of a query shown.
const MAX_QUERY_CHARS: usize = 100;

pub(crate) fn run(global: &Global, options: &Test, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let policy = skills.report().settings.policy();
    let ids: Vec<&str> = options.ids.iter().map(String::as_str).collect();
    let evaluation = skills.evaluate(&ids, &policy)?;
    if output.is_json() {
        let view = view::EvaluationView::new(&evaluation);
        output.json(Document::Evaluation(view))?;
    } else {
        print(&evaluation, options, output)?;
        say_summary(&evaluation, options, output);
    }
    // Also with JSON output: withheld skills are the ones a pipeline forgets to trust.
    host::say_withheld(&skills.catalog(), output);
    let is_passed = is_passed(&evaluation, options);
    Ok(ExitCode::from(if is_passed { 0 } else { EXIT_PROBLEMS }))
}

/// Returns whether every skill reaches its required share. Fails if all skills with queries are withheld, since nothing
/// was tested.
fn is_passed(evaluation: &Evaluation, options: &Test) -> bool {
    let is_good = |skill: &EvaluatedSkill| {
        let is_tested = options.ids.is_empty() || !skill.queries.is_empty();
        is_tested && skill.meets_threshold(options.at_least)
    };
    evaluation.skills.iter().all(is_good) && !is_all_withheld(evaluation, options)
}

/// Returns whether everything that could have been tested is withheld.
fn is_all_withheld(evaluation: &Evaluation, options: &Test) -> bool {
    options.ids.is_empty() && evaluation.queries() == 0 && evaluation.withheld > 0
}

fn print(evaluation: &Evaluation, options: &Test, output: &mut Output) -> Result<(), Failure> {
    let is_shown = |item: &EvaluationFinding| {
        !options.ids.is_empty() || item.diagnostic.severity > Severity::Info
    };
    let skills = evaluation.skills.iter().filter(|skill| {
        !options.ids.is_empty() || !skill.queries.is_empty() || skill.findings.iter().any(is_shown)
    });
    let skills: Vec<&EvaluatedSkill> = skills.collect();
    let widths = skills
        .iter()
        .map(|skill| visible(&skill.id).chars().count());
    let width = widths.max().unwrap_or_default();
    for skill in skills {
        let id = format!("{:width$}", visible(&skill.id));
        let id = paint(BOLD, id);
        output.line(format!("{id}  {}", result_text(skill, options)))?;
        for item in skill.findings.iter().filter(|item| is_shown(item)) {
            let file_prefix = match &*item.file {
                "" => String::new(),
                file => format!("{}: ", visible(file)),
            };
            output.line(format!(
                "    {file_prefix}{}",
                format_finding(&item.diagnostic)
            ))?;
            let hint = paint(DIM, "hint");
            output.line(format!("    {hint}: {}", item.diagnostic.hint()))?;
        }
        let wrong = skill.queries.iter().filter(|query| !query.is_expected());
        let wrong: Vec<&EvaluatedQuery> = wrong.collect();
        for query in wrong.iter().take(MAX_SHOWN) {
            let what = if query.should_trigger {
                "missed"
            } else {
                "fired "
            };
            let what = paint(BAD, what);
            output.line(format!("    {what}  {}", quote(&query.query)))?;
            output.line(format!("            {}", reason(skill, query)))?;
        }
        if let Some(more @ 1..) = wrong.len().checked_sub(MAX_SHOWN) {
            output.line(format!("    {more} more are wrong; `--json` has them all"))?;
        }
    }
    print_confused(evaluation, output)
}

fn print_confused(evaluation: &Evaluation, output: &mut Output) -> Result<(), Failure> {
    let confused = evaluation.confusions();
    if confused.is_empty() {
        return Ok(());
    }
    output.line("")?;
    output.line(paint(BOLD, "Confused"))?;
    for pair in confused.iter().take(MAX_SHOWN) {
        output.line(format!(
            "  `{}` was given instead of `{}`: {}, such as {}",
            visible(&pair.given),
            visible(&pair.expected),
            pluralize(pair.queries, "query", "queries"),
            quote(&pair.example)
        ))?;
    }
    if let Some(more @ 1..) = confused.len().checked_sub(MAX_SHOWN) {
        let more = pluralize(more, "more pair", "more pairs");
        output.line(format!("  {more}; `--json` has them all"))?;
    }
    Ok(())
}

/// Returns the result of a skill on one line.
fn result_text(skill: &EvaluatedSkill, options: &Test) -> String {
    if skill.queries.is_empty() {
        return paint(BAD, "no queries");
    }
    let style = if skill.meets_threshold(options.at_least) {
        GOOD
    } else {
        BAD
    };
    let right = format!(
        "{} of {} right",
        skill.expected_count(),
        skill.queries.len()
    );
    let percent = |share: Option<f64>| match share {
        Some(share) => format!("{:.0} %", share * 100.0),
        None => "-".to_owned(),
    };
    let (recall, precision) = (percent(skill.recall()), percent(skill.precision()));
    format!(
        "{}  recall {recall}, precision {precision}",
        paint(style, right)
    )
}

/// Returns why a query failed.
fn reason(skill: &EvaluatedSkill, query: &EvaluatedQuery) -> String {
    let why = match &query.matched {
        Some(query_match) => {
            let what = match query_match.outcome {
                "suggested" => "only suggested, its instructions were not given: ",
                "no_room" => "its instructions do not fit the budget: ",
                "later" => "others came first: ",
                "failed" => "its instructions could not be loaded: ",
                _ => "",
            };
            format!(
                "{what}{} `{}`",
                query_match.signal.as_str(),
                visible(&query_match.evidence)
            )
        }
        None => match skill.triggered_by {
            TriggeredBy::Name => "it has no `triggers`, and is not named".to_owned(),
            TriggeredBy::User => "only the user may start it".to_owned(),
            TriggeredBy::Id => "another skill has its name".to_owned(),
            _ => "none of its triggers is in the query".to_owned(),
        },
    };
    if query.others.is_empty() || !query.should_trigger {
        return why;
    }
    let others: Vec<String> = query
        .others
        .iter()
        .map(|id| format!("`{}`", visible(id)))
        .collect();
    format!("{why}; given instead: {}", others.join(", "))
}

/// Returns a query in quotes, on one line and shortened.
fn quote(query: &str) -> String {
    let line = query.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("\"{}\"", visible(&ellipsize(&line, MAX_QUERY_CHARS)))
}

/// Prints what was tested in total, and what was not.
fn say_summary(evaluation: &Evaluation, options: &Test, output: &mut Output) {
    if let Some(mode) = evaluation.replaced_mode {
        output.say(format!(
            "Disclosure `{mode}` gives no skill by request; tested as `{}`",
            evaluation.mode
        ));
    }
    let summary = view::EvaluationView::new(evaluation).summary;
    let tested = evaluation.skills.iter();
    let tested = tested.filter(|skill| !skill.queries.is_empty()).count();
    if is_all_withheld(evaluation, options) {
        output.say("Nothing was tested");
    } else if tested == 0 {
        output.say(
            "No trigger queries found. A skill keeps them in `evals/eval_queries.json`, such as \
            `[{\"query\": \"Fill in this form\", \"should_trigger\": true}]`",
        );
    } else {
        let mut parts = vec![format!("{} right", summary.right)];
        let counts = [
            (summary.false_negatives, "missed"),
            (summary.false_positives, "fired wrongly"),
        ];
        let counts = counts.into_iter().filter(|(number, _)| *number > 0);
        parts.extend(counts.map(|(number, what)| format!("{number} {what}")));
        output.say(format!(
            "{}, {}: {}",
            pluralize(tested, "skill", "skills"),
            pluralize(summary.queries, "query", "queries"),
            parts.join(", ")
        ));
    }
    let untested = evaluation.skills.len() - tested;
    if options.ids.is_empty() && tested > 0 && evaluation.without_queries + untested > 0 {
        let skills = pluralize(
            evaluation.without_queries + untested,
            "skill has",
            "skills have",
        );
        output.say(format!("{skills} no trigger queries"));
    }
}
