//! Each client's events, and the response formats.

use std::fmt::Write as _;

use serde_json::{Value, json};
use skillfold::Environment;
use skillfold_hook::{HookClient, HookEvent};

use crate::support::User;

/// A prompt event as each client sends it, with the variables it sets.
fn prompts() -> Vec<(HookClient, Vec<&'static str>, Value)> {
    let claude = |extra: Value| {
        let mut event = json!({
            "session_id": "1", "transcript_path": "/t.jsonl", "cwd": "/", "hook_event_name": "UserPromptSubmit",
            "prompt": "Say bonjour",
        });
        event
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        event
    };
    vec![
        (
            HookClient::ClaudeCode,
            vec![],
            claude(json!({ "permission_mode": "default" })),
        ),
        (
            HookClient::Codex,
            vec![],
            claude(json!({ "turn_id": "2", "model": "m" })),
        ),
        (
            HookClient::Gemini,
            vec!["GEMINI_SESSION_ID"],
            claude(json!({ "hook_event_name": "BeforeAgent" })),
        ),
        (
            HookClient::Qwen,
            vec!["QWEN_PROJECT_DIR"],
            claude(json!({ "submitted_prompt": "Say bonjour" })),
        ),
        (
            HookClient::VsCode,
            vec![],
            json!({ "hookEventName": "UserPromptSubmit", "sessionId": "1", "cwd": "/", "prompt": "Say bonjour" }),
        ),
        (
            HookClient::Cursor,
            vec!["CURSOR_VERSION"],
            json!({
                "conversation_id": "1", "hook_event_name": "beforeSubmitPrompt", "cursor_version": "3",
                "workspace_roots": ["/"], "prompt": "Say bonjour",
            }),
        ),
        (
            HookClient::CopilotCli,
            vec!["COPILOT_CLI"],
            json!({
                "hookEventName": "userPromptTransformed", "sessionId": "1", "cwd": "/", "prompt": "Say bonjour",
                "transformedPrompt": "<now/>Say bonjour",
            }),
        ),
        (
            HookClient::Cline,
            vec![],
            json!({
                "clineVersion": "4", "hookName": "UserPromptSubmit", "taskId": "1", "workspaceRoots": ["/"],
                "userPromptSubmit": { "prompt": "Say bonjour" },
            }),
        ),
        (
            HookClient::Devin,
            vec!["DEVIN_PROJECT_DIR"],
            claude(json!({ "cwd": null })),
        ),
    ]
}

#[test]
fn each_client_gets_its_own_answer_format() {
    let mut shown = String::new();
    for (client, _, event) in prompts() {
        let answer = User::new().send(client, &event).unwrap();
        writeln!(shown, "{client}: {answer}").unwrap();
    }
    for client in [HookClient::Kiro, HookClient::OpenCode, HookClient::Amp] {
        let event = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "1", "prompt": "Say bonjour" });
        let answer = User::new().send(client, &event).unwrap();
        writeln!(shown, "{client}: {answer}").unwrap();
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn clients_are_recognised_by_fields_and_variables() {
    for (client, variables, event) in prompts() {
        let environment = Environment::new("/nowhere");
        let environment = variables
            .iter()
            .fold(environment, |it, name| it.variable(*name, "/set"));
        let event = HookEvent::parse(event.to_string().as_bytes(), None, &environment).unwrap();
        assert_eq!(event.client, client);
        assert!(event.conversation.is_some(), "{client}");
        assert!(event.directory.is_some(), "{client}");
    }
}

#[test]
fn synthetic_prompts_are_not_answered() {
    let send = |client, event: Value| User::new().send(client, &event);
    let event = |extra: Value| {
        let mut event = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "1", "prompt": "Say bonjour" });
        event
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        event
    };
    for source in ["system", "loop_wakeup", "schedule_wakeup", "poll_event"] {
        assert_eq!(
            send(HookClient::ClaudeCode, event(json!({ "source": source }))),
            None
        );
    }
    assert!(send(HookClient::ClaudeCode, event(json!({ "source": "user" }))).is_some());
    // Qwen sends tool results as prompts.
    assert_eq!(send(HookClient::Qwen, event(json!({}))), None);
    assert_eq!(
        send(HookClient::ClaudeCode, event(json!({ "prompt": " " }))),
        None
    );
}

#[test]
fn text_in_other_encodings_is_read() {
    let event = r#"{"hook_event_name":"UserPromptSubmit","session_id":"1","prompt":"Grüße 👋"}"#;
    let units: Vec<u16> = event.encode_utf16().collect();
    let little = units.iter().flat_map(|unit| unit.to_le_bytes());
    let big = units.iter().flat_map(|unit| unit.to_be_bytes());
    let texts: [Vec<u8>; 4] = [
        event.as_bytes().to_vec(),
        [b"\xef\xbb\xbf", event.as_bytes()].concat(),
        [0xff, 0xfe].into_iter().chain(little).collect(),
        [0xfe, 0xff].into_iter().chain(big).collect(),
    ];
    for bytes in texts {
        let event = HookEvent::parse(&bytes, None, &Environment::new("/nowhere")).unwrap();
        assert_eq!(
            event.kind,
            skillfold_hook::EventKind::Prompt {
                text: "Grüße 👋".to_owned(),
                transformed: None
            }
        );
    }
}
