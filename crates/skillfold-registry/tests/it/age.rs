//! Versions must have an age.

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use skillfold_registry::{Address, Fetcher, Pin, Resolved, SourcePolicy};

use crate::world::{TODAY, World};

const DAY: u64 = 24 * 60 * 60;

impl World {
    /// Makes a commit and a tag that say that they are of a day.
    fn release(&self, tag: &str, day: u64) {
        self.write("SKILL.md", tag);
        self.git(&["add", "."]);
        self.git_on(&["commit", "--quiet", "--message", tag], day, b"");
        self.git(&["tag", tag]);
    }

    /// Resolves a version on a day, under a policy of seven days.
    fn resolved(&self, version: &str, day: u64, locked: &Pin) -> Resolved {
        self.resolved_from(&self.address(version), day, locked)
    }

    fn resolved_from(&self, address: &Address, day: u64, locked: &Pin) -> Resolved {
        let mut options = self.options();
        options.policy =
            SourcePolicy::parse("policy.toml", "format = 1\nminimum-age = '7 days'").unwrap();
        options.now = UNIX_EPOCH + Duration::from_secs(day * DAY);
        Fetcher::new(options)
            .resolve_after(address, locked)
            .unwrap()
    }

    fn resolve(&self, version: &str, day: u64) -> String {
        shown(&self.resolved(version, day, &Pin::default()))
    }
}

fn shown(resolved: &Resolved) -> String {
    let tag = |pin: &Pin| pin.tag.clone().unwrap_or_else(|| "commit".to_owned());
    let held = resolved.held_back().map(|held| {
        let commit = held.pin.commit.as_ref().unwrap()[..12].to_owned();
        let error = held.error().to_string().replace(&commit, "ID");
        error.replace(&*Path::new(&held.source).to_string_lossy(), "SOURCE")
    });
    let pin = resolved.pin().map_or_else(|| "none".to_owned(), tag);
    format!("{pin}; {}", held.unwrap_or_default())
}

#[test]
fn range_is_the_newest_tag_that_is_old_enough() {
    let world = World::new();
    world.release("v1.0.0", TODAY - 30);
    world.release("v1.1.0", TODAY - 8);
    world.release("v1.2.0", TODAY - 2);
    insta::assert_snapshot!(world.resolve("^1.0", TODAY), @"v1.1.0; v1.2.0 (ID) of `SOURCE` is 2 days old, and may be used from 2024-10-09 on: `minimum-age` is 7 days (policy.toml:2)");
    insta::assert_snapshot!(world.resolve("v1.2.0", TODAY), @"none; v1.2.0 (ID) of `SOURCE` is 2 days old, and may be used from 2024-10-09 on: `minimum-age` is 7 days (policy.toml:2)");
    insta::assert_snapshot!(world.resolve("main", TODAY), @"none; ID of `SOURCE` is 2 days old, and may be used from 2024-10-09 on: `minimum-age` is 7 days (policy.toml:2)");
    insta::assert_snapshot!(world.resolve("^1.0", TODAY + 5), @"v1.2.0;");
}

#[test]
fn commit_that_appears_later_is_as_old_as_its_appearance_whatever_it_says() {
    let world = World::new();
    world.release("v1.0.0", TODAY - 30);
    insta::assert_snapshot!(world.resolve("^1.0", TODAY), @"v1.0.0;");
    world.release("v1.1.0", TODAY - 20);
    insta::assert_snapshot!(world.resolve("^1.0", TODAY + 1), @"v1.0.0; v1.1.0 (ID) of `SOURCE` is 0 hours old, and may be used from 2024-10-12 on: `minimum-age` is 7 days (policy.toml:2)");
    insta::assert_snapshot!(world.resolve("^1.0", TODAY + 7), @"v1.0.0; v1.1.0 (ID) of `SOURCE` is 6 days old, and may be used from 2024-10-12 on: `minimum-age` is 7 days (policy.toml:2)");
    insta::assert_snapshot!(world.resolve("^1.0", TODAY + 8), @"v1.1.0;");
}

#[test]
fn commit_that_no_branch_or_tag_has_is_as_old_as_this_machine_has_known_it() {
    let world = World::new();
    world.release("v1.0.0", TODAY - 30);
    world.resolve("^1.0", TODAY);
    world.git(&["checkout", "--quiet", "--detach"]);
    world.release("hidden", TODAY - 20);
    let commit = world.git(&["rev-parse", "HEAD"]);
    world.git(&["tag", "--delete", "hidden"]);
    insta::assert_snapshot!(world.resolve(&commit, TODAY + 1), @"none; ID of `SOURCE` is 0 hours old, and may be used from 2024-10-12 on: `minimum-age` is 7 days (policy.toml:2)");
    insta::assert_snapshot!(world.resolve(&commit, TODAY + 7), @"none; ID of `SOURCE` is 6 days old, and may be used from 2024-10-12 on: `minimum-age` is 7 days (policy.toml:2)");
    insta::assert_snapshot!(world.resolve(&commit, TODAY + 8), @"commit;");
}

#[cfg(unix)]
#[test]
fn source_that_is_typed_in_another_way_is_no_first_look() {
    let world = World::new();
    world.release("v1.0.0", TODAY - 30);
    world.resolve("^1.0", TODAY);
    world.release("v1.1.0", TODAY - 20);
    // Git opens the second one for the first one too.
    std::os::unix::fs::symlink(world.repository(), world.path("repository.git")).unwrap();
    let address = Address::parse(&format!("{}.git@^1.0", world.source())).unwrap();
    let resolved = world.resolved_from(&address, TODAY + 1, &Pin::default());
    assert_eq!(resolved.pin().unwrap().tag.as_deref(), Some("v1.0.0"));
}

#[test]
fn clock_that_goes_back_makes_no_version_older() {
    let world = World::new();
    world.release("v1.0.0", TODAY + 100);
    insta::assert_snapshot!(world.resolve("^1.0", TODAY), @"none; v1.0.0 (ID) of `SOURCE` is 0 hours old, and may be used from 2025-01-19 on: `minimum-age` is 7 days (policy.toml:2)");
}

#[test]
fn locked_version_is_not_replaced_by_an_older_one() {
    let world = World::new();
    world.release("v1.0.0", TODAY - 30);
    world.release("v1.1.0", TODAY - 2);
    let locked = world.resolved("v1.1.0", TODAY, &Pin::default());
    let locked = locked.held_back().unwrap().pin.clone();
    insta::assert_snapshot!(shown(&world.resolved("^1.0", TODAY, &locked)), @"v1.1.0;");
    world.release("v1.2.0", TODAY - 1);
    insta::assert_snapshot!(shown(&world.resolved("^1.0", TODAY, &locked)), @"v1.1.0; v1.2.0 (ID) of `SOURCE` is 0 hours old, and may be used from 2024-10-11 on: `minimum-age` is 7 days (policy.toml:2)");
}

#[test]
fn record_that_was_torn_makes_versions_younger() {
    let world = World::new();
    world.release("v1.0.0", TODAY - 30);
    world.resolve("^1.0", TODAY);
    let seen = fs::read_dir(world.path("cache/seen")).unwrap();
    let file = seen.last().unwrap().unwrap().path();
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, &text[..text.len() - 10]).unwrap();
    insta::assert_snapshot!(world.resolve("^1.0", TODAY + 1), @"none; v1.0.0 (ID) of `SOURCE` is 0 hours old, and may be used from 2024-10-12 on: `minimum-age` is 7 days (policy.toml:2)");
}

#[test]
fn lines_that_a_later_version_added_are_kept() {
    let world = World::new();
    world.release("v1.0.0", TODAY - 30);
    world.resolve("^1.0", TODAY);
    let seen = fs::read_dir(world.path("cache/seen")).unwrap();
    let file = seen.last().unwrap().unwrap().path();
    let commit = world.git(&["rev-parse", "HEAD"]);
    let today = include_str!("../formats/seen.txt");
    let today = today.replace("0123456789abcdef0123456789abcdef01234567", commit.trim());
    let later = format!("{today}a later line\n");
    fs::write(&file, &later).unwrap();
    insta::assert_snapshot!(world.resolve("^1.0", TODAY + 6), @"none; v1.0.0 (ID) of `SOURCE` is 6 days old, and may be used from 2024-10-11 on: `minimum-age` is 7 days (policy.toml:2)");
    world.release("v1.1.0", TODAY - 20);
    insta::assert_snapshot!(world.resolve("^1.0", TODAY + 8), @"v1.0.0; v1.1.0 (ID) of `SOURCE` is 0 hours old, and may be used from 2024-10-19 on: `minimum-age` is 7 days (policy.toml:2)");
    assert!(fs::read_to_string(&file).unwrap().starts_with(&later));
}
