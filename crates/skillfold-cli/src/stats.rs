//! `skillfold stats`

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;

use skillfold::core::text::shortened;
use skillfold::core::{Error, visible};
use skillfold::view::{self, Document};
use skillfold::{LogCounts, PeriodLength, Tally};

use crate::arguments::{Global, Stats as Options};
use crate::failure::Failure;
use crate::host;
use crate::output::{BOLD, DIM, Output, WARN, counted, painted};

/// Skills that are shown.
const SHOWN: usize = 20;
/// Periods that are shown, the latest.
const PERIODS: usize = 60;
/// Characters of an id that are shown.
const WIDTH: usize = 48;
/// The name that stands for the input.
const INPUT: &str = "-";

pub(crate) fn run(
    global: &Global,
    options: &Options,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let every = options
        .every
        .map_or(PeriodLength::Day, PeriodLength::Outcomes);
    let stats = read(global, &options.file, every)?;
    if output.is_json() {
        output.json(Document::Stats(view::StatsView::new(&stats, every)))?;
    } else {
        print(&stats, every, output)?;
    }
    say(&stats, output);
    Ok(ExitCode::SUCCESS)
}

fn read(global: &Global, file: &Path, every: PeriodLength) -> Result<skillfold::Stats, Failure> {
    let path = host::environment(global)?.directory().join(file);
    let name = || file.to_string_lossy();
    let log: Box<dyn BufRead> = if file.as_os_str() == INPUT {
        Box::new(io::stdin().lock())
    } else {
        let opened = OpenOptions::new().read(true).open(&path);
        let opened = opened.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::not_found(name()),
            _ => Error::read(name(), error),
        })?;
        Box::new(BufReader::with_capacity(1 << 16, opened))
    };
    let stats = skillfold::Stats::read(log, every).map_err(|error| Error::read(name(), error))?;
    Ok(stats)
}

fn print(
    stats: &skillfold::Stats,
    every: PeriodLength,
    output: &mut Output,
) -> Result<(), Failure> {
    if stats.all == Tally::default() {
        return Ok(());
    }
    // A day says what it is; of anything else the start is told to the minute.
    let (unit, width) = match every {
        PeriodLength::Day => ("day", 10),
        _ => ("from", 16),
    };
    let head = format!("{unit:width$}  turns  matched  used  unused  missed  precision  recall");
    output.line(painted(BOLD, head))?;
    let passed = stats.periods.len().saturating_sub(PERIODS);
    if passed > 0 {
        let earlier = counted(passed, "earlier period", "earlier periods");
        output.line(format!("({earlier}; `--json` has them all)"))?;
    }
    for period in stats.periods.iter().skip(passed) {
        let from = period.from().replace('T', " ");
        output.line(row(&from[..width], width, &period.tally))?;
    }
    if stats.periods.len() > 1 {
        output.line(painted(BOLD, row("all", width, &stats.all)))?;
    }
    print_wrong(stats, output)?;
    print_ways(stats, output)
}

fn row(name: &str, width: usize, tally: &Tally) -> String {
    format!(
        "{name:width$}  {:5}  {:7}  {:4}  {:6}  {:6}  {:>9}  {:>6}",
        tally.turns,
        tally.matched_turns,
        tally.used,
        tally.unused,
        tally.missed,
        percent(tally.precision()),
        percent(tally.recall())
    )
}

/// Prints the skills that came out wrong.
fn print_wrong(stats: &skillfold::Stats, output: &mut Output) -> Result<(), Failure> {
    let wrong = stats.skills.iter();
    let wrong = wrong.filter(|skill| skill.tally.wrong() > 0);
    let wrong: Vec<_> = wrong
        .map(|skill| {
            (
                shortened(&visible(&skill.id), WIDTH).into_owned(),
                &skill.tally,
            )
        })
        .collect();
    if wrong.is_empty() {
        return Ok(());
    }
    output.line("")?;
    output.line(painted(BOLD, "Wrong most often"))?;
    print_tallies(&wrong[..wrong.len().min(SHOWN)], output)?;
    if let Some(more @ 1..) = wrong.len().checked_sub(SHOWN) {
        let more = counted(more, "more skill", "more skills");
        output.line(format!("  {more}; `--json` has them all"))?;
    }
    Ok(())
}

/// Prints how the skills were chosen.
fn print_ways(stats: &skillfold::Stats, output: &mut Output) -> Result<(), Failure> {
    let ways = stats.ways.iter();
    let ways: Vec<_> = ways.map(|way| (way.by.to_string(), &way.tally)).collect();
    if ways.is_empty() {
        return Ok(());
    }
    output.line("")?;
    output.line(painted(BOLD, "Chosen by"))?;
    print_tallies(&ways, output)
}

fn print_tallies(tallies: &[(String, &Tally)], output: &mut Output) -> Result<(), Failure> {
    let widths = tallies.iter().map(|(name, _)| name.chars().count());
    let width = widths.max().unwrap_or_default();
    for (name, tally) in tallies {
        let counts = [
            (tally.used, "used"),
            (tally.unused, "unused"),
            (tally.missed, "missed"),
        ];
        let counts = counts.into_iter().filter(|(number, _)| *number > 0);
        let counts: Vec<_> = counts
            .map(|(number, word)| format!("{number} {word}"))
            .collect();
        let precision = percent(tally.precision());
        let precision = painted(DIM, format!("precision {precision}"));
        let counts = counts.join(", ");
        output.line(format!("  {name:width$}  {counts}  {precision}"))?;
    }
    Ok(())
}

fn percent(share: Option<f64>) -> String {
    match share {
        Some(share) => format!("{:.0} %", share * 100.0),
        None => "-".to_owned(),
    }
}

/// Says what the log has beside, and what is wrong with it.
fn say(stats: &skillfold::Stats, output: &mut Output) {
    let LogCounts {
        read,
        other,
        broken,
        first_broken,
        too_long,
        of_more_skills,
        of_more_periods,
        is_cut,
        ..
    } = stats.lines;
    let lines = |number: u64| format!("{number} {}", if number == 1 { "line" } else { "lines" });
    output.say(format!(
        "{} read, {other} of other events; {} of requests, {} of skills",
        lines(read),
        lines(stats.all.turns),
        lines(stats.all.outcomes())
    ));
    if stats.all.outcomes() == 0 {
        output.say(
            "No line has feedback on a skill: a host records it with `Session::record_feedback` and logs it with `TraceLines`",
        );
    }
    let mut warn = |what: String| {
        let head = painted(WARN, "warning");
        output.say(format!("{head}: {what}"));
    };
    if let Some(first) = first_broken {
        warn(format!(
            "left out: {} that could not be understood, the first is line {first}",
            lines(broken)
        ));
    }
    if too_long > 0 {
        warn(format!("left out: {} above 1 MiB", lines(too_long)));
    }
    let beyond = [(of_more_skills, "skills"), (of_more_periods, "periods")];
    for (number, what) in beyond.into_iter().filter(|(number, _)| *number > 0) {
        warn(format!(
            "{}, of more than 10,000 {what}, counted in the whole alone",
            lines(number)
        ));
    }
    if is_cut {
        warn("the log is longer than the 4 GiB that are read; split it".to_owned());
    }
}
