//! Whoever swaps folders and files for links while they are read gets nothing for it.
//!
//! `RACE_SECONDS` says how long each race takes; one second if it does not.
#![cfg(any(target_os = "linux", target_vendor = "apple"))]
#![expect(
    clippy::disallowed_methods,
    reason = "tests lay out folders, and one reads as nobody should"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Instant;

use skillfold_core::name::ResourcePath;
use skillfold_core::source::{Folder, LinkPolicy, WalkOptions};
use skillfold_core::{FsSource, Limits, Source};
use skillfold_testkit::{Arena, RaceOutcome, SECRET, expect_no_leak, race_time};

/// Returns the skill as it is found before anything is swapped.
fn found(arena: &Arena) -> (FsSource, Folder) {
    let source = FsSource::open(arena.at("root")).unwrap();
    let listing = source.list(&WalkOptions::default(), None).unwrap();
    let folder = listing.folders[0].folder.clone();
    (source, folder)
}

/// Swaps that a file or folder below the skill, or the skill itself, may meet: what is swapped for a link, and where that
/// leads.
const SWAPS: [(&str, &str); 3] = [
    ("root/pdf/inner", "outside/inner"),
    ("root/pdf/inner/file.txt", "outside/file.txt"),
    ("root/pdf", "outside"),
];

fn path(text: &str) -> ResourcePath {
    text.parse().unwrap()
}

#[test]
fn read_leaks_nothing_from_outside() {
    for (swapped, outside) in SWAPS {
        let arena = Arena::new();
        let (source, folder) = found(&arena);
        let counts = arena.swap(swapped, outside).race(|| {
            let read = source.read(&folder, &path("inner/file.txt"), 0..100);
            RaceOutcome::from_result(read.map(|content| content.bytes))
        });
        expect_no_leak(&format!("read, {swapped} swapped for {outside}"), counts);
    }
}

#[test]
fn constantly_replaced_file_is_read_each_time() {
    let arena = Arena::new();
    let (source, folder) = found(&arena);
    let (file, new) = (
        arena.at("root/pdf/inner/file.txt"),
        arena.at("root/new.txt"),
    );
    fs::write(&file, "whole").unwrap();
    std::thread::scope(|scope| {
        let replacing = scope.spawn(|| {
            let start = Instant::now();
            while start.elapsed() < race_time() {
                fs::write(&new, "whole").unwrap();
                fs::rename(&new, &file).unwrap();
            }
        });
        while !replacing.is_finished() {
            let read = source.read(&folder, &path("inner/file.txt"), 0..100);
            assert_eq!(read.unwrap().bytes, b"whole");
        }
    });
}

#[test]
fn head_leaks_nothing_from_outside() {
    for (swapped, outside) in [
        ("root/pdf", "outside/skill"),
        ("root/pdf/SKILL.md", "outside/skill/SKILL.md"),
    ] {
        let arena = Arena::new();
        let (source, folder) = found(&arena);
        let counts = arena.swap(swapped, outside).race(|| {
            let mut bytes = Vec::new();
            RaceOutcome::from_result(source.head(&folder, 100, &mut bytes).map(|_| bytes))
        });
        expect_no_leak(&format!("head, {swapped} swapped for {outside}"), counts);
    }
}

#[test]
fn resources_name_nothing_from_outside() {
    for (swapped, outside) in [SWAPS[0], SWAPS[2], ("root/pdf", "outside/skill")] {
        let arena = Arena::new();
        let (source, folder) = found(&arena);
        let counts = arena.swap(swapped, outside).race(|| {
            let listed = source.resources(&folder, &Limits::default(), None);
            let Ok(listed) = listed else {
                return RaceOutcome::Refused;
            };
            // A finding about a link inside is a refusal; the name of one outside would be a leak as well.
            let refused = listed
                .files
                .iter()
                .all(|file| file.path != path("inner/file.txt"));
            let findings = listed.findings.iter().map(|finding| &*finding.path);
            let names: Vec<&str> = listed
                .files
                .iter()
                .map(|file| file.path.as_str())
                .chain(findings)
                .collect();
            match names.join("\n") {
                names if refused && !names.contains(SECRET) => RaceOutcome::Refused,
                names => RaceOutcome::Given(names.into_bytes()),
            }
        });
        expect_no_leak(
            &format!("resources, {swapped} swapped for {outside}"),
            counts,
        );
    }
}

#[test]
fn resource_kind_leaks_nothing_from_outside() {
    let outside = |folder: &str| path(&format!("{folder}{SECRET}"));
    for (swapped, target, asked) in [
        (SWAPS[0].0, SWAPS[0].1, outside("inner/")),
        (SWAPS[2].0, SWAPS[2].1, outside("")),
    ] {
        let arena = Arena::new();
        let (source, folder) = found(&arena);
        let counts = arena.swap(swapped, target).race(|| {
            if source.kind(&folder, &asked).is_ok() {
                return RaceOutcome::Given(SECRET.into());
            }
            RaceOutcome::from_result(
                source
                    .kind(&folder, &path("inner/file.txt"))
                    .map(|_| "file"),
            )
        });
        expect_no_leak(&format!("kind, {swapped} swapped for {target}"), counts);
    }
}

#[test]
fn skill_behind_a_link_leaks_nothing_from_a_non_skill_folder() {
    let arena = Arena::new();
    fs::rename(arena.at("root/pdf"), arena.at("installed")).unwrap();
    symlink(arena.at("installed"), arena.at("root/pdf")).unwrap();
    let (source, folder) = found(&arena);
    let counts = arena.swap("root/pdf", "outside").race(|| {
        let read = source.read(&folder, &path("inner/file.txt"), 0..100);
        RaceOutcome::from_result(read.map(|content| content.bytes))
    });
    expect_no_leak("read, link to the skill swapped", counts);
}

#[test]
fn scan_leaks_nothing_from_outside_if_links_are_refused() {
    let arena = Arena::new();
    let source = FsSource::open_with(arena.at("root"), LinkPolicy::Refuse).unwrap();
    let counts = arena.swap("root/pdf", "outside/skill").race(|| {
        let mut bytes = None;
        let scanned = source.scan(&WalkOptions::default(), 100, &mut |scanned| {
            bytes = Some(scanned.head.to_vec());
        });
        scanned.unwrap();
        bytes.map_or(RaceOutcome::Refused, RaceOutcome::Given)
    });
    expect_no_leak("scan without links, root/pdf swapped", counts);
}

/// Reads as a careless reader does: resolves the path, looks whether it is inside, and opens it.
fn resolved_then_opened(skill: &Path, file: &str) -> RaceOutcome {
    let Ok(resolved) = fs::canonicalize(skill.join(file)) else {
        return RaceOutcome::Refused;
    };
    if resolved.starts_with(skill) {
        RaceOutcome::from_result(fs::read(resolved))
    } else {
        RaceOutcome::Refused
    }
}

#[test]
fn control_resolve_then_open_leaks() {
    let arena = Arena::new();
    let skill = fs::canonicalize(arena.at("root/pdf")).unwrap();
    let counts = arena
        .swap("root/pdf/inner", "outside/inner")
        .race_until_leak(|| resolved_then_opened(&skill, "inner/file.txt"));
    eprintln!("control, root/pdf/inner swapped: {counts}");
    assert!(counts.leaked > 0, "the races prove nothing: {counts}");
}
