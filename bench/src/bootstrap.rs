//! Means over requests, with intervals by bootstrap over source repositories: requests of one repository are alike, so
//! that many of them say less than their number.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::measure::rounded;
use crate::random::Random;

/// How often repositories are drawn.
const DRAWS: usize = 2_000;

/// Values by source repository.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    /// For each repository the sum of its values, and how many there are.
    by_source: BTreeMap<String, (f64, f64)>,
}

impl Sample {
    pub(crate) fn add(&mut self, source: &str, value: f64) {
        let (sum, count) = self.by_source.entry(source.to_owned()).or_default();
        *sum += value;
        *count += 1.0;
    }

    /// Adds whether something holds.
    pub(crate) fn add_whether(&mut self, source: &str, holds: bool) {
        self.add(source, f64::from(u8::from(holds)));
    }

    /// Returns how many values there are.
    pub(crate) fn count(&self) -> f64 {
        self.by_source.values().map(|(_, count)| count).sum()
    }

    pub(crate) fn mean(&self) -> f64 {
        mean(self.by_source.values().copied())
    }

    /// Returns the mean's interval, which holds 90 % of the means of repositories that are drawn with replacement; none
    /// if there are not several.
    pub(crate) fn interval(&self) -> Option<[f64; 2]> {
        let sources: Vec<_> = self.by_source.values().copied().collect();
        interval(sources.len(), |drawn| {
            mean(drawn.iter().map(|place| sources[*place]))
        })
    }

    /// Returns how much the mean is above another run's, and the interval: both runs get the same repositories.
    pub(crate) fn above(&self, other: &Self) -> (f64, Option<[f64; 2]>) {
        let names: BTreeSet<&String> = self
            .by_source
            .keys()
            .chain(other.by_source.keys())
            .collect();
        let of = |sample: &Self, name| sample.by_source.get(name).copied().unwrap_or_default();
        let sources: Vec<_> = names
            .into_iter()
            .map(|name| (of(self, name), of(other, name)))
            .collect();
        let difference = |drawn: &[usize]| {
            let of = |drawn: &[usize]| drawn.iter().map(|place| sources[*place]).unzip();
            let (mine, others): (Vec<_>, Vec<_>) = of(drawn);
            mean(mine.into_iter()) - mean(others.into_iter())
        };
        let whole: Vec<usize> = (0..sources.len()).collect();
        (difference(&whole), interval(sources.len(), difference))
    }

    pub(crate) fn to_json(&self) -> Value {
        json!(self.by_source)
    }

    pub(crate) fn from_json(value: &Value) -> Result<Self, serde_json::Error> {
        let by_source = serde_json::from_value(value.clone())?;
        Ok(Self { by_source })
    }
}

fn mean(sources: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (sum, count) = sources.fold((0.0, 0.0), |(sums, counts), (sum, count)| {
        (sums + sum, counts + count)
    });
    if count == 0.0 { 0.0 } else { sum / count }
}

/// Returns between which values 90 % of the figures of drawn places lie. The same figures give the same interval.
fn interval(places: usize, figure: impl Fn(&[usize]) -> f64) -> Option<[f64; 2]> {
    if places < 2 {
        return None;
    }
    let mut random = Random::new(1);
    let mut drawn = vec![0; places];
    let mut figures: Vec<f64> = (0..DRAWS)
        .map(|_| {
            drawn.fill_with(|| random.below(places));
            figure(&drawn)
        })
        .collect();
    figures.sort_by(f64::total_cmp);
    Some([figures[DRAWS / 20], figures[DRAWS - 1 - DRAWS / 20]])
}

/// Returns the mean of each named sample and, under `range`, its interval, as shares.
pub(crate) fn shares<'a>(samples: impl IntoIterator<Item = (&'static str, &'a Sample)>) -> Value {
    let (mut all, mut ranges) = (json!({}), json!({}));
    for (name, sample) in samples {
        all[name] = json!(rounded(sample.mean()));
        ranges[name] = json!(sample.interval().map(|range| range.map(rounded)));
    }
    all["range"] = ranges;
    all
}

#[cfg(test)]
mod tests {
    use super::{Sample, shares};

    fn sample(sources: &[(&str, u32, u32)]) -> Sample {
        let mut sample = Sample::default();
        for (source, yes, all) in sources {
            for number in 0..*all {
                sample.add_whether(source, number < *yes);
            }
        }
        sample
    }

    #[test]
    fn interval_holds_the_mean_and_grows_with_the_difference_of_sources() {
        let alike = sample(&[("a", 5, 10), ("b", 5, 10), ("c", 5, 10)]);
        assert_eq!(
            shares([("a", &alike)]).to_string(),
            r#"{"a":0.5,"range":{"a":[0.5,0.5]}}"#
        );
        let unlike = sample(&[("a", 0, 10), ("b", 5, 10), ("c", 10, 10)]);
        let [low, high] = unlike.interval().unwrap();
        assert!(low < 0.25 && high > 0.75, "{low} {high}");
        assert_eq!(
            shares([("a", &sample(&[]))]).to_string(),
            r#"{"a":0.0,"range":{"a":null}}"#
        );
    }

    #[test]
    fn difference_is_taken_within_each_source() {
        let before = sample(&[("a", 0, 10), ("b", 5, 10), ("c", 9, 10)]);
        let after = sample(&[("a", 1, 10), ("b", 6, 10), ("c", 10, 10)]);
        let (difference, range) = after.above(&before);
        let [low, high] = range.unwrap();
        let is_near = |value: f64| (value - 0.1).abs() < 1e-9;
        assert!(is_near(difference) && is_near(low) && is_near(high));
    }

    #[test]
    fn sample_is_read_as_it_was_written() {
        let written = sample(&[("a", 1, 3)]).to_json();
        let read = Sample::from_json(&written).unwrap();
        assert_eq!(read.to_json(), written);
    }
}
