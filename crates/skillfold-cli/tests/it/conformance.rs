//! The command passes the cases that every frontend passes.

use serde_json::Value;
use skillfold_testkit::disagreements;

use crate::command::skillfold;

#[test]
fn every_conformance_case_passes() {
    let wrong = disagreements(|request, input| {
        let mut command = skillfold(input, &input.join("person"));
        let output = command.args(arguments(request)).output().unwrap();
        let answer = String::from_utf8(output.stdout).unwrap();
        if answer.is_empty() {
            return String::from_utf8_lossy(&output.stderr).into_owned();
        }
        without_program(&answer)
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Drops what no other frontend answers: how the program was installed.
fn without_program(answer: &str) -> String {
    let mut answer: Value = serde_json::from_str(answer).unwrap();
    answer.as_object_mut().unwrap().remove("program");
    answer.to_string()
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
