//! Lines that are too long for a message: each is answered, and never in memory whole.

use rmcp::ErrorData;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWriteExt as _, BufReader, DuplexStream};

/// Bytes of the longest line that is taken. The SDK drops a longer one without a word to the client.
const LONGEST: usize = 16 * 1024 * 1024;

/// Bytes of the longest id that is given back.
const ID: usize = 256;

/// The method of the request that stands for a line that is too long.
pub(crate) const TOO_LONG: &str = "skillfold/line-too-long";

/// Returns the answer to a line that is too long.
pub(crate) fn too_long() -> ErrorData {
    let message = format!("The message is longer than {} MiB", LONGEST / 1024 / 1024);
    ErrorData::invalid_request(message, None)
}

/// Passes lines on until there are no more. In the place of one that is too long comes a request with its id that is
/// answered by an error; one without an id is answered as no request at all.
pub(crate) async fn bound(from: impl AsyncRead + Unpin, mut to: DuplexStream) {
    let mut from = BufReader::new(from);
    let (mut line, mut long): (Vec<u8>, Option<IdScanner>) = (Vec::new(), None);
    let mut is_first = true;
    // Whatever goes wrong with a stream is its end.
    while let Ok(read) = from.fill_buf().await {
        if read.is_empty() {
            return;
        }
        let end = read.iter().position(|byte| *byte == b'\n');
        let part = &read[..end.unwrap_or(read.len())];
        match &mut long {
            Some(id) => id.read(part),
            None if line.len() + part.len() > LONGEST => {
                let mut id = IdScanner::default();
                id.read(&line);
                id.read(part);
                line = Vec::new();
                long = Some(id);
            }
            None => line.extend_from_slice(part),
        }
        let consumed = part.len() + usize::from(end.is_some());
        from.consume(consumed);
        if end.is_none() {
            continue;
        }
        if let Some(id) = long.take() {
            tracing::warn!(limit = LONGEST, "a message is too long");
            // Before the handshake no other request is answered.
            let id = id.found().filter(|_| !is_first).unwrap_or("null");
            line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{TOO_LONG}"}}"#).into_bytes();
        }
        is_first = false;
        line.push(b'\n');
        if to.write_all(&line).await.is_err() {
            return;
        }
        line.clear();
        line.shrink_to(ID);
    }
}

/// Looks for the id of a message as its bytes go by: the value of `id` in the outermost object.
#[derive(Debug, Default)]
struct IdScanner {
    depth: usize,
    is_text: bool,
    is_escaped: bool,
    /// The text or number in the outermost object that is being read, or was read last.
    token: Vec<u8>,
    /// Whether the value that comes is that of `id`.
    is_id: bool,
    found: Option<String>,
}

impl IdScanner {
    fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.next(*byte);
        }
    }

    fn next(&mut self, byte: u8) {
        let is_outermost = self.depth == 1;
        if self.is_text {
            self.keep(byte);
            self.is_text = byte != b'"' || self.is_escaped;
            self.is_escaped = byte == b'\\' && !self.is_escaped;
            return;
        }
        match byte {
            b'"' => {
                self.is_text = true;
                if is_outermost {
                    self.token.clear();
                }
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.token.clear();
            }
            b':' if is_outermost => {
                self.is_id = self.token == br#""id""#;
                self.token.clear();
            }
            b',' | b'}' | b']' => {
                if is_outermost && self.is_id {
                    self.found = id(&self.token);
                    self.is_id = false;
                }
                self.token.clear();
                self.depth = self.depth.saturating_sub(usize::from(byte != b','));
            }
            _ if byte.is_ascii_whitespace() => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= ID {
            self.token.push(byte);
        }
    }

    fn found(&self) -> Option<&str> {
        self.found.as_deref()
    }
}

/// Returns an id as JSON, if it is one: a whole number or a text.
fn id(token: &[u8]) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(token).ok()?;
    let is_id = token.len() <= ID && (value.is_i64() || value.is_string());
    is_id.then(|| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::IdScanner;

    fn id(text: &str) -> Option<String> {
        let mut id = IdScanner::default();
        // Byte by byte, as it may come.
        text.as_bytes().chunks(1).for_each(|part| id.read(part));
        id.found
    }

    #[test]
    fn id_is_found_wherever_it_stands_in_the_outermost_object() {
        let found = |text| id(text).unwrap_or_default();
        assert_eq!(found(r#"{"id":7,"params":{"id":8}}"#), "7");
        assert_eq!(
            found(r#"{"params":{"id":[1,{"id":2}]}, "id" : "a\"b" }"#),
            r#""a\"b""#
        );
        assert_eq!(
            found(r#"{"method":"id","params":"\"id\":9","id":-3}"#),
            "-3"
        );
    }

    #[test]
    fn what_is_no_id_is_not_given_back() {
        for text in [
            r#"{"params":{"id":1}}"#,
            r#"{"id":null}"#,
            r#"{"id":1.5}"#,
            r#"{"id":{"a":1}}"#,
            r#"{"id":[1]}"#,
            r#"{"id":1"#,
            r#"["id",1]"#,
            "}}}}",
            "",
        ] {
            assert_eq!(id(text), None, "{text}");
        }
        assert_eq!(id(&format!(r#"{{"id":"{}"}}"#, "a".repeat(1000))), None);
    }
}
