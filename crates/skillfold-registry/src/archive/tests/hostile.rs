//! No hostile archive is accepted, and every refusal says why.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{Hostile, files, hostile_paths, hostile_tar, hostile_zip};

/// Returns a message without the user's values.
fn template(message: &str) -> String {
    let pieces = message.split('`').enumerate();
    pieces
        .map(|(at, piece)| if at % 2 == 1 { "`…`" } else { piece })
        .collect()
}

#[test]
fn no_hostile_archive_is_accepted_and_every_refusal_says_why() {
    let groups: [(&str, Vec<Hostile>); 4] = [
        ("paths", hostile_paths::all()),
        ("tar", hostile_tar::all()),
        ("zip", hostile_zip::all()),
        ("other formats", hostile_paths::other_formats()),
    ];
    let mut messages: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let (mut accepted, mut distinct) = (Vec::new(), BTreeSet::new());
    for (group, archives) in groups {
        println!("{group}: {} hostile archives", archives.len());
        for (what, archive) in archives {
            let Err(error) = files(&archive) else {
                accepted.push(what);
                continue;
            };
            let message = template(&error.to_string());
            let kind = match error.refusal() {
                Some(refusal) => format!("{refusal}"),
                None => format!("{:?}", error.kind()),
            };
            let lines = format!("{message}\n  {kind}: {}", error.hint());
            messages.entry(group).or_default().insert(lines);
            distinct.insert(archive);
        }
    }
    println!("together: {} different hostile archives", distinct.len());
    assert_eq!(accepted, Vec::<String>::new());
    assert!(distinct.len() >= 500);
    let mut text = String::new();
    for (group, messages) in messages {
        let messages: Vec<String> = messages.into_iter().collect();
        write!(text, "# {group}\n\n{}\n\n", messages.join("\n")).unwrap();
    }
    insta::assert_snapshot!("refusals", text);
}
