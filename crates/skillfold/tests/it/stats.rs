//! How well skills are chosen, by a log.

use std::io::{BufRead, Cursor, Read};
use std::num::NonZeroU64;

use skillfold::reports::{PeriodLength, Stats, Tally};

const DAY: u64 = 86_400_000;
const START: u64 = 20_000 * DAY;

fn turn(time_ms: u64, decisions: u64) -> String {
    format!(
        "{{\"time_ms\":{time_ms},\"event\":\"skills for a request\",\"decisions\":{decisions}}}\n"
    )
}

fn outcome(time_ms: u64, skill: &str, feedback: &str, by: &str) -> String {
    format!(
        "{{\"time_ms\":{time_ms},\"event\":\"feedback on a skill\",\"skill\":\"{skill}\",\"feedback\":\"{feedback}\",\"chosen\":{{\"by\":\"{by}\"}}}}\n"
    )
}

fn read(log: impl AsRef<[u8]>, every: PeriodLength) -> Stats {
    Stats::read(log.as_ref(), every).unwrap()
}

fn shown(tally: &Tally) -> String {
    let share = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.2}"));
    format!(
        "{}/{} turns, {} used, {} unused, {} missed, {} {}",
        tally.matched_turns,
        tally.turns,
        tally.used,
        tally.unused,
        tally.missed,
        share(tally.precision()),
        share(tally.recall())
    )
}

fn periods(stats: &Stats) -> String {
    let periods = stats.periods.iter();
    let lines =
        periods.map(|one| format!("{} to {}: {}\n", one.from(), one.to(), shown(&one.tally)));
    lines.collect()
}

fn log() -> String {
    [
        // Lines of several processes may not be in order.
        turn(START + DAY, 2),
        outcome(START + DAY + 1_000, "mail", "used", "trigger"),
        outcome(START + DAY + 2_000, "pdf", "unused", "trigger"),
        turn(START, 1),
        outcome(START + 60_000, "pdf", "unused", "phrase"),
        turn(START + 3 * DAY, 0),
        outcome(START + 3 * DAY, "notes", "missed", "listing"),
        outcome(START + 3 * DAY, "mail", "used", "mention"),
    ]
    .concat()
}

#[test]
fn accuracy_is_reported_per_day() {
    let stats = read(log(), PeriodLength::Day);
    insta::assert_snapshot!(periods(&stats), @"
    2024-10-04T00:00:00Z to 2024-10-04T00:01:00Z: 1/1 turns, 0 used, 1 unused, 0 missed, 0.00 -
    2024-10-05T00:00:00Z to 2024-10-05T00:00:02Z: 1/1 turns, 1 used, 1 unused, 0 missed, 0.50 1.00
    2024-10-07T00:00:00Z to 2024-10-07T00:00:00Z: 0/1 turns, 1 used, 0 unused, 1 missed, 1.00 0.50
    ");
    insta::assert_snapshot!(shown(&stats.all), @"2/3 turns, 2 used, 2 unused, 1 missed, 0.50 0.67");
}

#[test]
fn accuracy_is_reported_per_number_of_outcomes() {
    let stats = read(log(), PeriodLength::Outcomes(NonZeroU64::new(2).unwrap()));
    let tallies: Vec<_> = stats.periods.iter().map(|one| shown(&one.tally)).collect();
    insta::assert_snapshot!(tallies.join("\n"), @"
    1/1 turns, 1 used, 1 unused, 0 missed, 0.50 1.00
    1/2 turns, 0 used, 1 unused, 1 missed, 0.00 0.00
    0/0 turns, 1 used, 0 unused, 0 missed, 1.00 1.00
    ");
}

#[test]
fn worst_skills_come_first_and_signals_are_counted() {
    let stats = read(log(), PeriodLength::Day);
    let skills = stats.skills.iter();
    let skills: Vec<_> = skills
        .map(|one| format!("{} {}", one.id, one.tally.wrong()))
        .collect();
    assert_eq!(skills, ["pdf 2", "notes 1", "mail 0"]);
    let ways = stats.signals.iter();
    let ways: Vec<_> = ways
        .map(|one| format!("{} {}", one.signal, one.tally.outcomes()))
        .collect();
    assert_eq!(ways, ["trigger 2", "listing 1", "mention 1", "phrase 1"]);
}

#[test]
fn hostile_lines_are_counted_and_harmless() {
    let nested = "[".repeat(100_000);
    let endless = format!("{{\"event\":\"{}\"}}\n", "x".repeat(1 << 20));
    let id = "x".repeat(2_000);
    let mut bytes = b"\xff\xfe\x00 no text\n\n   \nnull\n[]\n5\n{\"event\":5}\n{}\n".to_vec();
    bytes.extend(nested.as_bytes());
    bytes.extend(b"\n");
    bytes.extend(endless.as_bytes());
    bytes.extend(turn(u64::MAX, 1).as_bytes());
    bytes.extend(turn(START, 1).replace('1', "-1").as_bytes());
    bytes.extend(outcome(START, &id, "used", "trigger").as_bytes());
    bytes.extend(outcome(START, "", "used", "trigger").as_bytes());
    bytes.extend(outcome(START, "a", "great", "trigger").as_bytes());
    bytes.extend(outcome(START, "a", "used", "By \\u001b[31m").as_bytes());
    bytes.extend(outcome(START, "a", "used", &"x".repeat(33)).as_bytes());
    bytes.extend(b"{\"time_ms\":1,\"event\":\"feedback on a skill\",\"skill\":\"a\",\"feedback\":\"used\",\"chosen\":[]}\n");
    bytes.extend(b"{\"event\":\"feedback on a skill\",\"skill\":\"a\",\"feedback\":\"used\"}\n");
    // A process that was killed leaves a line without an end.
    bytes.extend(outcome(START, "a", "used", "trigger").trim_end().as_bytes());
    let stats = read(&bytes, PeriodLength::Day);
    let lines = &stats.lines;
    assert_eq!(
        (lines.read, lines.other, lines.broken, lines.too_long),
        (18, 2, 11, 1)
    );
    assert_eq!(lines.first_broken, Some(1));
    assert_eq!(stats.all.used, 4);
    let ways: Vec<_> = stats.signals.iter().map(|one| &*one.signal).collect();
    assert_eq!(ways, ["unknown", "trigger"]);
}

#[test]
fn truncated_skills_signals_and_days_are_reported() {
    let mut log = String::new();
    for number in 0..10_020_u64 {
        let way: String = number
            .to_string()
            .chars()
            .map(|c| (c as u8 + 49) as char)
            .collect();
        log += &outcome(START + number * DAY, &format!("s{number}"), "used", &way);
    }
    log += &outcome(START, "s0", "unused", "bca");
    let stats = read(&log, PeriodLength::Day);
    assert_eq!((stats.all.used, stats.all.unused), (10_020, 1));
    assert_eq!((stats.skills.len(), stats.periods.len()), (10_000, 10_000));
    let lines = &stats.lines;
    assert_eq!((lines.uncounted_skills, lines.uncounted_periods), (20, 20));
    assert!(stats.signals.len() <= 33, "{}", stats.signals.len());
    let counted: u64 = stats.signals.iter().map(|one| one.tally.outcomes()).sum();
    assert_eq!(counted, 10_021);
}

#[test]
fn endless_line_is_skipped_in_constant_memory() {
    let endless = std::io::repeat(b'x').take(64 << 20);
    let log = std::io::BufReader::new(endless.chain(Cursor::new(format!("\n{}", turn(START, 1)))));
    let stats = Stats::read(Limited(log), PeriodLength::Day).unwrap();
    assert_eq!((stats.lines.read, stats.lines.too_long), (2, 1));
    assert_eq!(stats.all.turns, 1);
}

/// A reader that gives little at a time.
struct Limited<R>(R);

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<R: BufRead> BufRead for Limited<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        let all = self.0.fill_buf()?;
        Ok(&all[..all.len().min(1_000)])
    }

    fn consume(&mut self, amount: usize) {
        self.0.consume(amount);
    }
}

#[test]
fn empty_log_has_no_statistics() {
    for log in ["", "\n", "\n \n"] {
        let stats = read(log, PeriodLength::Day);
        assert_eq!((stats.periods.len(), stats.all), (0, Tally::default()));
        assert_eq!(stats.lines.read, 0, "{log:?}");
    }
}
