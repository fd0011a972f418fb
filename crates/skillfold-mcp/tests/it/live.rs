//! The server follows the skills: each request sees the current snapshot, and of it what a model may see.

use std::time::Duration;

use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient, ServiceExt as _};
use serde_json::json;
use skillfold::{Environment, Host};
use skillfold_mcp::{Options, Server};
use skillfold_testkit::{files, folder, write};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;

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
async fn skills_of_an_untrusted_project_appear_nowhere() {
    let project = folder(OWN);
    let skills = |trust: &str| {
        let host = Host::new(Environment::new(project.path()));
        host.set("trust_project", trust).discover().unwrap().skills
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
async fn each_request_sees_the_current_snapshot() {
    let project = folder(OWN);
    let host = Host::new(Environment::new(project.path())).set("trust_project", "true");
    let skills = host.discover().unwrap().skills;
    let client = Client::of(Server::new(skills.clone(), Options::default())).await;
    let ids = async || {
        let listed = client.call("list_skills", json!({})).await;
        let text = listed["content"][0]["text"].as_str().unwrap();
        let lines = text.lines().filter_map(|line| line.strip_prefix("- "));
        let ids = lines.filter_map(|line| line.split(':').next());
        ids.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids().await, "own");
    write(
        project.path(),
        &files(&OWN.replace("own", "new").replace("Came with", "Came after")),
    );
    skills.refresh().unwrap();
    assert_eq!(ids().await, "new own");
    let loaded = client
        .call("load_skill", json!({ "skill_id": "new" }))
        .await;
    assert_eq!(loaded["isError"], false, "{loaded}");
}

#[test]
fn queued_request_sees_the_snapshot_after_the_wait() {
    for (tool, arguments) in [
        ("load_skill", json!({ "skill_id": "own" })),
        (
            "read_skill_resource",
            json!({ "skill_id": "own", "path": "SKILL.md" }),
        ),
    ] {
        let project = folder(OWN);
        let host = Host::new(Environment::new(project.path())).set("trust_project", "true");
        let skills = host.discover().unwrap().skills;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .max_blocking_threads(1)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let client = Client::of(Server::new(skills.clone(), Options::default())).await;
            // The only thread that could answer is busy until the skill is gone.
            let (done, busy) = std::sync::mpsc::channel::<()>();
            let waiting = tokio::task::spawn_blocking(move || busy.recv().is_err());
            let call = tokio::spawn(async move { client.call(tool, arguments).await });
            tokio::time::sleep(Duration::from_millis(300)).await;
            std::fs::remove_dir_all(project.path().join(".agents")).unwrap();
            skills.refresh().unwrap();
            drop(done);
            waiting.await.unwrap();
            let answer = call.await.unwrap().to_string();
            assert!(!answer.contains("Came with"), "{tool}: {answer}");
            assert!(!answer.contains("Do it"), "{tool}: {answer}");
        });
    }
}

/// A client that records its notifications.
struct Ear(UnboundedSender<&'static str>);

impl ClientHandler for Ear {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.send("tools").unwrap();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.send("prompts").unwrap();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.send("resources").unwrap();
    }
}

#[tokio::test]
async fn initialized_client_is_notified_of_each_change() {
    let server = Server::new(crate::client::skills("", &[]), Options::default());
    let (here, there) = tokio::io::duplex(64 * 1024);
    let serving = server.clone();
    tokio::spawn(async move {
        let service = serving.serve(there).await.expect("a client came");
        service.waiting().await.expect("nothing panicked");
    });
    let (told, mut heard) = unbounded_channel();
    let _client = Ear(told).serve(here).await.unwrap();
    // The server notices the end of the handshake at some point; from then on each change is notified.
    let mut first = None;
    while first.is_none() {
        server.notify_changed();
        first = timeout(Duration::from_millis(200), heard.recv()).await.ok();
    }
    let mut kinds = vec![first.unwrap().unwrap()];
    for _ in 1..3 {
        kinds.push(heard.recv().await.unwrap());
    }
    assert_eq!(kinds, ["tools", "prompts", "resources"]);
}

#[tokio::test]
async fn client_that_sends_initialized_twice_is_notified_once() {
    let server = Server::new(crate::client::skills("", &[]), Options::default());
    let (here, there) = tokio::io::duplex(64 * 1024);
    let serving = server.clone();
    tokio::spawn(async move {
        let service = serving.serve(there).await.expect("a client came");
        service.waiting().await.expect("nothing panicked");
    });
    let (read, mut write) = tokio::io::split(here);
    let mut lines = BufReader::new(read).lines();
    let ready = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    let ping = |id: u32| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
    let said = format!(
        "{}\n{}{}",
        crate::http::INITIALIZE,
        ready.repeat(5),
        ping(2)
    );
    write.write_all(said.as_bytes()).await.unwrap();
    // Any of the tasks may notify each change; the response to a later request comes after them.
    let mut told = 0;
    for round in 0..20 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        server.notify_changed();
        tokio::time::sleep(Duration::from_millis(50)).await;
        write.write_all(ping(100 + round).as_bytes()).await.unwrap();
        let mut now = 0;
        loop {
            let line = lines.next_line().await.unwrap().unwrap();
            now += usize::from(line.contains("tools/list_changed"));
            if line.contains(&format!("\"id\":{}", 100 + round)) {
                break;
            }
        }
        assert!(now <= 1, "{now} notices of one change");
        told += now;
    }
    assert!(told > 0);
}
