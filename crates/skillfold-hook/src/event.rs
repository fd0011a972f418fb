//! Hook events sent by clients. Each client names the same fields differently.

use std::path::PathBuf;

use serde_json::{Map, Value};
use skillfold::{Environment, conversation::ConversationKey};

use crate::client::HookClient;

/// Maximum size of an event in bytes. Prompts may contain entire files.
pub const MAX_EVENT_BYTES: usize = 8 * 1024 * 1024;

/// An event sent by a client.
#[derive(Debug)]
#[non_exhaustive]
pub struct HookEvent {
    /// The client.
    pub client: HookClient,
    /// The event's name, as the client spells it.
    pub name: String,
    /// What happened.
    pub kind: EventKind,
    /// The conversation; `None` if the client does not identify it.
    pub conversation: Option<ConversationKey>,
    /// The client's working directory.
    pub directory: Option<PathBuf>,
}

/// What happened.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// The user sent a prompt.
    Prompt {
        /// The prompt.
        text: String,
        /// What the client sends to the model instead, if the response has to repeat it.
        transformed: Option<String>,
    },
    /// A conversation starts, or goes on after the client was closed.
    Started(Start),
    /// A conversation starts over.
    Cleared,
    /// The client dropped earlier messages, and accepts the skills again now.
    Compacted,
    /// The client drops earlier messages, and accepts the skills again with the next prompt.
    Compacting,
    /// A subagent of the conversation starts.
    AgentStarted(String),
    /// A subagent of the conversation stops.
    AgentStopped(String),
    /// The client loaded a skill with a tool of its own; its name for the skill.
    SkillLoaded(String),
    /// Anything else.
    Other,
}

/// How a conversation starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Start {
    /// As a new one.
    New,
    /// With what it had before.
    Resumed,
}

impl HookEvent {
    /// Parses an event. `client` is the client if known; otherwise it is recognized by the fields and the process's
    /// environment variables. Returns `None` if it is not an event.
    pub fn parse(
        bytes: &[u8],
        client: Option<HookClient>,
        environment: &Environment,
    ) -> Option<Self> {
        let fields: Map<String, Value> = serde_json::from_str(&decode(bytes)).ok()?;
        // Copilot CLI also calls the hooks of VS Code and Claude Code.
        let client = client.filter(|_| environment.client_variable("COPILOT_CLI").is_none());
        let client = client.unwrap_or_else(|| HookClient::recognise(&fields, environment));
        let text = |names: &[&str]| {
            let mut values = names.iter().filter_map(|name| fields.get(*name)?.as_str());
            values.find(|value| !value.is_empty())
        };
        let name = text(&["hook_event_name", "hookEventName", "hookName"]);
        let name = name.unwrap_or_else(|| name_by_fields(client, &fields));
        let conversation = text(&[
            "session_id",
            "sessionId",
            "conversation_id",
            "conversationId",
            "taskId",
            "transcript_path",
        ]);
        let agent = text(&["agent_id", "agentId"]);
        let kind = kind(client, name, agent, &fields);
        // These concern the conversation that the agent works for.
        let is_about_agent = matches!(
            kind,
            EventKind::AgentStarted(_) | EventKind::AgentStopped(_)
        );
        let agent = agent.filter(|_| !is_about_agent);
        let key = |id: &str| match agent {
            // In Codex an agent is its own thread, which it also uses to call the server.
            Some(agent) if client == HookClient::Codex => ConversationKey::new(agent, None),
            agent => ConversationKey::new(id, agent),
        };
        let roots = ["workspace_roots", "workspaceRoots"];
        let directory = text(&["cwd"]).or_else(|| {
            let mut roots = roots.iter().filter_map(|name| fields.get(*name));
            roots.find_map(|roots| roots.get(0)?.as_str())
        });
        let directory = directory.map(PathBuf::from);
        let project = || {
            environment
                .client_variable("DEVIN_PROJECT_DIR")
                .map(PathBuf::from)
        };
        Some(Self {
            kind,
            client,
            name: name.to_owned(),
            conversation: conversation.map(key),
            directory: directory
                .or_else(project)
                .filter(|folder| folder.is_absolute()),
        })
    }
}

/// Infers the event's name from its fields: Copilot CLI does not send it.
fn name_by_fields(client: HookClient, fields: &Map<String, Value>) -> &'static str {
    let has = |field: &str| fields.contains_key(field);
    match client {
        HookClient::CopilotCli if has("transformedPrompt") => "userPromptTransformed",
        HookClient::CopilotCli if has("source") && !has("prompt") => "sessionStart",
        HookClient::CopilotCli if has("trigger") && has("customInstructions") => "preCompact",
        _ => "",
    }
}

fn kind(
    client: HookClient,
    name: &str,
    agent: Option<&str>,
    fields: &Map<String, Value>,
) -> EventKind {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    match &*name.to_ascii_lowercase() {
        "userprompttransformed" => prompt(text("prompt"), text("transformedPrompt")),
        // Qwen also sends tool results, as prompts that were not submitted.
        "userpromptsubmit" if client == HookClient::Qwen => prompt(text("submitted_prompt"), None),
        "userpromptsubmit" | "beforesubmitprompt" | "beforeagent" => {
            let is_typed = text("source").is_none_or(|source| matches!(source, "user" | "sdk"));
            let nested = fields
                .get("userPromptSubmit")
                .and_then(|it| it.get("prompt"));
            let written = text("prompt").or_else(|| nested?.as_str());
            prompt(written.filter(|_| is_typed), None)
        }
        "sessionstart" => match text("source") {
            Some("compact") => EventKind::Compacted,
            Some("clear" | "new") => EventKind::Cleared,
            Some("resume" | "fork") => EventKind::Started(Start::Resumed),
            _ => EventKind::Started(Start::New),
        },
        // Its agents share the server's process with the conversation.
        "subagentstart" | "subagentstop" if client == HookClient::ClaudeCode => {
            let agent = agent.unwrap_or_default().to_owned();
            if name.eq_ignore_ascii_case("SubagentStart") {
                EventKind::AgentStarted(agent)
            } else {
                EventKind::AgentStopped(agent)
            }
        }
        "posttooluse" if client == HookClient::ClaudeCode && text("tool_name") == Some("Skill") => {
            let input = fields.get("tool_input");
            let skill = input.and_then(|input| input.get("skill")?.as_str());
            skill.map_or(EventKind::Other, |skill| {
                EventKind::SkillLoaded(skill.to_owned())
            })
        }
        // No session start follows for an agent.
        "precompact" if client == HookClient::Codex && agent.is_some() => EventKind::Compacting,
        // These clients send a session start afterwards, which accepts skills.
        "precompact"
            if matches!(
                client,
                HookClient::ClaudeCode | HookClient::Codex | HookClient::Qwen
            ) =>
        {
            EventKind::Other
        }
        // Gemini sends it every turn, before it knows whether it will compress.
        "precompress" if text("trigger") != Some("manual") => EventKind::Other,
        "precompact" | "precompress" | "postcompaction" => EventKind::Compacting,
        // Claude Code and Codex send it in addition to a session start.
        "postcompact" if client == HookClient::OpenCode => EventKind::Compacting,
        _ => EventKind::Other,
    }
}

fn prompt(text: Option<&str>, transformed: Option<&str>) -> EventKind {
    match text.filter(|text| !text.trim().is_empty()) {
        Some(text) => EventKind::Prompt {
            text: text.to_owned(),
            transformed: transformed.map(str::to_owned),
        },
        None => EventKind::Other,
    }
}

/// Decodes an event: UTF-8, or UTF-16 with a byte-order mark, which some Windows shells send.
fn decode(bytes: &[u8]) -> String {
    let from_utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        char::decode_utf16(units)
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => from_utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => from_utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] | rest => String::from_utf8_lossy(rest).into_owned(),
    }
}
