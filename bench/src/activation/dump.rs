//! Writes the activation's training data.

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::{Value, json};
use skillfold::core::search::{SearchCoverage, SearchIndex};

use crate::activation::draw::{Data, Draw};
use crate::labelled::{Request, Triggers, installed, pool_id};

/// Skills written per request.
const SKILLS: usize = 3;

/// Prompts run against each library.
const PROMPTS: usize = 60;

/// Writes each request's first skills, whether they are right, and their features, one JSON line per request, after a
/// line with the feature names.
pub(crate) fn dump(
    file: &Path,
    data: &Data,
    sizes: &[usize],
    draws: u64,
) -> Result<usize, Box<dyn Error>> {
    let mut out = BufWriter::new(File::create(file)?);
    let names = SearchIndex::activation_feature_names();
    writeln!(out, "{}", json!({ "names": names }))?;
    let mut count = 0;
    for size in sizes {
        for seed in 0..draws {
            let draw = data.draw(seed, *size, PROMPTS);
            for line in lines(&draw, data)? {
                writeln!(out, "{line}")?;
                count += 1;
            }
        }
    }
    out.flush()?;
    Ok(count)
}

fn lines(draw: &Draw<'_>, data: &Data) -> Result<Vec<Value>, Box<dyn Error>> {
    let catalog = installed(draw.skills.iter().copied(), Triggers::Own)?.catalog();
    let index = SearchIndex::new(&catalog, SearchCoverage::Bodies);
    let skills: HashMap<&str, &str> = draw
        .skills
        .iter()
        .map(|skill| (&*skill.id, &*skill.name))
        .collect();
    let line = |kind: &str, text: &str, request: Option<&Request>| {
        let meant = request.map(|request| data.labelled.meant(request));
        let meant = meant.unwrap_or_default();
        let found = index.activation_features(&index.query(text), SKILLS);
        let rounded = |value: &f32| (f64::from(*value) * 1e4).round() / 1e4;
        let found = found.iter().map(|(entry, features)| {
            let id = pool_id(entry);
            json!({
                "right": meant.contains(id),
                "sibling": request.is_some_and(|request| data.is_sibling(request, id)),
                "name": skills.get(id),
                "features": features.iter().map(rounded).collect::<Vec<_>>(),
            })
        });
        json!({
            "kind": kind,
            "skills": draw.skills.len(),
            "source": request.map_or(text, |request| &request.repository),
            "found": found.collect::<Vec<_>>(),
        })
    };
    let of = |kind: &'static str, requests: &[&Request]| -> Vec<Value> {
        let requests = requests.iter();
        requests
            .map(|request| line(kind, &request.text, Some(request)))
            .collect()
    };
    let mut all = of("present", &draw.present);
    all.extend(of("absent", &draw.absent));
    all.extend(of("must_not", &draw.must_not));
    let everyday = draw.everyday.iter();
    all.extend(everyday.map(|prompt| line("everyday", &prompt.text, None)));
    Ok(all)
}
