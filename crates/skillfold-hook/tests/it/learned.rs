//! What the hook learns from the use of skills.

use std::time::Duration;

use serde_json::json;
use skillfold::conversation::{ConversationKey, Conversations};
use skillfold_hook::HookClient;

use crate::support::User;

/// A prompt that a search finds the skill for with 36 %: it is suggested.
const NEAR: &str = "look at the calendar entries of commits";

/// The same with 23 %: it is not.
const FAR: &str = "status of issues this week";

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const SKILL: &str = "---\nname: report-writer\ndescription: Writes weekly status reports from commits, issues and calendar entries\n---\nWrite it.\n";

/// A user with a skill that is loaded through our server, which has told of another load.
fn user() -> User {
    let mut user = User::new();
    user.write(".skillfold/skills/report-writer/SKILL.md", SKILL);
    hear_server(&mut user);
    user
}

/// Lets the server of Claude Code tell of a load.
fn hear_server(user: &mut User) {
    let conversation = format!("server {:?}", user.now());
    load_from_server(user, &conversation, "greet");
    user.prompt(&conversation, "thanks");
}

/// Records a load as the server does.
fn load_from_server(user: &mut User, conversation: &str, skill: &str) {
    let conversations = Conversations::of_user(&user.environment()).unwrap();
    let key = ConversationKey::new(conversation, None);
    let recorded = conversations.update(&key, user.now(), |it| it.record_load(skill));
    recorded.unwrap();
}

/// Starts a conversation with a prompt, and goes on without using anything. Returns whether the skill was told.
fn is_told(user: &mut User, conversation: &str, prompt: &str) -> bool {
    let text = user.prompt(conversation, prompt);
    user.prompt(conversation, "thanks");
    text.contains("report-writer")
}

/// Ignores a suggestion again and again. Returns how often it was made.
fn ignore(user: &mut User, times: usize) -> usize {
    let mut told = 0;
    for number in 0..times {
        let conversation = format!("{number} {:?}", user.now());
        told += usize::from(is_told(user, &conversation, NEAR));
    }
    told
}

fn load(user: &mut User, conversation: &str, skill: &str) {
    user.claude(&json!({
        "hook_event_name": "PostToolUse",
        "session_id": conversation,
        "tool_name": "Skill",
        "tool_input": { "skill": skill },
    }));
}

#[test]
fn skill_that_is_suggested_and_never_used_is_suggested_less() {
    let mut user = user();
    assert_eq!(ignore(&mut user, 20), 2);
    // What is learned does not count either.
    let mut user = user.set("hook_learn", "false");
    assert_eq!(ignore(&mut user, 20), 20);
}

#[test]
fn nothing_is_learned_if_the_settings_say_so() {
    let mut user = User::new().set("hook_learn", "false");
    user.write(".skillfold/skills/report-writer/SKILL.md", SKILL);
    hear_server(&mut user);
    load(&mut user, "another", "greet");
    assert_eq!(ignore(&mut user, 20), 20);
    let conversations = Conversations::of_user(&user.environment()).unwrap();
    assert!(!conversations.folder().join("learned-1.json").exists());
}

#[test]
fn skill_that_is_used_is_still_suggested() {
    let mut user = user();
    for number in 0..20 {
        let conversation = number.to_string();
        let text = user.prompt(&conversation, NEAR);
        assert!(text.contains("report-writer"), "{number}");
        if number % 2 == 0 {
            load(&mut user, &conversation, "report-writer");
        }
        user.prompt(&conversation, "thanks");
    }
}

#[test]
fn skill_that_is_not_suggested_any_more_is_so_again_after_a_while() {
    let mut user = user();
    ignore(&mut user, 20);
    assert!(!is_told(&mut user, "soon", NEAR));
    user.pass(14 * DAY);
    assert!(is_told(&mut user, "later", NEAR));
}

#[test]
fn skill_that_is_used_after_silence_is_suggested() {
    let mut user = user();
    assert!(!is_told(&mut user, "before", FAR));
    for number in 0..3 {
        user.prompt(&format!("named {number}"), "/report-writer for last week");
    }
    assert!(is_told(&mut user, "after", FAR));

    let mut user = self::user();
    for number in 0..3 {
        let conversation = format!("loaded {number}");
        user.prompt(&conversation, FAR);
        load(&mut user, &conversation, "report-writer");
        user.prompt(&conversation, "thanks");
    }
    assert!(is_told(&mut user, "after", FAR));
}

#[test]
fn prompt_that_names_the_suggested_skill_uses_it() {
    let mut user = user();
    for number in 0..20 {
        let conversation = number.to_string();
        let text = user.prompt(&conversation, NEAR);
        assert!(text.contains("report-writer"), "{number}");
        user.prompt(&conversation, "ok, use the skill report-writer");
        user.prompt(&conversation, "thanks");
    }
}

#[test]
fn skill_with_another_description_starts_anew() {
    let mut user = user();
    ignore(&mut user, 20);
    assert!(!is_told(&mut user, "before", NEAR));
    let better = SKILL.replace("Writes weekly", "Writes our weekly");
    user.write(".skillfold/skills/report-writer/SKILL.md", &better);
    assert!(is_told(&mut user, "after", NEAR));
}

#[test]
fn skill_that_is_only_named_is_ignored_once_the_client_tells_its_loads() {
    let mut user = User::new();
    user.write(".claude/skills/report-writer/SKILL.md", SKILL);
    assert_eq!(ignore(&mut user, 20), 20);
    load(&mut user, "another", "pdf-forms");
    user.prompt("another", "thanks");
    assert_eq!(ignore(&mut user, 20), 2);
}

#[test]
fn suggestion_is_ignored_only_where_loads_from_the_server_are_heard() {
    let mut user = User::new();
    user.write(".skillfold/skills/report-writer/SKILL.md", SKILL);
    assert_eq!(ignore(&mut user, 20), 20);
    // Of one client it says nothing about another.
    hear_server(&mut user);
    for number in 0..20 {
        let event = |prompt: &str| json!({ "hook_event_name": "UserPromptSubmit", "session_id": format!("q{number}"), "submitted_prompt": prompt });
        let answer = user
            .send(HookClient::Qwen, &event(NEAR))
            .unwrap_or_default();
        assert!(answer.contains("report-writer"), "{number}");
        user.send(HookClient::Qwen, &event("thanks"));
    }
    assert_eq!(ignore(&mut user, 20), 2);
}

#[test]
fn skill_of_the_client_that_the_next_prompt_names_is_used() {
    for (folder, hook) in [(".claude", "inject"), (".skillfold", "suggest")] {
        let mut user = User::new().set("hook", hook);
        user.write(&format!("{folder}/skills/report-writer/SKILL.md"), SKILL);
        hear_server(&mut user);
        load(&mut user, "another", "pdf-forms");
        user.prompt("another", "thanks");
        for number in 0..20 {
            let conversation = number.to_string();
            let text = user.prompt(&conversation, NEAR);
            assert!(text.contains("report-writer"), "{folder} {number}");
            user.prompt(&conversation, "/report-writer for last week");
            user.prompt(&conversation, "thanks");
        }
    }
}

#[test]
fn skill_that_is_loaded_some_prompts_after_its_line_is_not_missed() {
    let mut user = user();
    for number in 0..10 {
        let conversation = number.to_string();
        user.prompt(&conversation, NEAR);
        user.prompt(&conversation, "first another thing");
        load_from_server(&mut user, &conversation, "report-writer");
        user.prompt(&conversation, "thanks");
    }
    assert!(!is_told(&mut user, "after", FAR));
    assert!(is_told(&mut user, "near", NEAR));
}

#[test]
fn what_is_given_again_after_a_compaction_is_not_ignored() {
    let mut user = user().set("hook", "suggest");
    for number in 0..10 {
        let conversation = number.to_string();
        assert!(
            user.prompt(&conversation, NEAR).contains("report-writer"),
            "{number}"
        );
        load_from_server(&mut user, &conversation, "report-writer");
        user.prompt(&conversation, "go on");
        user.claude(&json!({ "hook_event_name": "SessionStart", "session_id": conversation, "source": "compact" }));
        user.prompt(&conversation, "thanks");
        user.prompt(&conversation, "bye");
    }
}

#[test]
fn skill_is_not_ignored_while_an_agent_works() {
    let mut user = user();
    for number in 0..10 {
        let conversation = number.to_string();
        assert!(
            user.prompt(&conversation, NEAR).contains("report-writer"),
            "{number}"
        );
        for event in ["SubagentStart", "SubagentStop"] {
            user.claude(
                &json!({ "hook_event_name": event, "session_id": conversation, "agent_id": "a" }),
            );
        }
        user.prompt(&conversation, "thanks");
    }
}

#[test]
fn hostile_numbers_in_the_file_silence_no_skill_for_good() {
    let mut user = user();
    ignore(&mut user, 1);
    let conversations = Conversations::of_user(&user.environment()).unwrap();
    let file = conversations.folder().join("learned-1.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let start = text.find("{\"ignored\"").unwrap();
    for counts in [
        r#"{"ignored":1e308,"used":0.0,"missed":0.0,"at":99999999999}"#,
        r#"{"ignored":0.0,"used":-3.0,"missed":-1e308,"at":0}"#,
        r#"{"ignored":3.0,"used":0.0,"missed":-3.0,"at":18446744073709551615}"#,
    ] {
        std::fs::write(&file, format!("{}{counts}}}}}", &text[..start])).unwrap();
        // The first change brings the time of the counts back.
        user.prompt("named", "/report-writer for last week");
        user.pass(60 * DAY);
        let conversation = format!("{:?}", user.now());
        assert!(is_told(&mut user, &conversation, NEAR), "{counts}");
    }
}

#[test]
fn what_is_learned_can_be_forgotten() {
    let mut user = user();
    let conversations = Conversations::of_user(&user.environment()).unwrap();
    ignore(&mut user, 20);
    let forgotten = |id: Option<&str>| conversations.forget_learned(id).unwrap();
    assert!(forgotten(Some("large")).is_empty());
    assert!(!is_told(&mut user, "before", NEAR));
    assert_eq!(forgotten(Some("report-writer")).len(), 1);
    assert!(is_told(&mut user, "after", NEAR));
    assert_eq!(forgotten(None).len(), 2);
}

#[test]
fn damaged_file_counts_as_empty_and_is_replaced() {
    let mut user = user();
    let conversations = Conversations::of_user(&user.environment()).unwrap();
    ignore(&mut user, 20);
    for damage in [
        "",
        "{",
        "[]",
        r#"{"format":1,"skills":{"report-writer@":{"ignored":"x"}}}"#,
    ] {
        std::fs::write(conversations.folder().join("learned-1.json"), damage).unwrap();
        assert!(is_told(&mut user, damage, NEAR), "{damage}");
    }
    hear_server(&mut user);
    assert_eq!(ignore(&mut user, 20), 2);
}

#[test]
fn file_has_no_words_of_prompts_and_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut user = user();
    let conversations = Conversations::of_user(&user.environment()).unwrap();
    ignore(&mut user, 1);
    let file = conversations.folder().join("learned-1.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut words: Vec<&str> = text.split(|c: char| !c.is_alphabetic()).collect();
    words.retain(|word| word.len() > 4);
    words.sort_unstable();
    words.dedup();
    let known = [
        "claude", "client", "false", "format", "greet", "heard", "ignored", "missed",
    ];
    let rest = ["report", "server", "skills", "writer"];
    words.retain(|word| !known.contains(word) && !rest.contains(word));
    // What is left are parts of digests.
    let is_digest = |word: &&str| word.chars().all(|c| c.is_ascii_hexdigit());
    assert!(words.iter().all(is_digest), "{words:?}");
    let mode = file.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
}
