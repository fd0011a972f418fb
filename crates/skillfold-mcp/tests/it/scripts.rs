//! Skills' scripts and tools, as a client reaches them.

use rmcp::ClientLifecycleMode;
use serde_json::{Value, json};
use skillfold::store::Approval;
use skillfold::{Environment, Host, Skills};
use skillfold_mcp::{Options, Server};
use skillfold_testkit::folder;
use tempfile::TempDir;

use crate::client::Client;

const HOME: &str = r#"//- .agents/skills/pdf/SKILL.md
---
name: pdf
description: Fills in forms
toolsets: ["tools.json:tools"]
---
Count.
//- .agents/skills/pdf/tools.json
{"tools": [{"name": "count", "description": "Counts letters.", "script": "scripts/count.py",
 "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}]}
//- .agents/skills/pdf/scripts/count.py
import json, sys
print(len(json.load(sys.stdin)["text"]))
"#;

fn skills(home: &TempDir) -> Skills {
    let environment = Environment::new(home.path()).home(home.path());
    Host::new(environment)
        .set("scripts", "on")
        .discover()
        .unwrap()
        .skills
}

fn allowed(home: &TempDir) -> Skills {
    let skills = skills(home);
    let skill = skills.runnable("pdf").unwrap();
    let approval = Approval::by_host("anna");
    skills.allow(&skill, &approval).unwrap();
    skills
}

async fn names(client: &Client) -> Vec<String> {
    let listed = client.ask("tools/list", json!({})).await;
    let tools = listed["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

fn text(answer: &Value) -> String {
    let blocks = answer["content"].as_array().unwrap().iter();
    let texts = blocks.map(|block| block["text"].as_str().unwrap_or_default());
    texts.collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_a_loaded_skill_are_listed_only_in_its_conversation() {
    needs_sandbox!();
    let home = folder(HOME);
    let skills = allowed(&home);
    let connect = |skills: Skills| {
        let server = Server::new(skills, Options::default());
        Client::connect(server, ClientLifecycleMode::Initialize)
    };
    let client = connect(skills.clone()).await;
    assert!(!names(&client).await.iter().any(|name| name == "pdf__count"));
    let refused = client
        .try_ask(
            "tools/call",
            json!({ "name": "pdf__count", "arguments": {} }),
        )
        .await;
    assert!(refused.unwrap_err().message.starts_with("Unknown tool"));
    client
        .call("load_skill", json!({ "skill_id": "pdf" }))
        .await;
    assert!(names(&client).await.iter().any(|name| name == "pdf__count"));
    let counted = client.call("pdf__count", json!({ "text": "four" })).await;
    assert_eq!(text(&counted).trim(), "4");

    let other = connect(skills).await;
    assert!(!names(&other).await.iter().any(|name| name == "pdf__count"));
}

#[tokio::test(flavor = "multi_thread")]
async fn structured_answer_has_the_run_output_and_usage() {
    needs_sandbox!();
    let home = folder(HOME);
    let server = Server::new(allowed(&home), Options::default().structured());
    let client = Client::of(server).await;
    let load = json!({ "skill_id": "pdf" });
    let loaded = client.call("load_skill", load).await;
    let notes = &loaded["structuredContent"]["run_notes"];
    assert_eq!(
        text(&loaded).strip_prefix(
            &*(loaded["structuredContent"]["text"]
                .as_str()
                .unwrap()
                .to_owned()
                + "\n")
        ),
        notes.as_str()
    );
    let script = json!({ "skill_id": "pdf", "script": "scripts/count.py", "input": "{\"text\": \"seven\"}" });
    let ran = client.call("run_skill_script", script).await;
    assert_eq!(ran["structuredContent"]["output"], "5\n");
    let call = json!({ "skill_id": "pdf", "tool": "count", "arguments": { "text": "four" } });
    let called = client.call("call_skill_tool", call).await;
    assert_eq!(called["structuredContent"]["output"], text(&called));
}

#[tokio::test(flavor = "multi_thread")]
async fn script_tools_are_annotated_as_destructive_and_open_world() {
    let home = folder(HOME);
    let server = Server::new(allowed(&home), Options::default());
    let client = Client::connect(server, ClientLifecycleMode::Initialize).await;
    client
        .call("load_skill", json!({ "skill_id": "pdf" }))
        .await;
    let listed = client.ask("tools/list", json!({})).await;
    let mut running = Vec::new();
    for tool in listed["tools"].as_array().unwrap() {
        let hints = &tool["annotations"];
        let runs = hints["readOnlyHint"] == false;
        for hint in ["destructiveHint", "openWorldHint"] {
            assert_eq!(hints[hint], runs, "{tool}");
        }
        assert_eq!(hints["idempotentHint"], !runs, "{tool}");
        if runs {
            running.push(tool["name"].as_str().unwrap().to_owned());
        }
    }
    running.sort();
    assert_eq!(
        running,
        ["call_skill_tool", "pdf__count", "run_skill_script"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sessionless_client_calls_skill_tools_through_a_permanent_tool() {
    needs_sandbox!();
    let home = folder(HOME);
    let client = Client::of(Server::new(allowed(&home), Options::default())).await;
    let loaded = client
        .call("load_skill", json!({ "skill_id": "pdf" }))
        .await;
    let loaded = text(&loaded);
    assert!(
        loaded.contains("`call_skill_tool` calls its tool `count`: Counts letters."),
        "{loaded}"
    );
    let call = json!({ "skill_id": "pdf", "tool": "count", "arguments": { "text": "four" } });
    assert_eq!(
        text(&client.call("call_skill_tool", call).await).trim(),
        "4"
    );
    let script = json!({ "skill_id": "pdf", "script": "scripts/count.py", "input": "{\"text\": \"seven\"}" });
    assert_eq!(
        text(&client.call("run_skill_script", script).await).trim(),
        "5"
    );
}

/// Calls a script; with an answer, as a client that was asked by the result before.
async fn run(client: &Client, asked: Option<(&Value, &str)>) -> Value {
    let mut call = json!({
        "name": "run_skill_script",
        "arguments": { "skill_id": "pdf", "script": "scripts/count.py", "input": "{\"text\": \"four\"}" },
    });
    if let Some((question, action)) = asked {
        call["requestState"] = question["requestState"].clone();
        call["inputResponses"] = json!({ "allow": { "action": action, "content": {} } });
    }
    client.ask("tools/call", call).await
}

#[tokio::test(flavor = "multi_thread")]
async fn sessionless_client_with_forms_asks_the_user() {
    needs_sandbox!();
    let home = folder(HOME);
    let skills = skills(&home);
    let client = Client::with_forms(Server::new(skills.clone(), Options::default())).await;
    let refused = run(&client, None).await;
    assert!(text(&refused).starts_with("Refused to run"), "{refused}");

    let approval = Approval::by_host("anna");
    skills.set_client_approval(true, &approval).unwrap();
    let question = run(&client, None).await;
    assert_eq!(question["resultType"], "input_required");
    let form = &question["inputRequests"]["allow"];
    assert_eq!(form["method"], "elicitation/create");
    insta::assert_snapshot!(form["params"]["message"].as_str().unwrap());

    let declined = run(&client, Some((&question, "decline"))).await;
    assert!(text(&declined).starts_with("Refused to run"), "{declined}");
    let again = run(&client, Some((&question, "accept"))).await;
    assert!(text(&again).starts_with("Refused to run"), "{again}");
    let invented = json!({ "requestState": "0123456789abcdef0123456789abcdef" });
    let invented = run(&client, Some((&invented, "accept"))).await;
    assert!(text(&invented).starts_with("Refused to run"), "{invented}");
    assert!(skills.runnable("pdf").unwrap().allowed().is_none());

    let question = run(&client, None).await;
    let ran = run(&client, Some((&question, "accept"))).await;
    assert_eq!(text(&ran).trim(), "4");
    assert_eq!(text(&run(&client, None).await).trim(), "4");
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test changes a skill that the server reads"
)]
#[tokio::test(flavor = "multi_thread")]
async fn yes_to_a_skill_that_changed_meanwhile_does_not_let_it_run() {
    let home = folder(HOME);
    let skills = skills(&home);
    let approval = Approval::by_host("anna");
    skills.set_client_approval(true, &approval).unwrap();
    let client = Client::with_forms(Server::new(skills, Options::default())).await;
    let question = run(&client, None).await;
    let script = home.path().join(".agents/skills/pdf/scripts/count.py");
    std::fs::write(script, "print('something else')\n").unwrap();
    let refused = run(&client, Some((&question, "accept"))).await;
    assert!(text(&refused).starts_with("Refused to run"), "{refused}");
}
