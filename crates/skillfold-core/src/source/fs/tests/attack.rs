//! The fallback and the portable tree resist every attack, and the fallback resists races.

use rustix::fs::{CWD, FileType, Mode, fstat, openat};
use skillfold_testkit::{ATTACKED_SKILL, ExpectedOutcome, contains_secret, hostile_tree};

use super::*;

/// Opens a file below a folder with the fallback, and reads its start if it is a regular file.
fn read_stepwise(folder: &impl AsFd, path: &str) -> io::Result<Vec<u8>> {
    let handle = beneath::open_stepwise(folder.as_fd(), path, beneath::READ_FLAGS)?;
    if !FileType::from_raw_mode(fstat(&handle)?.st_mode).is_file() {
        return Err(AccessRule::NotAFile.into());
    }
    let mut bytes = vec![0; 4096];
    let read = rustix::io::pread(&handle, &mut bytes, 0)?;
    bytes.truncate(read);
    Ok(bytes)
}

#[test]
fn fallback_walk_withstands_every_attack() {
    let tree = hostile_tree();
    let skill = openat(
        CWD,
        tree.root().join(ATTACKED_SKILL),
        beneath::FOLDER_FLAGS,
        Mode::empty(),
    )
    .unwrap();
    let mut tried = 0;
    for attack in tree.attacks() {
        let Ok(path) = attack.text.parse::<ResourcePath>() else {
            assert_ne!(attack.expected, ExpectedOutcome::NotFound, "{attack:?}");
            continue;
        };
        tried += 1;
        match read_stepwise(&skill, path.as_str()) {
            Ok(bytes) => {
                assert_eq!(attack.expected, ExpectedOutcome::Inside, "{attack:?}");
                assert!(!contains_secret(&bytes), "{attack:?}");
            }
            Err(error) => {
                let kernel = beneath::open(skill.as_fd(), path.as_str(), beneath::READ_FLAGS);
                let kernel = kernel.map_err(|error| error.raw_os_error()).err().flatten();
                assert_eq!(error.raw_os_error(), kernel, "{attack:?}");
            }
        }
    }
    assert!(tried > 300, "{tried}");
}

#[test]
fn portable_tree_withstands_every_attack() {
    let tree = hostile_tree();
    let source = FsSource::portable(tree.root()).unwrap();
    let folder = Folder::new(ATTACKED_SKILL).unwrap();
    for attack in tree.attacks() {
        let Ok(path) = attack.text.parse::<ResourcePath>() else {
            continue;
        };
        match source.read(&folder, &path, 0..4096) {
            Ok(content) => {
                assert_eq!(attack.expected, ExpectedOutcome::Inside, "{attack:?}");
                assert!(!contains_secret(&content.bytes), "{attack:?}");
            }
            Err(error) if attack.expected == ExpectedOutcome::Refused => {
                assert_eq!(error.kind(), crate::ErrorKind::Refused, "{attack:?}");
            }
            Err(error) => assert_ne!(error.kind(), crate::ErrorKind::Unreadable, "{attack:?}"),
        }
        let kind = source.kind(&folder, &path);
        assert!(
            kind.is_err() || attack.expected == ExpectedOutcome::Inside,
            "{attack:?}"
        );
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[test]
fn fallback_walk_leaks_nothing_from_outside_in_a_race() {
    use skillfold_testkit::{RaceOutcome, SECRET, Swap};

    for (swapped, outside) in [
        ("root/inner", "outside"),
        ("root/inner/deeper", "outside/deeper"),
        ("root/inner/deeper/file", "outside/deeper/file"),
    ] {
        let arena = tempfile::tempdir().unwrap();
        let at = |path: &str| arena.path().join(path);
        for (folder, text) in [("root/inner", "inside"), ("outside", SECRET)] {
            fs::create_dir_all(at(folder).join("deeper")).unwrap();
            fs::write(at(folder).join("deeper/file"), text).unwrap();
        }
        symlink(at(outside), at("link")).unwrap();
        let root = openat(CWD, at("root"), beneath::FOLDER_FLAGS, Mode::empty()).unwrap();
        let swap = Swap::new(at(swapped), at("link"));
        let counts =
            swap.race(|| RaceOutcome::from_result(read_stepwise(&root, "inner/deeper/file")));
        eprintln!("fallback walk, {swapped} swapped: {counts}");
        assert_eq!(counts.leaked, 0, "{swapped}: {counts}");
        assert!(
            counts.given > 0 && counts.refused > 0,
            "{swapped}: {counts}"
        );
    }
}
