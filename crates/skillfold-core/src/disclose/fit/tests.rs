//! What a model is told stays within its budget, and what is not told is named.

use proptest::prelude::*;

use super::{DescriptionFit, FittedListing, Layout, ListingDetail, ListingLine, fit};
use crate::disclose::budget::{Budget, Unit, Window};
use crate::disclose::tokens::{TokenCounter, TokenEstimate};

/// A layout with all four parts, which writes on one line what may have many.
struct Tagged;

impl Layout for Tagged {
    fn header(&self) -> &'static str {
        "<skills>\n"
    }

    fn line(&self, id: &str, description: &str) -> String {
        if description.is_empty() {
            return format!("- {id}\n");
        }
        let description = description.replace('\n', " ").replace('<', "&lt;");
        format!("- {id}: {description}\n")
    }

    fn names(&self, ids: &[&str]) -> String {
        format!("more: {}\n", ids.join(", "))
    }

    fn more(&self, count: usize) -> String {
        format!("{count} more: call search_skills\n")
    }

    fn count(&self, count: usize) -> String {
        format!("There are {count} skills\n")
    }

    fn footer(&self) -> &'static str {
        "</skills>\n"
    }
}

const SKILLS: [(&str, &str); 3] = [
    (
        "pdf",
        "Use this skill whenever the user works with documents: fills in forms",
    ),
    (
        "ocr",
        "Use this skill whenever the user works with documents: reads scans",
    ),
    ("greet", "Says hello"),
];

#[track_caller]
fn check(budget: &Budget, detail: ListingDetail, expected: &str) {
    let lines = SKILLS.map(|(id, description)| ListingLine { id, description });
    let fitted = fit(&lines, 0, &Tagged, budget, &TokenEstimate);
    assert_eq!(
        (fitted.detail, fitted.text(&Tagged).as_str()),
        (detail, expected)
    );
}

#[test]
fn listing_that_fits_is_not_shortened() {
    let whole = "<skills>\n\
        - pdf: Use this skill whenever the user works with documents: fills in forms\n\
        - ocr: Use this skill whenever the user works with documents: reads scans\n\
        - greet: Says hello\n\
        </skills>\n";
    let characters = whole.chars().count() as u64;
    check(&Budget::characters(characters), ListingDetail::Whole, whole);
    let fitted = fit(&[], 0, &Tagged, &Budget::tokens(0), &TokenEstimate);
    assert_eq!((fitted.detail, fitted.used), (ListingDetail::Whole, 0));
}

#[test]
fn descriptions_are_cut_evenly_and_siblings_stay_apart() {
    check(
        &Budget::characters(145),
        ListingDetail::Clipped(51),
        "<skills>\n- pdf: …the user works with documents: fills in forms\n\
         - ocr: …the user works with documents: reads scans\n- greet: Says hello\n</skills>\n",
    );
}

#[test]
fn skills_are_dropped_before_descriptions_get_too_short() {
    check(
        &Budget::characters(120),
        ListingDetail::Part,
        "<skills>\n- pdf: …works with documents: fills in forms\nmore: ocr, greet\n</skills>\n",
    );
}

#[test]
fn skills_that_cannot_all_be_named_are_counted() {
    let names: Vec<String> = (0..20).map(|number| format!("number-{number}")).collect();
    let lines: Vec<_> = names
        .iter()
        .map(|id| ListingLine {
            id,
            description: "Counts",
        })
        .collect();
    let fitted = fit(&lines, 0, &Tagged, &Budget::characters(100), &TokenEstimate);
    let expected = "<skills>\n- number-0: Counts\n- number-1: Counts\n18 more: call search_skills\n</skills>\n";
    assert_eq!(fitted.text(&Tagged), expected);
}

#[test]
fn unlisted_skills_are_counted() {
    let lines = [ListingLine {
        id: "greet",
        description: "Says hello",
    }];
    let text = |lines: &[ListingLine<'static>]| {
        let fitted = fit(lines, 5, &Tagged, &Budget::characters(200), &TokenEstimate);
        fitted.text(&Tagged)
    };
    assert_eq!(
        text(&lines),
        "<skills>\n- greet: Says hello\n5 more: call search_skills\n</skills>\n"
    );
    assert_eq!(text(&[]), "There are 5 skills\n");
}

#[test]
fn only_the_count_is_shown_if_nothing_else_fits() {
    check(
        &Budget::characters(28),
        ListingDetail::Count,
        "There are 3 skills\n",
    );
    check(&Budget::characters(18), ListingDetail::Nothing, "");
}

#[test]
fn budget_is_a_share_of_the_context_window() {
    let window = Window::Tokens(128_000);
    assert_eq!(Budget::catalog(window), Budget::tokens(2_560));
    assert_eq!(Budget::bodies(window), Budget::tokens(12_800));
    assert_eq!(Budget::catalog(Window::Unknown), Budget::tokens(1_400));
    assert_eq!(Budget::bodies(Window::Unknown), Budget::tokens(24_000));
    let most = Budget::bodies(Window::Tokens(u64::MAX));
    assert_eq!(most.limit, u64::MAX / 100 * 10);
}

#[test]
fn a_line_costs_about_twenty_tokens() {
    let line = "- **pdf-processing**: Extracts text and tables from PDF files and fills in forms\n";
    assert!((16..=24).contains(&TokenEstimate.count(line)));
}

#[test]
fn long_runs_of_any_character_cost_tokens() {
    for text in ["a", "A", "0", "-", "=", "é", "Ж", "你", "😀", "aA0"] {
        let long = text.repeat(10_000);
        assert!(TokenEstimate.count(&long) >= 500, "{text}");
    }
}

/// Descriptions as they are: many begin alike, some are odd.
fn description() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => "[a-z ,.]{0,80}",
        2 => "Use this skill when [a-z]{1,8} (and|or) [a-z ]{0,60}",
        1 => "将文档[你好世界 ]{0,40}",
        1 => "\\PC{0,60}",
        1 => ".{0,40}\n<[é ]{0,10}",
    ]
}

fn catalog() -> impl Strategy<Value = Vec<(String, String)>> {
    proptest::collection::vec(("[a-z][a-z0-9-]{0,20}", description()), 0..24)
}

fn budget() -> impl Strategy<Value = Budget> {
    (0_u64..2_000, any::<bool>()).prop_map(|(limit, is_tokens)| {
        if is_tokens {
            Budget::tokens(limit / 4)
        } else {
            Budget::characters(limit)
        }
    })
}

fn fitted<'a>(catalog: &'a [(String, String)], budget: &Budget) -> FittedListing<'a> {
    let lines: Vec<ListingLine<'a>> = catalog
        .iter()
        .map(|(id, description)| ListingLine { id, description })
        .collect();
    fit(&lines, 0, &Tagged, budget, &TokenEstimate)
}

/// Returns the text of a catalog of which nothing is missing.
fn everything(catalog: &[(String, String)]) -> String {
    fitted(catalog, &Budget::characters(u64::MAX)).text(&Tagged)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_listing_never_exceeds_its_budget(catalog in catalog(), budget in budget()) {
        let fitted = fitted(&catalog, &budget);
        let measured = budget.measure(&fitted.text(&Tagged), &TokenEstimate);
        prop_assert!(measured <= fitted.used);
        prop_assert!(fitted.used <= budget.limit);
        if budget.unit == Unit::Characters {
            prop_assert_eq!(measured, fitted.used);
        }
    }

    #[test]
    fn every_id_is_shown_or_left_out_in_order(catalog in catalog(), budget in budget()) {
        let fitted = fitted(&catalog, &budget);
        let shown = fitted.lines.iter().map(|line| line.id);
        let told: Vec<&str> = shown.chain(fitted.left_out.iter().copied()).collect();
        let given: Vec<&str> = catalog.iter().map(|(id, _)| id.as_str()).collect();
        prop_assert_eq!(told, given);
        for (line, (_, description)) in fitted.lines.iter().zip(&catalog) {
            prop_assert_eq!(line.fit == DescriptionFit::Whole, line.description == *description);
            let (shown, whole) = (line.description.chars().count(), description.chars().count());
            prop_assert!(shown <= whole);
            prop_assert!(shown > 0 || whole == 0, "no description is dropped");
        }
    }

    #[test]
    fn listing_is_whole_exactly_when_it_fits(catalog in catalog(), budget in budget()) {
        let text = everything(&catalog);
        let fitted = fitted(&catalog, &budget);
        if budget.unit == Unit::Characters {
            let fits = catalog.is_empty() || text.chars().count() as u64 <= budget.limit;
            prop_assert_eq!(fitted.detail == ListingDetail::Whole, fits);
        }
        if fitted.detail == ListingDetail::Whole {
            prop_assert_eq!(fitted.text(&Tagged), text);
        }
    }

    #[test]
    fn fit_is_deterministic(catalog in catalog(), budget in budget()) {
        prop_assert_eq!(fitted(&catalog, &budget), fitted(&catalog, &budget));
    }

    #[test]
    fn a_larger_budget_never_shows_less(catalog in catalog(), budget in budget(), more in 0_u64..400) {
        let smaller = fitted(&catalog, &budget);
        let larger = fitted(&catalog, &Budget { limit: budget.limit + more, ..budget });
        prop_assert!(smaller.detail <= larger.detail);
        let named = |it: &FittedListing<'_>| it.lines.len() + if it.names_left_out { it.left_out.len() } else { 0 };
        prop_assert!(named(&smaller) <= named(&larger));
        for (small, large) in smaller.lines.iter().zip(&larger.lines) {
            prop_assert!(small.fit != DescriptionFit::Whole || large.fit == DescriptionFit::Whole);
        }
    }

    #[test]
    fn token_estimate_is_subadditive_and_monotonic(left in "\\PC{0,20}|[a-zA-Z0-9 .\n-]{0,40}", right in "\\PC{0,20}|[a-zA-Z0-9 .\n-]{0,40}") {
        let whole = TokenEstimate.count(&format!("{left}{right}"));
        prop_assert!(whole <= TokenEstimate.count(&left) + TokenEstimate.count(&right));
        prop_assert!(whole >= TokenEstimate.count(&left));
    }
}
