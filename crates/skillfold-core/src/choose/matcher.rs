//! Which skills a message asks for, by their triggers and their names.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;
use crate::choose::capability;
use crate::choose::compiled::{GONE, MatcherLayer, Reason};
use crate::choose::finder::Finder;
use crate::choose::match_cache::{CachedMatch, MatchCache, MatchStats};
use crate::choose::message::Message;
use crate::choose::patterns::{compiled, window};
use crate::choose::signal::Signal;
use crate::choose::trigger::trigger_text;
use crate::diagnostic::Diagnostic;
use crate::read::discover::Skill;

/// Bytes of a message that are looked at: half of them at its start, half at its end.
pub(super) const MESSAGE_BYTES: usize = 64 * 1024;
/// Of so many skills one may be in the second part before both are put together anew.
const SHARE: usize = 20;
/// So many may be in any case.
const LEAST: usize = 64;

/// Finds the skills of one snapshot that a message asks for. It does no I/O, and takes time by the message alone and what
/// matches in it, whatever the patterns.
///
/// ```
/// use skillfold_core::{Catalog, Matcher, MemorySource, Root, CatalogOptions, Scope, Signal};
///
/// let greet = "---\nname: greet\ndescription: Says hello\ntriggers: [bonjour]\n---\n";
/// let root = Root::new(Scope::User, "mine", MemorySource::new([("greet/SKILL.md", greet)]));
/// let matcher = Matcher::new(&Catalog::discover(vec![root], CatalogOptions::default(), 0));
///
/// let found = matcher.matches("Say Bonjour to Alice");
/// assert_eq!(found.candidates[0].entry.id(), "greet");
/// assert!(matcher.matches("What is 2+2?").candidates.is_empty());
/// ```
pub struct Matcher {
    catalog: Catalog,
    base: MatcherLayer,
    /// What is newer than the base.
    delta: MatcherLayer,
    /// The places of the skills that have a trigger which could match, from when it is asked for the first time.
    with_triggers: OnceLock<HashSet<u32>>,
    /// What messages asked for before.
    answers: MatchCache,
    /// What finds skills by what a message is about.
    finder: Option<Arc<dyn Finder>>,
}

/// What a message asks for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Matches<'a> {
    /// The skills that match, each once, in the order of the catalog.
    pub candidates: Vec<Candidate<'a>>,
    /// Whether the message asks what can be done at all.
    pub asks_for_list: bool,
    /// The bytes in the middle of the message that were not looked at, where it is too long.
    pub unread: Option<Range<usize>>,
    /// The bytes in the middle of the message that patterns did not look at, where there are patterns.
    pub unread_by_patterns: Option<Range<usize>>,
}

/// A skill that a message asks for, and why.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Candidate<'a> {
    /// The skill.
    pub entry: Entry<'a>,
    /// How it was asked for, at best.
    pub signal: Signal,
    reason: Reason,
    /// The best of its triggers that is in the message.
    trigger: Option<(Signal, Reason)>,
    /// How many skills come before it, by id.
    order: u32,
}

impl Matcher {
    /// Compiles the triggers of all skills that a model may start.
    pub fn new(catalog: &Catalog) -> Self {
        Self {
            catalog: catalog.clone(),
            base: MatcherLayer::new(startable(catalog)),
            delta: MatcherLayer::new([]),
            with_triggers: OnceLock::new(),
            answers: MatchCache::default(),
            finder: None,
        }
    }

    /// Suggests what a message is about too, by something that searches the same snapshot. Only what a
    /// [`Policy`](crate::Policy) lets through is told.
    #[must_use]
    pub fn with_finder(mut self, finder: Arc<dyn Finder>) -> Self {
        self.finder = Some(finder);
        self
    }

    /// Returns the same for a newer snapshot; only what changed is compiled, unless that is much. What this one remembers
    /// is forgotten, and the newer one starts with nothing; it has nothing either that finds skills for it.
    #[must_use]
    pub fn refresh(&self, catalog: &Catalog) -> Self {
        self.answers.clear();
        Self {
            answers: self.answers.next(),
            ..self.recompiled(catalog)
        }
    }

    fn recompiled(&self, catalog: &Catalog) -> Self {
        if catalog.tables.comes_from(&self.catalog.tables) {
            return self.followed(catalog);
        }
        let all: Vec<_> = startable(catalog).collect();
        let base = self.base.moved(&all);
        let known: HashSet<*const Skill> = base.live().map(Arc::as_ptr).collect();
        let newer = all
            .into_iter()
            .filter(|(_, skill)| !known.contains(&Arc::as_ptr(skill)));
        self.with(catalog, base, newer.collect())
    }

    /// Returns the same for a snapshot that was made from this one by changes: skills have the same numbers.
    fn followed(&self, catalog: &Catalog) -> Self {
        let (before, now) = (&self.catalog.tables, &catalog.tables);
        let mut gone: Vec<u32> = now.gone()[before.gone().len()..].to_vec();
        gone.sort_unstable();
        let is_there = |at: &u32| gone.binary_search(at).is_err();
        let delta = self.delta.places.iter().copied();
        let newer = delta
            .chain(before.next_number()..now.next_number())
            .filter(|at| *at != GONE && is_there(at))
            .map(|at| catalog.entry(at))
            .filter(Entry::is_visible)
            .map(|entry| (entry.at(), Arc::clone(entry.skill())));
        self.with(catalog, self.base.without(&gone), newer.collect())
    }

    fn with(&self, catalog: &Catalog, base: MatcherLayer, newer: Vec<(u32, Arc<Skill>)>) -> Self {
        let gone = base.places.iter().filter(|place| **place == GONE).count();
        if (newer.len() + gone) > LEAST.max(base.places.len() / SHARE) {
            return Self::new(catalog);
        }
        let compiled = self.delta.compiled.skills.iter();
        let is_same = self.delta.places.len() == newer.len()
            && compiled.zip(&newer).all(|(a, (_, b))| Arc::ptr_eq(a, b));
        let delta = if is_same {
            self.delta.moved(&newer)
        } else {
            MatcherLayer::new(newer)
        };
        Self {
            catalog: catalog.clone(),
            base,
            delta,
            with_triggers: OnceLock::new(),
            answers: MatchCache::default(),
            finder: None,
        }
    }

    /// Returns the snapshot that is matched against.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Returns what finds skills by what a message is about.
    pub(crate) fn finder(&self) -> Option<&dyn Finder> {
        self.finder.as_deref()
    }

    /// Returns whether a skill of the snapshot has a trigger that could match, and may be started by it.
    pub(crate) fn has_triggers(&self, entry: &Entry<'_>) -> bool {
        let with_triggers = self.with_triggers.get_or_init(|| {
            let parts = [&self.base, &self.delta].into_iter();
            parts.flat_map(MatcherLayer::with_triggers).collect()
        });
        with_triggers.contains(&entry.at())
    }

    /// Returns the patterns that cannot be used, each with its skill, in the order of the catalog.
    pub fn findings(&self) -> Vec<(Entry<'_>, &Diagnostic)> {
        let mut found = Vec::new();
        for part in [&self.base, &self.delta] {
            for (slot, finding) in &part.compiled.findings {
                let place = part.places[*slot as usize];
                if place != GONE {
                    found.push((place, finding));
                }
            }
        }
        found.sort_by_key(|(at, _)| self.catalog.tables.order(*at));
        let entries = found.into_iter();
        entries
            .map(|(at, finding)| (self.catalog.entry(at), finding))
            .collect()
    }

    /// Returns the skills that a message asks for. They are looked for each time; [`recall`](Self::recall) remembers.
    pub fn matches(&self, message: &str) -> Matches<'_> {
        let message = Message::new(message, MESSAGE_BYTES);
        let answer = self.answer(&message);
        self.matched(&message, &answer)
    }

    /// Returns the same as [`matches`](Self::matches), from memory where an equal message was matched before: one that
    /// differs at most in upper and lower case, and in not even that where a skill has patterns, which may tell them apart.
    ///
    /// At most 256 messages are remembered, in at most 1 MiB; the one that was asked longest ago is forgotten first.
    ///
    /// ```
    /// # use skillfold_core::{Catalog, Matcher, MemorySource, Root, CatalogOptions, Scope};
    /// # let greet = "---\nname: greet\ndescription: Says hello\ntriggers: [bonjour]\n---\n";
    /// # let root = Root::new(Scope::User, "mine", MemorySource::new([("greet/SKILL.md", greet)]));
    /// # let matcher = Matcher::new(&Catalog::discover(vec![root], CatalogOptions::default(), 0));
    /// assert_eq!(matcher.matches_cached("Say Bonjour").candidates.len(), 1);
    /// assert_eq!(matcher.matches_cached("say bonjour").candidates.len(), 1);
    /// assert_eq!((matcher.stats().misses, matcher.stats().hits), (1, 1));
    /// ```
    pub fn matches_cached(&self, message: &str) -> Matches<'_> {
        let message = Message::new(message, MESSAGE_BYTES);
        // Everything that an answer depends on. Literals look at the folded text, patterns at the text as it was written;
        // what is passed over of a long message is in neither.
        let text = if self.has_patterns() {
            &*message.looked.text
        } else {
            &*message.folded
        };
        let answer = self.answers.get(text, || self.answer(&message));
        self.matched(&message, &answer)
    }

    /// Returns how the memory of messages does. The counts go on when the matcher is refreshed.
    pub fn stats(&self) -> MatchStats {
        self.answers.stats()
    }

    /// Looks for what a message asks for.
    fn answer(&self, message: &Message<'_>) -> CachedMatch {
        let mut hits = Vec::new();
        for part in [&self.base, &self.delta] {
            part.find(message, &mut hits);
        }
        hits.sort_unstable_by_key(|hit| self.catalog.tables.order(hit.at));
        CachedMatch {
            hits,
            asks_for_list: capability::is_asked(&message.folded),
        }
    }

    /// Returns an answer as that to one message.
    fn matched(&self, message: &Message<'_>, answer: &CachedMatch) -> Matches<'_> {
        let candidates = answer.hits.iter().map(|hit| Candidate {
            entry: self.catalog.entry(hit.at),
            signal: hit.signal,
            reason: hit.reason,
            trigger: hit.trigger,
            order: self.catalog.tables.order(hit.at),
        });
        Matches {
            candidates: candidates.collect(),
            asks_for_list: answer.asks_for_list,
            unread_by_patterns: self.unread_by_patterns(message),
            unread: message.looked.unread.clone(),
        }
    }

    fn has_patterns(&self) -> bool {
        self.base.has_patterns() || self.delta.has_patterns()
    }

    /// Returns the bytes of a message that patterns do not look at, where there are patterns.
    fn unread_by_patterns(&self, message: &Message<'_>) -> Option<Range<usize>> {
        let has_patterns = self.has_patterns();
        window(&message.looked).unread.filter(|_| has_patterns)
    }
}

impl std::fmt::Debug for Matcher {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Matcher")
            .field("skills", &self.base.compiled.skills.len())
            .field("newer", &self.delta.compiled.skills.len())
            .finish_non_exhaustive()
    }
}

/// Returns the skills that a model may start, with their numbers.
fn startable(catalog: &Catalog) -> impl Iterator<Item = (u32, Arc<Skill>)> {
    let visible = catalog.visible();
    visible.map(|entry| (entry.at(), Arc::clone(entry.skill())))
}

impl Matches<'_> {
    /// Returns what the triggers alone ask for: saying a skill's name counts for nothing.
    pub(crate) fn by_triggers(mut self) -> Self {
        self.candidates.retain_mut(|candidate| {
            let Some((signal, reason)) = candidate.trigger else {
                return false;
            };
            (candidate.signal, candidate.reason) = (signal, reason);
            true
        });
        self
    }
}

impl<'a> Candidate<'a> {
    /// Returns what of the skill matched: a trigger, a pattern or its name.
    pub fn evidence(&self) -> &'a str {
        match self.reason {
            Reason::Name(_) => self.entry.manifest().name().as_str(),
            Reason::Literal(number, _) | Reason::Pattern(number) => {
                trigger_text(self.entry.manifest(), number).unwrap_or_default()
            }
        }
    }

    /// Returns where the evidence stands in the message that was matched.
    pub fn place(&self, message: &str) -> Range<usize> {
        let message = Message::new(message, MESSAGE_BYTES);
        match self.reason {
            Reason::Name(found) | Reason::Literal(_, found) => {
                message.place(found.start..found.end)
            }
            Reason::Pattern(_) => {
                let pattern = compiled(self.evidence()).ok();
                let found = pattern.and_then(|pattern| window(&message.looked).find(&pattern));
                found.unwrap_or_default()
            }
        }
    }

    /// Returns how many skills come before this one, by id.
    pub(super) fn order(&self) -> u32 {
        self.order
    }
}
