//! Any conversation about any skills: every text is within its budget, and the same conversation is the same twice.

use std::sync::Arc;

use arbitrary::Arbitrary;
use skillfold_core::choose::{Finder, Suggestion};
use skillfold_core::disclose::{Fallback, Mode, Style, SuggestionThresholds};
use skillfold_core::search::{Query, SearchCoverage, SearchIndex};
use skillfold_core::{
    Budget, Catalog, ContextLifetime, Entry, LoadOptions, Loader, Matcher, Policy, SessionState,
};

use crate::{Skill, catalog};

#[derive(Arbitrary, Debug)]
pub(crate) struct Input<'a> {
    skills: Vec<Skill<'a>>,
    messages: [&'a str; 2],
    loaded: &'a str,
    mode: u8,
    style: u8,
    fallback: u8,
    listing: u16,
    bodies: u16,
    is_counted_in_tokens: bool,
}

/// Finds skills by a search, and thinks all of them likely.
struct Likely(SearchIndex);

impl Finder for Likely {
    fn find(
        &self,
        message: &str,
        limit: usize,
        may_see: &dyn Fn(&Entry<'_>) -> bool,
    ) -> Vec<Suggestion> {
        let found = self
            .0
            .search(&Query::new(message), limit, |entry| may_see(entry));
        let hits = found.hits.iter();
        hits.map(|hit| Suggestion::new(hit.entry.id(), hit.confidence))
            .collect()
    }
}

pub(crate) fn run(input: Input<'_>) {
    let catalog = catalog(&input.skills);
    let (budget, policy) = (
        |limit: u16| match input.is_counted_in_tokens {
            true => Budget::tokens(limit.into()),
            false => Budget::characters(limit.into()),
        },
        Policy::default(),
    );
    let policy = policy
        .with_mode([Mode::Catalog, Mode::Triggered, Mode::Hybrid][usize::from(input.mode) % 3])
        .with_style(Style::ALL[usize::from(input.style) % Style::ALL.len()])
        .with_fallback(
            [Fallback::None, Fallback::ShowAll, Fallback::AskUser][usize::from(input.fallback) % 3],
        )
        .with_catalog(budget(input.listing))
        .with_bodies(budget(input.bodies))
        .with_suggestions(Some(
            SuggestionThresholds::default()
                .with_give_from(0.1)
                .with_show_from(0.0),
        ));
    assert_eq!(
        said(&catalog, &policy, &input),
        said(&catalog, &policy, &input),
        "another conversation"
    );
}

/// Has the conversation, and returns everything that was said.
fn said(catalog: &Catalog, policy: &Policy, input: &Input<'_>) -> Vec<String> {
    let index = SearchIndex::new(catalog, SearchCoverage::Bodies);
    let matcher = Matcher::new(catalog).with_finder(Arc::new(Likely(index)));
    let loader = Loader::new(LoadOptions::default(), skillfold_testkit::far_future);
    let mut session = SessionState::new(ContextLifetime::History);
    let listing = session.listing(catalog, policy);
    let measure = |budget: Budget, text: &str| {
        let taken = budget.measure(text, &*policy.counter);
        assert!(
            taken <= budget.limit,
            "{taken} of {} {:?}",
            budget.limit,
            budget.unit
        );
    };
    measure(policy.catalog, &listing.text);
    let mut said = vec![listing.text];
    for message in input.messages {
        let turn = session.turn(&matcher, &loader, policy, message);
        for decision in &turn.decisions {
            assert!(
                catalog.get(&decision.id).is_some(),
                "a skill that is not there"
            );
            said.push(format!(
                "{} {} {}",
                decision.id,
                decision.evidence,
                decision.outcome.as_str()
            ));
        }
        said.extend(turn.text);
    }
    said.extend(
        session
            .load(catalog, &loader, policy, input.loaded, "a b")
            .map(|loaded| loaded.text().to_owned()),
    );
    said.extend(
        session
            .after_compaction(catalog, &loader, policy, policy.bodies, &[])
            .text,
    );
    said
}
