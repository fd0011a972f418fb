//! What tells a document that answers a request from one that merely has its words.

use crate::choose::search::bm25f::{FieldNorms, real};
use crate::choose::search::document::{BREAK, Document, FieldCounts};
use crate::choose::search::fields::{ALL, FIELDS, SearchField};
use crate::choose::search::query::WeightedQuery;

/// How many features there are.
pub(super) const FEATURES: usize = 26 + 2 * FIELDS;

/// The last feature: how close a document is by its meaning, compared with what is usual among the candidates. It is 0
/// where nothing tells.
pub(super) const MEANING: &str = "meaning.usual";

/// The features of one document for one request, in the order of [`names`].
pub(super) type Features = [f32; FEATURES];

/// Words between which two terms stand near each other.
const NEAR: usize = 3;

/// Returns the names of the features.
pub(super) fn names() -> Vec<String> {
    let of_fields = |word: &str| ALL.map(|field| format!("{word}.{}", field.as_str()));
    let mut names: Vec<String> = ["score.share", "score.relative", "score.gap", "score.rank"]
        .map(str::to_owned)
        .into();
    names.extend(of_fields("answers"));
    names.extend(of_fields("covers"));
    let others = [
        "covers.any",
        "covers.described",
        "covers.rare.any",
        "covers.rare.described",
        "covers.rare.name",
        "terms.described",
        "terms.any",
        "name.share",
        "name.whole",
        "description.share",
        "rarest.described",
        "rarest.any",
        "three_rarest.described",
        "rarest.missing",
        "first_half.described",
        "second_half.described",
        "pairs.name",
        "pairs.described",
        "pairs.body",
        "near.described",
        "near.body",
        MEANING,
    ];
    names.extend(others.map(str::to_owned));
    names
}

/// Where the terms of a request stand in a document.
pub(super) struct DocumentMatch<'d> {
    /// How well it answers by BM25F.
    pub(super) score: f32,
    pub(super) document: &'d Document,
    worth: FieldNorms,
    /// For each term, its place in the document and how often it stands in each field.
    found: Vec<Option<(u16, FieldCounts)>>,
}

/// How a document does by BM25F among the others.
pub(super) struct Bm25Rank {
    /// The score of the first.
    pub(super) best: f32,
    pub(super) rank: u16,
}

/// What a request is measured by, for all documents alike.
pub(super) struct QueryTotals<'a> {
    weighed: &'a WeightedQuery,
    /// Sums over all terms: how much they say, the same squared, what the best score would be.
    mass: f32,
    squares: f32,
    most: f32,
    rarest: f32,
    /// How much a term says that is among the three rarest.
    third: f32,
    three: f32,
    pairs: f32,
}

impl<'a> QueryTotals<'a> {
    pub(super) fn new(weighed: &'a WeightedQuery) -> Self {
        let rarities = weighed.terms.iter().map(|asked| asked.rarity);
        let mut sorted: Vec<f32> = rarities.clone().collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let third = sorted.get(2).or(sorted.last()).copied().unwrap_or_default();
        let least = f32::MIN_POSITIVE.sqrt();
        let said = |at: u8| weighed.terms[usize::from(at)].rarity;
        let pairs = weighed.pairs.iter().map(|(a, b)| said(*a) + said(*b));
        Self {
            mass: rarities.clone().sum::<f32>().max(least),
            squares: rarities
                .clone()
                .map(|said| said * said)
                .sum::<f32>()
                .max(least),
            most: weighed
                .terms()
                .map(|(_, weight)| weight)
                .sum::<f32>()
                .max(least),
            rarest: sorted.first().copied().unwrap_or_default().max(least),
            third,
            three: rarities
                .filter(|said| *said >= third)
                .sum::<f32>()
                .max(least),
            pairs: pairs.sum::<f32>().max(least),
            weighed,
        }
    }

    /// Looks for the terms of the request in a document.
    pub(super) fn look<'d>(&self, document: &'d Document) -> DocumentMatch<'d> {
        let worth = FieldNorms::new(document.lengths(), &self.weighed.averages);
        let terms = self.weighed.terms.iter();
        let found: Vec<_> = terms.map(|asked| document.find(asked.term)).collect();
        let answered = self.weighed.terms.iter().zip(&found);
        let answered = answered.filter_map(|(asked, found)| {
            let (_, counts) = found.as_ref()?;
            Some(asked.weight * worth.answers(*counts))
        });
        DocumentMatch {
            score: answered.sum(),
            document,
            worth,
            found,
        }
    }

    /// Returns the features of a document; `close` says how close it is by its meaning.
    pub(super) fn features(
        &self,
        look: &DocumentMatch<'_>,
        place: &Bm25Rank,
        close: f32,
    ) -> Features {
        let mut values = Vec::with_capacity(FEATURES);
        values.extend([
            look.score / self.most,
            look.score / place.best.max(f32::MIN_POSITIVE),
            (place.best - look.score) / self.most,
            f32::from(place.rank).ln_1p(),
        ]);
        self.add_fields(look, &mut values);
        self.add_cover(look.document, &look.found, &mut values);
        self.add_order(look.document, &look.found, &mut values);
        values.push(close);
        let mut features = [0.0; FEATURES];
        features
            .iter_mut()
            .zip(values)
            .for_each(|(feature, value)| *feature = value);
        features
    }

    /// How well each field answers, and how much of the request it has.
    fn add_fields(&self, look: &DocumentMatch<'_>, values: &mut Vec<f32>) {
        let (mut answers, mut covers) = ([0.0; FIELDS], [0.0; FIELDS]);
        for (asked, found) in self.weighed.terms.iter().zip(&look.found) {
            let Some((_, counts)) = found else { continue };
            for field in ALL {
                let count = counts.of(field);
                if count > 0 {
                    answers[field as usize] += asked.rarity * look.worth.alone(field, count);
                    covers[field as usize] += asked.rarity;
                }
            }
        }
        values.extend(answers.map(|sum| sum / self.mass));
        values.extend(covers.map(|sum| sum / self.mass));
    }

    /// How much of the request a document has, and how much of its name and description that is.
    fn add_cover(
        &self,
        document: &Document,
        found: &[Option<(u16, FieldCounts)>],
        values: &mut Vec<f32>,
    ) {
        let (mut any, mut described, mut named) = (
            TermCoverage::default(),
            TermCoverage::default(),
            TermCoverage::default(),
        );
        let (mut in_description, mut three, mut missing) = (0.0, 0.0, 0.0_f32);
        let mut halves = [0.0; 2];
        for (at, (asked, found)) in self.weighed.terms.iter().zip(found).enumerate() {
            let counts = found.map(|(_, counts)| counts).unwrap_or_default();
            let has = |field: SearchField| counts.of(field) > 0;
            if found.is_some() {
                any.add(asked.rarity);
            }
            if has(SearchField::Name) {
                named.add(asked.rarity);
            }
            in_description += f32::from(u8::from(has(SearchField::Description)));
            let metadata = [
                SearchField::Name,
                SearchField::Description,
                SearchField::Tags,
                SearchField::Excluded,
            ];
            if metadata.into_iter().any(has) {
                described.add(asked.rarity);
                three += if asked.rarity >= self.third {
                    asked.rarity
                } else {
                    0.0
                };
                halves[usize::from(2 * at >= self.weighed.terms.len())] += asked.rarity;
            } else {
                missing = missing.max(asked.rarity);
            }
        }
        let terms = real(self.weighed.terms.len().max(1) as u64);
        let length = |field: SearchField| f32::from(document.lengths()[field as usize].max(1));
        values.extend([any.sum / self.mass, described.sum / self.mass]);
        values.extend([any, described, named].map(|cover| cover.squares / self.squares));
        values.extend([described.terms / terms, any.terms / terms]);
        let share = (named.terms / length(SearchField::Name)).min(1.0);
        values.extend([share, if share >= 1.0 { 1.0 } else { 0.0 }]);
        values.push(in_description / length(SearchField::Description));
        values.extend([described.most / self.rarest, any.most / self.rarest]);
        values.extend([three / self.three, missing / self.rarest]);
        values.extend(halves.map(|sum| sum / self.mass));
    }

    /// How far words of the request stand together in a document too.
    fn add_order(
        &self,
        document: &Document,
        found: &[Option<(u16, FieldCounts)>],
        values: &mut Vec<f32>,
    ) {
        let mut numbers = vec![None; document.terms().len()];
        for (number, found) in (0..).zip(found) {
            if let Some((at, _)) = found {
                numbers[usize::from(*at)] = Some(number);
            }
        }
        let orders = document.texts().map(|text| self.together(text, &numbers));
        values.extend(orders.iter().map(|order| order.pairs / self.pairs));
        values.extend(orders[1..].iter().map(|order| order.near / self.pairs));
    }

    /// Returns how much of the request stands together in a text, each pair of terms once.
    fn together(&self, text: &[u16], numbers: &[Option<u8>]) -> Proximity {
        let (mut pairs, mut nears) = (PairSet::default(), PairSet::default());
        let said = |at: u8| self.weighed.terms[usize::from(at)].rarity;
        let mut together = Proximity::default();
        let mut last: Option<(usize, u8)> = None;
        for (place, at) in text.iter().enumerate() {
            if *at == BREAK {
                last = None;
                continue;
            }
            let Some(here) = numbers[usize::from(*at)] else {
                continue;
            };
            if let Some((before, other)) = last.filter(|(_, other)| *other != here) {
                let both = said(other) + said(here);
                if place - before == 1
                    && self.weighed.pairs.binary_search(&(other, here)).is_ok()
                    && pairs.is_new(other, here)
                {
                    together.pairs += both;
                }
                if place - before <= NEAR && nears.is_new(other.min(here), other.max(here)) {
                    together.near += both;
                }
            }
            last = Some((place, here));
        }
        together
    }
}

/// Pairs of terms that were seen.
struct PairSet([u64; 64]);

impl Default for PairSet {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl PairSet {
    /// Returns whether a pair was not seen before. A request has fewer than 64 terms.
    fn is_new(&mut self, first: u8, second: u8) -> bool {
        let (row, bit) = (&mut self.0[usize::from(first & 63)], 1 << (second & 63));
        let is_new = *row & bit == 0;
        *row |= bit;
        is_new
    }
}

/// How much of a request something has.
#[derive(Clone, Copy, Default)]
struct TermCoverage {
    sum: f32,
    squares: f32,
    terms: f32,
    most: f32,
}

impl TermCoverage {
    fn add(&mut self, rarity: f32) {
        self.sum += rarity;
        self.squares += rarity * rarity;
        self.terms += 1.0;
        self.most = self.most.max(rarity);
    }
}

/// How much of a request stands together in a text.
#[derive(Default)]
struct Proximity {
    pairs: f32,
    near: f32,
}
