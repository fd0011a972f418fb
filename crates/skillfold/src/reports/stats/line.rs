//! Reads a log line by line, whatever it contains.

use std::io::{self, BufRead, Read as _};

use serde_json::{Map, Value};
use skillfold_core::disclose::Feedback;

use super::hook::{HookOutcome, UNKNOWN};

/// Maximum bytes of a line.
const MAX_LINE_BYTES: u64 = 1 << 20;
/// Maximum bytes of a log to read.
const MAX_LOG_BYTES: u64 = 4 << 30;
/// Maximum bytes of a skill id.
const MAX_ID_BYTES: usize = 1_024;
/// Maximum bytes of the name of a signal or a client.
const MAX_SIGNAL_BYTES: usize = 32;
/// The last millisecond of the year 9999.
const MAX_TIME_MS: u64 = 253_402_300_799_999;

/// Counts of the lines of a log. Everything that was skipped is in one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename = "LogCountsView")]
#[non_exhaustive]
pub struct LogCounts {
    /// Lines that are not blank.
    pub read: u64,
    /// Lines of other events, or of other programs.
    pub other: u64,
    /// Lines that are not a JSON object, or events with missing or invalid fields.
    pub broken: u64,
    /// The line number of the first broken line, starting at 1; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_broken: Option<u64>,
    /// Lines above 1 MiB, which are skipped.
    pub too_long: u64,
    /// Outcomes not counted per skill, because there are more than 10,000 skills.
    #[serde(rename = "of_more_skills")]
    pub uncounted_skills: u64,
    /// Requests and outcomes not counted per period, because there are more than 10,000 periods.
    #[serde(rename = "of_more_periods")]
    pub uncounted_periods: u64,
    /// Whether reading stopped at the limit of 4 GiB.
    pub is_cut: bool,
}

/// A log line that is about a request or a skill.
pub(super) struct LogEntry {
    pub(super) time_ms: u64,
    pub(super) event: LogEvent,
}

pub(super) enum LogEvent {
    /// A request.
    Turn { is_matched: bool },
    /// Feedback on a skill.
    Outcome {
        skill: Box<str>,
        signal: Box<str>,
        feedback: Feedback,
    },
    /// What the hook did with a skill.
    Hook {
        skill: Box<str>,
        client: Box<str>,
        outcome: HookOutcome,
    },
}

/// Reads a log line by line.
pub(super) struct LogLines<R> {
    log: io::Take<R>,
    line: Vec<u8>,
    number: u64,
    counts: LogCounts,
}

impl<R: BufRead> LogLines<R> {
    pub(super) fn new(log: R) -> Self {
        Self::with_limit(log, MAX_LOG_BYTES)
    }

    fn with_limit(log: R, limit: u64) -> Self {
        Self {
            log: log.take(limit),
            line: Vec::new(),
            number: 0,
            counts: LogCounts::default(),
        }
    }

    /// Returns the next line, skipping blank ones and those that are too long. `None` at the end.
    pub(super) fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        loop {
            self.line.clear();
            // One byte more distinguishes a line of exactly the limit from a longer one.
            let mut start = (&mut self.log).take(MAX_LINE_BYTES + 1);
            if start.read_until(b'\n', &mut self.line)? == 0 {
                self.counts.is_cut = self.log.limit() == 0;
                return Ok(None);
            }
            self.number += 1;
            let is_whole = self.line.len() as u64 <= MAX_LINE_BYTES || self.line.ends_with(b"\n");
            if is_whole && self.line.trim_ascii().is_empty() {
                continue;
            }
            self.counts.read += 1;
            if !is_whole {
                self.counts.too_long += 1;
                self.log.skip_until(b'\n')?;
                continue;
            }
            return Ok(Some(&self.line));
        }
    }

    /// Returns the next entry, skipping and counting all other lines. `None` at the end.
    pub(super) fn next_entry(&mut self) -> io::Result<Option<LogEntry>> {
        while let Some(line) = self.next_line()? {
            match parse_entry(line) {
                Ok(Some(entry)) => return Ok(Some(entry)),
                Ok(None) => self.counts.other += 1,
                Err(BrokenLine) => {
                    self.counts.broken += 1;
                    self.counts.first_broken.get_or_insert(self.number);
                }
            }
        }
        Ok(None)
    }

    pub(super) fn finish(self) -> LogCounts {
        self.counts
    }
}

/// A line that is not a JSON object, or an event with missing or invalid fields.
struct BrokenLine;

/// Parses a line. Returns `None` for an event that is not about a request or a skill.
fn parse_entry(line: &[u8]) -> Result<Option<LogEntry>, BrokenLine> {
    let Ok(Value::Object(line)) = serde_json::from_slice(line) else {
        return Err(BrokenLine);
    };
    let skill = || {
        let skill = line.get("skill").and_then(Value::as_str);
        let skill = skill.filter(|id| !id.is_empty() && id.len() <= MAX_ID_BYTES);
        skill.map(Box::from).ok_or(BrokenLine)
    };
    let event = match line.get("event").and_then(Value::as_str) {
        Some("prompt") => {
            let skills = line.get("skills").and_then(Value::as_u64);
            let is_matched = skills.ok_or(BrokenLine)? > 0;
            LogEvent::Turn { is_matched }
        }
        // The hook has a line of its own for the prompt.
        Some("skills for a request") if is_of_hook(&line) => return Ok(None),
        Some("skills for a request") => {
            let decisions = line.get("decisions").and_then(Value::as_u64);
            let is_matched = decisions.ok_or(BrokenLine)? > 0;
            LogEvent::Turn { is_matched }
        }
        Some("feedback on a skill") => {
            let signal = line.get("chosen").and_then(|chosen| chosen.get("by"));
            let signal = signal
                .and_then(Value::as_str)
                .filter(|signal| is_signal(signal));
            LogEvent::Outcome {
                skill: skill()?,
                signal: signal.unwrap_or(UNKNOWN).into(),
                feedback: parse_feedback(line.get("feedback").and_then(Value::as_str))
                    .ok_or(BrokenLine)?,
            }
        }
        Some("skill of a prompt") => {
            let outcome = line.get("outcome").and_then(Value::as_str);
            let Some(outcome) = HookOutcome::parse(outcome.ok_or(BrokenLine)?) else {
                return Ok(None);
            };
            let client = line.get("client").and_then(Value::as_str);
            let client = client.filter(|client| is_client(client));
            LogEvent::Hook {
                skill: skill()?,
                client: client.unwrap_or(UNKNOWN).into(),
                outcome,
            }
        }
        _ => return Ok(None),
    };
    let time_ms = line.get("time_ms").and_then(Value::as_u64);
    let time_ms = time_ms.filter(|time_ms| *time_ms <= MAX_TIME_MS);
    Ok(Some(LogEntry {
        time_ms: time_ms.ok_or(BrokenLine)?,
        event,
    }))
}

/// Returns whether an event happened within the hook.
fn is_of_hook(line: &Map<String, Value>) -> bool {
    let spans = line.get("spans").and_then(Value::as_array);
    spans.is_some_and(|spans| spans.iter().any(|span| span == "hook"))
}

/// Returns the feedback with a name.
fn parse_feedback(name: Option<&str>) -> Option<Feedback> {
    let all = [Feedback::Used, Feedback::Unused, Feedback::Missed];
    all.into_iter()
        .find(|feedback| Some(feedback.as_str()) == name)
}

fn is_signal(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    (1..=MAX_SIGNAL_BYTES).contains(&text.len()) && text.bytes().all(is_part)
}

fn is_client(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_SIGNAL_BYTES).contains(&text.len()) && text.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::LogLines;

    #[test]
    fn overlong_log_is_truncated_and_marked() {
        let log = b"{}\n{}\n{}\n";
        let read = |limit: u64| {
            let mut lines = LogLines::with_limit(&log[..], limit);
            assert!(lines.next_entry().unwrap().is_none());
            let counts = lines.finish();
            (counts.read, counts.other, counts.broken, counts.is_cut)
        };
        assert_eq!(read(100), (3, 3, 0, false));
        assert_eq!(read(6), (2, 2, 0, true));
        assert_eq!(read(7), (3, 2, 1, true));
    }
}
