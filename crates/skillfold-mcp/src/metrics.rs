//! Request and engine metrics in the Prometheus text format.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use skillfold::core::load::CacheStats;
use skillfold::skills::{CounterRow, Counters};
use skillfold_http::Denied;

/// A request's method, as far as it is counted separately. Names chosen by clients are not used as labels: they are
/// unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    ListTools,
    ListSkillsTool,
    SearchTool,
    LoadTool,
    ReadTool,
    ProposeTool,
    RunTool,
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

/// The method and tool labels, with the tool's default name.
const LABELS: [(Method, &str, &str); 17] = [
    (Method::ListTools, "tools/list", ""),
    (Method::ListSkillsTool, "tools/call", "list_skills"),
    (Method::SearchTool, "tools/call", "search_skills"),
    (Method::LoadTool, "tools/call", "load_skill"),
    (Method::ReadTool, "tools/call", "read_skill_resource"),
    (Method::ProposeTool, "tools/call", "propose_skill_update"),
    (Method::RunTool, "tools/call", "run_skill_script"),
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
    /// Returns the method for a name that the SDK does not know.
    pub(crate) fn custom(method: &str) -> Self {
        let known = [Self::ListSkills, Self::GetSkill, Self::ReadDirectory];
        let has_name = |candidate: &Self| LABELS[*candidate as usize].1 == method;
        known.into_iter().find(has_name).unwrap_or(Self::Other)
    }
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok,
    /// A tool returned an error.
    Failed,
    /// There was no result.
    Refused,
}

const OUTCOMES: [&str; 3] = ["ok", "failed", "refused"];

/// Upper bounds of the histogram's buckets, in microseconds and as printed.
const BUCKET_BOUNDS: [(u128, &str); 10] = [
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

/// Counters since the server started.
#[derive(Debug)]
pub(crate) struct Metrics {
    methods: [MethodCounters; LABELS.len()],
    /// HTTP responses by status, starting at 100.
    statuses: [AtomicU64; 500],
    /// Tokens in the instructions that clients loaded.
    pub(crate) loaded_tokens: AtomicU64,
    pub(crate) connections: AtomicU64,
    pub(crate) connections_refused: AtomicU64,
    pub(crate) in_flight: AtomicU64,
    pub(crate) sessions_refused: AtomicU64,
    /// Requests that were denied, by reason.
    denied: Mutex<BTreeMap<&'static str, u64>>,
}

#[derive(Debug)]
struct MethodCounters {
    outcomes: [AtomicU64; OUTCOMES.len()],
    buckets: [AtomicU64; BUCKET_BOUNDS.len() + 1],
    microseconds: AtomicU64,
}

fn zeros<const N: usize>() -> [AtomicU64; N] {
    [const { AtomicU64::new(0) }; N]
}

impl Default for Metrics {
    fn default() -> Self {
        let counters = || MethodCounters {
            outcomes: zeros(),
            buckets: zeros(),
            microseconds: AtomicU64::new(0),
        };
        Self {
            methods: std::array::from_fn(|_| counters()),
            statuses: zeros(),
            loaded_tokens: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            connections_refused: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            sessions_refused: AtomicU64::new(0),
            denied: Mutex::default(),
        }
    }
}

/// Adds to a counter.
pub(crate) fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

impl Metrics {
    /// Counts an answered request.
    pub(crate) fn count_request(&self, method: Method, outcome: Outcome, took: Duration) {
        let counters = &self.methods[method as usize];
        let microseconds = took.as_micros();
        let bucket = BUCKET_BOUNDS.partition_point(|(bound, _)| *bound < microseconds);
        add(&counters.outcomes[outcome as usize], 1);
        add(&counters.buckets[bucket], 1);
        add(
            &counters.microseconds,
            u64::try_from(microseconds).unwrap_or(u64::MAX),
        );
    }

    /// Counts an HTTP response.
    pub(crate) fn count_response(&self, status: u16) {
        if let Some(counter) = self.statuses.get(usize::from(status).wrapping_sub(100)) {
            add(counter, 1);
        }
    }

    /// Counts a request whose token was not accepted.
    pub(crate) fn count_denied(&self, denied: Denied) {
        *self.lock_denied().entry(denied.as_str()).or_default() += 1;
    }

    fn lock_denied(&self) -> MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.denied.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renders all metrics, including the engine's.
    pub(crate) fn to_text(&self, engine: &Counters, gauges: &Gauges) -> String {
        let mut text = PrometheusText(String::with_capacity(8 * 1024));
        self.write_requests(&mut text);
        text.header(
            "skillfold_http_responses_total",
            "counter",
            "HTTP responses by status",
        );
        for (index, counter) in self.statuses.iter().enumerate() {
            if get(counter) > 0 {
                let label = format!("status=\"{}\"", index + 100);
                text.sample("skillfold_http_responses_total", &label, get(counter));
            }
        }
        let denied = self.lock_denied().clone();
        if !denied.is_empty() {
            let name = "skillfold_denied_total";
            text.header(
                name,
                "counter",
                "Requests whose token was not accepted, by reason",
            );
            for (reason, count) in denied {
                text.sample(name, &format!("reason=\"{reason}\""), count);
            }
        }
        for (name, kind, help, value) in SERVER_METRICS {
            text.metric(name, kind, help, value(self));
        }
        for (name, kind, help, value) in GAUGE_METRICS {
            text.metric(name, kind, help, value(gauges));
        }
        for row in engine.rows() {
            let CounterRow {
                name,
                description,
                value,
                ..
            } = row;
            text.metric(
                &format!("skillfold_{name}_total"),
                "counter",
                description,
                value,
            );
        }
        for (cache, stats) in [("cache", engine.cache), ("match_cache", engine.match_cache)] {
            for (name, kind, help, value) in CACHE_METRICS {
                text.metric(
                    &format!("skillfold_{cache}_{name}"),
                    kind,
                    help,
                    value(&stats),
                );
            }
        }
        text.0
    }

    fn write_requests(&self, text: &mut PrometheusText) {
        let used = || {
            let counters = LABELS.iter().zip(&self.methods);
            counters
                .filter(|(_, counters)| counters.outcomes.iter().any(|outcome| get(outcome) > 0))
        };
        text.header(
            "skillfold_requests_total",
            "counter",
            "Requests by method and tool, and how they went",
        );
        for ((_, method, tool), counters) in used() {
            for (outcome, counter) in OUTCOMES.iter().zip(&counters.outcomes) {
                let labels = format!("method=\"{method}\",tool=\"{tool}\",outcome=\"{outcome}\"");
                text.sample("skillfold_requests_total", &labels, get(counter));
            }
        }
        text.header(
            "skillfold_request_seconds",
            "histogram",
            "Time to answer, without HTTP",
        );
        for ((_, method, tool), counters) in used() {
            let labels = format!("method=\"{method}\",tool=\"{tool}\"");
            let mut count = 0;
            for (index, bucket) in counters.buckets.iter().enumerate() {
                count += get(bucket);
                let bound = BUCKET_BOUNDS.get(index).map_or("+Inf", |(_, label)| label);
                let labels = format!("{labels},le=\"{bound}\"");
                text.sample("skillfold_request_seconds_bucket", &labels, count);
            }
            let (seconds, rest) = (
                get(&counters.microseconds) / 1_000_000,
                get(&counters.microseconds) % 1_000_000,
            );
            // Writing to a string cannot fail.
            let _ = writeln!(
                text.0,
                "skillfold_request_seconds_sum{{{labels}}} {seconds}.{rest:06}"
            );
            text.sample("skillfold_request_seconds_count", &labels, count);
        }
    }
}

/// A metric: name, type, help text, and how to read its value.
type Metric<T> = (&'static str, &'static str, &'static str, fn(&T) -> u64);

#[rustfmt::skip]
const SERVER_METRICS: [Metric<Metrics>; 5] = [
    ("skillfold_connections", "gauge", "Open connections", |metrics| get(&metrics.connections)),
    ("skillfold_connections_refused_total", "counter", "Connections refused at the limit", |metrics| get(&metrics.connections_refused)),
    ("skillfold_requests_in_flight", "gauge", "Requests being answered", |metrics| get(&metrics.in_flight)),
    ("skillfold_sessions_refused_total", "counter", "Sessions refused at the limit", |metrics| get(&metrics.sessions_refused)),
    ("skillfold_loaded_tokens_total", "counter", "Tokens of loaded instructions", |metrics| get(&metrics.loaded_tokens)),
];

#[rustfmt::skip]
const GAUGE_METRICS: [Metric<Gauges>; 3] = [
    ("skillfold_sessions", "gauge", "Open sessions", |gauges| gauges.sessions),
    ("skillfold_sessions_limit", "gauge", "Session limit", |gauges| gauges.sessions_limit),
    ("skillfold_skills", "gauge", "Skills visible to models", |gauges| gauges.skills),
];

#[rustfmt::skip]
const CACHE_METRICS: [Metric<CacheStats>; 6] = [
    ("hits_total", "counter", "Lookups answered from the cache", |cache| cache.hits),
    ("misses_total", "counter", "Lookups that had to read or compute", |cache| cache.misses),
    ("evicted_total", "counter", "Entries evicted", |cache| cache.evicted),
    ("too_large_total", "counter", "Entries that were too large to cache", |cache| cache.too_large),
    ("entries", "gauge", "Cached entries", |cache| cache.entries as u64),
    ("bytes", "gauge", "Bytes of cached entries", |cache| cache.bytes as u64),
];

/// Current values that are not counters.
#[derive(Debug)]
pub(crate) struct Gauges {
    pub(crate) sessions: u64,
    pub(crate) sessions_limit: u64,
    pub(crate) skills: u64,
}

/// The Prometheus text format.
struct PrometheusText(String);

impl PrometheusText {
    fn header(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &str, value: u64) {
        let _ = writeln!(self.0, "{name}{{{labels}}} {value}");
    }

    fn metric(&mut self, name: &str, kind: &str, help: &str, value: u64) {
        self.header(name, kind, help);
        let _ = writeln!(self.0, "{name} {value}");
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{BUCKET_BOUNDS, Gauges, LABELS, Method, Metrics, Outcome};

    #[test]
    fn metric_labels_are_in_method_order() {
        for (index, (method, ..)) in LABELS.iter().enumerate() {
            assert_eq!(*method as usize, index, "{method:?}");
        }
        assert_eq!(Method::custom("skills/get"), Method::GetSkill);
        assert_eq!(Method::custom("tools/list\"} 1"), Method::Other);
    }

    #[test]
    fn histogram_buckets_are_cumulative() {
        let metrics = Metrics::default();
        for microseconds in [1, 250, 251, 60_000, 9_000_000] {
            metrics.count_request(
                Method::LoadTool,
                Outcome::Ok,
                Duration::from_micros(microseconds),
            );
        }
        metrics.count_request(Method::LoadTool, Outcome::Failed, Duration::ZERO);
        let now = Gauges {
            sessions: 1,
            sessions_limit: 2,
            skills: 3,
        };
        let text = metrics.to_text(&skillfold::skills::Counters::default(), &now);
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
        for (microseconds, written) in BUCKET_BOUNDS {
            let seconds: f64 = written.parse().unwrap();
            let seconds = Duration::from_secs_f64(seconds);
            assert_eq!(seconds.as_micros(), microseconds);
        }
    }
}
