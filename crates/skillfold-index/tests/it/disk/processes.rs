//! Several handles and several processes share one folder.
//!
//! The other process is this test binary, told to run [`child_that_syncs_until_killed`] alone, in a folder made for it.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, thread};

use skillfold_index::{DiskIndex, SyncWriter};

use super::{document, found, key, many, office, skill, sync, word};

const FOLDER: &str = "searched-until-killed";
const KILLS: u64 = 20;

#[test]
fn reader_sees_one_commit_until_reloaded() {
    let folder = tempfile::tempdir().unwrap();
    let (reader, writer) = (
        DiskIndex::open(folder.path(), "1"),
        DiskIndex::open(folder.path(), "1"),
    );
    sync(&writer, &office());
    assert_eq!(reader.documents(), 0);
    reader.refresh();
    let mut skills = office();
    for number in 0..20 {
        skills[0] = skill(&format!("pdf{number}x"), "Fills in forms");
        sync(&writer, &skills);
    }
    assert_eq!(found(&reader, &office(), "forms"), ["pdf", "tables"]);
    reader.refresh();
    assert_eq!(found(&reader, &skills, "forms"), ["pdf19x", "tables"]);
}

#[test]
fn non_writer_searches_the_existing_index_and_reports_missing_documents() {
    let folder = tempfile::tempdir().unwrap();
    let (index, other) = (
        DiskIndex::open(folder.path(), "1"),
        DiskIndex::open(folder.path(), "1"),
    );
    sync(&index, &office());
    let mut skills = office();
    skills.push(skill("plumber", "Repairs pipes"));
    // The first one is in the middle of its change while the other one tries.
    let make = |skill: &super::Skill| {
        let synced = sync(&other, &skills);
        assert_eq!(synced.writer, SyncWriter::Another);
        assert_eq!((synced.kept, synced.missing, synced.added), (3, 1, 0));
        assert_eq!(found(&other, &skills, "forms"), ["pdf", "tables"]);
        Some(document(skill))
    };
    let synced = index
        .sync(skills.iter().map(|skill| (key(skill), || make(skill))))
        .unwrap();
    assert_eq!((synced.writer, synced.added), (SyncWriter::This, 1));
    assert_eq!(sync(&other, &skills).kept, 4);
    assert_eq!(found(&other, &skills, "pipe"), ["plumber"]);
}

#[test]
fn concurrent_writers_never_damage_the_index() {
    let folder = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        for writer in 0..4 {
            let folder = folder.path();
            scope.spawn(move || {
                let index = DiskIndex::open(folder, "1");
                for round in 0..15 {
                    sync(&index, &many(20 + writer + round));
                    assert_eq!(index.damage(), None);
                    index.refresh();
                    assert!(
                        index.documents() == 0
                            || found(&index, &many(20), &word("skill", 7)) == [word("skill", 7)]
                    );
                }
            });
        }
    });
    let index = DiskIndex::open(folder.path(), "1");
    sync(&index, &many(25));
    assert_eq!(index.documents(), 25);
}

#[test]
fn killed_writer_leaves_a_working_index() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join(FOLDER);
    let index = DiskIndex::open(&folder, "1");
    sync(&index, &many(30));
    for kill in 0..KILLS {
        let mut writer = start_writer(root.path(), &index);
        thread::sleep(Duration::from_micros(kill * 1_317 % 20_000));
        assert!(writer.try_wait().unwrap().is_none(), "ended by itself");
        writer.kill().unwrap();
        writer.wait().unwrap();
        let reader = DiskIndex::open(&folder, "1");
        assert_eq!(reader.damage(), None, "kill {kill}");
        assert_eq!(
            found(&reader, &many(30), &word("skill", 7)),
            [word("skill", 7)]
        );
        let synced = sync(&index, &many(30));
        assert_eq!((synced.writer, synced.rebuilt), (SyncWriter::This, None));
        assert_eq!(index.documents(), 30);
    }
    let count = super::files(&folder).len();
    assert!(count < 120, "{count} files");
}

/// Starts a writer and returns when it has made its first change.
fn start_writer(folder: &Path, index: &DiskIndex) -> Child {
    let mut writer = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "disk::processes::child_that_syncs_until_killed",
            "--ignored",
        ])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while index.documents() == 30 {
        assert!(writer.try_wait().unwrap().is_none(), "did not write");
        thread::yield_now();
        index.refresh();
    }
    writer
}

/// Ends by itself where there is no index, or when it is removed.
#[test]
#[ignore = "the process that another test kills"]
fn child_that_syncs_until_killed() {
    let index = DiskIndex::open(FOLDER, "1");
    for round in 0.. {
        if !Path::new(FOLDER).exists() {
            return;
        }
        sync(&index, &many(31 + round % 50));
    }
}
