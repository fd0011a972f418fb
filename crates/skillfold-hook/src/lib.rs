//! Answers agent clients' hooks: for each prompt, the skills it needs that the conversation does not have yet.
//!
//! A client calls a hook with a [`HookEvent`], and adds what [`Hook::answer`] returns to the model's context.
//!
//! ```
//! use std::time::SystemTime;
//!
//! use skillfold::{conversation::Conversations, Environment, Host};
//! use skillfold_hook::{HookEvent, Hook};
//! # use skillfold::core::MemorySource;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let file = "---\nname: greet\ndescription: Says hello\ntriggers: [say bonjour]\n---\nSay hello.\n";
//! # let source = MemorySource::new([("greet/SKILL.md", file)]);
//! let environment = Environment::new("/nowhere").home(folder.path());
//! let hook = Hook::new(Conversations::of_user(&environment));
//! let host = Host::new(environment.clone()).bundled("built in", source);
//! let skills = || Ok::<_, skillfold::Error>(host.clone().discover()?.skills);
//!
//! let event = br#"{"hook_event_name": "UserPromptSubmit", "session_id": "1", "prompt": "Say bonjour to Alice"}"#;
//! let event = HookEvent::parse(event, None, &environment).ok_or("not an event")?;
//! let now = SystemTime::now();
//! let answer = hook.answer(&event, now, &skills)?;
//! assert!(answer.text.ok_or("no answer")?.contains("Say hello."));
//!
//! // A minute later the conversation still has it.
//! let later = now + std::time::Duration::from_secs(60);
//! assert_eq!(hook.answer(&event, later, &skills)?.text, None);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod client;

mod event;

mod answer;

mod response;

mod log;

mod hook;
mod index;

pub use answer::format_answer;
pub use client::HookClient;
pub use event::{EventKind, HookEvent, MAX_EVENT_BYTES, Start};
pub use hook::{AnswerClaim, Hook, HookAnswer, HookPreview, hook_policy, preview};
pub use index::build_index;
pub use log::{HookLog, log_layer};
