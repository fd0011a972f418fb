//! What has to be loaded before a skill, in order.

use std::collections::HashMap;

use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, quoted};
use crate::error::Error;

/// Skills of a circle that are named.
const SHOWN: usize = 8;

/// A skill and all that it requires.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequiredSkills<'a> {
    /// The skills in the order in which they are to be loaded: each after what it requires, the one that was asked for
    /// last.
    pub skills: Vec<Entry<'a>>,
    /// What is required and is not there, and circles, each broken at its last step.
    pub findings: Vec<Diagnostic>,
}

impl Catalog {
    /// Returns a skill and all that it requires, directly or not, of the skills that a model may get; the others are not
    /// there. Nothing is loaded: a host decides. The error is that of [`resolve_for_model`](Self::resolve_for_model).
    pub fn resolve_requires(&self, id: &str) -> Result<RequiredSkills<'_>, Error> {
        let asked = self.resolve_for_model(id)?;
        let mut search = RequiresSearch {
            catalog: self,
            found: RequiredSkills {
                skills: Vec::new(),
                findings: Vec::new(),
            },
            seen: HashMap::new(),
            path: Vec::new(),
            unreported: 0,
        };
        search.enter(asked);
        while let Some(step) = search.path.last_mut() {
            let required = step.entry.manifest().requires().get(step.next);
            step.next += 1;
            let by = step.entry;
            match required {
                Some(id) => search.required(by, id),
                None => search.leave(by),
            }
        }
        Ok(search.end())
    }
}

/// A search in depth, without recursion: a chain may be as long as the catalog.
struct RequiresSearch<'a> {
    catalog: &'a Catalog,
    found: RequiredSkills<'a>,
    seen: HashMap<u32, Stage>,
    path: Vec<Step<'a>>,
    unreported: usize,
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
        self.seen.insert(entry.at(), Stage::OnPath);
        self.path.push(Step { entry, next: 0 });
    }

    fn leave(&mut self, entry: Entry<'a>) {
        self.seen.insert(entry.at(), Stage::Done);
        self.found.skills.push(entry);
        self.path.pop();
    }

    fn required(&mut self, by: Entry<'a>, id: &str) {
        let Some(entry) = self.catalog.get(id).filter(Entry::is_for_models) else {
            let (by, id) = (quoted(by.id()), quoted(id));
            let message = format!("{by} requires {id}, which is not there");
            return self.finding(Code::RequiredMissing, message);
        };
        match self.seen.get(&entry.at()) {
            Some(Stage::Done) => {}
            Some(Stage::OnPath) => self.cycle(entry),
            None => self.enter(entry),
        }
    }

    fn cycle(&mut self, back_at: Entry<'a>) {
        if self.is_full() {
            self.unreported += 1;
            return;
        }
        let on_path = self.path.iter().map(|step| step.entry);
        let circle: Vec<_> = on_path.skip_while(|entry| *entry != back_at).collect();
        let shown = circle.iter().take(SHOWN);
        let mut ids: Vec<_> = shown.map(|entry| quoted(entry.id())).collect();
        if circle.len() > SHOWN {
            ids.push(format!("{} more", circle.len() - SHOWN));
        }
        ids.push(quoted(back_at.id()));
        let message = format!("Skills require each other: {}", ids.join(" > "));
        self.finding(Code::RequiredCycle, message);
    }

    fn finding(&mut self, code: Code, message: String) {
        if self.is_full() {
            self.unreported += 1;
        } else {
            let finding = Diagnostic::new(code, None, message);
            self.found.findings.push(finding);
        }
    }

    fn is_full(&self) -> bool {
        self.found.findings.len() >= self.catalog.options().read.walk.limits.findings
    }

    fn end(mut self) -> RequiredSkills<'a> {
        if self.unreported > 0 {
            let message = format!("{} more findings are not listed", self.unreported);
            let more = Diagnostic::new(Code::MoreFindings, None, message);
            self.found.findings.push(more);
        }
        self.found
    }
}
