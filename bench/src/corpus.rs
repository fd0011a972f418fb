//! Counts how many real skills are loaded, and why the others are not.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skillfold_core::Code;
use skillfold_core::diagnostic::Severity;
use skillfold_core::read::{Parsed, parse};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Corpus: a zstd file of JSON lines with `path` and `text`
    #[arg(long)]
    file: PathBuf,
    /// Print files with findings of this code, such as SF101, or all that were refused or repaired
    #[arg(long, value_name = "CODE|refused|repaired")]
    show: Option<String>,
    /// Print only every nth of them
    #[arg(long, default_value_t = 1)]
    every: usize,
}

/// A file in the corpus.
pub(crate) struct Entry {
    /// Its folder's name.
    pub(crate) folder: String,
    pub(crate) text: String,
}

/// Reads a corpus entry by entry.
#[expect(
    clippy::disallowed_methods,
    reason = "the corpus is a file that the caller names"
)]
pub(crate) fn entries(
    path: &Path,
) -> Result<impl Iterator<Item = Result<Entry, Box<dyn Error>>>, Box<dyn Error>> {
    let mut decoder = zstd::Decoder::new(File::open(path)?)?;
    decoder.window_log_max(27)?;
    Ok(BufReader::new(decoder).lines().map(|line| entry(&line?)))
}

fn entry(line: &str) -> Result<Entry, Box<dyn Error>> {
    let value: Value = serde_json::from_str(line)?;
    let text = |key: &str| {
        value[key]
            .as_str()
            .ok_or_else(|| format!("an entry has no `{key}`"))
    };
    let folder = text("path")?
        .rsplit('/')
        .nth(1)
        .unwrap_or("skill")
        .to_owned();
    Ok(Entry {
        folder,
        text: text("text")?.to_owned(),
    })
}

#[derive(Default)]
struct Counts {
    files: u64,
    loaded: u64,
    repaired: u64,
    refused: u64,
    refused_without_position: u64,
    panics: u64,
    with_description: u64,
    loaded_with_description: u64,
    codes: BTreeMap<Code, u64>,
    shown: usize,
}

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let mut counts = Counts::default();
    for entry in entries(&arguments.file)? {
        let entry = entry?;
        counts.files += 1;
        match catch_unwind(AssertUnwindSafe(|| {
            parse(entry.text.as_bytes(), &entry.folder)
        })) {
            Ok(parsed) => counts.parsed(&entry, &parsed, arguments, out)?,
            Err(_) => counts.panics += 1,
        }
    }
    writeln!(out, "findings by code:")?;
    for (code, count) in &counts.codes {
        writeln!(out, "{count:>7}  {code}  {}", code.description())?;
    }
    let share = 100.0 * ratio(counts.loaded_with_description, counts.with_description);
    writeln!(
        out,
        "files with frontmatter and a description: {}, of these loaded: {share:.2} %",
        counts.with_description
    )?;
    writeln!(
        out,
        "{}",
        json!({
            "files": counts.files, "loaded": counts.loaded, "repaired": counts.repaired, "refused": counts.refused,
            "refused_without_position": counts.refused_without_position, "panics": counts.panics,
        })
    )?;
    if counts.panics + counts.refused_without_position > 0 {
        return Err("a file made the engine panic, or was refused without a place".into());
    }
    Ok(())
}

impl Counts {
    fn parsed(
        &mut self,
        entry: &Entry,
        parsed: &Parsed,
        arguments: &Arguments,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let has_description = has_description(&entry.text);
        self.with_description += u64::from(has_description);
        for finding in &parsed.diagnostics {
            *self.codes.entry(finding.code).or_default() += 1;
        }
        if parsed.manifest.is_some() {
            self.loaded += 1;
            self.repaired += u64::from(parsed.repaired);
            self.loaded_with_description += u64::from(has_description);
        } else {
            self.refused += 1;
            let errors = parsed
                .diagnostics
                .iter()
                .filter(|finding| finding.severity == Severity::Error);
            self.refused_without_position +=
                u64::from(!errors.into_iter().any(|error| error.span.is_some()));
        }
        self.show(entry, parsed, arguments, out)
    }

    fn show(
        &mut self,
        entry: &Entry,
        parsed: &Parsed,
        arguments: &Arguments,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let wanted = match arguments.show.as_deref() {
            None => false,
            Some("refused") => parsed.manifest.is_none() && has_description(&entry.text),
            Some("repaired") => parsed.manifest.is_some() && parsed.repaired,
            Some(code) => parsed
                .diagnostics
                .iter()
                .any(|finding| finding.code.number() == code),
        };
        if !wanted {
            return Ok(());
        }
        self.shown += 1;
        if !self.shown.is_multiple_of(arguments.every) {
            return Ok(());
        }
        writeln!(out, "================ {} in {}", self.shown, entry.folder)?;
        let lines: Vec<_> = entry.text.lines().collect();
        for finding in &parsed.diagnostics {
            let Some(span) = finding.span else {
                writeln!(out, "> {finding}")?;
                continue;
            };
            writeln!(out, "> {}-{} {finding}", span.start, span.end)?;
            let first = span.start.line as usize - 1;
            for line in lines
                .iter()
                .take(span.end.line as usize)
                .skip(first)
                .take(8)
            {
                writeln!(out, "|   {line}")?;
            }
        }
        if let Some(manifest) = &parsed.manifest {
            writeln!(out, "= {manifest:?}")?;
        }
        Ok(())
    }
}

/// Returns whether a file has frontmatter and a description at all, judging only by its lines.
fn has_description(text: &str) -> bool {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    if lines.next().is_none_or(|line| line.trim_end() != "---") {
        return false;
    }
    lines
        .take_while(|line| line.trim_end() != "---")
        .any(|line| line.starts_with("description:"))
}

#[expect(clippy::cast_precision_loss, reason = "counts of files are small")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}
