//! Several concurrent writers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, thread};

use skillfold_core::ErrorKind;
use skillfold_store::Access;

use crate::{LIMIT, below, create, names, put};

#[test]
fn two_writers_of_a_file_leave_one_content_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    let contents = [vec![b'a'; 200_000], vec![b'b'; 300_000]];
    put(&file, &contents[0]).unwrap();
    let done = AtomicBool::new(false);
    let write = |content: &[u8]| {
        let mut written = 0;
        while written < 50 {
            match put(&file, content) {
                Ok(()) => written += 1,
                // The other writer was quicker.
                Err(error) => assert_eq!(error.kind(), ErrorKind::Refused, "{error}"),
            }
        }
    };
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                assert!(contents.contains(&fs::read(&file).unwrap()));
            }
        });
        let writers = contents
            .each_ref()
            .map(|content| scope.spawn(|| write(content)));
        let results = writers.map(thread::ScopedJoinHandle::join);
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap();
        for result in results {
            result.unwrap();
        }
    });
    assert!(contents.contains(&fs::read(&file).unwrap()));
    assert_eq!(names(folder.path()), ["a"]);
}

#[test]
fn many_writers_do_not_mistake_each_other_for_dead() {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<String> = (0..8).map(|number| format!("file-{number}")).collect();
    thread::scope(|scope| {
        for file in &files {
            let file = folder.path().join(file);
            scope.spawn(move || (0..40).for_each(|_| put(&file, b"whole").unwrap()));
        }
    });
    assert_eq!(names(folder.path()), files);
}

#[test]
fn one_of_many_creators_wins() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new/folder/a");
    let contents: [Vec<u8>; 8] = std::array::from_fn(|index| vec![b'a'; 10_000 + index]);
    let results = thread::scope(|scope| {
        contents
            .each_ref()
            .map(|content| scope.spawn(|| create(&file, content).map_err(|error| error.kind())))
            .map(|creator| creator.join().unwrap())
    });
    let winners: Vec<usize> = (0..8).filter(|index| results[*index].is_ok()).collect();
    let [winner] = winners[..] else {
        panic!("{winners:?} won");
    };
    for (index, result) in results.into_iter().enumerate() {
        assert!(index == winner || result == Err(ErrorKind::Exists));
    }
    assert_eq!(fs::read(&file).unwrap(), contents[winner]);
}

/// One writer appends to a file it read; meanwhile another program replaces the file.
#[test]
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn file_created_by_another_program_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let (file, other) = (folder.path().join("a"), folder.path().join("other"));
    put(&file, b"0 ").unwrap();
    for round in 1..=200 {
        let done = AtomicBool::new(false);
        let start = format!("{round} ");
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let longer = [&*fs::read(&file).unwrap(), b"x"].concat();
                    let added = below(&file, |base, name| {
                        let old = base.read(name, LIMIT)?.expect("it is always there");
                        if longer.starts_with(old.bytes()) {
                            base.replace(name, &old, &longer, Access::Ordinary)?;
                        }
                        Ok(())
                    });
                    if let Err(error) = added {
                        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
                    }
                }
            });
            fs::write(&other, &start).unwrap();
            thread::sleep(Duration::from_micros(round * 37 % 3_000));
            fs::rename(&other, &file).unwrap();
            thread::sleep(Duration::from_millis(3));
            done.store(true, Ordering::Relaxed);
        });
        let content = fs::read_to_string(&file).unwrap();
        assert!(content.starts_with(&start), "round {round}: {content}");
    }
}
