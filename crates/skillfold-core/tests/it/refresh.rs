//! A refresh reads what changed and nothing else, and never keeps what is stale.

use proptest::prelude::*;
use skillfold_core::catalog::{Changes, Toggle, Trust};
use skillfold_core::source::Stability;
use skillfold_core::{Catalog, CatalogOptions, ErrorKind, FsSource, Root, Scope, Source};
use skillfold_testkit::{far_future, files, folder, write};

use crate::fake_source::{FakeSource, File, FileRevision, NOW, SECOND, at};

fn fake(skills: &[&str]) -> FakeSource {
    let fake = FakeSource::default();
    for skill in skills {
        fake.put(skill, File::new(skill, "old"));
    }
    fake
}

fn description<'a>(catalog: &'a Catalog, id: &str) -> &'a str {
    catalog.get(id).unwrap().manifest().description()
}

fn shown(changes: &Changes) -> String {
    let line = |word: &str, ids: &[Box<str>]| match ids {
        [] => String::new(),
        ids => format!("{word} {}\n", ids.join(" ")),
    };
    line("added", &changes.added)
        + &line("removed", &changes.removed)
        + &line("changed", &changes.changed)
        + &line("refused", &changes.refused)
        + &line("cleared", &changes.cleared)
}

#[test]
fn refresh_reads_nothing_if_nothing_changed() {
    let fake = fake(&["a", "b", "c"]);
    let old = fake.discover(NOW);
    assert_eq!(fake.reads(), 3);
    let new = fake.refresh(&old, NOW + SECOND);
    assert!(new.changes.is_empty());
    assert_eq!(fake.reads(), 0);
    assert_eq!(new.catalog.get("a"), old.get("a"), "the snapshot is shared");
}

#[test]
fn refresh_reads_and_reports_only_changed_skills() {
    let fake = fake(&["a", "b", "c", "d"]);
    let old = fake.discover(NOW);
    fake.reads();
    fake.put("b", File::new("b", "new and longer"));
    fake.put("b2", File::new("b2", "added"));
    fake.remove("c");
    let mut broken = File::new("d", "x");
    broken.text = "\0 is not text".to_owned();
    fake.put("d", broken.with(|revision| revision.size = 14));
    let new = fake.refresh(&old, NOW + SECOND);
    assert_eq!(fake.reads(), 3);
    insta::assert_snapshot!(shown(&new.changes), @"
    added b2
    removed c d
    changed b
    refused d
    ");
    assert_eq!(description(&new.catalog, "b"), "new and longer");
    assert_eq!(
        description(&old, "b"),
        "old",
        "the old snapshot stays as it was"
    );
    // What was refused is not read again either.
    assert!(
        fake.refresh(&new.catalog, NOW + 2 * SECOND)
            .changes
            .is_empty()
    );
    assert_eq!(fake.reads(), 0);
}

/// Replaces the text of a skill under a revision that differs from the old as `change` says; the new text must be seen.
fn check_is_seen(change: impl FnOnce(&mut FileRevision)) {
    let fake = fake(&["a", "b"]);
    let old = fake.discover(NOW);
    fake.reads();
    fake.put("a", File::new("a", "new").with(change));
    let new = fake.refresh(&old, NOW + 60 * SECOND);
    assert_eq!(description(&new.catalog, "a"), "new");
    assert_eq!(shown(&new.changes), "changed a\n");
    assert_eq!(fake.reads(), 1);
}

#[test]
fn same_size_and_same_mtime_do_not_hide_a_change() {
    check_is_seen(|revision| revision.changed_ns += SECOND);
}

#[test]
fn restored_older_mtime_does_not_hide_a_change() {
    check_is_seen(|revision| {
        revision.modified_ns -= 3_600 * SECOND;
        revision.changed_ns += 5 * SECOND;
    });
}

#[test]
fn older_mtime_alone_does_not_hide_a_change() {
    check_is_seen(|revision| revision.modified_ns -= 3_600 * SECOND);
}

#[test]
fn replaced_inode_does_not_hide_a_change() {
    check_is_seen(|revision| revision.inode += 1);
}

#[test]
fn another_device_does_not_hide_a_change() {
    check_is_seen(|revision| revision.device += 1);
}

#[test]
fn change_between_listing_and_reading_keeps_the_revision_that_was_read() {
    let fake = fake(&["a"]);
    // The first look lists the old file and reads the new one.
    let new_file = File::new("a", "new").with(|revision| revision.inode += 1);
    fake.0.lock().unwrap().between = Some(("a".to_owned(), new_file));
    let old = fake.discover(NOW);
    assert_eq!(description(&old, "a"), "new");
    fake.reads();
    assert!(fake.refresh(&old, NOW + SECOND).changes.is_empty());
    assert_eq!(
        fake.reads(),
        0,
        "the revision that is kept is the one that was read"
    );
    // The old file comes back under its old revision.
    fake.put("a", File::new("a", "old"));
    let back = fake.refresh(&old, NOW + 2 * SECOND);
    assert_eq!(description(&back.catalog, "a"), "old");
}

#[test]
fn unsettled_revision_is_compared_by_content() {
    let fake = FakeSource::default();
    let recent = |description: &str| {
        File::new("a", description).with(|revision| revision.modified_ns = NOW - SECOND)
    };
    fake.put("a", recent("old"));
    fake.put("b", File::new("b", "old"));
    let old = fake.discover(NOW);
    fake.reads();
    // A second write within the tick of the clock: nothing of the revision differs.
    fake.put("a", recent("new"));
    let new = fake.refresh(&old, NOW + SECOND);
    assert_eq!(description(&new.catalog, "a"), "new");
    assert_eq!(shown(&new.changes), "changed a\n");
    assert_eq!(fake.reads(), 1);
    // At the second look it was still too fresh, at the third it is not, and from then on it is trusted.
    let later = fake.refresh(&new.catalog, NOW + 10 * SECOND);
    assert!(later.changes.is_empty());
    assert_eq!(fake.reads(), 0, "two seconds had passed at the second look");
}

#[test]
fn unsettled_revision_is_read_until_it_settles() {
    let fake = FakeSource::default();
    fake.put(
        "a",
        File::new("a", "old").with(|revision| revision.changed_ns = NOW),
    );
    let mut catalog = fake.discover(NOW);
    let mut reads = Vec::new();
    for seconds in 0..5 {
        fake.reads();
        let new = fake.refresh(&catalog, NOW + seconds * SECOND);
        assert!(new.changes.is_empty(), "equal content is no change");
        catalog = new.catalog;
        reads.push(fake.reads());
    }
    assert_eq!(reads, [1, 1, 1, 0, 0]);
}

#[test]
fn file_from_the_future_is_always_compared() {
    let fake = FakeSource::default();
    fake.put(
        "a",
        File::new("a", "old").with(|revision| revision.modified_ns = i64::MAX),
    );
    let old = fake.discover(NOW);
    fake.put(
        "a",
        File::new("a", "new").with(|revision| revision.modified_ns = i64::MAX),
    );
    let new = fake.refresh(&old, NOW + 60 * SECOND);
    assert_eq!(description(&new.catalog, "a"), "new");
}

#[test]
fn file_changed_during_a_read_is_read_again() {
    let fake = FakeSource::default();
    let mut torn = File::new("a", "half");
    torn.steadiness = Stability::Changing;
    fake.put("a", torn);
    let old = fake.discover(NOW);
    // The revision was taken after the last byte and is already that of the whole file.
    fake.put("a", File::new("a", "whole"));
    let new = fake.refresh(&old, NOW + 60 * SECOND);
    assert_eq!(description(&new.catalog, "a"), "whole");
}

#[test]
fn refused_file_without_a_revision_is_checked_again() {
    let fake = fake(&["a"]);
    fake.0.lock().unwrap().between = None;
    let catalog = fake.discover(NOW);
    fake.remove("a");
    let gone = fake.refresh(&catalog, NOW);
    assert_eq!(shown(&gone.changes), "removed a\n");
    fake.put("a", File::new("a", "old"));
    let back = fake.refresh(&gone.catalog, NOW);
    assert_eq!(shown(&back.changes), "added a\n");
}

#[test]
fn added_or_removed_root_changes_only_its_own_skills() {
    let (first, second) = (fake(&["a", "b"]), fake(&["b", "c"]));
    let root = |label: &str, fake: &FakeSource| Root::new(Scope::User, label, fake.clone());
    let rules = CatalogOptions::default;
    let one = Catalog::discover(vec![root("second", &second)], rules(), at(NOW));
    second.reads();
    let both = one.refresh(
        vec![root("first", &first), root("second", &second)],
        rules(),
        at(NOW),
    );
    insta::assert_snapshot!(shown(&both.changes), @"
    added a user:second/b
    changed b
    ");
    assert_eq!(second.reads(), 0, "a root is known again by its label");
    let gone = both
        .catalog
        .refresh(vec![root("first", &first)], rules(), at(NOW));
    assert_eq!(shown(&gone.changes), "removed c user:second/b\n");
    assert_eq!(first.reads(), 2);
}

#[test]
fn changed_rules_or_trust_are_a_change_without_reading_files() {
    let fake = fake(&["a", "b"]);
    let old = fake.discover(NOW);
    fake.reads();
    let mut rules = CatalogOptions::default();
    rules.enablement.set("a", Toggle::Off);
    let off = old.refresh(fake.roots(), rules.clone(), at(NOW));
    assert_eq!(shown(&off.changes), "changed a\n");
    let untrusted = fake
        .roots()
        .into_iter()
        .map(|root| root.with_trust(Trust::Untrusted));
    let distrusted = off.catalog.refresh(untrusted.collect(), rules, at(NOW));
    assert_eq!(shown(&distrusted.changes), "changed a b\n");
    assert_eq!(fake.reads(), 0);
    // Other limits read everything again: they decide what is read.
    let mut rules = CatalogOptions::default();
    rules.read.walk.limits.yaml_keys = 1;
    old.refresh(fake.roots(), rules, at(NOW));
    assert_eq!(fake.reads(), 2);
}

#[test]
fn refresh_on_disk_picks_up_file_changes() {
    let root = folder(
        "
        //- a/SKILL.md
        ---
        name: a
        description: old
        ---
        //- group/b/SKILL.md
        ---
        name: b
        description: old
        ---
        ",
    );
    let roots = || {
        vec![Root::new(
            Scope::User,
            "disk",
            FsSource::open(root.path()).unwrap(),
        )]
    };
    // Nothing that was just written is settled, and everything is compared by content.
    let now = far_future();
    let catalog = Catalog::discover(roots(), CatalogOptions::default(), now);
    assert!(
        catalog
            .refresh(roots(), CatalogOptions::default(), now)
            .changes
            .is_empty()
    );
    write(
        root.path(),
        &files(
            "
            //- group/b/SKILL.md
            ---
            name: b
            description: now longer
            ---
            //- group/c/SKILL.md
            ---
            name: c
            description: new
            ---
            ",
        ),
    );
    let new = catalog.refresh(roots(), CatalogOptions::default(), now);
    insta::assert_snapshot!(shown(&new.changes), @"
    added c
    changed b
    ");
    assert_eq!(description(&new.catalog, "b"), "now longer");
}

#[cfg(unix)]
#[test]
fn refresh_and_discovery_use_the_same_folder_for_a_linked_skill() {
    let root = folder(
        "
        //- z/SKILL.md
        ---
        name: z
        description: reached by its folder and by a link that sorts before it
        ---
        ",
    );
    std::os::unix::fs::symlink(root.path().join("z"), root.path().join("a")).unwrap();
    let roots = || {
        vec![Root::new(
            Scope::User,
            "disk",
            FsSource::open(root.path()).unwrap(),
        )]
    };
    let catalog = Catalog::discover(roots(), CatalogOptions::default(), far_future());
    let new = catalog.refresh(roots(), CatalogOptions::default(), far_future());
    assert!(new.changes.is_empty());
    assert_eq!(new.catalog.get("z").unwrap().skill().folder.path(), "z");
    assert_eq!(new.catalog.findings(), catalog.findings());
}

#[cfg(unix)]
#[test]
fn folder_replaced_by_a_link_is_read_as_a_link_after_refresh() {
    let root = folder(
        "
        //- skills/a/SKILL.md
        ---
        name: a
        description: Same
        ---
        ",
    );
    let at = |path: &str| root.path().join(path);
    let roots = || {
        let source = FsSource::open(at("skills")).unwrap();
        vec![Root::new(Scope::User, "user", source)]
    };
    let old = Catalog::discover(roots(), CatalogOptions::default(), far_future());
    std::fs::rename(at("skills/a"), at("moved")).unwrap();
    std::os::unix::fs::symlink("../moved", at("skills/a")).unwrap();
    let new = old
        .refresh(roots(), CatalogOptions::default(), far_future())
        .catalog;
    let head = |catalog: &Catalog| {
        let skill = catalog.entries().next().unwrap().skill().clone();
        let source = FsSource::open(at("skills")).unwrap();
        source.head(&skill.folder, 9, &mut Vec::new())
    };
    assert_eq!(head(&old).unwrap_err().kind(), ErrorKind::Refused);
    assert!(head(&new).is_ok());
}

/// Returns everything that a catalog says.
fn everything(catalog: &Catalog) -> String {
    let entries = catalog
        .entries()
        .map(|entry| format!("{} {} {:?}\n", entry.id(), entry.status(), entry.skill()));
    let refused = catalog
        .refused()
        .iter()
        .map(|refused| format!("{refused:?}\n"));
    let findings = catalog
        .findings()
        .iter()
        .map(|finding| format!("{finding:?}\n"));
    entries.chain(refused).chain(findings).collect()
}

proptest! {
    /// A refresh gives what a new search would, and says so exactly.
    #[test]
    fn refresh_equals_a_new_discovery(steps in prop::collection::vec((0_usize..6, 0_u64..4), 1..12)) {
        let folders = ["a", "b", "c/a", "c/d", "e", "f"];
        let fake = FakeSource::default();
        let mut catalog = fake.discover(NOW);
        for (at, kind) in steps {
            let folder = folders[at];
            let file = match kind {
                0 => None,
                1 => Some("\0 is not text".to_owned()),
                kind => Some(format!("---\nname: {}\ndescription: {kind}\n---\n", &folder[..1])),
            };
            match file {
                None => fake.remove(folder),
                Some(text) => {
                    let mut new = File::new("x", "x").with(|revision| revision.inode = kind);
                    new.text = text;
                    fake.put(folder, new);
                }
            }
            let new = fake.refresh(&catalog, NOW);
            prop_assert_eq!(everything(&new.catalog), everything(&fake.discover(NOW)));
            prop_assert_eq!(new.changes.is_empty(), everything(&catalog) == everything(&new.catalog));
            catalog = new.catalog;
        }
    }
}

#[cfg(unix)]
#[test]
#[ignore = "needs a user whom permissions bind"]
#[expect(clippy::disallowed_methods, reason = "the test takes rights away")]
fn unreadable_file_is_refused_by_discovery_and_refresh_alike() {
    use std::os::unix::fs::PermissionsExt;

    let root = folder(
        "
        //- a/SKILL.md
        ---
        name: a
        description: x
        ---
        ",
    );
    let file = root.path().join("a/SKILL.md");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    assert!(std::fs::read(&file).is_err(), "permissions do not bind");
    let roots = || {
        vec![Root::new(
            Scope::User,
            "disk",
            FsSource::open(root.path()).unwrap(),
        )]
    };
    let catalog = Catalog::discover(roots(), CatalogOptions::default(), far_future());
    assert_eq!(catalog.refused().len(), 1);
    let new = catalog.refresh(roots(), CatalogOptions::default(), far_future());
    assert!(new.changes.is_empty());
    assert_eq!(everything(&new.catalog), everything(&catalog));
}

/// A file with this text, last written at a time.
fn written(text: &str, at: i64) -> File {
    let mut file = File::new("a", "");
    text.clone_into(&mut file.text);
    file.with(|revision| {
        revision.size = text.len() as u64;
        (revision.modified_ns, revision.changed_ns) = (at, at);
    })
}

#[test]
fn skill_stays_while_its_file_is_being_written() {
    for half in [
        "",
        "---\nname: a\ndesc",
        "---\nname: a\ndescription: half\n",
    ] {
        let fake = fake(&["a", "b"]);
        let old = fake.discover(NOW);
        fake.put("a", written(half, NOW + SECOND));
        let new = fake.refresh(&old, NOW + SECOND + SECOND / 10);
        assert_eq!(description(&new.catalog, "a"), "old", "{half:?}");
        assert!(new.changes.is_empty(), "{half:?}");
        // It is said, and somebody has to look again.
        let said = &new.catalog.findings()[0].finding;
        assert_eq!(said.diagnostic.code.to_string(), "SF506");
        assert_eq!(new.catalog.unsettled_folders(), [(0, "a")]);
        // The rest is written after a pause.
        let whole = "---\nname: a\ndescription: whole\n---\n";
        fake.put("a", written(whole, NOW + 2 * SECOND));
        let new = fake.refresh(&new.catalog, NOW + 2 * SECOND + SECOND / 10);
        assert_eq!(shown(&new.changes), "changed a\n");
        assert_eq!(description(&new.catalog, "a"), "whole");
        assert!(new.catalog.findings().is_empty());
    }
}

#[test]
fn settled_broken_file_is_shown_as_broken() {
    let fake = fake(&["a"]);
    let old = fake.discover(NOW);
    fake.put("a", written("\0 is not text", NOW + SECOND));
    let held = fake.refresh(&old, NOW + SECOND).catalog;
    assert!(held.get("a").is_some());
    let new = fake.refresh(&held, NOW + 4 * SECOND);
    assert_eq!(shown(&new.changes), "removed a\nrefused a\n");
    assert!(new.catalog.unsettled_folders().is_empty());
}

#[test]
fn file_that_lost_its_frontmatter_is_a_skill_without_a_description_once_settled() {
    let fake = fake(&["a"]);
    let old = fake.discover(NOW);
    fake.put("a", written("Bare text", NOW + SECOND));
    let held = fake.refresh(&old, NOW + SECOND).catalog;
    assert_eq!(description(&held, "a"), "old");
    let new = fake.refresh(&held, NOW + 4 * SECOND).catalog;
    assert_eq!(description(&new, "a"), "Bare text");
}

#[test]
fn mtime_in_the_future_does_not_keep_a_skill_forever() {
    let fake = fake(&["a"]);
    let old = fake.discover(NOW);
    let broken = written("\0 is not text", NOW + SECOND);
    fake.put(
        "a",
        broken.with(|revision| revision.modified_ns = NOW + 3600 * SECOND),
    );
    let held = fake.refresh(&old, NOW + SECOND).catalog;
    assert!(held.get("a").is_some());
    assert!(
        fake.refresh(&held, NOW + 4 * SECOND)
            .catalog
            .get("a")
            .is_none()
    );
}
