//! How often a hook gives or names the right skill, and how often it responds when nothing is needed.

mod draw;
mod dump;

use std::collections::HashMap;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};
use skillfold::Skills;
use skillfold::core::disclose::{SkillOutcome, Turn};
use skillfold::core::{ContextLifetime, Policy};
use skillfold_hook::{HookClient, hook_policy};

use crate::activation::draw::{Data, Draw};
use crate::labelled::{LabelledSkill, Triggers, installed, lines, pool_id};
use crate::measure::rounded;
use crate::search::half::Half;

/// Prompts run against each drawn library.
const PROMPTS: usize = 100;

/// The number of labelled skills; larger libraries are the pool of 10,000.
const LABELLED: usize = 659;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Folder of labelled skills and requests
    #[arg(long)]
    data: PathBuf,
    /// Number of skills in a library: up to 658 are drawn, 659 are all labelled ones, 10000 is the large pool
    #[arg(long, default_value = "60")]
    pool: Vec<usize>,
    /// Source repositories whose requests and prompts to run
    #[arg(long, value_enum, default_value_t = Half::Test)]
    half: Half,
    /// Number of libraries to draw
    #[arg(long, default_value = "100")]
    draws: u64,
    /// Minimum confidence to give instructions and to name a skill, in percent, instead of the settings
    #[arg(long, value_names = ["GIVE", "NAME"], num_args = 2)]
    thresholds: Vec<u8>,
    /// Client whose hook is called; how much it keeps decides which instructions fit
    #[arg(long, default_value = "vscode")]
    client: HookClient,
    /// Print the everyday prompts that get a response, by number
    #[arg(long)]
    spoken: bool,
    /// Only write each request's first skills with their features to a file
    #[arg(long)]
    dump: Option<PathBuf>,
    /// Fail if the right skill is given or named for fewer of the labelled requests, in percent
    #[arg(long, value_name = "PERCENT")]
    at_least: Option<f64>,
    /// Fail if more of the everyday prompts get a response, in percent
    #[arg(long, value_name = "PERCENT")]
    spoken_at_most: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let data = Data::read(&arguments.data, arguments.half)?;
    if let Some(file) = &arguments.dump {
        let count = dump::dump(file, &data, &arguments.pool, arguments.draws)?;
        writeln!(out, "{}", json!({ "requests": count }))?;
        return Ok(());
    }
    let mut results = Vec::new();
    for size in &arguments.pool {
        let figures = measure(arguments, &data, *size, out)?;
        let result = figures.to_json(*size, arguments.half);
        if arguments.pool.len() > 1 {
            writeln!(out, "{result}")?;
        }
        results.push((figures, result));
    }
    let last: Vec<&Value> = results.iter().map(|(_, result)| result).collect();
    match &last[..] {
        [one] => writeln!(out, "{one}")?,
        all => writeln!(out, "{}", json!({ "results": all }))?,
    }
    for (figures, _) in &results {
        let found = 100.0 * (figures.given.share() + figures.named.share());
        if arguments.at_least.is_some_and(|least| found < least) {
            return Err(format!("{found:.1} % of the requests get the right skill").into());
        }
        let spoken = 100.0 * figures.everyday_spoken.share();
        if arguments.spoken_at_most.is_some_and(|most| spoken > most) {
            return Err(format!("{spoken:.1} % of the everyday prompts are spoken to").into());
        }
    }
    Ok(())
}

fn measure(
    arguments: &Arguments,
    data: &Data,
    size: usize,
    out: &mut dyn Write,
) -> Result<Figures, Box<dyn Error>> {
    let mut figures = Figures::default();
    if size < LABELLED {
        for seed in 0..arguments.draws {
            let draw = data.draw(seed, size, PROMPTS);
            figures.add(&draw, data, arguments, out)?;
        }
        return Ok(figures);
    }
    let large: Vec<LabelledSkill>;
    let skills = if size == LABELLED {
        &data.labelled.skills
    } else {
        let file = arguments.data.join("pool_10k.jsonl.zst");
        large = lines(&file)?
            .take(size)
            .map(|line| LabelledSkill::of(&line?))
            .collect::<Result<_, _>>()?;
        &large
    };
    let draw = data.whole(skills, usize::MAX);
    figures.add(&draw, data, arguments, out)?;
    Ok(figures)
}

/// How many of a total something holds for.
#[derive(Clone, Copy, Default)]
struct Count {
    yes: u32,
    all: u32,
}

impl Count {
    fn add(&mut self, yes: bool) {
        self.all += 1;
        self.yes += u32::from(yes);
    }

    fn share(self) -> f64 {
        f64::from(self.yes) / f64::from(self.all.max(1))
    }

    fn rounded(self) -> f64 {
        rounded(self.share())
    }
}

#[derive(Default)]
struct Figures {
    /// Labelled requests whose right skill is given, or else named.
    given: Count,
    named: Count,
    /// The right skill comes first.
    first: Count,
    /// Another skill's instructions are given.
    wrong_given: Count,
    /// The forbidden skill is given or named, if it is in the library.
    must_not: Count,
    /// The right skill is not in the library, but there is a response; the same without skills from the same family.
    absent_spoken: Count,
    absent_strangers: Count,
    everyday_spoken: Count,
    everyday_given: Count,
    everyday_tokens: u64,
    /// Tokens added to prompts that get no instructions.
    line_tokens: u64,
}

impl Figures {
    fn add(
        &mut self,
        draw: &Draw<'_>,
        data: &Data,
        arguments: &Arguments,
        out: &mut dyn Write,
    ) -> Result<(), Box<dyn Error>> {
        let library = Library::new(draw, arguments)?;
        for request in &draw.present {
            let told = library.tell(&request.text);
            let meant = data.labelled.meant(request);
            let is_right = |id: &&str| meant.contains(id);
            let is_given = told.given.iter().any(|id| is_right(&&**id));
            self.given.add(is_given);
            self.named
                .add(!is_given && told.named.iter().any(|id| is_right(&&**id)));
            let first = told.given.first().or(told.named.first());
            self.first.add(first.is_some_and(|id| is_right(&&**id)));
            let is_wrong = told.given.iter().any(|id| !is_right(&&**id));
            self.wrong_given.add(is_wrong);
        }
        for request in &draw.must_not {
            let told = library.tell(&request.text);
            let meant = data.labelled.meant(request);
            self.must_not
                .add(told.all().any(|id| meant.contains(&**id)));
        }
        for request in &draw.absent {
            let told = library.tell(&request.text);
            let is_sibling = |id: &String| data.is_sibling(request, id);
            self.absent_spoken.add(told.all().next().is_some());
            self.absent_strangers
                .add(told.all().any(|id| !is_sibling(id)));
        }
        for prompt in &draw.everyday {
            let told = library.tell(prompt);
            let is_spoken = told.all().next().is_some();
            self.everyday_spoken.add(is_spoken);
            self.everyday_given.add(!told.given.is_empty());
            self.everyday_tokens += told.tokens;
            if told.given.is_empty() {
                self.line_tokens += told.tokens;
            }
            if is_spoken && arguments.spoken {
                let number = data.everyday.iter().position(|other| other == prompt);
                let names = told.all().map(|id| library.name(id));
                let names: Vec<&str> = names.collect();
                writeln!(out, "{}", json!({ "prompt": number, "skills": names }))?;
            }
        }
        Ok(())
    }

    fn to_json(&self, size: usize, half: Half) -> Value {
        let prompts = f64::from(self.everyday_spoken.all.max(1));
        #[expect(
            clippy::cast_precision_loss,
            reason = "tokens of some thousand prompts"
        )]
        let per_100 = |tokens: u64| rounded(tokens as f64 / prompts * 100.0);
        json!({
            "skills": size,
            "half": half.as_str(),
            "requests": self.given.all,
            "given": self.given.rounded(),
            "named": self.named.rounded(),
            "first": self.first.rounded(),
            "wrong_given": self.wrong_given.rounded(),
            "must_not": self.must_not.rounded(),
            "must_not_requests": self.must_not.all,
            "absent": self.absent_spoken.rounded(),
            "absent_strangers": self.absent_strangers.rounded(),
            "everyday": self.everyday_spoken.all,
            "spoken": self.everyday_spoken.rounded(),
            "everyday_given": self.everyday_given.rounded(),
            "tokens_per_100": per_100(self.everyday_tokens),
            "line_tokens_per_100": per_100(self.line_tokens),
        })
    }
}

/// An installed library.
struct Library {
    skills: Skills,
    policy: Policy,
    /// Maps a skill's id in the catalog to its id in the pool.
    pool_ids: HashMap<Box<str>, String>,
    /// Maps a skill's id in the pool to its name.
    names: HashMap<String, String>,
}

/// What a hook tells a model: skill ids in the pool.
#[derive(Default)]
struct Told {
    given: Vec<String>,
    named: Vec<String>,
    tokens: u64,
}

impl Told {
    fn all(&self) -> impl Iterator<Item = &String> {
        self.given.iter().chain(&self.named)
    }
}

impl Library {
    fn new(draw: &Draw<'_>, arguments: &Arguments) -> Result<Self, Box<dyn Error>> {
        let skills = installed(draw.skills.iter().copied(), Triggers::Own)?;
        let mut policy = hook_policy(arguments.client, &skills).ok_or("hooks are off")?;
        if let ([give, name], Some(thresholds)) =
            (&arguments.thresholds[..], policy.suggestions.as_mut())
        {
            thresholds.give_from = f32::from(*give) / 100.0;
            thresholds.show_from = f32::from(*name) / 100.0;
        }
        let catalog = skills.catalog();
        let ids = catalog.entries();
        let ids = ids.map(|entry| (entry.id().into(), pool_id(&entry).to_owned()));
        let names = draw.skills.iter();
        let names = names.map(|skill| (skill.id.clone(), skill.name.clone()));
        Ok(Self {
            pool_ids: ids.collect(),
            names: names.collect(),
            policy,
            skills,
        })
    }

    fn name(&self, id: &str) -> &str {
        self.names.get(id).map_or("", String::as_str)
    }

    /// Returns what the first turn of a conversation tells the model.
    fn tell(&self, text: &str) -> Told {
        let policy = self.policy.clone();
        let mut session = self.skills.session(policy, ContextLifetime::History);
        let turn: Turn = session.turn(text);
        let mut told = Told {
            tokens: turn.tokens,
            ..Told::default()
        };
        for decision in &turn.decisions {
            let Some(id) = self.pool_ids.get(&decision.id) else {
                continue;
            };
            match decision.outcome {
                SkillOutcome::Given(..) => told.given.push(id.clone()),
                _ => told.named.push(id.clone()),
            }
        }
        told
    }
}
