//! The lines of a log, one by one, whatever they are.

use std::io::{self, BufRead, Read as _};

use serde_json::Value;
use skillfold_core::Feedback;

use crate::stats::LogCounts;

/// Bytes of a line that is read.
const LINE: u64 = 1 << 20;
/// Bytes of a log that are read.
const LOG: u64 = 4 << 30;
/// Bytes of an id.
const ID: usize = 1_024;
/// Bytes of the word for how a skill was chosen.
const WORD: usize = 32;
/// The last millisecond of the year 9999.
const LATEST: u64 = 253_402_300_799_999;

/// The word where it is not known how a skill was chosen.
pub(super) const UNKNOWN: &str = "unknown";

/// What a line says, and when.
pub(super) struct LogEntry {
    pub(super) time_ms: u64,
    pub(super) said: LogEvent,
}

pub(super) enum LogEvent {
    /// A request.
    Turn { is_matched: bool },
    /// What became of a skill.
    Outcome {
        skill: Box<str>,
        by: Box<str>,
        verdict: Feedback,
    },
}

/// Reads a log line by line.
pub(super) struct LogReader<R> {
    log: io::Take<R>,
    line: Vec<u8>,
    number: u64,
    counts: LogCounts,
}

impl<R: BufRead> LogReader<R> {
    pub(super) fn new(log: R) -> Self {
        Self::within(log, LOG)
    }

    fn within(log: R, limit: u64) -> Self {
        Self {
            log: log.take(limit),
            line: Vec::new(),
            number: 0,
            counts: LogCounts::default(),
        }
    }

    /// Returns what the next line says that says something of a request or a skill.
    pub(super) fn next_noted(&mut self) -> io::Result<Option<LogEntry>> {
        loop {
            self.line.clear();
            // One byte more tells a line of the limit from a longer one.
            let mut start = (&mut self.log).take(LINE + 1);
            if start.read_until(b'\n', &mut self.line)? == 0 {
                self.counts.is_cut = self.log.limit() == 0;
                return Ok(None);
            }
            self.number += 1;
            let is_whole = self.line.len() as u64 <= LINE || self.line.ends_with(b"\n");
            if is_whole && self.line.trim_ascii().is_empty() {
                continue;
            }
            self.counts.read += 1;
            if !is_whole {
                self.counts.too_long += 1;
                self.log.skip_until(b'\n')?;
                continue;
            }
            match noted(&self.line) {
                Ok(Some(noted)) => return Ok(Some(noted)),
                Ok(None) => self.counts.other += 1,
                Err(BrokenLine) => {
                    self.counts.broken += 1;
                    self.counts.first_broken.get_or_insert(self.number);
                }
            }
        }
    }

    pub(super) fn finish(self) -> LogCounts {
        self.counts
    }
}

/// A line that is no JSON object, or an event without what it should have.
struct BrokenLine;

/// Returns what a line says, if that is of a request or a skill.
fn noted(line: &[u8]) -> Result<Option<LogEntry>, BrokenLine> {
    let Ok(Value::Object(line)) = serde_json::from_slice(line) else {
        return Err(BrokenLine);
    };
    let said = match line.get("event").and_then(Value::as_str) {
        Some("skills for a request") => {
            let decisions = line.get("decisions").and_then(Value::as_u64);
            let is_matched = decisions.ok_or(BrokenLine)? > 0;
            LogEvent::Turn { is_matched }
        }
        Some("outcome of a skill") => {
            let skill = line.get("skill").and_then(Value::as_str);
            let skill = skill.filter(|id| !id.is_empty() && id.len() <= ID);
            let chosen = line.get("chosen").and_then(|chosen| chosen.get("by"));
            let by = chosen.and_then(Value::as_str).filter(|by| is_word(by));
            LogEvent::Outcome {
                skill: skill.ok_or(BrokenLine)?.into(),
                by: by.unwrap_or(UNKNOWN).into(),
                verdict: verdict(line.get("verdict").and_then(Value::as_str)).ok_or(BrokenLine)?,
            }
        }
        _ => return Ok(None),
    };
    let time_ms = line.get("time_ms").and_then(Value::as_u64);
    let time_ms = time_ms.filter(|time_ms| *time_ms <= LATEST);
    Ok(Some(LogEntry {
        time_ms: time_ms.ok_or(BrokenLine)?,
        said,
    }))
}

/// Returns the verdict that a word stands for.
fn verdict(word: Option<&str>) -> Option<Feedback> {
    let all = [Feedback::Used, Feedback::Unused, Feedback::Missed];
    all.into_iter()
        .find(|verdict| Some(verdict.as_str()) == word)
}

fn is_word(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    (1..=WORD).contains(&text.len()) && text.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::LogReader;

    #[test]
    fn log_that_is_too_long_is_cut_and_said_to_be() {
        let log = b"{}\n{}\n{}\n";
        let read = |limit: u64| {
            let mut lines = LogReader::within(&log[..], limit);
            assert!(lines.next_noted().unwrap().is_none());
            let counts = lines.finish();
            (counts.read, counts.other, counts.broken, counts.is_cut)
        };
        assert_eq!(read(100), (3, 3, 0, false));
        assert_eq!(read(6), (2, 2, 0, true));
        assert_eq!(read(7), (3, 2, 1, true));
    }
}
