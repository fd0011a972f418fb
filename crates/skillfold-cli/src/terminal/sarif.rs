//! SARIF 2.1.0, for code hosts and editors.

use std::path::Path;

use serde_json::{Value, json};
use skillfold::core::diagnostic::Severity;
use skillfold::core::{Code, Diagnostic};

use crate::failure::Failure;
use crate::terminal::output::Output;

/// A log that is written result by result, so that only one is in memory at a time.
pub(crate) struct Log {
    /// The text after the results.
    tail: String,
    /// The text before the next result.
    separator: &'static str,
}

impl Log {
    /// Starts a log whose results are findings, or have one of the other rules.
    pub(crate) fn start(other_rules: &[Value], output: &mut Output) -> Result<Self, Failure> {
        let rules = Code::ALL.iter().map(|code| rule_of(*code));
        let rules: Vec<Value> = rules.chain(other_rules.iter().cloned()).collect();
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": {
                    "driver": {
                        "name": "skillfold",
                        "version": env!("CARGO_PKG_VERSION"),
                        "rules": rules,
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [],
            }]
        });
        let log = format!("{log:#}\n");
        let (start, end) = log
            .split_once("\"results\": []")
            .expect("the log has a place for results");
        output.json_part(&format!("{start}\"results\": ["))?;
        Ok(Self {
            tail: format!("]{end}"),
            separator: "\n",
        })
    }

    /// Writes a result on one line.
    pub(crate) fn add(&mut self, result: &Value, output: &mut Output) -> Result<(), Failure> {
        output.json_part(&format!("{}{result}", self.separator))?;
        self.separator = ",\n";
        Ok(())
    }

    pub(crate) fn finish(&self, output: &mut Output) -> Result<(), Failure> {
        output.json_part(&self.tail)
    }
}

/// Returns a rule with its default level.
pub(crate) fn rule(id: &str, description: &str, help: &str, severity: Severity) -> Value {
    json!({
        "id": id,
        "shortDescription": { "text": description },
        "help": { "text": help },
        "defaultConfiguration": { "level": level(severity) },
    })
}

fn rule_of(code: Code) -> Value {
    rule(
        code.number(),
        code.description(),
        code.hint(),
        code.severity(),
    )
}

/// Returns the result for a finding in a file.
pub(crate) fn finding_result(file: &Path, finding: &Diagnostic) -> Value {
    let text = format!("{}. {}", finding.message, finding.hint());
    let mut result = result(finding.code.number(), finding.severity, &text, file);
    result["ruleIndex"] = json!(Code::ALL.iter().position(|code| *code == finding.code));
    if let Some(span) = finding.span {
        result["locations"][0]["physicalLocation"]["region"] = json!({
            "startLine": span.start.line,
            "startColumn": span.start.column,
            "endLine": span.end.line,
            "endColumn": span.end.column,
        });
    }
    result
}

/// Returns a result for a line of a file.
pub(crate) fn line_result(
    rule: &str,
    severity: Severity,
    text: &str,
    file: &Path,
    line: usize,
) -> Value {
    let mut result = result(rule, severity, text, file);
    result["locations"][0]["physicalLocation"]["region"] = json!({ "startLine": line });
    result
}

fn result(rule: &str, severity: Severity, text: &str, file: &Path) -> Value {
    let uri = file.to_string_lossy().replace('\\', "/");
    json!({
        "ruleId": rule,
        "level": level(severity),
        "message": { "text": text },
        "locations": [{ "physicalLocation": { "artifactLocation": { "uri": file_uri(&uri) } } }],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        _ => "note",
    }
}

/// Returns a path as a URI reference: percent-encoded, and with the `file` scheme if absolute.
fn file_uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let encoded = path.bytes().map(|byte| {
        if is_plain(byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    });
    let encoded = encoded.collect::<Vec<_>>().concat();
    match path {
        path if path.starts_with('/') => format!("file://{encoded}"),
        // A Windows drive.
        path if path.get(1..2) == Some(":") => format!("file:///{encoded}"),
        _ => encoded,
    }
}
