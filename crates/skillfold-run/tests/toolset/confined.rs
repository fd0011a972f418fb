//! Toolsets run in the sandbox.

use std::fs;
use std::io::Read as _;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use skillfold_run::toolset::ToolsetOptions;
use skillfold_run::{Accept, Layer, LayerState, Permissions, RunOptions};

use crate::skill::{load_with, skill};

/// Tries what a toolset may not do, and returns what succeeded.
const PYTHON: &str = "
import os, socket
def attempt(args, ctx):
    worked = []
    def check(name, action):
        try: action()
        except OSError: return
        worked.append(name)
    check('read', lambda: open(args['file']).read())
    check('connect', lambda: socket.create_connection(('127.0.0.1', args['port']), 2))
    check('write', lambda: open('/skill/new', 'w'))
    check('change the host', lambda: open('/language-host/host.py', 'w'))
    check('scratch', lambda: open(ctx.scratch + '/new', 'w'))
    if 'CANARY' in os.environ: worked.append('environment')
    return ' '.join(worked)
tools = [{'name': 'attempt', 'execute': attempt}]
";

const JAVASCRIPT: &str = "
import fs from 'node:fs';
import net from 'node:net';
const connect = (port) => new Promise((resolve, reject) =>
  net.connect(port, '127.0.0.1').on('connect', resolve).on('error', reject));
async function attempt(args, ctx) {
  const worked = [];
  const check = async (name, action) => { try { await action(); worked.push(name); } catch {} };
  await check('read', () => fs.readFileSync(args.file));
  await check('connect', () => connect(args.port));
  await check('write', () => fs.writeFileSync('/skill/new', ''));
  await check('change the host', () => fs.writeFileSync('/language-host/host.mjs', ''));
  await check('scratch', () => fs.writeFileSync(ctx.scratch + '/new', ''));
  if ('CANARY' in process.env) worked.push('environment');
  return worked.join(' ');
}
export default [{ name: 'attempt', execute: attempt }];
";

/// Returns what a toolset could do with these permissions.
fn attempt(file: &str, text: &str, permissions: impl Fn(&str) -> Permissions) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    let secret = secret.to_str().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let options = ToolsetOptions::default()
        .with_run(RunOptions::default().with_permissions(permissions(secret)));
    let mut toolset = load_with(&[(file, text)], file, &options).unwrap();
    let answer = toolset
        .call("attempt", &json!({ "file": secret, "port": port }))
        .unwrap();
    answer.output
}

#[test]
fn toolset_has_no_host_files_network_or_environment() {
    needs_sandbox!();
    for (file, text) in [("t.py", PYTHON), ("t.mjs", JAVASCRIPT)] {
        assert_eq!(
            attempt(file, text, |_| Permissions::default()),
            "scratch",
            "{file}"
        );
    }
}

#[test]
fn attempts_succeed_with_permissions() {
    needs_sandbox!();
    let granted = |secret: &str| {
        let permissions = Permissions::default().with_read(secret).with_network();
        permissions.with_variable("CANARY", "1")
    };
    for (file, text) in [("t.py", PYTHON), ("t.mjs", JAVASCRIPT)] {
        assert_eq!(
            attempt(file, text, granted),
            "read connect scratch environment",
            "{file}"
        );
    }
}

#[test]
fn toolset_ends_when_dropped() {
    needs_sandbox!();
    let text = "import subprocess\n\
                tools = [{'name': 'leave', 'execute': lambda args, ctx: subprocess.Popen(['sleep', '98765']).pid}]";
    let copy = skill(&[("t.py", text)]);
    let options = ToolsetOptions::default();
    let mut toolset =
        skillfold_run::toolset::load_toolset(&copy, &"t".parse().unwrap(), &options).unwrap();
    let answer = toolset.call("leave", &json!({})).unwrap();
    assert!(!answer.is_error, "{}", answer.output);
    // A program that has just started has no command line yet.
    let started = Instant::now();
    while processes_with("98765") == 0 {
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "it did not start"
        );
    }
    drop(toolset);
    assert_eq!(processes_with("98765"), 0);
}

#[test]
fn toolset_works_without_namespaces_if_accepted() {
    needs_sandbox!();
    // An ordinary user in a user namespace that cannot create namespaces.
    let shell = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --ambient-caps=-all \"$@\"";
    // Where that user can read it.
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let runner = folder.path().join("runner");
    fs::copy(std::env::current_exe().unwrap(), &runner).unwrap();
    let mut command = Command::new("unshare");
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        command = Command::new("setpriv");
        command.args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "unshare",
        ]);
    }
    let output = command
        .args([
            "--user",
            "--map-current-user",
            "--keep-caps",
            "sh",
            "-c",
            shell,
            "sh",
        ])
        .arg(&runner)
        .args([
            "--exact",
            "confined::child_that_calls_without_namespaces",
            "--ignored",
            "--nocapture",
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let lines = [
        "t.py: missing namespaces, scratch",
        "t.mjs: missing namespaces, scratch",
    ];
    for line in lines {
        assert!(
            said.contains(line),
            "{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
#[ignore = "another test runs it"]
fn child_that_calls_without_namespaces() {
    let states = skillfold_run::layers().layers;
    let is_missing =
        |state: &&LayerState| state.layer == Layer::Namespaces && state.missing.is_some();
    let missing = states
        .iter()
        .find(is_missing)
        .map_or("nothing", |state| state.layer.as_str());
    let options = ToolsetOptions::default().with_run(
        RunOptions::default().with_accepted(Accept::default().missing(Layer::Namespaces)),
    );
    for (file, text) in [("t.py", PYTHON), ("t.mjs", JAVASCRIPT)] {
        let mut toolset = load_with(&[(file, text)], file, &options).unwrap();
        let arguments = json!({ "file": "/etc/hostname", "port": 1 });
        let answer = toolset.call("attempt", &arguments).unwrap();
        println!("{file}: missing {missing}, {}", answer.output);
    }
}

/// Returns the number of processes with this word on their command line.
fn processes_with(word: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap();
    let has_word = |entry: fs::DirEntry| {
        let mut line = Vec::new();
        let file = fs::File::open(entry.path().join("cmdline"));
        file.and_then(|mut file| file.read_to_end(&mut line))
            .is_ok()
            && line
                .split(|byte| *byte == 0)
                .any(|part| part == word.as_bytes())
    };
    entries
        .filter_map(Result::ok)
        .map(has_word)
        .filter(|has| *has)
        .count()
}
