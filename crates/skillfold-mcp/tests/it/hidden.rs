//! What a model may not see does not exist: every request is answered as if the skill were not there.

use serde_json::{Value, json};
use skillfold::{Environment, Host};
use skillfold_mcp::{Options, Server};
use skillfold_testkit::{
    CANARY, HIDDEN_ID, HIDING_SETTINGS, VISIBLE_SKILLS, accepted_list, files, folder,
    hidden_skills, queries_for_hidden, write,
};

use crate::client::Client;
use crate::observed::indexed;

/// Who reads the response to a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answers {
    Model,
    Person,
}

type Request = (Answers, &'static str, Value);

/// Returns every request that can lead to a skill, by each word.
fn requests() -> Vec<Request> {
    let tool = |name: &str, arguments: Value| {
        let params = json!({ "name": name, "arguments": arguments });
        (Answers::Model, "tools/call", params)
    };
    let mut requests = vec![
        (Answers::Model, "tools/list", json!({})),
        (Answers::Model, "resources/list", json!({})),
        (Answers::Model, "resources/templates/list", json!({})),
        (Answers::Model, "skills/list", json!({})),
        (Answers::Person, "prompts/list", json!({})),
        tool("list_skills", json!({})),
        tool("search_skills", json!({ "query": CANARY })),
        tool("list_skills", json!({ "query": CANARY })),
        tool("load_skill", json!({ "skill_id": "heron" })),
        tool("read_skill", json!({ "skill_id": "heron" })),
    ];
    for word in queries_for_hidden() {
        requests.extend([
            tool("list_skills", json!({ "query": word })),
            tool("list_skills", json!({ "cursor": word })),
            tool("list_skills", json!({ "query": "birds", "cursor": word })),
            tool("search_skills", json!({ "query": word })),
            tool("load_skill", json!({ "skill_id": word })),
            tool("load_skill", json!({ "skill_id": word, "arguments": "x" })),
            tool("read_skill", json!({ "skill_id": word })),
        ]);
        for path in ["SKILL.md", "notes.md", "nothing.md", "../heron/SKILL.md"] {
            requests.push(tool(
                "read_skill_resource",
                json!({ "skill_id": word, "path": path }),
            ));
            let uri = format!("skill://{word}/{path}");
            requests.extend([
                (Answers::Model, "resources/read", json!({ "uri": uri })),
                (Answers::Model, "skills/get", json!({ "uri": uri })),
            ]);
        }
        let uri = format!("skill://{word}");
        let complete = json!({
            "ref": { "type": "ref/prompt", "name": word },
            "argument": { "name": "arguments", "value": "k" },
        });
        requests.extend([
            (
                Answers::Model,
                "resources/directory/read",
                json!({ "uri": uri }),
            ),
            (Answers::Model, "completion/complete", complete),
            (Answers::Person, "prompts/get", json!({ "name": word })),
        ]);
    }
    requests
}

/// Returns a server's response to each request, with the user's skills and some more.
async fn answers(more: &str) -> Vec<String> {
    answers_with(more, Options::default()).await
}

async fn answers_with(more: &str, options: Options) -> Vec<String> {
    answers_to(more, options, ("tester", "1.0")).await
}

/// Returns the responses to a client with this name and version.
async fn answers_to(more: &str, options: Options, (name, version): (&str, &str)) -> Vec<String> {
    let folder = folder(VISIBLE_SKILLS);
    write(folder.path(), &files(more));
    write(folder.path(), &files(&accepted_list(folder.path())));
    let person = folder.path().join("person");
    let environment = Environment::new(person.join("app")).home(&person);
    let mut host = Host::new(environment);
    for (key, value) in HIDING_SETTINGS {
        host = host.set(key, value);
    }
    let skills = indexed(host.discover().unwrap().skills);
    let client = Client::named(Server::new(skills, options), name, version).await;
    let mut answers = vec![client.instructions().unwrap()];
    for (_, method, params) in requests() {
        answers.push(match client.try_ask(method, params).await {
            Ok(answer) => answer.to_string(),
            Err(error) => serde_json::to_string(&error).unwrap(),
        });
    }
    let place = folder.path().to_string_lossy();
    let shown = |answer: &String| answer.replace(&*place, "");
    answers.iter().map(shown).collect()
}

#[tokio::test]
async fn requests_cannot_distinguish_hidden_skills_from_missing_ones() {
    let without = answers("").await;
    assert!(without.iter().any(|answer| answer.contains("Watch birds")));
    for (why, tree) in hidden_skills() {
        let with = answers(&tree).await;
        assert_eq!(with[0], without[0], "{why}: instructions");
        let requests = requests();
        let pairs = requests.iter().zip(with[1..].iter().zip(&without[1..]));
        for ((reader, method, params), (with, without)) in pairs {
            // A user may start what only users may start.
            if *reader == Answers::Person && why.starts_with("people only") {
                continue;
            }
            assert!(!with.contains(CANARY), "{why}: {method} {params}: {with}");
            assert_eq!(with, without, "{why}: {method} {params}");
        }
    }
}

#[tokio::test]
async fn user_only_skill_is_a_prompt_and_nothing_else() {
    let (_, tree) = hidden_skills().swap_remove(0);
    let with = answers(&tree).await;
    for ((reader, method, params), answer) in requests().iter().zip(&with[1..]) {
        let is_it = *reader == Answers::Person
            && (*method == "prompts/list" || canonical(&params["name"]) == HIDDEN_ID);
        assert_eq!(
            answer.contains(CANARY),
            is_it,
            "{method} {params}: {answer}"
        );
    }
}

/// Normalizes a name's case and scope, which do not affect the skill it refers to.
fn canonical(name: &Value) -> String {
    let name = name.as_str().unwrap_or_default().to_lowercase();
    name.strip_prefix("user:").unwrap_or(&name).to_owned()
}

#[tokio::test]
async fn agent_limited_to_its_own_skills_gets_no_byte_of_another() {
    const AGENT: &str = "
        //- person/.config/skillfold/config.toml
        [agents.clerk]
        uses_skills = ['heron']
        sees = 'used'
    ";
    let other = format!(
        "//- person/.agents/skills/kestrel/SKILL.md\n---\nname: kestrel\ndescription: Hunts birds {CANARY}\ntags: \
         [{CANARY}]\ntriggers: [hunt birds]\n---\nHunt birds {CANARY}.\n\
         //- person/.agents/skills/kestrel/notes.md\n{CANARY}\n"
    );
    let agent = || Options::default().agent("clerk").structured();
    let settings = AGENT.replace("\n        ", "\n").trim_end().to_owned() + "\n";
    let without = answers_with(&settings, agent()).await;
    let with = answers_with(&format!("{settings}{other}"), agent()).await;
    let requests = requests();
    assert!(requests.len() >= 200, "{}", requests.len());
    assert_eq!(with[0], without[0], "instructions");
    for ((_, method, params), (with, without)) in
        requests.iter().zip(with[1..].iter().zip(&without[1..]))
    {
        assert!(!with.contains(CANARY), "{method} {params}: {with}");
        assert_eq!(with, without, "{method} {params}");
    }
    // The same skill exists for everyone else, so the test can fail.
    let all = answers(&format!("{settings}{other}")).await;
    assert!(all.iter().filter(|answer| answer.contains(CANARY)).count() > 20);
}

#[tokio::test]
async fn client_gets_no_byte_of_a_skill_for_another_client_version() {
    let (_, tree) = hidden_skills().swap_remove(0);
    let needing = |engines: &str| tree.replace("disable-model-invocation: true", engines);
    let needing = needing("engines: { tester: '>=2.0' }");
    let answers = |tree: String, version: &'static str| async move {
        answers_to(&tree, Options::default(), ("tester", version)).await
    };
    let without = answers(String::new(), "1.9").await;
    let with = answers(needing.clone(), "1.9").await;
    for ((_, method, params), (with, without)) in
        requests().iter().zip(with[1..].iter().zip(&without[1..]))
    {
        assert!(!with.contains(CANARY), "{method} {params}: {with}");
        assert_eq!(with, without, "{method} {params}");
    }
    assert_eq!(with[0], without[0], "instructions");
    // A newer version gets it, so the test can fail.
    let newer = answers(needing, "2.0").await;
    assert!(
        newer
            .iter()
            .filter(|answer| answer.contains(CANARY))
            .count()
            > 20
    );
}
