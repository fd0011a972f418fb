//! What skills cost a request that needs none of them.

use skillfold_core::disclose::{Mode, NoMemory, Style, TokenCounter as _, TokenEstimate, turn};
use skillfold_core::{
    Budget, Catalog, CatalogOptions, LoadOptions, Loader, Matcher, MemorySource, Policy, Root,
    Scope,
};
use skillfold_testkit::far_future;

/// About 1,200 tokens, as a usual skill has.
const SENTENCE: &str =
    "Read the input, check it against the rules above, and write the result beside it.\n";
const SENTENCES: usize = 70;

/// Returns so many skills, each with a trigger and the usual length of text.
fn catalog(count: usize) -> Catalog {
    let files = (0..count).map(|number| {
        let text = format!(
            "---\nname: report-{number:03}\ndescription: Writes the report {number:03} from tables, and checks its sums\n\
             triggers: [report {number:03}]\n---\n{}",
            SENTENCE.repeat(SENTENCES)
        );
        (format!("report-{number:03}/SKILL.md"), text)
    });
    let root = Root::new(Scope::User, "mine", MemorySource::new(files));
    Catalog::discover(vec![root], CatalogOptions::default(), far_future())
}

#[test]
fn unrelated_request_costs_at_least_80_percent_less_than_loading_everything() {
    let body = TokenEstimate.count(&SENTENCE.repeat(SENTENCES));
    assert!((1_100..1_300).contains(&body), "{body}");
    for count in [1, 10, 50, 659] {
        let catalog = catalog(count);
        let matcher = Matcher::new(&catalog);
        let loader = Loader::new(LoadOptions::default(), far_future);
        let eager = body * u64::try_from(count).unwrap();
        for mode in [Mode::Catalog, Mode::Triggered, Mode::Hybrid] {
            let policy = Policy::hybrid(Budget::tokens(4_000)).with_mode(mode);
            let listed = match mode {
                Mode::Triggered => 0,
                _ => catalog.listing(&policy).tokens,
            };
            let added = turn(&matcher, &loader, &policy, "What is 2+2?", &NoMemory).tokens;
            let cost = listed + added;
            let most = if mode == Mode::Triggered { 12 } else { 4_000 };
            assert!(cost <= most, "{mode} of {count}: {cost}");
            assert!(cost * 5 <= eager, "{mode} of {count}: {cost} of {eager}");
        }
    }
}

#[test]
fn ten_skills_list_in_about_200_tokens_and_fifty_in_1000() {
    for (count, around) in [(10, 200), (50, 1_000)] {
        let policy = Policy::catalog(Budget::tokens(u64::MAX)).with_style(Style::Tiers);
        let listing = catalog(count).listing(&policy);
        assert!(listing.shortened.is_empty() && listing.left_out.is_empty());
        let range = around * 3 / 4..=around * 5 / 4;
        assert!(range.contains(&listing.tokens), "{}", listing.tokens);
    }
}
