//! `skillfold access`, and a server that knows its users.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use crate::command::{World, skillfold};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

fn world(settings: &str) -> World {
    World::new(&format!(
        "//- person/.agents/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Fills in forms\n---\nFill in.\n\
         //- person/.agents/skills/mail/SKILL.md\n---\nname: mail\ndescription: Sends mail\n---\nSend.\n\
         //- person/.config/skillfold/config.toml\n{settings}\n"
    ))
}

/// A server over HTTP, which ends with the test.
struct Serving {
    process: Child,
    address: String,
    heard: String,
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn serve(world: &World) -> Serving {
    let mut process = skillfold(&world.path("app"), &world.path("person"))
        .args(["serve", "--http", "0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut lines, mut heard) = (
        BufReader::new(process.stderr.take().unwrap()),
        String::new(),
    );
    let address = loop {
        let mut line = String::new();
        assert_ne!(lines.read_line(&mut line).unwrap(), 0, "{heard}");
        if let Some(address) = line.strip_prefix("Listening on http://") {
            break address.trim().trim_end_matches("/mcp").to_owned();
        }
        heard.push_str(&line);
    };
    Serving {
        process,
        address,
        heard,
    }
}

/// Returns the whole response to a first message.
fn begin(address: &str, token: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = INITIALIZE.len();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}\r\n\r\n{INITIALIZE}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn token_is_printed_once_listed_and_removed() {
    let world = world("server_tokens = 'tokens.toml'");
    let (mut report, mut token) = (String::new(), String::new());
    for command in [
        "access",
        "access add build-server --group ci --scope skills:run",
        "access",
        "access --json",
        "access add build-server",
        "access add other --scope skills:write",
        "access remove build-serv",
        "access remove build-server",
        "access",
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let said = world.run(&words);
        if command.contains("--group") {
            token = said.lines().next().unwrap().to_owned();
            assert_eq!(token.len(), 64, "{said}");
            let file = world.read("person/.config/skillfold/tokens.toml");
            assert!(!file.contains(&token), "{file}");
        }
        let said = if token.is_empty() {
            said
        } else {
            said.replace(&token, "TOKEN")
        };
        report += &["$ skillfold ", command, "\n", &said, "\n"].concat();
    }
    insta::assert_snapshot!(report);
}

#[test]
fn without_a_file_of_tokens_it_says_how_to_name_one() {
    insta::assert_snapshot!(world("").run(&["access", "add", "build"]), @"
    ! error: No file of tokens is set; name one with `--file`, or for the server too with `skillfold config set server_tokens PATH`
    exit 2
    ");
}

#[test]
fn server_gives_each_token_the_skills_of_its_role() {
    let world = world(
        "server_tokens = 'tokens.toml'\n\
         [agents.clerk]\nuses_skills = ['pdf']\nsees = 'used'\n\
         [identities.clerks]\ngroups = ['clerks']\nagent = 'clerk'\n\
         [identities.builds]\ntokens = ['build']",
    );
    let token = |arguments: &[&str]| world.data(arguments).trim().to_owned();
    let clerk = token(&["access", "add", "clerk-1", "--group", "clerks"]);
    let build = token(&["access", "add", "build"]);
    let stranger = token(&["access", "add", "stranger"]);
    let server = serve(&world);
    insta::assert_snapshot!(server.heard, @"
    2 skills are served
    For 3 named tokens, as clerks, builds
    ");
    let answer = begin(&server.address, &clerk);
    assert!(
        answer.contains("- pdf:") && !answer.contains("mail"),
        "{answer}"
    );
    let answer = begin(&server.address, &build);
    assert!(
        answer.contains("- pdf:") && answer.contains("- mail:"),
        "{answer}"
    );
    assert!(begin(&server.address, &stranger).starts_with("HTTP/1.1 403"));
    assert!(begin(&server.address, &"0".repeat(64)).starts_with("HTTP/1.1 401"));
}

#[test]
fn server_that_would_let_in_others_than_the_settings_name_does_not_start() {
    let mut report = String::new();
    for settings in [
        "[identities.all]",
        "server_issuer = 'https://id.example.com'",
        "server_issuer = 'http://id.example.com'\nserver_url = 'https://skills.example.com/mcp'",
        "server_issuer = 'https://id.example.com'\nserver_url = 'skills.example.com'",
        "server_tokens = 'tokens.toml'\n[identities.clerks]\ngroup = ['clerks']",
        "server_tokens = 'tokens.toml'\n[identities.clerks]\ngroups = 'clerks'",
        "server_tokens = 'tokens.toml'\n[identities.clerks]\nagent = 'clrk'\n[agents.clerk]",
        "server_tokens = 'config.toml'",
    ] {
        report += settings;
        report += "\n\n";
        report += &world(settings).run(&["serve", "--http", "0"]);
        report += "\n";
    }
    let open = world("server_tokens = 'tokens.toml'");
    report += &open.run(&["serve", "--http", "0", "--no-token"]);
    insta::assert_snapshot!(report);
}

#[test]
fn file_of_tokens_of_today_is_read_and_a_newer_one_is_refused_by_its_format() {
    let today = include_str!("../formats/tokens.toml");
    let world = world("server_tokens = 'tokens.toml'");
    let write = |text: &str| {
        world.write(&format!("//- person/.config/skillfold/tokens.toml\n{text}"));
    };
    write(today);
    insta::assert_snapshot!(world.run(&["access"]), @"
    build-server  ci  skills:read skills:propose  until 2100-01-01
    exit 0
    ");
    let token = "0123456789abcdef0123456789abcdef";
    assert!(begin(&serve(&world).address, token).starts_with("HTTP/1.1 200"));
    let newer = today.replace("format = 1", "a-later-member = []\nformat = 2");
    write(&newer);
    for command in [
        &["access"][..],
        &["access", "add", "other"],
        &["access", "remove", "build-server"],
        &["serve", "--http", "0"],
    ] {
        let shown = world.run(command);
        assert!(
            shown.contains("it has format 2, and this version reads format 1"),
            "{shown}"
        );
        assert_eq!(world.read("person/.config/skillfold/tokens.toml"), newer);
    }
}
