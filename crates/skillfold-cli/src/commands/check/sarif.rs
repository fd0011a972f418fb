//! Findings as SARIF 2.1.0, for code hosts and editors.

use serde_json::{Value, json};
use skillfold::author::CheckedSkill;
use skillfold::core::diagnostic::Severity;
use skillfold::core::{Code, Diagnostic};

use crate::failure::Failure;
use crate::terminal::output::Output;

/// A log that is written while files are checked, so that only one file is in memory at a time.
pub(super) struct Log {
    /// The text after the results.
    tail: String,
    /// The text before the next result.
    separator: &'static str,
}

impl Log {
    pub(super) fn start(output: &mut Output) -> Result<Self, Failure> {
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": {
                    "driver": {
                        "name": "skillfold",
                        "version": env!("CARGO_PKG_VERSION"),
                        "rules": Code::ALL.iter().map(|code| rule(*code)).collect::<Vec<_>>(),
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

    /// Writes the findings of a file, one per line.
    pub(super) fn add(
        &mut self,
        checked: &CheckedSkill,
        output: &mut Output,
    ) -> Result<(), Failure> {
        for finding in &checked.findings {
            output.json_part(&format!("{}{}", self.separator, result(checked, finding)))?;
            self.separator = ",\n";
        }
        Ok(())
    }

    pub(super) fn finish(&self, output: &mut Output) -> Result<(), Failure> {
        output.json_part(&self.tail)
    }
}

fn rule(code: Code) -> Value {
    json!({
        "id": code.number(),
        "shortDescription": { "text": code.description() },
        "help": { "text": code.hint() },
        "defaultConfiguration": { "level": level(code.severity()) },
    })
}

fn result(checked: &CheckedSkill, finding: &Diagnostic) -> Value {
    let uri = checked.file.to_string_lossy().replace('\\', "/");
    let mut location = json!({ "artifactLocation": { "uri": file_uri(&uri) } });
    if let Some(span) = finding.span {
        location["region"] = json!({
            "startLine": span.start.line,
            "startColumn": span.start.column,
            "endLine": span.end.line,
            "endColumn": span.end.column,
        });
    }
    json!({
        "ruleId": finding.code.number(),
        "ruleIndex": Code::ALL.iter().position(|code| *code == finding.code),
        "level": level(finding.severity),
        "message": { "text": format!("{}. {}", finding.message, finding.hint()) },
        "locations": [{ "physicalLocation": location }],
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
