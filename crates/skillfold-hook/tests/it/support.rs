//! A user with skills, whose client calls hooks.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use skillfold::core::Error;
use skillfold::{Environment, Host, Skills, conversation::Conversations};
use skillfold_hook::{AnswerClaim, Hook, HookClient, HookEvent};
use tempfile::TempDir;

pub(crate) struct User {
    folder: TempDir,
    now: SystemTime,
    settings: Vec<(&'static str, &'static str)>,
    variables: Vec<&'static str>,
}

impl User {
    /// A user with two skills that no client finds by itself, and one in a Claude Code folder.
    pub(crate) fn new() -> Self {
        let user = Self {
            folder: tempfile::tempdir().unwrap(),
            now: SystemTime::now(),
            settings: Vec::new(),
            variables: Vec::new(),
        };
        user.write(
            ".skillfold/skills/greet/SKILL.md",
            "---\nname: greet\ndescription: Says hello in French\ntriggers: [say bonjour]\n---\nSay hello.\n",
        );
        user.write(
            ".skillfold/skills/large/SKILL.md",
            &format!(
                "---\nname: large\ndescription: Is too long for a hook\ntriggers: [do the large thing]\n---\n{}\n",
                "Long line.\n".repeat(2_000)
            ),
        );
        user.write(
            ".claude/skills/pdf-forms/SKILL.md",
            "---\nname: pdf-forms\ndescription: Fills in PDF forms\n---\nFill it in.\n",
        );
        user
    }

    pub(crate) fn set(mut self, key: &'static str, value: &'static str) -> Self {
        self.settings.push((key, value));
        self
    }

    /// Sets a variable that the client sets for its hooks.
    pub(crate) fn variable(mut self, name: &'static str) -> Self {
        self.variables.push(name);
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn environment(&self) -> Environment {
        let project = self.path("project");
        std::fs::create_dir_all(&project).unwrap();
        let environment = Environment::new(project).home(self.folder.path());
        let variables = self.variables.iter();
        variables.fold(environment, |environment, name| {
            environment.variable(*name, "1")
        })
    }

    pub(crate) fn skills(&self) -> Result<Skills, Error> {
        let host = Host::new(self.environment());
        let settings = self.settings.iter();
        let host = settings.fold(host, |host, (key, value)| host.set(*key, *value));
        Ok(host.discover()?.skills)
    }

    /// Sends an event a minute after the last one, and returns what the hook prints.
    pub(crate) fn send(&mut self, client: HookClient, event: &Value) -> Option<String> {
        self.now += Duration::from_secs(60);
        self.send_at_once(client, event)
    }

    /// Returns the time of the last event.
    pub(crate) fn now(&self) -> SystemTime {
        self.now
    }

    /// Lets time pass without an event.
    pub(crate) fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    /// Sets the clock back one day.
    pub(crate) fn set_clock_back(&mut self) {
        self.now -= Duration::from_secs(24 * 60 * 60);
    }

    /// Sends an event at the same moment as the last one.
    pub(crate) fn send_at_once(&self, client: HookClient, event: &Value) -> Option<String> {
        self.send_claimed(client, event, AnswerClaim::default())
    }

    /// Sends an event at the same moment as the last one, and may give up before it is answered.
    pub(crate) fn send_claimed(
        &self,
        client: HookClient,
        event: &Value,
        claim: AnswerClaim,
    ) -> Option<String> {
        let environment = self.environment();
        let event = HookEvent::parse(event.to_string().as_bytes(), Some(client), &environment);
        let hook = Hook::new(Conversations::of_user(&environment)).with_claim(claim);
        let answer = hook.answer(&event?, self.now, || self.skills());
        let folder = self.folder.path().to_string_lossy();
        answer
            .unwrap()
            .text
            .map(|text| text.replace(&*folder, "HOME"))
    }

    /// Sends a prompt in a conversation as Claude Code does, and returns the text the model gets.
    pub(crate) fn prompt(&mut self, conversation: &str, prompt: &str) -> String {
        self.claude(&json!({
            "hook_event_name": "UserPromptSubmit",
            "session_id": conversation,
            "prompt": prompt,
        }))
    }

    /// Sends an event as Claude Code does, and returns the text the model gets.
    pub(crate) fn claude(&mut self, event: &Value) -> String {
        let answer = self.send(HookClient::ClaudeCode, event);
        let answer = answer.map(|answer| serde_json::from_str::<Value>(&answer).unwrap());
        let text = answer
            .as_ref()
            .map(|it| &it["hookSpecificOutput"]["additionalContext"]);
        text.and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}
