//! Skills that compete with each other, found without any queries.
//!
//! Most pairs of skills have nothing to do with each other, so the pairs with similar words are picked first. Search then
//! says of each of these whether a request for one finds the other.

mod report;
mod similarity;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use skillfold_core::catalog::Entry;
use skillfold_core::load::{Digest, read_body};
use skillfold_core::read::Triggers;
use skillfold_core::search::{Query, Term, purpose_sentences};
use skillfold_core::{Error, Manifest};

use crate::reports::overlap::similarity::WordVectors;
use crate::search_index::{RankedId, SnapshotIndex};
use crate::skills::Skills;

pub use report::{CrowdedTrigger, Overlap, Overlaps, Rival, SkillCopies};

/// The similar skills of each skill that are looked at.
const NEAREST: usize = 5;
/// The similarity from which on two skills may compete.
const MIN_SIMILARITY: f32 = 0.2;
/// Maximum pairs that search is asked about: each takes some searches, of some milliseconds among many skills.
const MAX_ASKED: usize = 500;
/// Maximum skills with the same trigger whose pairs are looked at.
const MAX_TRIGGER_PAIRS: usize = 10;
/// Maximum sentences of a description that are tried as a request.
const MAX_SENTENCES: usize = 4;
/// Minimum terms of a sentence that could be a request.
const MIN_TERMS: usize = 3;
/// Maximum skills that may have a sentence. More have it from a template, and it is no request.
const MAX_SAME_SENTENCES: usize = 2;
/// The confidence from which on a skill is a possible answer.
const MIN_CONFIDENCE: f32 = 0.15;
/// The hits of a search among which the other skill is looked for.
const MAX_HITS: usize = 20;
/// The share of a skill's confidence from which on another one is nearly as likely.
const CLOSE_SHARE: f32 = 0.5;
/// Minimum shared words that could be a request.
const MIN_TIED_WORDS: usize = 2;
/// Maximum shared words of a pair.
const MAX_WORDS: usize = 6;
/// Maximum characters of a shared word; longer ones are sentences of a script without spaces.
const MAX_WORD_CHARS: usize = 24;

impl Overlap {
    /// Orders pairs by what a request gets wrong: one that finds the other skill first is worse than a close one.
    fn level(&self) -> usize {
        let rivals = self.rivals.iter().map(|rival| *rival as usize);
        rivals.sum::<usize>() + usize::from(!self.triggers.is_empty()) + usize::from(self.is_tied)
    }
}

impl Skills {
    /// Finds skills that compete for the same requests: pairs of which a request in the words of one finds the other, or
    /// that share triggers, and copies. At most `limit` pairs and groups of copies are returned.
    ///
    /// The requests are the first sentences of each description that say what the skill is for. A whole description is
    /// no request: nothing answers it better than its own skill. The words that two skills share are a request too.
    ///
    /// All skills that a model may see are compared. With `ids`, only what concerns these is returned, and they are
    /// compared even if a model may not see them. The first search builds the index, as [`search`](Self::search) does;
    /// after that ten thousand skills take some seconds.
    ///
    /// ```
    /// # use skillfold::{Environment, Host, core::MemorySource};
    /// let skill = |name, what| format!("---\nname: {name}\ndescription: {what}\n---\n");
    /// let source = MemorySource::new([
    ///     ("filler/SKILL.md", skill("filler", "Fills in PDF forms")),
    ///     ("pdf-forms/SKILL.md", skill("pdf-forms", "Fills in PDF forms and checks each field of the form")),
    ///     ("mail/SKILL.md", skill("mail", "Writes letters")),
    /// ]);
    /// let skills = Host::new(Environment::new("/nowhere")).bundled("built in", source).discover()?.skills;
    /// let overlaps = skills.overlaps(&[], 10)?;
    /// assert_eq!(overlaps.pairs.len(), 1);
    /// assert_eq!(overlaps.pairs[0].ids.each_ref().map(|id| &**id), ["filler", "pdf-forms"]);
    /// # Ok::<(), skillfold::core::Error>(())
    /// ```
    pub fn overlaps(&self, ids: &[&str], limit: usize) -> Result<Overlaps, Error> {
        let index = self.index();
        let catalog = Arc::clone(index.catalog());
        let named = ids.iter().map(|id| catalog.resolve_or_suggest(id));
        let named: BTreeSet<&str> = named
            .map(|entry| Ok(entry?.id()))
            .collect::<Result<_, Error>>()?;
        let is_compared = |entry: &Entry<'_>| entry.is_visible() || named.contains(entry.id());
        let mut entries: Vec<_> = catalog.entries().filter(is_compared).collect();
        let compared = entries.len();
        // Where a skill stands for its copies, it is one that was asked for.
        entries.sort_by_key(|entry| !named.contains(entry.id()));
        let is_wanted = |entry: &Entry<'_>| named.is_empty() || named.contains(entry.id());

        let mut groups = groups_of_copies(&entries);
        let skills: Vec<Entry<'_>> = groups.iter().map(|group| group[0]).collect();
        groups.retain(|group| group.len() > 1 && group.iter().any(is_wanted));
        let comparison = Comparison::new(&skills, &index);
        let candidates = comparison.candidates(&is_wanted);
        let unasked = candidates.len().saturating_sub(MAX_ASKED);
        let candidates = candidates.into_iter().take(MAX_ASKED);
        let mut pairs = comparison.ask(candidates, &is_compared);
        let (competing, copy_groups) = (pairs.len(), groups.len());
        pairs.truncate(limit);
        groups.truncate(limit);
        Ok(Overlaps {
            pairs,
            copies: groups.iter().map(|group| SkillCopies::new(group)).collect(),
            crowded: comparison.crowded(&is_wanted),
            competing,
            copy_groups,
            compared,
            unasked,
        })
    }
}

/// Groups skills by what they say about themselves, the largest groups first. Most groups have one skill.
fn groups_of_copies<'a>(entries: &[Entry<'a>]) -> Vec<Vec<Entry<'a>>> {
    let mut positions: HashMap<(String, BTreeSet<String>), usize> = HashMap::new();
    let mut groups: Vec<Vec<Entry<'_>>> = Vec::new();
    for entry in entries {
        let manifest = entry.manifest();
        let words: Vec<&str> = manifest.description().split_whitespace().collect();
        let says = (words.join(" "), triggers(manifest).collect());
        let position = *positions.entry(says).or_insert(groups.len());
        if position == groups.len() {
            groups.push(Vec::new());
        }
        groups[position].push(*entry);
    }
    groups.sort_by_key(|group| Reverse(group.len()));
    groups
}

impl SkillCopies {
    fn new(group: &[Entry<'_>]) -> Self {
        let mut ids: Vec<Box<str>> = group.iter().map(|entry| entry.id().into()).collect();
        ids.sort_unstable();
        let size = group[0].skill().body_bytes();
        let is_same_size = group.iter().all(|entry| entry.skill().body_bytes() == size);
        let first = body_digest(&group[0]);
        let is_same = |entry: &Entry<'_>| body_digest(entry) == first;
        Self {
            ids,
            same_instructions: is_same_size && first.is_some() && group[1..].iter().all(is_same),
        }
    }
}

/// Returns the digest of a skill's instructions, if they can be read.
fn body_digest(entry: &Entry<'_>) -> Option<Digest> {
    let limits = &entry.catalog().options().read.walk.limits;
    let content = read_body(entry.root().source(), entry.skill(), limits).ok()?;
    Some(Digest::sha256(&content.bytes))
}

/// Returns the triggers of a skill in lower case.
fn triggers(manifest: &Manifest) -> impl Iterator<Item = String> {
    let lists: [&[Box<str>]; 3] = match manifest.triggers() {
        Some(Triggers::Flat(texts)) => [texts, &[], &[]],
        Some(Triggers::Structured {
            keywords,
            verbs,
            patterns,
        }) => [keywords, verbs, patterns],
        _ => [&[], &[], &[]],
    };
    let texts = lists.into_iter().flatten();
    texts.map(|text| text.trim().to_lowercase())
}

/// A comparison of some skills, which are indices, each pair in order.
struct Comparison<'a> {
    skills: &'a [Entry<'a>],
    index: &'a SnapshotIndex,
    vectors: WordVectors,
    triggers: Vec<BTreeSet<String>>,
    /// The skills with each trigger.
    skills_with: BTreeMap<String, Vec<usize>>,
}

impl<'a> Comparison<'a> {
    fn new(skills: &'a [Entry<'a>], index: &'a SnapshotIndex) -> Self {
        let triggers = skills.iter().map(|entry| triggers(entry.manifest()));
        let triggers: Vec<BTreeSet<String>> = triggers.map(Iterator::collect).collect();
        let mut skills_with: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (skill, triggers) in triggers.iter().enumerate() {
            for trigger in triggers {
                skills_with.entry(trigger.clone()).or_default().push(skill);
            }
        }
        Self {
            skills,
            index,
            vectors: WordVectors::new(skills.iter().map(Entry::manifest)),
            triggers,
            skills_with,
        }
    }

    /// Returns the pairs with similar words or a common trigger, the most similar first, with their similarity.
    fn candidates(&self, is_wanted: &dyn Fn(&Entry<'_>) -> bool) -> Vec<((usize, usize), f32)> {
        let wanted = (0..self.skills.len()).filter(|skill| is_wanted(&self.skills[*skill]));
        let mut by_words = BTreeSet::new();
        for skill in wanted {
            let nearest = self.vectors.nearest(skill, NEAREST).into_iter();
            by_words.extend(nearest.map(|other| (skill.min(other), skill.max(other))));
        }
        let mut by_trigger = BTreeSet::new();
        let sharing = self.skills_with.values();
        for skills in sharing.filter(|skills| skills.len() <= MAX_TRIGGER_PAIRS) {
            for (position, one) in skills.iter().enumerate() {
                let others = skills[position + 1..].iter();
                by_trigger.extend(others.map(|other| (*one, *other)));
            }
        }
        let is_wanted = |(one, other): &(usize, usize)| {
            is_wanted(&self.skills[*one]) || is_wanted(&self.skills[*other])
        };
        by_trigger.retain(is_wanted);
        let pairs = by_words.union(&by_trigger);
        let pairs = pairs.map(|pair| (*pair, self.vectors.cosine(pair.0, pair.1)));
        let mut pairs: Vec<_> = pairs
            .filter(|(pair, similarity)| *similarity >= MIN_SIMILARITY || by_trigger.contains(pair))
            .collect();
        pairs.sort_by(|(one, a), (other, b)| b.total_cmp(a).then(one.cmp(other)));
        pairs
    }

    /// Asks search about pairs, and returns those that compete, worst first.
    fn ask(
        &self,
        pairs: impl Iterator<Item = ((usize, usize), f32)>,
        may_see: &dyn Fn(&Entry<'_>) -> bool,
    ) -> Vec<Overlap> {
        let mut frequencies: HashMap<&str, usize> = HashMap::new();
        for sentence in self.skills.iter().flat_map(sentences) {
            *frequencies.entry(sentence).or_default() += 1;
        }
        let mut found: HashMap<usize, Vec<(&str, Vec<RankedId>)>> = HashMap::new();
        let mut rival = |skill: usize, other: usize| {
            let searches = found.entry(skill).or_insert_with(|| {
                let sentences = sentences(&self.skills[skill]).into_iter();
                let requests = sentences.filter(|it| frequencies[it] <= MAX_SAME_SENTENCES);
                let hits = |request| self.index.search(request, MAX_HITS, may_see).1.ranked;
                requests.map(|request| (request, hits(request))).collect()
            });
            let ids = [skill, other].map(|skill| self.skills[skill].id());
            let ranks = searches.iter().rev();
            let ranks = ranks.map(|(request, hits)| (rank_of_rival(hits, ids), *request));
            // Of equal ranks the last is taken, which is that of the first sentence.
            match ranks.max_by_key(|(rank, _)| *rank) {
                Some((rank, request)) if rank != Rival::Behind => (rank, Some(request.to_owned())),
                _ => (Rival::Behind, None),
            }
        };
        let mut competing = Vec::new();
        for ((one, other), similarity) in pairs {
            let shared = self.triggers[one].intersection(&self.triggers[other]);
            let ((first, first_request), (second, second_request)) =
                (rival(one, other), rival(other, one));
            let words = self.shared_words(one, other);
            let ids = [one, other].map(|skill| self.skills[skill].id());
            let overlap = Overlap {
                is_tied: self.is_tied(ids, &words, may_see),
                ids: ids.map(Into::into),
                similarity,
                words,
                triggers: shared.cloned().collect(),
                rivals: [first, second],
                requests: [first_request, second_request],
            };
            if overlap.level() > 0 {
                competing.push(overlap);
            }
        }
        competing.sort_by(|a, b| {
            let by_level = b.level().cmp(&a.level());
            by_level.then(b.similarity.total_cmp(&a.similarity))
        });
        competing
    }

    /// Returns whether a request of some words finds one of two skills first and the other nearly as likely.
    fn is_tied(
        &self,
        ids: [&str; 2],
        words: &[String],
        may_see: &dyn Fn(&Entry<'_>) -> bool,
    ) -> bool {
        if words.len() < MIN_TIED_WORDS {
            return false;
        }
        let hits = self
            .index
            .search(&words.join(" "), MAX_HITS, may_see)
            .1
            .ranked;
        let is_first = hits.first().is_some_and(|hit| ids.contains(&&*hit.id));
        let [one, other] = ids;
        let ranks = [[one, other], [other, one]].map(|ids| rank_of_rival(&hits, ids));
        is_first && !ranks.contains(&Rival::Behind)
    }

    /// Returns the words that make two skills similar, as the first spells them.
    fn shared_words(&self, one: usize, other: usize) -> Vec<String> {
        let manifest = self.skills[one].manifest();
        let texts = [manifest.name().as_str(), manifest.description()];
        let tags = manifest.tags().iter().map(|tag| &**tag);
        let triggers = self.triggers[one].iter().map(String::as_str);
        let texts = texts.into_iter().chain(tags).chain(triggers);
        let words = texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
        let mut spelled: HashMap<Term, &str> = HashMap::new();
        for word in words.filter(|word| word.chars().count() <= MAX_WORD_CHARS) {
            for term in Query::new(word).terms() {
                spelled.entry(term).or_insert(word);
            }
        }
        let shared = self.vectors.shared(one, other).into_iter();
        let mut words: Vec<String> = Vec::new();
        for word in shared.filter_map(|term| spelled.get(&term)) {
            let word = word.to_lowercase();
            if !words.contains(&word) && words.len() < MAX_WORDS {
                words.push(word);
            }
        }
        words
    }

    /// Returns the triggers that too many skills share to compare them in pairs.
    fn crowded(&self, is_wanted: &dyn Fn(&Entry<'_>) -> bool) -> Vec<CrowdedTrigger> {
        let crowded = self.skills_with.iter().filter(|(_, skills)| {
            let mut skills_here = skills.iter();
            skills.len() > MAX_TRIGGER_PAIRS
                && skills_here.any(|skill| is_wanted(&self.skills[*skill]))
        });
        let crowded = crowded.map(|(trigger, skills)| CrowdedTrigger {
            trigger: trigger.clone(),
            skills: skills.len(),
        });
        let mut crowded: Vec<_> = crowded.collect();
        crowded.sort_by_key(|crowded| Reverse(crowded.skills));
        crowded
    }
}

/// Returns the sentences of a skill's description that could be a request.
fn sentences<'a>(entry: &Entry<'a>) -> Vec<&'a str> {
    let mut sentences = purpose_sentences(entry.manifest().description());
    sentences.retain(|sentence| Query::new(sentence).terms().len() >= MIN_TERMS);
    sentences.truncate(MAX_SENTENCES);
    sentences
}

/// Returns where hits have another skill, compared with the skill in whose words the request is.
fn rank_of_rival(hits: &[RankedId], [skill, other]: [&str; 2]) -> Rival {
    let find = |id: &str| hits.iter().position(|hit| &*hit.id == id);
    let Some(other) = find(other).filter(|at| hits[*at].confidence >= MIN_CONFIDENCE) else {
        return Rival::Behind;
    };
    match find(skill) {
        Some(own) if own < other => {
            let is_close = hits[other].confidence >= hits[own].confidence * CLOSE_SHARE;
            if is_close {
                Rival::Close
            } else {
                Rival::Behind
            }
        }
        _ => Rival::Ahead,
    }
}
