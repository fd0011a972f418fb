//! A skill reaches the hosts that the user allowed, everybody is told about the others, and all of it is logged.
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at the disk behind the store's back"
)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use serde_json::{Value, json};
use skillfold::core::{ContextLifetime, Policy};
use skillfold::run::{End, Network, Resolver};
use skillfold::scripts::{AllowedSkills, RunnableSkill};
use skillfold::store::Approval;
use skillfold::view::RunView;
use skillfold::{Environment, Host, Skills};
use tempfile::TempDir;

struct User {
    home: TempDir,
}

impl User {
    /// A user with a skill that asks for this network and runs this script.
    fn new(network: &str, script: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".agents/skills/api");
        fs::create_dir_all(folder.join("scripts")).unwrap();
        let manifest =
            format!("---\nname: api\ndescription: Asks\npermissions:\n  network: {network}\n---\n");
        fs::write(folder.join("SKILL.md"), manifest).unwrap();
        fs::write(folder.join("scripts/get.sh"), script).unwrap();
        fs::create_dir(home.path().join("work")).unwrap();
        Self { home }
    }

    fn environment(&self) -> Environment {
        Environment::new(self.home.path().join("work")).home(self.home.path())
    }

    fn skills(&self) -> Skills {
        let host = Host::new(self.environment()).set("scripts", "on");
        host.discover().unwrap().skills
    }

    /// Returns the log of connections, one JSON object a line.
    fn log(&self) -> Vec<Value> {
        let file = self
            .home
            .path()
            .join(".local/state/skillfold/network.jsonl");
        let text = fs::read_to_string(file).unwrap_or_default();
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

fn allow(skills: &Skills, skill: &RunnableSkill) {
    skills.allow(skill, &Approval::by_host("anna")).unwrap();
}

fn lines(network: &str) -> String {
    let user = User::new(network, "");
    let skill = user.skills().runnable("api").unwrap();
    let unknown = &skill.asked().unknown;
    let lines = skill.permission_lines().into_iter();
    let unknown = unknown.iter().map(|word| format!("unknown: {word}"));
    lines.chain(unknown).collect::<Vec<_>>().join("\n")
}

/// What a model is told of a run that failed, without what the program says.
fn answer(skills: &Skills) -> String {
    let mut session = skills.session(Policy::default(), ContextLifetime::History);
    let run = json!({ "skill_id": "api", "script": "scripts/get.sh" });
    let text = session.call("run_skill_script", &run.to_string()).text();
    let is_ours = |line: &&str| line.starts_with('[') && *line != "[stderr]";
    text.lines().filter(is_ours).collect::<Vec<_>>().join("\n")
}

fn start_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes");
        }
    });
    port
}

#[test]
fn user_is_shown_each_host_and_the_whole_network_loudly() {
    insta::assert_snapshot!(lines("[api.example.com, '*.internal:8443', api.example.com, 'db.example.com:5432 (private)', localhost]"), @"
    asks for network access to api.example.com
    asks for network access to *.internal:8443 (private)
    asks for network access to db.example.com:5432 (private)
    asks for network access to localhost (private: this machine)
    ");
    insta::assert_snapshot!(lines("api.example.com"), @"asks for network access to api.example.com");
    insta::assert_snapshot!(lines("true"), @"asks for the WHOLE network, your machine's own services included");
    insta::assert_snapshot!(lines("[api.example.com, yes]"), @"asks for the WHOLE network, your machine's own services included");
    insta::assert_snapshot!(lines("none"), @"");
    insta::assert_snapshot!(lines("['*', 'https://a.example', 'bücher.example', '*.com', 127.1]"), @"
    unknown: *
    unknown: https://a.example
    unknown: bücher.example
    unknown: *.com
    unknown: 127.1
    ");
}

#[test]
fn allowed_host_is_reached_others_are_refused_and_both_are_logged() {
    needs_sandbox!();
    let port = start_server();
    let script =
        format!("curl -sS http://localhost:{port}/; curl -sS https://evil.example/ || exit 1");
    let user = User::new(&format!("['localhost:{port}']"), &script);
    let skills = user.skills();
    allow(&skills, &skills.runnable("api").unwrap());
    let stored = AllowedSkills::load(&user.environment()).skills.remove(0);
    assert_eq!(stored.hosts, [format!("localhost:{port}").parse().unwrap()]);
    let shown = answer(&skills).replace(&port.to_string(), "PORT");
    insta::assert_snapshot!(shown, @"
    [The script failed with exit code 1]
    [`evil.example` is not among the hosts that `api` may reach (localhost:PORT (private: this machine)): add it to `permissions.network` in its SKILL.md, and allow the skill again]
    ");
    let log: Vec<String> = user
        .log()
        .into_iter()
        .map(|mut line| {
            let line = line.as_object_mut().unwrap();
            assert!(line.remove("time_ms").unwrap().as_u64().unwrap() > 1_700_000_000_000);
            assert!(line["result"] != "connected" || line["sent"].as_u64() > Some(20));
            line.remove("sent");
            let text = Value::Object(line.clone()).to_string();
            text.replace(&port.to_string(), "0")
        })
        .collect();
    insta::assert_snapshot!(log.join("\n"), @r#"
    {"address":"127.0.0.1","format":1,"host":"localhost","port":0,"received":41,"result":"connected","skill":"api"}
    {"format":1,"host":"evil.example","port":443,"received":0,"result":"not_allowed","skill":"api"}
    "#);
    // The view for programs has them too.
    let skill = skills.runnable("api").unwrap();
    let file = "scripts/get.sh".parse().unwrap();
    let outcome = skill.run(&file).unwrap().run().unwrap();
    let view = serde_json::to_value(RunView::script("api", "scripts/get.sh", &outcome)).unwrap();
    assert_eq!(view["connections"][0]["result"], "connected");
    assert_eq!(view["connections"][1]["host"], "evil.example");
    assert_eq!(view["connections"][1]["result"], "not_allowed");
}

#[test]
fn program_that_ignores_the_proxy_is_named_as_the_reason() {
    needs_sandbox!();
    let user = User::new(
        "[api.example.com]",
        "curl -sS --noproxy '*' https://api.example.com/ || exit 1",
    );
    let skills = user.skills();
    allow(&skills, &skills.runnable("api").unwrap());
    insta::assert_snapshot!(answer(&skills), @"
    [The script failed with exit code 1]
    [The script made no request through the proxy. Only programs that follow `HTTPS_PROXY` and `HTTP_PROXY` reach the hosts that `api` may use (api.example.com); one that ignores them has no network]
    ");
    // A failure of another kind is not blamed on the network.
    let user = User::new("[api.example.com]", "exit 3");
    let skills = user.skills();
    allow(&skills, &skills.runnable("api").unwrap());
    insta::assert_snapshot!(answer(&skills), @"[The script failed with exit code 3]");
}

#[test]
fn name_that_is_private_or_this_machine_is_refused_with_the_way_out() {
    needs_sandbox!();
    let user = User::new("[git.example.com, '*.internal']", "curl -s https://$1/");
    let skills = user.skills();
    let skill = skills.runnable("api").unwrap();
    let file = "scripts/get.sh".parse().unwrap();
    let refused = |host: &str, address: [u8; 4]| {
        let resolver = Resolver::new(move |_| Ok(vec![address.into()]));
        let run = skill.run_as_host(&file).with_arguments([host]);
        let run = run.with_options(skill.options().with_resolver(resolver));
        skill.explain(&[], &run.run().unwrap()).join("\n")
    };
    insta::assert_snapshot!(refused("git.example.com", [10, 0, 0, 1]), @"`git.example.com` is in a private network (10.0.0.1), which was not allowed: if that is right, run `skillfold allow api --private-network git.example.com`");
    insta::assert_snapshot!(refused("git.example.com", [127, 0, 0, 1]), @"`git.example.com` is this machine (127.0.0.1), which a skill reaches only as `localhost` or by an address that `permissions.network` in its SKILL.md names");
    insta::assert_snapshot!(refused("build.internal", [127, 0, 0, 1]), @"`build.internal` is this machine (127.0.0.1), which a skill reaches only as `localhost` or by an address that `permissions.network` in its SKILL.md names");
    insta::assert_snapshot!(refused("build.internal", [0, 0, 0, 0]), @"`build.internal` resolves to 0.0.0.0, which is not the address of a host");
}

#[test]
fn hosts_beyond_the_first_five_are_counted_once() {
    needs_sandbox!();
    let script = "for i in $(seq $1); do curl -s https://h$i.example/; curl -s http://h$i.example/; done; true";
    let user = User::new("[git.example.com]", script);
    let skills = user.skills();
    let skill = skills.runnable("api").unwrap();
    let file = "scripts/get.sh".parse().unwrap();
    let told = |number: &str| {
        let run = skill.run_as_host(&file).with_arguments([number]);
        skill.explain(&[], &run.run().unwrap())
    };
    assert_eq!(told("5").len(), 5);
    assert_eq!(told("6").last().unwrap(), "1 more host was not reached");
    assert_eq!(told("7").last().unwrap(), "2 more hosts were not reached");
}

#[test]
fn private_host_needs_a_permission_of_its_own_which_is_kept() {
    let user = User::new("[git.example.com, api.example.com]", "true");
    let skills = user.skills();
    let skill = skills.runnable("api").unwrap();
    allow(&skills, &skill);
    let error = skill.with_private_host("other.example.com").unwrap_err();
    insta::assert_snapshot!(error, @"`api` does not ask to reach `other.example.com`");
    let skill = skills.runnable("api").unwrap();
    let skill = skill.with_private_host("git.example.com").unwrap();
    assert!(skill.allowed().is_none());
    insta::assert_snapshot!(skill.permission_lines().join("\n"), @"
    asks for network access to git.example.com (private)
    asks for network access to api.example.com
    ");
    allow(&skills, &skill);
    let again = skills.runnable("api").unwrap();
    assert!(again.allowed().is_some());
    assert_eq!(again.asked().lines(), skill.asked().lines());
    let options = again.options();
    let Network::Hosts(rules) = options.permissions().network() else {
        panic!("no hosts");
    };
    assert!(rules[0].is_private() && !rules[1].is_private());
    // Nothing to decide again.
    assert!(
        again
            .with_private_host("git.example.com")
            .unwrap()
            .allowed()
            .is_some()
    );
}

#[test]
fn hosts_in_the_list_must_be_those_that_the_user_was_shown() {
    let user = User::new("[git.example.com]", "true");
    let skills = user.skills();
    allow(&skills, &skills.runnable("api").unwrap());
    let file = user.environment().allowed_skills().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.contains(r#"hosts = '[{"host":"git.example.com","private":false}]'"#),
        "{text}"
    );
    for (from, to) in [
        ("\"private\":false", "\"private\":true"),
        ("git.example.com\",", "evil.example\","),
        (
            r#"hosts = '[{"host":"git.example.com","private":false}]'"#,
            "",
        ),
        ("\"private\":false", "\"private\":false,\"more\":1"),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        fs::write(&file, &changed).unwrap();
        assert!(
            skills.runnable("api").unwrap().allowed().is_none(),
            "{changed}"
        );
    }
    fs::write(&file, &text).unwrap();
    assert!(skills.runnable("api").unwrap().allowed().is_some());
}

#[test]
fn loading_a_skill_looks_nothing_up_and_logs_nothing() {
    needs_sandbox!();
    let user = User::new("[x.invalid]", "true");
    let skills = user.skills();
    let skill = skills.runnable("api").unwrap();
    allow(&skills, &skill);
    let skill = skills.runnable("api").unwrap();
    let file = "scripts/get.sh".parse().unwrap();
    let outcome = skill.run(&file).unwrap().run().unwrap();
    assert_eq!(outcome.end, End::Exited(0));
    assert!(user.log().is_empty());
}

#[test]
fn log_of_a_newer_version_is_only_appended_to() {
    needs_sandbox!();
    let fixture = include_str!("../../../skillfold-cli/tests/formats/network.jsonl");
    let user = User::new("[api.example.com]", "curl -s https://evil.example/; true");
    let skills = user.skills();
    allow(&skills, &skills.runnable("api").unwrap());
    let state = user.home.path().join(".local/state/skillfold");
    let newer = fixture.replace("\"format\":1", "\"format\":2");
    fs::write(state.join("network.jsonl"), &newer).unwrap();
    answer(&skills);
    let text = fs::read_to_string(state.join("network.jsonl")).unwrap();
    let added: Value = serde_json::from_str(text.strip_prefix(&newer).unwrap()).unwrap();
    // What is written today is what the fixture has.
    let known: Value = serde_json::from_str(fixture.lines().nth(1).unwrap()).unwrap();
    let keys =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(keys(&added), keys(&known));
    assert_eq!(added["format"], 1);
}

#[test]
fn log_is_limited_to_two_files_that_only_the_user_can_read() {
    use std::os::unix::fs::PermissionsExt as _;

    needs_sandbox!();
    let user = User::new("[api.example.com]", "curl -s https://evil.example/; true");
    let skills = user.skills();
    allow(&skills, &skills.runnable("api").unwrap());
    let state = user.home.path().join(".local/state/skillfold");
    fs::write(state.join("network.jsonl"), vec![b'\n'; 5 * 1024 * 1024]).unwrap();
    answer(&skills);
    assert_eq!(user.log().len(), 1);
    let old = fs::metadata(state.join("network.old.jsonl")).unwrap();
    assert_eq!(old.len(), 5 * 1024 * 1024);
    let new = fs::metadata(state.join("network.jsonl")).unwrap();
    assert_eq!(new.permissions().mode() & 0o777, 0o600);
}
