//! Ranking metrics.

use serde_json::{Value, json};
use skillfold::tools::Fit;

use crate::bootstrap::Sample;
use crate::search::method::Hit;
use crate::search::methods::Built;

/// One request's ranking.
#[derive(Debug)]
pub(crate) struct Asked {
    /// The repository of the request.
    source: String,
    /// The ranks of the wanted skills found, from 1.
    ranks: Vec<usize>,
    /// Number of wanted skills.
    wanted: usize,
    /// How well each of the first hits fits, in the terms of the tool `search_skills`, and whether it is wanted.
    answer: Vec<(Option<Fit>, bool)>,
    microseconds: f64,
}

impl Asked {
    /// Evaluates a ranking. Each of `wanted` is a skill with its copies.
    ///
    /// The first copy found counts as the skill; further ones are skipped, and what follows moves up a rank. Copies of
    /// unwanted skills each take a rank.
    pub(crate) fn new(
        source: &str,
        hits: &[Hit],
        wanted: &[Vec<usize>],
        microseconds: f64,
    ) -> Self {
        let mut is_found = vec![false; wanted.len()];
        let (mut ranks, mut rank) = (Vec::new(), 0);
        for hit in hits {
            let mut named = (0..wanted.len())
                .filter(|number| wanted[*number].contains(&hit.place))
                .peekable();
            if named.peek().is_none() {
                rank += 1;
            } else if let Some(number) = named.find(|number| !is_found[*number]) {
                is_found[number] = true;
                rank += 1;
                ranks.push(rank);
            }
        }
        let is_wanted = |hit: &Hit| wanted.iter().any(|copies| copies.contains(&hit.place));
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it was a float of this size"
        )]
        let fit = |hit: &Hit| Fit::from_confidence(hit.score as f32);
        let answer = hits.iter().take(ANSWER_SKILLS);
        Self {
            source: source.to_owned(),
            ranks,
            wanted: wanted.len(),
            answer: answer.map(|hit| (fit(hit), is_wanted(hit))).collect(),
            microseconds,
        }
    }

    /// Returns the share of the wanted skills among the first `count`, out of at most `count`.
    fn recall(&self, count: usize) -> f64 {
        let found = self.ranks.iter().filter(|rank| **rank <= count).count();
        ratio(found, self.wanted.min(count))
    }

    /// Returns the reciprocal rank of the first right skill.
    fn reciprocal(&self) -> f64 {
        self.ranks.first().map_or(0.0, |rank| ratio(1, *rank))
    }

    /// Returns nDCG@10: the discounted gain of the first ten, as a share of the best possible.
    fn gain(&self) -> f64 {
        let gain = |rank: usize| float(rank + 1).log2().recip();
        let found = self.ranks.iter().filter(|rank| **rank <= 10);
        let best: f64 = (1..=self.wanted.min(10)).map(gain).sum();
        found.map(|rank| gain(*rank)).sum::<f64>() / best.max(f64::MIN_POSITIVE)
    }
}

/// Means over requests; shares are in percent.
#[derive(Debug)]
pub(crate) struct Figures {
    queries: usize,
    recall: [f64; 4],
    mrr: f64,
    ndcg: f64,
    median_us: f64,
    p99_us: f64,
    answers: Answers,
    /// R@1, R@10 and MRR by source.
    samples: [Sample; 3],
}

/// What the tool `search_skills` would return.
#[derive(Debug, Default)]
struct Answers {
    /// The share of requests whose result has a wanted skill, in percent.
    right: f64,
    /// Mean number of skills per result.
    skills: f64,
    /// The share of wanted skills among strong, likely and possible ones, and among those left out.
    precision: [f64; 4],
}

impl Answers {
    fn new(asked: &[&Asked]) -> Self {
        let hits = || asked.iter().flat_map(|asked| &asked.answer);
        let is_right = |asked: &&&Asked| {
            asked
                .answer
                .iter()
                .any(|(fit, is_wanted)| *is_wanted && fit.is_some())
        };
        let precision = |fit: Option<Fit>| {
            let of_kind = || hits().filter(|(found, _)| *found == fit);
            100.0
                * ratio(
                    of_kind().filter(|(_, is_wanted)| *is_wanted).count(),
                    of_kind().count(),
                )
        };
        Self {
            right: 100.0 * ratio(asked.iter().filter(is_right).count(), asked.len()),
            skills: ratio(hits().filter(|(fit, _)| fit.is_some()).count(), asked.len()),
            precision: [
                Some(Fit::Strong),
                Some(Fit::Likely),
                Some(Fit::Possible),
                None,
            ]
            .map(precision),
        }
    }

    fn json(&self) -> Value {
        let [strong, likely, possible, left_out] = self.precision.map(tenths);
        json!({
            "right": tenths(self.right),
            "skills": tenths(self.skills),
            "strong": strong, "likely": likely, "possible": possible, "left_out": left_out,
        })
    }
}

/// Maximum number of skills in a result of the tool `search_skills`.
const ANSWER_SKILLS: usize = 5;

/// The recall cutoffs.
const CUTS: [usize; 4] = [1, 3, 5, 10];

impl Figures {
    /// Returns R@1, R@10 and MRR.
    pub(crate) fn headline(&self) -> [f64; 3] {
        [self.recall[0], self.recall[3], self.mrr]
    }

    pub(crate) fn of<'a>(asked: impl Iterator<Item = &'a Asked>) -> Self {
        let asked: Vec<_> = asked.collect();
        let mean = |figure: &dyn Fn(&Asked) -> f64| {
            let sum: f64 = asked.iter().map(|asked| figure(asked)).sum();
            100.0 * sum / float(asked.len().max(1))
        };
        let sample = |figure: &dyn Fn(&Asked) -> f64| {
            let mut sample = Sample::default();
            for asked in &asked {
                sample.add(&asked.source, figure(asked));
            }
            sample
        };
        let mut times: Vec<_> = asked.iter().map(|asked| asked.microseconds).collect();
        times.sort_by(f64::total_cmp);
        let time = |percent: usize| {
            let at = times.len() * percent / 100;
            times.get(at).copied().unwrap_or_default()
        };
        Self {
            queries: asked.len(),
            recall: CUTS.map(|count| mean(&|asked| asked.recall(count))),
            mrr: mean(&Asked::reciprocal),
            ndcg: mean(&Asked::gain),
            median_us: time(50),
            p99_us: time(99),
            answers: Answers::new(&asked),
            samples: [
                sample(&|asked| asked.recall(1)),
                sample(&|asked| asked.recall(10)),
                sample(&Asked::reciprocal),
            ],
        }
    }

    fn samples(&self) -> impl Iterator<Item = (&'static str, &Sample)> {
        ["r1", "r10", "mrr"].into_iter().zip(&self.samples)
    }

    /// Returns what a later run needs to compare itself with this one.
    pub(crate) fn sums(&self) -> Value {
        let samples = self
            .samples()
            .map(|(name, sample)| (name.to_owned(), sample.to_json()));
        Value::Object(samples.collect())
    }

    /// Returns how much R@1, R@10 and MRR are above those of another run, in points, with the interval.
    pub(crate) fn above(&self, sums: &Value) -> Result<Value, serde_json::Error> {
        let mut above = json!({});
        for (name, sample) in self.samples() {
            let (difference, range) = sample.above(&Sample::from_json(&sums[name])?);
            above[name] = json!({
                "difference": tenths(100.0 * difference),
                "range": range.map(percent),
            });
        }
        Ok(above)
    }

    /// Returns the metrics and the method's build cost.
    pub(crate) fn json(&self, built: &Built) -> Value {
        let [r1, r3, r5, r10] = self.recall.map(tenths);
        let ranges = self.samples().map(|(name, sample)| {
            let range = sample.interval().map(percent);
            (name.to_owned(), json!(range))
        });
        json!({
            "range": Value::Object(ranges.collect()),
            "queries": self.queries,
            "r1": r1, "r3": r3, "r5": r5, "r10": r10,
            "mrr": tenths(self.mrr),
            "ndcg10": tenths(self.ndcg),
            "query_us_p50": tenths(self.median_us),
            "query_us_p99": tenths(self.p99_us),
            "index_bytes": built.index_bytes,
            "build_ms": tenths(built.build_ms),
            "answer": self.answers.json(),
        })
    }
}

fn percent(range: [f64; 2]) -> [f64; 2] {
    range.map(|value| tenths(100.0 * value))
}

/// Rounds to one decimal place.
pub(crate) fn tenths(value: f64) -> f64 {
    // Adding 0.0 turns -0.0 into 0.0.
    (value * 10.0).round() / 10.0 + 0.0
}

pub(crate) fn ratio(part: usize, whole: usize) -> f64 {
    float(part) / float(whole.max(1))
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::{Asked, Figures, tenths};
    use crate::search::method::Hit;

    fn asked(places: &[usize], wanted: &[&[usize]]) -> Asked {
        let hits: Vec<_> = places
            .iter()
            .map(|place| Hit {
                place: *place,
                score: 0.0,
            })
            .collect();
        let wanted: Vec<_> = wanted.iter().map(|copies| copies.to_vec()).collect();
        Asked::new("a/b", &hits, &wanted, 1.0)
    }

    /// Returns R@1, R@3, R@5, R@10, MRR and nDCG@10.
    fn figures(asked: &[Asked]) -> String {
        let figures = Figures::of(asked.iter());
        let [r1, r3, r5, r10] = figures.recall;
        let all = [r1, r3, r5, r10, figures.mrr, figures.ndcg];
        all.map(|figure| tenths(figure).to_string()).join(" ")
    }

    #[test]
    fn hit_at_rank_two_has_reciprocal_rank_one_half() {
        let second = asked(&[7, 4, 9], &[&[4]]);
        assert_eq!(figures(&[second]), "0 100 100 100 50 63.1");
    }

    #[test]
    fn missed_query_counts_as_zero_in_the_mean() {
        let first = asked(&[4], &[&[4]]);
        let none = asked(&[1, 2, 3], &[&[4]]);
        assert_eq!(figures(&[first, none]), "50 50 50 50 50 50");
        assert_eq!(figures(&[asked(&[], &[&[4]])]), "0 0 0 0 0 0");
    }

    #[test]
    fn recall_at_k_is_capped_at_k_wanted_skills() {
        // Two of three found: R@1 is one of one, R@3 two of three, R@5 and R@10 two of three wanted.
        let two = asked(&[1, 8, 2], &[&[1], &[2], &[3]]);
        assert_eq!(figures(&[two]), "100 66.7 66.7 66.7 100 70.4");
    }

    #[test]
    fn copy_counts_as_the_skill_and_a_second_copy_takes_no_rank() {
        // 5 is a copy of 4; 6 is the other wanted skill, and moves up to rank two.
        let copies = asked(&[5, 4, 6], &[&[4, 5], &[6]]);
        assert_eq!(copies.ranks, [1, 2]);
        // Copies of an unwanted skill take their ranks.
        let others = asked(&[8, 9, 4], &[&[4, 5]]);
        assert_eq!(others.ranks, [3]);
    }

    #[test]
    fn wanted_skills_that_are_copies_are_each_found() {
        let both = asked(&[4, 5], &[&[4, 5], &[5, 4]]);
        assert_eq!(both.ranks, [1, 2]);
    }
}
