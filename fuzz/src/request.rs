//! Any line as a request of a client: the server answers with whole messages of the protocol or not at all, and goes on.

use std::sync::LazyLock;
use std::time::Duration;

use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use skillfold::core::MemorySource;
use skillfold::{Environment, Host};
use skillfold_mcp::{Options, Server};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::runtime::{Builder, Runtime};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
});

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let source = MemorySource::new([
        (
            "pdf/SKILL.md",
            "---\nname: pdf\ndescription: Fills in forms\n---\nFill in $ARGUMENTS.\n",
        ),
        ("pdf/references/forms.md", "# Forms\n"),
        (
            "deploy/SKILL.md",
            "---\nname: deploy\ndescription: Deploys\ndisable-model-invocation: true\n---\nSECRET\n",
        ),
    ]);
    let host = Host::new(Environment::new("/nowhere")).bundled("built in", source);
    Server::new(host.discover().expect("skills").skills, Options::default())
});

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"fuzz","version":"0"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LAST: &str = r#"{"jsonrpc":"2.0","id":"the last one","method":"ping"}"#;

/// What clients ask for; a line that is no object is the text of such a request.
fn requests(text: &str) -> Vec<String> {
    if text.trim_start().starts_with(['{', '[']) {
        return vec![text.replace(['\n', '\r'], " ")];
    }
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    let asked = [
        (
            "tools/call",
            call("load_skill", json!({ "skill_id": text, "arguments": text })),
        ),
        (
            "tools/call",
            call(
                "load_skill",
                json!({ "skill_id": "pdf", "arguments": text }),
            ),
        ),
        (
            "tools/call",
            call("search_skills", json!({ "query": text })),
        ),
        (
            "tools/call",
            call("list_skills", json!({ "query": text, "cursor": text })),
        ),
        (
            "tools/call",
            call(
                "read_skill_resource",
                json!({ "skill_id": "pdf", "path": text }),
            ),
        ),
        ("resources/read", json!({ "uri": text })),
        (
            "prompts/get",
            json!({ "name": text, "arguments": { "arguments": text } }),
        ),
        ("tools/list", json!({ "cursor": text })),
    ];
    let message = |(method, params)| json!({ "jsonrpc": "2.0", "id": text, "method": method, "params": params });
    asked.map(message).iter().map(Value::to_string).collect()
}

pub(crate) fn run(text: &str) {
    RUNTIME.block_on(async {
        for request in requests(text) {
            let answers = tokio::time::timeout(Duration::from_secs(5), answers(&request))
                .await
                .expect("an answer in time");
            for answer in answers {
                let value: Value = serde_json::from_str(&answer).expect("JSON");
                assert_eq!(value["jsonrpc"], "2.0", "{answer}");
            }
        }
    });
}

/// Sends a request after the handshake, and returns everything that comes back until the server answers the last one, or
/// closes the connection.
async fn answers(request: &str) -> Vec<String> {
    let (here, there) = tokio::io::duplex(1 << 20);
    let server = SERVER.clone();
    let serving = tokio::spawn(async move {
        if let Ok(service) = server.serve(there).await {
            let _ = service.waiting().await;
        }
    });
    let (from, mut to) = tokio::io::split(here);
    let all = [INITIALIZE, INITIALIZED, request, LAST].join("\n") + "\n";
    let _ = to.write_all(all.as_bytes()).await;
    let mut lines = BufReader::new(from).lines();
    let mut answers = Vec::new();
    while let Ok(Some(line)) = lines.next_line().await {
        let is_last = line.contains("the last one");
        answers.push(line);
        if is_last {
            break;
        }
    }
    drop((lines, to));
    serving.abort();
    answers
}
