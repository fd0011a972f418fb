//! What servers can answer.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use skillfold_registry::{Address, Fetcher};

use crate::world::{World, shown};

/// A server on this machine that gives one answer to every request.
struct Server {
    authority: String,
    requests: Receiver<String>,
}

impl Server {
    fn new(answer: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        let answer = format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        let (sender, requests) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let request = read_head(&stream);
                _ = stream.write_all(answer.as_bytes());
                if sender.send(request).is_err() {
                    break;
                }
            }
        });
        Self {
            authority,
            requests,
        }
    }

    /// Asks for something with a token for this machine.
    fn ask(&self, world: &World, path: &str) -> String {
        let address = format!("http://{}/{path}", self.authority);
        let mut options = world.options();
        let token = ("127.0.0.1".to_owned(), "secret".to_owned());
        options.tokens = [token].into_iter().collect();
        let address = Address::parse(&address).unwrap();
        shown(&self.authority, || {
            Fetcher::new(options).resolve(&address)?;
            Ok(String::new())
        })
    }
}

fn read_head(stream: &TcpStream) -> String {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let head = lines.take_while(|line| !line.is_empty());
    head.collect::<Vec<_>>().join("\n").to_lowercase()
}

#[test]
fn redirect_to_another_machine_without_encryption_is_not_followed() {
    let server = Server::new("302 Found\r\nLocation: http://192.0.2.1/x.zip");
    insta::assert_snapshot!(server.ask(&World::new(), "x.zip"), @r"
    Could not fetch `http://SOURCE/x.zip`: it redirects to another machine without encryption
    hint: Check the address and the network
    ");
}

#[test]
fn token_is_not_for_another_port() {
    let other = Server::new("401 Unauthorized");
    let location = format!("302 Found\r\nLocation: http://{}/x.zip", other.authority);
    let server = Server::new(&location);
    let asked = server.ask(&World::new(), "x.zip");
    insta::assert_snapshot!(asked, @r"
    Could not fetch `http://SOURCE/x.zip`: `127.0.0.1` answered 401
    hint: Check the address and the network
    ");
    assert!(server.requests.recv().unwrap().contains("bearer secret"));
    assert!(!other.requests.recv().unwrap().contains("secret"));
}

#[test]
fn server_that_wants_a_login_may_mean_that_there_is_nothing() {
    let server = Server::new("401 Unauthorized");
    insta::assert_snapshot!(server.ask(&World::new(), "x.zip"), @r"
    Could not fetch `http://SOURCE/x.zip`: `127.0.0.1` answered 401; if it exists, set `SKILLFOLD_TOKEN_127_0_0_1`
    hint: Check the address and the network
    ");
    let server = Server::new("401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"");
    insta::assert_snapshot!(server.ask(&World::new(), "owner/repo.git"), @r"
    `http://SOURCE/owner/repo.git` does not exist, or needs a login: set `SKILLFOLD_TOKEN_127_0_0_1`, or set up a git credential helper
    hint: Check the address, the network and your git credentials; `git ls-remote` with the address tells more
    ");
    let server = Server::new("403 Forbidden");
    insta::assert_snapshot!(server.ask(&World::new(), "owner/repo.git"), @r"
    `http://SOURCE/owner/repo.git` does not exist, or needs a login: set `SKILLFOLD_TOKEN_127_0_0_1`, or set up a git credential helper
    hint: Check the address, the network and your git credentials; `git ls-remote` with the address tells more
    ");
    let server = Server::new("500 Error 403 in a page");
    insta::assert_snapshot!(server.ask(&World::new(), "owner/repo.git"), @r"
    Could not fetch `http://SOURCE/owner/repo.git`: unable to access 'http://SOURCE/owner/repo.git/': The requested URL returned error: 500
    hint: Check the address, the network and your git credentials; `git ls-remote` with the address tells more
    ");
    let address = Address::parse("http://127.0.0.1:403/owner/repo.git").unwrap();
    let error = World::new().fetcher().resolve(&address).unwrap_err();
    assert!(error.to_string().starts_with("Could not fetch"), "{error}");
}
