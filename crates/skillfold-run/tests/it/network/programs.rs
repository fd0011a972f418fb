//! The programs that people use reach a named host over TLS.

use std::fs;
use std::io::Read as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use skillfold_run::{Connection, Outcome, Permissions, Refusal, Resolver, Run};
use tempfile::TempDir;

use super::{options, rules};
use crate::skill::{path, skill};

/// A real TLS server with a certificate for `localhost` and `api.localhost`, which serves a folder.
struct TlsServer {
    process: Child,
    port: u16,
    folder: TempDir,
}

impl TlsServer {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        fs::write(here.join("hello"), "hello over TLS\n").unwrap();
        fs::write(here.join("server.py"), include_str!("server.py")).unwrap();
        shell(
            here,
            "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out ca.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost,DNS:api.localhost,IP:127.0.0.1",
        );
        shell(
            here,
            "git init -q work && cd work && git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m one && cd .. && git clone -q --bare work repo.git && cd repo.git && git update-server-info",
        );
        let mut process = Command::new("/usr/bin/python3")
            .arg("server.py")
            .current_dir(here)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = Vec::new();
        let stdout = process.stdout.as_mut().unwrap();
        while line.last() != Some(&b'\n') {
            let mut byte = [0];
            stdout.read_exact(&mut byte).unwrap();
            line.push(byte[0]);
        }
        let port = String::from_utf8(line).unwrap().trim().parse().unwrap();
        Self {
            process,
            port,
            folder,
        }
    }

    /// Runs a script that may reach the server, and no other.
    fn reach(&self, files: &[(&str, &str)], programs: Option<&Path>) -> Outcome {
        let certificate = fs::read_to_string(self.folder.path().join("ca.pem")).unwrap();
        let port = self.port.to_string();
        let files: Vec<(&str, String)> = files
            .iter()
            .map(|(name, text)| (*name, text.replace("PORT", &port)))
            .collect();
        let mut files: Vec<(&str, &str)> = files
            .iter()
            .map(|(name, text)| (*name, text.as_str()))
            .collect();
        files.push(("ca.pem", &certificate));
        let mut permissions = Permissions::default().with_hosts(rules(&[
            &format!("localhost:{port}"),
            &format!("api.localhost:{port}"),
        ]));
        for variable in [
            "SSL_CERT_FILE",
            "CURL_CA_BUNDLE",
            "REQUESTS_CA_BUNDLE",
            "NODE_EXTRA_CA_CERTS",
            "GIT_SSL_CAINFO",
        ] {
            permissions = permissions.with_variable(variable, "/skill/ca.pem");
        }
        let resolver = Resolver::new(|_| Ok(vec![IpAddr::from([127, 0, 0, 1])]));
        let mut options = options(permissions).with_resolver(resolver);
        if let Some(folder) = programs {
            let python = folder.join("python").canonicalize();
            let permissions = options.permissions().clone();
            let permissions = python.iter().fold(permissions, Permissions::with_read);
            let search = [folder, "/usr/bin".as_ref(), "/bin".as_ref()].map(Path::to_owned);
            options = options
                .with_search_path(search)
                .with_permissions(permissions);
        }
        let (copy, file) = (skill(&files), path(files[0].0));
        Run::new(&copy, &file).with_options(options).run().unwrap()
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn shell(folder: &Path, command: &str) {
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Checks that a program reaches the server under both names, and nothing else.
fn check(outcome: &Outcome, expected: &str) {
    let said = format!("{}{}", outcome.stdout_text(), outcome.stderr_text());
    assert!(outcome.stdout_text().contains(expected), "{said}");
    assert!(outcome.is_success(), "{said}");
    let is_named = |connection: &Connection| connection.host.ends_with("localhost");
    let (named, others): (Vec<&Connection>, Vec<&Connection>) =
        outcome.connections.iter().partition(|it| is_named(it));
    assert!(
        named.iter().any(|it| it.refusal.is_none()),
        "{said}: {:#?}",
        outcome.connections
    );
    assert!(
        !others.is_empty()
            && others
                .iter()
                .all(|it| it.refusal == Some(Refusal::NotAllowed)),
        "{others:#?}"
    );
}

#[test]
fn curl_reaches_a_named_host_over_tls_and_no_other() {
    needs_sandbox!();
    let server = TlsServer::start();
    let text = "curl -sS https://localhost:PORT/hello\ncurl -sS https://api.localhost:PORT/hello\ncurl -sS -x socks5h://127.0.0.1:3128 https://localhost:PORT/hello\ncurl -sS https://evil.example/ && exit 9\ncurl -sS --noproxy '*' https://localhost:PORT/hello && exit 9\ntrue\n";
    let outcome = server.reach(&[("a.sh", text)], None);
    check(&outcome, "hello over TLS\nhello over TLS\nhello over TLS\n");
    let said = outcome
        .stderr_text()
        .replace(&server.port.to_string(), "PORT");
    assert!(said.contains("403"), "{said}");
}

#[test]
fn urllib_reaches_a_named_host_over_tls_and_no_other() {
    needs_sandbox!();
    let server = TlsServer::start();
    let text = "import urllib.request as r\nprint(r.urlopen('https://localhost:PORT/hello').read().decode())\ntry:\n    r.urlopen('https://evil.example/')\nexcept OSError as error:\n    print(error)\n";
    let outcome = server.reach(&[("a.py", text)], None);
    check(&outcome, "hello over TLS\n");
    assert!(
        outcome
            .stdout_text()
            .contains("403 Host not allowed by the permissions of the skill"),
        "{}",
        outcome.stdout_text()
    );
}

#[test]
fn git_reaches_a_named_host_over_tls_and_no_other() {
    needs_sandbox!();
    let server = TlsServer::start();
    let text = "git ls-remote https://localhost:PORT/repo.git HEAD\ngit ls-remote https://evil.example/repo.git && exit 9\ntrue\n";
    check(&server.reach(&[("a.sh", text)], None), "\tHEAD\n");
}

#[test]
#[ignore = "needs Node 24 in NETWORK_FOLDER"]
fn node_reaches_a_named_host_over_tls_and_no_other() {
    let server = TlsServer::start();
    let text = "const get = async (url) => { try { console.log(await (await fetch(url)).text()) } catch (error) { console.log(String(error.cause ?? error)) } }\nawait get('https://localhost:PORT/hello')\nawait get('https://evil.example/')\n";
    let folder = PathBuf::from(std::env::var_os("NETWORK_FOLDER").unwrap());
    check(
        &server.reach(&[("a.mjs", text)], Some(&folder)),
        "hello over TLS\n",
    );
}

#[test]
#[ignore = "needs the Python packages `requests` and `httpx` in NETWORK_FOLDER/python"]
fn requests_and_httpx_reach_a_named_host_over_tls_and_no_other() {
    let server = TlsServer::start();
    let folder = PathBuf::from(std::env::var_os("NETWORK_FOLDER").unwrap());
    let text = format!(
        "import sys\nsys.path[:0] = [{:?}]\nimport requests, httpx\nprint(requests.get('https://localhost:PORT/hello').text)\nprint(httpx.get('https://localhost:PORT/hello', verify='/skill/ca.pem').text)\nfor module in requests, httpx:\n    try:\n        module.get('https://evil.example/')\n        sys.exit(9)\n    except Exception as error:\n        print(error)\n",
        folder.join("python")
    );
    let outcome = server.reach(&[("a.py", &text)], Some(&folder));
    check(&outcome, "hello over TLS\n\nhello over TLS\n");
}
