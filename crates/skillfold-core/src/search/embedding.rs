//! Quantized text embeddings and their cosine similarity.

use crate::error::Error;

/// Turns texts into vectors. The more similar two texts are in meaning, the higher the cosine similarity of their
/// vectors.
///
/// ```
/// use skillfold_core::Error;
/// use skillfold_core::search::Embedder;
///
/// /// Counts letters; a real one knows words.
/// struct Letters;
///
/// impl Embedder for Letters {
///     fn id(&self) -> &str {
///         "letters-1"
///     }
///
///     fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
///         let count = |text: &str, letter| text.chars().filter(|one| *one == letter).count() as f32;
///         Ok(texts.iter().map(|text| ('a'..='z').map(|letter| count(text, letter)).collect()).collect())
///     }
/// }
/// ```
pub trait Embedder: Send + Sync {
    /// Returns an id for the model and its version. Vectors with different ids are never compared.
    fn id(&self) -> &str;

    /// Returns one vector per text, all of the same dimension: the descriptions of skills.
    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error>;

    /// Returns the vector of a request, to be compared with those of documents. Override it for a model that embeds queries
    /// differently, for example with a prefix.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>, Error> {
        let vectors = self.embed_documents(&[text])?;
        Ok(vectors.into_iter().next().unwrap_or_default())
    }
}

/// An embedding quantized to bytes. Only the direction of the original vector is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuantizedVector(Box<[i8]>);

impl QuantizedVector {
    /// Quantizes a vector. Returns `None` if its norm is zero or not finite.
    pub fn new(vector: &[f32]) -> Option<Self> {
        let norm = vector
            .iter()
            .map(|component| component * component)
            .sum::<f32>()
            .sqrt();
        let is_valid = norm.is_finite() && norm > 0.0;
        // The largest component uses the full range of a byte, so that long vectors lose no precision.
        let max = vector
            .iter()
            .fold(0.0_f32, |max, component| max.max(component.abs()));
        is_valid.then(|| {
            Self(
                vector
                    .iter()
                    .map(|component| quantize(component / max))
                    .collect(),
            )
        })
    }

    /// Deserializes a vector.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(
            bytes
                .iter()
                .map(|byte| i8::from_le_bytes([*byte]))
                .collect(),
        )
    }

    /// Serializes the vector.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0
            .iter()
            .flat_map(|component| component.to_le_bytes())
            .collect()
    }

    /// Returns the cosine similarity of two vectors: 1 for the same direction, 0 for unrelated ones and for vectors of
    /// different dimensions.
    pub fn similarity(&self, other: &Self) -> f32 {
        if self.0.len() != other.0.len() {
            return 0.0;
        }
        let squared_norms = self.squared_norm() * other.squared_norm();
        if squared_norms > 0.0 {
            to_f32(dot(&self.0, &other.0)) / squared_norms.sqrt()
        } else {
            0.0
        }
    }

    fn squared_norm(&self) -> f32 {
        to_f32(dot(&self.0, &self.0))
    }
}

/// Embeddings stored contiguously, to be compared with one query.
#[derive(Debug, Default)]
pub(super) struct QuantizedVectors {
    dimensions: usize,
    /// The components of all vectors; zeros for a missing one.
    components: Vec<i8>,
    /// The norm of each quantized vector.
    norms: Vec<f32>,
}

impl QuantizedVectors {
    /// Stores vectors in order. Those with another dimension than the first are treated as missing.
    pub(super) fn new<'a>(all: impl Iterator<Item = Option<&'a QuantizedVector>> + Clone) -> Self {
        let dimensions = all
            .clone()
            .flatten()
            .next()
            .map_or(0, |first| first.0.len());
        let mut vectors = Self {
            dimensions,
            ..Self::default()
        };
        if dimensions == 0 {
            return vectors;
        }
        for vector in all {
            let vector = vector.filter(|vector| vector.0.len() == dimensions);
            if let Some(vector) = vector {
                vectors.components.extend(&vector.0);
                vectors.norms.push(vector.squared_norm().sqrt());
            } else {
                vectors
                    .components
                    .extend(std::iter::repeat_n(0, dimensions));
                vectors.norms.push(0.0);
            }
        }
        vectors
    }

    /// Returns the cosine similarity of each vector to a query, in order; empty if there are no vectors of its
    /// dimension.
    pub(super) fn similarities(&self, query: &QuantizedVector) -> Vec<f32> {
        if self.dimensions == 0 || query.0.len() != self.dimensions {
            return Vec::new();
        }
        let query_norm = query.squared_norm().sqrt();
        let vectors = self
            .components
            .chunks_exact(self.dimensions)
            .zip(&self.norms);
        let similarities = vectors.map(|(components, norm)| {
            let norms = norm * query_norm;
            if norms > 0.0 {
                to_f32(dot(components, &query.0)) / norms
            } else {
                0.0
            }
        });
        similarities.collect()
    }

    /// Returns the memory size in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.components) + size_of_val(&*self.norms)
    }
}

fn dot(a: &[i8], b: &[i8]) -> i32 {
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a component is between -1 and 1"
)]
fn quantize(component: f32) -> i8 {
    (component * 127.0).round() as i8
}

#[expect(clippy::cast_precision_loss, reason = "the inputs are bytes")]
fn to_f32(sum: i32) -> f32 {
    sum as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(a: &[f32], b: &[f32]) -> String {
        let similarity = QuantizedVector::new(a)
            .unwrap()
            .similarity(&QuantizedVector::new(b).unwrap());
        format!("{similarity:.2}")
    }

    #[test]
    fn similarity_is_the_cosine() {
        assert_eq!(similarity(&[1.0, 0.0], &[5.0, 0.0]), "1.00");
        assert_eq!(similarity(&[1.0, 0.0], &[0.0, 2.0]), "0.00");
        assert_eq!(similarity(&[1.0, 1.0], &[1.0, 0.0]), "0.71");
        assert_eq!(similarity(&[1.0, 1.0], &[1.0, 1.0, 1.0]), "0.00");
    }

    #[test]
    fn vector_without_direction_is_none() {
        assert_eq!(QuantizedVector::new(&[0.0, 0.0]), None);
        assert_eq!(QuantizedVector::new(&[f32::NAN]), None);
        assert_eq!(QuantizedVector::new(&[]), None);
    }

    #[test]
    fn vector_round_trips_through_bytes() {
        let vector = QuantizedVector::new(&[0.3, -0.7, 0.0]).unwrap();
        assert_eq!(QuantizedVector::from_bytes(&vector.to_bytes()), vector);
    }
}
