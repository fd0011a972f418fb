//! One at a time.

use std::thread;
use std::time::Instant;

use skillfold_core::ErrorKind;
use skillfold_store::{Access, Base};

#[test]
fn changes_under_a_lock_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = "numbers".as_ref();
    let add = |number: u8| {
        let base = Base::open(folder.path()).unwrap();
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
fn wait_for_a_lock_ends() {
    let folder = tempfile::tempdir().unwrap();
    let base = Base::make(&folder.path().join("state"), Access::Private).unwrap();
    let lock = base.lock("lock").unwrap();
    let start = Instant::now();
    let error = base.lock("lock").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(
        error.hint(),
        "Another `skillfold` is changing what this one would change; try again when it is done"
    );
    assert!((5..60).contains(&start.elapsed().as_secs()));
    drop(lock);
    base.lock("lock").unwrap();
}
