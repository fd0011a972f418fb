//! How similar the words of skills are: the cosine of their TF-IDF vectors.

use std::collections::HashMap;

use skillfold_core::Manifest;
use skillfold_core::search::{DocumentBuilder, Term};

/// Skills that may share a word before it no longer brings skills together. Their pairs grow with the square of it, and
/// such a word says little.
const MAX_SHARING: usize = 300;

/// The words of each skill, weighted so that rare ones count most. Skills are indices.
pub(super) struct WordVectors {
    /// The terms of each skill by their hash, with weights of length 1 together.
    vectors: Vec<Vec<(Term, f32)>>,
    /// The skills with each term.
    skills_with: HashMap<Term, Vec<usize>>,
}

impl WordVectors {
    /// Weighs the words of names, descriptions, tags and triggers.
    pub(super) fn new<'a>(manifests: impl Iterator<Item = &'a Manifest>) -> Self {
        let mut builder = DocumentBuilder::new();
        let mut skills_with: HashMap<Term, Vec<usize>> = HashMap::new();
        let mut vectors: Vec<Vec<(Term, f32)>> = Vec::new();
        for manifest in manifests {
            let document = builder.from_manifest(manifest, None);
            let terms = document.weighted_terms();
            let vector: Vec<_> = terms
                .map(|(term, frequency)| (term, 1.0 + f32::from(frequency).ln()))
                .collect();
            for (term, _) in &vector {
                skills_with.entry(*term).or_default().push(vectors.len());
            }
            vectors.push(vector);
        }
        let total = to_f32(vectors.len());
        for vector in &mut vectors {
            for (term, weight) in &mut *vector {
                let sharing = skills_with.get(term).map_or(1, Vec::len);
                *weight *= (total / to_f32(sharing)).ln_1p();
            }
            let squares = vector.iter().map(|(_, weight)| weight * weight);
            let length = squares.sum::<f32>().sqrt().max(f32::EPSILON);
            for (_, weight) in vector {
                *weight /= length;
            }
        }
        Self {
            vectors,
            skills_with,
        }
    }

    /// Returns the `count` skills that share most with a skill, by the words that not too many have.
    pub(super) fn nearest(&self, skill: usize, count: usize) -> Vec<usize> {
        let mut scores: HashMap<usize, f32> = HashMap::new();
        for (term, weight) in &self.vectors[skill] {
            let sharing = &self.skills_with[term];
            if sharing.len() <= MAX_SHARING {
                for other in sharing {
                    *scores.entry(*other).or_default() += weight * self.weight(*other, *term);
                }
            }
        }
        scores.remove(&skill);
        let mut nearest: Vec<(usize, f32)> = scores.into_iter().collect();
        nearest.sort_by(|(one, a), (other, b)| b.total_cmp(a).then(one.cmp(other)));
        nearest.truncate(count);
        nearest.into_iter().map(|(other, _)| other).collect()
    }

    /// Returns the cosine of two skills, from 0 for nothing in common to 1.
    pub(super) fn cosine(&self, one: usize, other: usize) -> f32 {
        let shared = self.vectors[one].iter();
        shared
            .map(|(term, weight)| weight * self.weight(other, *term))
            .sum()
    }

    /// Returns the terms that two skills share, those that make them similar first.
    pub(super) fn shared(&self, one: usize, other: usize) -> Vec<Term> {
        let products = self.vectors[one].iter();
        let products = products.map(|(term, weight)| (*term, weight * self.weight(other, *term)));
        let mut products: Vec<_> = products.filter(|(_, product)| *product > 0.0).collect();
        products.sort_by(|(one, a), (other, b)| b.total_cmp(a).then(one.cmp(other)));
        products.into_iter().map(|(term, _)| term).collect()
    }

    fn weight(&self, skill: usize, term: Term) -> f32 {
        let vector = &self.vectors[skill];
        let found = vector.binary_search_by_key(&term, |(term, _)| *term);
        found.map_or(0.0, |index| vector[index].1)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a number of skills")]
fn to_f32(count: usize) -> f32 {
    count as f32
}
