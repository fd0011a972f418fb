//! Scripts work on the project of the client.

use std::path::Path;

use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use skillfold::store::Approval;
use skillfold::{Environment, Host, Skills};
use skillfold_mcp::{Options, Server};
use skillfold_testkit::folder;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

const HOME: &str = "//- .agents/skills/words/SKILL.md
---
name: words
description: Counts words
permissions: { project: read }
toolsets: [\"tools.json\"]
---
Count.
//- .agents/skills/words/count.sh
cat \"${1:-a.txt}\"
//- .agents/skills/words/tools.json
{\"tools\": [{\"name\": \"show\", \"description\": \"Shows it.\", \"script\": \"count.sh\"}]}
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

/// A client that says in which folders it works, if it has roots.
struct Client {
    reader: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    roots: Option<Vec<String>>,
    /// How often the server asked for them.
    asked: usize,
    last_id: u64,
}

impl Client {
    async fn connect(server: Server, roots: Option<&[&Path]>) -> Self {
        let (here, there) = tokio::io::duplex(64 * 1024);
        tokio::spawn(async move {
            let service = server.serve(there).await.unwrap();
            service.waiting().await.unwrap();
        });
        let (reader, writer) = tokio::io::split(here);
        let mut client = Self {
            reader: BufReader::new(reader).lines(),
            writer,
            roots: roots.map(uris),
            asked: 0,
            last_id: 0,
        };
        let capabilities = roots.map_or_else(|| json!({}), |_| json!({ "roots": {} }));
        let introduction = json!({
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": { "name": "t", "version": "1" },
        });
        client.ask("initialize", introduction).await;
        client.notify("notifications/initialized").await;
        client
    }

    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    async fn notify(&mut self, method: &str) {
        self.send(json!({ "jsonrpc": "2.0", "method": method }))
            .await;
    }

    /// Reads messages, and answers what the server asks, until one is the wanted one.
    async fn until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.reader.next_line().await.unwrap().expect("an answer");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] == "roots/list" {
                self.asked += 1;
                let roots = self.roots.iter().flatten();
                let roots: Vec<Value> = roots.map(|uri| json!({ "uri": uri })).collect();
                let answer = json!({ "roots": roots });
                let id = &message["id"];
                self.send(json!({ "jsonrpc": "2.0", "id": id, "result": answer }))
                    .await;
            } else if is_wanted(&message) {
                return message;
            }
        }
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        let mut answer = self.until(|message| message["id"] == id).await;
        answer["result"].take()
    }

    /// Calls a tool, and returns the texts of the answer.
    async fn call(&mut self, tool: &str, arguments: Value) -> String {
        let call = json!({ "name": tool, "arguments": arguments });
        let answer = self.ask("tools/call", call).await;
        let blocks = answer["content"].as_array().cloned().unwrap_or_default();
        let texts = blocks
            .iter()
            .map(|block| block["text"].as_str().unwrap_or_default());
        texts.collect::<Vec<_>>().join("\n")
    }

    async fn load(&mut self) -> String {
        self.call("load_skill", json!({ "skill_id": "words" }))
            .await
    }

    async fn has_tool(&mut self, name: &str) -> bool {
        let listed = self.ask("tools/list", json!({})).await;
        let mut tools = listed["tools"].as_array().unwrap().iter();
        tools.any(|tool| tool["name"] == name)
    }

    /// Says that it works elsewhere now, and waits until the server has heard it.
    async fn change_roots(&mut self, roots: &[&Path]) {
        self.roots = Some(uris(roots));
        self.notify("notifications/roots/list_changed").await;
        let heard = |message: &Value| message["method"] == "notifications/tools/list_changed";
        self.until(heard).await;
    }
}

fn uris(roots: &[&Path]) -> Vec<String> {
    let uri = |root: &&Path| format!("file://{}", root.display());
    roots.iter().map(uri).collect()
}

/// Returns what a client with these roots gets for a run of the script.
async fn run(server: Server, roots: Option<&[&Path]>) -> String {
    let arguments = json!({ "skill_id": "words", "script": "count.sh", "arguments": ["a.txt"] });
    let mut client = Client::connect(server, roots).await;
    client.call("run_skill_script", arguments).await
}

#[tokio::test(flavor = "multi_thread")]
async fn project_is_the_root_of_the_client_then_the_working_folder() {
    needs_sandbox!();
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
    // One that is no project does not stand in the way of the one inside it.
    let around: [&Path; 2] = [Path::new("/"), &app];
    assert_eq!(run(on_stdio(&app), Some(&around)).await, "in app\n");
    // A server for many clients knows no project, whatever a client says.
    let shared = || Server::new(skills(&home, &app), Options::default());
    for roots in [None, Some(&[&*other][..])] {
        let told = run(shared(), roots).await;
        assert!(told.contains("No such file"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn loading_and_tools_are_for_the_project_of_the_client_and_it_is_asked_once() {
    needs_sandbox!();
    let home = folder(HOME);
    let home = home.path().canonicalize().unwrap();
    let (app, other) = (home.join("app"), home.join("other"));
    let skills = skills(&home, &app);
    let skill = skills.runnable_in("words", Some(&other)).unwrap();
    skills.allow(&skill, &Approval::by_host("anna")).unwrap();
    let server = Server::new(skills, Options::default().project(&app));
    // It is not allowed in the folder that the server was started in.
    let mut client = Client::connect(server, Some(&[&other])).await;
    let loaded = client.load().await;
    assert!(loaded.contains("calls its tool `show`"), "{loaded}");
    assert!(client.has_tool("words__show").await);
    assert_eq!(client.call("words__show", json!({})).await, "in other\n");
    assert_eq!(client.asked, 1);

    client.change_roots(&[&app]).await;
    assert!(!client.has_tool("words__show").await);
    let loaded = client.load().await;
    assert!(!loaded.contains("calls its tool"), "{loaded}");
    client.change_roots(&[&other]).await;
    assert!(client.has_tool("words__show").await);
    assert_eq!(client.asked, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn client_is_not_asked_for_roots_if_models_run_nothing() {
    let home = folder(HOME);
    let environment = Environment::new(home.path()).home(home.path());
    let skills = Host::new(environment).discover().unwrap().skills;
    let server = Server::new(skills, Options::default().project(home.path()));
    let mut client = Client::connect(server, Some(&[home.path()])).await;
    client.load().await;
    assert!(!client.has_tool("words__show").await);
    assert_eq!(client.asked, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn model_is_told_why_a_script_does_not_see_a_file() {
    needs_sandbox!();
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
