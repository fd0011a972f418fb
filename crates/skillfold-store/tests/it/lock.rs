//! One at a time.

use std::{fs, thread};

use skillfold_core::ErrorKind;
use skillfold_store::{Access, WriteRoot};

#[test]
fn changes_under_a_lock_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = "numbers".as_ref();
    let add = |number: u8| {
        let base = WriteRoot::open(folder.path()).unwrap();
        let _lock = base.lock("lock").unwrap();
        let old = base.read(file, 1_000).unwrap();
        let mut bytes = old
            .as_ref()
            .map(|old| old.bytes().to_vec())
            .unwrap_or_default();
        bytes.push(number);
        match old {
            Some(old) => base.replace(file, &old, &bytes, Access::Ordinary),
            None => base.create(file, &bytes, Access::Ordinary),
        }
        .unwrap();
    };
    thread::scope(|scope| {
        for number in 0..16 {
            scope.spawn(move || add(number));
        }
    });
    let mut numbers = std::fs::read(folder.path().join(file)).unwrap();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..16).collect::<Vec<u8>>());
}

#[test]
#[cfg(unix)]
fn link_or_folder_in_place_of_a_lock_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let base = WriteRoot::open(folder.path()).unwrap();
    let target = folder.path().join("target");
    std::os::unix::fs::symlink(&target, folder.path().join("link")).unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    for name in ["link", "folder"] {
        let error = base.lock(name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{name}: {error}");
        assert_eq!(
            error.hint(),
            "The lock's path is a link or not a regular file; remove it and try again"
        );
    }
    assert!(!target.exists());
}
