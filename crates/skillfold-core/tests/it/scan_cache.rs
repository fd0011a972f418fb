//! A start from what was remembered finds what a start without it does, and reads only what changed.

use proptest::prelude::*;
use skillfold_core::catalog::{CacheReport, CachedDiscovery, CachedScan};
use skillfold_core::read::{FrontmatterReader, ReadOptions};
use skillfold_core::source::WalkOptions;
use skillfold_core::{Catalog, CatalogOptions, FsSource, MemorySource, Root, Scope};
use skillfold_testkit::{far_future, files, folder, write};

use crate::fake_source::{FakeSource, File, NOW, SECOND, at};

/// Every kind of value that a skill can hold.
const EVERYTHING: &str = "---
name: everything
description: 'Says: all'
brief_description: All of it
license: MIT
compatibility: Needs git
version: 1.10
model: large
allowed-tools: Read, Bash(git:*)
tags: [a, b]
requires: [other]
toolsets: [tools.py:Tools]
scripts: [run.sh, {path: a.py, args: [1, \"1\"]}]
triggers: {keywords: [k], verbs: [v], patterns: ['p+']}
disable-model-invocation: true
default_enabled: false
metadata: {author: me, nested: {deep: [x, {y: ~}]}}
odd: {list: [1, 2.5, true, null, 'true'], text: ünï}
---
Body
";

fn everything() -> FakeSource {
    let fake = FakeSource::default();
    let put = |folder: &str, text: &str| {
        let mut file = File::new(folder, "");
        text.clone_into(&mut file.text);
        fake.put(
            folder,
            file.with(|revision| revision.size = text.len() as u64),
        );
    };
    put("everything", EVERYTHING);
    put(
        "flat",
        "---\nname: flat\ndescription: x\ntriggers: [a b, c]\n---\n",
    );
    put(
        "repaired",
        "---\nname: Repaired Name\ndescription: Use when: asked\n\ttabs: 1\n---\n",
    );
    put("unclosed", "---\nname: unclosed\ndescription: x\n");
    put("group/refused", "\0 is not text");
    put("group/plain", "---\ndescription: no name\n---\n");
    fake
}

fn recall(fake: &FakeSource, bytes: &[u8], now_ns: i64) -> CachedDiscovery {
    let remembered = CachedScan::new(bytes, &ReadOptions::default());
    Catalog::discover_cached(
        fake.roots(),
        CatalogOptions::default(),
        at(now_ns),
        remembered.as_slice(),
    )
}

/// Everything that can be seen of a catalog.
fn assert_same(one: &Catalog, other: &Catalog) {
    let skills = |catalog: &Catalog| -> Vec<_> {
        let entries = catalog.entries();
        entries
            .map(|entry| (entry.id().to_owned(), entry.status(), entry.skill().clone()))
            .collect()
    };
    assert_eq!(skills(one), skills(other));
    assert_eq!(one.refused(), other.refused());
    assert_eq!(one.findings(), other.findings());
    assert_eq!(one.unsettled_folders(), other.unsettled_folders());
}

/// Remembers all files, and starts again without one being read.
pub(crate) fn check_cached_scan(fake: &FakeSource) {
    let catalog = fake.discover(NOW);
    let bytes = catalog.to_scan_bytes(0).unwrap();
    fake.reads();
    let again = recall(fake, &bytes, NOW + SECOND);
    assert_eq!(fake.reads(), 0);
    assert_eq!((again.roots[0].read, again.roots[0].gone), (0, 0));
    assert_same(&catalog, &again.catalog);
    assert_eq!(again.catalog.to_scan_bytes(0).unwrap(), bytes);
}

#[test]
fn start_from_cache_reads_nothing_if_nothing_changed() {
    check_cached_scan(&everything());
}

#[test]
fn start_from_cache_reads_only_changed_files() {
    let fake = everything();
    let bytes = fake.discover(NOW).to_scan_bytes(0).unwrap();
    fake.put(
        "flat",
        File::new("flat", "other").with(|revision| revision.inode += 1),
    );
    fake.put("new", File::new("new", "new"));
    fake.remove("unclosed");
    fake.reads();
    let again = recall(&fake, &bytes, NOW + SECOND);
    assert_eq!(fake.reads(), 2);
    let CacheReport {
        kept, read, gone, ..
    } = again.roots[0];
    assert_eq!((kept, read, gone), (4, 2, 2));
    assert_same(&fake.discover(NOW + SECOND), &again.catalog);
}

#[test]
fn unsettled_files_are_not_cached() {
    let fake = FakeSource::default();
    fake.put("a", File::new("a", "old"));
    fake.put(
        "b",
        File::new("b", "old").with(|revision| revision.changed_ns = NOW - SECOND),
    );
    // A file without an inode is too easily another one.
    fake.put(
        "c",
        File::new("c", "old").with(|revision| revision.inode = 0),
    );
    let bytes = fake.discover(NOW).to_scan_bytes(0).unwrap();
    fake.reads();
    assert_eq!(recall(&fake, &bytes, NOW + 60 * SECOND).roots[0].kept, 1);
    assert_eq!(fake.reads(), 2);
}

#[test]
fn cache_is_not_used_for_other_rules_or_roots() {
    let fake = everything();
    let bytes = fake.discover(NOW).to_scan_bytes(0).unwrap();
    let yaml = ReadOptions::default().with_reader(FrontmatterReader::Yaml);
    assert!(CachedScan::new(&bytes, &yaml).is_none());
    let paged = ReadOptions::default().with_walk(WalkOptions::default().with_page(7));
    assert!(CachedScan::new(&bytes, &paged).is_none());
    let folder = folder("//- a/SKILL.md\n---\nname: a\ndescription: x\n---\n");
    let roots = vec![Root::new(
        Scope::User,
        "a",
        FsSource::open(folder.path()).unwrap(),
    )];
    let remembered = CachedScan::new(&bytes, &ReadOptions::default()).unwrap();
    let again = Catalog::discover_cached(roots, CatalogOptions::default(), at(NOW), &[remembered]);
    assert_eq!(again.roots[0].kept, 0);
}

#[test]
fn in_memory_source_is_not_cached() {
    let source = MemorySource::new([("a/SKILL.md", "---\nname: a\ndescription: x\n---\n")]);
    let roots = vec![Root::new(Scope::User, "a", source)];
    let catalog = Catalog::discover(roots, CatalogOptions::default(), at(NOW));
    assert!(catalog.to_scan_bytes(0).is_none());
    assert!(catalog.to_scan_bytes(1).is_none());
}

#[cfg(unix)]
#[test]
fn discovery_from_disk_round_trips_through_the_cache() {
    let text = "//- a/SKILL.md\n---\nname: a\ndescription: x\n---\n//- b/c/SKILL.md\n---\nname: c\ndescription: x\n---\n\
                //- b/d/SKILL.md\nnothing\n//- b/skill.md\nx\n";
    let folder = folder(text);
    std::os::unix::fs::symlink(folder.path().join("a"), folder.path().join("link")).unwrap();
    let roots = || {
        vec![Root::new(
            Scope::User,
            "here",
            FsSource::open(folder.path()).unwrap(),
        )]
    };
    let catalog = Catalog::discover(roots(), CatalogOptions::default(), far_future());
    let bytes = catalog.to_scan_bytes(0).unwrap();
    let again = |bytes: &[u8]| {
        let remembered = CachedScan::new(bytes, &ReadOptions::default()).unwrap();
        Catalog::discover_cached(
            roots(),
            CatalogOptions::default(),
            far_future(),
            &[remembered],
        )
    };
    let same = again(&bytes);
    assert_eq!((same.roots[0].kept, same.roots[0].read), (3, 0));
    assert_same(&catalog, &same.catalog);
    write(
        folder.path(),
        &files("//- b/d/SKILL.md\n---\nname: d\ndescription: now\n---\n"),
    );
    let other = again(&bytes);
    assert_eq!((other.roots[0].kept, other.roots[0].read), (2, 1));
    assert_same(
        &Catalog::discover(roots(), CatalogOptions::default(), far_future()),
        &other.catalog,
    );
}

/// Entries of a large folder are looked at together, more than once around: each is found as it is one by one.
#[cfg(unix)]
#[test]
fn start_from_cache_in_a_large_folder_equals_a_full_search() {
    let root = tempfile::tempdir().unwrap();
    let at = |path: &str| root.path().join("skills").join(path);
    let skill = |number: usize| {
        format!("//- skills/n{number}/SKILL.md\n---\nname: n{number}\ndescription: d\n---\n")
    };
    let mut text: String = (0..1_100).map(skill).collect();
    text.push_str("//- skills/n5000\na file\n//- skills/.hidden/SKILL.md\nx\n");
    text.push_str("//- skills/m/inner/deep/x.txt\nx\n");
    text.push_str("//- elsewhere/SKILL.md\n---\ndescription: d\n---\n");
    write(root.path(), &files(&text));
    std::fs::hard_link(at("n7/SKILL.md"), at("m/inner/SKILL.md")).unwrap();
    let links = [
        ("../elsewhere", "over"),
        ("n3", "twice"),
        ("gone", "nowhere"),
        ("self", "self"),
    ];
    for (to, link) in links {
        std::os::unix::fs::symlink(to, at(link)).unwrap();
    }
    let roots = || {
        let source = FsSource::open(root.path().join("skills")).unwrap();
        vec![Root::new(Scope::User, "mine", source)]
    };
    let catalog = Catalog::discover(roots(), CatalogOptions::default(), far_future());
    assert_eq!(catalog.len(), 1_102);
    let bytes = catalog.to_scan_bytes(0).unwrap();
    let other = "//- skills/n600/SKILL.md\n---\nname: other\ndescription: d\n---\n";
    write(root.path(), &files(other));
    let remembered = CachedScan::new(&bytes, &ReadOptions::default()).unwrap();
    let again = Catalog::discover_cached(
        roots(),
        CatalogOptions::default(),
        far_future(),
        &[remembered],
    );
    assert_eq!((again.roots[0].kept, again.roots[0].read), (1_101, 1));
    let anew = Catalog::discover(roots(), CatalogOptions::default(), far_future());
    assert_same(&anew, &again.catalog);
    assert_eq!(anew.findings(), again.catalog.findings());
    assert!(anew.findings().len() >= 4, "{:?}", anew.findings());
}

/// Records change when files are read in another way. Then `FORMAT_VERSION` of `catalog/scan_cache.rs` goes up, so that no
/// program starts from what an older one read.
#[test]
fn record_format_matches_the_format_version() {
    let bytes = everything().discover(NOW).to_scan_bytes(0).unwrap();
    let mark = CachedScan::options_key(&ReadOptions::default());
    let sum = bytes[8 + mark.len()..]
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
        });
    insta::assert_snapshot!(format!("{sum:016x}"), @"fc7e62775f879ba1");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn start_from_cache_equals_a_full_search(steps in prop::collection::vec((0_usize..6, 0_u64..5), 1..12)) {
        let folders = ["a", "b", "c/a", "c/d", "e", "f"];
        let fake = FakeSource::default();
        let mut bytes = fake.discover(NOW).to_scan_bytes(0).unwrap();
        for (step, (at, kind)) in (1..).zip(steps) {
            let folder = folders[at];
            let file = |text: String| {
                let mut file = File::new(folder, "");
                file.text = text;
                file.with(|revision| revision.inode = 100 + step)
            };
            match kind {
                0 => fake.remove(folder),
                1 => fake.put(folder, file("\0 is not text".to_owned())),
                kind => fake.put(folder, file(format!("---\nname: {}\ndescription: {kind}\n---\n", &folder[..1]))),
            }
            let again = recall(&fake, &bytes, NOW + SECOND);
            assert_same(&fake.discover(NOW + SECOND), &again.catalog);
            if kind != 4 {
                bytes = again.catalog.to_scan_bytes(0).unwrap();
            }
        }
    }

    #[test]
    fn corrupted_cache_never_panics(at: prop::sample::Index, with: u8, is_cut: bool) {
        let fake = everything();
        let mut bytes = fake.discover(NOW).to_scan_bytes(0).unwrap();
        let at = at.index(bytes.len());
        if is_cut {
            bytes.truncate(at);
        } else {
            bytes[at] = with;
        }
        let again = recall(&fake, &bytes, NOW + SECOND);
        let found = again.catalog.len() + again.catalog.refused().len();
        prop_assert_eq!(found, 6, "no folder is lost");
    }

    #[test]
    fn arbitrary_cache_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mark = CachedScan::options_key(&ReadOptions::default());
        let mut marked = (mark.len() as u64).to_le_bytes().to_vec();
        marked.extend(mark.bytes());
        for part in [b"told".as_slice(), &bytes[..bytes.len() / 8 * 8], &bytes, b"some text to cut"] {
            marked.extend((part.len() as u64).to_le_bytes());
            marked.extend(part);
        }
        assert_same(&everything().discover(NOW), &recall(&everything(), &marked, NOW).catalog);
    }
}
