//! The command passes the cases that every frontend passes.

use serde_json::Value;
use skillfold_testkit::cases;

use crate::command::skillfold;

#[test]
fn every_conformance_case_passes() {
    let mut wrong = Vec::new();
    for case in cases() {
        let folder = case.lay_out();
        let input = folder.path().canonicalize().unwrap();
        let request: Value = serde_json::from_str(&case.request).unwrap();
        let output = skillfold(&input, &input.join("person"))
            .args(arguments(&request))
            .output()
            .unwrap();
        let answer = String::from_utf8(output.stdout).unwrap();
        let answer = answer.replace(&*input.to_string_lossy(), "INPUT");
        let mut parsed = serde_json::from_str::<Value>(&answer).ok();
        if let (Some(answer), Some("prompt" | "why")) = (&mut parsed, request["call"].as_str()) {
            without_counts(answer);
        }
        if parsed != serde_json::from_str(&case.expected).ok() {
            let talk = String::from_utf8_lossy(&output.stderr).into_owned();
            wrong.push(format!("{}: {answer}{talk}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Writes counts of tokens as 0: the path of the input is part of what is counted.
fn without_counts(answer: &mut Value) {
    match answer {
        Value::Object(fields) => {
            for (name, value) in fields {
                if name.ends_with("tokens") {
                    *value = Value::from(0);
                } else {
                    without_counts(value);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(without_counts),
        _ => {}
    }
}

/// Returns what a person would type for a request.
fn arguments(request: &Value) -> Vec<String> {
    let call = request["call"].as_str().unwrap();
    let call = if call == "settings" { "config" } else { call };
    let mut typed = vec![call.to_owned(), "--json".to_owned()];
    for (key, value) in request["settings"].as_object().into_iter().flatten() {
        typed.push(format!("--set={key}={}", value.as_str().unwrap()));
    }
    for (name, value) in request["arguments"].as_object().into_iter().flatten() {
        let value = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        match name.as_str() {
            "id" | "path" | "arguments" | "query" | "request" | "file" => {}
            "cursor" => typed.push(format!("--after={value}")),
            name => typed.push(format!("--{name}={value}")),
        }
    }
    // What has no name on the command line has an order.
    let unnamed = ["id", "path", "arguments", "query", "request", "file"];
    let unnamed = unnamed.map(|name| request["arguments"][name].as_str());
    typed.extend(unnamed.into_iter().flatten().map(str::to_owned));
    typed
}
