//! How often the right skill and how often a wrong one would be given, if the first hit is given above some score.

use std::collections::HashSet;
use std::error::Error;

use serde_json::{Value, json};

use crate::labelled::Request;
use crate::search::methods::Built;
use crate::search::metrics::{ratio, tenths};
use crate::search::pool::{Copies, Pool};

/// Points on the curve: the scores of the first hits are split into this many steps of equal count.
const POINTS: usize = 20;

/// The first skill found for a request.
struct First {
    score: f64,
    /// Whether the request names it or a copy of it.
    is_named: bool,
}

/// Returns points from the lowest threshold to the highest.
///
/// `right` is the share of positive requests whose needed skill comes first with at least that score; `other` the share
/// for which another skill does; `wrong` the share of negative requests for which exactly the forbidden skill comes
/// first. Positive requests are those for skills that also have negative ones in the same half.
pub(crate) fn curve(
    built: &Built,
    pool: &Pool,
    copies: &Copies,
    labelled: &[Request],
    negatives: &[Request],
) -> Result<Vec<Value>, Box<dyn Error>> {
    let judged: HashSet<&String> = negatives
        .iter()
        .flat_map(|request| &request.skills)
        .collect();
    let positives = labelled
        .iter()
        .filter(|request| request.skills.iter().any(|id| judged.contains(id)));
    let positives: Vec<&Request> = positives.collect();
    let firsts = |requests: &[&Request]| -> Result<Vec<Option<First>>, Box<dyn Error>> {
        let first = |request: &&Request| {
            let wanted = pool.wanted(request, copies)?;
            let hits = built.search(&request.text, 1)?;
            Ok(hits.first().map(|hit| First {
                score: hit.score,
                is_named: wanted.iter().flatten().any(|place| *place == hit.place),
            }))
        };
        requests.iter().map(first).collect()
    };
    let asked = firsts(&positives)?;
    let refused = firsts(&negatives.iter().collect::<Vec<_>>())?;
    let share = |firsts: &[Option<First>], is_named: bool, threshold: f64| {
        let above = firsts.iter().flatten().filter(|first| {
            first.is_named == is_named && first.score.total_cmp(&threshold).is_ge()
        });
        tenths(100.0 * ratio(above.count(), firsts.len()))
    };
    let points = thresholds(&asked).into_iter().map(|threshold| {
        json!({
            "threshold": threshold,
            "positives": asked.len(),
            "negatives": refused.len(),
            "right": share(&asked, true, threshold),
            "other": share(&asked, false, threshold),
            "wrong": share(&refused, true, threshold),
        })
    });
    Ok(points.collect())
}

fn thresholds(firsts: &[Option<First>]) -> Vec<f64> {
    let mut scores: Vec<f64> = firsts.iter().flatten().map(|first| first.score).collect();
    scores.sort_by(f64::total_cmp);
    let at = |point: usize| scores.get(scores.len() * point / POINTS).copied();
    let mut thresholds: Vec<f64> = (0..POINTS).filter_map(at).collect();
    thresholds.dedup_by(|a, b| a.total_cmp(b).is_eq());
    thresholds
}
