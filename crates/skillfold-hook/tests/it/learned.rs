//! What the hook learns from the use of skills.

use std::time::Duration;

use serde_json::json;
use skillfold::conversation::Conversations;

use crate::support::User;

/// A prompt that a search finds the skill for with 36 %: it is suggested.
const NEAR: &str = "look at the calendar entries of commits";

/// The same with 23 %: it is not.
const FAR: &str = "status of issues this week";

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const SKILL: &str = "---\nname: report-writer\ndescription: Writes weekly status reports from commits, issues and calendar entries\n---\nWrite it.\n";

/// A user with a skill that is loaded through our server.
fn user() -> User {
    let user = User::new();
    user.write(".skillfold/skills/report-writer/SKILL.md", SKILL);
    user
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
    let mut user = user().set("hook_learn", "false");
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
    assert_eq!(ignore(&mut user, 20), 2);
}

#[test]
fn what_is_learned_can_be_forgotten() {
    let mut user = user();
    let conversations = Conversations::of_user(&user.environment()).unwrap();
    ignore(&mut user, 20);
    let forgotten = |id: Option<&str>| conversations.forget_learned(id).unwrap();
    assert!(forgotten(Some("greet")).is_empty());
    assert!(!is_told(&mut user, "before", NEAR));
    assert_eq!(forgotten(Some("report-writer")).len(), 1);
    assert!(is_told(&mut user, "after", NEAR));
    assert_eq!(forgotten(None).len(), 1);
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
    assert_eq!(ignore(&mut user, 20), 1);
}

#[test]
fn file_has_no_words_of_prompts_and_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut user = user();
    let conversations = Conversations::of_user(&user.environment()).unwrap();
    ignore(&mut user, 1);
    let file = conversations.folder().join("learned-1.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let (before, after) = text.split_once("report-writer@").unwrap();
    assert_eq!(before, r#"{"format":1,"tells_loads":false,"skills":{""#);
    let digits = |c: char| if c.is_ascii_digit() { '0' } else { c };
    let after: String = after.get(12..).unwrap().chars().map(digits).collect();
    assert_eq!(
        after,
        r#"":{"ignored":0.0,"used":0.0,"missed":0.0,"at":0000000000}}}"#
    );
    let mode = file.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
}
