//! A writing process is killed.
//!
//! The process is this test binary, running only [`writes_until_it_is_killed`], in a folder made for it.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, fs, thread};

use crate::{names, put};

const KILLS: u64 = 100;

/// The file the writer writes, in its working directory.
const FILE: &str = "written-until-killed";

fn contents() -> [Vec<u8>; 2] {
    [vec![b'a'; 1 << 20], vec![b'b'; (1 << 20) + 4_321]]
}

#[test]
fn killed_writer_leaves_old_or_new_content() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE);
    let contents = contents();
    let mut kills_with_leftovers = 0;
    for kill in 0..KILLS {
        put(&file, &contents[0]).unwrap();
        assert_eq!(names(folder.path()), [FILE], "after kill {kill}");
        let mut writer = start_writer(folder.path());
        // A write takes a few milliseconds.
        thread::sleep(Duration::from_micros(kill * 317 % 10_000));
        assert!(writer.try_wait().unwrap().is_none(), "ended by itself");
        writer.kill().unwrap();
        writer.wait().unwrap();
        let content = fs::read(&file).unwrap();
        assert!(contents.contains(&content), "kill {kill} left a part");
        kills_with_leftovers += u32::from(names(folder.path()).len() > 1);
    }
    put(&file, b"last").unwrap();
    assert_eq!(names(folder.path()), [FILE]);
    assert!(
        kills_with_leftovers > 0,
        "no kill came in the middle of a write"
    );
}

/// Starts a writer and returns while it is in its first write.
fn start_writer(folder: &Path) -> Child {
    let mut writer = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "killed::child_that_writes_until_killed",
            "--ignored",
        ])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while names(folder) == [FILE] {
        assert!(writer.try_wait().unwrap().is_none(), "did not write");
        thread::yield_now();
    }
    writer
}

/// Exits right away if there is no file to write, and when the folder is removed.
#[test]
#[ignore = "the process that another test kills"]
fn child_that_writes_until_killed() {
    let file = &env::current_dir().unwrap().join(FILE);
    let contents = contents();
    for content in contents.iter().cycle() {
        if !file.exists() {
            return;
        }
        put(file, content).unwrap();
    }
}
