//! How often a hook gives or names the right skill, and how often it responds when nothing is needed.

pub(crate) mod draw;
mod dump;

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};
use skillfold::Skills;
use skillfold::core::disclose::{SkillBars, SkillOutcome, Turn};
use skillfold::core::{ContextLifetime, Policy};
use skillfold_hook::{HookClient, hook_policy};

use crate::activation::draw::{Data, Draw};
use crate::bootstrap::{Sample, shares};
use crate::labelled::{
    LabelledSkill, Triggers, Verdict, Wording, installed, lines, pool_id, value,
};
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
    /// Write the sums of each source repository to a file, for `--before` of another run
    #[arg(long, value_name = "FILE")]
    sums: Option<PathBuf>,
    /// Print how much each figure is above that of the run that wrote this file, and between which values it lies
    #[arg(long, value_name = "FILE")]
    before: Option<PathBuf>,
    /// Fail if the right skill is given or named for fewer of the requests with a right label, in percent
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
    let mut sums = json!({});
    let before = arguments.before.as_deref().map(value).transpose()?;
    for size in &arguments.pool {
        let figures = measure(arguments, &data, *size, out)?;
        let mut result = figures.to_json(*size, arguments.half);
        sums[size.to_string()] = figures.sums();
        if let Some(before) = &before {
            result["above"] = figures.above(&before[size.to_string()])?;
        }
        if arguments.pool.len() > 1 {
            writeln!(out, "{result}")?;
        }
        results.push((figures, result));
    }
    if let Some(file) = &arguments.sums {
        write!(File::create(file)?, "{sums}")?;
    }
    let last: Vec<&Value> = results.iter().map(|(_, result)| result).collect();
    match &last[..] {
        [one] => writeln!(out, "{one}")?,
        all => writeln!(out, "{}", json!({ "results": all }))?,
    }
    for (figures, _) in &results {
        let found = 100.0 * figures.fits.found.mean();
        if arguments.at_least.is_some_and(|least| found < least) {
            return Err(format!("{found:.1} % of the requests get the right skill").into());
        }
        let spoken = 100.0 * figures.spoken.mean();
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

/// What requests with a label get.
#[derive(Default)]
struct Labels {
    /// The right skill is given, or else named, or either.
    given: Sample,
    named: Sample,
    found: Sample,
    /// The right skill comes first.
    first: Sample,
    /// Another skill's instructions are given.
    wrong_given: Sample,
}

impl Labels {
    fn add(&mut self, source: &str, told: &Told, meant: &HashSet<&str>) {
        let is_right = |id: &&String| meant.contains(&***id);
        let is_given = told.given.iter().any(|id| is_right(&id));
        let is_named = !is_given && told.named.iter().any(|id| is_right(&id));
        let is_wrong = told.given.iter().any(|id| !is_right(&id));
        self.given.add_whether(source, is_given);
        self.named.add_whether(source, is_named);
        self.found.add_whether(source, is_given || is_named);
        self.first
            .add_whether(source, told.all().next().is_some_and(|id| is_right(&id)));
        self.wrong_given.add_whether(source, is_wrong);
    }

    fn samples(&self) -> [(&'static str, &Sample); 5] {
        [
            ("given", &self.given),
            ("named", &self.named),
            ("found", &self.found),
            ("first", &self.first),
            ("wrong_given", &self.wrong_given),
        ]
    }

    fn to_json(&self) -> Value {
        let mut shares = shares(self.samples());
        shares["requests"] = json!(self.given.count());
        shares
    }
}

#[derive(Default)]
struct Figures {
    /// Requests whose label is right.
    fits: Labels,
    /// All requests, as they were labelled.
    all: Labels,
    /// Those of `fits` in other languages than English, or for skills in others.
    languages: Labels,
    /// Requests for skills that nearly any task would start.
    process: Labels,
    /// The forbidden skill is given, or else named, if it is in the library.
    must_not_given: Sample,
    must_not_named: Sample,
    /// The right skill is not in the library, but there is a response; the same without skills from the same family.
    absent: Sample,
    absent_strangers: Sample,
    spoken: Sample,
    everyday_given: Sample,
    /// Tokens added to a prompt, and to one that gets no instructions.
    tokens: Sample,
    line_tokens: Sample,
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
            let source = &request.repository;
            self.all.add(source, &told, &meant);
            match request.verdict {
                Verdict::Fits => self.fits.add(source, &told, &meant),
                Verdict::Process => self.process.add(source, &told, &meant),
                Verdict::Wrong => {}
            }
            if request.verdict == Verdict::Fits && request.wording == Wording::Cjk {
                self.languages.add(source, &told, &meant);
            }
        }
        for request in &draw.must_not {
            let told = library.tell(&request.text);
            let meant = data.labelled.meant(request);
            let is_given = told.given.iter().any(|id| meant.contains(&**id));
            let is_named = !is_given && told.named.iter().any(|id| meant.contains(&**id));
            let source = &request.repository;
            self.must_not_given.add_whether(source, is_given);
            self.must_not_named.add_whether(source, is_named);
        }
        for request in &draw.absent {
            let told = library.tell(&request.text);
            let is_sibling = |id: &String| data.is_sibling(request, id);
            let is_spoken = told.all().next().is_some();
            let is_strange = told.all().any(|id| !is_sibling(id));
            let source = &request.repository;
            self.absent.add_whether(source, is_spoken);
            self.absent_strangers.add_whether(source, is_strange);
        }
        for prompt in &draw.everyday {
            let told = library.tell(&prompt.text);
            let is_spoken = told.all().next().is_some();
            let is_given = !told.given.is_empty();
            let source = &prompt.source;
            self.spoken.add_whether(source, is_spoken);
            self.everyday_given.add_whether(source, is_given);
            let tokens = f64::from(u32::try_from(told.tokens).unwrap_or(u32::MAX));
            self.tokens.add(source, tokens);
            self.line_tokens
                .add(source, if is_given { 0.0 } else { tokens });
            if is_spoken && arguments.spoken {
                let number = data.place_of(prompt);
                let names = told.all().map(|id| library.name(id));
                let names: Vec<&str> = names.collect();
                writeln!(out, "{}", json!({ "prompt": number, "skills": names }))?;
            }
        }
        Ok(())
    }

    /// Returns the headline: what `to_json` has outside of its groups.
    fn samples(&self) -> impl Iterator<Item = (&'static str, &Sample)> {
        self.fits.samples().into_iter().chain([
            ("must_not_given", &self.must_not_given),
            ("must_not_named", &self.must_not_named),
            ("absent", &self.absent),
            ("absent_strangers", &self.absent_strangers),
            ("spoken", &self.spoken),
            ("everyday_given", &self.everyday_given),
        ])
    }

    fn to_json(&self, size: usize, half: Half) -> Value {
        let mut line = shares(self.samples());
        let per_100 = |tokens: &Sample| rounded(tokens.mean() * 100.0);
        line["skills"] = json!(size);
        line["half"] = json!(half.as_str());
        line["requests"] = json!(self.fits.given.count());
        line["must_not_requests"] = json!(self.must_not_given.count());
        line["everyday"] = json!(self.spoken.count());
        line["tokens_per_100"] = json!(per_100(&self.tokens));
        line["line_tokens_per_100"] = json!(per_100(&self.line_tokens));
        line["all"] = self.all.to_json();
        line["other_languages"] = self.languages.to_json();
        line["process"] = self.process.to_json();
        line
    }

    /// Returns what a later run needs to compare itself with this one.
    fn sums(&self) -> Value {
        let samples = self
            .samples()
            .map(|(name, sample)| (name, sample.to_json()));
        samples
            .map(|(name, sample)| (name.to_owned(), sample))
            .collect()
    }

    /// Returns how much each figure of the headline is above that of another run, with the interval.
    fn above(&self, sums: &Value) -> Result<Value, Box<dyn Error>> {
        let mut line = json!({});
        for (name, sample) in self.samples() {
            let before = Sample::from_json(&sums[name])?;
            let (difference, range) = sample.above(&before);
            let range = range.map(|range| range.map(rounded));
            line[name] = json!({ "difference": rounded(difference), "range": range });
        }
        Ok(line)
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
        let mut policy =
            hook_policy(arguments.client, &skills, SkillBars::default()).ok_or("hooks are off")?;
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
