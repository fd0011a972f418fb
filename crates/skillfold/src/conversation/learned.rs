//! What became of the skills that hooks suggested, or that were used without them: a file that the hooks of a user share.
//!
//! Counts fade, so no skill is silenced for good, and work may change.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use skillfold_core::disclose::{SkillBars, UseCounts};
use skillfold_core::text::FormatNumber;
use skillfold_core::{Catalog, Entry, Error};
use skillfold_store::{Access, ReadFile, WriteRoot};

use crate::conversation::conversations::{
    Conversations, HeardLoads, MAX_NAME_BYTES, digest_start, since_1970,
};
use crate::conversation::uses::{PromptUses, SkillUse};
use crate::environment;
use crate::skills::Skills;

/// The name of the file, in the folder of the conversations.
const NAME: &str = "learned-1.json";

/// The name of the lock file, which is held while the file is read and replaced.
const LOCK_NAME: &str = "learned.lock";

/// Maximum bytes of the file.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Maximum skills that are counted; the one with the lowest counts is dropped first.
const MAX_SKILLS: usize = 1_000;

/// Hex digits of a description's digest in the file.
const DIGEST_DIGITS: usize = 12;

/// The most that a count is worth: whoever changes habits is not bound by years of others.
const MAX_COUNT: f64 = 10.0;

/// A skill whose counts have faded to this in sum is forgotten.
const MIN_SUM: f64 = 0.05;

/// After how long a count is worth half as much.
const HALF_LIFE: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// What became of skills.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    format: FormatNumber<1>,
    /// Which loads of skills are heard, by client. Only there is a skill ignored that is not loaded.
    #[serde(default)]
    heard: BTreeMap<String, HeardLoads>,
    /// By id and description: another project may have another skill with the id, and a better description starts
    /// from zero.
    skills: BTreeMap<String, LearnedSkill>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct LearnedSkill {
    ignored: f64,
    used: f64,
    missed: f64,
    /// When the counts were these, in seconds since 1970.
    at: u64,
}

impl LearnedSkill {
    /// Returns what is left of the counts. The file may have any numbers.
    fn faded(self, now: u64) -> Self {
        let passed = Duration::from_secs(now.saturating_sub(self.at));
        let left = 0.5_f64.powf(passed.div_duration_f64(HALF_LIFE));
        let fade = |count: f64| {
            if count.is_finite() {
                count.clamp(0.0, MAX_COUNT) * left
            } else {
                0.0
            }
        };
        Self {
            ignored: fade(self.ignored),
            used: fade(self.used),
            missed: fade(self.missed),
            at: now,
        }
    }

    fn count(&mut self, what: SkillUse) {
        let count = match what {
            SkillUse::Ignored => &mut self.ignored,
            SkillUse::Loaded => &mut self.used,
            SkillUse::Missed => &mut self.missed,
        };
        *count = (*count + 1.0).min(MAX_COUNT);
    }

    fn sum(&self) -> f64 {
        self.ignored + self.used + self.missed
    }
}

impl Learned {
    /// Returns which loads of skills a client is known to tell of.
    pub fn heard(&self, client: &str) -> HeardLoads {
        self.heard.get(client).copied().unwrap_or_default()
    }

    /// Returns the bars of a catalog's skills.
    pub fn bars(&self, catalog: &Catalog, now: SystemTime) -> SkillBars {
        let now = since_1970(now).as_secs();
        let mut bars = SkillBars::default();
        for (key, skill) in &self.skills {
            if let Some(entry) = catalog.get(id_of(key))
                && key_of(&entry) == *key
            {
                let LearnedSkill {
                    ignored,
                    used,
                    missed,
                    ..
                } = skill.faded(now);
                bars.insert(entry.id(), UseCounts::new(ignored, used, missed));
            }
        }
        bars
    }

    fn count(&mut self, catalog: &Catalog, uses: &[(Box<str>, SkillUse)], now: u64) {
        for (id, what) in uses {
            let Some(entry) = catalog.get(id).filter(|_| id.len() <= MAX_NAME_BYTES) else {
                continue;
            };
            let skill = self.skills.entry(key_of(&entry)).or_default();
            *skill = skill.faded(now);
            skill.count(*what);
        }
        self.skills
            .retain(|_, skill| skill.faded(now).sum() >= MIN_SUM);
        if self.skills.len() > MAX_SKILLS {
            let mut all: Vec<_> = std::mem::take(&mut self.skills).into_iter().collect();
            all.sort_by(|(_, one), (_, other)| {
                other.faded(now).sum().total_cmp(&one.faded(now).sum())
            });
            all.truncate(MAX_SKILLS);
            self.skills = all.into_iter().collect();
        }
    }
}

impl Conversations {
    /// Returns what became of skills; nothing if that cannot be read.
    pub fn learned(&self) -> Learned {
        let root = WriteRoot::open(self.folder()).ok();
        let file = root.and_then(|root| read(&root));
        file.as_ref().and_then(parse).unwrap_or_default()
    }

    /// Counts what became of a catalog's skills after a prompt in a client.
    ///
    /// # Errors
    ///
    /// [`Unwritable`](skillfold_core::ErrorKind::Unwritable) if the file cannot be written.
    pub fn learn(
        &self,
        catalog: &Catalog,
        client: &str,
        uses: &PromptUses,
        now: SystemTime,
    ) -> Result<(), Error> {
        let heard = self.learned().heard(client);
        if uses.learned.is_empty() && heard == heard.or(uses.heard) {
            return Ok(());
        }
        let now = since_1970(now).as_secs();
        self.change_learned(|learned| {
            let heard = learned.heard(client).or(uses.heard);
            learned.heard.insert(client.to_owned(), heard);
            learned.count(catalog, &uses.learned, now);
        })
    }

    /// Forgets what became of the skills with an id, or of all. Returns the ids of those that were known.
    ///
    /// # Errors
    ///
    /// As [`learn`](Self::learn).
    pub fn forget_learned(&self, id: Option<&str>) -> Result<BTreeSet<String>, Error> {
        let mut forgotten = BTreeSet::new();
        if !self.folder().is_dir() {
            return Ok(forgotten);
        }
        self.change_learned(|learned| {
            learned.skills.retain(|key, _| {
                let is_kept = id.is_some_and(|id| id != id_of(key));
                if !is_kept {
                    forgotten.insert(id_of(key).to_owned());
                }
                is_kept
            });
        })?;
        Ok(forgotten)
    }

    fn change_learned(&self, change: impl FnOnce(&mut Learned)) -> Result<(), Error> {
        let root = WriteRoot::open_or_create(self.folder(), Access::Private)?;
        let _lock = root.lock(LOCK_NAME)?;
        let read = read(&root);
        let before = read.as_ref().and_then(parse).unwrap_or_default();
        let mut learned = before.clone();
        change(&mut learned);
        if learned == before {
            return Ok(());
        }
        // It consists of texts and numbers, which can always be written.
        let bytes = serde_json::to_vec(&learned).unwrap_or_default();
        match &read {
            Some(old) => root.replace(Path::new(NAME), old, &bytes, Access::Private),
            None => root.create(Path::new(NAME), &bytes, Access::Private),
        }
    }
}

impl Skills {
    /// Returns the bars that follow from what became of the user's skills.
    pub fn learned_bars(&self) -> SkillBars {
        let learned = Conversations::of_user(self.environment()).map(|it| it.learned());
        learned
            .unwrap_or_default()
            .bars(&self.catalog(), environment::now())
    }
}

/// Returns the key of a skill: its id and the start of its description's digest.
fn key_of(entry: &Entry<'_>) -> String {
    let description = digest_start(entry.manifest().description(), DIGEST_DIGITS);
    format!("{}@{description}", entry.id())
}

/// Returns the id in a key.
fn id_of(key: &str) -> &str {
    key.rsplit_once('@').map_or(key, |(id, _)| id)
}

/// Reads the file. One that cannot be read counts as absent: then it cannot be replaced either, and that is the error.
fn read(root: &WriteRoot) -> Option<ReadFile> {
    root.read(Path::new(NAME), MAX_BYTES).ok().flatten()
}

fn parse(file: &ReadFile) -> Option<Learned> {
    serde_json::from_slice(file.bytes()).ok()
}
