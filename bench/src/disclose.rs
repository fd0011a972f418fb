//! Cost of requests that need no skill, in each mode, and whether the listing is identical in every turn.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use skillfold::core::choose::Signal;
use skillfold::core::disclose::{Mode, SkillOutcome, Style};
use skillfold::core::{Budget, ContextLifetime, Matcher, Policy};
use skillfold::{O200k, Skills};

use crate::labelled::{Labelled, Triggers};
use crate::measure::rounded;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Folder of labelled skills and requests
    #[arg(long)]
    data: PathBuf,
    /// Number of installed skills; each number gets its own rows
    #[arg(long, value_delimiter = ',', default_values_t = [1, 10, 50, 659])]
    skills: Vec<usize>,
    /// Token budget of the listing: 2 % of a 200,000 token window
    #[arg(long, default_value_t = 4_000)]
    budget: u64,
    /// Style of the listing: lines, xml-rules, xml, markdown, tiers or bullets
    #[arg(long, default_value = "lines", value_parser = style)]
    style: Style,
    /// Turns in a conversation over which the listing is compared
    #[arg(long, default_value_t = 1_000)]
    turns: usize,
    /// Count with the encoding `o200k_base` instead of estimating
    #[arg(long)]
    exact: bool,
    /// Fail if a request that matches nothing costs too much, too little is saved, or a listing changes
    #[arg(long)]
    judge: bool,
}

/// Maximum number of tokens a request may add if it matches no skill and there is no listing.
const BREADCRUMB: u64 = 12;
/// Minimum share saved compared with giving all instructions.
const SAVING: f64 = 0.6;

/// Requests that no skill is for, in addition to those in the data.
const GENERAL: [&str; 12] = [
    "What is 2+2?",
    "Hello!",
    "Thank you, that is all for today.",
    "Why is the sky blue?",
    "Translate \"good morning\" into Italian.",
    "Tell me a joke about cats.",
    "Who wrote Pride and Prejudice?",
    "How many days does February have in a leap year?",
    "Please say that again in fewer words.",
    "Go on.",
    "Is 91 a prime number?",
    "你好，今天星期几？",
];

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let data = Labelled::read(&arguments.data)?;
    let (mut rows, mut broken) = (Vec::new(), Vec::new());
    for triggers in Triggers::ALL {
        for count in &arguments.skills {
            let installed = data.install(*count, triggers)?;
            let unrelated = unrelated(&data, *count);
            for mode in [Mode::Catalog, Mode::Triggered, Mode::Hybrid] {
                let policy = policy(arguments, mode);
                let costs = Costs::of(&installed, &policy, &unrelated);
                let is_identical = is_identical(&installed, &policy, &data, arguments.turns);
                let row = json!({
                    "mode": mode.as_str(),
                    "triggers": triggers.as_str(),
                    "skills": count,
                    "seen": installed.catalog().visible().count(),
                    "eager_tokens": costs.eager,
                    "listing_tokens": costs.listing,
                    "requests": unrelated.len(),
                    "matched": costs.matched,
                    "search_given": costs.given,
                    "search_shown": costs.shown,
                    "unrelated_tokens": rounded(costs.unmatched_mean),
                    "unrelated_tokens_max": costs.unmatched_max,
                    "tokens_with_matched": rounded(costs.mean),
                    "saving": rounded(costs.saving()),
                    "listing_identical": is_identical,
                });
                writeln!(out, "{row}")?;
                let most = if mode == Mode::Triggered {
                    BREADCRUMB
                } else {
                    arguments.budget
                };
                if costs.unmatched_max > most || costs.saving() < SAVING || !is_identical {
                    broken.push(row.clone());
                }
                rows.push(row);
            }
        }
    }
    writeln!(out, "{}", json!({ "results": rows }))?;
    if arguments.judge && !broken.is_empty() {
        return Err(format!("promises are broken: {}", Value::from(broken)).into());
    }
    Ok(())
}

fn style(word: &str) -> Result<Style, String> {
    let found = Style::ALL.into_iter().find(|style| style.as_str() == word);
    found.ok_or_else(|| "no such style".to_owned())
}

fn policy(arguments: &Arguments, mode: Mode) -> Policy {
    let mut policy = Policy::default()
        .with_mode(mode)
        .with_style(arguments.style)
        .with_catalog(Budget::tokens(arguments.budget));
    if arguments.exact {
        policy.counter = Arc::new(O200k);
    }
    policy
}

/// Returns requests that are not labelled with any of the first `installed` skills: those labelled with other skills,
/// those labelled as needing none, and general ones. They may still match.
fn unrelated(data: &Labelled, installed: usize) -> Vec<&str> {
    let is_installed = |id: &str| {
        let mut first = data.skills.iter().take(installed);
        first.any(|skill| skill.id == id)
    };
    let others = data
        .requests
        .iter()
        .filter(|request| !data.meant(request).into_iter().any(is_installed));
    let labelled = others.chain(&data.negatives);
    labelled
        .map(|request| request.text.as_str())
        .chain(GENERAL)
        .collect()
}

/// Cost of unrelated requests.
struct Costs {
    /// Giving all skills' instructions.
    eager: u64,
    /// The listing.
    listing: u64,
    /// Requests that still match, or ask for the list of skills.
    matched: usize,
    /// Requests for which a search gave a skill's instructions (`given`) or suggested one (`shown`).
    given: usize,
    shown: usize,
    /// Mean and maximum over the requests that match nothing.
    unmatched_mean: f64,
    unmatched_max: u64,
    /// Mean over all requests.
    mean: f64,
}

impl Costs {
    /// Runs each request in its own conversation. The cost includes the listing in modes that have one.
    fn of(installed: &Skills, policy: &Policy, requests: &[&str]) -> Self {
        let fresh = || installed.session(policy.clone(), ContextLifetime::History);
        let listing = fresh().listing().tokens;
        let fixed = match policy.mode {
            Mode::Triggered => 0,
            _ => listing,
        };
        let catalog = installed.catalog();
        let matcher = Matcher::new(&catalog);
        let (mut asking, mut unmatched) = (Vec::new(), Vec::new());
        let (mut given, mut shown) = (0, 0);
        for request in requests {
            let mut session = fresh();
            if policy.mode != Mode::Triggered {
                session.listing();
            }
            let turn = session.turn(request);
            let cost = fixed + turn.tokens;
            let is_searched = |outcome: fn(&SkillOutcome) -> bool| {
                let mut found = turn.decisions.iter();
                found.any(|one| one.signal == Signal::Search && outcome(&one.outcome))
            };
            given += usize::from(is_searched(|outcome| {
                matches!(outcome, SkillOutcome::Given(..))
            }));
            shown += usize::from(is_searched(|outcome| {
                matches!(outcome, SkillOutcome::Suggested)
            }));
            let asks_for_list = matcher.matches(request).asks_for_list;
            if turn.decisions.is_empty() && !asks_for_list {
                unmatched.push(cost);
            } else {
                asking.push(cost);
            }
        }
        let all: Vec<u64> = asking.iter().chain(&unmatched).copied().collect();
        Self {
            eager: fresh().eager_tokens(),
            listing,
            matched: asking.len(),
            given,
            shown,
            unmatched_mean: mean(&unmatched),
            unmatched_max: unmatched.into_iter().max().unwrap_or_default(),
            mean: mean(&all),
        }
    }

    /// Returns the share saved compared with giving all instructions, including requests that still match.
    #[expect(clippy::cast_precision_loss, reason = "counts of tokens are small")]
    fn saving(&self) -> f64 {
        1.0 - self.mean / self.eager.max(1) as f64
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of tokens are small")]
fn mean(values: &[u64]) -> f64 {
    values.iter().sum::<u64>() as f64 / values.len().max(1) as f64
}

/// Returns whether a conversation's listing is byte-identical before and after every turn.
fn is_identical(installed: &Skills, policy: &Policy, data: &Labelled, turns: usize) -> bool {
    let mut session = installed.session(policy.clone(), ContextLifetime::History);
    let first = session.listing().text;
    let requests = data.requests.iter().cycle().take(turns);
    requests.fold(true, |is_same, request| {
        session.turn(&request.text);
        is_same && session.listing().text == first
    })
}
