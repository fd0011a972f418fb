//! Scripts work on the project of the client.

use std::path::Path;

use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use skillfold::store::Approval;
use skillfold::{Environment, Host, Skills};
use skillfold_mcp::{Options, Server};
use skillfold_testkit::folder;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

const HOME: &str = "//- .agents/skills/words/SKILL.md
---
name: words
description: Counts words
permissions: { project: read }
---
Count.
//- .agents/skills/words/count.sh
cat \"$1\"
//- app/a.txt
in app
//- other/a.txt
in other
";

fn skills(home: &Path, directory: &Path) -> Skills {
    let environment = Environment::new(directory).home(home);
    let host = Host::new(environment).set("scripts", "on");
    host.discover().unwrap().skills
}

/// Returns what a client with these roots gets for a run of the script.
async fn run(server: Server, roots: Option<&[&Path]>) -> String {
    let (here, there) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        let service = server.serve(there).await.unwrap();
        service.waiting().await.unwrap();
    });
    let (reader, mut writer) = tokio::io::split(here);
    let mut lines = BufReader::new(reader).lines();
    let capabilities = roots.map_or_else(|| json!({}), |_| json!({ "roots": {} }));
    let initialize = json!({
        "protocolVersion": "2025-11-25", "capabilities": capabilities,
        "clientInfo": { "name": "t", "version": "1" },
    });
    let arguments = json!({ "skill_id": "words", "script": "count.sh", "arguments": ["a.txt"] });
    let call = json!({ "name": "run_skill_script", "arguments": arguments });
    let mut said = vec![
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
    ];
    loop {
        for message in said.drain(..) {
            let line = format!("{message}\n");
            writer.write_all(line.as_bytes()).await.unwrap();
        }
        let line = lines.next_line().await.unwrap().expect("an answer");
        let message: Value = serde_json::from_str(&line).unwrap();
        if message["method"] == "roots/list" {
            let uri = |root: &&Path| json!({ "uri": format!("file://{}", root.display()) });
            let roots: Vec<Value> = roots.unwrap_or_default().iter().map(uri).collect();
            let result = json!({ "roots": roots });
            said.push(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
        } else if message["id"] == 2 {
            let text = message["result"]["content"][0]["text"].as_str();
            return text.unwrap_or_default().to_owned();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn project_is_the_root_of_the_client_then_the_working_folder() {
    let home = folder(HOME);
    let home = home.path().canonicalize().unwrap();
    let (app, other) = (home.join("app"), home.join("other"));
    for project in [&app, &other] {
        let skills = skills(&home, project);
        let skill = skills.runnable("words").unwrap();
        skills.allow(&skill, &Approval::by_host("anna")).unwrap();
    }
    let on_stdio = |directory: &Path| {
        let options = Options::default().project(directory);
        Server::new(skills(&home, directory), options)
    };
    assert_eq!(run(on_stdio(&app), None).await, "in app\n");
    assert_eq!(run(on_stdio(&app), Some(&[&other])).await, "in other\n");
    // Among several roots, the one that the server was started in.
    let both: [&Path; 2] = [&other, &app];
    assert_eq!(run(on_stdio(&app), Some(&both)).await, "in app\n");
    assert_eq!(run(on_stdio(&app), Some(&[])).await, "in app\n");
    // A server for many clients knows no project, whatever a client says.
    let shared = || Server::new(skills(&home, &app), Options::default());
    for roots in [None, Some(&[&*other][..])] {
        let told = run(shared(), roots).await;
        assert!(told.contains("No such file"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn model_is_told_why_a_script_does_not_see_a_file() {
    let home = folder(HOME);
    let home = home.path().canonicalize().unwrap();
    let app = home.join("app");
    let skills = skills(&home, &app);
    let skill = skills.runnable("words").unwrap();
    let skill = skill.with_project(skillfold::scripts::ProjectAccess::None);
    skills.allow(&skill, &Approval::by_host("anna")).unwrap();
    let server = Server::new(skills, Options::default().project(&app));
    insta::assert_snapshot!(run(server, None).await, @"
    [stderr]
    cat: a.txt: No such file or directory
    [The script failed with exit code 1]
    [`a.txt` is in your project, which this skill may not read: `skillfold allow words --project read`]
    ");
}
