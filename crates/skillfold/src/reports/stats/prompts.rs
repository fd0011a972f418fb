//! The last prompts that the hook heard, from its log.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use serde_json::{Map, Value};
use skillfold_core::text::utc_ms;

use super::line::LogLines;

/// A prompt that the hook heard, and what it added.
#[derive(Clone, Debug, Default, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HookPrompt {
    /// When, in UTC as RFC 3339.
    pub time: String,
    /// The client.
    pub client: String,
    /// The start of a digest of the conversation's id; absent if the client does not name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The prompt; absent unless the setting `log_content` was on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The skills that matched.
    pub skills: Vec<HookPromptSkill>,
    /// Skills that were loaded after a line; known with the next prompt, like the next two.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loaded: Vec<String>,
    /// Skills that a line suggested and that were not loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
    /// Skills that were loaded although the hook had not offered them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
}

/// A skill that matched a prompt.
#[derive(Clone, Debug, Default, serde::Serialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HookPromptSkill {
    /// The skill's id.
    pub id: String,
    /// What was done: `given`, `suggested`, `named`, `known`, `no_room`, `later` or `failed`.
    pub outcome: String,
    /// The signal by which it was chosen: `mention`, `phrase`, `trigger` or `search`.
    pub by: String,
    /// The trigger, the name or the words that matched; empty unless the setting `log_content` was on.
    pub evidence: String,
    /// How likely it is the right one, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
}

impl HookPrompt {
    /// Reads the last `count` prompts of a log. Lines that are broken, or about something else, are skipped.
    ///
    /// # Errors
    ///
    /// An error of the reader.
    pub fn read_last(log: impl BufRead, count: usize) -> io::Result<Vec<Self>> {
        let mut prompts: VecDeque<Self> = VecDeque::new();
        let mut lines = LogLines::new(log);
        while let Some(line) = lines.next_line()? {
            let Ok(Value::Object(line)) = serde_json::from_slice(line) else {
                continue;
            };
            match text(&line, "event").as_deref() {
                Some("prompt") => {
                    prompts.push_back(Self::parse(&line));
                    if prompts.len() > count {
                        prompts.pop_front();
                    }
                }
                Some("skill of a prompt") => add_skill(&mut prompts, &line),
                _ => {}
            }
        }
        Ok(prompts.into())
    }

    fn parse(line: &Map<String, Value>) -> Self {
        let time_ms = line.get("time_ms").and_then(Value::as_u64);
        Self {
            time: utc_ms(time_ms.unwrap_or_default()),
            client: text(line, "client").unwrap_or_default(),
            conversation: text(line, "conversation"),
            request: text(line, "request"),
            ..Self::default()
        }
    }
}

/// Adds a skill to the last prompt of its conversation.
fn add_skill(prompts: &mut VecDeque<HookPrompt>, line: &Map<String, Value>) {
    let conversation = text(line, "conversation");
    let mut prompts = prompts.iter_mut().rev();
    let prompt = prompts.find(|prompt| prompt.conversation == conversation);
    let (Some(prompt), Some(outcome)) = (prompt, text(line, "outcome")) else {
        return;
    };
    let id = text(line, "skill").unwrap_or_default();
    match &*outcome {
        "loaded" => prompt.loaded.push(id),
        "ignored" => prompt.ignored.push(id),
        "missed" => prompt.missed.push(id),
        _ => prompt.skills.push(HookPromptSkill {
            id,
            outcome,
            by: text(line, "by").unwrap_or_default(),
            evidence: text(line, "evidence").unwrap_or_default(),
            confidence: line.get("confidence").and_then(Value::as_f64),
        }),
    }
}

fn text(line: &Map<String, Value>, name: &str) -> Option<String> {
    Some(line.get(name)?.as_str()?.to_owned())
}
