//! The triggers and names that a message matches, which is how skills start today.

use std::error::Error;

use skillfold::core::Matcher;
use skillfold::core::choose::rank;

use crate::labelled::{Triggers, installed, pool_id};
use crate::search::method::{Hit, Method};
use crate::search::pool::Pool;

struct ByTriggers {
    matcher: Matcher,
    /// The skills' positions, by their ids in the pool.
    places: std::collections::HashMap<String, usize>,
}

/// Installs all skills with their authors' triggers. Of several skills with the same name the first is visible, and
/// those without a description are refused, as everywhere.
pub(crate) fn make(pool: &Pool) -> Result<Box<dyn Method>, Box<dyn Error>> {
    let catalog = installed(pool.skills.iter(), Triggers::Own)?.catalog();
    let ids = pool.skills.iter().map(|skill| skill.id.clone());
    Ok(Box::new(ByTriggers {
        matcher: Matcher::new(&catalog),
        places: ids.zip(0..).collect(),
    }))
}

impl Method for ByTriggers {
    fn search(&self, request: &str, count: usize) -> Result<Vec<Hit>, Box<dyn Error>> {
        let candidates = rank(self.matcher.matches(request).candidates, |_| None);
        let hits = candidates.iter().filter_map(|candidate| {
            Some(Hit {
                place: *self.places.get(pool_id(&candidate.entry))?,
                score: f64::from(candidate.signal as u8),
            })
        });
        Ok(hits.take(count).collect())
    }
}
