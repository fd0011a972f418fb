//! Findings as SARIF 2.1.0, for code hosts and editors.

use serde_json::{Value, json};
use skillfold::Checked;
use skillfold::core::{Code, Diagnostic, Severity};

pub(super) fn text(checked: &[Checked]) -> String {
    let results: Vec<Value> = checked
        .iter()
        .flat_map(|one| one.findings.iter().map(|finding| result(one, finding)))
        .collect();
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
            "results": results,
        }]
    });
    format!("{log:#}\n")
}

fn rule(code: Code) -> Value {
    json!({
        "id": code.number(),
        "shortDescription": { "text": code.meaning() },
        "help": { "text": code.way_out() },
        "defaultConfiguration": { "level": level(code.severity()) },
    })
}

fn result(checked: &Checked, finding: &Diagnostic) -> Value {
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
