//! What can be followed: counters, and events as lines. Who listens is known to a whole process, so these tests have one of
//! their own and run one after the other.
#![expect(
    clippy::unwrap_used,
    clippy::format_push_string,
    reason = "a test fails by panicking and may be slow with text"
)]

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use skillfold::core::disclose::{Feedback, LogDetail};
use skillfold::core::{Budget, ContextLifetime, ErrorKind, MemorySource, Policy};
use skillfold::view::Document;
use skillfold::{
    Environment, Host, Skills, TraceLines,
    reports::{PeriodLength, Stats},
};
use tracing_subscriber::layer::SubscriberExt as _;

static ONE: Mutex<()> = Mutex::new(());

fn skills() -> Skills {
    let file = |name: &str, body: &str| {
        let text = format!(
            "---\nname: {name}\ndescription: About {name}\ntriggers: [{name}word, both]\n---\n{body}\n"
        );
        (format!("{name}/SKILL.md"), text)
    };
    let large = "long and longer ".repeat(20_000);
    let broken = ("broken/SKILL.md".to_owned(), "\0 is not text\n".to_owned());
    let source = MemorySource::new([file("alpha", "Do alpha."), file("large", &large), broken]);
    let host = Host::new(Environment::new("/nowhere")).bundled("built in", source);
    host.discover().unwrap().skills
}

#[test]
fn counters_record_matches_and_their_cost() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let skills = skills();
    let mut session = skills.session(Policy::triggered(), ContextLifetime::History);
    let turns = ["alphaword", "both", "What is 2+2?"].map(|message| session.turn(message));
    assert!(session.load("alpha", "").is_ok());
    assert!(skills.read("alpha", "../secret").is_err());
    skills.refresh().unwrap();
    let counters = skills.counters();
    assert_eq!(
        (counters.turns, counters.matched_turns, counters.matched),
        (3, 2, 3)
    );
    assert_eq!(
        (counters.given, counters.no_room, counters.failed),
        (1, 1, 0)
    );
    assert_eq!((counters.refused, counters.refreshes), (1, 1));
    assert_eq!(
        counters.turn_tokens,
        turns.iter().map(|turn| turn.tokens).sum::<u64>()
    );
    assert!(counters.cache.hits >= 1, "{counters:?}");
    let view = Document::Counters(Box::new(counters)).to_json();
    let view: serde_json::Value = serde_json::from_str(&view).unwrap();
    assert_eq!(
        (&view["kind"], &view["given"]),
        (&"counters".into(), &1.into())
    );
}

/// Lines that were written.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn events_contain_only_names_and_numbers() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let written = Written::default();
    let lines = TraceLines::new(written.clone());
    let subscriber = tracing_subscriber::registry().with(lines);
    tracing::subscriber::with_default(subscriber, || {
        let skills = skills();
        let mut session = skills.session(Policy::triggered(), ContextLifetime::History);
        session.turn("alphaword and a secret");
        session.load("alpha", "Alice").unwrap();
        skills.read("alpha", "../secret").unwrap_err();
        skills.refresh().unwrap();
    });
    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    let mut shown = String::new();
    for line in text.lines() {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["time_ms"].as_u64().unwrap() > 0);
        line["time_ms"] = 0.into();
        shown += &format!("{line}\n");
    }
    assert!(!shown.contains("a secret") && !shown.contains("Alice"));
    insta::assert_snapshot!(shown);
}

#[test]
fn skipped_and_oversize_skills_are_warnings() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let written = Written::default();
    let lines = TraceLines::new(written.clone());
    let subscriber = tracing_subscriber::registry().with(lines);
    tracing::subscriber::with_default(subscriber, skills);
    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    let events: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|line| line["level"] == "WARN")
        .map(|line| format!("{}{}: {}", line["folder"], line["skill"], line["event"]))
        .collect();
    assert_eq!(
        events,
        [
            "\"broken\"null: \"folder has no valid SKILL.md\"",
            "null\"large\": \"skill is larger than an agent should load at once\"",
        ]
    );
}

#[test]
fn host_events_are_unaffected() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (written, own) = (Written::default(), Written::default());
    let host = {
        let own = own.clone();
        tracing_subscriber::fmt::layer().with_writer(move || own.clone())
    };
    let lines = TraceLines::new(written.clone());
    let subscriber = tracing_subscriber::registry().with(host).with(lines);
    tracing::subscriber::with_default(subscriber, || {
        tracing::info!(target: "my_app", "mine");
    });
    let text = |written: &Written| String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    assert!(text(&own).contains("mine"));
    assert_eq!(text(&written), "");
}

#[test]
fn log_lines_contain_no_terminal_escapes() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let written = Written::default();
    let subscriber = tracing_subscriber::registry().with(TraceLines::new(written.clone()));
    let policy = Policy::triggered().with_log_detail(LogDetail::Content);
    let request = "alphaword \u{9b}31m \u{202e} \u{7f} \u{1b}[0m";
    tracing::subscriber::with_default(subscriber, || {
        skills()
            .session(policy, ContextLifetime::History)
            .turn(request);
    });
    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    let is_plain = |c: char| c == '\n' || !(c.is_control() || c == '\u{202e}');
    assert!(text.chars().all(is_plain));
    let mut lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    assert!(lines.any(|line: serde_json::Value| line["request"] == request));
}

#[test]
fn repeated_skill_is_counted_but_not_as_a_match() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let skills = skills();
    let mut session = skills.session(Policy::triggered(), ContextLifetime::Transient);
    for message in ["alphaword", "x", "x", "x"] {
        session.turn(message);
    }
    let counters = skills.counters();
    assert_eq!((counters.matched_turns, counters.matched), (1, 1));
    assert_eq!(counters.given, 4);
    let again = session.after_compaction(Budget::tokens(1_000), &[]);
    assert!(again.tokens > 0);
    assert_eq!(
        skills.counters().turn_tokens,
        counters.turn_tokens + again.tokens
    );
}

#[test]
fn host_log_records_selection_accuracy() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let written = Written::default();
    let subscriber = tracing_subscriber::registry().with(TraceLines::new(written.clone()));
    let skills = tracing::subscriber::with_default(subscriber, || {
        let skills = skills();
        let policy = Policy::triggered().with_log_detail(LogDetail::Content);
        let mut session = skills.session(policy, ContextLifetime::History);
        session.turn("alphaword and a secret");
        session.record_feedback("alpha", Feedback::Used).unwrap();
        session.turn("What is 2+2?");
        session.record_feedback("large", Feedback::Missed).unwrap();
        session.record_feedback("alpha", Feedback::Unused).unwrap();
        session
            .record_feedback("nobody", Feedback::Unused)
            .unwrap_err();
        skills
    });
    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    let outcomes = text
        .lines()
        .filter(|line| line.contains("feedback on a skill"));
    let mut shown = String::new();
    for line in outcomes {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["time_ms"] = 0.into();
        shown += &format!("{line}\n");
    }
    insta::assert_snapshot!(shown, @r#"
    {"chosen":{"by":"trigger","rank":1,"told":"full","turn":1},"event":"feedback on a skill","feedback":"used","level":"INFO","skill":"alpha","spans":[],"time_ms":0,"turn":1}
    {"event":"feedback on a skill","feedback":"missed","level":"INFO","skill":"large","spans":[],"time_ms":0,"turn":2}
    {"chosen":{"by":"trigger","rank":1,"told":"full","turn":1},"event":"feedback on a skill","feedback":"unused","level":"INFO","skill":"alpha","spans":[],"time_ms":0,"turn":2}
    "#);
    let stats = Stats::read(text.as_bytes(), PeriodLength::Day).unwrap();
    assert_eq!((stats.all.turns, stats.all.matched_turns), (2, 1));
    let counters = skills.counters();
    let counted = (counters.used, counters.unused, counters.missed);
    assert_eq!(
        (stats.all.used, stats.all.unused, stats.all.missed),
        counted
    );
    assert_eq!(counted, (1, 1, 1));
    assert_eq!((stats.lines.broken, stats.skills.len()), (0, 2));
}

#[test]
fn match_cache_hits_are_counted_across_snapshots() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let skills = skills();
    let say = || {
        let mut session = skills.session(Policy::triggered(), ContextLifetime::History);
        session.turn("alphaword").decisions.len()
    };
    let counted = || {
        let matches = skills.counters().match_cache;
        (matches.misses, matches.hits, matches.entries)
    };
    assert_eq!(counted(), (0, 0, 0));
    // Conversations share what is remembered.
    assert_eq!((say(), say(), say()), (1, 1, 1));
    assert_eq!(counted(), (1, 2, 1));
    skills.refresh().unwrap();
    assert_eq!(say(), 1);
    assert_eq!(counted(), (2, 2, 1));
}

/// Returns the events of a call, each as JSON.
fn events(call: impl FnOnce()) -> Vec<serde_json::Value> {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let written = Written::default();
    let subscriber = tracing_subscriber::registry().with(TraceLines::new(written.clone()));
    tracing::subscriber::with_default(subscriber, call);
    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

#[test]
fn discovery_is_logged_with_and_without_skills() {
    let one = (
        "a/SKILL.md",
        "---\nname: a\ndescription: d\ntriggers: [word]\n---\nDo it.\n",
    );
    for (files, number) in [(vec![one], 1), (Vec::new(), 0)] {
        let mut told = Vec::new();
        let events = events(|| {
            let source = MemorySource::new(files);
            let host = Host::new(Environment::new("/nowhere")).bundled("built in", source);
            let mut session = host
                .discover()
                .unwrap()
                .skills
                .session(Policy::default(), ContextLifetime::History);
            told.push(session.listing().text);
            told.extend(session.turn("a word").text);
        });
        let found = events.iter().filter(|line| line["event"] == "skills found");
        let found: Vec<_> = found
            .map(|line| (&line["level"], &line["skills"]))
            .collect();
        assert_eq!(found, [(&"INFO".into(), &number.into())]);
        assert_eq!(told.concat().contains("Do it."), number > 0);
        assert_eq!(told.concat().is_empty(), number == 0);
    }
}

#[cfg(unix)]
#[test]
fn every_refused_path_is_logged() {
    use skillfold::core::{FsSource, Root, Scope};
    use skillfold_testkit::{ATTACKED_SKILL, ExpectedOutcome, hostile_tree};
    let tree = hostile_tree();
    let source = FsSource::open(tree.root()).unwrap();
    let host = Host::new(Environment::new("/nowhere")).set("default_roots", "false");
    let host = host.root(Root::new(Scope::User, "hostile", source));
    let skills = host.discover().unwrap().skills;
    let mut refused = Vec::new();
    let events = events(|| {
        for attack in tree.attacks() {
            match skills.read_range(ATTACKED_SKILL, &attack.text, ..1 << 16) {
                Err(error) if error.kind() == ErrorKind::Refused => refused.push(attack),
                answer => assert_ne!(
                    attack.expected,
                    ExpectedOutcome::Refused,
                    "{attack:?}: {answer:?}"
                ),
            }
        }
    });
    assert!(refused.len() >= 300, "{}", refused.len());
    let is_refusal = |line: &&serde_json::Value| {
        line["level"] == "WARN" && line["event"] == "refused to open a skill's path"
    };
    let logged: Vec<_> = events.iter().filter(is_refusal).collect();
    assert_eq!(logged.len(), refused.len());
    for (line, attack) in logged.iter().zip(&refused) {
        assert_eq!(line["skill"], ATTACKED_SKILL, "{attack:?}");
        let path = skillfold::core::diagnostic::visible(&attack.text);
        assert_eq!(line["path"], *path, "{attack:?}");
        assert!(
            line["rule"].as_str().is_some_and(|rule| !rule.is_empty()),
            "{line}"
        );
    }
}
