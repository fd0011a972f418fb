//! What a hook prints, in each client's format.

use serde_json::{Value, json};

use crate::client::HookClient;
use crate::event::{EventKind, HookEvent};

/// Prefix for Codex: it appends the text after the prompt, where a model may mistake it for the task.
const CODEX_INTRODUCTION: &str = "Context for the request above; carry that request out.\n\n";

/// Formats text to add to the context. Clients refuse or ignore other fields.
pub fn format_answer(event: &HookEvent, text: &str) -> String {
    let is_start = matches!(event.kind, EventKind::Compacted);
    let value: Value = match event.client {
        HookClient::Amp | HookClient::Kiro | HookClient::OpenCode => return text.to_owned(),
        // Cursor also calls Claude Code's hooks, and then expects their format.
        HookClient::Cursor if event.name == "UserPromptSubmit" => claude_answer(event, text),
        HookClient::Cursor if is_start => json!({ "additional_context": text }),
        HookClient::Cursor => json!({ "continue": true, "additional_context": text }),
        HookClient::CopilotCli => match &event.kind {
            EventKind::Prompt {
                transformed: Some(transformed),
                ..
            } => json!({ "modifiedTransformedPrompt": format!("{transformed}\n\n{text}") }),
            _ => json!({ "additionalContext": text }),
        },
        HookClient::Cline => {
            json!({ "cancel": false, "contextModification": text, "errorMessage": "" })
        }
        HookClient::Codex => claude_answer(event, &format!("{CODEX_INTRODUCTION}{text}")),
        HookClient::ClaudeCode
        | HookClient::Devin
        | HookClient::Gemini
        | HookClient::Qwen
        | HookClient::VsCode => claude_answer(event, text),
    };
    value.to_string()
}

/// Returns Claude Code's format, which others adopted.
fn claude_answer(event: &HookEvent, text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": event.name, "additionalContext": text } })
}
