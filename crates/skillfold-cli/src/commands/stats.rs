//! `skillfold stats`

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::ExitCode;

use skillfold::conversation::Conversations;
use skillfold::core::Error;
use skillfold::core::diagnostic::visible;
use skillfold::core::text::ellipsize;
use skillfold::reports::{HookCounts, LogCounts, PeriodLength, Stats, StatsPeriod, Tally};
use skillfold::view::{Document, ForgottenSkills, StatsView};
use skillfold_hook::HookLog;

use crate::arguments::{Global, Stats as Options};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::chart::{Series, line_chart, svg};
use crate::terminal::output::{BOLD, DIM, Output, WARN, paint, pluralize};

/// Maximum skills shown.
const MAX_SKILLS: usize = 20;
/// Maximum periods shown; the latest ones.
const MAX_PERIODS: usize = 60;
/// Maximum characters of an id shown.
const MAX_ID_CHARS: usize = 48;
/// The file name that stands for stdin.
const STDIN: &str = "-";

pub(crate) fn run(global: &Global, options: &Options, output: &mut Output) -> CommandResult {
    if let Some(skill) = &options.forget {
        return forget(global, skill.as_deref(), output);
    }
    let period_length = options
        .every
        .map_or(PeriodLength::Day, PeriodLength::Outcomes);
    let stats = read(global, options.file.as_deref(), period_length)?;
    if output.is_json() {
        let view = StatsView::new(stats.clone(), period_length);
        output.json(Document::Stats(view))?;
    } else {
        print(&stats, period_length, output)?;
    }
    if let Some(file) = &options.svg {
        write_svg(global, &stats, file)?;
    }
    say_log_summary(&stats, output);
    Ok(ExitCode::SUCCESS)
}

/// Makes the hook forget how a skill was used, or all skills.
fn forget(global: &Global, skill: Option<&str>, output: &mut Output) -> CommandResult {
    let conversations = Conversations::of_user(&host::environment(global)?);
    let conversations = conversations.ok_or_else(|| Error::not_found("home"))?;
    let forgotten = conversations.forget_learned(skill)?;
    match (skill, forgotten.len()) {
        (Some(skill), 0) => {
            let skill = visible(skill);
            output.say(format!("The hook knows nothing of how `{skill}` is used"));
        }
        (Some(skill), _) => output.say(format!("Forgot how `{}` was used", visible(skill))),
        (None, count) => {
            let skills = pluralize(count, "skill was", "skills were");
            output.say(format!("Forgot how {skills} used"));
        }
    }
    if output.is_json() {
        return output.json(Document::Forgotten(ForgottenSkills::new(forgotten)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens the hook's log, which must exist.
pub(crate) fn hook_log(global: &Global) -> Result<Box<dyn BufRead>, Failure> {
    let folder = host::environment(global)?.state_folder();
    let log = folder.map(|folder| HookLog::read(&folder)).transpose()?;
    match log.flatten() {
        Some(log) => Ok(Box::new(log)),
        None => Err(Failure::System {
            message: "The hook has no log".to_owned(),
            hint: "Connect a client with `skillfold setup` and use it; the log starts with its first prompt, unless `hook_log` is off"
                .to_owned(),
        }),
    }
}

/// Reads the statistics of a log; `-` is stdin. Without a file, those of the hook's log.
pub(crate) fn read(
    global: &Global,
    file: Option<&Path>,
    period_length: PeriodLength,
) -> Result<Stats, Failure> {
    let (log, name): (Box<dyn BufRead>, _) = match file {
        None => (hook_log(global)?, Path::new("the hook's log")),
        Some(file) if file.as_os_str() == STDIN => (Box::new(io::stdin().lock()), file),
        Some(file) => {
            let path = host::environment(global)?.directory().join(file);
            (open(&path, file)?, file)
        }
    };
    let stats = Stats::read(log, period_length);
    Ok(stats.map_err(|error| Error::read(name.to_string_lossy(), error))?)
}

/// Opens a log; `name` is what the user calls it.
fn open(path: &Path, name: &Path) -> Result<Box<dyn BufRead>, Failure> {
    let opened = OpenOptions::new().read(true).open(path);
    let name = name.to_string_lossy();
    let opened = opened.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::not_found(name),
        _ => Error::read(name, error),
    })?;
    Ok(Box::new(BufReader::with_capacity(1 << 16, opened)))
}

fn print(stats: &Stats, period_length: PeriodLength, output: &mut Output) -> Result<(), Failure> {
    if stats.all == Tally::default() {
        return Ok(());
    }
    // A day is printed as its date; any other period by its start to the minute.
    let (unit, width) = match period_length {
        PeriodLength::Day => ("day", 10),
        _ => ("from", 16),
    };
    let head = format!("{unit:width$}  turns  matched  used  unused  missed  precision  recall");
    output.line(paint(BOLD, head))?;
    let skipped = stats.periods.len().saturating_sub(MAX_PERIODS);
    if skipped > 0 {
        let earlier = pluralize(skipped, "earlier period", "earlier periods");
        output.line(format!("({earlier}; `--json` has them all)"))?;
    }
    for period in stats.periods.iter().skip(skipped) {
        let from = period.from().replace('T', " ");
        output.line(row(&from[..width], width, &period.tally))?;
    }
    if stats.periods.len() > 1 {
        output.line(paint(BOLD, row("all", width, &stats.all)))?;
    }
    print_wrong_skills(stats, output)?;
    print_signals(stats, output)?;
    print_hook(stats, output)?;
    print_chart(stats, output)
}

/// Prints what hooks did with each skill, and what those of each client did.
fn print_hook(stats: &Stats, output: &mut Output) -> Result<(), Failure> {
    let skills = stats.hook.iter().map(|skill| (&*skill.id, skill.counts));
    print_hook_counts("Skill", &skills.collect::<Vec<_>>(), output)?;
    let clients = stats.clients.iter().map(|it| (&*it.client, it.counts));
    print_hook_counts("Client", &clients.collect::<Vec<_>>(), output)
}

fn print_hook_counts(
    head: &str,
    rows: &[(&str, HookCounts)],
    output: &mut Output,
) -> Result<(), Failure> {
    if rows.is_empty() {
        return Ok(());
    }
    let shown = &rows[..rows.len().min(MAX_SKILLS)];
    let names: Vec<_> = shown
        .iter()
        .map(|(name, _)| ellipsize(&visible(name), MAX_ID_CHARS).into_owned())
        .collect();
    let width = names.iter().map(|name| name.chars().count()).max();
    let width = width.unwrap_or_default().max(head.len());
    output.line("")?;
    let head = format!("{head:width$}  hits  missed  ignored  given  suggested  named  loaded");
    output.line(paint(BOLD, head))?;
    for (name, (_, counts)) in names.iter().zip(shown) {
        output.line(format!(
            "{name:width$}  {:4}  {:6}  {:7}  {:5}  {:9}  {:5}  {:6}",
            counts.hits,
            counts.missed,
            counts.ignored,
            counts.given,
            counts.suggested,
            counts.named,
            counts.loaded
        ))?;
    }
    match rows.len() - shown.len() {
        0 => Ok(()),
        more => {
            let more = pluralize(more, "more skill", "more skills");
            output.line(format!("{more}; `--json` has them all"))
        }
    }
}

/// Prints lines of the requests over time, if there is more than one period.
fn print_chart(stats: &Stats, output: &mut Output) -> Result<(), Failure> {
    if stats.periods.len() < 2 {
        return Ok(());
    }
    for series in series(stats) {
        let highest = series.values.iter().max().copied().unwrap_or_default();
        output.line("")?;
        output.line(format!("{}, at most {highest}", series.name))?;
        for line in line_chart(&series.values, MAX_PERIODS) {
            output.line(format!("  {line}").trim_end())?;
        }
    }
    Ok(())
}

fn series(stats: &Stats) -> [Series<'static>; 2] {
    let values = |count: fn(&Tally) -> u64| {
        let periods = stats.periods.iter();
        periods.map(|period| count(&period.tally)).collect()
    };
    [
        Series {
            name: "Requests",
            color: "#1f77b4",
            values: values(|tally| tally.turns),
        },
        Series {
            name: "Requests with a skill",
            color: "#d62728",
            values: values(|tally| tally.matched_turns),
        },
    ]
}

fn write_svg(global: &Global, stats: &Stats, file: &Path) -> Result<(), Failure> {
    let first = stats.periods.first().map(StatsPeriod::from);
    let last = stats.periods.last().map(StatsPeriod::to);
    let text = svg(
        &series(stats),
        &first.unwrap_or_default(),
        &last.unwrap_or_default(),
    );
    let path = host::environment(global)?.directory().join(file);
    let opened = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| Error::write(path.to_string_lossy(), error).into())
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

/// Prints the skills that were wrongly chosen or missed.
fn print_wrong_skills(stats: &Stats, output: &mut Output) -> Result<(), Failure> {
    let wrong = stats.skills.iter();
    let wrong = wrong.filter(|skill| skill.tally.wrong() > 0);
    let wrong: Vec<_> = wrong
        .map(|skill| {
            (
                ellipsize(&visible(&skill.id), MAX_ID_CHARS).into_owned(),
                &skill.tally,
            )
        })
        .collect();
    if wrong.is_empty() {
        return Ok(());
    }
    output.line("")?;
    output.line(paint(BOLD, "Wrong most often"))?;
    print_tallies(&wrong[..wrong.len().min(MAX_SKILLS)], output)?;
    if let Some(more @ 1..) = wrong.len().checked_sub(MAX_SKILLS) {
        let more = pluralize(more, "more skill", "more skills");
        output.line(format!("  {more}; `--json` has them all"))?;
    }
    Ok(())
}

/// Prints the tally of each signal that skills were chosen by.
fn print_signals(stats: &Stats, output: &mut Output) -> Result<(), Failure> {
    let signals = stats.signals.iter();
    let signals: Vec<_> = signals
        .map(|signal| (signal.signal.to_string(), &signal.tally))
        .collect();
    if signals.is_empty() {
        return Ok(());
    }
    output.line("")?;
    output.line(paint(BOLD, "Chosen by"))?;
    print_tallies(&signals, output)
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
        let precision = paint(DIM, format!("precision {precision}"));
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

/// Prints what else the log contains and what is wrong with it.
fn say_log_summary(stats: &Stats, output: &mut Output) {
    let LogCounts {
        read,
        other,
        broken,
        first_broken,
        too_long,
        uncounted_skills: of_more_skills,
        uncounted_periods: of_more_periods,
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
    if stats.all.outcomes() == 0 && stats.hook.is_empty() {
        output.say(
            "No line has feedback on a skill: a host records it with `Session::record_feedback` and logs it with `TraceLines`",
        );
    }
    let mut warn = |what: String| {
        let head = paint(WARN, "warning");
        output.say(format!("{head}: {what}"));
    };
    if let Some(first) = first_broken {
        warn(format!(
            "left out: {} that could not be parsed, the first is line {first}",
            lines(broken)
        ));
    }
    if too_long > 0 {
        warn(format!("left out: {} above 1 MiB", lines(too_long)));
    }
    let beyond = [(of_more_skills, "skills"), (of_more_periods, "periods")];
    for (number, what) in beyond.into_iter().filter(|(number, _)| *number > 0) {
        warn(format!(
            "{}, of more than 10,000 {what}, counted only in the totals",
            lines(number)
        ));
    }
    if is_cut {
        warn("the log is longer than the 4 GiB that are read; split it".to_owned());
    }
}
