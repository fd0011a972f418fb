//! A host with secrets: files, folders, sockets, a process, environment variables and open descriptors.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The content of every secret. No sandbox output may contain it.
pub(crate) const CANARY: &str = "CANARY-7c1f";

/// Where users and Skillfold keep what a script must not see.
const FILES: [&str; 20] = [
    "home/.ssh/id_ed25519",
    "home/.ssh/config",
    "home/.aws/credentials",
    "home/.netrc",
    "home/.gnupg/secring.gpg",
    "home/.docker/config.json",
    "home/.kube/config",
    "home/.git-credentials",
    "home/.npmrc",
    "home/.pypirc",
    "home/.bash_history",
    "home/.config/gh/hosts.yml",
    "home/.config/skillfold/config.toml",
    "home/.local/share/skillfold/log.jsonl",
    "home/.local/state/skillfold/trust.toml",
    "home/.cache/skillfold/index",
    "home/.agents/skills/other/SKILL.md",
    "home/.claude/settings.json",
    "project/.env",
    "project/.git/config",
];

pub(crate) const VARIABLES: usize = 50;

pub(crate) struct Host {
    folder: TempDir,
    victim: Child,
    stdin: Option<ChildStdin>,
    victim_says: Value,
}

impl Host {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        open_up(folder.path());
        for (number, file) in FILES.iter().enumerate() {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, format!("{CANARY}-file-{number}\n")).unwrap();
        }
        fs::copy("/usr/bin/true", folder.path().join("home/program")).unwrap();
        fs::create_dir(folder.path().join("scratch")).unwrap();
        open_all(folder.path());
        let mut victim = Command::new("/usr/bin/python3")
            .arg("-c")
            .arg(include_str!("victim.py"))
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = victim.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        Self {
            folder,
            stdin: victim.stdin.take(),
            victim,
            victim_says: serde_json::from_str(&line).unwrap(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Describes the host to the probes.
    pub(crate) fn describe(&self, scratch: &str, control: bool) -> Value {
        let all: Vec<PathBuf> = FILES.iter().map(|file| self.path().join(file)).collect();
        let mut folders: Vec<&Path> = all.iter().filter_map(|path| path.parent()).collect();
        folders.sort_unstable();
        folders.dedup();
        let mut value = json!({
            "folder": self.path(), "files": all, "folders": folders,
            "program": self.path().join("home/program"), "scratch": scratch,
            "control": control, "canary": CANARY.chars().rev().collect::<String>(), "runner": std::process::id(),
        });
        let fields = value.as_object_mut().unwrap();
        fields.extend(self.victim_says.as_object().unwrap().clone());
        value
    }

    /// Returns a command that starts a program with canaries in its environment and open descriptors.
    pub(crate) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let secret = self.path().join(FILES[0]);
        let script = "secret=$1; folder=$2; shift 2; \
                      exec \"$@\" 5<\"$secret\" 9<>\"$secret\" 77<\"$folder\" 200<\"$secret\" 1000<\"$secret\"";
        let mut command = Command::new("/bin/bash");
        command.args(["-c", script, "bash"]);
        command
            .arg(secret)
            .arg(self.path())
            .arg(program)
            .args(arguments);
        for number in 0..VARIABLES {
            let name = match number {
                0 => "AWS_SECRET_ACCESS_KEY".to_owned(),
                1 => "GITHUB_TOKEN".to_owned(),
                2 => "ANTHROPIC_API_KEY".to_owned(),
                3 => "SSH_AUTH_SOCK".to_owned(),
                _ => format!("SECRET_{number}"),
            };
            command.env(name, format!("{CANARY}-variable-{number}"));
        }
        command
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It removes its shared memory and exits.
        drop(self.stdin.take());
        let _ = self.victim.wait();
    }
}

/// Lets every user read and write: the sandbox must hold without file permissions.
pub(crate) fn open_up(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
}

pub(crate) fn open_all(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        open_up(&path);
        if path.is_dir() {
            open_all(&path);
        }
    }
}
