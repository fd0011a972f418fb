//! Takes every real skill in a corpus through everything the engine does, among 60, 3,000 and all skills: listing,
//! checking, fixing, matching requests cut from its own text, rendering, loading through the server's tools, printing.
//! Two independent handles do each step, and their results are compared byte by byte.

mod faults;
mod requests;
mod schema;
mod terminal;

mod root;

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use serde_json::json;

use self::faults::{Faults, listen};
use self::requests::Cutter;
use self::root::Root;
use self::schema::Schema;
use crate::corpus;
use crate::labelled;
use crate::measure::{measure, rounded};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Corpus: a zstd file of JSON lines with `path` and `text`
    #[arg(long)]
    file: PathBuf,
    /// Take only every nth skill, and every nth labelled request
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// Folder of labelled requests
    #[arg(long)]
    data: Option<PathBuf>,
    /// Requests to cut from each skill; more if it has characters that no earlier request had
    #[arg(long, default_value_t = 1)]
    requests: usize,
    /// Seed for the positions where requests are cut
    #[arg(long, default_value_t = 15)]
    seed: u64,
    /// The command; by default the one beside this program
    #[arg(long, value_name = "PATH")]
    skillfold: Option<PathBuf>,
}

/// Sizes of the roots, besides the one with all skills.
const SIZES: [usize; 2] = [60, 3_000];

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let schema = Schema::new()?;
    let all = corpus::entries(&arguments.file)?.step_by(arguments.every.max(1));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    let labelled = labelled_requests(arguments)?;
    let mut sizes: Vec<usize> = SIZES.into_iter().filter(|size| *size < all.len()).collect();
    sizes.push(all.len());
    listen();
    let mut faults = Faults::default();
    let mut cutter = Cutter::new(arguments.seed);
    let mut asked = 0;
    let (result, took) = measure(|| -> Result<(), Box<dyn Error>> {
        for size in sizes {
            let (root, sample) = measure(|| Root::new(&all, size, arguments.skillfold.as_deref()));
            let root = root?;
            writeln!(out, "{size} skills: laid out in {:.0} ms", sample.wall_ms)?;
            let (requests, sample) = measure(|| {
                let mut requests = |text: &str| cutter.requests(text, arguments.requests);
                root.run(&schema, &mut faults, &mut requests, &labelled)
            });
            asked += requests?;
            writeln!(
                out,
                "{size} skills: {:.1} s of CPU time",
                sample.cpu_ms / 1e3
            )?;
        }
        Ok(())
    });
    // Panics are printed again from here on.
    drop(std::panic::take_hook());
    result?;
    for line in faults.lines() {
        writeln!(out, "{line}")?;
    }
    let mut summary = faults.summary();
    summary["skills"] = json!(all.len());
    summary["requests"] = json!(asked);
    summary["labelled_requests"] = json!(labelled.len());
    summary["characters_in_requests"] = json!(cutter.characters());
    summary["faults"] = json!(faults.count());
    summary["cpu_s"] = json!(rounded(took.cpu_ms / 1e3));
    writeln!(out, "{summary}")?;
    match faults.count() {
        0 => Ok(()),
        count => Err(format!("{count} faults").into()),
    }
}

fn labelled_requests(arguments: &Arguments) -> Result<Vec<String>, Box<dyn Error>> {
    let Some(folder) = &arguments.data else {
        return Ok(Vec::new());
    };
    let mut all = labelled::requests(&folder.join("queries.jsonl.zst"), "relevant")?;
    all.extend(labelled::requests(
        &folder.join("negatives.jsonl.zst"),
        "must_not",
    )?);
    let some = all.into_iter().step_by(arguments.every.max(1));
    Ok(some.map(|request| request.text).collect())
}
