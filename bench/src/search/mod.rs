//! How often a search finds the skill that a request is labelled with, against FTS5 in the same run.

mod bare;
mod dump;
mod engine;
#[cfg(feature = "fts5")]
mod fts5;
mod half;
mod meaning;
mod method;
mod metrics;
mod negatives;
mod pool;
mod scale;
mod triggers;

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::labelled::{Request, Wording, copies, requests};
use crate::search::engine::Indexed;
use crate::search::half::{Half, Split};
use crate::search::method::{Built, METHODS, Maker, Options, maker};
use crate::search::metrics::{Asked, Figures};
use crate::search::pool::{Pool, Size, Text};

#[derive(Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are switches of a command line"
)]
pub(crate) struct Arguments {
    /// The folder of labelled skills and requests
    #[arg(long)]
    data: PathBuf,
    /// Measure the index on disk among so many records made from the pool, and among 100,000, with the bare engine beside
    /// it, and nothing else
    #[arg(long, value_name = "RECORDS")]
    scale: Option<usize>,
    /// How many skills to search in
    #[arg(long, default_value = "10000", conflicts_with = "scale")]
    pool: Size,
    /// How to search
    #[arg(long, value_parser = maker, default_value = METHODS[0].name, conflicts_with = "scale")]
    method: &'static Maker,
    /// The folder of a model, for methods that compare meanings
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Keep the vectors of skills in this folder, and take them from there
    #[arg(long, value_name = "FOLDER")]
    vectors: Option<PathBuf>,
    /// Which source repositories' requests to ask
    #[arg(long, value_enum, default_value_t = Half::Test)]
    half: Half,
    /// Leave the bodies of the skills out; the pool of 87643 has none
    #[arg(long)]
    metadata: bool,
    /// Do not run FTS5 beside the method
    #[arg(long)]
    no_baseline: bool,
    /// Do not ask the requests of `MetaTool`
    #[arg(long)]
    no_metatool: bool,
    /// Write the candidates of each request of the headline with their features into a file, and nothing else
    #[arg(long)]
    dump: Option<PathBuf>,
    /// With `--dump`: take the pool in parts of so many skills
    #[arg(long, value_name = "SKILLS", requires = "dump")]
    parts: Option<usize>,
    /// Fail if R@1, R@10 or MRR of the headline is below these, in percent
    #[arg(long, value_delimiter = ',', value_name = "R1,R10,MRR")]
    at_least: Vec<f64>,
    /// Print how often the right and the wrong skill come first above thresholds of the score, and nothing else
    #[arg(long)]
    negatives: bool,
}

/// How many skills each search is asked for. Of copies only the first counts, so that ten places need more than ten.
const DEPTH: usize = 100;
/// The tracks of the headline.
const HEADLINE: [&str; 3] = ["trigger", "task", "route"];

impl Arguments {
    fn options(&self) -> Options<'_> {
        Options {
            model: self.model.as_deref(),
            vectors: self.vectors.as_deref(),
        }
    }
}

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    if let Some(records) = arguments.scale {
        return scale::run(&arguments.data, records, out);
    }
    let text = if arguments.metadata {
        Text::Metadata
    } else {
        Text::WithBody
    };
    let pool = Pool::read(&arguments.data, arguments.pool, text)?;
    if let Some(file) = &arguments.dump {
        return dumped(arguments, file, &pool, out);
    }
    let methods: Vec<&Maker> = if arguments.no_baseline || arguments.method.name == METHODS[0].name
    {
        vec![arguments.method]
    } else {
        vec![arguments.method, &METHODS[0]]
    };
    let built = methods
        .iter()
        .map(|maker| Built::new(maker, &pool, &arguments.options()))
        .collect::<Result<Vec<_>, _>>()?;
    let copies = copies(&arguments.data.join("aliases.json"))?;
    let split = Split::read(&arguments.data)?;
    let mine = |file: &str, key: &str| -> Result<Vec<Request>, Box<dyn Error>> {
        let mut all = requests(&arguments.data.join(file), key)?;
        all.retain(|request| split.is_in(arguments.half, request));
        Ok(all)
    };
    let labelled = mine("queries.jsonl.zst", "relevant")?;
    let print = Print { arguments, text };
    if arguments.negatives {
        let negatives = mine("negatives.jsonl.zst", "must_not")?;
        for built in &built {
            let points = negatives::curve(built, &pool, &copies, &labelled, &negatives)?;
            for mut point in points {
                print.describe(&mut point, built);
                writeln!(out, "{point}")?;
            }
        }
        return Ok(());
    }

    let asked = built
        .iter()
        .map(|built| ask(built, &pool, &copies, &labelled))
        .collect::<Result<Vec<_>, _>>()?;
    let select = |keep: &dyn Fn(&Request) -> bool| -> Vec<Figures> {
        let of = |asked: &Vec<Asked>| {
            let pairs = labelled.iter().zip(asked);
            Figures::of(
                pairs
                    .filter(|(request, _)| keep(request))
                    .map(|(_, asked)| asked),
            )
        };
        asked.iter().map(of).collect()
    };
    let unnamed = |request: &Request| request.wording == Wording::Unnamed;
    for track in ["trigger", "task", "route", "skillsbench"] {
        let figures = select(&|request| request.track == track && unnamed(request));
        print.line(out, track, &built, &figures)?;
    }
    if arguments.half == Half::Test && !arguments.no_metatool {
        metatool(&print, &methods, out)?;
    }
    let named = select(&|request| request.wording == Wording::Named);
    print.line(out, "named", &built, &named)?;
    let cjk = select(&|request| request.wording == Wording::Cjk);
    print.line(out, "cjk", &built, &cjk)?;
    let headline = select(&|request| HEADLINE.contains(&&*request.track) && unnamed(request));
    print.line(out, "headline", &built, &headline)?;
    judge(&arguments.at_least, headline.first())
}

/// Fails where a figure of the headline is below its bound.
fn judge(at_least: &[f64], headline: Option<&Figures>) -> Result<(), Box<dyn Error>> {
    let figures = headline.map(Figures::headline).unwrap_or_default();
    let is_below = |(figure, bound): (&f64, &f64)| figure < bound;
    if figures.iter().zip(at_least).any(is_below) {
        return Err(format!("{figures:?} is below {at_least:?}").into());
    }
    Ok(())
}

/// Writes down what the ranker is fitted on.
fn dumped(
    arguments: &Arguments,
    file: &Path,
    pool: &Pool,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    if arguments.half == Half::Test {
        return Err("nothing is fitted on test: `--half tune`".into());
    }
    let copies = copies(&arguments.data.join("aliases.json"))?;
    let split = Split::read(&arguments.data)?;
    let all = requests(&arguments.data.join("queries.jsonl.zst"), "relevant")?;
    let is_wanted = |request: &&Request| {
        split.is_in(arguments.half, request) && request.wording == Wording::Unnamed
    };
    let wanted: Vec<&Request> = all.iter().filter(is_wanted).collect();
    let count = if let Some(size) = arguments.parts {
        dump::dump_parts(file, pool, &copies, &wanted, size)?
    } else {
        let indexed = match arguments.method.model(&arguments.options())? {
            Some(model) => Indexed::by_meaning(pool, model)?,
            None => Indexed::new(pool)?,
        };
        dump::dump(file, pool, &copies, &wanted, &indexed)?
    };
    writeln!(out, "{}", json!({ "requests": count }))?;
    Ok(())
}

/// Asks a method all requests, on one thread.
fn ask(
    built: &Built,
    pool: &Pool,
    copies: &pool::Copies,
    requests: &[Request],
) -> Result<Vec<Asked>, Box<dyn Error>> {
    requests
        .iter()
        .map(|request| {
            let wanted = pool.wanted(request, copies)?;
            let (hits, microseconds) = built.timed(&request.text, DEPTH)?;
            Ok(Asked::new(&hits, &wanted, microseconds))
        })
        .collect()
}

/// Asks the requests of `MetaTool`, which has tools of its own.
fn metatool(
    print: &Print<'_>,
    methods: &[&Maker],
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    let folder = print.arguments.data.join("metatool");
    let pool = Pool::tools(&folder)?;
    let requests = requests(&folder.join("queries.jsonl.zst"), "relevant")?;
    let (mut all, mut figures) = (Vec::new(), Vec::new());
    for maker in methods {
        let built = Built::new(maker, &pool, &print.arguments.options())?;
        let asked = ask(&built, &pool, &pool::Copies::new(), &requests)?;
        figures.push(Figures::of(asked.iter()));
        all.push(built);
    }
    print.line(out, "metatool", &all, &figures)
}

/// Writes lines that say what they are of.
struct Print<'a> {
    arguments: &'a Arguments,
    text: Text,
}

impl Print<'_> {
    fn describe(&self, line: &mut Value, built: &Built) {
        line["method"] = json!(built.name);
        line["pool"] = json!(self.arguments.pool.skills());
        line["fields"] = json!(self.arguments.pool.text(self.text).as_str());
        line["half"] = json!(self.arguments.half.as_str());
    }

    /// Writes the figures of the first method, with those of the baseline beside.
    fn line(
        &self,
        out: &mut dyn Write,
        track: &str,
        built: &[Built],
        figures: &[Figures],
    ) -> Result<(), Box<dyn Error>> {
        let mut each = figures.iter().zip(built);
        let Some((first, method)) = each.next() else {
            return Ok(());
        };
        let mut line = first.json(method);
        self.describe(&mut line, method);
        line["track"] = json!(track);
        if track == "metatool" {
            line["pool"] = json!(method.skills);
            line["fields"] = json!(Text::Metadata.as_str());
            line["half"] = json!("all");
        }
        for (figures, baseline) in each {
            line[baseline.name] = figures.json(baseline);
        }
        writeln!(out, "{line}")?;
        Ok(())
    }
}
