//! Matches a message against the triggers and names of skills.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::cache::CacheStats;
use crate::catalog::entry::Entry;
use crate::catalog::layers::{Layer, Layers};
use crate::catalog::snapshot::Catalog;
use crate::choose::capability;
use crate::choose::compiled::{CompiledTriggers, Reason};
use crate::choose::finder::Finder;
use crate::choose::match_cache::{CachedMatch, MatchCache};
use crate::choose::message::Message;
use crate::choose::patterns::{compile_pattern, pattern_window};
use crate::choose::signal::Signal;
use crate::diagnostic::Diagnostic;
use crate::read::discover::Skill;
use crate::read::trigger::trigger_text;
use crate::search::common_words::is_common_word;

/// Maximum bytes of a message to match: half from its start, half from its end.
pub(super) const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// Finds the skills of one snapshot that a message asks for. It does no I/O, and its running time depends only on the
/// message and its matches, whatever the patterns.
///
/// ```
/// use skillfold_core::{Catalog, CatalogOptions, Matcher, MemorySource, Root, Scope};
/// use skillfold_core::choose::Signal;
///
/// let greet = "---\nname: greet\ndescription: Says hello\ntriggers: [bonjour]\n---\n";
/// let root = Root::new(Scope::User, "mine", MemorySource::new([("greet/SKILL.md", greet)]));
/// let matcher = Matcher::new(&Catalog::discover(vec![root], CatalogOptions::default(), std::time::SystemTime::now()));
///
/// let found = matcher.matches("Say Bonjour to Alice");
/// assert_eq!(found.candidates[0].entry.id(), "greet");
/// assert!(matcher.matches("What is 2+2?").candidates.is_empty());
/// ```
pub struct Matcher {
    layers: Layers<CompiledTriggers>,
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
    /// Whether several of its triggers match.
    has_several: bool,
    /// Position of the skill in id order.
    order: u32,
}

impl Matcher {
    /// Compiles the triggers of all skills that a model may invoke.
    pub fn new(catalog: &Catalog) -> Self {
        Self {
            layers: Layers::new(catalog, is_visible, compile),
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
        Self {
            layers: self.layers.refresh(catalog, compile),
            with_triggers: OnceLock::new(),
            cache: self.cache.next(),
            finder: None,
        }
    }

    /// Returns the snapshot that is matched against.
    pub fn catalog(&self) -> &Catalog {
        self.layers.catalog()
    }

    pub(crate) fn finder(&self) -> Option<&dyn Finder> {
        self.finder.as_deref()
    }

    /// Returns whether a skill has a usable trigger and may be invoked by it.
    pub(crate) fn has_triggers(&self, entry: &Entry<'_>) -> bool {
        let with_triggers = self.with_triggers.get_or_init(|| {
            let layers = self.layers.all().into_iter();
            layers.flat_map(Layer::indices_with_triggers).collect()
        });
        with_triggers.contains(&entry.index())
    }

    /// Returns the unusable patterns with their skills, in catalog order.
    pub fn findings(&self) -> Vec<(Entry<'_>, &Diagnostic)> {
        let mut found = Vec::new();
        for layer in self.layers.all() {
            for (slot, finding) in &layer.data.findings {
                if let Some(index) = layer.snapshot_index(*slot as usize) {
                    found.push((index, finding));
                }
            }
        }
        found.sort_by_key(|(index, _)| self.catalog().tables.position(*index));
        let found = found.into_iter();
        found
            .map(|(index, finding)| (self.catalog().entry(index), finding))
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
    /// # let matcher = Matcher::new(&Catalog::discover(vec![root], CatalogOptions::default(), std::time::SystemTime::now()));
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
    pub fn stats(&self) -> CacheStats {
        self.cache.stats()
    }

    fn find_matches(&self, message: &Message<'_>) -> CachedMatch {
        let mut hits = Vec::new();
        for layer in self.layers.all() {
            layer.collect_hits(message, &mut hits);
        }
        hits.sort_unstable_by_key(|hit| self.catalog().tables.position(hit.index));
        CachedMatch {
            hits,
            asks_for_list: capability::asks_for_list(&message.folded),
        }
    }

    /// Adds catalog entries and unread ranges to cached hits.
    fn resolve(&self, message: &Message<'_>, cached: &CachedMatch) -> Matches<'_> {
        let candidates = cached.hits.iter().map(|hit| Candidate {
            entry: self.catalog().entry(hit.index),
            signal: hit.signal,
            reason: hit.reason,
            trigger: hit.trigger,
            has_several: hit.has_several,
            order: self.catalog().tables.position(hit.index),
        });
        Matches {
            candidates: candidates.collect(),
            asks_for_list: cached.asks_for_list,
            unread_by_patterns: self.unread_by_patterns(message),
            unread: message.excerpt.unread.clone(),
        }
    }

    fn has_patterns(&self) -> bool {
        self.layers.all().into_iter().any(Layer::has_patterns)
    }

    /// Returns the byte range of a message that is not matched against patterns, if there are patterns.
    fn unread_by_patterns(&self, message: &Message<'_>) -> Option<Range<usize>> {
        let has_patterns = self.has_patterns();
        pattern_window(&message.excerpt)
            .unread
            .filter(|_| has_patterns)
    }
}

debug!(Matcher, "Matcher", |it| "layers": it.layers.all().map(Layer::len));

fn is_visible(entry: &Entry<'_>) -> bool {
    entry.is_visible()
}

/// Compiles the triggers of some skills; an overlay needs nothing of its base.
fn compile(skills: &[Arc<Skill>], _base: Option<&CompiledTriggers>) -> CompiledTriggers {
    CompiledTriggers::new(skills)
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

    /// Returns whether only a common word speaks for the skill, such as the trigger `merge`: it occurs in many messages that
    /// do not mean the skill.
    pub fn is_weak(&self) -> bool {
        self.signal == Signal::Trigger
            && !self.has_several
            && matches!(self.reason, Reason::Literal(..))
            && is_common_word(self.evidence())
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
