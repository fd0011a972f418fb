//! How often a search finds a request's labelled skill, compared with FTS5 in the same run.

mod bare;
pub(crate) mod half;
mod pool;

mod method;

mod engine;
#[cfg(feature = "fts5")]
mod fts5;
mod triggers;

mod meaning;

mod methods;

mod metrics;

mod dump;
mod negatives;
mod scale;

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::labelled::{Request, Verdict, Wording, copies, requests, value};
use crate::search::engine::Indexed;
use crate::search::half::{Half, Split};
use crate::search::methods::{Built, METHODS, Maker, maker};
use crate::search::metrics::{Asked, Figures};
use crate::search::pool::{Pool, Size, Text};

#[derive(Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are switches of a command line"
)]
pub(crate) struct Arguments {
    /// Folder of labelled skills and requests
    #[arg(long)]
    data: PathBuf,
    /// Measure only the disk index, with this many records generated from the pool and with 100,000, compared with the
    /// bare engine
    #[arg(long, value_name = "RECORDS")]
    scale: Option<usize>,
    /// Number of skills to search
    #[arg(long, default_value = "10000", conflicts_with = "scale")]
    pool: Size,
    /// Search method
    #[arg(long, value_parser = maker, default_value = METHODS[0].name, conflicts_with = "scale")]
    method: &'static Maker,
    /// Folder of a model, for methods that use embeddings
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Source repositories whose requests to run
    #[arg(long, value_enum, default_value_t = Half::Test)]
    half: Half,
    /// Leave out the skills' bodies; the pool of 87643 has none
    #[arg(long)]
    metadata: bool,
    /// Do not run FTS5 beside the method
    #[arg(long)]
    no_baseline: bool,
    /// Do not run the `MetaTool` requests
    #[arg(long)]
    no_metatool: bool,
    /// Only write each headline request's candidates with their features to a file
    #[arg(long)]
    dump: Option<PathBuf>,
    /// With `--dump`: split the pool into parts of this many skills
    #[arg(long, value_name = "SKILLS", requires = "dump")]
    parts: Option<usize>,
    /// Fail if the headline's R@1, R@10 or MRR is below these, in percent
    #[arg(long, value_delimiter = ',', value_name = "R1,R10,MRR")]
    at_least: Vec<f64>,
    /// Write the headline's sums of each source repository to a file, for `--before` of another run
    #[arg(long, value_name = "FILE")]
    sums: Option<PathBuf>,
    /// Print how much the headline is above that of the run that wrote this file, and between which values that lies
    #[arg(long, value_name = "FILE")]
    before: Option<PathBuf>,
    /// Only print how often the right and the wrong skill come first above score thresholds
    #[arg(long)]
    negatives: bool,
}

/// Number of skills to request from each search. Only the first of several copies counts, so ten ranks need more than
/// ten hits.
const DEPTH: usize = 100;
/// The tracks in the headline.
const HEADLINE: [&str; 3] = ["trigger", "task", "route"];

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
        .map(|maker| Built::new(maker, &pool, arguments.model.as_deref()))
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
        let curve = |built| negatives::curve(built, &pool, &copies, &labelled, &negatives);
        return built
            .iter()
            .try_for_each(|built| print.points(out, built, curve(built)?));
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
    let fits = |request: &Request| request.verdict == Verdict::Fits;
    for track in ["trigger", "task", "route", "skillsbench"] {
        let figures =
            select(&|request| request.track == track && unnamed(request) && fits(request));
        print.line(out, track, &built, &figures)?;
    }
    if arguments.half == Half::Test && !arguments.no_metatool {
        metatool(&print, &methods, out)?;
    }
    let is_headline = |request: &Request| HEADLINE.contains(&&*request.track) && unnamed(request);
    for (name, wording) in [("named", Wording::Named), ("cjk", Wording::Cjk)] {
        let figures = select(&|request| request.wording == wording && fits(request));
        print.line(out, name, &built, &figures)?;
    }
    let process = select(&|request| request.verdict == Verdict::Process);
    print.line(out, "process", &built, &process)?;
    let all = select(&is_headline);
    print.line(out, "all labels", &built, &all)?;
    let headline = select(&|request| is_headline(request) && fits(request));
    if let Some(first) = headline.first() {
        compare(arguments, first, out)?;
    }
    print.line(out, "headline", &built, &headline)?;
    judge(&arguments.at_least, headline.first())
}

/// Writes what a later run needs to compare itself with this one, and compares this one with another.
fn compare(
    arguments: &Arguments,
    headline: &Figures,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    if let Some(file) = &arguments.sums {
        write!(File::create(file)?, "{}", headline.sums())?;
    }
    if let Some(file) = &arguments.before {
        let above = headline.above(&value(file)?)?;
        writeln!(out, "{}", json!({ "above": above }))?;
    }
    Ok(())
}

/// Fails if a headline metric is below its bound.
fn judge(at_least: &[f64], headline: Option<&Figures>) -> Result<(), Box<dyn Error>> {
    let figures = headline.map(Figures::headline).unwrap_or_default();
    let is_below = |(figure, bound): (&f64, &f64)| figure < bound;
    if figures.iter().zip(at_least).any(is_below) {
        return Err(format!("{figures:?} is below {at_least:?}").into());
    }
    Ok(())
}

/// Writes the ranker's training data.
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
        let indexed = match arguments.method.model(arguments.model.as_deref())? {
            Some(model) => Indexed::by_meaning(pool, model)?,
            None => Indexed::new(pool)?,
        };
        dump::dump(file, pool, &copies, &wanted, &indexed)?
    };
    writeln!(out, "{}", json!({ "requests": count }))?;
    Ok(())
}

/// Runs all requests through a method, on one thread.
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
            let source = &request.repository;
            Ok(Asked::new(source, &hits, &wanted, microseconds))
        })
        .collect()
}

/// Runs the `MetaTool` requests, which have their own tools.
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
        let built = Built::new(maker, &pool, print.arguments.model.as_deref())?;
        let asked = ask(&built, &pool, &pool::Copies::new(), &requests)?;
        figures.push(Figures::of(asked.iter()));
        all.push(built);
    }
    print.line(out, "metatool", &all, &figures)
}

/// Writes result lines, each with its method and pool.
struct Print<'a> {
    arguments: &'a Arguments,
    text: Text,
}

impl Print<'_> {
    /// Prints how often the right and the wrong skill come first above thresholds.
    fn points(
        &self,
        out: &mut dyn Write,
        built: &Built,
        points: Vec<Value>,
    ) -> Result<(), Box<dyn Error>> {
        for mut point in points {
            self.describe(&mut point, built);
            writeln!(out, "{point}")?;
        }
        Ok(())
    }

    fn describe(&self, line: &mut Value, built: &Built) {
        line["method"] = json!(built.name);
        line["pool"] = json!(self.arguments.pool.skills());
        line["fields"] = json!(self.arguments.pool.text(self.text).as_str());
        line["half"] = json!(self.arguments.half.as_str());
    }

    /// Writes the method's metrics, with the baseline's beside them.
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
