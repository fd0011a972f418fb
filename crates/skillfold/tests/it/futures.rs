//! The calls as futures: the same answers, no blocked worker, and every future may be dropped.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use skillfold::tokio::{AsyncSession, AsyncSkills, discover};
use skillfold::{Budget, ContextLifetime, Policy, Skills};
use tokio::runtime::{Builder, Runtime};

use crate::counting::Counting;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

fn source() -> Counting {
    let fields = |trigger: &str| format!("description: Does {trigger}\ntriggers: [{trigger}]");
    let skill = |name: &'static str, trigger| (name, fields(trigger), format!("Do {trigger}.\n"));
    Counting::new([skill("greet", "bonjour"), skill("mail", "letter")])
}

fn skills(source: &Counting) -> Skills {
    source.host().discover().unwrap().skills
}

async fn session(skills: &AsyncSkills) -> AsyncSession {
    let policy = Policy::hybrid(Budget::tokens(4_000));
    skills.session(policy, ContextLifetime::History).await
}

#[test]
fn async_calls_return_what_sync_calls_return() {
    let source = source();
    runtime().block_on(async {
        let discovered = discover(source.host()).await.unwrap();
        let blocking = discovered.skills.clone();
        let skills = AsyncSkills::new(discovered.skills).with_max_calls(1);
        let policy = Policy::hybrid(Budget::tokens(4_000));
        let mut expected = blocking.session(policy, ContextLifetime::History);
        let session = session(&skills).await;
        assert_eq!(session.listing().await.text, expected.listing().text);
        let message = "Say bonjour to Alice";
        assert_eq!(
            session.turn(message).await.text,
            expected.turn(message).text
        );
        let call = r#"{ "skill_id": "mail" }"#;
        let answer = session.call("load_skill", call).await;
        assert_eq!(answer.text(), expected.call("load_skill", call).text());
        let unknown = session.call("nothing", "").await;
        assert_eq!(unknown.text(), expected.call("nothing", "").text());
        let loaded = session.load("greet", "").await.unwrap();
        assert_eq!(loaded.text(), expected.load("greet", "").unwrap().text());
        assert_eq!(session.tools().await, expected.tools());
        let read = session.read("mail", "SKILL.md").await.unwrap();
        let known = expected.read("mail", "SKILL.md").unwrap();
        assert_eq!(read.bytes(), known.bytes());
        let files = session.files("mail", None, 10).await.unwrap();
        let known = expected.files("mail", None, 10).unwrap();
        assert_eq!(format!("{files:?}"), format!("{known:?}"));
        let found = session.search("a letter", 1).await;
        assert_eq!(found.hits[0].id, expected.search("a letter", 1).hits[0].id);
        let state = |state| serde_json::to_value(state).unwrap();
        assert_eq!(state(&session.state().await), state(expected.state()));
        assert!(skills.refresh().await.unwrap().is_empty());
        assert_eq!(skills.load("mail", "").await.unwrap().id(), "mail");
    });
}

/// Counts how often a future wants to go on.
#[derive(Default)]
struct CountedWaker(AtomicUsize);

impl Wake for CountedWaker {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls a future at most `times` times, each once it wants to go on, and drops it. Returns whether it was done.
async fn poll_and_drop(future: impl Future, times: usize) -> bool {
    let counted = Arc::new(CountedWaker::default());
    let waker = Waker::from(Arc::clone(&counted));
    let mut future = pin!(future);
    for polled in 0..times {
        let mut context = Context::from_waker(&waker);
        if future.as_mut().poll(&mut context).is_ready() {
            return true;
        }
        while counted.0.load(Ordering::SeqCst) <= polled {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    false
}

#[test]
fn dropping_a_future_at_any_await_leaves_the_conversation_usable() {
    let source = source();
    let skills = skills(&source);
    runtime().block_on(async {
        let skills = AsyncSkills::new(skills).with_max_calls(1);
        let call = r#"{ "skill_id": "greet" }"#;
        // The last number lets every future end.
        for times in 0..5 {
            let session = session(&skills).await;
            // A call that ended or was dropped: which one it is depends on how soon its thread is done.
            poll_and_drop(session.turn("What is 2+2?"), 1).await;
            let before = serde_json::to_value(session.state().await).unwrap();
            let done = [
                poll_and_drop(session.turn("Say bonjour"), times).await,
                poll_and_drop(session.load("greet", ""), times).await,
                poll_and_drop(session.call("load_skill", call), times).await,
                poll_and_drop(session.listing(), times).await,
                poll_and_drop(session.search("bonjour", 1), times).await,
                poll_and_drop(session.read("greet", "SKILL.md"), times).await,
                poll_and_drop(session.files("greet", None, 1), times).await,
                poll_and_drop(session.tools(), times).await,
                poll_and_drop(session.after_compaction(Budget::tokens(100), &[]), times).await,
                poll_and_drop(skills.refresh(), times).await,
            ];
            let is_done = done.contains(&true);
            assert!(is_done || times < 4, "{times}");
            let state = serde_json::to_value(session.state().await).unwrap();
            assert!(
                is_done || state == before,
                "{times}: what was dropped is recorded"
            );
            // It works: the model gets the instructions, once.
            let turn = session.turn("Say bonjour to Alice").await;
            let given = turn.text.is_some_and(|text| text.contains("Do bonjour."));
            assert!(given || is_done, "{times}");
            let again = session.turn("Say bonjour to Bob").await.text;
            assert!(again.is_none_or(|text| !text.contains("Do bonjour.")));
        }
    });
}

#[expect(
    clippy::await_holding_lock,
    reason = "it keeps the scan waiting on another thread"
)]
#[test]
fn scan_and_turn_do_not_block_the_async_worker() {
    let source = source();
    let skills = skills(&source);
    runtime().block_on(async {
        let skills = AsyncSkills::new(skills).with_max_calls(1);
        let session = session(&skills).await;
        let held = source.hold_scans();
        let (refresh, turn) = (skills.refresh(), session.turn("Say bonjour"));
        let work = async { tokio::join!(refresh, turn) };
        let mut work = pin!(work);
        // The only worker of the runtime goes on while one call waits for the source, and the other one for its turn.
        for _ in 0..20 {
            tokio::select! {
                _ = &mut work => panic!("the scan is held"),
                () = tokio::time::sleep(Duration::from_millis(1)) => {}
            }
        }
        drop(held);
        let (changes, turn) = work.await;
        assert!(changes.unwrap().is_empty());
        assert!(turn.text.unwrap().contains("Do bonjour."));
    });
}

#[test]
fn panic_in_a_call_propagates_to_the_awaiting_task() {
    let source = source();
    let skills = AsyncSkills::new(skills(&source));
    let ended = std::thread::spawn(move || {
        runtime().block_on(async {
            let held = source.clone();
            std::thread::spawn(move || {
                let _held = held.hold_scans();
                panic!("it poisons the scans");
            })
            .join()
            .unwrap_err();
            skills.refresh().await
        })
    });
    assert!(ended.join().is_err());
}
