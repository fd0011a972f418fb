//! The model: a scripted one, or one behind a server.

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

/// One that needs no skill, one whose skill comes by itself, and one whose skill the model loads.
pub(crate) const REQUESTS: [&str; 3] = [
    "What is 2+2?",
    "Greet Alice in French",
    "Load the skill for reviews",
];

/// What the loop needs of a model.
pub(crate) trait Model {
    /// Returns the model's next message: a text, or calls of tools.
    fn answer(&mut self, messages: &[Value], tools: &[Value]) -> Result<Value, Box<dyn Error>>;
}

/// Returns the model that the variables name, or else the scripted one.
pub(crate) fn model() -> Box<dyn Model> {
    #[expect(
        clippy::disallowed_methods,
        reason = "an example is a program of its own"
    )]
    let variable = |name: &str| std::env::var(name).ok();
    let url = variable("OPENAI_BASE_URL").unwrap_or_default();
    match variable("MODEL") {
        Some(name) => Box::new(HttpModel { url, name }),
        None => Box::new(ScriptedModel),
    }
}

/// Loads a skill if it is asked to, and says "ok" otherwise.
pub(crate) struct ScriptedModel;

impl Model for ScriptedModel {
    fn answer(&mut self, messages: &[Value], _tools: &[Value]) -> Result<Value, Box<dyn Error>> {
        if messages[messages.len() - 1]["content"] != REQUESTS[2] {
            return Ok(json!({ "role": "assistant", "content": "ok" }));
        }
        let function =
            json!({ "name": "load_skill", "arguments": r#"{"skill_id": "code-review"}"# });
        let call = json!({ "id": "call-1", "type": "function", "function": function });
        Ok(json!({ "role": "assistant", "content": "", "tool_calls": [call] }))
    }
}

/// A model behind the chat API of `OpenAI`, over plain HTTP.
struct HttpModel {
    url: String,
    name: String,
}

impl Model for HttpModel {
    fn answer(&mut self, messages: &[Value], tools: &[Value]) -> Result<Value, Box<dyn Error>> {
        let rest = self
            .url
            .strip_prefix("http://")
            .ok_or("OPENAI_BASE_URL must start with http://")?;
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let body = json!({ "model": self.name, "messages": messages, "tools": tools }).to_string();
        let length = body.len();
        let mut stream = TcpStream::connect(host)?;
        // The answer to HTTP 1.0 has no chunks, and ends with the connection.
        let request = format!(
            "POST {path}/chat/completions HTTP/1.0\r\nHost: {host}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let mut body: Value = serde_json::from_str(body).unwrap_or_default();
        match body.pointer_mut("/choices/0/message") {
            Some(message) => Ok(message.take()),
            None => Err(answer.into()),
        }
    }
}

#[test]
fn model_is_called_through_the_chat_api() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = String::new();
        while !request.ends_with("\"tools\":[]}") {
            let mut bytes = [0; 1024];
            let length = stream.read(&mut bytes).unwrap();
            request += str::from_utf8(&bytes[..length]).unwrap();
        }
        let answer = r#"{"choices": [{"message": {"role": "assistant", "content": "fine"}}]}"#;
        write!(stream, "HTTP/1.0 200 OK\r\n\r\n{answer}").unwrap();
        request
    });
    let name = "small".to_owned();
    let messages = [json!({ "role": "user", "content": "Hello" })];
    let answer = HttpModel { url, name }.answer(&messages, &[]).unwrap();
    assert_eq!(answer["content"], "fine");
    let request = server.join().unwrap();
    assert!(request.starts_with("POST /v1/chat/completions HTTP/1.0\r\n"));
    assert!(request.contains("\"model\":\"small\""));
}
