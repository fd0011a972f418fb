//! Decides what an event adds to a conversation.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use skillfold::core::choose::{Restraint, Signal};
use skillfold::core::disclose::{
    Breadcrumb, ClientList, Fallback, Mode, SkillBars, SkillOutcome, SuggestionThresholds, Turn,
    Window,
};
use skillfold::core::{Budget, ContextLifetime, Error, Policy};
use skillfold::{
    Session, Skills,
    client::Client,
    conversation::{Conversation, Conversations, HeardLoads, PromptUses},
    settings::HookMode,
};

use crate::answer::format_answer;
use crate::client::HookClient;
use crate::event::{EventKind, HookEvent, Start};
use crate::log::log_response;
use crate::response::Response;

/// Maximum length of the description in a skill's line, in characters.
const DESCRIPTION_CHARACTERS: usize = 120;

/// The heading above skill lines.
const HEADING: &str = "Skills for this request:\n";

/// The response to an event.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct HookAnswer {
    /// What to print; `None` if there is nothing to say.
    pub text: Option<String>,
    /// Why the conversation's state could not be saved. The response then has no instructions.
    pub problem: Option<Error>,
    /// Why it could not be saved how skills were used. The response is complete.
    pub not_learned: Option<Error>,
}

/// Answers a client's hooks for one user.
#[derive(Debug)]
pub struct Hook {
    conversations: Option<Conversations>,
    claim: AnswerClaim,
}

/// Decides whether the response to an event or its deadline comes first. What a conversation is given is recorded only
/// if it is delivered.
#[derive(Clone, Debug, Default)]
pub struct AnswerClaim(Arc<OnceLock<bool>>);

impl AnswerClaim {
    /// Claims the response before it is recorded. Returns false if the client is no longer waiting.
    pub fn claim(&self) -> bool {
        *self.0.get_or_init(|| true)
    }

    /// Stops waiting for the response. Returns false if it is claimed, and so about to arrive.
    pub fn give_up(&self) -> bool {
        !*self.0.get_or_init(|| false)
    }
}

impl Hook {
    /// Creates a hook that remembers what conversations were given. Without a folder for that, it gives no
    /// instructions: it would repeat the same ones.
    pub fn new(conversations: Option<Conversations>) -> Self {
        Self {
            conversations,
            claim: AnswerClaim::default(),
        }
    }

    /// Records nothing if the client gives up before the response is ready.
    #[must_use]
    pub fn with_claim(mut self, claim: AnswerClaim) -> Self {
        self.claim = claim;
        self
    }

    /// Answers an event. `skills` finds the skills, and is called only if they are needed.
    ///
    /// # Errors
    ///
    /// Returns any error from `skills`.
    pub fn answer<E>(
        &self,
        event: &HookEvent,
        now: SystemTime,
        skills: impl FnOnce() -> Result<Skills, E>,
    ) -> Result<HookAnswer, E> {
        if event.kind == EventKind::Other {
            return Ok(HookAnswer::default());
        }
        // Tells its requests from those of other programs in a log.
        let _span = tracing::info_span!("hook").entered();
        let mut problem = None;
        let adds_nothing = matches!(
            event.kind,
            EventKind::Cleared
                | EventKind::Compacting
                | EventKind::AgentStarted(_)
                | EventKind::AgentStopped(_)
                | EventKind::SkillLoaded(_)
        );
        if adds_nothing {
            let recorded = self.update(event, now, |conversation| match &event.kind {
                EventKind::Cleared => *conversation = Conversation::default(),
                EventKind::AgentStarted(agent) => conversation.start_agent(agent, now),
                EventKind::AgentStopped(agent) => conversation.stop_agent(agent),
                EventKind::SkillLoaded(skill) => conversation.record_own_load(skill),
                _ => conversation.is_compacted = true,
            });
            problem = recorded.err();
        }
        match event.kind {
            EventKind::Started(Start::New) | EventKind::Cleared => {
                let text = start_text(event, skills)?;
                return Ok(HookAnswer {
                    text,
                    problem,
                    ..HookAnswer::default()
                });
            }
            EventKind::Started(_) => return Ok(HookAnswer::default()),
            _ if adds_nothing => {
                return Ok(HookAnswer {
                    problem,
                    ..HookAnswer::default()
                });
            }
            _ => {}
        }
        let skills = skills()?;
        let learned = self.conversations.as_ref().map(Conversations::learned);
        let learned = learned.unwrap_or_default();
        let bars = learned.bars(&skills.catalog(), now);
        let Some(policy) = hook_policy(event.client, &skills, bars) else {
            return Ok(HookAnswer::default());
        };
        skills.prepare_search();
        let heard = learned.heard(event.client.name());
        let remembered = self.update(event, now, |conversation| {
            let before = conversation.clone();
            let response = respond(event, conversation, &skills, &policy, heard, now);
            if self.claim.claim() {
                return Some(response);
            }
            *conversation = before;
            None
        });
        let mut not_learned = None;
        let response = match remembered {
            Ok(Some(Some(response))) => {
                not_learned = self.learn(event, &skills, &response, now).err();
                response
            }
            Ok(Some(None)) => return Ok(HookAnswer::default()),
            without_memory => {
                problem = without_memory.err();
                let mut conversation = Conversation::default();
                let policy = policy.clone().with_max_skills(0);
                respond(event, &mut conversation, &skills, &policy, heard, now)
            }
        };
        log_response(event, &policy, &response);
        let text = added_text(&response.turns).map(|text| format_answer(event, &text));
        Ok(HookAnswer {
            text,
            problem,
            not_learned,
        })
    }

    /// Counts how the skills of the last prompt were used, unless the settings turn that off.
    fn learn(
        &self,
        event: &HookEvent,
        skills: &Skills,
        response: &Response,
        now: SystemTime,
    ) -> Result<(), Error> {
        match &self.conversations {
            Some(conversations) if skills.report().settings.hook_learn.value => {
                let client = event.client.name();
                conversations.learn(&skills.catalog(), client, &response.uses, now)
            }
            _ => Ok(()),
        }
    }

    /// Updates an event's conversation. Returns `None` if its state cannot be saved, because it is not identified or
    /// there is no folder for it.
    fn update<T>(
        &self,
        event: &HookEvent,
        now: SystemTime,
        mut change: impl FnMut(&mut Conversation) -> T,
    ) -> Result<Option<T>, Error> {
        match (&self.conversations, &event.conversation) {
            (Some(conversations), Some(key)) => {
                let change = |conversation: &mut Conversation| {
                    let changed = change(conversation);
                    conversation.client = Some(event.client.name().to_owned());
                    changed
                };
                conversations.update(key, now, change).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// What a client's hook adds to the first prompt of a conversation.
#[derive(Debug)]
#[non_exhaustive]
pub struct HookPreview {
    /// The text for the model; `None` if nothing is added.
    pub text: Option<String>,
    /// What was decided, and why.
    pub turn: Turn,
    /// How the hook presents skills.
    pub policy: Policy,
}

/// Returns what a client's hook adds to the first prompt of a conversation; `None` if the settings turn hooks off. Records
/// nothing.
pub fn preview(
    client: HookClient,
    skills: &Skills,
    bars: SkillBars,
    prompt: &str,
) -> Option<HookPreview> {
    let policy = hook_policy(client, skills, bars)?;
    skills.prepare_search();
    let mut session = skills.session(policy.clone(), ContextLifetime::History);
    let turn = turn_within(&mut session, &policy, &[], prompt);
    let text = added_text(std::slice::from_ref(&turn));
    Some(HookPreview { text, turn, policy })
}

/// Returns the text that turns add. Lines get a heading; instructions are self-explanatory.
fn added_text(turns: &[Turn]) -> Option<String> {
    let texts: Vec<&str> = turns
        .iter()
        .filter_map(|turn| turn.text.as_deref())
        .collect();
    let mut text = texts.join("\n");
    if text.starts_with("- ") {
        text.insert_str(0, HEADING);
    }
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns our list of skills for the start of a conversation, if the client takes it from the hook only and does not list
/// the skills itself.
fn start_text<E>(
    event: &HookEvent,
    skills: impl FnOnce() -> Result<Skills, E>,
) -> Result<Option<String>, E> {
    let client = Client::find(event.client.name()).filter(|client| client.takes_list_from_hook);
    let Some(client) = client else {
        return Ok(None);
    };
    let skills = skills()?;
    let report = skills.report();
    if report.settings.hook.value == HookMode::Off {
        return Ok(None);
    }
    let session = skills.session(report.settings.policy(), ContextLifetime::History);
    let budget = Budget::catalog(Window::Unknown);
    let listing = session.instructions(Some(&skills.own_list(client)), budget);
    Ok((listing.listed > 0).then(|| format_answer(event, &listing.text)))
}

/// Decides what an event adds, and records that.
fn respond(
    event: &HookEvent,
    conversation: &mut Conversation,
    skills: &Skills,
    policy: &Policy,
    heard: HeardLoads,
    now: SystemTime,
) -> Response {
    let mut turns = Vec::new();
    let prompt = match &event.kind {
        EventKind::Prompt { text, .. } => Some(text),
        _ => None,
    };
    if prompt.is_some_and(|prompt| !conversation.record_prompt(prompt, now)) {
        return Response {
            is_repeated: true,
            ..Response::default()
        };
    }
    let mut session = skills.resume(policy.clone(), conversation.session.clone());
    if conversation.is_compacted || event.kind == EventKind::Compacted {
        conversation.is_compacted = false;
        let gives = policy.max_skills > 0;
        let budget = if gives {
            policy.bodies
        } else {
            Budget::characters(0)
        };
        turns.push(session.after_compaction(budget, &[]));
    }
    if let Some(prompt) = prompt {
        turns.push(turn_within(&mut session, policy, &turns, prompt));
    }
    let decisions = || turns.iter().flat_map(|turn| &turn.decisions);
    let mentioned = decisions().filter(|decision| decision.signal == Signal::Mention);
    let mentioned: BTreeSet<Box<str>> = mentioned.map(|decision| decision.id.clone()).collect();
    // After a compaction, the same prompt goes on.
    let uses = match prompt {
        Some(_) => {
            let catalog = skills.catalog();
            let resolve = |name: &str| Some(catalog.get(name)?.id().into());
            conversation.take_uses(&mentioned, heard, now, resolve)
        }
        None => PromptUses::default(),
    };
    conversation.session = session.state().clone();
    for id in &mentioned {
        conversation.record_mention(id);
    }
    for decision in decisions() {
        // No line asks to load again what is given again.
        let is_again = decision.signal == Signal::Earlier;
        let is_other = matches!(decision.restraint, Some(Restraint::InsteadOf(..)));
        let is_judged = decision.signal == Signal::Search && !is_other;
        match decision.outcome {
            SkillOutcome::Suggested | SkillOutcome::NoRoom(_) if !is_again => {
                conversation.record_suggestion(&decision.id, is_judged);
            }
            SkillOutcome::Named => conversation.record_named(&decision.id, is_judged),
            SkillOutcome::Given(..) => conversation.record_given_by_hook(&decision.id),
            _ => {}
        }
    }
    Response {
        turns,
        uses,
        is_repeated: false,
    }
}

/// Decides what a prompt adds, within the budget left by earlier turns of the same response.
fn turn_within(session: &mut Session, policy: &Policy, earlier: &[Turn], prompt: &str) -> Turn {
    let texts = earlier.iter().filter_map(|turn| turn.text.as_deref());
    let used: u64 = texts
        .map(|text| policy.bodies.measure(text, &*policy.counter))
        .sum();
    let mut bodies = policy.bodies;
    bodies.limit = bodies.limit.saturating_sub(used);
    session.set_body_budget(bodies);
    session.turn(prompt)
}

/// Returns how a client's hook presents skills to a model; `None` if the settings turn hooks off. `bars` counts unless the
/// settings turn that off.
pub fn hook_policy(client: HookClient, skills: &Skills, bars: SkillBars) -> Option<Policy> {
    let report = skills.report();
    let settings = &report.settings;
    let mode = settings.hook.value;
    if mode == HookMode::Off {
        return None;
    }
    let percent = |value: usize| f32::from(u8::try_from(value).unwrap_or(u8::MAX)) / 100.0;
    let thresholds = SuggestionThresholds::default()
        .with_give_from(percent(settings.hook_inject_from.value))
        .with_show_from(percent(settings.hook_suggest_from.value));
    let learns = settings.hook_learn.value;
    let bars = if learns { bars } else { SkillBars::default() };
    let known = Client::find(client.name());
    let list = known.map(|known| Arc::new(skills.own_list(known)) as Arc<dyn ClientList>);
    let policy = settings.policy();
    let max_skills = match mode {
        HookMode::Inject => policy.max_skills,
        _ => 0,
    };
    Some(
        policy
            .with_mode(Mode::Triggered)
            .with_breadcrumb(Breadcrumb::Off)
            .with_fallback(Fallback::None)
            .with_style(client.style())
            .with_bodies(client.budget())
            .with_max_skills(max_skills)
            .with_suggestions(Some(thresholds))
            .with_bars(Arc::new(bars))
            .with_gives_by_common_words(false)
            .with_suggestion_characters(DESCRIPTION_CHARACTERS)
            .with_client_list(list),
    )
}
