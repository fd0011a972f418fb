//! Time from start to result of a trivial script in each sandbox of this system, compared with starting the same script bare, and of a
//! tool call in a language host.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use skillfold_run::sandboxes::{Sandbox, sandboxes};
use skillfold_run::{Run, RunOptions, SkillCopy, layers};

use crate::measure::{median, rounded};
use crate::run_hosts;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Runs of each script, bare and in the sandbox, alternating
    #[arg(long, default_value_t = 201)]
    runs: usize,
    /// Fail if the sandbox takes more than this many times as long, and more than `--more-ms` longer
    #[arg(long)]
    at_most: Option<f64>,
    /// Extra milliseconds that the sandbox may always take
    #[arg(long, default_value_t = 15.0)]
    more_ms: f64,
    /// Fail if a call to a running language host takes more milliseconds
    #[arg(long)]
    call_ms: Option<f64>,
}

/// A script, the program that runs it, and its text.
const SCRIPTS: [(&str, &str, &str); 2] = [
    ("scripts/ok.sh", "/bin/sh", "#!/bin/sh\necho ok\n"),
    (
        "scripts/ok.py",
        "/usr/bin/python3",
        "#!/usr/bin/env python3\nprint('ok')\n",
    ),
];

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    fs::create_dir(folder.path().join("scripts"))?;
    // The first call probes the layers, once per process.
    let started = Instant::now();
    let is_whole = layers().is_complete();
    let first_ms = started.elapsed().as_secs_f64() * 1000.0;
    if !is_whole {
        return Err(format!("the sandbox is not whole here: {:?}", layers()).into());
    }
    let mut figures = serde_json::Map::new();
    let mut failures = Vec::new();
    for sandbox in sandboxes() {
        let report = sandbox.report();
        let (name, is_default) = (
            report.sandbox.to_string(),
            report.sandbox == layers().sandbox,
        );
        if !report.is_complete() {
            figures.insert(name, json!(null));
            continue;
        }
        let mut scripts = serde_json::Map::new();
        for script in SCRIPTS {
            let measured = compare(arguments.runs, folder.path(), script, sandbox)?;
            let (bare, boxed) = (measured.bare_ms, measured.boxed_ms);
            let is_slow = arguments.at_most.is_some_and(|most| boxed > bare * most);
            if is_default && is_slow && boxed - bare > arguments.more_ms {
                failures.push(format!(
                    "`{}` takes {boxed:.1} ms in the sandbox and {bare:.1} ms bare",
                    script.0
                ));
            }
            scripts.insert(script.0.to_owned(), measured.figures());
        }
        figures.insert(name, scripts.into());
    }
    let (hosts, slow) = run_hosts::measure(arguments.runs, arguments.call_ms)?;
    failures.extend(slow);
    let report = json!({
        "runs": arguments.runs, "first_ms": rounded(first_ms), "sandboxes": figures, "hosts": hosts,
    });
    writeln!(out, "{report}")?;
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join(", ").into())
    }
}

/// Median times of a script.
struct Measured {
    bare_ms: f64,
    boxed_ms: f64,
}

impl Measured {
    fn figures(&self) -> Value {
        json!({
            "bare_ms": rounded(self.bare_ms),
            "box_ms": rounded(self.boxed_ms),
            "times": rounded(self.boxed_ms / self.bare_ms),
            "more_ms": rounded(self.boxed_ms - self.bare_ms),
        })
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a bench writes its own script, and starts it bare"
)]
fn compare(
    runs: usize,
    folder: &Path,
    (name, program, text): (&str, &str, &str),
    sandbox: &'static dyn Sandbox,
) -> Result<Measured, Box<dyn Error>> {
    let file = folder.join(name);
    fs::write(&file, text)?;
    let path = name.parse()?;
    let (mut bare, mut boxed) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let started = Instant::now();
        let output = Command::new(program)
            .arg(&file)
            .stdin(Stdio::null())
            .current_dir(folder)
            .output()?;
        bare.push(started.elapsed().as_secs_f64() * 1000.0);
        // Includes the copy, which a host also makes for each run.
        let started = Instant::now();
        let copy = SkillCopy::new([
            ("SKILL.md".parse()?, Vec::new()),
            (name.parse()?, text.into()),
        ])?;
        let options = RunOptions::default().with_sandbox(sandbox);
        let outcome = Run::new(&copy, &path).with_options(options).run()?;
        boxed.push(started.elapsed().as_secs_f64() * 1000.0);
        if output.stdout != b"ok\n" || outcome.stdout != b"ok\n" {
            return Err(format!("`{name}` did not answer: {outcome:?}").into());
        }
    }
    Ok(Measured {
        bare_ms: median(bare),
        boxed_ms: median(boxed),
    })
}
