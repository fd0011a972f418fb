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
    Conversations, MAX_NAME_BYTES, SkillUse, digest_start, since_1970,
};
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

/// After how long a count is worth half as much.
const HALF_LIFE: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// What became of skills.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    format: FormatNumber<1>,
    /// Whether the client has said of a skill that it loaded it itself. Only then is one ignored that it does not load.
    #[serde(default)]
    tells_loads: bool,
    /// By id and description: another project may have another skill with the id, and a better description deserves to
    /// start anew.
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
    /// Returns what is left of the counts.
    fn faded(self, now: u64) -> Self {
        let passed = Duration::from_secs(now.saturating_sub(self.at));
        let left = 0.5_f64.powf(passed.div_duration_f64(HALF_LIFE));
        Self {
            ignored: self.ignored * left,
            used: self.used * left,
            missed: self.missed * left,
            at: now.max(self.at),
        }
    }

    const fn count(&mut self, what: SkillUse) {
        match what {
            SkillUse::Ignored => self.ignored += 1.0,
            SkillUse::Loaded => self.used += 1.0,
            SkillUse::Missed => self.missed += 1.0,
        }
    }

    fn sum(&self) -> f64 {
        self.ignored + self.used + self.missed
    }
}

impl Learned {
    /// Returns whether clients say which skills they load themselves.
    pub const fn tells_loads(&self) -> bool {
        self.tells_loads
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
        while self.skills.len() > MAX_SKILLS {
            let sums = self.skills.iter();
            let sums = sums.map(|(key, skill)| (key, skill.faded(now).sum()));
            let lowest = sums.min_by(|(_, one), (_, other)| one.total_cmp(other));
            let Some(key) = lowest.map(|(key, _)| key.clone()) else {
                return;
            };
            self.skills.remove(&key);
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

    /// Counts what became of a catalog's skills.
    ///
    /// # Errors
    ///
    /// [`Unwritable`](skillfold_core::ErrorKind::Unwritable) if the file cannot be written.
    pub fn learn(
        &self,
        catalog: &Catalog,
        uses: &[(Box<str>, SkillUse)],
        now: SystemTime,
    ) -> Result<(), Error> {
        if uses.is_empty() {
            return Ok(());
        }
        let now = since_1970(now).as_secs();
        self.change_learned(|learned| learned.count(catalog, uses, now))
    }

    /// Records that a client says which skills it loads itself.
    ///
    /// # Errors
    ///
    /// As [`learn`](Self::learn).
    pub fn learn_that_loads_are_told(&self) -> Result<(), Error> {
        self.change_learned(|learned| learned.tells_loads = true)
    }

    /// Forgets what became of the skills with an id, or of all. Returns the ids of those that were known.
    ///
    /// # Errors
    ///
    /// As [`learn`](Self::learn).
    pub fn forget_learned(&self, id: Option<&str>) -> Result<BTreeSet<String>, Error> {
        let mut forgotten = BTreeSet::new();
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
