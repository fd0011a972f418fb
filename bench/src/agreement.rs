//! Compares the linter's verdicts with those of the specification's reference validator.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::json;
use skillfold_core::author::lint;
use skillfold_core::diagnostic::Severity;
use skillfold_core::read::Profile;
use skillfold_core::{Code, Diagnostic};

use crate::corpus::{self, Entry};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Corpus: a zstd file of JSON lines with `path` and `text`
    #[arg(long)]
    file: PathBuf,
    /// Python interpreter with the package skills-ref
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// Script that calls the validator
    #[arg(long, default_value = "conformance/skills-ref/validate.py")]
    script: PathBuf,
    /// Check every nth file
    #[arg(long, default_value_t = 10)]
    every: usize,
    /// Print the files in this class of difference
    #[arg(long)]
    show: Option<String>,
}

/// Why the two verdicts on a file differ. Each class is a known validator bug or a rule it does not check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    /// The validator's YAML subset rejects flow lists and mappings, which YAML and the specification allow.
    RefusesFlowStyle,
    /// The validator ends the frontmatter at the first `---` anywhere, even inside a value.
    CutsInsideAValue,
    /// The validator rejects a byte-order mark, which the specification does not mention.
    RefusesByteOrderMark,
    /// The validator's YAML subset rejects other valid YAML.
    RefusesOtherYaml,
    /// The specification requires strings under `metadata`; the validator converts anything to a string.
    AcceptsNestedMetadata,
    /// The specification requires a string; the validator does not check the type.
    AcceptsOtherTypes,
    /// The specification requires 1 to 500 characters; the validator accepts an empty value.
    AcceptsEmptyCompatibility,
    /// The validator accepts a closing fence with text attached, or a fence that is not on its own line.
    AcceptsGluedFence,
    /// The validator's YAML subset accepts what YAML rejects.
    AcceptsBrokenYaml,
    /// No known reason.
    Unexplained,
}

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let mut sample = Vec::new();
    for entry in corpus::entries(&arguments.file)?.step_by(arguments.every.max(1)) {
        let mut entry = entry?;
        entry.folder = folder(&entry);
        sample.push(entry);
    }
    let references = validate(arguments, &sample)?;
    let (mut agreed, mut valid, mut differences) =
        (0_u64, 0_u64, BTreeMap::<Difference, u64>::new());
    for (entry, errors) in sample.iter().zip(&references) {
        let findings = lint(entry.text.as_bytes(), &entry.folder, Profile::Spec);
        let ours: Vec<_> = findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .collect();
        if ours.is_empty() == errors.is_empty() {
            agreed += 1;
            valid += u64::from(errors.is_empty());
            continue;
        }
        let class = classify(entry, &ours, errors);
        *differences.entry(class).or_default() += 1;
        if arguments.show.as_deref() == Some(&format!("{class:?}")) {
            show(out, entry, &ours, errors)?;
        }
    }
    for (class, count) in &differences {
        writeln!(out, "{count:>6}  {class:?}")?;
    }
    let unexplained = differences
        .get(&Difference::Unexplained)
        .copied()
        .unwrap_or_default();
    let explained = differences.values().sum::<u64>() - unexplained;
    writeln!(
        out,
        "{}",
        json!({ "files": sample.len(), "agreed": agreed, "valid_in_both": valid, "explained": explained, "unexplained": unexplained })
    )?;
    if unexplained > 0 {
        return Err(format!(
            "{unexplained} verdicts differ for no known reason: --show Unexplained prints them"
        )
        .into());
    }
    // These classes are rare; if one were common, the linter would be wrong.
    if explained * 50 > sample.len() as u64 {
        return Err(format!(
            "{explained} of {} verdicts differ, more than 2 in 100",
            sample.len()
        )
        .into());
    }
    Ok(())
}

/// Returns the folder name under which both check a skill: the skill's name if it is a valid folder name, so that not
/// every file fails because of its folder.
fn folder(entry: &Entry) -> String {
    let name = entry
        .text
        .lines()
        .find_map(|line| line.strip_prefix("name:"))
        .unwrap_or_default();
    let name = name.trim().trim_matches(['"', '\'']);
    let usable = !name.is_empty()
        && name.len() < 200
        && name != "."
        && name != ".."
        && !name.contains(['/', '\0']);
    if usable {
        name.to_owned()
    } else {
        entry.folder.clone()
    }
}

/// Runs the reference validator on the sample.
#[expect(
    clippy::disallowed_methods,
    reason = "the validator is a program of its own, started by this bench only"
)]
fn validate(arguments: &Arguments, sample: &[Entry]) -> Result<Vec<Vec<String>>, Box<dyn Error>> {
    let mut child = Command::new(&arguments.python)
        .arg(&arguments.script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().ok_or("the validator has no input")?;
    let output = child.stdout.take().ok_or("the validator has no output")?;
    let verdicts = std::thread::scope(|scope| {
        scope.spawn(move || {
            for entry in sample {
                // A validator that exits early is detected by the number of its verdicts.
                let _ = writeln!(
                    input,
                    "{}",
                    json!({ "folder": entry.folder, "text": entry.text })
                );
            }
        });
        let lines = BufReader::new(output).lines();
        lines
            .map(|line| Ok(serde_json::from_str(&line?)?))
            .collect::<Result<Vec<Vec<String>>, Box<dyn Error>>>()
    })?;
    child.wait()?;
    if verdicts.len() != sample.len() {
        return Err(format!(
            "the validator judged {} of {} files",
            verdicts.len(),
            sample.len()
        )
        .into());
    }
    Ok(verdicts)
}

/// Returns why the verdicts differ.
fn classify(entry: &Entry, ours: &[&Diagnostic], errors: &[String]) -> Difference {
    if ours.is_empty() {
        refused_by_reference(&entry.text, errors)
    } else {
        accepted_by_reference(&entry.text, ours)
    }
}

fn refused_by_reference(text: &str, errors: &[String]) -> Difference {
    let all = errors.join("\n");
    let block = text
        .trim_start_matches("---")
        .split("\n---")
        .next()
        .unwrap_or_default();
    if text.starts_with('\u{feff}') {
        Difference::RefusesByteOrderMark
    } else if block.contains("---") {
        Difference::CutsInsideAValue
    } else if all.contains("ugly and disallowed JSONesque flow") {
        Difference::RefusesFlowStyle
    } else if all.contains("Invalid YAML in frontmatter") {
        Difference::RefusesOtherYaml
    } else {
        Difference::Unexplained
    }
}

fn accepted_by_reference(text: &str, ours: &[&Diagnostic]) -> Difference {
    let only = |codes: &[Code]| ours.iter().all(|finding| codes.contains(&finding.code));
    // At the top level it also rejects what clients accept; what it accepts is under `metadata`.
    if only(&[Code::MetadataForm, Code::ClientField]) {
        Difference::AcceptsNestedMetadata
    } else if only(&[Code::FieldForm, Code::MetadataForm, Code::ClientField]) {
        Difference::AcceptsOtherTypes
    } else if only(&[Code::CompatibilityLength]) && text.contains("compatibility:") {
        Difference::AcceptsEmptyCompatibility
    } else if ours.iter().any(|finding| {
        matches!(
            finding.code,
            Code::RepairedFence | Code::UnclosedFrontmatter | Code::NoFrontmatter
        )
    }) {
        Difference::AcceptsGluedFence
    } else if ours.iter().any(|finding| finding.code == Code::YamlSyntax) {
        Difference::AcceptsBrokenYaml
    } else {
        Difference::Unexplained
    }
}

fn show(
    out: &mut dyn Write,
    entry: &Entry,
    ours: &[&Diagnostic],
    errors: &[String],
) -> std::io::Result<()> {
    writeln!(out, "================ {}", entry.folder)?;
    for line in entry.text.lines().take(12) {
        writeln!(out, "|   {line}")?;
    }
    ours.iter()
        .try_for_each(|finding| writeln!(out, "ours: {finding}"))?;
    errors
        .iter()
        .try_for_each(|error| writeln!(out, "theirs: {error}"))
}
