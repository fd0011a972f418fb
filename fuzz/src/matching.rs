//! Any skills with any triggers, and any message: each skill that matches says where, on whole characters; and it matches
//! whether or not it was matched before.

use arbitrary::Arbitrary;
use skillfold_core::Matcher;
use skillfold_core::catalog::canonical;

use crate::{Skill, catalog};

#[derive(Arbitrary, Debug)]
pub(crate) struct Input<'a> {
    message: &'a str,
    skills: Vec<Skill<'a>>,
}

pub(crate) fn run(input: Input<'_>) {
    let Input { message, skills } = input;
    let catalog = catalog(&skills);
    let matcher = Matcher::new(&catalog);
    let matched = || {
        let matched = matcher.matches(message);
        let candidates = matched.candidates.iter();
        let candidates = candidates.map(|one| {
            (
                one.entry.id().to_owned(),
                one.signal,
                one.evidence().to_owned(),
                one.range(message),
            )
        });
        candidates.collect::<Vec<_>>()
    };
    let first = matched();
    assert_eq!(first, matched(), "another answer");
    for (id, _, evidence, place) in &first {
        assert!(
            message.get(place.clone()).is_some(),
            "`{evidence}` of {id} at {place:?}"
        );
    }
    for entry in catalog.entries() {
        assert_eq!(
            catalog
                .resolve_or_suggest(entry.id())
                .map(|found| found.id())
                .ok(),
            Some(entry.id()),
            "an id that leads elsewhere"
        );
        let folded = canonical(entry.id());
        assert_eq!(
            canonical(&folded),
            folded,
            "a name that is never folded enough"
        );
    }
}
