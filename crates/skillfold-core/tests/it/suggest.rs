//! Skills that a message does not name and is about: given where that is likely, shown where it may be, else not spoken of.

use std::sync::Arc;

use skillfold_core::choose::{Finder, Restraint, Suggestion};
use skillfold_core::disclose::Turn;
use skillfold_core::disclose::{Decision, Fallback, Mode, Style, SuggestionThresholds, Tier};
use skillfold_core::search::{SearchCoverage, SearchIndex};
use skillfold_core::{
    Budget, Catalog, CatalogOptions, ContextLifetime, Entry, LoadOptions, Loader, Matcher,
    MemorySource, Policy, Root, Scope, SessionState,
};
use skillfold_testkit::far_future;

/// Finds the same skills for each message.
struct Fixed(&'static [(&'static str, f32)]);

impl Finder for Fixed {
    fn find(&self, _: &str, limit: usize, _: &dyn Fn(&Entry<'_>) -> bool) -> Vec<Suggestion> {
        let found = self.0.iter().take(limit);
        let suggestion = |(id, confidence): &(&str, f32)| Suggestion::new(*id, *confidence);
        found.map(suggestion).collect()
    }
}

fn skill(name: &str, described: &str, more: &str) -> (String, String) {
    let text = format!("---\nname: {name}\ndescription: {described}\n{more}\n---\nDo {name}.\n");
    (format!("{name}/SKILL.md"), text)
}

fn catalog() -> Catalog {
    let source = MemorySource::new([
        skill("invoices", "Writes invoices for customers", ""),
        skill("letters", "Writes letters to customers on stationery", ""),
        skill("weather", "Tells the weather", "triggers: [forecast]"),
        skill(
            "deploy",
            "Deploys to customers",
            "disable-model-invocation: true",
        ),
    ]);
    let root = Root::new(Scope::User, "mine", source);
    Catalog::discover(vec![root], CatalogOptions::default(), far_future())
}

fn loader() -> Loader {
    Loader::new(LoadOptions::default(), far_future)
}

fn matcher(found: &'static [(&'static str, f32)]) -> Matcher {
    Matcher::new(&catalog()).with_finder(Arc::new(Fixed(found)))
}

fn triggered() -> Policy {
    Policy::triggered().with_style(Style::Bullets)
}

fn say(found: &'static [(&'static str, f32)], policy: &Policy, message: &str) -> Turn {
    let mut session = SessionState::new(ContextLifetime::History);
    session.turn(&matcher(found), &loader(), policy, message)
}

fn decided(turn: &Turn) -> Vec<String> {
    let decided = turn.decisions.iter().map(|decision: &Decision| {
        let (signal, outcome) = (decision.signal.as_str(), decision.outcome.as_str());
        format!("{} {signal} {outcome}", decision.id)
    });
    decided.collect()
}

/// Every kind of white space stands before what is asked for, so that a cut falls beside it.
#[test]
fn wide_whitespace_in_a_description_does_not_break_a_turn() {
    for space in (char::MIN..=char::MAX).filter(|c| c.is_whitespace() && !c.is_control()) {
        let described = format!("\"{}\\u{:04X}pdf\"", "x".repeat(300), u32::from(space));
        let source = MemorySource::new([skill("tool", &described, "")]);
        let root = Root::new(Scope::User, "mine", source);
        let catalog = Catalog::discover(vec![root], CatalogOptions::default(), far_future());
        let kept = catalog
            .resolve_or_suggest("tool")
            .unwrap()
            .manifest()
            .description()
            .to_owned();
        assert!(kept.ends_with(&format!("{space}pdf")), "{kept:?}");
        let matcher = Matcher::new(&catalog).with_finder(Arc::new(Fixed(&[("tool", 0.9)])));
        let mut session = SessionState::new(ContextLifetime::History);
        let turn = session.turn(&matcher, &loader(), &triggered(), "pdf");
        assert_eq!(decided(&turn), ["tool search given"], "{space:?}");
        assert_eq!(&*turn.decisions[0].evidence, "pdf");
    }
}

#[test]
fn most_likely_skill_is_given_if_it_is_alone() {
    let found = &[("invoices", 0.9), ("letters", 0.2), ("weather", 0.1)];
    let turn = say(found, &triggered(), "Bill our customers for May");
    assert_eq!(decided(&turn), ["invoices search given"]);
    assert_eq!(&*turn.decisions[0].evidence, "customers");
    assert_eq!(turn.tier, Tier::Full);
    insta::assert_snapshot!(turn.text.unwrap());
}

#[test]
fn two_skills_that_may_fit_are_named_in_one_line_and_none_is_given() {
    let found = &[("invoices", 0.9), ("letters", 0.4), ("weather", 0.1)];
    let turn = say(found, &triggered(), "Bill our customers for May");
    let both = ["invoices search suggested", "letters search suggested"];
    assert_eq!(decided(&turn), both);
    let reasons = turn
        .decisions
        .iter()
        .filter_map(|one| one.restraint.as_ref());
    let reasons: Vec<_> = reasons.map(Restraint::message).collect();
    assert_eq!(
        reasons,
        ["`letters` fits as well", "`invoices` fits as well"]
    );
    insta::assert_snapshot!(turn.text.unwrap(), @"• `invoices` — or `letters` may fit, call load_skill for the one that does; only `letters` mentions stationery");
}

fn with_exclusions() -> Catalog {
    let source = MemorySource::new([
        skill(
            "forms",
            "Fills in PDF forms. Do not use for scanned pages (use ocr) or spreadsheets.",
            "triggers: [pdf]",
        ),
        skill("ocr", "Reads the text of an image.", ""),
        skill("tables", "Makes tables. Not for charts (use plotter).", ""),
        skill("method", "Use before any task.", ""),
    ]);
    let root = Root::new(Scope::User, "mine", source);
    Catalog::discover(vec![root], CatalogOptions::default(), far_future())
}

/// Returns what becomes of skills that say what they are not for.
fn excluded(found: &'static [(&'static str, f32)], message: &str) -> Vec<String> {
    let matcher = Matcher::new(&with_exclusions()).with_finder(Arc::new(Fixed(found)));
    let mut session = SessionState::new(ContextLifetime::History);
    let turn = session.turn(&matcher, &loader(), &triggered(), message);
    let decided = decided(&turn).into_iter().zip(&turn.decisions);
    let reason = |decision: &Decision| decision.restraint.as_ref().map(Restraint::message);
    decided
        .map(|(what, decision)| format!("{what} {}", reason(decision).unwrap_or_default()))
        .collect()
}

#[test]
fn request_near_an_exclusion_gets_a_line() {
    let chart = excluded(&[("tables", 0.9)], "Draw charts of these tables");
    let says = "tables search suggested near what it is not for: \"Not for charts (use plotter)\"";
    assert_eq!(chart, [says]);
    let table = excluded(&[("tables", 0.9)], "Make tables of these");
    assert_eq!(table, ["tables search given "]);
}

#[test]
fn installed_skill_that_an_exclusion_points_to_is_suggested_instead() {
    let says = "ocr search suggested instead of `forms`, which says: \"Do not use for scanned pages (use ocr) or spreadsheets\"";
    let found = &[("forms", 0.9), ("ocr", 0.4)];
    assert_eq!(excluded(found, "Fill in these scanned pages"), [says]);
    let triggered = says.replace("search", "trigger");
    assert_eq!(excluded(&[], "A pdf with scanned pages"), [triggered]);
}

#[test]
fn name_in_a_clause_is_for_what_stands_before_it() {
    let says = "forms search suggested near what it is not for: \"Do not use for scanned pages (use ocr) or spreadsheets\"";
    let sheets = excluded(&[("forms", 0.9)], "Fill in these spreadsheets");
    assert_eq!(sheets, [says]);
}

#[test]
fn skill_that_a_request_names_is_given_near_an_exclusion_too() {
    let named = excluded(
        &[("forms", 0.9)],
        "Use the `forms` skill on these scanned pages",
    );
    assert_eq!(named, ["forms mention given "]);
}

#[test]
fn skill_that_a_request_says_not_to_use_is_not_spoken_of() {
    let found = &[("forms", 0.9), ("tables", 0.2)];
    for denial in [
        "Do not use the `forms` skill",
        "Sort it without invoking forms",
    ] {
        assert_eq!(excluded(found, denial), [""; 0], "{denial}");
    }
    let other = excluded(found, "Do not use a table; fill in the `forms`");
    assert_eq!(other, ["forms mention given "]);
}

#[test]
fn skill_is_told_once_whichever_way_it_is_found() {
    let found = &[("tables", 0.9), ("ocr", 0.4)];
    let both = excluded(found, "A pdf with scanned pages, and tables of it");
    let ids: Vec<&str> = both
        .iter()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(ids, ["ocr", "tables"], "{both:?}");
}

#[test]
fn words_of_a_denial_end_where_something_else_is_asked_for() {
    let found = &[("forms", 0.9)];
    for request in [
        "Use `forms`; do not call `forms` twice",
        "Do not run this without `forms`",
        "Don't use anything but the `forms` skill",
    ] {
        assert_eq!(
            excluded(found, request),
            ["forms mention given "],
            "{request}"
        );
    }
    assert_eq!(
        excluded(&[("ocr", 0.9)], "Scanned pages, do not use ocr"),
        [""; 0]
    );
    let long = "do not use ".repeat(100_000);
    assert_eq!(excluded(&[], &long), [""; 0]);
}

#[test]
fn skill_for_any_task_is_given_unasked_once_in_a_conversation() {
    let matcher = Matcher::new(&with_exclusions()).with_finder(Arc::new(Fixed(&[("method", 0.9)])));
    let mut session = SessionState::new(ContextLifetime::Transient);
    let mut told = |message: &str| {
        let turn = session.turn(&matcher, &loader(), &triggered(), message);
        decided(&turn)
    };
    assert_eq!(told("Write a parser"), ["method search given"]);
    // What the conversation has is given again while it is new.
    for message in ["Write a printer", "Write a lexer", "Write a linter"] {
        assert_eq!(told(message), ["method earlier given"]);
    }
    assert_eq!(told("Write a compiler"), ["method search suggested"]);
    assert_eq!(told("Use `method`"), ["method mention given"]);
}

#[test]
fn thresholds_decide_what_is_given_or_suggested() {
    let found = &[("invoices", 0.5), ("letters", 0.2)];
    let with = |give_from, show_from| {
        triggered().with_suggestions(Some(
            SuggestionThresholds::default()
                .with_give_from(give_from)
                .with_show_from(show_from),
        ))
    };
    let told = |policy: &Policy| decided(&say(found, policy, "Bill our customers"));
    assert_eq!(told(&with(0.6, 0.4)), ["invoices search suggested"]);
    assert_eq!(told(&with(0.5, 0.4)), ["invoices search given"]);
    assert_eq!(told(&with(0.9, 0.9)), [""; 0]);
    let off = triggered().with_suggestions(None);
    assert_eq!(told(&off), [""; 0]);
}

#[test]
fn unrelated_request_costs_a_breadcrumb_for_skills_without_triggers() {
    let turn = say(&[("invoices", 0.05)], &triggered(), "What is 2+2?");
    assert_eq!(turn.text.as_deref(), Some("[3 skills available]"));
    assert_eq!(turn.tier, Tier::Breadcrumb);
}

#[test]
fn mentioned_skill_is_given_without_search() {
    let found = &[("letters", 0.9)];
    let turn = say(found, &triggered(), "Use the `weather` skill");
    assert_eq!(decided(&turn), ["weather mention given"]);
    let turn = say(found, &triggered(), "The forecast for our customers");
    assert_eq!(
        decided(&turn),
        ["weather trigger given", "letters search given"]
    );
    let turn = say(found, &triggered(), "What can you do?");
    assert_eq!(decided(&turn), [""; 0]);
}

#[test]
fn triggered_skill_is_not_suggested_again() {
    let turn = say(&[("weather", 0.9)], &triggered(), "The forecast, please");
    assert_eq!(decided(&turn), ["weather trigger given"]);
}

#[test]
fn finder_cannot_select_a_hidden_skill() {
    let found = &[("deploy", 0.9), ("nothing", 0.9), ("invoices", 0.9)];
    let turn = say(found, &triggered(), "Deploy to our customers");
    assert_eq!(decided(&turn), ["invoices search given"]);
    let child = SessionState::new(ContextLifetime::History).child(&catalog(), ["letters"]);
    let turn = child
        .unwrap()
        .turn(&matcher(found), &loader(), &triggered(), "Deploy");
    assert_eq!(decided(&turn), [""; 0]);
    assert_eq!(turn.text.as_deref(), Some("[1 skills available]"));
}

#[test]
fn skill_in_a_full_listing_gets_no_suggestion_line() {
    let found = &[("invoices", 0.4), ("letters", 0.3)];
    let told = |catalog_budget| {
        let policy = Policy::hybrid(catalog_budget).with_style(Style::Bullets);
        let mut session = SessionState::new(ContextLifetime::History);
        session.listing(&catalog(), &policy);
        let turn = session.turn(&matcher(found), &loader(), &policy, "Bill our customers");
        (decided(&turn).join(", "), turn.text.is_some())
    };
    assert_eq!(told(Budget::tokens(4_000)), (String::new(), false));
    let both = "invoices search suggested, letters search suggested";
    assert_eq!(told(Budget::tokens(30)), (both.to_owned(), true));
}

#[test]
fn given_skill_is_neither_given_nor_suggested_again() {
    let matcher = matcher(&[("invoices", 0.9)]);
    let mut session = SessionState::new(ContextLifetime::History);
    let mut say = |policy: &Policy| {
        let turn = session.turn(&matcher, &loader(), policy, "Bill our customers");
        decided(&turn).join(", ")
    };
    assert_eq!(say(&triggered()), "invoices search given");
    assert_eq!(say(&triggered()), "invoices search known");
    let careful = triggered().with_suggestions(Some(
        SuggestionThresholds::default()
            .with_give_from(0.95)
            .with_show_from(0.1),
    ));
    assert_eq!(say(&careful), "");
}

#[test]
fn user_is_asked_about_the_most_likely_skills() {
    let policy = triggered().with_fallback(Fallback::AskUser);
    let turn = say(
        &[("weather", 0.1), ("letters", 0.05)],
        &policy,
        "Something for our customers",
    );
    assert_eq!(turn.candidates, ["weather".into(), "letters".into()]);
    let turn = say(&[], &policy, "Hello");
    assert_eq!(turn.candidates.len(), 3);
}

#[test]
fn suggestion_line_does_not_stop_the_fallback() {
    let with = |fallback, found| {
        let policy = triggered().with_fallback(fallback);
        say(found, &policy, "Something for our customers")
    };
    let lists_all = |turn: &Turn| {
        let text = turn.text.as_deref().unwrap_or_default();
        text.contains("[Available Skills]") && text.contains("• `weather` — Tells the weather")
    };
    let unsure = &[("letters", 0.4), ("invoices", 0.3)];
    let none = with(Fallback::None, unsure);
    assert_eq!(decided(&none).len(), 2);
    assert!(!lists_all(&none) && none.candidates.is_empty());
    let all = with(Fallback::ShowAll, unsure);
    assert!(lists_all(&all), "{:?}", all.text);
    let ask = with(Fallback::AskUser, unsure);
    assert_eq!(ask.candidates, ["letters".into(), "invoices".into()]);
    // What is likely enough to be given is a match.
    let sure = &[("letters", 0.9), ("invoices", 0.2)];
    assert!(!lists_all(&with(Fallback::ShowAll, sure)));
    assert!(with(Fallback::AskUser, sure).candidates.is_empty());
}

#[test]
fn mode_without_matching_does_not_search() {
    let policy = triggered().with_mode(Mode::Catalog);
    let turn = say(&[("invoices", 0.9)], &policy, "Bill our customers");
    assert_eq!((decided(&turn).len(), turn.text), (0, None));
}

#[test]
fn why_reports_the_confidence_of_a_skill() {
    let session = SessionState::new(ContextLifetime::History);
    let why = session.why(
        &matcher(&[("invoices", 0.9), ("letters", 0.1)]),
        &loader(),
        &triggered(),
        "Bill our customers",
        &["letters", "weather", "deploy"],
    );
    let why = why.unwrap();
    assert_eq!(decided(&why.turn), ["invoices search given"]);
    assert!(why.details[0].tokens.is_some());
    let absent = why.unmatched.iter().map(|one| {
        let confidence = one.confidence.map(|confidence| confidence.to_string());
        let confidence = confidence.unwrap_or_default();
        format!("{} {} {confidence}", one.id, one.reason.as_str())
    });
    let absent: Vec<String> = absent.collect();
    assert_eq!(
        absent,
        [
            "letters unlikely 0.1",
            "weather unlikely ",
            "deploy person_only "
        ]
    );
}

#[test]
fn matcher_can_search_an_in_memory_index() {
    let catalog = catalog();
    let index = SearchIndex::new(&catalog, SearchCoverage::Bodies);
    let found = index.find("Write invoices", 10, &|entry| entry.id() != "letters");
    let ids: Vec<&str> = found.iter().map(|one| &*one.id).collect();
    assert_eq!(ids, ["invoices"]);
    assert!(found[0].confidence > 0.0 && found[0].confidence < 1.0);
}
