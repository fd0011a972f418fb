//! Network by host: what is named is reached, by the programs that people use, and nothing else is.

mod attempts;
mod programs;
mod proxy;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use skillfold_run::{Connection, HostRule, Outcome, Permissions, Refusal, Run, RunOptions};

use crate::skill::{path, run_options, skill};

fn rules(texts: &[&str]) -> Vec<HostRule> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// Runs a script that may reach these hosts.
fn reach(hosts: &[&str], (name, text): (&str, &str)) -> Outcome {
    let permissions = Permissions::default().with_hosts(rules(hosts));
    run(permissions, &[(name, text)])
}

fn run(permissions: Permissions, files: &[(&str, &str)]) -> Outcome {
    let (copy, file) = (skill(files), path(files[0].0));
    Run::new(&copy, &file)
        .with_options(options(permissions))
        .run()
        .unwrap()
}

fn options(permissions: Permissions) -> RunOptions {
    run_options().with_permissions(permissions)
}

/// Returns what a run did with the network, one line for each connection.
fn connections(outcome: &Outcome) -> Vec<String> {
    let line = |connection: &Connection| {
        let how = connection.refusal.map_or("connected", Refusal::code);
        format!("{}:{} {how}", connection.host, connection.port)
    };
    outcome.connections.iter().map(line).collect()
}

/// A server that may be reached. It redirects to whatever it is asked for.
fn start_allowed() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            thread::spawn(move || {
                let mut buffer = [0; 8192];
                let count = stream.read(&mut buffer).unwrap_or(0);
                let text = String::from_utf8_lossy(&buffer[..count]).into_owned();
                let target = text.split(' ').nth(1).unwrap_or_default();
                let reply = match target.strip_prefix("/redirect?") {
                    Some(to) => {
                        format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
                    }
                    None => format!(
                        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
                        text.len()
                    ),
                };
                let _ = stream.write_all(reply.as_bytes());
            });
        }
    });
    port
}
