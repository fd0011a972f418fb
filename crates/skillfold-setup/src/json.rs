//! JSON as clients have it, with comments and trailing commas, and the place of everything in it.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::entry::SyntaxFault;

/// How deep values may be nested.
const DEPTH: usize = 128;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct JsonNode {
    pub(crate) span: Range<usize>,
    pub(crate) kind: JsonKind,
}

#[derive(Clone, Debug)]
pub(crate) enum JsonKind {
    Object(Vec<Member>),
    List(Vec<JsonNode>),
    Scalar(Value),
}

/// A key, its value, and the comma behind them.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) start: usize,
    pub(crate) value: JsonNode,
    pub(crate) comma: Option<usize>,
}

impl JsonNode {
    pub(crate) fn value(&self) -> Value {
        match &self.kind {
            JsonKind::Object(members) => {
                let members = members.iter();
                let members = members.map(|member| (member.key.clone(), member.value.value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
            JsonKind::List(items) => Value::Array(items.iter().map(Self::value).collect()),
            JsonKind::Scalar(value) => value.clone(),
        }
    }
}

/// Reads a text that holds one value; nothing if it holds none.
pub(crate) fn parse(text: &str) -> Result<Option<JsonNode>, SyntaxFault> {
    let mut reader = JsonReader {
        text,
        at: 0,
        depth: 0,
    };
    reader.skip()?;
    if reader.at == text.len() {
        return Ok(None);
    }
    let node = reader.node()?;
    reader.skip()?;
    if reader.at < text.len() {
        return Err(reader.wrong("Something stands behind the end"));
    }
    Ok(Some(node))
}

struct JsonReader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl JsonReader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn wrong(&self, why: &str) -> SyntaxFault {
        SyntaxFault::new(self.at, why)
    }

    /// Skips blank space and comments.
    fn skip(&mut self) -> Result<(), SyntaxFault> {
        loop {
            let rest = self.rest();
            let blank = rest.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
            self.at += rest.len() - blank.len();
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.at += end + 2,
                    None => return Err(self.wrong("Comment has no end")),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn takes(&mut self, expected: char) -> bool {
        let is_there = self.rest().starts_with(expected);
        if is_there {
            self.at += expected.len_utf8();
        }
        is_there
    }

    fn node(&mut self) -> Result<JsonNode, SyntaxFault> {
        let start = self.at;
        if self.depth >= DEPTH {
            return Err(self.wrong("Nested too deep"));
        }
        self.depth += 1;
        let kind = match self.rest().chars().next() {
            Some('{') => self.object()?,
            Some('[') => self.list()?,
            Some('"') => JsonKind::Scalar(Value::from(self.string()?)),
            _ => self.word()?,
        };
        self.depth -= 1;
        let span = start..self.at;
        Ok(JsonNode { span, kind })
    }

    fn object(&mut self) -> Result<JsonKind, SyntaxFault> {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            self.skip()?;
            if self.takes('}') {
                return Ok(JsonKind::Object(members));
            }
            if members
                .last()
                .is_some_and(|last: &Member| last.comma.is_none())
            {
                return Err(self.wrong("Expected `,` or `}`"));
            }
            if self.rest().is_empty() {
                return Err(self.wrong("Ends where `}` is expected"));
            }
            let start = self.at;
            let key = self.string()?;
            self.skip()?;
            if !self.takes(':') {
                return Err(self.wrong("Expected `:`"));
            }
            self.skip()?;
            let value = self.node()?;
            let end = self.at;
            self.skip()?;
            let comma = self.at;
            let comma = self.takes(',').then_some(comma);
            if comma.is_none() {
                self.at = end;
            }
            members.push(Member {
                key,
                start,
                value,
                comma,
            });
        }
    }

    fn list(&mut self) -> Result<JsonKind, SyntaxFault> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.skip()?;
            if self.takes(']') {
                return Ok(JsonKind::List(items));
            }
            items.push(self.node()?);
            self.skip()?;
            if !self.takes(',') && !self.rest().starts_with(']') {
                return Err(self.wrong("Expected `,` or `]`"));
            }
        }
    }

    fn string(&mut self) -> Result<String, SyntaxFault> {
        let rest = self.rest();
        if !rest.starts_with('"') {
            return Err(self.wrong("Expected `\"`"));
        }
        let mut is_escaped = false;
        let end = rest.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == '"' && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            ends
        });
        let Some((end, _)) = end else {
            return Err(self.wrong("Text has no end"));
        };
        let text = serde_json::from_str(&rest[..=end]);
        let text = text.map_err(|_| self.wrong("Text is not as JSON has it"))?;
        self.at += end + 1;
        Ok(text)
    }

    /// Reads a number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<JsonKind, SyntaxFault> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        match serde_json::from_str(&rest[..end]) {
            Ok(value) => {
                self.at += end;
                Ok(JsonKind::Scalar(value))
            }
            Err(_) => Err(self.wrong("Expected a value")),
        }
    }
}
