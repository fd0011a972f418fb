//! What finding all skills costs, against the least anyone could do: open every file and read 4 KiB.

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde_json::json;
use skillfold_core::{Discovery, FsSource, Reader, Reading, discover, parse};

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
    /// Fail if the ratio is above this
    #[arg(long)]
    at_most: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let files = lay_out(folder.path(), arguments)?;
    let reader = if arguments.yaml_only {
        Reader::Yaml
    } else {
        Reader::Lines
    };
    let reading = Reading {
        reader,
        ..Reading::default()
    };
    let source = FsSource::open(folder.path())?;

    // One run of each, not counted, brings all files into the page cache.
    black_box(floor(&files)?);
    let (found, held) = held_by(|| discover(&[&source], &reading));
    if found.skills.len() + found.refused.len() != files.len() {
        return Err(format!(
            "{} files were laid out, {} were found",
            files.len(),
            found.skills.len() + found.refused.len()
        )
        .into());
    }
    let bytes_per_skill = held / isize::try_from(files.len().max(1))?;
    let text_per_skill = kept_text(&found) / files.len().max(1);
    drop(found);

    let (mut floors, mut engines): (Vec<Sample>, Vec<Sample>) = (Vec::new(), Vec::new());
    for _ in 0..arguments.runs {
        let (result, sample) = measure(|| floor(&files));
        black_box(result?);
        floors.push(sample);
        // The result is dropped outside of the measurement, as the floor's is.
        let (found, sample) = measure(|| discover(&[&source], &reading));
        drop(black_box(found));
        engines.push(sample);
    }
    let ratios = floors
        .iter()
        .zip(&engines)
        .map(|(floor, engine)| engine.cpu_ms / floor.cpu_ms)
        .collect();
    let ratio = median(ratios);
    writeln!(out, "text that is kept: {text_per_skill} bytes per skill")?;
    writeln!(
        out,
        "{}",
        json!({
            "skills": files.len(),
            "floor_cpu_ms": rounded(median(floors.iter().map(|sample| sample.cpu_ms).collect())),
            "cpu_ms": rounded(median(engines.iter().map(|sample| sample.cpu_ms).collect())),
            "wall_ms": rounded(median(engines.iter().map(|sample| sample.wall_ms).collect())),
            "ratio": rounded(ratio),
            "bytes_per_skill": bytes_per_skill,
        })
    )?;
    match arguments.at_most {
        Some(limit) if ratio > limit => {
            Err(format!("the ratio {ratio:.2} is above {limit}").into())
        }
        _ => Ok(()),
    }
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

/// Returns the bytes of text that skills keep: names, descriptions, folders and metadata.
fn kept_text(found: &Discovery) -> usize {
    found
        .skills
        .iter()
        .map(|skill| {
            skill.manifest.name().as_str().len()
                + skill.manifest.description().len()
                + skill.folder.path().len()
        })
        .sum()
}
