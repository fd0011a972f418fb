//! What was asked and how it went, in numbers; written as Prometheus reads it.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use skillfold::Counters;

/// What is asked, as far as it is counted apart. Names that clients choose are no labels: there would be no end of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    ListTools,
    ListSkillsTool,
    SearchTool,
    LoadTool,
    ReadTool,
    UnknownTool,
    ListPrompts,
    GetPrompt,
    ListResources,
    ListTemplates,
    ReadResource,
    ListSkills,
    GetSkill,
    ReadDirectory,
    Other,
}

/// All of them with the protocol's method and the tool, by its first name.
const LABELS: [(Method, &str, &str); 15] = [
    (Method::ListTools, "tools/list", ""),
    (Method::ListSkillsTool, "tools/call", "list_skills"),
    (Method::SearchTool, "tools/call", "search_skills"),
    (Method::LoadTool, "tools/call", "load_skill"),
    (Method::ReadTool, "tools/call", "read_skill_resource"),
    (Method::UnknownTool, "tools/call", "unknown"),
    (Method::ListPrompts, "prompts/list", ""),
    (Method::GetPrompt, "prompts/get", ""),
    (Method::ListResources, "resources/list", ""),
    (Method::ListTemplates, "resources/templates/list", ""),
    (Method::ReadResource, "resources/read", ""),
    (Method::ListSkills, "skills/list", ""),
    (Method::GetSkill, "skills/get", ""),
    (Method::ReadDirectory, "resources/directory/read", ""),
    (Method::Other, "other", ""),
];

impl Method {
    /// Returns what a method that the SDK does not know asks.
    pub(crate) fn custom(method: &str) -> Self {
        let known = [Self::ListSkills, Self::GetSkill, Self::ReadDirectory];
        let is_asked = |asked: &Self| LABELS[*asked as usize].1 == method;
        known.into_iter().find(is_asked).unwrap_or(Self::Other)
    }
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok,
    /// A tool answered that it could not.
    Failed,
    /// There was no result.
    Refused,
}

const WENT: [&str; 3] = ["ok", "failed", "refused"];

/// Upper ends of the histogram's buckets, in microseconds, and as they are written.
const BOUNDS: [(u128, &str); 10] = [
    (250, "0.00025"),
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (500_000, "0.5"),
    (2_500_000, "2.5"),
];

/// What was asked and how it went, since the server started.
#[derive(Debug)]
pub(crate) struct Metrics {
    asked: [MethodCounters; LABELS.len()],
    /// Answers of HTTP by status, from 100 on.
    statuses: [AtomicU64; 500],
    /// Tokens of the instructions that clients loaded.
    pub(crate) loaded_tokens: AtomicU64,
    pub(crate) connections: AtomicU64,
    pub(crate) connections_refused: AtomicU64,
    pub(crate) in_flight: AtomicU64,
    pub(crate) sessions_refused: AtomicU64,
}

#[derive(Debug)]
struct MethodCounters {
    went: [AtomicU64; WENT.len()],
    buckets: [AtomicU64; BOUNDS.len() + 1],
    microseconds: AtomicU64,
}

fn zeros<const N: usize>() -> [AtomicU64; N] {
    [const { AtomicU64::new(0) }; N]
}

impl Default for Metrics {
    fn default() -> Self {
        let answers = || MethodCounters {
            went: zeros(),
            buckets: zeros(),
            microseconds: AtomicU64::new(0),
        };
        Self {
            asked: std::array::from_fn(|_| answers()),
            statuses: zeros(),
            loaded_tokens: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            connections_refused: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            sessions_refused: AtomicU64::new(0),
        }
    }
}

/// Adds to a number.
pub(crate) fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

impl Metrics {
    /// Counts an answer.
    pub(crate) fn answered(&self, asked: Method, went: Outcome, took: Duration) {
        let answers = &self.asked[asked as usize];
        let microseconds = took.as_micros();
        let bucket = BOUNDS.partition_point(|(bound, _)| *bound < microseconds);
        add(&answers.went[went as usize], 1);
        add(&answers.buckets[bucket], 1);
        add(
            &answers.microseconds,
            u64::try_from(microseconds).unwrap_or(u64::MAX),
        );
    }

    /// Counts an answer of HTTP.
    pub(crate) fn responded(&self, status: u16) {
        if let Some(counter) = self.statuses.get(usize::from(status).wrapping_sub(100)) {
            add(counter, 1);
        }
    }

    /// Writes all numbers, with those of the engine.
    pub(crate) fn text(&self, engine: &Counters, now: &Gauges) -> String {
        let mut page = PrometheusText(String::with_capacity(8 * 1024));
        self.write_answers(&mut page);
        page.head(
            "skillfold_http_responses_total",
            "counter",
            "Answers of HTTP by status",
        );
        for (at, counter) in self.statuses.iter().enumerate() {
            if get(counter) > 0 {
                let label = format!("status=\"{}\"", at + 100);
                page.line("skillfold_http_responses_total", &label, get(counter));
            }
        }
        for (name, kind, help, value) in OWN {
            page.single(name, kind, help, value(self));
        }
        for (name, kind, help, value) in NOW {
            page.single(name, kind, help, value(now));
        }
        for (name, kind, help, value) in ENGINE {
            page.single(name, kind, help, value(engine));
        }
        page.0
    }

    fn write_answers(&self, page: &mut PrometheusText) {
        let used = || {
            let answers = LABELS.iter().zip(&self.asked);
            answers.filter(|(_, answers)| answers.went.iter().any(|went| get(went) > 0))
        };
        page.head(
            "skillfold_requests_total",
            "counter",
            "Requests by method and tool, and how they went",
        );
        for ((_, method, tool), answers) in used() {
            for (went, counter) in WENT.iter().zip(&answers.went) {
                let labels = format!("method=\"{method}\",tool=\"{tool}\",outcome=\"{went}\"");
                page.line("skillfold_requests_total", &labels, get(counter));
            }
        }
        page.head(
            "skillfold_request_seconds",
            "histogram",
            "Time to answer, without HTTP",
        );
        for ((_, method, tool), answers) in used() {
            let labels = format!("method=\"{method}\",tool=\"{tool}\"");
            let mut count = 0;
            for (at, bucket) in answers.buckets.iter().enumerate() {
                count += get(bucket);
                let bound = BOUNDS.get(at).map_or("+Inf", |(_, written)| written);
                let labels = format!("{labels},le=\"{bound}\"");
                page.line("skillfold_request_seconds_bucket", &labels, count);
            }
            let (seconds, rest) = (
                get(&answers.microseconds) / 1_000_000,
                get(&answers.microseconds) % 1_000_000,
            );
            // Writing to a text does not fail.
            let _ = writeln!(
                page.0,
                "skillfold_request_seconds_sum{{{labels}}} {seconds}.{rest:06}"
            );
            page.line("skillfold_request_seconds_count", &labels, count);
        }
    }
}

/// A number: its name, its kind, what it is, and where it comes from.
type Number<T> = (&'static str, &'static str, &'static str, fn(&T) -> u64);

#[rustfmt::skip]
const OWN: [Number<Metrics>; 5] = [
    ("skillfold_connections", "gauge", "Open connections", |of| get(&of.connections)),
    ("skillfold_connections_refused_total", "counter", "Connections refused at the limit", |of| get(&of.connections_refused)),
    ("skillfold_requests_in_flight", "gauge", "Requests being answered", |of| get(&of.in_flight)),
    ("skillfold_sessions_refused_total", "counter", "Sessions refused at the limit", |of| get(&of.sessions_refused)),
    ("skillfold_loaded_tokens_total", "counter", "Tokens of loaded instructions", |of| get(&of.loaded_tokens)),
];

#[rustfmt::skip]
const NOW: [Number<Gauges>; 3] = [
    ("skillfold_sessions", "gauge", "Open sessions", |of| of.sessions),
    ("skillfold_sessions_limit", "gauge", "Session limit", |of| of.sessions_limit),
    ("skillfold_skills", "gauge", "Skills visible to models", |of| of.skills),
];

#[rustfmt::skip]
const ENGINE: [Number<Counters>; 14] = [
    ("skillfold_refreshes_total", "counter", "Rescans for skills", |of| of.refreshes),
    ("skillfold_turns_total", "counter", "User requests that skills were chosen for", |of| of.turns),
    ("skillfold_matched_turns_total", "counter", "User requests that at least one skill matched", |of| of.matched_turns),
    ("skillfold_matched_total", "counter", "Skills that matched", |of| of.matched),
    ("skillfold_given_total", "counter", "Skills that matched and were given", |of| of.given),
    ("skillfold_no_room_total", "counter", "Skills that matched and did not fit the budget", |of| of.no_room),
    ("skillfold_failed_total", "counter", "Skills that matched and could not be loaded", |of| of.failed),
    ("skillfold_turn_tokens_total", "counter", "Tokens added to user requests", |of| of.tokens),
    ("skillfold_refused_total", "counter", "Refused loads and reads", |of| of.refused),
    ("skillfold_cache_hits_total", "counter", "Loads served from the cache", |of| of.cache.hits),
    ("skillfold_cache_misses_total", "counter", "Loads that read a file", |of| of.cache.misses),
    ("skillfold_cache_evicted_total", "counter", "Cached texts that were evicted", |of| of.cache.evicted),
    ("skillfold_cache_entries", "gauge", "Cached texts", |of| of.cache.entries as u64),
    ("skillfold_cache_bytes", "gauge", "Bytes of cached texts", |of| of.cache.bytes as u64),
];

/// What is so now, and is not counted.
#[derive(Debug)]
pub(crate) struct Gauges {
    pub(crate) sessions: u64,
    pub(crate) sessions_limit: u64,
    pub(crate) skills: u64,
}

/// The text format of Prometheus.
struct PrometheusText(String);

impl PrometheusText {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &str, value: u64) {
        let _ = writeln!(self.0, "{name}{{{labels}}} {value}");
    }

    fn single(&mut self, name: &str, kind: &str, help: &str, value: u64) {
        self.head(name, kind, help);
        let _ = writeln!(self.0, "{name} {value}");
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{BOUNDS, Gauges, LABELS, Method, Metrics, Outcome};

    #[test]
    fn labels_stand_in_the_order_of_what_is_asked() {
        for (at, (asked, ..)) in LABELS.iter().enumerate() {
            assert_eq!(*asked as usize, at, "{asked:?}");
        }
        assert_eq!(Method::custom("skills/get"), Method::GetSkill);
        assert_eq!(Method::custom("tools/list\"} 1"), Method::Other);
    }

    #[test]
    fn buckets_add_up() {
        let metrics = Metrics::default();
        for microseconds in [1, 250, 251, 60_000, 9_000_000] {
            metrics.answered(
                Method::LoadTool,
                Outcome::Ok,
                Duration::from_micros(microseconds),
            );
        }
        metrics.answered(Method::LoadTool, Outcome::Failed, Duration::ZERO);
        let now = Gauges {
            sessions: 1,
            sessions_limit: 2,
            skills: 3,
        };
        let text = metrics.text(&skillfold::Counters::default(), &now);
        let labels = "method=\"tools/call\",tool=\"load_skill\"";
        let bucket = |bound: &str, count| {
            format!("skillfold_request_seconds_bucket{{{labels},le=\"{bound}\"}} {count}\n")
        };
        for line in [
            bucket("0.00025", 3),
            bucket("0.0005", 4),
            bucket("0.05", 4),
            bucket("0.1", 5),
            bucket("2.5", 5),
            bucket("+Inf", 6),
            format!("skillfold_request_seconds_sum{{{labels}}} 9.060502\n"),
            format!("skillfold_requests_total{{{labels},outcome=\"ok\"}} 5\n"),
            format!("skillfold_requests_total{{{labels},outcome=\"failed\"}} 1\n"),
            "skillfold_sessions 1\n".to_owned(),
        ] {
            assert!(text.contains(&line), "{line}{text}");
        }
        for (microseconds, written) in BOUNDS {
            let seconds: f64 = written.parse().unwrap();
            let seconds = Duration::from_secs_f64(seconds);
            assert_eq!(seconds.as_micros(), microseconds);
        }
    }
}
