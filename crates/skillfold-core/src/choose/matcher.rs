//! Matches a message against the triggers and names of skills.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::catalog::entry::Entry;
use crate::catalog::snapshot::Catalog;
use crate::choose::capability;
use crate::choose::compiled::{MatcherLayer, Reason, TOMBSTONE};
use crate::choose::finder::Finder;
use crate::choose::match_cache::{CachedMatch, MatchCache, MatchStats};
use crate::choose::message::Message;
use crate::choose::patterns::{compile_pattern, pattern_window};
use crate::choose::signal::Signal;
use crate::choose::trigger::trigger_text;
use crate::diagnostic::Diagnostic;
use crate::read::discover::Skill;

/// Maximum bytes of a message to match: half from its start, half from its end.
pub(super) const MAX_MESSAGE_BYTES: usize = 64 * 1024;
/// The base is recompiled once more than one in this many of its skills has changed.
const REBUILD_DIVISOR: usize = 20;
/// Number of changed skills that never causes a recompilation.
const REBUILD_MIN_SKILLS: usize = 64;

/// Finds the skills of one snapshot that a message asks for. It does no I/O, and its running time depends only on the
/// message and its matches, whatever the patterns.
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
    /// Skills added since the base was compiled.
    overlay: MatcherLayer,
    /// Snapshot indices of the skills with a usable trigger, computed on first use.
    with_triggers: OnceLock<HashSet<u32>>,
    cache: MatchCache,
    finder: Option<Arc<dyn Finder>>,
}

/// The skills that a message asks for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Matches<'a> {
    /// The matching skills, each once, in catalog order.
    pub candidates: Vec<Candidate<'a>>,
    /// Whether the message asks for the list of skills.
    pub asks_for_list: bool,
    /// Byte range in the middle of a too long message that was not matched.
    pub unread: Option<Range<usize>>,
    /// Byte range in the middle of the message that was not matched against patterns, if there are patterns.
    pub unread_by_patterns: Option<Range<usize>>,
}

/// A skill that a message asks for, and why.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Candidate<'a> {
    /// The skill.
    pub entry: Entry<'a>,
    /// The strongest signal for it.
    pub signal: Signal,
    reason: Reason,
    /// Best match by a trigger rather than by name.
    trigger: Option<(Signal, Reason)>,
    /// Position of the skill in id order.
    order: u32,
}

impl Matcher {
    /// Compiles the triggers of all skills that a model may invoke.
    pub fn new(catalog: &Catalog) -> Self {
        Self {
            catalog: catalog.clone(),
            base: MatcherLayer::new(visible_skills(catalog)),
            overlay: MatcherLayer::new([]),
            with_triggers: OnceLock::new(),
            cache: MatchCache::default(),
            finder: None,
        }
    }

    /// Adds a finder over the same snapshot, which suggests skills related to a message. A [`Policy`](crate::Policy)
    /// decides which suggestions are disclosed.
    #[must_use]
    pub fn with_finder(mut self, finder: Arc<dyn Finder>) -> Self {
        self.finder = Some(finder);
        self
    }

    /// Returns a matcher for a newer snapshot. Only changed skills are compiled, unless there are so many that all are.
    ///
    /// Clears the cache of this matcher. The new one starts with an empty cache and without a finder.
    #[must_use]
    pub fn refresh(&self, catalog: &Catalog) -> Self {
        self.cache.clear();
        Self {
            cache: self.cache.next(),
            ..self.recompile(catalog)
        }
    }

    fn recompile(&self, catalog: &Catalog) -> Self {
        if catalog.tables.comes_from(&self.catalog.tables) {
            return self.follow_changes(catalog);
        }
        let all: Vec<_> = visible_skills(catalog).collect();
        let base = self.base.remap(&all);
        let in_base: HashSet<*const Skill> = base.live().map(Arc::as_ptr).collect();
        let added = all
            .into_iter()
            .filter(|(_, skill)| !in_base.contains(&Arc::as_ptr(skill)));
        self.with_layers(catalog, base, added.collect())
    }

    /// Returns a matcher for a snapshot derived from the current one, in which unchanged skills keep their indices.
    fn follow_changes(&self, catalog: &Catalog) -> Self {
        let (before, now) = (&self.catalog.tables, &catalog.tables);
        let mut removed: Vec<u32> = now.gone()[before.gone().len()..].to_vec();
        removed.sort_unstable();
        let is_live = |index: &u32| removed.binary_search(index).is_err();
        let overlay = self.overlay.indices.iter().copied();
        let added = overlay
            .chain(before.next_number()..now.next_number())
            .filter(|index| *index != TOMBSTONE && is_live(index))
            .map(|index| catalog.entry(index))
            .filter(Entry::is_visible)
            .map(|entry| (entry.index(), Arc::clone(entry.skill())));
        self.with_layers(catalog, self.base.without(&removed), added.collect())
    }

    fn with_layers(
        &self,
        catalog: &Catalog,
        base: MatcherLayer,
        added: Vec<(u32, Arc<Skill>)>,
    ) -> Self {
        let removed = base
            .indices
            .iter()
            .filter(|index| **index == TOMBSTONE)
            .count();
        if (added.len() + removed) > REBUILD_MIN_SKILLS.max(base.indices.len() / REBUILD_DIVISOR) {
            return Self::new(catalog);
        }
        let compiled = self.overlay.compiled.skills.iter();
        let is_same = self.overlay.indices.len() == added.len()
            && compiled.zip(&added).all(|(a, (_, b))| Arc::ptr_eq(a, b));
        let overlay = if is_same {
            self.overlay.remap(&added)
        } else {
            MatcherLayer::new(added)
        };
        Self {
            catalog: catalog.clone(),
            base,
            overlay,
            with_triggers: OnceLock::new(),
            cache: MatchCache::default(),
            finder: None,
        }
    }

    /// Returns the snapshot that is matched against.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    pub(crate) fn finder(&self) -> Option<&dyn Finder> {
        self.finder.as_deref()
    }

    /// Returns whether a skill has a usable trigger and may be invoked by it.
    pub(crate) fn has_triggers(&self, entry: &Entry<'_>) -> bool {
        let with_triggers = self.with_triggers.get_or_init(|| {
            let layers = [&self.base, &self.overlay].into_iter();
            layers
                .flat_map(MatcherLayer::indices_with_triggers)
                .collect()
        });
        with_triggers.contains(&entry.index())
    }

    /// Returns the unusable patterns with their skills, in catalog order.
    pub fn findings(&self) -> Vec<(Entry<'_>, &Diagnostic)> {
        let mut found = Vec::new();
        for layer in [&self.base, &self.overlay] {
            for (slot, finding) in &layer.compiled.findings {
                let index = layer.indices[*slot as usize];
                if index != TOMBSTONE {
                    found.push((index, finding));
                }
            }
        }
        found.sort_by_key(|(index, _)| self.catalog.tables.order(*index));
        let found = found.into_iter();
        found
            .map(|(index, finding)| (self.catalog.entry(index), finding))
            .collect()
    }

    /// Returns the skills that a message asks for. [`matches_cached`](Self::matches_cached) does the same with a cache.
    pub fn matches(&self, message: &str) -> Matches<'_> {
        let message = Message::new(message, MAX_MESSAGE_BYTES);
        let found = self.find_matches(&message);
        self.resolve(&message, &found)
    }

    /// Returns the same as [`matches`](Self::matches), from the cache if an equal message was matched before. Case is
    /// ignored unless a skill has patterns, which may be case-sensitive.
    ///
    /// The cache holds up to 256 messages in up to 1 MiB, and evicts the least recently used first.
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
        let message = Message::new(message, MAX_MESSAGE_BYTES);
        // The key is all that the result depends on: literals match the folded text, patterns the original text, and
        // neither includes the omitted middle of a long message.
        let key = if self.has_patterns() {
            &*message.excerpt.text
        } else {
            &*message.folded
        };
        let found = self.cache.get(key, || self.find_matches(&message));
        self.resolve(&message, &found)
    }

    /// Returns the cache counters, which carry over when the matcher is refreshed.
    pub fn stats(&self) -> MatchStats {
        self.cache.stats()
    }

    fn find_matches(&self, message: &Message<'_>) -> CachedMatch {
        let mut hits = Vec::new();
        for layer in [&self.base, &self.overlay] {
            layer.collect_hits(message, &mut hits);
        }
        hits.sort_unstable_by_key(|hit| self.catalog.tables.order(hit.index));
        CachedMatch {
            hits,
            asks_for_list: capability::asks_for_list(&message.folded),
        }
    }

    /// Adds catalog entries and unread ranges to cached hits.
    fn resolve(&self, message: &Message<'_>, cached: &CachedMatch) -> Matches<'_> {
        let candidates = cached.hits.iter().map(|hit| Candidate {
            entry: self.catalog.entry(hit.index),
            signal: hit.signal,
            reason: hit.reason,
            trigger: hit.trigger,
            order: self.catalog.tables.order(hit.index),
        });
        Matches {
            candidates: candidates.collect(),
            asks_for_list: cached.asks_for_list,
            unread_by_patterns: self.unread_by_patterns(message),
            unread: message.excerpt.unread.clone(),
        }
    }

    fn has_patterns(&self) -> bool {
        self.base.has_patterns() || self.overlay.has_patterns()
    }

    /// Returns the byte range of a message that is not matched against patterns, if there are patterns.
    fn unread_by_patterns(&self, message: &Message<'_>) -> Option<Range<usize>> {
        let has_patterns = self.has_patterns();
        pattern_window(&message.excerpt)
            .unread
            .filter(|_| has_patterns)
    }
}

impl std::fmt::Debug for Matcher {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Matcher")
            .field("skills", &self.base.compiled.skills.len())
            .field("newer", &self.overlay.compiled.skills.len())
            .finish_non_exhaustive()
    }
}

/// Returns the skills that a model may invoke, with their snapshot indices.
fn visible_skills(catalog: &Catalog) -> impl Iterator<Item = (u32, Arc<Skill>)> {
    let visible = catalog.visible();
    visible.map(|entry| (entry.index(), Arc::clone(entry.skill())))
}

impl Matches<'_> {
    /// Keeps only matches by triggers, ignoring those by name.
    pub(crate) fn triggers_only(mut self) -> Self {
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
    /// Returns the text that matched: a trigger, a pattern or the skill's name.
    pub fn evidence(&self) -> &'a str {
        match self.reason {
            Reason::Name(_) => self.entry.manifest().name().as_str(),
            Reason::Literal(index, _) | Reason::Pattern(index) => {
                trigger_text(self.entry.manifest(), index).unwrap_or_default()
            }
        }
    }

    /// Returns the byte range of the evidence in the message that was matched.
    pub fn range(&self, message: &str) -> Range<usize> {
        let message = Message::new(message, MAX_MESSAGE_BYTES);
        match self.reason {
            Reason::Name(found) | Reason::Literal(_, found) => {
                message.original_range(found.start..found.end)
            }
            Reason::Pattern(_) => {
                let pattern = compile_pattern(self.evidence()).ok();
                let found =
                    pattern.and_then(|pattern| pattern_window(&message.excerpt).find(&pattern));
                found.unwrap_or_default()
            }
        }
    }

    /// Returns the position of the skill in id order.
    pub(super) fn order(&self) -> u32 {
        self.order
    }
}
