//! What was loaded is remembered, and never served when it is stale.

use std::path::Path;
use std::sync::Arc;

use skillfold_core::load::{Freshness, Strictness};
use skillfold_core::source::Stability;
use skillfold_core::{
    Catalog, CatalogOptions, Envelope, ErrorKind, FsSource, LoadOptions, Loader, MemorySource,
    Root, Scope,
};
use skillfold_testkit::far_future;

use crate::fake_source::{FakeSource, File, NOW, SECOND, at};

/// What happens to a skill's folder.
type Change = fn(&Path);

/// What happens to a file's state.
type Trap = fn(&mut File);

/// A skill whose instructions are a text, last changed a minute before the first look.
fn skill(folder: &str, body: &str) -> File {
    let mut file = File::new(folder, "Does it");
    file.text += body;
    file.revision.size = file.text.len() as u64;
    file
}

fn fake(skills: &[(&str, &str)]) -> FakeSource {
    let fake = FakeSource::default();
    for (folder, body) in skills {
        fake.put(folder, skill(folder, body));
    }
    fake
}

fn loader(change: impl FnOnce(&mut LoadOptions)) -> Loader {
    let mut loading = LoadOptions::default();
    change(&mut loading);
    Loader::new(loading, || at(NOW))
}

fn load(loader: &Loader, catalog: &Catalog, id: &str, arguments: &str) -> String {
    let entry = catalog.resolve_or_suggest(id).unwrap();
    loader.load(&entry, arguments).unwrap().body().to_owned()
}

#[test]
fn second_load_reads_nothing() {
    let fake = fake(&[("a", "# A\n")]);
    let catalog = fake.discover(NOW);
    let loader = loader(|_| {});
    let entry = catalog.resolve_or_suggest("a").unwrap();
    let first = loader.load(&entry, "x").unwrap();
    fake.reads();
    let second = loader.load(&entry, "x").unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!((fake.reads(), fake.looks()), (0, 1));
    let stats = loader.stats();
    assert_eq!((stats.entries, stats.hits, stats.misses), (1, 1, 1));
    assert!((stats.hit_rate() - 0.5).abs() < f64::EPSILON);
}

#[test]
fn load_from_a_trusted_snapshot_does_not_stat_the_file() {
    let fake = fake(&[("a", "# A\n")]);
    let catalog = fake.discover(NOW);
    let loader = loader(|loading| loading.freshness = Freshness::Snapshot);
    load(&loader, &catalog, "a", "");
    fake.reads();
    for _ in 0..10 {
        load(&loader, &catalog, "a", "");
    }
    assert_eq!((fake.reads(), fake.looks()), (0, 0));
}

#[test]
fn different_arguments_are_cached_separately() {
    let fake = fake(&[("a", "$ARGUMENTS")]);
    let catalog = fake.discover(NOW);
    let loader = loader(|_| {});
    for arguments in ["x y", "x  y", "", " ", "x y"] {
        assert_eq!(load(&loader, &catalog, "a", arguments), arguments);
    }
    assert_eq!((loader.stats().entries, loader.stats().hits), (4, 1));
}

#[test]
fn changed_file_is_read_again_whatever_its_mtime() {
    let file = skill("a", "# Old\n");
    let traps: [(&str, Trap); 6] = [
        ("newer", |file| file.revision.modified_ns += SECOND),
        ("older mtime restored", |file| {
            file.revision.modified_ns -= 3_600 * SECOND;
        }),
        ("same mtime, other change time", |file| {
            file.revision.changed_ns += 1;
        }),
        ("same mtime, other size", |file| {
            file.text += "\n";
            file.revision.size += 1;
        }),
        ("another inode of the same size and times", |file| {
            file.revision.inode += 1;
        }),
        ("another device", |file| file.revision.device += 1),
    ];
    for (change, apply) in traps {
        let fake = FakeSource::default();
        fake.put("a", file.clone());
        let catalog = fake.discover(NOW);
        let loader = loader(|_| {});
        assert_eq!(load(&loader, &catalog, "a", ""), "# Old\n");
        let mut changed = skill("a", "# New\n");
        changed.revision = file.revision;
        apply(&mut changed);
        fake.put("a", changed);
        assert_eq!(
            load(&loader, &catalog, "a", "").trim_end(),
            "# New",
            "{change}"
        );
        fake.reads();
        assert_eq!(
            load(&loader, &catalog, "a", "").trim_end(),
            "# New",
            "{change}"
        );
        assert_eq!(
            fake.reads(),
            0,
            "{change}: what was read anew is remembered"
        );
    }
}

#[test]
fn recently_written_file_is_compared_by_content() {
    for freshness in [Freshness::Checked, Freshness::Snapshot] {
        let fake = FakeSource::default();
        let unsettled = |body| {
            let mut file = skill("a", body);
            file.revision.modified_ns = NOW - SECOND;
            file
        };
        fake.put("a", unsettled("# Old\n"));
        let catalog = fake.discover(NOW);
        let loader = loader(|loading| loading.freshness = freshness);
        assert_eq!(load(&loader, &catalog, "a", ""), "# Old\n");
        // The same size, the same times, the same inode: only the content tells.
        fake.put("a", unsettled("# New\n"));
        let catalog = match freshness {
            Freshness::Snapshot => fake.refresh(&catalog, NOW).catalog,
            _ => catalog,
        };
        assert_eq!(load(&loader, &catalog, "a", ""), "# New\n");
    }
}

#[test]
fn snapshot_is_trusted_until_the_refresh() {
    let fake = fake(&[("a", "# Old\n")]);
    let catalog = fake.discover(NOW);
    let loader = loader(|loading| loading.freshness = Freshness::Snapshot);
    assert_eq!(load(&loader, &catalog, "a", ""), "# Old\n");
    let mut changed = skill("a", "# New\n");
    changed.revision.modified_ns += SECOND;
    fake.put("a", changed);
    assert_eq!(load(&loader, &catalog, "a", ""), "# Old\n");
    let refreshed = fake.refresh(&catalog, NOW).catalog;
    assert_eq!(load(&loader, &refreshed, "a", ""), "# New\n");
}

#[test]
fn file_that_keeps_changing_is_reported_and_not_cached() {
    let fake = fake(&[("a", "# A\n")]);
    let catalog = fake.discover(NOW);
    let mut changing = skill("a", "# A\n");
    changing.steadiness = Stability::Changing;
    fake.put("a", changing);
    let loader = loader(|_| {});
    let entry = catalog.resolve_or_suggest("a").unwrap();
    let text = loader.load(&entry, "").unwrap();
    assert_eq!(text.notes()[0].code.number(), "SF506");
    assert_eq!(loader.stats().entries, 0);
    let strict = self::loader(|loading| loading.strictness = Strictness::Strict);
    assert_eq!(
        strict.load(&entry, "").unwrap_err().kind(),
        ErrorKind::Invalid
    );
}

#[test]
fn least_recently_used_entry_is_evicted_first() {
    let fake = fake(&[("a", "A"), ("b", "B"), ("c", "C")]);
    let catalog = fake.discover(NOW);
    let loader = loader(|loading| loading.cache_entries = 2);
    for id in ["a", "b", "a", "c"] {
        load(&loader, &catalog, id, "");
    }
    fake.reads();
    load(&loader, &catalog, "a", "");
    assert_eq!(fake.reads(), 0);
    load(&loader, &catalog, "b", "");
    assert_eq!(fake.reads(), 1);
    let stats = loader.stats();
    assert_eq!((stats.entries, stats.evicted), (2, 2));
}

#[test]
fn hundred_entries_are_kept_by_default() {
    let fake = fake(&[("a", "A")]);
    let catalog = fake.discover(NOW);
    let loader = loader(|_| {});
    for number in 0..150 {
        load(&loader, &catalog, "a", &number.to_string());
    }
    assert_eq!((loader.stats().entries, loader.stats().evicted), (100, 50));
}

#[test]
fn cache_is_bounded_by_bytes_and_a_large_text_evicts_no_other() {
    let large = "x".repeat(4_000);
    let skills: Vec<_> = ('a'..='z')
        .map(|name| (name.to_string(), "x".repeat(500)))
        .collect();
    let mut skills: Vec<_> = skills
        .iter()
        .map(|(name, body)| (&**name, &**body))
        .collect();
    skills.push(("large", &large));
    let fake = fake(&skills);
    let catalog = fake.discover(NOW);
    let loader = loader(|loading| loading.cache_bytes = 10_000);
    for (id, _) in &skills {
        load(&loader, &catalog, id, "");
        assert!(loader.stats().bytes <= 10_000);
    }
    let stats = loader.stats();
    assert_eq!(stats.too_large, 1);
    assert!(stats.entries > 5 && stats.evicted > 5, "{stats:?}");
}

#[test]
fn cache_can_be_cleared_for_one_skill_or_all() {
    let fake = fake(&[("a", "A"), ("b", "B")]);
    let catalog = fake.discover(NOW);
    let loader = loader(|_| {});
    for (id, arguments) in [("a", ""), ("a", "x"), ("b", "")] {
        load(&loader, &catalog, id, arguments);
    }
    loader.evict(&catalog.resolve_or_suggest("a").unwrap());
    assert_eq!(loader.stats().entries, 1);
    loader.clear();
    assert_eq!((loader.stats().entries, loader.stats().bytes), (0, 0));
}

#[test]
fn refresh_keeps_cached_loads_of_unchanged_skills() {
    let fake = fake(&[("a", "A"), ("b", "B")]);
    let catalog = fake.discover(NOW);
    let loader = loader(|_| {});
    for id in ["a", "b"] {
        load(&loader, &catalog, id, "");
    }
    fake.put("b", skill("b", "longer"));
    let refreshed = fake.refresh(&catalog, NOW).catalog;
    loader.retain_current(&refreshed);
    assert_eq!(loader.stats().entries, 1);
    fake.reads();
    load(&loader, &refreshed, "a", "");
    assert_eq!(fake.reads(), 0);
}

#[test]
fn cache_with_no_entries_stores_nothing() {
    let fake = fake(&[("a", "A")]);
    let catalog = fake.discover(NOW);
    let loader = loader(|loading| loading.cache_entries = 0);
    load(&loader, &catalog, "a", "");
    load(&loader, &catalog, "a", "");
    assert_eq!((loader.stats().entries, loader.stats().misses), (0, 2));
}

#[test]
fn cache_does_not_mix_up_skills_whose_ids_change_between_snapshots() {
    let pdf = |body: &str| {
        let file = format!("---\nname: pdf\ndescription: d\n---\n{body}\n");
        MemorySource::new([("pdf/SKILL.md", file)])
    };
    let (mine, ours) = (pdf("Mine"), pdf("Ours"));
    let user = Root::new(Scope::User, "mine", mine);
    let old = Catalog::discover(vec![user.clone()], CatalogOptions::default(), at(NOW));
    let project = Root::new(Scope::Project, "ours", ours);
    let new = old
        .refresh(vec![user, project], CatalogOptions::default(), at(NOW))
        .catalog;
    let loader = loader(|_| {});
    loader.retain_current(&new);
    assert_eq!(load(&loader, &old, "pdf", ""), "Mine\n");
    let entry = new.resolve_or_suggest("user:pdf").unwrap();
    let text = loader.load(&entry, "").unwrap();
    assert_eq!((text.id(), text.body()), ("user:pdf", "Mine\n"));
    loader.evict(&entry);
    assert_eq!(loader.stats().entries, 0);
}

#[test]
fn skill_of_a_moved_root_loads_with_its_new_folder() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    let file = "---\nname: pdf\ndescription: d\n---\nBody\n";
    skillfold_testkit::write(&at("a"), &[("pdf/SKILL.md".to_owned(), file.to_owned())]);
    let root = |name: &str| {
        let source = FsSource::open(at(name)).unwrap();
        vec![Root::new(Scope::User, "mine", source)]
    };
    let old = Catalog::discover(root("a"), CatalogOptions::default(), far_future());
    let loader = loader(|_| {});
    load(&loader, &old, "pdf", "");
    std::fs::rename(at("a"), at("b")).unwrap();
    let new = old
        .refresh(root("b"), CatalogOptions::default(), far_future())
        .catalog;
    let text = loader
        .load(&new.resolve_or_suggest("pdf").unwrap(), "")
        .unwrap();
    assert_eq!(text.base_dir(), at("b").join("pdf").to_str());
}

#[test]
fn rendered_text_is_current_until_the_skill_file_or_file_list_changes() {
    const FILE: &str = "---\nname: pdf\ndescription: d\n---\nBody\n";
    fn put(path: &Path, name: &str, text: &str) {
        skillfold_testkit::write(path, &[(name.to_owned(), text.to_owned())]);
    }
    let add: Change = |path| put(path, "more.md", "x");
    let changes: [(Change, Envelope, bool); 6] = [
        (|_| {}, Envelope::SkillContext, true),
        (
            |path| put(path, "SKILL.md", &FILE.replace("Body", "Another")),
            Envelope::SkillContext,
            false,
        ),
        (add, Envelope::SkillContext, false),
        (
            |path| std::fs::remove_file(path.join("a.md")).unwrap(),
            Envelope::SkillContext,
            false,
        ),
        (
            |path| std::fs::remove_file(path.join("SKILL.md")).unwrap(),
            Envelope::SkillContext,
            false,
        ),
        // This one names no files.
        (add, Envelope::Plain, true),
    ];
    for (at, (change, envelope, is_current)) in changes.into_iter().enumerate() {
        let parent = tempfile::tempdir().unwrap();
        let written = [("pdf/SKILL.md", FILE), ("pdf/a.md", "x")];
        let written = written.map(|(path, text)| (path.to_owned(), text.to_owned()));
        skillfold_testkit::write(parent.path(), &written);
        let source = FsSource::open(parent.path()).unwrap();
        let root = vec![Root::new(Scope::User, "mine", source)];
        let catalog = Catalog::discover(root, CatalogOptions::default(), far_future());
        let entry = catalog.resolve_or_suggest("pdf").unwrap();
        let loader = loader(|_| {});
        let text = loader.render(&entry, "", envelope).unwrap();
        assert!(loader.is_current(&entry, &text), "{at}");
        assert_eq!(loader.stats().hits, 1, "{at}");
        change(&parent.path().join("pdf"));
        assert_eq!(loader.is_current(&entry, &text), is_current, "{at}");
    }
}

#[test]
fn rendered_text_of_an_unsettled_file_is_never_current() {
    let fake = fake(&[("a", "# A\n")]);
    let mut recent = skill("b", "# B\n");
    recent.revision.modified_ns = NOW - SECOND;
    fake.put("b", recent);
    let catalog = fake.discover(NOW);
    let loader = loader(|_| {});
    for (id, is_current) in [("a", true), ("b", false)] {
        let entry = catalog.resolve_or_suggest(id).unwrap();
        let text = loader.render(&entry, "", Envelope::Plain).unwrap();
        assert_eq!(loader.is_current(&entry, &text), is_current, "{id}");
    }
}

#[test]
fn cache_counts_the_bytes_of_changed_frontmatter() {
    let fake = fake(&[("a", "A")]);
    let catalog = fake.discover(NOW);
    let keys: String = (0..400).map(|number| format!("key{number}: 1\n")).collect();
    let mut changed = skill("a", "");
    changed.text = format!("---\nname: a\ndescription: d\n{keys}---\nA");
    changed.revision.inode += 1;
    fake.put("a", changed);
    let loader =
        loader(|loading| (loading.cache_entries, loading.cache_bytes) = (1_000, 1_000_000));
    for number in 0..100 {
        load(&loader, &catalog, "a", &number.to_string());
    }
    assert!(loader.stats().entries < 20, "{:?}", loader.stats());
}

#[test]
fn rendered_text_with_many_files_is_current_until_one_is_renamed() {
    let root = skillfold_testkit::folder(
        "
        //- many/SKILL.md
        ---
        name: many
        description: Has many files
        ---
        Text
    ",
    );
    let many = (0..60).map(|number| (format!("many/{number:02}.txt"), "x".to_owned()));
    skillfold_testkit::write(root.path(), &many.collect::<Vec<_>>());
    let source = FsSource::open(root.path()).unwrap();
    let roots = vec![Root::new(Scope::User, "mine", source)];
    let catalog = Catalog::discover(roots, CatalogOptions::default(), far_future());
    let loader = Loader::new(LoadOptions::default(), far_future);
    let entry = catalog.get("many").unwrap();
    let text = loader.render(&entry, "", Envelope::SkillContent).unwrap();
    assert!(loader.is_current(&entry, &text));
    std::fs::rename(
        root.path().join("many/59.txt"),
        root.path().join("many/60.txt"),
    )
    .unwrap();
    assert!(!loader.is_current(&entry, &text));
}
