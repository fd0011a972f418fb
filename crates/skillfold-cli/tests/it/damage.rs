//! A server whose search index is damaged while it runs goes on, and answers.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::command::{World, skillfold};

/// So many that they are searched on disk.
const SKILLS: usize = 1_100;

/// How long to wait for a file.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server by stdin and stdout.
struct Server {
    process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    asked: u64,
}

impl Server {
    fn start(world: &World) -> Self {
        let mut process = skillfold(&world.path("app"), &world.path("person"))
            .args(["serve", "--structured"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Self {
            stdin: process.stdin.take().unwrap(),
            stdout: BufReader::new(process.stdout.take().unwrap()),
            process,
            asked: 0,
        };
        let client = json!({ "name": "t", "version": "1" });
        let hello =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        server.ask("initialize", &hello);
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        writeln!(server.stdin, "{ready}").unwrap();
        server
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(self.stdin, "{request}").unwrap();
        loop {
            let mut line = String::new();
            let read = self.stdout.read_line(&mut line).unwrap();
            assert!(read > 0, "the server ended: {:?}", self.process.wait());
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer["result"].clone();
            }
        }
    }

    /// Returns the ids that are found, and what is said about the search.
    fn search(&mut self, query: &str) -> (Vec<String>, Value) {
        let params = json!({ "name": "search_skills", "arguments": { "query": query } });
        let found = self.ask("tools/call", &params)["structuredContent"].take();
        let skills = found["skills"].as_array().unwrap().iter();
        let ids = skills.map(|skill| skill["id"].as_str().unwrap().to_owned());
        (ids.collect(), found["note"].clone())
    }
}

/// A word that stands in the body of one skill alone.
fn word(number: usize) -> String {
    let digits = number.to_string().into_bytes();
    let letters = digits
        .iter()
        .map(|digit| char::from(b"bcdfghjklm"[usize::from(digit - b'0')]));
    format!("quagga{}x", letters.collect::<String>())
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, into);
        } else if path.file_stem().is_some_and(|stem| stem.len() == 32) {
            into.push(path);
        }
    }
    into.sort();
}

fn harm(path: &Path, kind: usize) {
    let file = || fs::File::options().write(true).open(path).unwrap();
    let bytes = fs::metadata(path).unwrap().len();
    match kind {
        0 => file().set_len(0).unwrap(),
        1 => file().set_len(bytes / 2).unwrap(),
        2 => fs::write(path, vec![0; usize::try_from(bytes).unwrap()]).unwrap(),
        3 => {
            let flipped: Vec<u8> = fs::read(path).unwrap().iter().map(|byte| !byte).collect();
            fs::write(path, flipped).unwrap();
        }
        4 => fs::write(path, "no index").unwrap(),
        _ => fs::remove_file(path).unwrap(),
    }
}

#[test]
fn server_survives_36_kinds_of_index_damage_and_still_answers() {
    let tree: String = (0..SKILLS)
        .map(|number| {
            format!(
                "//- person/.agents/skills/s{number}/SKILL.md\n---\nname: s{number}\n\
                 description: Sorts letters of number {number}\n---\nLook at {}.\n",
                word(number)
            )
        })
        .collect();
    let world = World::new(&tree);
    let mut server = Server::start(&world);
    let is_found = |server: &mut Server| server.search(&word(77)).0 == ["s77"];
    // The index is built in the background; until then an answer says so.
    let start = Instant::now();
    while !is_found(&mut server) {
        assert!(start.elapsed() < PATIENCE, "the index is not built");
        sleep(Duration::from_millis(10));
    }
    let cache = world.path("person/.cache");
    for damage in 0..36 {
        let endings = ["term", "idx", "store", "fast", "fieldnorm", "pos"];
        let ending = endings[damage / 6];
        let chosen = || {
            let mut found = Vec::new();
            files(&cache, &mut found);
            found.retain(|path| path.extension().is_some_and(|is| is == ending));
            found
        };
        // The index is written while its first search is answered.
        let start = Instant::now();
        while chosen().is_empty() {
            assert!(start.elapsed() < PATIENCE, "there is no file {ending}");
            sleep(Duration::from_millis(10));
        }
        for path in &chosen() {
            harm(path, damage % 6);
        }
        // Never silence: what is told of the skill is found at once, and its body as soon as the index is made again.
        let (ids, note) = server.search("number 77");
        assert!(ids.contains(&"s77".to_owned()), "{damage}: {ids:?} {note}");
        for attempt in 0.. {
            if is_found(&mut server) {
                break;
            }
            assert!(attempt < 600, "{damage}: not made again");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
    drop(server.stdin);
    assert!(server.process.wait().unwrap().success());
}
