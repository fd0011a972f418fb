//! Parses a skill's trigger query files.

use serde_json::{Map, Value};
use skillfold_core::diagnostic::{Position, Span};
use skillfold_core::text::first_chars;
use skillfold_core::{Code, Diagnostic};

/// Maximum size of a query. Real requests are far shorter.
pub(crate) const MAX_QUERY_BYTES: usize = 8 * 1024;
/// Maximum findings to list per file; the rest are only counted.
const MAX_FINDINGS: usize = 20;
/// File names without the extension, in lower case and with `_` for `-`.
const FILE_STEMS: [&str; 6] = [
    "eval_queries",
    "trigger_eval",
    "trigger_evals",
    "trigger_eval_set",
    "trigger_queries",
    TASKS_STEM,
];
/// A file name that is also common for other things, and is recognized only in `evals/`.
const FOLDER_ONLY_STEM: &str = "triggers";
/// The name of a file that contains tasks, sometimes with trigger queries among them.
const TASKS_STEM: &str = "evals";
/// The folder for evaluations.
pub(super) const FOLDER: &str = "evals";

/// Maximum characters of a name from the file that a finding quotes.
const MAX_NAME_CHARS: usize = 60;

/// Keys for the text of a query.
const QUERY_KEYS: [&str; 4] = ["query", "prompt", "request", "input"];
/// Keys for the expectation. At the top level: keys for the list of queries that should trigger the skill.
const TRIGGER_KEYS: [&str; 3] = ["should_trigger", "should_activate", "shouldTrigger"];
/// Keys for the list of queries that should not trigger the skill.
const NO_TRIGGER_KEYS: [&str; 3] = [
    "should_not_trigger",
    "should_not_activate",
    "shouldNotTrigger",
];
/// Keys for a list of entries.
const LIST_KEYS: [&str; 4] = ["queries", "evals", "cases", "tests"];

/// How an entry without an expectation is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unlabelled {
    /// As a task, which is ignored.
    Task,
    /// As a mistake, which is reported.
    Mistake,
}

/// A request, and whether it should trigger the skill.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) text: Box<str>,
    pub(super) should_trigger: bool,
}

/// The content of a query file.
#[derive(Debug, Default)]
pub(super) struct QueryFile {
    pub(super) queries: Vec<Query>,
    pub(super) findings: Vec<Diagnostic>,
    /// Findings beyond [`MAX_FINDINGS`].
    unlisted: usize,
    /// Entries without an expectation that are treated as tasks.
    tasks: usize,
}

/// Returns how to treat unlabelled entries of a file, or `None` if its path is not that of a query file.
pub(super) fn classify(path: &str) -> Option<Unlabelled> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let name = name.to_ascii_lowercase().replace('-', "_");
    let stem = name.strip_suffix(".json")?;
    let is_known = match folder {
        "" => FILE_STEMS.contains(&stem),
        FOLDER => FILE_STEMS.contains(&stem) || stem == FOLDER_ONLY_STEM,
        _ => false,
    };
    is_known.then_some(if stem == TASKS_STEM {
        Unlabelled::Task
    } else {
        Unlabelled::Mistake
    })
}

/// Parses the queries of a file. Unusable entries are reported in the findings.
pub(super) fn parse(text: &str, unlabelled: Unlabelled) -> QueryFile {
    let mut file = QueryFile::default();
    match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(Value::Array(entries)) => file.add_entries(&entries, unlabelled),
        Ok(Value::Object(fields)) => file.add_object(&fields, unlabelled),
        Ok(_) => file.report("The file is neither a list nor an object"),
        Err(error) => file.report_syntax(&error),
    }
    file.finish();
    file
}

impl QueryFile {
    fn add_object(&mut self, fields: &Map<String, Value>, unlabelled: Unlabelled) {
        let mut is_known = false;
        for (names, should_trigger) in [(TRIGGER_KEYS, true), (NO_TRIGGER_KEYS, false)] {
            for name in names {
                if let Some(value) = fields.get(name) {
                    is_known = true;
                    self.add_labelled(name, value, should_trigger);
                }
            }
        }
        for name in LIST_KEYS {
            match fields.get(name) {
                None => continue,
                Some(Value::Array(entries)) => self.add_entries(entries, unlabelled),
                Some(_) => self.report(format!("`{name}` is not a list")),
            }
            is_known = true;
        }
        match unlabelled {
            _ if is_known => {}
            Unlabelled::Task => self.tasks += 1,
            Unlabelled::Mistake => self.report(
                "The file has no list `queries`, and neither `should_trigger` nor `should_not_trigger`",
            ),
        }
    }

    /// Adds queries that share one expectation: a list, or an object of lists.
    fn add_labelled(&mut self, name: &str, value: &Value, should_trigger: bool) {
        match value {
            Value::Array(list) => self.add_texts(name, list, should_trigger),
            Value::Object(parts) if !parts.is_empty() => {
                for (part, list) in parts {
                    let name = format!("{name}.{}", first_chars(part, MAX_NAME_CHARS));
                    match list {
                        Value::Array(list) => self.add_texts(&name, list, should_trigger),
                        _ => self.report(format!("`{name}` is not a list")),
                    }
                }
            }
            _ => self.report(format!("`{name}` is not a list")),
        }
    }

    /// Adds the queries of one list.
    fn add_texts(&mut self, name: &str, list: &[Value], should_trigger: bool) {
        for (number, entry) in (1..).zip(list) {
            let text = match entry {
                Value::Object(fields) => first_field(fields, &QUERY_KEYS).map(|(_, text)| text),
                other => Some(other),
            };
            let location = || format!("Entry {number} of `{name}`");
            self.add_query(location, text, should_trigger);
        }
    }

    fn add_entries(&mut self, entries: &[Value], unlabelled: Unlabelled) {
        for (number, entry) in (1..).zip(entries) {
            let location = format!("Entry {number}");
            let Value::Object(fields) = entry else {
                self.report(format!("{location} is not an object"));
                continue;
            };
            match (first_field(fields, &TRIGGER_KEYS), unlabelled) {
                (Some((_, Value::Bool(should_trigger))), _) => {
                    let text = first_field(fields, &QUERY_KEYS).map(|(_, text)| text);
                    self.add_query(|| location.clone(), text, *should_trigger);
                }
                (Some((name, _)), _) => {
                    self.report(format!(
                        "{location} has a `{name}` that is neither true nor false"
                    ));
                }
                (None, Unlabelled::Task) => self.tasks += 1,
                (None, Unlabelled::Mistake) => {
                    self.report(format!("{location} has no `should_trigger`"));
                }
            }
        }
    }

    fn add_query(
        &mut self,
        location: impl Fn() -> String,
        text: Option<&Value>,
        should_trigger: bool,
    ) {
        match text.and_then(Value::as_str) {
            Some(text) if text.len() > MAX_QUERY_BYTES => {
                let (location, length) = (location(), text.len());
                self.report(format!(
                    "{location} has a query of {length} bytes, the limit is {MAX_QUERY_BYTES}"
                ));
            }
            Some(text) if !text.trim().is_empty() => self.queries.push(Query {
                text: text.into(),
                should_trigger,
            }),
            Some(_) => self.report(format!("{} has an empty query", location())),
            None => self.report(format!("{} has no string `query`", location())),
        }
    }

    fn report_syntax(&mut self, error: &serde_json::Error) {
        let number = |number: usize| u32::try_from(number.max(1)).unwrap_or(u32::MAX);
        let position = Position::new(number(error.line()), number(error.column()));
        let message = error.to_string();
        let what = message.split(" at line ").next().unwrap_or_default();
        let code = Code::EvaluationForm;
        let message = format!("The file is not JSON: {what}");
        self.findings
            .push(Diagnostic::new(code, Span::at(position), message));
    }

    fn report(&mut self, message: impl Into<Box<str>>) {
        if self.findings.len() < MAX_FINDINGS {
            let finding = Diagnostic::new(Code::EvaluationForm, None, message);
            self.findings.push(finding);
        } else {
            self.unlisted += 1;
        }
    }

    /// Reports the findings and tasks that were only counted.
    fn finish(&mut self) {
        if self.unlisted > 0 {
            let message = format!("{} more entries cannot be used", self.unlisted);
            let finding = Diagnostic::new(Code::EvaluationForm, None, message);
            self.findings.push(finding);
        }
        let message = match (self.tasks, self.queries.is_empty()) {
            (0, _) => return,
            (_, true) => "The file has no trigger queries".to_owned(),
            (tasks, false) => {
                format!("Entries without `should_trigger` are not trigger queries: {tasks}")
            }
        };
        self.findings
            .push(Diagnostic::new(Code::NoTriggerQueries, None, message));
    }
}

/// Returns the first of `names` that the object has, with its value.
fn first_field<'a>(
    fields: &'a Map<String, Value>,
    names: &[&'a str],
) -> Option<(&'a str, &'a Value)> {
    let mut names = names.iter();
    names.find_map(|name| Some((*name, fields.get(*name)?)))
}

#[cfg(test)]
mod tests {
    use super::{Unlabelled, classify, parse};

    /// Renders a file as text: its queries with `+` or `-` for the expectation, then the findings.
    fn render(text: &str, unlabelled: Unlabelled) -> String {
        let file = parse(text, unlabelled);
        let sign = |should| if should { '+' } else { '-' };
        let queries = file.queries.iter();
        let queries = queries.map(|query| format!("{} {}", sign(query.should_trigger), query.text));
        let findings = file.findings.iter().map(|finding| match finding.span {
            Some(span) => format!("{finding} ({})", span.start),
            None => finding.to_string(),
        });
        queries.chain(findings).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn common_query_file_formats_are_read() {
        for text in [
            r#"[{"query": "a", "should_trigger": true}, {"query": "b", "should_trigger": false, "note": "x"}]"#,
            "\u{feff}[{\"prompt\": \"a\", \"should_activate\": true}, {\"input\": \"b\", \"shouldTrigger\": false}]",
            r#"{"skill_name": "s", "queries": [{"query": "a", "should_trigger": true}, {"query": "b", "should_trigger": false}]}"#,
            r#"{"evals": [{"prompt": "a", "should_trigger": true}], "cases": [{"prompt": "b", "should_trigger": false}]}"#,
            r#"{"should_trigger": ["a"], "should_not_trigger": ["b"]}"#,
            r#"{"shouldTrigger": [{"request": "a"}], "shouldNotTrigger": {"train": ["b"]}}"#,
        ] {
            assert_eq!(render(text, Unlabelled::Mistake), "+ a\n- b", "{text}");
        }
    }

    #[test]
    fn unusable_entries_are_reported_with_their_position() {
        insta::assert_snapshot!(render("[\n  {\"query\": \"a\",}\n]", Unlabelled::Mistake), @"error[SF851]: The file is not JSON: trailing comma (2:17)");
        insta::assert_snapshot!(render("7", Unlabelled::Mistake), @"error[SF851]: The file is neither a list nor an object");
        insta::assert_snapshot!(render("{}", Unlabelled::Mistake), @"error[SF851]: The file has no list `queries`, and neither `should_trigger` nor `should_not_trigger`");
        insta::assert_snapshot!(render(r#"{"should_trigger": true, "should_not_trigger": [7]}"#, Unlabelled::Mistake), @"
        error[SF851]: `should_trigger` is not a list
        error[SF851]: Entry 1 of `should_not_trigger` has no string `query`
        ");
        let entries = r#"["a", {"query": "b"}, {"query": "c", "should_trigger": "yes"}, {"should_trigger": true},
            {"query": " ", "should_trigger": true}, {"query": "d", "should_trigger": true}]"#;
        insta::assert_snapshot!(render(entries, Unlabelled::Mistake), @"
        + d
        error[SF851]: Entry 1 is not an object
        error[SF851]: Entry 2 has no `should_trigger`
        error[SF851]: Entry 3 has a `should_trigger` that is neither true nor false
        error[SF851]: Entry 4 has no string `query`
        error[SF851]: Entry 5 has an empty query
        ");
        let many = format!("[{}7]", "7,".repeat(29));
        assert!(
            render(&many, Unlabelled::Mistake)
                .ends_with("error[SF851]: 10 more entries cannot be used")
        );
        let deep = "[".repeat(100_000);
        insta::assert_snapshot!(render(&deep, Unlabelled::Mistake), @"error[SF851]: The file is not JSON: recursion limit exceeded (1:128)");
    }

    #[test]
    fn nothing_in_a_query_file_is_dropped_silently() {
        let file = r#"{"should_trigger": {"train": ["a"], "test": "never b"}, "should_activate": ["c"], "queries": {"x": 1}}"#;
        insta::assert_snapshot!(render(file, Unlabelled::Mistake), @"
        + a
        + c
        error[SF851]: `should_trigger.test` is not a list
        error[SF851]: `queries` is not a list
        ");
        let long = format!(
            r#"[{{"query": "{}", "should_trigger": true}}]"#,
            "x".repeat(9_000)
        );
        insta::assert_snapshot!(render(&long, Unlabelled::Mistake), @"error[SF851]: Entry 1 has a query of 9000 bytes, the limit is 8192");
    }

    #[test]
    fn tasks_are_not_trigger_queries() {
        let tasks =
            r#"{"skill_name": "s", "evals": [{"id": 1, "prompt": "a", "expected_output": "b"}]}"#;
        insta::assert_snapshot!(render(tasks, Unlabelled::Task), @"info[SF852]: The file has no trigger queries");
        insta::assert_snapshot!(render("{}", Unlabelled::Task), @"info[SF852]: The file has no trigger queries");
        let mixed = r#"{"evals": [{"prompt": "a"}, {"prompt": "b", "should_trigger": true}]}"#;
        insta::assert_snapshot!(render(mixed, Unlabelled::Task), @"
        + b
        info[SF852]: Entries without `should_trigger` are not trigger queries: 1
        ");
    }

    #[test]
    fn query_files_are_recognised_by_name() {
        for path in [
            "eval_queries.json",
            "evals/eval-queries.json",
            "trigger-eval.json",
            "evals/trigger_evals.json",
            "evals/triggers.json",
            "evals/Trigger-Queries.JSON",
        ] {
            assert_eq!(classify(path), Some(Unlabelled::Mistake), "{path}");
        }
        assert_eq!(classify("evals/EVALS.json"), Some(Unlabelled::Task));
        for path in [
            "triggers.json",
            "data/evals.json",
            "evals/old/trigger-eval.json",
            "evals/trigger-eval-results.json",
            "evals/trigger-eval.yaml",
            ".json",
        ] {
            assert_eq!(classify(path), None, "{path}");
        }
    }
}
