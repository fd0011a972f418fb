//! Answers lines that are too long for a message, without ever holding a complete one in memory.

use rmcp::ErrorData;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWriteExt as _, BufReader, DuplexStream};

/// Maximum length of a line in bytes. The SDK silently drops longer ones.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Maximum length in bytes of an id echoed in the error.
const MAX_ID_BYTES: usize = 256;

/// The method of the placeholder request that replaces an overlong line.
pub(crate) const TOO_LONG_METHOD: &str = "skillfold/line-too-long";

/// Returns the error for an overlong line.
pub(crate) fn too_long_error() -> ErrorData {
    let message = format!(
        "The message is longer than {} MiB",
        MAX_LINE_BYTES / 1024 / 1024
    );
    ErrorData::invalid_request(message, None)
}

/// Forwards lines until the input ends. Replaces an overlong line with a request that has its id and is answered with
/// an error. Without an id, the client gets the error for an invalid request.
pub(crate) async fn forward_lines(from: impl AsyncRead + Unpin, mut to: DuplexStream) {
    let mut from = BufReader::new(from);
    let (mut line, mut long_line): (Vec<u8>, Option<IdScanner>) = (Vec::new(), None);
    let mut is_first = true;
    // Any stream error is treated as its end.
    while let Ok(read) = from.fill_buf().await {
        if read.is_empty() {
            return;
        }
        let end = read.iter().position(|byte| *byte == b'\n');
        let part = &read[..end.unwrap_or(read.len())];
        match &mut long_line {
            Some(scanner) => scanner.scan(part),
            None if line.len() + part.len() > MAX_LINE_BYTES => {
                let mut scanner = IdScanner::default();
                scanner.scan(&line);
                scanner.scan(part);
                line = Vec::new();
                long_line = Some(scanner);
            }
            None => line.extend_from_slice(part),
        }
        let consumed = part.len() + usize::from(end.is_some());
        from.consume(consumed);
        if end.is_none() {
            continue;
        }
        if let Some(scanner) = long_line.take() {
            tracing::warn!(limit = MAX_LINE_BYTES, "a message is too long");
            // Before the handshake no other request is answered.
            let id = scanner.id().filter(|_| !is_first).unwrap_or("null");
            line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{TOO_LONG_METHOD}"}}"#)
                .into_bytes();
        }
        is_first = false;
        line.push(b'\n');
        if to.write_all(&line).await.is_err() {
            return;
        }
        line.clear();
        line.shrink_to(MAX_ID_BYTES);
    }
}

/// Finds a message's id as its bytes pass by: the value of `id` in the outermost object.
#[derive(Debug, Default)]
struct IdScanner {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// The string or number in the outermost object that is being read or was read last.
    token: Vec<u8>,
    /// Whether the next value belongs to `id`.
    is_id: bool,
    id: Option<String>,
}

impl IdScanner {
    fn scan(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.scan_byte(*byte);
        }
    }

    fn scan_byte(&mut self, byte: u8) {
        let is_outermost = self.depth == 1;
        if self.in_string {
            self.push_token(byte);
            self.in_string = byte != b'"' || self.is_escaped;
            self.is_escaped = byte == b'\\' && !self.is_escaped;
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                if is_outermost {
                    self.token.clear();
                }
                self.push_token(byte);
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
                    self.id = parse_id(&self.token);
                    self.is_id = false;
                }
                self.token.clear();
                self.depth = self.depth.saturating_sub(usize::from(byte != b','));
            }
            _ if byte.is_ascii_whitespace() => {}
            _ => self.push_token(byte),
        }
    }

    fn push_token(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= MAX_ID_BYTES {
            self.token.push(byte);
        }
    }

    fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

/// Returns an id as JSON if it is valid: an integer or a string.
fn parse_id(token: &[u8]) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(token).ok()?;
    let is_id = token.len() <= MAX_ID_BYTES && (value.is_i64() || value.is_string());
    is_id.then(|| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::IdScanner;

    fn id(text: &str) -> Option<String> {
        let mut scanner = IdScanner::default();
        // Byte by byte, as input may arrive.
        text.as_bytes()
            .chunks(1)
            .for_each(|part| scanner.scan(part));
        scanner.id
    }

    #[test]
    fn id_is_found_anywhere_in_the_outermost_object() {
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
    fn invalid_id_is_not_echoed() {
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
