//! The log: what it has, and what it never has.

use std::collections::BTreeSet;
use std::io::{BufRead as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use serde_json::{Value, json};
use skillfold::conversation::{ConversationKey, Conversations, HeardLoads};
use skillfold_hook::{Hook, HookClient, HookEvent, HookLog, log_layer};
use tracing_subscriber::layer::SubscriberExt as _;

use crate::support::User;

const PROMPTS: usize = 1_000;

/// Ways to ask for the skills of the user, and for none of them, around a word that nobody uses.
const REQUESTS: [&str; 8] = [
    "Please say bonjour to {} before the meeting starts",
    "Could you do the large thing with {} and tell me when it is done",
    "Use pdf-forms to fill in the form that {} sent me yesterday",
    "Fill in the PDF forms of {} for the tax office",
    "Why does {} fail with a strange error in production",
    "My password is {} and nobody else may ever know it",
    "Say bonjour to everyone in the {} team",
    "thanks, {} looks good to me now",
];

fn made_up_word(number: usize) -> String {
    format!("zq{number}xv")
}

fn prompt_text(number: usize) -> String {
    REQUESTS[number % REQUESTS.len()].replace("{}", &made_up_word(number))
}

/// Returns all runs of three words of a text, in lower case.
fn word_triples(text: &str) -> BTreeSet<Vec<String>> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.windows(3).map(<[String]>::to_vec).collect()
}

/// Sends all prompts, in conversations of ten, to hooks that log as the command does. Returns the log.
fn log_of_prompts(user: &User) -> String {
    let (skills, environment) = (user.skills().unwrap(), user.environment());
    let hook = Hook::new(Conversations::of_user(&environment));
    let state = environment.state_folder().unwrap();
    let log = log_layer(HookLog::open(&state).unwrap());
    let subscriber = tracing_subscriber::registry().with(log);
    let mut now = user.now();
    let mut send = |event: Value| {
        now += Duration::from_secs(60);
        let client = Some(HookClient::ClaudeCode);
        let event = HookEvent::parse(event.to_string().as_bytes(), client, &environment);
        let answer = hook.answer(&event.unwrap(), now, || {
            Ok::<_, skillfold::Error>(skills.clone())
        });
        answer.unwrap();
    };
    tracing::subscriber::with_default(subscriber, || {
        for number in 0..PROMPTS {
            let session = format!("session of {}", made_up_word(number / 10));
            send(json!({
                "hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": prompt_text(number),
            }));
            if number % 10 != 0 {
                continue;
            }
            // What a client loads is named by its model.
            for skill in ["pdf-forms", &made_up_word(number)] {
                send(json!({
                    "hook_event_name": "PostToolUse", "session_id": session, "tool_name": "Skill",
                    "tool_input": { "skill": skill, "args": prompt_text(number) },
                }));
            }
        }
    });
    let mut text = String::new();
    for line in HookLog::read(&state).unwrap().unwrap().lines() {
        text.push_str(&line.unwrap());
        text.push('\n');
    }
    text
}

#[test]
fn log_of_a_thousand_prompts_has_none_of_their_words() {
    let user = User::new();
    let log = log_of_prompts(&user);
    for outcome in ["given", "no_room", "named", "loaded", "ignored", "missed"] {
        let outcome = format!("\"outcome\":\"{outcome}\"");
        assert!(log.contains(&outcome), "no {outcome}");
    }
    let prompts = log.lines().filter(|line| line.contains("\"prompt\""));
    assert_eq!(prompts.count(), PROMPTS);
    let triples = word_triples(&log);
    for number in 0..PROMPTS {
        let word = made_up_word(number);
        assert!(!log.to_lowercase().contains(&word), "{word}");
        let shared: Vec<_> = word_triples(&prompt_text(number))
            .intersection(&triples)
            .cloned()
            .collect();
        assert!(shared.is_empty(), "{shared:?}");
    }
}

#[test]
fn log_has_the_words_of_prompts_if_the_user_wants_them() {
    let user = User::new().set("log_content", "true");
    let log = log_of_prompts(&user);
    let triples = word_triples(&log);
    for number in 0..PROMPTS {
        assert!(log.contains(&made_up_word(number)), "{number}");
        assert!(word_triples(&prompt_text(number)).is_subset(&triples));
    }
}

#[test]
fn log_is_private_and_limited_to_two_files() {
    let user = User::new();
    let state = user.environment().state_folder().unwrap();
    assert!(HookLog::read(&state).unwrap().is_none());
    let line = format!("{{\"filler\":\"{}\"}}\n", "x".repeat(1_000));
    for round in 0..4 {
        let first = format!("{{\"round\":{round}}}\n");
        HookLog::open(&state)
            .unwrap()
            .write_all(first.as_bytes())
            .unwrap();
        let mut log = HookLog::open(&state).unwrap();
        for _ in 0..5 * 1_100 {
            log.write_all(line.as_bytes()).unwrap();
        }
    }
    HookLog::open(&state).unwrap().write_all(b"{}\n").unwrap();
    let log = HookLog::read(&state).unwrap().unwrap().lines();
    let log: Vec<_> = log
        .map(Result::unwrap)
        .filter(|line| !line.contains("filler"))
        .collect();
    assert_eq!(log, ["{\"round\":3}", "{}"]);
    let names: BTreeSet<_> = std::fs::read_dir(&state)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        names.iter().collect::<Vec<_>>(),
        ["hook.jsonl", "hook.lock", "hook.old.jsonl"]
    );
    for name in names {
        let mode = state.join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
    }
}

#[test]
fn conversation_says_what_became_of_each_skill() {
    let mut user = User::new();
    let conversations = Conversations::of_user(&user.environment()).unwrap();
    user.prompt("a", "Please do the large thing");
    let key = ConversationKey::new("a", None);
    let taken = |loaded: &[&str]| {
        let found = conversations.update(&key, user.now(), |conversation| {
            for id in loaded {
                conversation.record_load(id);
            }
            conversation
                .take_uses(
                    &BTreeSet::new(),
                    HeardLoads::default(),
                    user.now(),
                    |name| Some(name.into()),
                )
                .logged
        });
        let found = found.unwrap().into_iter();
        found
            .map(|(id, what)| format!("{id} {}", what.as_str()))
            .collect::<Vec<_>>()
    };
    assert_eq!(taken(&["greet", "large"]), ["large loaded", "greet missed"]);
    assert_eq!(taken(&[]), [""; 0]);
    user.prompt("b", "Please do the large thing");
    let key = ConversationKey::new("b", None);
    let found = conversations.update(&key, user.now(), |it| {
        it.take_uses(&BTreeSet::new(), HeardLoads::default(), user.now(), |_| {
            None
        })
        .logged
    });
    assert_eq!(found.unwrap()[0].1.as_str(), "ignored");
}
