//! What a snapshot of all skills costs, and a refresh of it, against the least anyone could do: open every file and read
//! 4 KiB.

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde_json::json;
use skillfold_core::{Catalog, FsSource, Reader, Reading, Root, Rules, Scope, parse};

use crate::allocator::held_by;
use crate::corpus;
use crate::measure::{Sample, measure, median, rounded};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many skills to lay out
    #[arg(long)]
    skills: usize,
    /// Real files to lay out, instead of made ones
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// Runs of the floor and of the engine, one after the other
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// Put every frontmatter through the YAML parser
    #[arg(long)]
    yaml_only: bool,
    /// Fail if the ratio is above this, or if a skill takes over 1,024 bytes beyond its text
    #[arg(long)]
    at_most: Option<f64>,
    /// Fail if the ratio of a refresh is above this
    #[arg(long)]
    refresh_at_most: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let files = lay_out(folder.path(), arguments)?;
    let reader = if arguments.yaml_only {
        Reader::Yaml
    } else {
        Reader::Lines
    };
    let rules = Rules {
        reading: Reading {
            reader,
            ..Reading::default()
        },
        ..Rules::default()
    };
    // Opening the root again is part of the work, as it is for a host.
    let snapshot = || {
        Ok::<_, Box<dyn Error>>(Catalog::discover(
            roots(folder.path())?,
            rules.clone(),
            NOW_NS,
        ))
    };

    // One run of each, not counted, brings all files into the page cache.
    black_box(floor(&files)?);
    let (catalog, held) = held_by(snapshot);
    let catalog = catalog?;
    if catalog.len() + catalog.refused().len() != files.len() {
        return Err(format!(
            "{} files were laid out, {} were found",
            files.len(),
            catalog.len() + catalog.refused().len()
        )
        .into());
    }
    let bytes_per_skill = held / isize::try_from(files.len().max(1))?;
    let text_per_skill = kept_text(&catalog) / files.len().max(1);

    let mut runs = Runs::default();
    for _ in 0..arguments.runs {
        let (result, sample) = measure(|| floor(&files));
        black_box(result?);
        runs.floor.push(sample);
        // The result is dropped outside of the measurement, as the floor's is.
        let (found, sample) = measure(snapshot);
        drop(black_box(found?));
        runs.engine.push(sample);
        let (refreshed, sample) = measure(|| {
            let roots = roots(folder.path())?;
            Ok::<_, Box<dyn Error>>(catalog.refresh(roots, rules.clone(), NOW_NS))
        });
        if !black_box(refreshed?).changes.is_empty() {
            return Err("a refresh with nothing changed found changes".into());
        }
        runs.refresh.push(sample);
    }
    let ratio = ratio(&runs.floor, &runs.engine);
    let refresh_ratio = self::ratio(&runs.floor, &runs.refresh);
    let cpu = |samples: &[Sample]| rounded(median(samples.iter().map(|one| one.cpu_ms).collect()));
    writeln!(out, "text that is kept: {text_per_skill} bytes per skill")?;
    writeln!(
        out,
        "{}",
        json!({
            "skills": files.len(),
            "floor_cpu_ms": cpu(&runs.floor),
            "cpu_ms": cpu(&runs.engine),
            "wall_ms": rounded(median(runs.engine.iter().map(|sample| sample.wall_ms).collect())),
            "ratio": rounded(ratio),
            "refresh_cpu_ms": cpu(&runs.refresh),
            "refresh_ratio": rounded(refresh_ratio),
            "bytes_per_skill": bytes_per_skill,
        })
    )?;
    let bytes = bytes_per_skill - isize::try_from(text_per_skill)?;
    judge(arguments, ratio, refresh_ratio, bytes)
}

/// Fails where a figure is above its limit; bytes are those of a skill beyond its text.
fn judge(
    arguments: &Arguments,
    ratio: f64,
    refresh_ratio: f64,
    bytes: isize,
) -> Result<(), Box<dyn Error>> {
    let is_above = |limit: Option<f64>, value: f64| limit.is_some_and(|limit| value > limit);
    if is_above(arguments.at_most, ratio) {
        return Err(format!("the ratio {ratio:.2} is too high").into());
    }
    if is_above(arguments.refresh_at_most, refresh_ratio) {
        return Err(format!("the ratio {refresh_ratio:.2} of a refresh is too high").into());
    }
    if arguments.at_most.is_some() && bytes > BYTES_AT_MOST {
        return Err(format!("a skill takes {bytes} bytes beyond its text").into());
    }
    Ok(())
}

/// Bytes that a skill may take beyond its text.
const BYTES_AT_MOST: isize = 1_024;

/// A time after everything that was laid out, so that all revisions are settled.
const NOW_NS: i64 = i64::MAX;

#[derive(Default)]
struct Runs {
    floor: Vec<Sample>,
    engine: Vec<Sample>,
    refresh: Vec<Sample>,
}

/// Returns the middle of the ratios of runs that stood side by side.
fn ratio(floor: &[Sample], runs: &[Sample]) -> f64 {
    let pairs = floor.iter().zip(runs);
    median(
        pairs
            .map(|(floor, run)| run.cpu_ms / floor.cpu_ms)
            .collect(),
    )
}

fn roots(folder: &Path) -> Result<Vec<Root>, skillfold_core::Error> {
    Ok(vec![Root::new(
        Scope::User,
        "bench",
        FsSource::open(folder)?,
    )])
}

/// Opens every file and reads its first 4 KiB, on one thread.
#[expect(
    clippy::disallowed_methods,
    reason = "the floor is what anyone would write"
)]
fn floor(files: &[PathBuf]) -> Result<usize, Box<dyn Error>> {
    let mut buffer = [0; 4096];
    let mut bytes = 0;
    for file in files {
        bytes += File::open(file)?.read(&mut buffer)?;
    }
    Ok(bytes)
}

/// Lays out skills below a folder and returns the paths of their files.
fn lay_out(root: &Path, arguments: &Arguments) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::with_capacity(arguments.skills);
    match &arguments.corpus {
        None => {
            for number in 0..arguments.skills {
                files.push(made(root, number)?);
            }
        }
        Some(corpus) => {
            let texts = corpus::entries(corpus)?.collect::<Result<Vec<_>, _>>()?;
            let mut taken: HashMap<String, usize> = HashMap::new();
            // Fewer skills than the corpus has are taken from all over it; a corpus that is too short is laid out again.
            let spread = |number: usize| {
                number * texts.len() / arguments.skills.min(texts.len()).max(1) % texts.len()
            };
            for entry in (0..arguments.skills).map(|number| &texts[spread(number)]) {
                let name = installed_name(entry);
                let copies = taken.entry(name.clone()).or_default();
                // Two skills of one name cannot stand in one folder; the second goes into a group of its own.
                let group = if *copies == 0 {
                    root.to_owned()
                } else {
                    root.join(format!("group-{copies}"))
                };
                *copies += 1;
                files.push(write(&group.join(name), &entry.text)?);
            }
        }
    }
    Ok(files)
}

/// Returns the folder that an installer would put a skill into: the skill's name, or else the folder it came from.
fn installed_name(entry: &corpus::Entry) -> String {
    let name = parse(entry.text.as_bytes(), &entry.folder)
        .manifest
        .map(|manifest| manifest.name().to_string());
    let usable = |name: &String| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    name.filter(usable).unwrap_or_else(|| {
        entry
            .folder
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
            .collect()
    })
}

#[expect(clippy::disallowed_methods, reason = "a bench lays out its own files")]
fn write(folder: &Path, text: &str) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let file = folder.join("SKILL.md");
    std::fs::write(&file, text)?;
    Ok(file)
}

/// Lays out a made skill: a plain frontmatter, a body of 2 to 8 KB, two resources.
#[expect(clippy::disallowed_methods, reason = "a bench lays out its own files")]
fn made(root: &Path, number: usize) -> std::io::Result<PathBuf> {
    let name = format!("made-skill-{number:06}");
    let folder = root.join(&name);
    let sentence =
        "Read the input, check it against the rules above, and write the result beside it.\n";
    let body = sentence.repeat(25 + number * 7 % 73);
    let text = format!(
        "---\nname: {name}\ndescription: Does task {number} of a made collection. Use when task {number} is asked for.\nlicense: MIT\n\
         allowed-tools: Read Grep Bash(git:*)\nmetadata:\n  author: bench\n  version: \"1.0.{number}\"\n---\n\n# {name}\n\n{body}"
    );
    for (path, content) in [
        ("references/guide.md", "# Guide\n"),
        ("scripts/run.py", "print('made')\n"),
    ] {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, content)?;
    }
    write(&folder, &text)
}

/// Returns the bytes of text that skills keep: names, descriptions and folders.
fn kept_text(catalog: &Catalog) -> usize {
    catalog
        .entries()
        .map(|entry| {
            let manifest = entry.manifest();
            manifest.name().as_str().len()
                + manifest.description().len()
                + entry.skill().folder.path().len()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::{NOW_NS, made, roots};
    use crate::allocator::held_by;
    use crate::measure::measure;
    use skillfold_core::{Catalog, Rules};

    #[test]
    fn a_hundred_skills_take_less_than_100_ms_and_2_5_mb() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..100 {
            made(folder.path(), number).unwrap();
        }
        let discover =
            || Catalog::discover(roots(folder.path()).unwrap(), Rules::default(), NOW_NS);
        let ((catalog, held), sample) = measure(|| held_by(discover));
        assert_eq!(catalog.len(), 100);
        assert!(sample.cpu_ms < 100.0, "{} ms of CPU time", sample.cpu_ms);
        assert!(held < 2_500_000, "{held} bytes");
    }
}
