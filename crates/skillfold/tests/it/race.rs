//! Whoever swaps folders and files for links while a host loads and reads gets nothing for it.
#![cfg(any(target_os = "linux", target_vendor = "apple"))]

use skillfold::core::{Envelope, FsSource, Root, Scope};
use skillfold::{Environment, Host, Skills};
use skillfold_testkit::{Arena, RaceOutcome, SECRET, expect_no_leak};

/// Swaps that a skill may meet: what is swapped for a link, and where that leads.
const SWAPS: [(&str, &str); 3] = [
    ("root/pdf/inner", "outside/inner"),
    ("root/pdf", "outside/skill"),
    ("root/pdf/SKILL.md", "outside/skill/SKILL.md"),
];

fn skills(arena: &Arena) -> Skills {
    let source = FsSource::open(arena.at("root")).unwrap();
    Host::new(Environment::new("/nowhere"))
        .set("default_roots", "false")
        .root(Root::new(Scope::User, "arena", source))
        .discover()
        .unwrap()
        .skills
}

fn race(name: &str, swaps: &[(&str, &str)], call: impl Fn(&Skills) -> RaceOutcome) {
    for (swapped, outside) in swaps {
        let arena = Arena::new();
        let skills = skills(&arena);
        let counts = arena.swap(swapped, outside).race(|| call(&skills));
        expect_no_leak(&format!("{name}, {swapped} swapped for {outside}"), counts);
    }
}

#[test]
fn load_leaks_nothing_from_outside() {
    race("load", &SWAPS[1..], |skills| {
        RaceOutcome::from_result(
            skills
                .load("pdf", "")
                .map(|loaded| loaded.text().to_owned()),
        )
    });
}

#[test]
fn rendered_load_names_nothing_from_outside() {
    race("render", &SWAPS[1..2], |skills| {
        RaceOutcome::from_result(
            skills
                .render("pdf", "", Envelope::SkillContext)
                .map(|loaded| loaded.text),
        )
    });
}

#[test]
fn read_leaks_nothing_from_outside() {
    race("read", &SWAPS[..2], |skills| {
        let read = skills.read("pdf", "inner/file.txt");
        RaceOutcome::from_result(read.map(|content| content.bytes().to_vec()))
    });
}

#[test]
fn files_name_nothing_from_outside() {
    race("files", &SWAPS[1..2], |skills| {
        let page = skills.files("pdf", None, 100);
        RaceOutcome::from_result(page.map(|page| {
            let names = page.files.iter().map(|file| file.path.to_string());
            // The folder's own names are outside too; only one of its own tells.
            names
                .filter(|name| name.contains(SECRET))
                .collect::<String>()
        }))
    });
}
