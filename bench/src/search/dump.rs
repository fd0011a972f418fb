//! Writes down what the ranker is fitted on.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::json;
use skillfold::core::SearchIndex;

use crate::labelled::Request;
use crate::search::engine::Indexed;
use crate::search::pool::{Copies, Pool};

/// Writes for each request its candidates, whether they are right, and their features, a line of JSON each; the names of the
/// features before all others.
pub(crate) fn dump(
    file: &Path,
    pool: &Pool,
    copies: &Copies,
    requests: &[&Request],
    indexed: &Indexed,
) -> Result<usize, Box<dyn Error>> {
    let mut out = BufWriter::new(File::create(file)?);
    writeln!(out, "{}", json!({ "names": SearchIndex::feature_names() }))?;
    for request in requests {
        let wanted: Vec<usize> = pool
            .wanted(request, copies)?
            .into_iter()
            .flatten()
            .collect();
        let query = indexed.index.query(&request.text);
        let found = indexed.index.features(&query);
        let right = |place: Option<usize>| u8::from(place.is_some_and(|at| wanted.contains(&at)));
        let places: Vec<Option<usize>> = found
            .iter()
            .map(|(entry, _)| indexed.place(entry))
            .collect();
        let right: Vec<u8> = found
            .iter()
            .map(|(entry, _)| right(indexed.place(entry)))
            .collect();
        let rounded = |value: &f32| (f64::from(*value) * 1e4).round() / 1e4;
        let features: Vec<Vec<f64>> = found
            .iter()
            .map(|(_, features)| features.iter().map(rounded).collect())
            .collect();
        let line = json!({
            "repository": request.repository,
            "skill": request.skills.first(),
            "terms": query.terms().len().min(60),
            "places": places,
            "right": right,
            "features": features,
        });
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(requests.len())
}
