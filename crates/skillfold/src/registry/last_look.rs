//! What the last look for newer versions found, so that it can be said without the network.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use skillfold_core::Error;
use skillfold_core::text::{FormatNumber, utc};
use skillfold_store::{Access, WriteTarget};

use super::{OutdatedSkill, Registry};
use crate::environment;

/// With the format in its name: another version has a file of its own.
const FILE: &str = "outdated-1.json";
const MAX_BYTES: u64 = 16 << 20;

/// What the last look for newer versions found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LastLook {
    /// When it was, in UTC.
    pub time: String,
    /// The skills that were outdated, and are still locked at the same version.
    pub skills: Vec<OutdatedSkill>,
}

#[derive(Default, Serialize, Deserialize)]
struct Looks {
    format: FormatNumber<1>,
    by_lock: BTreeMap<PathBuf, Look>,
}

#[derive(Serialize, Deserialize)]
struct Look {
    time: String,
    skills: Vec<OutdatedSkill>,
}

impl Registry<'_> {
    /// Returns what the last [`outdated`](Self::outdated) found, without asking any source; `None` if nobody looked.
    ///
    /// # Errors
    ///
    /// [`Invalid`](skillfold_core::ErrorKind::Invalid) if the lock cannot be read.
    pub fn last_look(&self) -> Result<Option<LastLook>, Error> {
        let Some(look) = self.looks().by_lock.remove(&self.lock) else {
            return Ok(None);
        };
        let locked = self.files()?.lock;
        let mut skills = look.skills;
        skills.retain(|skill| {
            locked
                .get(&skill.name)
                .is_some_and(|it| it.pin == skill.locked)
        });
        Ok(Some(LastLook {
            time: look.time,
            skills,
        }))
    }

    /// Keeps what a look found. If that fails, the next one is not told of it.
    pub(super) fn keep_look(&self, skills: &[OutdatedSkill]) {
        let mut looks = self.looks();
        looks.by_lock.retain(|lock, _| lock.exists());
        let look = Look {
            time: utc(environment::now()),
            skills: skills.to_vec(),
        };
        looks.by_lock.insert(self.lock.clone(), look);
        let write = || -> Result<(), Error> {
            let target = self.look_target()?;
            let json = serde_json::to_vec(&looks).unwrap_or_default();
            target.write(target.read(MAX_BYTES)?.as_ref(), &json, Access::Private)
        };
        if let Err(error) = write() {
            tracing::warn!(problem = error.with_cause(), "the look was not kept");
        }
    }

    /// Reads what was kept. What cannot be read is forgotten: it is a cache.
    fn looks(&self) -> Looks {
        let read = || -> Result<Option<Looks>, Error> {
            let file = self.look_target()?.read(MAX_BYTES)?;
            Ok(file.and_then(|file| serde_json::from_slice(file.bytes()).ok()))
        };
        read().ok().flatten().unwrap_or_default()
    }

    fn look_target(&self) -> Result<WriteTarget, Error> {
        WriteTarget::for_user(&self.options.cache.join(FILE))
    }
}
