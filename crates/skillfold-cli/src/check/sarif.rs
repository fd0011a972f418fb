//! Findings as SARIF 2.1.0, for code hosts and editors.

use serde_json::{Value, json};
use skillfold::CheckedSkill;
use skillfold::core::{Code, Diagnostic, Severity};

use crate::failure::Failure;
use crate::output::Output;

/// A log that is written while files are judged, so that no more than one of them is held.
pub(super) struct Log {
    /// What follows the results.
    end: String,
    /// What parts the next result from what is before it.
    before: &'static str,
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
            end: format!("]{end}"),
            before: "\n",
        })
    }

    /// Writes the findings of a file, each on a line.
    pub(super) fn add(
        &mut self,
        checked: &CheckedSkill,
        output: &mut Output,
    ) -> Result<(), Failure> {
        for finding in &checked.findings {
            output.json_part(&format!("{}{}", self.before, result(checked, finding)))?;
            self.before = ",\n";
        }
        Ok(())
    }

    pub(super) fn finish(&self, output: &mut Output) -> Result<(), Failure> {
        output.json_part(&self.end)
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
    let mut place = json!({ "artifactLocation": { "uri": encoded(&uri) } });
    if let Some(span) = finding.span {
        place["region"] = json!({
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
        "locations": [{ "physicalLocation": place }],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        _ => "note",
    }
}

/// Returns a path as a reference: what a URI may not have is written with percent signs, and a whole path names its scheme.
fn encoded(path: &str) -> String {
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
        // A drive of Windows.
        path if path.get(1..2) == Some(":") => format!("file:///{encoded}"),
        _ => encoded,
    }
}
