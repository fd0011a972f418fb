//! What is not as it was written is made again.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use skillfold_core::ErrorKind;
use skillfold_core::search::Query;
use skillfold_index::{Damage, DiskIndex, SyncWriter};

use super::{files, found, many, office, sync, word};

/// Compares an index with what it should say, and says whether it is whole.
fn is_whole(folder: &Path) -> bool {
    let index = DiskIndex::open(folder, "1");
    let skills = many(60);
    let answer = |index: &DiskIndex| {
        [
            "charts of kindfx",
            "forms",
            "skilljx and letters",
            "everybody",
        ]
        .map(|request| found(index, &skills, request))
    };
    let damage = index.damage();
    let is_whole = damage.is_none() && index.documents() == 60;
    if is_whole {
        let fresh = tempfile::tempdir().unwrap();
        let fresh = DiskIndex::open(fresh.path(), "1");
        sync(&fresh, &skills);
        assert_eq!(
            answer(&index),
            answer(&fresh),
            "a whole index answers right"
        );
    }
    let synced = sync(&index, &skills);
    assert_eq!(synced.writer, SyncWriter::This);
    assert_eq!(synced.rebuilt, damage);
    assert_eq!(index.documents(), 60);
    assert!(found(&index, &skills, &word("skill", 7)) == [word("skill", 7)]);
    is_whole
}

fn made() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let index = DiskIndex::open(folder.path(), "1");
    let skills = many(60);
    // Two commits, so that there are two segments and a list of what is gone.
    sync(&index, &many(70));
    sync(&index, &skills);
    folder
}

#[test]
fn index_of_another_version_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    sync(&DiskIndex::open(folder.path(), "1"), &office());
    let index = DiskIndex::open(folder.path(), "2");
    assert_eq!(index.damage(), Some(Damage::Version));
    assert!(index.search(&Query::new("forms"), 10, |_| Some(0)).is_err());
    let synced = sync(&index, &office());
    assert_eq!((synced.rebuilt, synced.added), (Some(Damage::Version), 3));
    assert_eq!(found(&index, &office(), "forms"), ["pdf", "tables"]);
    assert_eq!(index.damage(), None);
}

#[test]
fn missing_index_is_not_reported_as_no_hits() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("index");
    let index = DiskIndex::open(&folder, "1");
    let answer = |index: &DiskIndex| {
        let query = Query::new("forms");
        let searched = index.search(&query, 10, |_| Some(0)).map(drop);
        let looked_at = index.candidates(&query, |_| Some(0)).map(drop);
        [searched, looked_at].map(|done| done.map_err(|error| error.kind()))
    };
    assert_eq!(answer(&index), [Err(ErrorKind::NotFound); 2]);
    sync(&index, &office());
    assert_eq!(answer(&index), [Ok(()); 2]);
    fs::remove_dir_all(&folder).unwrap();
    index.refresh();
    assert_eq!(answer(&index), [Err(ErrorKind::NotFound); 2]);
}

#[test]
fn each_missing_file_is_detected() {
    let names: Vec<String> = files(made().path())
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let endings: Vec<&str> = names.iter().filter_map(|name| name.get(32..)).collect();
    assert!(endings.iter().any(|ending| ending.contains(".del")));
    for ending in endings {
        let folder = made();
        let file = files(folder.path())
            .into_iter()
            .find(|(name, _)| name.get(32..) == Some(ending));
        fs::remove_file(folder.path().join(file.unwrap().0)).unwrap();
        assert!(!is_whole(folder.path()), "{ending}");
    }
}

#[test]
fn exchanged_files_are_detected_despite_valid_checksums() {
    let count = files(made().path()).len();
    for (one, other) in (0..count).flat_map(|one| (0..one).map(move |other| (one, other))) {
        let folder = made();
        let names = files(folder.path());
        let [one, other] = [one, other].map(|file| folder.path().join(&names[file].0));
        let is_segment = |path: &Path| path.file_stem().is_some_and(|stem| stem.len() >= 32);
        if !is_segment(&one)
            || !is_segment(&other)
            || fs::read(&one).unwrap() == fs::read(&other).unwrap()
        {
            continue;
        }
        let between = folder.path().join("between");
        fs::rename(&one, &between).unwrap();
        fs::rename(&other, &one).unwrap();
        fs::rename(&between, &other).unwrap();
        assert!(!is_whole(folder.path()), "{one:?} and {other:?}");
    }
}

#[cfg(unix)]
#[test]
fn foreign_entry_in_place_of_a_file_is_removed_without_blocking() {
    let harms: [(&str, Harm); 3] = [
        ("a pipe", |path| {
            let made = std::process::Command::new("mkfifo").arg(path).status();
            assert!(made.unwrap().success());
        }),
        ("a folder", |path| fs::create_dir(path).unwrap()),
        ("a link", |path| {
            std::os::unix::fs::symlink("/dev/zero", path).unwrap();
        }),
    ];
    let names = files(made().path()).into_iter().map(|(name, _)| name);
    let names: Vec<String> = names
        .map(|name| name.get(32..).unwrap_or(&name).to_owned())
        .collect();
    assert!(
        names.iter().any(|name| name == "writer.lock")
            && names.iter().any(|name| name == "meta.json")
    );
    for ending in names {
        for (what, harm) in harms {
            let folder = made();
            let (name, _) = files(folder.path())
                .into_iter()
                .find(|(name, _)| name.ends_with(&ending))
                .unwrap();
            let path = folder.path().join(&name);
            fs::remove_file(&path).unwrap();
            harm(&path);
            is_whole(folder.path());
            assert!(is_whole(folder.path()), "{what} in the place of `{name}`");
        }
    }
}

/// What is done to a file.
type Harm = fn(&Path);

const HARMS: [(&str, Harm); 5] = [
    ("cut to nothing", |path| open(path).set_len(0).unwrap()),
    ("cut in half", |path| {
        let file = open(path);
        let half = file.metadata().unwrap().len() / 2;
        file.set_len(half).unwrap();
    }),
    ("zeroed", |path| {
        let bytes = fs::metadata(path).unwrap().len();
        fs::write(path, vec![0; usize::try_from(bytes).unwrap()]).unwrap();
    }),
    ("flipped", |path| {
        let flipped: Vec<u8> = fs::read(path).unwrap().iter().map(|byte| !byte).collect();
        fs::write(path, flipped).unwrap();
    }),
    ("grown", |path| {
        let mut bytes = fs::read(path).unwrap();
        bytes.extend([0; 5000]);
        fs::write(path, bytes).unwrap();
    }),
];

fn open(path: &Path) -> fs::File {
    fs::File::options().write(true).open(path).unwrap()
}

#[test]
fn index_damaged_while_open_never_answers_wrongly_or_silently() {
    let skills = many(60);
    let request = "charts of kindfx and letters";
    let whole = made();
    let expected = found(&DiskIndex::open(whole.path(), "1"), &skills, request);
    assert!(!expected.is_empty());
    for ending in [".term", ".idx", ".pos", ".fieldnorm", ".fast", ".store"] {
        for (what, harm) in HARMS {
            let folder = made();
            let index = DiskIndex::open(folder.path(), "1");
            assert_eq!(found(&index, &skills, request), expected);
            // A tick of the clock that files have their times by.
            std::thread::sleep(std::time::Duration::from_millis(12));
            for (name, _) in files(folder.path()) {
                if name.ends_with(ending) {
                    harm(&folder.path().join(name));
                }
            }
            // The second time is no better than the first.
            for _ in 0..2 {
                let answer = index.search(&Query::new(request), 10, |_| Some(0));
                let error = answer.expect_err(&format!("{ending} {what}"));
                assert_eq!(error.kind(), ErrorKind::Unreadable, "{ending} {what}");
            }
            assert!(index.damage().is_some(), "{ending} {what}");
            assert!(sync(&index, &skills).rebuilt.is_some(), "{ending} {what}");
            assert_eq!(found(&index, &skills, request), expected, "{ending} {what}");
        }
    }
}

#[test]
fn index_can_be_deleted_while_open() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("search");
    let (index, other) = (DiskIndex::open(&folder, "1"), DiskIndex::open(&folder, "1"));
    sync(&index, &office());
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(found(&index, &office(), "forms"), ["pdf", "tables"]);
    let synced = sync(&index, &office());
    assert_eq!((synced.added, synced.rebuilt), (3, None));
    other.refresh();
    assert_eq!(found(&other, &office(), "forms"), ["pdf", "tables"]);
    fs::remove_dir_all(&folder).unwrap();
    index.refresh();
    assert_eq!(index.documents(), 0);
}

#[test]
fn foreign_files_are_kept() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("search");
    sync(&DiskIndex::open(&folder, "1"), &office());
    let outside = root.path().join("outside");
    let inside = folder.join("notes.txt");
    fs::write(&outside, "mine").unwrap();
    fs::write(&inside, "mine").unwrap();
    // The engine keeps a list of its files, of which it removes what it does not need.
    let list = format!(r#"["../outside", {outside:?}, "notes.txt/../../outside", "meta.json"]"#);
    fs::write(folder.join(".managed.json"), list).unwrap();
    let index = DiskIndex::open(&folder, "1");
    sync(&index, &many(5));
    sync(&DiskIndex::open(&folder, "2"), &many(6));
    assert!(outside.exists() && inside.exists());
    assert_eq!(DiskIndex::open(&folder, "2").documents(), 6);
}

/// A change of the engine's list.
type Edit = fn(&mut Value);

#[test]
fn tampered_segment_list_is_detected() {
    let changes: [(&str, Edit); 6] = [
        ("more documents", |list| {
            list["segments"][0]["max_doc"] = 900.into();
        }),
        ("fewer documents", |list| {
            list["segments"][0]["max_doc"] = 61.into();
        }),
        ("less is gone", |list| {
            list["segments"][0]["deletes"]["num_deleted_docs"] = 0.into();
        }),
        ("no segments", |list| list["segments"] = json!([])),
        ("another block size", |list| {
            list["index_settings"]["docstore_blocksize"] = 1.into();
        }),
        ("other statistics", |list| {
            let stamp = list["payload"].as_str().unwrap().replacen('0', "1", 1);
            list["payload"] = stamp.into();
        }),
    ];
    for (what, change) in changes {
        let folder = made();
        let path = folder.path().join("meta.json");
        let mut list: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        change(&mut list);
        fs::write(&path, list.to_string()).unwrap();
        assert!(!is_whole(folder.path()), "{what}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_damage_is_detected_or_harmless(
        file in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        is_cut in any::<bool>(),
    ) {
        let folder = made();
        let all = files(folder.path());
        let (name, content) = &all[file.index(all.len())];
        let mut damaged = content.clone();
        let at = place.index(content.len() + 1);
        if is_cut {
            damaged.truncate(at);
        } else {
            let end = (at + bytes.len()).min(damaged.len());
            damaged.splice(at..end, bytes);
        }
        fs::write(folder.path().join(name), &damaged).unwrap();
        is_whole(folder.path());
    }

    #[test]
    fn arbitrary_bytes_in_place_of_a_file_are_detected(file in any::<prop::sample::Index>(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let folder = made();
        let mut all = files(folder.path());
        all.retain(|(name, content)| name.len() > 32 && *content != bytes);
        let (name, _) = &all[file.index(all.len())];
        fs::write(folder.path().join(name), &bytes).unwrap();
        prop_assert!(!is_whole(folder.path()));
    }
}
