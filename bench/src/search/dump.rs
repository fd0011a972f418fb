//! Writes the ranker's training data.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::{Value, json};
use skillfold::core::search::SearchIndex;

use crate::labelled::Request;
use crate::search::engine::Indexed;
use crate::search::pool::{Copies, Pool};

/// Writes each request's candidates, whether they are right, and their features, one JSON line per request, after a
/// line with the feature names.
pub(crate) fn dump(
    file: &Path,
    pool: &Pool,
    copies: &Copies,
    requests: &[&Request],
    indexed: &Indexed,
) -> Result<usize, Box<dyn Error>> {
    let mut out = begun(file)?;
    for request in requests {
        writeln!(out, "{}", line(indexed, pool, copies, request))?;
    }
    out.flush()?;
    Ok(requests.len())
}

/// Writes the same for parts of this pool with `size` skills each. Each request is run against the part with the skill
/// it needs, and against the next part, which does not have it: a user has only a few of all skills.
pub(crate) fn dump_parts(
    file: &Path,
    pool: &Pool,
    copies: &Copies,
    requests: &[&Request],
    size: usize,
) -> Result<usize, Box<dyn Error>> {
    let parts = pool.parts(size);
    let mut out = begun(file)?;
    let mut count = 0;
    for (number, part) in parts.iter().enumerate() {
        let indexed = Indexed::new(part)?;
        let before = &parts[(number + parts.len() - 1) % parts.len()];
        let is_near = |request: &&&Request| {
            let mut ids = request.skills.iter();
            ids.any(|id| part.place(id).or_else(|| before.place(id)).is_some())
        };
        for request in requests.iter().filter(is_near) {
            writeln!(out, "{}", line(&indexed, part, copies, request))?;
            count += 1;
        }
    }
    out.flush()?;
    Ok(count)
}

fn begun(file: &Path) -> Result<BufWriter<File>, Box<dyn Error>> {
    let mut out = BufWriter::new(File::create(file)?);
    writeln!(out, "{}", json!({ "names": SearchIndex::feature_names() }))?;
    Ok(out)
}

/// Returns a request's candidates, whether they are right, and their features.
fn line(indexed: &Indexed, pool: &Pool, copies: &Copies, request: &Request) -> Value {
    let ids = request.skills.iter();
    let wanted: Vec<usize> = ids
        .flat_map(|id| std::iter::once(id).chain(copies.get(id).into_iter().flatten()))
        .filter_map(|id| pool.place(id))
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
    json!({
        "repository": request.repository,
        "skill": request.skills.first(),
        "terms": query.terms().len().min(60),
        "documents": indexed.index.catalog().len(),
        "places": places,
        "right": right,
        "features": features,
    })
}
