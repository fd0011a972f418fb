//! The trigger queries that a file of a skill holds.

use serde_json::{Map, Value};
use skillfold_core::text::first_chars;
use skillfold_core::{Code, Diagnostic, Position, Span};

use super::QUERY_BYTES;

/// Findings of one file that are reported one by one; the rest are counted.
const FINDINGS: usize = 20;
/// Names of files, without the extension, in lower case and with `_` for `-`.
const STEMS: [&str; 6] = [
    "eval_queries",
    "trigger_eval",
    "trigger_evals",
    "trigger_eval_set",
    "trigger_queries",
    TASKS,
];
/// A name that is common for other things, and counts in `evals/` only.
const STEM_IN_FOLDER: &str = "triggers";
/// The name of a file that holds tasks, and sometimes trigger queries among them.
const TASKS: &str = "evals";
/// The folder that evaluations are kept in.
pub(super) const FOLDER: &str = "evals";

/// Characters of a name in a file that a finding repeats.
const NAME: usize = 60;

/// What the text of a query is called.
const TEXTS: [&str; 4] = ["query", "prompt", "request", "input"];
/// What the expectation is called; as a list, the queries that should start the skill.
const SHOULD: [&str; 3] = ["should_trigger", "should_activate", "shouldTrigger"];
/// What the list of the queries is called that should not.
const SHOULD_NOT: [&str; 3] = [
    "should_not_trigger",
    "should_not_activate",
    "shouldNotTrigger",
];
/// What a list of entries is called.
const LISTS: [&str; 4] = ["queries", "evals", "cases", "tests"];

/// What an entry without an expectation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unlabelled {
    /// A task, which is none of our business.
    Task,
    /// A slip.
    Wrong,
}

/// A request, and whether it should start the skill.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) text: Box<str>,
    pub(super) should_trigger: bool,
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct QueryFile {
    pub(super) queries: Vec<Query>,
    pub(super) findings: Vec<Diagnostic>,
    /// Findings that are not reported one by one.
    unlisted: usize,
    /// Entries without an expectation, where these are tasks.
    tasks: usize,
}

/// Returns how a file of a skill is read, if by its path it holds trigger queries.
pub(super) fn kind(path: &str) -> Option<Unlabelled> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let name = name.to_ascii_lowercase().replace('-', "_");
    let stem = name.strip_suffix(".json")?;
    let is_known = match folder {
        "" => STEMS.contains(&stem),
        FOLDER => STEMS.contains(&stem) || stem == STEM_IN_FOLDER,
        _ => false,
    };
    is_known.then_some(if stem == TASKS {
        Unlabelled::Task
    } else {
        Unlabelled::Wrong
    })
}

/// Reads the queries of a file. What cannot be used is in the findings.
pub(super) fn read(text: &str, unlabelled: Unlabelled) -> QueryFile {
    let mut held = QueryFile::default();
    match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(Value::Array(entries)) => held.entries(&entries, unlabelled),
        Ok(Value::Object(fields)) => held.object(&fields, unlabelled),
        Ok(_) => held.report("The file holds neither a list nor an object"),
        Err(error) => held.not_json(&error),
    }
    held.finish();
    held
}

impl QueryFile {
    fn object(&mut self, fields: &Map<String, Value>, unlabelled: Unlabelled) {
        let mut is_known = false;
        for (names, should_trigger) in [(SHOULD, true), (SHOULD_NOT, false)] {
            for name in names {
                if let Some(value) = fields.get(name) {
                    is_known = true;
                    self.sorted(name, value, should_trigger);
                }
            }
        }
        for name in LISTS {
            match fields.get(name) {
                None => continue,
                Some(Value::Array(entries)) => self.entries(entries, unlabelled),
                Some(_) => self.report(format!("`{name}` is not a list")),
            }
            is_known = true;
        }
        match unlabelled {
            _ if is_known => {}
            Unlabelled::Task => self.tasks += 1,
            Unlabelled::Wrong => self.report(
                "The file has no list `queries`, and neither `should_trigger` nor `should_not_trigger`",
            ),
        }
    }

    /// Takes queries that are sorted by what is expected: a list, or a list for each part of an object.
    fn sorted(&mut self, name: &str, value: &Value, should_trigger: bool) {
        match value {
            Value::Array(list) => self.texts(name, list, should_trigger),
            Value::Object(parts) if !parts.is_empty() => {
                for (part, list) in parts {
                    let name = format!("{name}.{}", first_chars(part, NAME));
                    match list {
                        Value::Array(list) => self.texts(&name, list, should_trigger),
                        _ => self.report(format!("`{name}` is not a list")),
                    }
                }
            }
            _ => self.report(format!("`{name}` is not a list")),
        }
    }

    /// Takes the queries of one list.
    fn texts(&mut self, name: &str, list: &[Value], should_trigger: bool) {
        for (number, entry) in (1..).zip(list) {
            let text = match entry {
                Value::Object(fields) => first(fields, &TEXTS).map(|(_, text)| text),
                other => Some(other),
            };
            let place = || format!("Entry {number} of `{name}`");
            self.add(place, text, should_trigger);
        }
    }

    fn entries(&mut self, entries: &[Value], unlabelled: Unlabelled) {
        for (number, entry) in (1..).zip(entries) {
            let place = format!("Entry {number}");
            let Value::Object(fields) = entry else {
                self.report(format!("{place} is not an object"));
                continue;
            };
            match (first(fields, &SHOULD), unlabelled) {
                (Some((_, Value::Bool(should_trigger))), _) => {
                    let text = first(fields, &TEXTS).map(|(_, text)| text);
                    self.add(|| place.clone(), text, *should_trigger);
                }
                (Some((name, _)), _) => {
                    self.report(format!(
                        "{place} has a `{name}` that is neither true nor false"
                    ));
                }
                (None, Unlabelled::Task) => self.tasks += 1,
                (None, Unlabelled::Wrong) => {
                    self.report(format!("{place} has no `should_trigger`"));
                }
            }
        }
    }

    fn add(&mut self, place: impl Fn() -> String, text: Option<&Value>, should_trigger: bool) {
        match text.and_then(Value::as_str) {
            Some(text) if text.len() > QUERY_BYTES => {
                let (place, length) = (place(), text.len());
                self.report(format!(
                    "{place} has a query of {length} bytes, the limit is {QUERY_BYTES}"
                ));
            }
            Some(text) if !text.trim().is_empty() => self.queries.push(Query {
                text: text.into(),
                should_trigger,
            }),
            Some(_) => self.report(format!("{} has an empty query", place())),
            None => self.report(format!("{} has no text as its `query`", place())),
        }
    }

    fn not_json(&mut self, error: &serde_json::Error) {
        let number = |number: usize| u32::try_from(number.max(1)).unwrap_or(u32::MAX);
        let place = Position::new(number(error.line()), number(error.column()));
        let message = error.to_string();
        let what = message.split(" at line ").next().unwrap_or_default();
        let code = Code::EvaluationForm;
        let message = format!("The file is not JSON: {what}");
        self.findings
            .push(Diagnostic::new(code, Span::at(place), message));
    }

    fn report(&mut self, message: impl Into<Box<str>>) {
        if self.findings.len() < FINDINGS {
            let finding = Diagnostic::new(Code::EvaluationForm, None, message);
            self.findings.push(finding);
        } else {
            self.unlisted += 1;
        }
    }

    /// Reports what was only counted.
    fn finish(&mut self) {
        if self.unlisted > 0 {
            let message = format!("{} more entries cannot be used", self.unlisted);
            let finding = Diagnostic::new(Code::EvaluationForm, None, message);
            self.findings.push(finding);
        }
        let message = match (self.tasks, self.queries.is_empty()) {
            (0, _) => return,
            (_, true) => "The file holds no trigger queries".to_owned(),
            (tasks, false) => {
                format!("Entries without `should_trigger` are not trigger queries: {tasks}")
            }
        };
        self.findings
            .push(Diagnostic::new(Code::NoTriggerQueries, None, message));
    }
}

/// Returns the first field that is there.
fn first<'a>(fields: &'a Map<String, Value>, names: &[&'a str]) -> Option<(&'a str, &'a Value)> {
    let mut names = names.iter();
    names.find_map(|name| Some((*name, fields.get(*name)?)))
}

#[cfg(test)]
mod tests {
    use super::{Unlabelled, kind, read};

    /// Returns what a file holds: `+` and `-` before each query, then what was found.
    fn held(text: &str, unlabelled: Unlabelled) -> String {
        let held = read(text, unlabelled);
        let sign = |should| if should { '+' } else { '-' };
        let queries = held.queries.iter();
        let queries = queries.map(|query| format!("{} {}", sign(query.should_trigger), query.text));
        let findings = held.findings.iter().map(|finding| match finding.span {
            Some(span) => format!("{finding} ({})", span.start),
            None => finding.to_string(),
        });
        queries.chain(findings).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn forms_that_authors_use_are_read() {
        for text in [
            r#"[{"query": "a", "should_trigger": true}, {"query": "b", "should_trigger": false, "note": "x"}]"#,
            "\u{feff}[{\"prompt\": \"a\", \"should_activate\": true}, {\"input\": \"b\", \"shouldTrigger\": false}]",
            r#"{"skill_name": "s", "queries": [{"query": "a", "should_trigger": true}, {"query": "b", "should_trigger": false}]}"#,
            r#"{"evals": [{"prompt": "a", "should_trigger": true}], "cases": [{"prompt": "b", "should_trigger": false}]}"#,
            r#"{"should_trigger": ["a"], "should_not_trigger": ["b"]}"#,
            r#"{"shouldTrigger": [{"request": "a"}], "shouldNotTrigger": {"train": ["b"]}}"#,
        ] {
            assert_eq!(held(text, Unlabelled::Wrong), "+ a\n- b", "{text}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_reported_with_its_place() {
        insta::assert_snapshot!(held("[\n  {\"query\": \"a\",}\n]", Unlabelled::Wrong), @"error[SF851]: The file is not JSON: trailing comma (2:17)");
        insta::assert_snapshot!(held("7", Unlabelled::Wrong), @"error[SF851]: The file holds neither a list nor an object");
        insta::assert_snapshot!(held("{}", Unlabelled::Wrong), @"error[SF851]: The file has no list `queries`, and neither `should_trigger` nor `should_not_trigger`");
        insta::assert_snapshot!(held(r#"{"should_trigger": true, "should_not_trigger": [7]}"#, Unlabelled::Wrong), @"
        error[SF851]: `should_trigger` is not a list
        error[SF851]: Entry 1 of `should_not_trigger` has no text as its `query`
        ");
        let entries = r#"["a", {"query": "b"}, {"query": "c", "should_trigger": "yes"}, {"should_trigger": true},
            {"query": " ", "should_trigger": true}, {"query": "d", "should_trigger": true}]"#;
        insta::assert_snapshot!(held(entries, Unlabelled::Wrong), @"
        + d
        error[SF851]: Entry 1 is not an object
        error[SF851]: Entry 2 has no `should_trigger`
        error[SF851]: Entry 3 has a `should_trigger` that is neither true nor false
        error[SF851]: Entry 4 has no text as its `query`
        error[SF851]: Entry 5 has an empty query
        ");
        let many = format!("[{}7]", "7,".repeat(29));
        assert!(
            held(&many, Unlabelled::Wrong)
                .ends_with("error[SF851]: 10 more entries cannot be used")
        );
        let deep = "[".repeat(100_000);
        insta::assert_snapshot!(held(&deep, Unlabelled::Wrong), @"error[SF851]: The file is not JSON: recursion limit exceeded (1:128)");
    }

    #[test]
    fn nothing_of_a_file_is_dropped_without_a_word() {
        let file = r#"{"should_trigger": {"train": ["a"], "test": "never b"}, "should_activate": ["c"], "queries": {"x": 1}}"#;
        insta::assert_snapshot!(held(file, Unlabelled::Wrong), @"
        + a
        + c
        error[SF851]: `should_trigger.test` is not a list
        error[SF851]: `queries` is not a list
        ");
        let long = format!(
            r#"[{{"query": "{}", "should_trigger": true}}]"#,
            "x".repeat(9_000)
        );
        insta::assert_snapshot!(held(&long, Unlabelled::Wrong), @"error[SF851]: Entry 1 has a query of 9000 bytes, the limit is 8192");
    }

    #[test]
    fn tasks_are_no_trigger_queries() {
        let tasks =
            r#"{"skill_name": "s", "evals": [{"id": 1, "prompt": "a", "expected_output": "b"}]}"#;
        insta::assert_snapshot!(held(tasks, Unlabelled::Task), @"info[SF852]: The file holds no trigger queries");
        insta::assert_snapshot!(held("{}", Unlabelled::Task), @"info[SF852]: The file holds no trigger queries");
        let mixed = r#"{"evals": [{"prompt": "a"}, {"prompt": "b", "should_trigger": true}]}"#;
        insta::assert_snapshot!(held(mixed, Unlabelled::Task), @"
        + b
        info[SF852]: Entries without `should_trigger` are not trigger queries: 1
        ");
    }

    #[test]
    fn files_are_told_by_their_names() {
        for path in [
            "eval_queries.json",
            "evals/eval-queries.json",
            "trigger-eval.json",
            "evals/trigger_evals.json",
            "evals/triggers.json",
            "evals/Trigger-Queries.JSON",
        ] {
            assert_eq!(kind(path), Some(Unlabelled::Wrong), "{path}");
        }
        assert_eq!(kind("evals/EVALS.json"), Some(Unlabelled::Task));
        for path in [
            "triggers.json",
            "data/evals.json",
            "evals/old/trigger-eval.json",
            "evals/trigger-eval-results.json",
            "evals/trigger-eval.yaml",
            ".json",
        ] {
            assert_eq!(kind(path), None, "{path}");
        }
    }
}
