//! Skills that compete are found by their own words.

use std::fmt::Write as _;

use skillfold::core::MemorySource;
use skillfold::{
    Environment, Host, Skills,
    reports::{Overlaps, Rival},
};

/// Finds the skills of a text: a line `name: description`, with triggers after ` | ` and instructions after ` > `.
fn skills(text: &str) -> Skills {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let files = lines.map(|line| {
        let (line, body) = line.split_once(" > ").unwrap_or((line, "Do it."));
        let (line, triggers) = line.split_once(" | ").unwrap_or((line, ""));
        let (name, description) = line.split_once(": ").unwrap();
        let text = format!(
            "---\nname: {name}\ndescription: {description}\ntriggers: [{triggers}]\n---\n{body}\n"
        );
        (format!("{name}/SKILL.md"), text)
    });
    let host = Host::new(Environment::new("/nowhere"));
    let host = host.set("disable", "off");
    host.bundled("text", MemorySource::new(files))
        .discover()
        .unwrap()
        .skills
}

fn check(text: &str, ids: &[&str]) -> String {
    show(&skills(text).overlaps(ids, 10).unwrap())
}

fn show(overlaps: &Overlaps) -> String {
    let mut shown = String::new();
    for copies in &overlaps.copies {
        let ids = copies.ids.join(" = ");
        writeln!(
            shown,
            "{ids}, same instructions: {}",
            copies.same_instructions
        )
        .unwrap();
    }
    for pair in &overlaps.pairs {
        let [one, other] = &pair.ids;
        let [rival, back] = pair.rivals.map(Rival::as_str);
        let (words, triggers) = (pair.words.join(" "), pair.triggers.join(", "));
        writeln!(
            shown,
            "{one} ~ {other}: {rival}, {back}, tied: {}; words: {words}; triggers: {triggers}",
            pair.is_tied
        )
        .unwrap();
        for request in pair.requests.iter().flatten() {
            writeln!(shown, "    {request}").unwrap();
        }
    }
    for crowded in &overlaps.crowded {
        writeln!(shown, "{} have `{}`", crowded.skills, crowded.trigger).unwrap();
    }
    let (compared, competing) = (overlaps.compared, overlaps.competing);
    writeln!(shown, "{compared} compared, {competing} compete").unwrap();
    shown
}

const OFFICE: &str = "
    filler: Fills in PDF forms. Not for letters.
    pdf-forms: Fills in PDF forms and checks each field of the form.
    mail: Writes and sorts mail. | send a mail, Inbox
    letters: Prints paper letters for the post office. | inbox
    weather: Tells how warm it will be tomorrow.
";

#[test]
fn overlapping_pairs_are_found_by_words_and_triggers() {
    insta::assert_snapshot!(check(OFFICE, &[]), @"
    filler ~ pdf-forms: ahead, behind, tied: false; words: forms pdf fills; triggers: 
        Fills in PDF forms.
    letters ~ mail: behind, behind, tied: false; words: inbox; triggers: inbox
    5 compared, 2 compete
    ");
}

#[test]
fn only_overlaps_of_the_named_skills_are_returned() {
    insta::assert_snapshot!(check(OFFICE, &["mail"]), @"
    mail ~ letters: behind, behind, tied: false; words: inbox; triggers: inbox
    5 compared, 1 compete
    ");
    let error = skills(OFFICE).overlaps(&["mial"], 10).unwrap_err();
    assert_eq!(error.nearest(), ["mail".into()]);
}

#[test]
fn copies_form_one_group_instead_of_pairs() {
    let mut text = OFFICE.to_owned();
    for number in 0..30 {
        writeln!(text, "copy-{number:02}: Draws a map of the stars.").unwrap();
    }
    text += "twin-a: Bakes bread. > Knead it.\ntwin-b: Bakes  bread. > Let it rise.\n";
    insta::assert_snapshot!(check(&text, &["twin-a", "copy-29"]), @"
    copy-00 = copy-01 = copy-02 = copy-03 = copy-04 = copy-05 = copy-06 = copy-07 = copy-08 = copy-09 = copy-10 = copy-11 = copy-12 = copy-13 = copy-14 = copy-15 = copy-16 = copy-17 = copy-18 = copy-19 = copy-20 = copy-21 = copy-22 = copy-23 = copy-24 = copy-25 = copy-26 = copy-27 = copy-28 = copy-29, same instructions: true
    twin-a = twin-b, same instructions: false
    37 compared, 0 compete
    ");
}

#[test]
fn hidden_skills_do_not_compete_unless_named() {
    let text = "
        pdf-form-fields: Fills in PDF forms and checks each field of the form.
        off: Fills in PDF forms, field by field.
    ";
    insta::assert_snapshot!(check(text, &[]), @"1 compared, 0 compete");
    insta::assert_snapshot!(check(text, &["off"]), @"
    off ~ pdf-form-fields: ahead, behind, tied: false; words: field forms pdf fills; triggers: 
        Fills in PDF forms, field by field.
    2 compared, 1 compete
    ");
}

#[test]
fn trigger_shared_by_many_skills_is_reported_once() {
    let topics = [
        "bread", "maps", "taxes", "music", "chess", "plants", "trains", "fonts", "paint", "rivers",
        "shoes", "clocks",
    ];
    let lines = topics.map(|topic| format!("{topic}: Knows {topic}. | help me\n"));
    insta::assert_snapshot!(check(&lines.concat(), &[]), @"
    12 have `help me`
    12 compared, 0 compete
    ");
}

#[test]
fn limit_truncates_pairs_but_not_their_count() {
    let skills = skills(OFFICE);
    let (all, one) = (
        skills.overlaps(&[], 10).unwrap(),
        skills.overlaps(&[], 1).unwrap(),
    );
    assert_eq!((one.pairs.len(), one.competing), (1, all.competing));
    assert!(all.competing > 1);
}

#[test]
fn result_does_not_depend_on_file_order() {
    let mut lines: Vec<&str> = OFFICE.lines().collect();
    let forward = check(&lines.join("\n"), &[]);
    lines.reverse();
    assert_eq!(forward, check(&lines.join("\n"), &[]));
}
