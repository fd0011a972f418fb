//! A user: prompts that a client sends to the real hook, and what of it the user uses.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use skillfold::conversation::{ConversationKey, Conversations};
use skillfold::{Environment, Skills};
use skillfold_hook::{Hook, HookClient, HookEvent, log_layer};
use tempfile::TempDir;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::activation::draw::{Data, Draw, Prompt};
use crate::labelled::{Request, Triggers, Verdict, installed_in, pool_id};
use crate::random::Random;

/// Of how many prompts one needs a skill.
const REQUESTS: usize = 5;

/// Prompts of a conversation.
const CONVERSATION: usize = 5;

/// Skills that a user's work needs.
const WORK: usize = 8;

/// Of how many uses one is wrong.
const WRONG: usize = 10;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What a prompt got.
pub(super) enum Told {
    /// One that needs a skill of the user.
    Request {
        source: String,
        right: bool,
        wrong: bool,
    },
    /// One that needs none.
    Everyday { source: String, spoken: bool },
}

/// The skills that a conversation has, and what its last prompt got.
#[derive(Default)]
struct Offers {
    had: BTreeSet<String>,
    new: BTreeSet<String>,
}

/// A skill of the user, and the requests that need it.
type Job<'d> = (String, Vec<&'d Request>);

pub(super) struct User<'d> {
    draw: Draw<'d>,
    data: &'d Data,
    skills: Skills,
    hook: Hook,
    conversations: Conversations,
    environment: Environment,
    log: Log,
    random: Random,
    /// In the order in which work needs them.
    jobs: Vec<Job<'d>>,
    /// Which of them the work needs now.
    work: std::ops::Range<usize>,
    /// The names of skills by id in the pool, and ids in the pool by id in the catalog.
    ids: BTreeMap<String, Box<str>>,
    pool_ids: HashMap<Box<str>, String>,
    day: u32,
    prompts: usize,
    /// The skills that requests of this week needed, and those of them that were told for one.
    pub(super) needed: BTreeSet<String>,
    pub(super) found: BTreeSet<String>,
    pub(super) highest_bar: f32,
    _folder: TempDir,
}

impl<'d> User<'d> {
    pub(super) fn new(
        data: &'d Data,
        seed: u64,
        skills: usize,
        prompts: usize,
        learns: bool,
    ) -> Result<Self, Box<dyn Error>> {
        let draw = data.draw(seed, skills, usize::MAX);
        let folder = tempfile::tempdir()?;
        let environment = Environment::new("/nowhere")
            .home(folder.path())
            .variable("SKILLFOLD_HOOK_LEARN", learns.to_string());
        let skills = draw.skills.iter().copied();
        let skills = installed_in(environment.clone(), skills, Triggers::Own)?;
        let catalog = skills.catalog();
        let entries = catalog.entries();
        let ids: BTreeMap<String, Box<str>> = entries
            .map(|entry| (pool_id(&entry).to_owned(), Box::from(entry.id())))
            .collect();
        let pool_ids = ids.iter().map(|(pool, id)| (id.clone(), pool.clone()));
        let mut jobs: BTreeMap<String, Vec<&Request>> = BTreeMap::new();
        for request in &draw.present {
            if request.verdict == Verdict::Fits {
                let meant = data.labelled.meant(request);
                // Of copies, it is the same one in each month.
                if let Some(skill) = ids.keys().find(|id| meant.contains(&***id)) {
                    jobs.entry(skill.clone()).or_default().push(request);
                }
            }
        }
        let jobs: Vec<Job<'_>> = jobs.into_iter().collect();
        let mut random = Random::new(seed + 1_000);
        let jobs: Vec<Job<'_>> = random
            .sample(&jobs, jobs.len())
            .into_iter()
            .cloned()
            .collect();
        let conversations = Conversations::of_user(&environment).ok_or("no folder for state")?;
        Ok(Self {
            pool_ids: pool_ids.collect(),
            ids,
            work: 0..WORK.min(jobs.len()),
            jobs,
            random,
            hook: Hook::new(Some(conversations.clone())),
            conversations,
            skills,
            environment,
            log: Log::default(),
            draw,
            data,
            day: 0,
            prompts,
            needed: BTreeSet::new(),
            found: BTreeSet::new(),
            highest_bar: 0.0,
            _folder: folder,
        })
    }

    /// From now on, the work needs other skills.
    pub(super) fn change_work(&mut self) {
        self.work = self.work.end..(self.work.end + WORK).min(self.jobs.len());
    }

    pub(super) fn begin_week(&mut self) {
        self.needed.clear();
        self.found.clear();
    }

    /// Sends the prompts of a day, and returns what each got.
    pub(super) fn day(&mut self) -> Result<Vec<Told>, Box<dyn Error>> {
        let mut all = Vec::new();
        let mut offers = Offers::default();
        for number in 0..self.prompts {
            if number % CONVERSATION == 0 {
                offers = Offers::default();
            }
            let conversation = format!("{}-{}", self.day, number / CONVERSATION);
            let is_request = self.random.below(REQUESTS) == 0;
            // The same numbers are drawn whatever the hook says.
            let (which, other, wrong) = (
                self.random.below(usize::MAX >> 1),
                self.random.below(usize::MAX >> 1),
                self.random.below(WRONG) == 0,
            );
            let now = SystemTime::UNIX_EPOCH
                + DAY * (20_000 + self.day)
                + Duration::from_secs(60 * u64::try_from(number)?);
            let work = &self.jobs[self.work.clone()];
            let (used, told) = if is_request && !work.is_empty() {
                let (skill, requests) = &work[which % work.len()];
                let skill = skill.clone();
                let request = requests[other % requests.len()];
                self.ask(&request.text, &conversation, now, &mut offers)?;
                let meant = self.data.labelled.meant(request);
                let right = meant.iter().any(|id| offers.had.contains(*id));
                let told = Told::Request {
                    source: request.repository.clone(),
                    right,
                    wrong: offers.new.iter().any(|id| !meant.contains(&**id)),
                };
                self.needed.insert(skill.clone());
                if offers.new.contains(&skill) {
                    self.found.insert(skill.clone());
                }
                let used = if wrong {
                    self.ids.keys().nth(which % self.ids.len()).cloned()
                } else {
                    let mut told = offers.new.iter();
                    let told = told.find(|id| meant.contains(&***id));
                    Some(told.cloned().unwrap_or(skill))
                };
                (used, told)
            } else {
                let prompt: &Prompt = self.draw.everyday[which % self.draw.everyday.len()];
                self.ask(&prompt.text, &conversation, now, &mut offers)?;
                let told = Told::Everyday {
                    source: prompt.source.clone(),
                    spoken: !offers.new.is_empty(),
                };
                let used = offers.new.first().filter(|_| wrong);
                (used.cloned(), told)
            };
            if let Some(used) = used.filter(|id| !self.log.gave(&self.ids[id])) {
                self.load(&used, &conversation, now)?;
                offers.had.insert(used);
            }
            all.push(told);
        }
        self.day += 1;
        self.highest_bar = self.highest_bar.max(self.highest_bar_at(self.day));
        Ok(all)
    }

    /// Returns the highest bar after as many days without a prompt as there were with some.
    pub(super) fn bar_after_silence(&self) -> f32 {
        self.highest_bar_at(2 * self.day)
    }

    fn highest_bar_at(&self, day: u32) -> f32 {
        let now = SystemTime::UNIX_EPOCH + DAY * (20_000 + day);
        let catalog = self.skills.catalog();
        let bars = self.conversations.learned().bars(&catalog, now);
        let usual = self.skills.report().settings.hook_suggest_from.value;
        let usual = f32::from(u8::try_from(usual).unwrap_or(u8::MAX)) / 100.0;
        let bars = catalog.entries().map(|entry| bars.bar(entry.id(), usual));
        bars.fold(0.0, f32::max)
    }

    /// Sends a prompt.
    fn ask(
        &mut self,
        text: &str,
        conversation: &str,
        now: SystemTime,
        offers: &mut Offers,
    ) -> Result<(), Box<dyn Error>> {
        self.log.clear();
        self.send(
            &json!({ "hook_event_name": "UserPromptSubmit", "session_id": conversation, "prompt": text }),
            now,
        )?;
        offers.new = self
            .log
            .offered()
            .iter()
            .filter_map(|id| self.pool_ids.get(&**id).cloned())
            .collect();
        offers.had.extend(offers.new.iter().cloned());
        Ok(())
    }

    /// Records a load as the server does.
    fn load(
        &mut self,
        skill: &str,
        conversation: &str,
        now: SystemTime,
    ) -> Result<(), Box<dyn Error>> {
        let key = ConversationKey::new(conversation, None);
        let id = &self.ids[skill];
        self.conversations
            .update(&key, now, |conversation| conversation.record_load(id))?;
        Ok(())
    }

    fn send(&mut self, event: &Value, now: SystemTime) -> Result<(), Box<dyn Error>> {
        let client = Some(HookClient::ClaudeCode);
        let event = HookEvent::parse(event.to_string().as_bytes(), client, &self.environment);
        let event = event.ok_or("not an event")?;
        let subscriber = tracing_subscriber::registry().with(log_layer(self.log.clone()));
        let skills = || Ok::<_, skillfold::core::Error>(self.skills.clone());
        let answer = tracing::subscriber::with_default(subscriber, || {
            self.hook.answer(&event, now, skills)
        })?;
        answer.problem.map_or(Ok(()), |problem| Err(problem.into()))
    }
}

/// The log of the hook, since the last prompt.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Returns the skills with one of these outcomes.
    fn with_outcome(&self, outcomes: &[&str]) -> Vec<String> {
        let log = self.lock();
        let lines = log.split(|byte| *byte == b'\n');
        let lines = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        let of = lines.filter(|line| {
            let outcome = line["outcome"].as_str();
            outcome.is_some_and(|outcome| outcomes.contains(&outcome))
        });
        of.filter_map(|line| line["skill"].as_str().map(str::to_owned))
            .collect()
    }

    fn offered(&self) -> Vec<String> {
        self.with_outcome(&["given", "suggested", "named", "no_room", "later"])
    }

    fn gave(&self, id: &str) -> bool {
        self.with_outcome(&["given"])
            .iter()
            .any(|given| given == id)
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
