//! How often the right skill is given without being requested, and how often a forbidden one is.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use serde_json::json;
use skillfold::Skills;
use skillfold::core::disclose::{Mode, Outcome};
use skillfold::core::{ContextLifetime, Policy};

use crate::labelled::{Labelled, Request, Triggers, pool_id};
use crate::measure::rounded;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Folder of labelled skills and requests
    #[arg(long)]
    data: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let data = Labelled::read(&arguments.data)?;
    let judged: HashSet<&str> = data
        .negatives
        .iter()
        .flat_map(|request| &request.skills)
        .map(String::as_str)
        .collect();
    let is_judged =
        |request: &&Request| request.skills.iter().any(|id| judged.contains(id.as_str()));
    let positives: Vec<&Request> = data.requests.iter().filter(is_judged).collect();
    let mut rows = Vec::new();
    for triggers in Triggers::ALL {
        let installed = data.install(data.skills.len(), triggers)?;
        let catalog = installed.catalog();
        let with_triggers = catalog
            .visible()
            .filter(|entry| entry.manifest().triggers().is_some())
            .count();
        for mode in [Mode::Triggered, Mode::Hybrid] {
            let given = Given::new(&data, &installed, mode);
            let rate = |requests: &[&Request]| {
                let fired = requests.iter().filter(|request| given.is_given(request));
                ratio(fired.count(), requests.len())
            };
            let row = json!({
                "mode": mode.as_str(),
                "triggers": triggers.as_str(),
                "skills": data.skills.len(),
                "seen": catalog.visible().count(),
                "with_triggers": with_triggers,
                "judged_skills": judged.len(),
                "positives": positives.len(),
                "negatives": data.negatives.len(),
                "hit_rate": rate(&positives),
                "hit_rates": by_track(&positives, rate),
                "false_rate": rate(&data.negatives.iter().collect::<Vec<_>>()),
                "labelled": data.requests.len(),
                "labelled_hit_rate": rate(&data.requests.iter().collect::<Vec<_>>()),
            });
            writeln!(out, "{row}")?;
            rows.push(row);
        }
    }
    writeln!(out, "{}", json!({ "results": rows }))?;
    Ok(())
}

/// Returns the rate of each track.
fn by_track(requests: &[&Request], rate: impl Fn(&[&Request]) -> f64) -> BTreeMap<String, f64> {
    let mut tracks: BTreeMap<String, Vec<&Request>> = BTreeMap::new();
    for request in requests {
        tracks
            .entry(request.track.clone())
            .or_default()
            .push(request);
    }
    tracks
        .into_iter()
        .map(|(track, requests)| (track, rate(&requests)))
        .collect()
}

/// Runs requests against the installed skills.
struct Given<'a> {
    data: &'a Labelled,
    installed: &'a Skills,
    policy: Policy,
    /// Maps a skill's id in the catalog to its id in the pool.
    pool_ids: HashMap<Box<str>, Box<str>>,
}

impl<'a> Given<'a> {
    fn new(data: &'a Labelled, installed: &'a Skills, mode: Mode) -> Self {
        let catalog = installed.catalog();
        let pairs = catalog
            .entries()
            .map(|entry| (entry.id().into(), pool_id(&entry).into()));
        Self {
            data,
            installed,
            policy: Policy::default().with_mode(mode),
            pool_ids: pairs.collect(),
        }
    }

    /// Returns whether the first turn gives the instructions of a skill that the request names, or of a copy of it.
    fn is_given(&self, request: &Request) -> bool {
        let meant = self.data.meant(request);
        let mut session = self
            .installed
            .session(self.policy.clone(), ContextLifetime::History);
        let turn = session.turn(&request.text);
        let mut given = turn
            .decisions
            .iter()
            .filter(|decision| matches!(decision.outcome, Outcome::Given(..)));
        given.any(|decision| {
            let id = self.pool_ids.get(&decision.id);
            id.is_some_and(|id| meant.contains(&**id))
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of requests are small")]
fn ratio(part: usize, whole: usize) -> f64 {
    rounded(part as f64 / whole.max(1) as f64)
}
