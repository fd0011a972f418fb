//! Counts how many of the clauses that say what a skill is not for are found.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

use serde_json::{Value, json};
use skillfold_core::load::Digest;
use skillfold_core::read::{exclusions, parse};

use crate::corpus::entries;
use crate::labelled::value;
use crate::measure::rounded;

/// A clause is found if this much of it and of the one found is the same.
const MIN_OVERLAP: f64 = 0.5;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Corpus: a zstd file of JSON lines with `path` and `text`
    #[arg(long)]
    corpus: PathBuf,
    /// Labelled descriptions: their digests, and the byte ranges of the clauses in each
    #[arg(long, default_value = "bench/exclusion_labels.json")]
    labels: PathBuf,
    /// Print the clauses that were missed and those that are none
    #[arg(long)]
    faults: bool,
    /// Fail if fewer of the clauses found are right, or fewer of the right ones are found, in percent
    #[arg(long, value_names = ["PRECISION", "RECALL"], num_args = 2)]
    at_least: Vec<f64>,
}

/// The clauses of each description, by its digest.
type Descriptions = BTreeMap<String, Vec<Range<usize>>>;

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let labels = value(&arguments.labels)?;
    let mut parts = [&labels["written_with"], &labels["held_out"]].map(descriptions);
    let mut counts = [Counts::default(), Counts::default()];
    for entry in entries(&arguments.corpus)? {
        let entry = entry?;
        let parsed = parse(entry.text.as_bytes(), &entry.folder);
        let Some(manifest) = parsed.manifest else {
            continue;
        };
        let description = manifest.description();
        let digest = Digest::sha256(description.as_bytes()).to_string();
        for (part, counts) in parts.iter_mut().zip(&mut counts) {
            if let Some(labelled) = part.remove(digest.trim_start_matches("sha256:")) {
                let faults = counts.add(description, &labelled);
                if arguments.faults {
                    for fault in faults {
                        writeln!(out, "{fault}")?;
                    }
                }
            }
        }
    }
    let missing = parts.map(|part| part.len());
    if missing != [0, 0] {
        return Err(format!("the corpus has not all labelled descriptions: {missing:?}").into());
    }
    let [written_with, held_out] = &counts;
    let line = json!({ "written_with": written_with.to_json(), "held_out": held_out.to_json() });
    writeln!(out, "{line}")?;
    if let [precision, recall] = arguments.at_least[..]
        && (100.0 * held_out.precision() < precision || 100.0 * held_out.recall() < recall)
    {
        return Err("fewer clauses are found than asked for".into());
    }
    Ok(())
}

/// Reads a part of the labels: those of descriptions that were read when the patterns were written, or those of others.
fn descriptions(part: &Value) -> Descriptions {
    let place = |value: &Value| usize::try_from(value.as_u64()?).ok();
    let range = |clause: &Value| Some(place(&clause[0])?..place(&clause[1])?);
    let part = part.as_object().into_iter().flatten();
    let part = part.map(|(digest, clauses)| {
        let clauses = clauses.as_array().into_iter().flatten();
        (digest.clone(), clauses.filter_map(range).collect())
    });
    part.collect()
}

#[derive(Default)]
struct Counts {
    descriptions: u32,
    with_clauses: u32,
    found: u32,
    found_right: u32,
    labelled: u32,
    labelled_found: u32,
}

impl Counts {
    /// Compares a description with its labels, and returns what differs.
    fn add(&mut self, description: &str, labelled: &[Range<usize>]) -> Vec<Value> {
        let found = exclusions(description);
        let found: Vec<Range<usize>> = found.into_iter().map(|clause| clause.range).collect();
        let mut faults = Vec::new();
        self.descriptions += 1;
        self.with_clauses += u32::from(!labelled.is_empty());
        for clause in &found {
            self.found += 1;
            if is_among(clause, labelled) {
                self.found_right += 1;
            } else {
                faults.push(json!({ "no_clause": description.get(clause.clone()) }));
            }
        }
        for clause in labelled {
            self.labelled += 1;
            if is_among(clause, &found) {
                self.labelled_found += 1;
            } else {
                faults.push(json!({ "missed": description.get(clause.clone()) }));
            }
        }
        faults
    }

    fn precision(&self) -> f64 {
        f64::from(self.found_right) / f64::from(self.found.max(1))
    }

    fn recall(&self) -> f64 {
        f64::from(self.labelled_found) / f64::from(self.labelled.max(1))
    }

    fn to_json(&self) -> Value {
        json!({
            "descriptions": self.descriptions,
            "with_clauses": self.with_clauses,
            "clauses": self.labelled,
            "precision": rounded(100.0 * self.precision()),
            "recall": rounded(100.0 * self.recall()),
        })
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "descriptions are far shorter than 2^52 bytes"
)]
fn is_among(clause: &Range<usize>, others: &[Range<usize>]) -> bool {
    let overlap = |other: &Range<usize>| {
        let both = clause
            .end
            .min(other.end)
            .saturating_sub(clause.start.max(other.start));
        let either = clause.end.max(other.end) - clause.start.min(other.start);
        both as f64 / either.max(1) as f64
    };
    others.iter().any(|other| overlap(other) >= MIN_OVERLAP)
}
