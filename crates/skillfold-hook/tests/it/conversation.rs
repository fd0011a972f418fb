//! What a conversation gets over several prompts.

use serde_json::json;
use skillfold_hook::{AnswerClaim, HookClient};

use crate::support::User;

#[test]
fn instructions_are_given_once_per_conversation_and_agent() {
    let mut user = User::new();
    assert!(
        user.prompt("a", "Say bonjour to Alice")
            .contains("Say hello.")
    );
    assert_eq!(user.prompt("a", "Say bonjour to Bob"), "");
    assert_eq!(user.prompt("a", "continue"), "");
    assert!(
        user.prompt("b", "Say bonjour to Alice")
            .contains("Say hello.")
    );
    let agent = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "a", "agent_id": "1", "prompt": "Say bonjour",
    });
    assert!(user.claude(&agent).contains("Say hello."));
    assert_eq!(user.claude(&agent), "");
}

#[test]
fn copilot_events_without_a_name_are_recognised_and_answered_once() {
    let mut user = User::new().variable("COPILOT_CLI");
    let event = |prompt: &str| json!({ "sessionId": "a", "timestamp": 1, "cwd": "/", "prompt": prompt, "transformedPrompt": format!("<now>\n\n{prompt}") });
    let answer = user
        .send(HookClient::VsCode, &event("Say bonjour"))
        .unwrap();
    assert!(
        answer.starts_with(r#"{"modifiedTransformedPrompt":"<now>"#),
        "{answer}"
    );
    assert_eq!(
        user.send(HookClient::CopilotCli, &event("Say bonjour to Bob")),
        None
    );
    let compacting = json!({ "sessionId": "a", "timestamp": 1, "cwd": "/", "transcriptPath": "/t", "trigger": "manual", "customInstructions": "" });
    assert_eq!(user.send(HookClient::CopilotCli, &compacting), None);
    let again = user.send(HookClient::CopilotCli, &event("go on")).unwrap();
    assert!(again.contains("Say hello."), "{again}");
    let submitted = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "b", "prompt": "Say bonjour" });
    let answer = user.send(HookClient::VsCode, &submitted).unwrap();
    assert!(answer.starts_with(r#"{"additionalContext":"#), "{answer}");
}

#[test]
fn codex_agent_gets_instructions_again_after_pre_compact() {
    let mut user = User::new();
    let event = |name: &str| json!({ "hook_event_name": name, "session_id": "a", "agent_id": "t", "turn_id": "1", "model": "m", "prompt": "Say bonjour" });
    let first = user.send(HookClient::Codex, &event("UserPromptSubmit"));
    assert!(first.unwrap().contains("Say hello."));
    assert_eq!(
        user.send(HookClient::Codex, &event("UserPromptSubmit")),
        None
    );
    assert_eq!(user.send(HookClient::Codex, &event("PreCompact")), None);
    let again = user.send(HookClient::Codex, &event("UserPromptSubmit"));
    assert!(again.unwrap().contains("Say hello."));
}

#[test]
fn changed_instructions_are_given_again() {
    let mut user = User::new();
    assert!(user.prompt("a", "Say bonjour").contains("Say hello."));
    user.write(
        ".skillfold/skills/greet/SKILL.md",
        "---\nname: greet\ndescription: Says hello in French\ntriggers: [say bonjour]\n---\nSay good day.\n",
    );
    assert!(user.prompt("a", "Say bonjour").contains("Say good day."));
}

#[test]
fn only_instructions_are_given_again_after_a_compaction() {
    let mut user = User::new();
    user.prompt("a", "Say bonjour");
    let compacted =
        json!({ "hook_event_name": "SessionStart", "session_id": "a", "source": "compact" });
    assert!(user.claude(&compacted).contains("Say hello."));
    assert_eq!(user.prompt("a", "Say bonjour"), "");
    let other =
        json!({ "hook_event_name": "SessionStart", "session_id": "b", "source": "compact" });
    assert_eq!(user.claude(&other), "");
    for source in ["startup", "resume", "fork"] {
        let start =
            json!({ "hook_event_name": "SessionStart", "session_id": "a", "source": source });
        assert_eq!(user.claude(&start), "", "{source}");
        assert_eq!(user.prompt("a", "Say bonjour"), "", "{source}");
    }
    let clear = json!({ "hook_event_name": "SessionStart", "session_id": "a", "source": "clear" });
    assert_eq!(user.claude(&clear), "");
    assert!(user.prompt("a", "Say bonjour").contains("Say hello."));
}

#[test]
fn pre_compact_event_gives_instructions_again_with_the_next_prompt() {
    let mut user = User::new();
    let prompt = |prompt: &str| json!({ "hook_event_name": "BeforeAgent", "session_id": "a", "prompt": prompt });
    let first = user
        .send(HookClient::Gemini, &prompt("Say bonjour"))
        .unwrap();
    assert!(first.contains("Say hello."), "{first}");
    let compress = |trigger: &str| json!({ "hook_event_name": "PreCompress", "session_id": "a", "trigger": trigger });
    // Gemini sends this every turn, whether or not it compresses.
    assert_eq!(user.send(HookClient::Gemini, &compress("auto")), None);
    assert_eq!(user.send(HookClient::Gemini, &prompt("next")), None);
    assert_eq!(user.send(HookClient::Gemini, &compress("manual")), None);
    let again = user.send(HookClient::Gemini, &prompt("continue")).unwrap();
    assert!(again.contains("Say hello."), "{again}");
    assert_eq!(user.send(HookClient::Gemini, &prompt("go on")), None);
}

#[test]
fn clock_going_backwards_loses_nothing() {
    let mut user = User::new();
    assert!(user.prompt("a", "Say bonjour").contains("Say hello."));
    user.set_clock_back();
    assert_eq!(user.prompt("a", "Say bonjour"), "");
    assert!(user.prompt("b", "Say bonjour").contains("Say hello."));
    assert_eq!(user.prompt("a", "Say bonjour once more"), "");
}

#[test]
fn prompt_received_by_two_hooks_is_answered_once() {
    let mut user = User::new();
    let event = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "a", "prompt": "Say bonjour" });
    let first = user.send(HookClient::Cursor, &event);
    assert!(first.is_some());
    assert_eq!(user.send_at_once(HookClient::ClaudeCode, &event), None);
}

#[test]
fn late_answer_is_not_recorded_as_given() {
    let mut user = User::new();
    let event = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "a", "prompt": "Say bonjour" });
    let late = AnswerClaim::default();
    assert!(late.give_up());
    let client = HookClient::ClaudeCode;
    assert_eq!(user.send_claimed(client, &event, late), None);
    assert!(user.prompt("a", "Say bonjour").contains("Say hello."));
    let claimed = AnswerClaim::default();
    assert!(claimed.claim());
    assert!(!claimed.give_up(), "it is waited for what is recorded");
}

#[test]
fn skill_loaded_by_the_client_itself_is_named_once() {
    let mut user = User::new();
    let request = "Use the pdf-forms skill to fill in the tax form";
    let text = user.prompt("a", request);
    assert_eq!(
        text,
        "The skill `pdf-forms` fits this request; load it first."
    );
    assert_eq!(user.prompt("a", request), "");
    assert_eq!(user.prompt("a", request), "");
    let compacted =
        json!({ "hook_event_name": "SessionStart", "session_id": "a", "source": "compact" });
    assert_eq!(user.claude(&compacted), "");
    assert_eq!(user.prompt("a", request), text, "after a compaction");
    let prompt = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "b", "turn_id": "1", "model": "m", "prompt": request });
    let answer = user.send(HookClient::Codex, &prompt).unwrap();
    assert!(
        answer.contains("Fill it in."),
        "Codex does not search that folder: {answer}"
    );
}

#[test]
fn skill_that_the_client_no_longer_lists_is_given() {
    let mut user = User::new();
    user.write(
        ".claude/settings.json",
        r#"{"skillOverrides": {"pdf-forms": "user-invocable-only"}}"#,
    );
    let request = "Use the pdf-forms skill to fill in the tax form";
    let added = user.prompt("a", request);
    assert!(added.contains("Fill it in."), "{added}");
}

#[test]
fn instructions_over_the_client_limit_are_only_named() {
    let mut user = User::new();
    let text = user.prompt("a", "Please do the large thing");
    // The number of tokens depends on the folder's path.
    let text = text.replace(char::is_numeric, "#");
    insta::assert_snapshot!(text, @"
    Skills for this request:
    - large: matched, #### tokens: call load_skill
    ");
    assert_eq!(user.prompt("a", "Please do the large thing"), "", "once");
}

#[test]
fn hook_only_names_skills_if_configured() {
    let mut user = User::new().set("hook", "suggest");
    let text = user.prompt("a", "Say bonjour to Alice");
    insta::assert_snapshot!(text, @"
    Skills for this request:
    - greet: may fit, call load_skill: Says hello in French
    ");
    assert_eq!(user.prompt("a", "Say bonjour to Bob"), "");
    let mut user = User::new().set("hook", "off");
    assert_eq!(user.prompt("a", "Say bonjour to Alice"), "");
}

#[test]
fn conversation_without_saved_state_gets_lines_only() {
    let mut user = User::new();
    let unnamed = json!({ "hook_event_name": "UserPromptSubmit", "prompt": "Say bonjour" });
    let first = user.claude(&unnamed);
    assert!(
        !first.is_empty() && !first.contains("Say hello."),
        "{first}"
    );
    assert_eq!(user.claude(&unnamed), first);
    user.write(
        ".local/state/skillfold/conversations",
        "a file where the folder has to be",
    );
    let text = user.prompt("a", "Say bonjour");
    assert_eq!(text, first);
}

#[test]
fn damaged_state_is_replaced() {
    let mut user = User::new();
    user.prompt("a", "Say bonjour");
    let folder = user.path(".local/state/skillfold/conversations");
    for damage in ["", "{", "{\"version\":9}", "\u{0}", "[]"] {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some() {
                std::fs::write(path, damage).unwrap();
            }
        }
        assert!(
            user.prompt("a", "Say bonjour").contains("Say hello."),
            "{damage:?}"
        );
        assert_eq!(user.prompt("a", "Say bonjour"), "", "{damage:?}");
    }
}

#[test]
fn saved_state_contains_no_conversation_text() {
    let mut user = User::new();
    user.prompt("the-id-of-a-session", "Say bonjour to somebody secret");
    user.prompt("the-id-of-a-session", "The password is hunter2");
    let folder = user.path(".local/state/skillfold/conversations");
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let name = entry.file_name().into_string().unwrap();
        for word in ["secret", "hunter2", "bonjour", "the-id-of-a-session"] {
            assert!(
                !text.contains(word) && !name.contains(word),
                "{name}: {text}"
            );
        }
    }
}

#[test]
fn concurrent_hooks_lose_nothing() {
    let user = &User::new();
    let prompts = [
        "Say bonjour",
        "Please do the large thing",
        "Say bonjour again",
        "Use pdf-forms",
    ];
    let events = prompts.map(|prompt| {
        json!({ "hook_event_name": "UserPromptSubmit", "session_id": "a", "prompt": prompt })
    });
    let answers: Vec<_> = std::thread::scope(|scope| {
        let started: Vec<_> = events
            .iter()
            .map(|event| scope.spawn(move || user.send_at_once(HookClient::ClaudeCode, event)))
            .collect();
        started
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let given = answers.iter().flatten();
    assert_eq!(
        given.filter(|answer| answer.contains("Say hello.")).count(),
        1,
        "{answers:?}"
    );
}

#[test]
fn common_word_trigger_gives_no_instructions() {
    let mut user = User::new();
    user.write(
        ".skillfold/skills/pandas-pro/SKILL.md",
        "---\nname: pandas-pro\ndescription: Analyses data frames\ntriggers: [merge]\n---\nUse pandas.\n",
    );
    let text = user.prompt("a", "merge two pdf files");
    assert!(!text.contains("Use pandas."), "{text}");
    let text = user.prompt("b", "Use pandas-pro to merge two tables");
    assert!(text.contains("Use pandas."), "{text}");
}
