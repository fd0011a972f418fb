//! The library passes the cases that every frontend passes.

use std::path::Path;

use serde_json::Value;
use skillfold::core::catalog::Filter;
use skillfold::core::source::Cursor;
use skillfold::core::{ContextLifetime, Envelope, Error, Limits};
use skillfold::view::{
    Check, Doctor, Document, EvaluationView, Failure, FileListing, FilePart, InstructionsView,
    Prompt, SearchView, SettingsView, SkillList, SkillView, StatsView, Why,
};
use skillfold::{Environment, Host, Skills, author::CheckTarget, reports::PeriodLength};
use skillfold_testkit::disagreements;

#[test]
fn every_conformance_case_passes() {
    let wrong = disagreements(|request, input| answer(request, input).to_json());
    if is_accepting() {
        for one in &wrong {
            one.case.accept(&one.answer);
        }
    } else {
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a person asks for new answers by a variable"
)]
fn is_accepting() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

fn answer(request: &Value, input: &Path) -> Document {
    let mut host = Host::new(Environment::new(input).home(input.join("person")));
    for (key, value) in request["settings"].as_object().into_iter().flatten() {
        host = host.set(key, value.as_str().unwrap());
    }
    let skills = host.discover_lenient().skills;
    let argument = |name: &str| request["arguments"][name].as_str();
    match request["call"].as_str().unwrap() {
        "list" => Document::Skills(list(&skills, request)),
        "show" => {
            let id = argument("id").unwrap();
            let catalog = skills.catalog();
            let entry = catalog.resolve_or_suggest(id);
            or_failure(entry.map(|entry| Document::Skill(Box::new(SkillView::new(&entry)))))
        }
        "load" => load(&skills, request),
        "files" => files(&skills, request),
        "read" => read(&skills, request),
        "prompt" => prompt(&skills, argument("request").unwrap()),
        "why" => why(&skills, request),
        "search" => {
            let request = argument("request").unwrap();
            Document::Search(SearchView::new(request, &skills.search(request, 10)))
        }
        "check" => {
            let profile = skills.report().settings.profile.value;
            let targets = CheckTarget::all_in(&skills.catalog());
            let check = |target: &CheckTarget| target.check(profile, &Limits::default()).unwrap();
            let checked: Vec<_> = targets.iter().map(check).collect();
            Document::Check(Check::new(&checked))
        }
        "test" => {
            let ids = argument("id");
            let policy = skills.report().settings.policy();
            let evaluation = skills.evaluate(ids.as_slice(), &policy);
            or_failure(evaluation.map(|one| Document::Evaluation(EvaluationView::new(&one))))
        }
        "stats" => Document::Stats(stats(input, request)),
        "doctor" => Document::Doctor(Doctor::new(&skills)),
        "settings" => Document::Settings(SettingsView::new(&skills.report().settings)),
        call => panic!("no such call: {call}"),
    }
}

/// Returns the answer, or why there is none.
fn or_failure(answer: Result<Document, Error>) -> Document {
    answer.unwrap_or_else(|error| Document::Error(Failure::new(&error)))
}

fn load(skills: &Skills, request: &Value) -> Document {
    let argument = |name: &str| request["arguments"][name].as_str();
    let envelope: Envelope = argument("envelope").unwrap_or("plain").parse().unwrap();
    let arguments = argument("arguments").unwrap_or_default();
    let loaded = skills
        .for_user()
        .render(argument("id").unwrap(), arguments, envelope);
    or_failure(
        loaded.map(|loaded| Document::Instructions(InstructionsView::new(&loaded, envelope))),
    )
}

fn files(skills: &Skills, request: &Value) -> Document {
    let argument = |name: &str| request["arguments"][name].as_str();
    let (id, catalog) = (argument("id").unwrap(), skills.catalog());
    let cursor = argument("cursor").map(Cursor::after);
    let limit = request["arguments"]["limit"].as_u64().unwrap_or(1_000);
    let page = skills
        .for_user()
        .files(id, cursor.as_ref(), usize::try_from(limit).unwrap());
    or_failure(page.map(|page| {
        Document::Files(FileListing::new(
            &catalog.resolve_or_suggest(id).unwrap(),
            &page,
        ))
    }))
}

fn read(skills: &Skills, request: &Value) -> Document {
    let argument = |name: &str| request["arguments"][name].as_str();
    let (id, catalog) = (argument("id").unwrap(), skills.catalog());
    let range = argument("range").unwrap_or("..");
    let (start, end) = range.split_once("..").unwrap();
    let range = start.parse().unwrap_or(0)..end.parse().unwrap_or(u64::MAX);
    let content = skills
        .for_user()
        .read_range(id, argument("path").unwrap(), range);
    or_failure(content.map(|content| {
        Document::File(FilePart::new(
            &catalog.resolve_or_suggest(id).unwrap(),
            &content,
        ))
    }))
}

fn prompt(skills: &Skills, message: &str) -> Document {
    let mut session = skills.session(skills.report().settings.policy(), ContextLifetime::History);
    let (listing, plain) = (session.listing(), session.plain_list_tokens());
    let turn = session.turn(message);
    let prompt = Prompt::new(message, session.policy(), &listing, &turn, plain);
    Document::Prompt(Box::new(prompt))
}

fn why(skills: &Skills, request: &Value) -> Document {
    let argument = |name: &str| request["arguments"][name].as_str();
    let mut session = skills.session(skills.report().settings.policy(), ContextLifetime::History);
    let (message, ids) = (argument("request").unwrap(), argument("skill"));
    session.listing();
    let explanation = session.why(message, ids.as_slice());
    or_failure(explanation.map(|explanation| {
        let why = Why::new(message, session.policy(), &explanation);
        Document::Why(Box::new(why))
    }))
}

#[expect(clippy::disallowed_methods, reason = "the log is a file of the case")]
fn stats(input: &Path, request: &Value) -> StatsView {
    let file = request["arguments"]["file"].as_str().unwrap();
    let log = std::fs::read(input.join(file)).unwrap();
    let every = request["arguments"]["every"].as_u64();
    let every = every.map_or(PeriodLength::Day, |every| {
        PeriodLength::Outcomes(every.try_into().unwrap())
    });
    StatsView::new(
        skillfold::reports::Stats::read(&*log, every).unwrap(),
        every,
    )
}

fn list(skills: &Skills, request: &Value) -> SkillList {
    let argument = |name: &str| request["arguments"][name].as_str();
    let mut filter = Filter::default();
    if let Some(scope) = argument("scope") {
        filter = filter.scope(scope.parse().unwrap());
    }
    if let Some(pattern) = argument("name") {
        filter = filter.name(pattern).unwrap();
    }
    if let Some(words) = argument("words") {
        filter = filter.words(words);
    }
    if let Some(tag) = argument("tag") {
        filter = filter.tag(tag);
    }
    if let Some(query) = argument("query") {
        filter = filter.query(query);
    }
    let cursor = argument("cursor").map(Cursor::after);
    let limit = request["arguments"]["limit"].as_u64().unwrap_or(1_000);
    let catalog = skills.catalog();
    let page = catalog.page(&filter, cursor.as_ref(), usize::try_from(limit).unwrap());
    let listing = SkillList::new(&page);
    if request["arguments"].is_null() {
        listing.with_refused(&catalog)
    } else {
        listing
    }
}
