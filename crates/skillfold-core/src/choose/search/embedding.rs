//! Closeness of meaning: texts as vectors.

use crate::error::Error;

/// Turns texts into vectors that are the closer the more the texts mean the same.
///
/// ```
/// use skillfold_core::{Embedder, Error};
///
/// /// Counts letters; a real one knows words.
/// struct Letters;
///
/// impl Embedder for Letters {
///     fn id(&self) -> &str {
///         "letters-1"
///     }
///
///     fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
///         let count = |text: &str, letter| text.chars().filter(|one| *one == letter).count() as f32;
///         Ok(texts.iter().map(|text| ('a'..='z').map(|letter| count(text, letter)).collect()).collect())
///     }
/// }
/// ```
pub trait Embedder: Send + Sync {
    /// Returns what names the model and its version. Vectors of two names are never compared.
    fn id(&self) -> &str;

    /// Returns the vector of each text, all of one length.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error>;
}

/// A direction, in bytes: the closeness of two is a sum of products of small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuantizedVector(Box<[i8]>);

impl QuantizedVector {
    /// Takes the direction of a vector; nothing, if it has none.
    pub fn new(vector: &[f32]) -> Option<Self> {
        let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
        let is_sound = length.is_finite() && length > 0.0;
        // The largest part takes the whole byte, so that nothing is lost on long vectors.
        let most = vector
            .iter()
            .fold(0.0_f32, |most, part| most.max(part.abs()));
        is_sound.then(|| Self(vector.iter().map(|part| byte(part / most)).collect()))
    }

    /// Takes a direction as it was written down.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(
            bytes
                .iter()
                .map(|byte| i8::from_le_bytes([*byte]))
                .collect(),
        )
    }

    /// Writes it down.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|part| part.to_le_bytes()).collect()
    }

    /// Returns how close two directions are: 1 is the same, 0 has nothing to do with it. Those of different lengths have
    /// nothing to do with each other.
    pub fn similarity(&self, other: &Self) -> f32 {
        if self.0.len() != other.0.len() {
            return 0.0;
        }
        let lengths = self.square() * other.square();
        if lengths > 0.0 {
            real(product(&self.0, &other.0)) / lengths.sqrt()
        } else {
            0.0
        }
    }

    fn square(&self) -> f32 {
        real(product(&self.0, &self.0))
    }
}

/// Many directions, one after the other, which are compared with one.
#[derive(Debug, Default)]
pub(super) struct QuantizedVectors {
    length: usize,
    /// The parts of all; of one that has none they are 0.
    parts: Vec<i8>,
    /// The length of each as a vector of bytes.
    lengths: Vec<f32>,
}

impl QuantizedVectors {
    /// Puts directions together; those of another length than the first are as if they were not there.
    pub(super) fn new<'a>(all: impl Iterator<Item = Option<&'a QuantizedVector>> + Clone) -> Self {
        let length = all
            .clone()
            .flatten()
            .next()
            .map_or(0, |first| first.0.len());
        let mut directions = Self {
            length,
            ..Self::default()
        };
        if length == 0 {
            return directions;
        }
        for direction in all {
            let direction = direction.filter(|direction| direction.0.len() == length);
            if let Some(direction) = direction {
                directions.parts.extend(&direction.0);
                directions.lengths.push(direction.square().sqrt());
            } else {
                directions.parts.extend(std::iter::repeat_n(0, length));
                directions.lengths.push(0.0);
            }
        }
        directions
    }

    /// Returns how close each is to one, in order; nothing, where there are none.
    pub(super) fn closeness(&self, to: &QuantizedVector) -> Vec<f32> {
        if self.length == 0 || to.0.len() != self.length {
            return Vec::new();
        }
        let length = to.square().sqrt();
        let all = self.parts.chunks_exact(self.length).zip(&self.lengths);
        let closeness = all.map(|(parts, own)| {
            let lengths = own * length;
            if lengths > 0.0 {
                real(product(parts, &to.0)) / lengths
            } else {
                0.0
            }
        });
        closeness.collect()
    }

    /// Returns the bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.parts) + size_of_val(&*self.lengths)
    }
}

fn product(a: &[i8], b: &[i8]) -> i32 {
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a part is between -1 and 1"
)]
fn byte(part: f32) -> i8 {
    (part * 127.0).round() as i8
}

#[expect(clippy::cast_precision_loss, reason = "bytes have less to lose")]
fn real(sum: i32) -> f32 {
    sum as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closeness(a: &[f32], b: &[f32]) -> String {
        let close = QuantizedVector::new(a)
            .unwrap()
            .similarity(&QuantizedVector::new(b).unwrap());
        format!("{close:.2}")
    }

    #[test]
    fn closeness_is_that_of_directions() {
        assert_eq!(closeness(&[1.0, 0.0], &[5.0, 0.0]), "1.00");
        assert_eq!(closeness(&[1.0, 0.0], &[0.0, 2.0]), "0.00");
        assert_eq!(closeness(&[1.0, 1.0], &[1.0, 0.0]), "0.71");
        assert_eq!(closeness(&[1.0, 1.0], &[1.0, 1.0, 1.0]), "0.00");
    }

    #[test]
    fn what_has_no_direction_is_nothing() {
        assert_eq!(QuantizedVector::new(&[0.0, 0.0]), None);
        assert_eq!(QuantizedVector::new(&[f32::NAN]), None);
        assert_eq!(QuantizedVector::new(&[]), None);
    }

    #[test]
    fn a_direction_is_read_as_it_was_written() {
        let direction = QuantizedVector::new(&[0.3, -0.7, 0.0]).unwrap();
        assert_eq!(
            QuantizedVector::from_bytes(&direction.to_bytes()),
            direction
        );
    }
}
