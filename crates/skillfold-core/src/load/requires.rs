//! The skills that have to be loaded before a skill, in order.

use std::collections::HashMap;

use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, quoted};
use crate::error::Error;
use crate::findings::LimitedFindings;

/// Maximum ids that the message about a cycle names.
const MAX_CYCLE_IDS: usize = 8;

/// A skill and everything it requires.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequiredSkills<'a> {
    /// The skills in load order: each after the skills that it requires, the requested one last.
    pub skills: Vec<Entry<'a>>,
    /// Required skills that are missing, and cycles, each broken at its last edge.
    pub findings: Vec<Diagnostic>,
}

impl Catalog {
    /// Returns a skill and everything it requires, directly or indirectly. A required skill that a model may not load
    /// is treated as missing. Loads nothing; that is up to the host.
    ///
    /// # Errors
    ///
    /// Fails as [`resolve_for_model`](Self::resolve_for_model) does.
    pub fn resolve_requires(&self, id: &str) -> Result<RequiredSkills<'_>, Error> {
        let requested = self.resolve_for_model(id)?;
        let mut search = RequiresSearch {
            catalog: self,
            skills: Vec::new(),
            stages: HashMap::new(),
            path: Vec::new(),
            findings: LimitedFindings::new(self.options().read.walk.limits.findings),
        };
        search.enter(requested);
        while let Some(step) = search.path.last_mut() {
            let required = step.entry.manifest().requires().get(step.next);
            step.next += 1;
            let by = step.entry;
            match required {
                Some(id) => search.visit(by, id),
                None => search.leave(by),
            }
        }
        Ok(RequiredSkills {
            skills: search.skills,
            findings: search.findings.finish(|more| more),
        })
    }
}

/// A depth-first search with an explicit stack: a chain may be as long as the catalog.
struct RequiresSearch<'a> {
    catalog: &'a Catalog,
    skills: Vec<Entry<'a>>,
    findings: LimitedFindings<Diagnostic>,
    stages: HashMap<u32, Stage>,
    path: Vec<Step<'a>>,
}

struct Step<'a> {
    entry: Entry<'a>,
    next: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    OnPath,
    Done,
}

impl<'a> RequiresSearch<'a> {
    fn enter(&mut self, entry: Entry<'a>) {
        self.stages.insert(entry.index(), Stage::OnPath);
        self.path.push(Step { entry, next: 0 });
    }

    fn leave(&mut self, entry: Entry<'a>) {
        self.stages.insert(entry.index(), Stage::Done);
        self.skills.push(entry);
        self.path.pop();
    }

    fn visit(&mut self, by: Entry<'a>, id: &str) {
        let Some(entry) = self.catalog.get(id).filter(Entry::is_for_models) else {
            return self.findings.push(|| {
                let (by, id) = (quoted(by.id()), quoted(id));
                let message = format!("{by} requires {id}, which does not exist");
                Diagnostic::new(Code::RequiredMissing, None, message)
            });
        };
        match self.stages.get(&entry.index()) {
            Some(Stage::Done) => {}
            Some(Stage::OnPath) => self.findings.push(|| describe_cycle(&self.path, entry)),
            None => self.enter(entry),
        }
    }
}

fn describe_cycle(path: &[Step<'_>], start: Entry<'_>) -> Diagnostic {
    let on_path = path.iter().map(|step| step.entry);
    let cycle: Vec<_> = on_path.skip_while(|entry| *entry != start).collect();
    let named = cycle.iter().take(MAX_CYCLE_IDS);
    let mut ids: Vec<_> = named.map(|entry| quoted(entry.id())).collect();
    if cycle.len() > MAX_CYCLE_IDS {
        ids.push(format!("{} more", cycle.len() - MAX_CYCLE_IDS));
    }
    ids.push(quoted(start.id()));
    let message = format!("Skills require each other: {}", ids.join(" > "));
    Diagnostic::new(Code::RequiredCycle, None, message)
}
