//! Temporary files of dead writers.

use std::fs::{self, File};

use crate::{create, names, put};

#[test]
fn leftover_of_a_dead_writer_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(".skillfold-write-one"), "par").unwrap();
    put(&folder.path().join("a"), b"whole").unwrap();
    assert_eq!(names(folder.path()), ["a"]);
    fs::write(folder.path().join(".skillfold-write-two"), "par").unwrap();
    create(&folder.path().join("b"), b"whole").unwrap();
    assert_eq!(names(folder.path()), ["a", "b"]);
}

#[test]
fn temporary_file_of_a_live_writer_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let living = File::create(folder.path().join(".skillfold-write-living")).unwrap();
    living.lock().unwrap();
    put(&folder.path().join("a"), b"whole").unwrap();
    assert_eq!(names(folder.path()), [".skillfold-write-living", "a"]);
    // Closing it is not enough: a process started by another test may hold it open for a moment.
    living.unlock().unwrap();
    put(&folder.path().join("a"), b"whole").unwrap();
    assert_eq!(names(folder.path()), ["a"]);
}

#[test]
fn other_files_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".skillfold-write-folder")).unwrap();
    fs::write(folder.path().join("skillfold-write-a"), "mine").unwrap();
    fs::write(folder.path().join(".skillfold"), "mine").unwrap();
    let before = names(folder.path());
    put(&folder.path().join(".skillfold"), b"whole").unwrap();
    assert_eq!(names(folder.path()), before);
}

#[test]
#[cfg(unix)]
fn leftovers_behind_links_are_not_removed() {
    let outside = tempfile::tempdir().unwrap();
    let other = outside.path().join(".skillfold-write-other");
    fs::write(&other, "par").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join(".skillfold-write-link");
    std::os::unix::fs::symlink(&other, &link).unwrap();
    put(&folder.path().join("a"), b"whole").unwrap();
    assert!(other.exists() && link.exists());
}

#[test]
fn failed_write_leaves_no_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("a")).unwrap();
    fs::write(folder.path().join("b"), "old").unwrap();
    put(&folder.path().join("a"), b"new").unwrap_err();
    create(&folder.path().join("b"), b"new").unwrap_err();
    assert_eq!(names(folder.path()), ["a", "b"]);
}
