//! The files of `docs/formats.md` for skills from sources: one of today is read, and one of the next format is refused by name or left
//! alone.

use std::fs;
use std::time::UNIX_EPOCH;

use skillfold::core::load::Digest;
use skillfold::store::Store;

use crate::command::World;
use crate::formats::{DATA, next, put, text_fixture, world};

/// Returns a project with a source that is wanted and locked, and not installed.
fn project() -> World {
    let world = world();
    fs::remove_dir_all(world.path("app/.agents")).unwrap();
    skillfold_testkit::write_golden_skill(&world.path("app"));
    for name in ["skills.toml", "skills.lock"] {
        put(&world, &format!("app/{name}"), text_fixture(&world, name));
    }
    world
}

/// Returns the name of what is kept about the project's lock.
fn lock_name(world: &World) -> String {
    let lock = world
        .path("app")
        .canonicalize()
        .unwrap()
        .join("skills.lock");
    let digest = Digest::sha256(lock.as_os_str().as_encoded_bytes()).to_string();
    digest["sha256:".len()..][..32].to_owned()
}

/// Returns the next format of a file, with a member that it has before its number.
fn next_with_more(text: &str) -> String {
    format!("a-later-member = []\n{}", next(text))
}

#[test]
fn manifest_lock_and_policy_of_a_newer_format_install_nothing_and_are_kept() {
    let world = project();
    let shown = world.run(&["install", "--frozen"]);
    assert!(shown.ends_with("exit 0\n"), "{shown}");
    for (file, fixture) in [
        ("app/skills.toml", "skills.toml"),
        ("app/skills.lock", "skills.lock"),
        ("app/.skillfold/policy.toml", "policy.toml"),
        ("person/.config/skillfold/policy.toml", "policy.toml"),
    ] {
        let today = text_fixture(&world, fixture);
        put(&world, file, &today);
        let shown = world.run(&["install"]);
        assert!(shown.ends_with("exit 0\n"), "{file}: {shown}");
        let newer = next_with_more(&today);
        put(&world, file, &newer);
        for command in [
            &["install"][..],
            &["install", "--frozen"],
            &["add", "./golden"],
        ] {
            let shown = world.run(command);
            assert!(
                shown.contains("format 2") && shown.contains(fixture),
                "{file} {command:?}: {shown}"
            );
            assert!(!shown.ends_with("exit 0\n"), "{file} {command:?}: {shown}");
            assert_eq!(world.read(file), newer, "{file} {command:?}");
        }
        put(&world, file, today);
    }
}

#[test]
fn interrupted_install_of_a_newer_format_is_named_and_kept() {
    let world = project();
    let file = format!("{DATA}/installing/{}.json", lock_name(&world));
    let today = text_fixture(&world, "installing.json");
    put(&world, &file, &today);
    let shown = world.run(&["install"]);
    assert!(shown.ends_with("exit 0\n"), "{shown}");
    assert!(!world.path(&file).exists());
    put(&world, &file, next(&today));
    let shown = world.run(&["install"]);
    assert!(
        shown.contains("format 2") && shown.contains(&lock_name(&world)),
        "{shown}"
    );
    assert_eq!(world.read(&file), next(&today));
}

#[test]
fn contents_are_kept_if_a_newer_format_says_what_a_lock_needs() {
    let world = project();
    world.run(&["install", "--frozen"]);
    // The versions that the log has are kept too.
    fs::remove_file(world.path(&format!("{DATA}/audit.jsonl"))).unwrap();
    let store = Store::open(&world.path(DATA)).unwrap();
    let file = format!("{DATA}/locks/{}", lock_name(&world));
    let needed = text_fixture(&world, "needed.json");
    put(&world, &file, &needed);
    assert_eq!(store.clean(UNIX_EPOCH).unwrap(), 0);
    let none = needed.replace("sha256:c8", "sha256:00");
    put(&world, &file, next(&none));
    assert_eq!(store.clean(UNIX_EPOCH).unwrap(), 0);
    // Of today's format, it would count.
    put(&world, &file, none);
    assert!(store.clean(UNIX_EPOCH).unwrap() > 0);
}

#[test]
fn last_look_of_a_newer_format_has_a_file_of_its_own() {
    let world = project();
    let file = |number: u32| format!("person/.cache/skillfold/outdated-{number}.json");
    let today = text_fixture(&world, "outdated.json");
    put(&world, &file(1), &today);
    put(&world, &file(2), next(&today));
    let shown = world.run(&["outdated"]);
    assert!(shown.ends_with("exit 0\n"), "{shown}");
    assert!(world.read(&file(1)).contains("skills.lock"));
    assert_eq!(world.read(&file(2)), next(&today));
}
