//! Any request and any files of skills, parted by unit separators: what is found is there, each once, in order, as likely as
//! something can be, and the same twice.

use std::collections::HashSet;

use skillfold_core::search::{Query, SearchCoverage, SearchIndex};

use crate::{BETWEEN, of_files};

pub(crate) fn run(input: &str) {
    let mut texts = input.split(BETWEEN);
    let request = texts.next().unwrap_or_default();
    let files = texts.map(|text| match text.split_once('\n') {
        Some(("---", _)) => text.to_owned(),
        // Text without frontmatter is a description, and instructions after the first line.
        Some((first, rest)) => format!(
            "---\ndescription: {}\n---\n{rest}",
            serde_json::json!(first)
        ),
        None => format!("---\ndescription: {}\n---\n", serde_json::json!(text)),
    });
    let catalog = of_files(files);
    for coverage in [SearchCoverage::Metadata, SearchCoverage::Bodies] {
        let found = |limit| {
            let index = SearchIndex::new(&catalog, coverage);
            let found = index.search(&Query::new(request), limit, |_| true);
            let hits = found.hits.iter();
            hits.map(|hit| (hit.entry.id().to_owned(), hit.score, hit.confidence))
                .collect::<Vec<_>>()
        };
        let hits = found(10);
        assert_eq!(hits, found(10), "another answer");
        assert_eq!(
            hits.iter().take(1).collect::<Vec<_>>(),
            found(1).iter().collect::<Vec<_>>(),
            "another best one"
        );
        let ids: HashSet<&str> = hits.iter().map(|(id, ..)| &**id).collect();
        assert_eq!(ids.len(), hits.len(), "a skill is found twice");
        for (id, score, confidence) in &hits {
            assert!(catalog.get(id).is_some(), "a skill that is not there");
            assert!(
                score.is_finite() && (0.0..=1.0).contains(confidence),
                "{score} {confidence}"
            );
        }
    }
}
