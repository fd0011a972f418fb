//! Error of the token estimate against an exact count, on real files.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::json;
use skillfold::O200k;
use skillfold_core::disclose::{TokenCounter, TokenEstimate};

use crate::corpus::entries;
use crate::measure::rounded;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Corpus: a zstd file of JSON lines with `path` and `text`
    #[arg(long)]
    file: PathBuf,
    /// Count only every nth file
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// Count the description line instead of the full file
    #[arg(long)]
    descriptions: bool,
    /// Fail if the mean error is above this
    #[arg(long)]
    at_most: Option<f64>,
}

/// A text counted both ways.
struct Counted {
    bytes: usize,
    exact: u64,
    estimate: u64,
}

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let mut counted = Vec::new();
    let mut seconds = 0.0;
    for entry in entries(&arguments.file)?.step_by(arguments.every.max(1)) {
        let text = entry?.text;
        let text = if arguments.descriptions {
            text.lines().find(|line| line.starts_with("description:"))
        } else {
            Some(text.as_str())
        };
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            continue;
        };
        let start = Instant::now();
        let estimate = black_box(TokenEstimate.count(black_box(text)));
        seconds += start.elapsed().as_secs_f64();
        counted.push(Counted {
            bytes: text.len(),
            exact: O200k.count(text),
            estimate,
        });
    }
    report(&counted, seconds, arguments, out)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of tokens and bytes are small"
)]
fn report(
    counted: &[Counted],
    seconds: f64,
    arguments: &Arguments,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    let bytes: usize = counted.iter().map(|text| text.bytes).sum();
    let exact: u64 = counted.iter().map(|text| text.exact).sum();
    let estimate: u64 = counted.iter().map(|text| text.estimate).sum();
    let quarter = sorted(counted, |text| text.bytes as f64 / 4.0);
    let errors = sorted(counted, |text| text.estimate as f64);
    let (mean, quarter_mean) = (mean(&errors), mean(&quarter));
    writeln!(
        out,
        "a quarter of the bytes is wrong by {quarter_mean:.3} in the mean and {:.3} at p95; the estimate reads {:.0} MB/s",
        at(&quarter, 95),
        bytes as f64 / 1e6 / seconds
    )?;
    let object = json!({
        "files": counted.len(),
        "exact_tokens": exact,
        "estimate_tokens": estimate,
        "error_mean": rounded(mean),
        "error_p50": rounded(at(&errors, 50)),
        "error_p95": rounded(at(&errors, 95)),
        "worst": rounded(at(&errors, 100)),
        "bytes_per_token": rounded(bytes as f64 / exact.max(1) as f64),
    });
    writeln!(out, "{object}")?;
    if arguments.at_most.is_some_and(|limit| mean > limit) {
        return Err("the estimate is too far from the exact count".into());
    }
    Ok(())
}

/// Returns the relative errors of the estimates, smallest first.
#[expect(clippy::cast_precision_loss, reason = "counts of tokens are small")]
fn sorted(counted: &[Counted], guess: impl Fn(&Counted) -> f64) -> Vec<f64> {
    let error = |text: &Counted| {
        let exact = text.exact.max(1) as f64;
        (guess(text) - exact).abs() / exact
    };
    let mut errors: Vec<f64> = counted.iter().map(error).collect();
    errors.sort_by(f64::total_cmp);
    errors
}

#[expect(clippy::cast_precision_loss, reason = "counts of files are small")]
fn mean(errors: &[f64]) -> f64 {
    errors.iter().sum::<f64>() / errors.len().max(1) as f64
}

fn at(sorted: &[f64], percent: usize) -> f64 {
    let place = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(place).copied().unwrap_or_default()
}
