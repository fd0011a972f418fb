//! Cost of matching a message, compared with case folding alone and with searching for each trigger separately.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use serde_json::json;
use skillfold_core::{Catalog, CatalogOptions, Matcher, MemorySource, Root, Scope};

use crate::layout::far_future;
use crate::measure::rounded;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Number of skills to match against
    #[arg(long, default_value_t = 1_000)]
    skills: usize,
    /// Use single common words as triggers
    #[arg(long)]
    common: bool,
    /// Fail if the slowest 1 % takes more than this many times as long as case folding alone
    #[arg(long)]
    at_most: Option<f64>,
    /// Fail unless the loop takes at least this many times as long
    #[arg(long)]
    loop_at_least: Option<f64>,
}

/// Triggers per skill.
const TRIGGERS: usize = 5;
/// Number of messages, of 10 to 500 words.
const MESSAGES: usize = 200;
/// Rounds over all messages. Each message's fastest run counts, to exclude other load on the machine.
const ROUNDS: usize = 9;

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let mut random = Random(1);
    let words = vocabulary(&mut random);
    let skills = skills(arguments, &words, &mut random);
    let messages = messages(&words, &mut random);
    let (matcher, built_ms) = built(&skills);
    let lowered: Vec<Vec<String>> = skills
        .iter()
        .map(|triggers| {
            triggers
                .iter()
                .map(|trigger| trigger.to_lowercase())
                .collect()
        })
        .collect();

    let fold = times(&messages, ROUNDS, |message| message.to_lowercase().len());
    let engine = times(&messages, ROUNDS, |message| {
        matcher.matches(message).candidates.len()
    });
    let recall = recall_times(&matcher, &messages);
    // One round: it takes hundreds of times as long, and only its median counts.
    let substring = times(&messages, 1, |message| naive(&lowered, message));
    let hits: usize = messages
        .iter()
        .map(|message| matcher.matches(message).candidates.len())
        .sum();
    let (fold_p99, match_p99) = (at(&fold, 99), at(&engine, 99));
    let (match_p50, substring_p50) = (at(&engine, 50), at(&substring, 50));
    writeln!(
        out,
        "built in {built_ms:.1} ms; {} skills match a message; p99 is {:.1} times folding, the loop {:.1} times matching; {} of {} messages are remembered",
        hits / messages.len(),
        match_p99 / fold_p99,
        substring_p50 / match_p50,
        recall.len(),
        messages.len()
    )?;
    writeln!(
        out,
        "{}",
        json!({
            "skills": arguments.skills,
            "fold_us_p99": rounded(fold_p99),
            "match_us_p50": rounded(match_p50),
            "match_us_p99": rounded(match_p99),
            "recalled": recall.len(),
            "recall_us_p50": (!recall.is_empty()).then(|| rounded(at(&recall, 50))),
            "recall_us_p99": (!recall.is_empty()).then(|| rounded(at(&recall, 99))),
            "substring_us_p50": rounded(substring_p50),
        })
    )?;
    if arguments
        .at_most
        .is_some_and(|limit| match_p99 > limit * fold_p99)
    {
        return Err("matching takes too many times folding".into());
    }
    let is_too_near = |times: f64| substring_p50 < times * match_p50;
    if arguments.loop_at_least.is_some_and(is_too_near) {
        return Err("matching is not far enough below a loop over all triggers".into());
    }
    Ok(())
}

/// Compiles the triggers and returns the time it took in milliseconds.
fn built(skills: &[Vec<String>]) -> (Matcher, f64) {
    let files = skills.iter().enumerate().map(|(number, triggers)| {
        let list: Vec<_> = triggers
            .iter()
            .map(|trigger| format!("'{trigger}'"))
            .collect();
        // Half as substrings, half as whole words.
        let field = if number.is_multiple_of(2) {
            format!("triggers: [{}]", list.join(", "))
        } else {
            format!("triggers:\n  keywords: [{}]", list.join(", "))
        };
        let name = format!("made-skill-{number:06}");
        let text = format!("---\nname: {name}\ndescription: d\n{field}\n---\n");
        (format!("{name}/SKILL.md"), text)
    });
    let root = Root::new(Scope::User, "made", MemorySource::new(files));
    let catalog = Catalog::discover(vec![root], CatalogOptions::default(), far_future());
    let start = Instant::now();
    let matcher = Matcher::new(&catalog);
    (matcher, start.elapsed().as_secs_f64() * 1_000.0)
}

/// The naive approach: tries each trigger of each skill until one matches.
fn naive(skills: &[Vec<String>], message: &str) -> usize {
    let message = message.to_lowercase();
    skills
        .iter()
        .filter(|triggers| triggers.iter().any(|trigger| message.contains(&**trigger)))
        .count()
}

/// Returns each message's fastest run, in microseconds.
fn times(messages: &[String], rounds: usize, mut run: impl FnMut(&str) -> usize) -> Vec<f64> {
    let mut best = vec![f64::MAX; messages.len()];
    for _ in 0..rounds {
        for (message, best) in messages.iter().zip(&mut best) {
            let start = Instant::now();
            black_box(run(message));
            *best = best.min(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    best.sort_by(f64::total_cmp);
    best
}

/// Returns the fastest cached run of each cached message, in microseconds. Messages with so many matches that they
/// would take too much memory are not cached.
fn recall_times(matcher: &Matcher, messages: &[String]) -> Vec<f64> {
    let is_remembered = |message: &&String| {
        matcher.matches_cached(message);
        let before = matcher.stats().hits;
        matcher.matches_cached(message);
        matcher.stats().hits > before
    };
    let mut best = Vec::new();
    for message in messages.iter().filter(is_remembered) {
        let runs = (0..ROUNDS).map(|_| {
            let start = Instant::now();
            black_box(matcher.matches_cached(message).candidates.len());
            start.elapsed().as_secs_f64() * 1e6
        });
        best.push(runs.fold(f64::MAX, f64::min));
    }
    best.sort_by(f64::total_cmp);
    best
}

fn at(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

/// Words with a natural distribution: a few hundred are common, thousands are rare.
pub(crate) fn vocabulary(random: &mut Random) -> Vec<String> {
    let syllables = [
        "ba", "con", "der", "form", "gen", "in", "ka", "lo", "mar", "nor", "pre", "re", "sol",
        "ter", "un", "ver",
    ];
    (0..8_000)
        .map(|_| {
            let count = 1 + random.below(4);
            (0..count)
                .map(|_| syllables[random.below(syllables.len())])
                .collect()
        })
        .collect()
}

/// Returns each skill's triggers: rare words and phrases, or common words.
fn skills(arguments: &Arguments, words: &[String], random: &mut Random) -> Vec<Vec<String>> {
    let trigger = |random: &mut Random| {
        if arguments.common {
            return words[random.below(300)].clone();
        }
        let seldom =
            |random: &mut Random| words[1_000 + random.below(words.len() - 1_000)].as_str();
        let count = 1 + random.below(3);
        let parts: Vec<_> = (0..count).map(|_| seldom(random)).collect();
        format!("{}{}", parts.join(" "), random.below(100))
    };
    (0..arguments.skills)
        .map(|_| (0..TRIGGERS).map(|_| trigger(random)).collect())
        .collect()
}

fn messages(words: &[String], random: &mut Random) -> Vec<String> {
    (0..MESSAGES)
        .map(|number| {
            let length = 10 + number * 490 / (MESSAGES - 1);
            let word = |random: &mut Random| {
                let is_common = random.below(4) > 0;
                let reach = if is_common { 300 } else { words.len() };
                words[random.below(reach)].as_str()
            };
            let mut message: Vec<_> = (0..length).map(|_| word(random)).collect();
            // Every other message contains what keyboards insert: a dash, an accent.
            message[0] = if number.is_multiple_of(2) {
                "Please"
            } else {
                "Déjà–vu"
            };
            message.join(" ")
        })
        .collect()
}

/// Deterministic pseudo-random numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % limit.max(1)
    }
}

#[cfg(test)]
mod tests {
    use skillfold::core::{ContextLifetime, MemorySource};
    use skillfold::{Environment, Host};

    use super::{Arguments, Random, built, messages, skills, vocabulary};
    use crate::measure::measure;

    /// Number of skills in the host.
    const SKILLS: usize = 100;

    #[test]
    fn turn_takes_less_than_5_ms_in_hybrid_and_keyword_mode() {
        let mut random = Random(1);
        let words = vocabulary(&mut random);
        let texts = |random: &mut Random, count: usize| {
            let words: Vec<&str> = (0..count)
                .map(|_| words[random.below(words.len())].as_str())
                .collect();
            words.join(" ")
        };
        let files: Vec<(String, String)> = (0..SKILLS)
            .map(|number| {
                let (about, trigger) = (texts(&mut random, 30), texts(&mut random, 2));
                let body = texts(&mut random, 300);
                let text = format!("---\nname: made-{number}\ndescription: {about}\ntriggers: ['{trigger}']\n---\n{body}\n");
                (format!("made-{number}/SKILL.md"), text)
            })
            .collect();
        // Requests of 10 to 60 words; tests run with little optimization.
        let messages: Vec<String> = (0..100)
            .map(|number| texts(&mut random, 10 + number * 7 % 50))
            .collect();
        for matching in ["hybrid", "keyword"] {
            let host = Host::new(Environment::new("/nowhere")).set("matching", matching);
            let host = host.bundled("made", MemorySource::new(files.clone()));
            let skills = host.discover().unwrap().skills;
            let mut session =
                skills.session(skills.report().settings.policy(), ContextLifetime::History);
            session.listing();
            // The first request builds the index for the others.
            session.turn("What is 2+2?");
            // Each batch is measured separately and the fastest counts: other load on the machine also increases CPU
            // time.
            let batches = messages.chunks(20).map(|batch| {
                let ((), sample) = measure(|| {
                    for message in batch {
                        session.turn(message);
                    }
                });
                sample.cpu_ms / u32::try_from(batch.len()).map_or(1.0, f64::from)
            });
            let each = batches.fold(f64::INFINITY, f64::min);
            assert!(each < 5.0, "{matching}: {each} ms of CPU time");
        }
    }

    #[test]
    fn matching_a_message_among_a_thousand_skills_takes_less_than_5_ms() {
        for common in [false, true] {
            let arguments = Arguments {
                skills: 1_000,
                common,
                at_most: None,
                loop_at_least: None,
            };
            let mut random = Random(1);
            let words = vocabulary(&mut random);
            let skills = skills(&arguments, &words, &mut random);
            let messages = messages(&words, &mut random);
            let (matcher, _) = built(&skills);
            let all = || -> usize {
                let found = messages.iter().map(|message| matcher.matches(message));
                found.map(|found| found.candidates.len()).sum()
            };
            let (_, sample) = measure(all);
            let each = sample.cpu_ms / u32::try_from(messages.len()).map_or(1.0, f64::from);
            assert!(each < 5.0, "{each} ms of CPU time");
        }
    }
}
