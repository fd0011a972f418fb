//! The server follows the skills: each request sees the snapshot of its time, and of it what a model may see.

use serde_json::json;
use skillfold::{Environment, Host};
use skillfold_mcp::{Options, Server};
use skillfold_testkit::{files, folder, write};

use crate::client::Client;

const OWN: &str = "
    //- .agents/skills/own/SKILL.md
    ---
    name: own
    description: Came with the project
    ---
    Do it.
";

#[tokio::test]
async fn skills_of_a_project_that_is_not_trusted_are_nowhere() {
    let project = folder(OWN);
    let skills = |trust: &str| {
        let host = Host::new(Environment::new(project.path()));
        host.set("trust_project", trust).discover().unwrap()
    };
    let server = |trust| Server::new(skills(trust), Options::default());
    for (trust, count) in [("false", 0), ("true", 1)] {
        let client = Client::of(server(trust)).await;
        assert_eq!(client.instructions().is_some(), count == 1);
        for (method, items) in [
            ("prompts/list", "prompts"),
            ("resources/list", "resources"),
            ("skills/list", "skills"),
        ] {
            let listed = client.ask(method, json!({})).await;
            let found = listed[items].as_array().unwrap().len();
            assert_eq!(found, count, "{method} {listed}");
        }
    }
    let client = Client::of(server("false")).await;
    for (method, params) in [
        ("prompts/get", json!({ "name": "own" })),
        ("skills/get", json!({ "uri": "skill://own/SKILL.md" })),
        ("resources/read", json!({ "uri": "skill://own/SKILL.md" })),
        ("resources/directory/read", json!({ "uri": "skill://own" })),
    ] {
        let error = client.refused(method, params).await;
        assert_eq!(error.code.0, -32602, "{method}");
        assert!(!format!("{error:?}").contains("Came with"), "{error:?}");
    }
}

#[tokio::test]
async fn each_request_sees_the_snapshot_of_its_time() {
    let project = folder(OWN);
    let host = Host::new(Environment::new(project.path())).set("trust_project", "true");
    let skills = host.discover().unwrap();
    let client = Client::of(Server::new(skills.clone(), Options::default())).await;
    let ids = async || {
        let tools = client.ask("tools/list", json!({})).await;
        tools["tools"][2]["inputSchema"]["properties"]["skill_id"]["enum"].to_string()
    };
    assert_eq!(ids().await, r#"["own"]"#);
    write(
        project.path(),
        &files(&OWN.replace("own", "new").replace("Came with", "Came after")),
    );
    skills.refresh().unwrap();
    assert_eq!(ids().await, r#"["new","own"]"#);
    let loaded = client
        .call("load_skill", json!({ "skill_id": "new" }))
        .await;
    assert_eq!(loaded["isError"], false, "{loaded}");
}
