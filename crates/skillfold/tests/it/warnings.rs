//! What a program should know after discovery comes with the skills.

use skillfold::Discovered;
use skillfold::core::MemorySource;

use crate::world::{World, tree};

fn warnings(discovered: &Discovered) -> String {
    let lines = discovered
        .warnings
        .iter()
        .map(|warning| format!("{warning}\n"));
    lines.collect()
}

#[test]
fn untrusted_project_and_broken_bundled_skill_are_warnings() {
    let world = World::new(&tree(&["person/app/.agents/skills/a"]));
    let bundled = MemorySource::new([
        ("good/SKILL.md", "---\nname: good\ndescription: Does\n---\n"),
        ("broken/SKILL.md", "\0 is not text\n"),
    ]);
    let host = world.host().bundled("built in", bundled);
    let discovered = host.clone().discover().unwrap();
    insta::assert_snapshot!(warnings(&discovered), @"
    1 skill is withheld: the project is not trusted (Trust it with `skillfold trust`, or with the setting `trust_project`)
    Bundled `broken/SKILL.md`: File is not encoded as UTF-8 (Save the file as UTF-8)
    ");
    let trusted = host.set("trust_project", "true").discover().unwrap();
    assert_eq!(trusted.warnings, discovered.warnings[1..]);
}

#[test]
fn missing_root_and_ignored_setting_are_warnings() {
    let world = World::new("//- person/app/.skillfold/config.toml\nmax_depth = 3\n");
    let host = world.host().add("roots", "/nowhere/at all");
    let discovered = host.discover().unwrap();
    insta::assert_snapshot!(world.shown(&warnings(&discovered)), @"
    /nowhere/at all: Root does not exist: `/nowhere/at all` (Create the folder, or correct the path)
    /person/app/.skillfold/config.toml:1: A project may not set `max_depth` (Make the setting in your own file)
    ");
}

#[test]
fn no_warnings_if_everything_is_fine() {
    let world = World::new(&tree(&["person/.agents/skills/a"]));
    assert_eq!(world.host().discover().unwrap().warnings, []);
}
