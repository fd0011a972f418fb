//! A minimal client: one connection, hand-written requests, complete responses.

use std::error::Error;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::process::Process;
use super::question::{Question, body};

/// A client's protocol variant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lifecycle {
    /// With a handshake and a session: 2025-11-25.
    Session,
    /// Independent requests: 2026-07-28.
    Request,
}

pub(crate) struct Client {
    stream: TcpStream,
    lifecycle: Lifecycle,
    /// The headers of every request, except its length and method.
    headers: String,
    meta: Value,
    next: u64,
    buffer: Vec<u8>,
}

impl Client {
    pub(crate) async fn connect(
        server: &Process,
        lifecycle: Lifecycle,
    ) -> Result<Self, Box<dyn Error>> {
        let stream = TcpStream::connect(server.address).await?;
        stream.set_nodelay(true)?;
        let version = match lifecycle {
            Lifecycle::Session => "2025-11-25",
            Lifecycle::Request => "2026-07-28",
        };
        let name = json!({ "name": "bench", "version": "1" });
        let mut client = Self {
            stream,
            lifecycle,
            headers: format!(
                "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
                 Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {version}\r\n",
                server.address
            ),
            // What real clients send.
            meta: match lifecycle {
                Lifecycle::Session => {
                    json!({ "claudecode/toolUseId": "toolu_01", "threadId": "t1" })
                }
                Lifecycle::Request => json!({
                    "io.modelcontextprotocol/protocolVersion": version,
                    "io.modelcontextprotocol/clientInfo": name,
                    "io.modelcontextprotocol/clientCapabilities": {},
                }),
            },
            next: 1,
            buffer: Vec::with_capacity(16 * 1024),
        };
        if lifecycle == Lifecycle::Session {
            let params =
                json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": name });
            let message =
                json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
            client.send("", &message.to_string()).await?;
            let head = String::from_utf8_lossy(&client.buffer).into_owned();
            let id = head
                .lines()
                .find_map(|line| line.strip_prefix("mcp-session-id: "));
            let id = id.ok_or_else(|| format!("there is no session: {head}"))?;
            let line = format!("Mcp-Session-Id: {id}\r\n");
            client.headers.push_str(&line);
            let message = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            client.send("", &message.to_string()).await?;
        }
        Ok(client)
    }

    /// Sends a request and waits for the complete response; anything but a result is an error.
    pub(crate) async fn ask(&mut self, question: &Question) -> Result<(), Box<dyn Error>> {
        self.next += 1;
        let more = match self.lifecycle {
            Lifecycle::Session => String::new(),
            Lifecycle::Request => {
                format!("Mcp-Method: tools/call\r\nMcp-Name: {}\r\n", question.tool)
            }
        };
        self.meta["progressToken"] = json!(self.next);
        let body = body(self.next, question, &self.meta);
        self.send(&more, &body).await?;
        let has = |text: &[u8]| self.buffer.windows(text.len()).any(|part| part == text);
        if has(b"\"isError\":false") {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&self.buffer).into_owned().into())
    }

    /// Sends a message and reads the response, head and body, into the buffer.
    async fn send(&mut self, more: &str, body: &str) -> Result<(), Box<dyn Error>> {
        let (headers, length) = (&self.headers, body.len());
        let request = format!("{headers}{more}Content-Length: {length}\r\n\r\n{body}");
        self.stream.write_all(request.as_bytes()).await?;
        self.buffer.clear();
        let mut head = None;
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err("the server closed the connection".into());
            }
            if head.is_none() {
                head = Head::of(&self.buffer)?;
            }
            if head
                .as_ref()
                .is_some_and(|head| head.is_complete(&self.buffer))
            {
                return Ok(());
            }
        }
    }
}

/// A response head.
struct Head {
    end: usize,
    /// The body's length; without one, the body is chunked.
    length: Option<usize>,
}

impl Head {
    /// Parses it, if it is complete.
    fn of(buffer: &[u8]) -> Result<Option<Self>, Box<dyn Error>> {
        let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") else {
            return Ok(None);
        };
        let text = std::str::from_utf8(&buffer[..end])?;
        if !text.starts_with("HTTP/1.1 20") {
            return Err(String::from_utf8_lossy(buffer).into_owned().into());
        }
        let length = text
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        Ok(Some(Self {
            end: end + 4,
            length: length.map(str::parse).transpose()?,
        }))
    }

    fn is_complete(&self, buffer: &[u8]) -> bool {
        match self.length {
            Some(length) => buffer.len() >= self.end + length,
            None => buffer.ends_with(b"0\r\n\r\n"),
        }
    }
}
