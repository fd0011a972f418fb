//! Over HTTP, everybody gets the skills of their role, and nothing of anybody else.
#![expect(clippy::disallowed_methods, reason = "tests change a file of tokens")]

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};
use skillfold::{Environment, Host};
use skillfold_http::{Identities, NamedToken, Role, Token, TokenFile, TokenScope, TokenScopes};
use skillfold_mcp::{HttpAccess, HttpOptions, Options, Server};
use skillfold_testkit::{files, write};
use tempfile::TempDir;

use crate::http::{FORM, INITIALIZE, ask, start};

/// Three teams, each with a skill that nobody else may see, and one that every team has.
const TEAMS: [&str; 3] = ["red", "green", "blue"];

/// A server with a token for each team.
struct Teams {
    address: SocketAddr,
    tokens: Vec<Token>,
    folder: TempDir,
}

fn teams(settings: &str, scopes: TokenScopes, change: impl Fn(&mut Role)) -> Teams {
    let folder = tempfile::tempdir().unwrap();
    let mut tree = String::from("//- .config/skillfold/config.toml\n");
    for team in TEAMS {
        let agent =
            format!("[agents.{team}]\nuses_skills = ['{team}-secret', 'shared']\nsees = 'used'\n");
        tree.push_str(&agent);
    }
    tree += "//- .agents/skills/shared/SKILL.md\n---\nname: shared\ndescription: What every team has\n---\nShared\n";
    for team in TEAMS {
        let skill = format!(
            "//- .agents/skills/{team}-secret/SKILL.md\n---\nname: {team}-secret\ndescription: The secret of {team}\n---\nSecret of {team}\n\
             //- .agents/skills/{team}-secret/notes.md\nNotes of {team}\n"
        );
        tree.push_str(&skill);
    }
    write(folder.path(), &files(&tree));
    let mut host = Host::new(Environment::new(folder.path()).home(folder.path()));
    for setting in settings.split_whitespace() {
        let (key, value) = setting.split_once('=').unwrap();
        host = host.set(key, value);
    }
    let skills = host.discover().unwrap().skills;
    let file = folder.path().join("tokens.toml");
    let tokens: Vec<_> = TEAMS.iter().map(|team| add(&file, team, scopes)).collect();
    let roles = TEAMS.map(|team| {
        let mut role = Role::new(team);
        role.tokens = vec![team.to_owned()];
        role.agent = Some(team.to_owned());
        change(&mut role);
        role
    });
    let identities = Identities::new(roles).with_tokens(TokenFile::open(&file).unwrap());
    let access = HttpAccess::Identities(Arc::new(identities));
    let options = HttpOptions::new((Ipv4Addr::LOCALHOST, 0).into(), access);
    let address = start(Server::new(skills, Options::default()), options);
    Teams {
        address,
        tokens,
        folder,
    }
}

fn add(file: &Path, name: &str, scopes: TokenScopes) -> Token {
    let (mut named, token) = (NamedToken::new(name).unwrap(), Token::random().unwrap());
    named.scopes = scopes;
    let text = fs::read_to_string(file).unwrap_or_default();
    fs::write(file, TokenFile::with_token(&text, &named, &token).unwrap()).unwrap();
    token
}

impl Teams {
    /// Sends a message with a token in a session, and returns the whole response.
    fn say(&self, token: &Token, session: &str, body: &str) -> String {
        let (address, form, length) = (self.address, FORM.join("\r\n"), body.len());
        let token = token.reveal();
        let session = match session {
            "" => String::new(),
            session => format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n"),
        };
        ask(
            address,
            &format!(
                "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{form}\r\n{session}Authorization: Bearer {token}\r\n\
                 Content-Length: {length}\r\n\r\n{body}"
            ),
        )
    }

    /// Begins a session, and returns its id and the instructions.
    fn begin(&self, token: &Token) -> (String, String) {
        let answer = self.say(token, "", INITIALIZE);
        let id = answer
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "));
        let id = id.unwrap_or_else(|| panic!("{answer}")).trim().to_owned();
        self.say(
            token,
            &id,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        );
        (id, answer)
    }

    fn request(&self, token: &Token, session: &str, method: &str, params: &Value) -> String {
        let message = json!({ "jsonrpc": "2.0", "id": 2, "method": method, "params": params });
        self.say(token, session, &message.to_string())
    }
}

/// Returns every request that may lead to a team's skill.
fn requests(team: &str) -> Vec<(&'static str, Value)> {
    let secret = format!("{team}-secret");
    let tool = |name: &str, arguments: Value| {
        (
            "tools/call",
            json!({ "name": name, "arguments": arguments }),
        )
    };
    vec![
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("prompts/list", json!({})),
        ("skills/list", json!({})),
        ("prompts/get", json!({ "name": secret })),
        (
            "resources/read",
            json!({ "uri": format!("skill://{secret}/SKILL.md") }),
        ),
        (
            "resources/read",
            json!({ "uri": format!("skill://{secret}/notes.md") }),
        ),
        (
            "resources/directory/read",
            json!({ "uri": format!("skill://{secret}") }),
        ),
        (
            "skills/get",
            json!({ "uri": format!("skill://{secret}/SKILL.md") }),
        ),
        tool("list_skills", json!({})),
        tool("list_skills", json!({ "query": "secret" })),
        tool(
            "search_skills",
            json!({ "query": format!("the secret of {team}") }),
        ),
        tool("load_skill", json!({ "skill_id": secret })),
        tool("load_skill", json!({ "skill_id": "secret" })),
        tool(
            "read_skill_resource",
            json!({ "skill_id": secret, "path": "notes.md" }),
        ),
    ]
}

#[test]
fn nobody_gets_a_byte_of_a_skill_of_another_team() {
    let teams = teams("", TokenScopes::ALL, |_| {});
    thread::scope(|scope| {
        for (team, token) in TEAMS.iter().zip(&teams.tokens) {
            let teams = &teams;
            scope.spawn(move || {
                let (session, instructions) = teams.begin(token);
                assert!(instructions.contains(&format!("{team}-secret")));
                let mut own = 0;
                for of in TEAMS {
                    for (method, params) in requests(of) {
                        let answer = teams.request(token, &session, method, &params);
                        let answer = format!("{instructions}{answer}");
                        for other in TEAMS.iter().filter(|other| *other != team) {
                            for byte in [format!("ecret of {other}"), format!("otes of {other}")] {
                                // What was asked for may be repeated.
                                let asked = params.to_string().contains(&byte);
                                assert!(
                                    asked || !answer.contains(&byte),
                                    "{team}: {method} {params}: {answer}"
                                );
                            }
                        }
                        own += usize::from(answer.contains(&format!("ecret of {team}")));
                    }
                }
                assert!(own > 10, "{team} gets its own: {own}");
            });
        }
    });
}

#[test]
fn session_of_another_identity_is_none() {
    let teams = teams("", TokenScopes::ALL, |_| {});
    let [red, green, _] = &teams.tokens[..] else {
        unreachable!()
    };
    let (session, _) = teams.begin(red);
    let call = json!({ "name": "list_skills" });
    let status =
        |token: &Token| teams.request(token, &session, "tools/call", &call)[9..12].to_owned();
    assert_eq!(status(green), "404");
    assert_eq!(status(red), "200");
    let end = |token: &Token| {
        let (address, token) = (teams.address, token.reveal());
        let request = format!(
            "DELETE /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nMcp-Session-Id: {session}\r\nAuthorization: Bearer {token}\r\n\r\n"
        );
        ask(address, &request)[9..12].to_owned()
    };
    assert_eq!(end(green), "404");
    let twice = format!("{session}\r\nMcp-Session-Id: {session}");
    let message = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string();
    assert_eq!(&teams.say(green, &twice, &message)[9..12], "404");
    assert_eq!(status(red), "200");
    assert_eq!(end(red), "204");
    assert_eq!(status(red), "404");
}

#[test]
fn removed_token_ends_within_a_second_in_an_open_session() {
    let teams = teams("", TokenScopes::ALL, |_| {});
    let red = &teams.tokens[0];
    let (session, _) = teams.begin(red);
    let file = teams.folder.path().join("tokens.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        TokenFile::without_token(&text, "red").unwrap().unwrap(),
    )
    .unwrap();
    thread::sleep(std::time::Duration::from_secs(1));
    let answer = teams.request(red, &session, "tools/list", &json!({}));
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    assert!(answer.contains(r#"error="invalid_token""#), "{answer}");
}

#[test]
fn call_needs_the_scope_of_what_it_does() {
    let read = TokenScopes::default().with(TokenScope::Read);
    let teams = teams("proposals=on scripts=on", read, |_| {});
    let token = &teams.tokens[0];
    let (session, _) = teams.begin(token);
    for (tool, wanted) in [
        ("load_skill", "200"),
        ("read_skill", "200"),
        ("list_skills", "200"),
        ("propose_skill_update", "403"),
        ("propose_new_skill", "403"),
        ("run_skill_script", "403"),
        ("call_skill_tool", "403"),
        ("a_skills_own_tool", "403"),
    ] {
        let call = json!({ "name": tool, "arguments": { "skill_id": "shared" } });
        let answer = teams.request(token, &session, "tools/call", &call);
        assert_eq!(&answer[9..12], wanted, "{tool}: {answer}");
        assert_eq!(
            answer.contains("insufficient_scope"),
            wanted == "403",
            "{answer}"
        );
    }
    let two = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"load_skill","name":"propose_new_skill"}}"#;
    let answer = teams.say(token, &session, two);
    assert!(
        answer.contains(r#""error":{"code":-32601"#),
        "two names are no call: {answer}"
    );
}

#[test]
fn each_identity_has_its_own_number_of_sessions() {
    let teams = teams("", TokenScopes::ALL, |role| role.limits.sessions = 2);
    let [red, green, _] = &teams.tokens[..] else {
        unreachable!()
    };
    let (first, _) = teams.begin(red);
    teams.begin(red);
    let refused = teams.say(red, "", INITIALIZE);
    assert!(refused.starts_with("HTTP/1.1 429"), "{refused}");
    assert!(refused.contains("retry-after: 5"), "{refused}");
    teams.begin(green);
    let answer = teams.request(red, &first, "tools/list", &json!({}));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn each_identity_sends_so_many_requests_in_a_minute() {
    let teams = teams("", TokenScopes::ALL, |role| {
        role.limits.requests_per_minute = 5;
    });
    let [red, green, _] = &teams.tokens[..] else {
        unreachable!()
    };
    let answers: Vec<_> = (0..8).map(|_| teams.say(red, "", "{}")).collect();
    let refused = answers
        .iter()
        .filter(|answer| answer.starts_with("HTTP/1.1 429"));
    assert_eq!(refused.count(), 3, "{answers:?}");
    assert!(answers[7].contains("retry-after: "), "{}", answers[7]);
    assert!(!teams.say(green, "", "{}").starts_with("HTTP/1.1 429"));
}
