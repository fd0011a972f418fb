//! What was read of skills is kept whole or not at all, and nothing else is ever taken for it.
#![expect(
    clippy::disallowed_methods,
    reason = "the cache is looked at, and broken, from outside"
)]

use std::fs;
use std::path::Path;
use std::thread;

use proptest::prelude::*;
use skillfold_core::ErrorKind;
use skillfold_index::BlobCache;

fn read(cache: &BlobCache) -> Result<Option<Vec<u8>>, String> {
    let kept = cache.read("/skills", "mark");
    kept.map(|kept| kept.map(|kept| kept.bytes().to_vec()))
        .map_err(|error| error.with_cause())
}

fn cache(folder: &Path) -> BlobCache {
    BlobCache::new(folder.join("deep").join("skills"))
}

#[test]
fn cache_round_trips() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    assert_eq!(read(&cache), Ok(None));
    cache.write("/skills", "mark", b"first").unwrap();
    cache.write("/skills", "mark", b"second").unwrap();
    assert_eq!(read(&cache), Ok(Some(b"second".to_vec())));
    assert_eq!(fs::read_dir(cache.folder()).unwrap().count(), 1);
}

#[test]
fn current_file_is_read_and_a_newer_format_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    cache.write("/skills", "mark", b"").unwrap();
    let (path, today) = (
        cache.path("/skills", "mark"),
        include_bytes!("../formats/cache.skills"),
    );
    fs::write(&path, today).unwrap();
    assert_eq!(read(&cache), Ok(Some(b"content of a cache".to_vec())));
    let name = path.file_name().unwrap().to_str().unwrap();
    let next = path.with_file_name(name.replacen("2-", "3-", 1));
    assert_ne!(next, path);
    fs::write(&next, "skillfold meta 3").unwrap();
    cache.write("/skills", "mark", b"other").unwrap();
    assert_eq!(read(&cache), Ok(Some(b"other".to_vec())));
    assert_eq!(fs::read(&next).unwrap(), b"skillfold meta 3");
}

#[test]
fn roots_and_read_options_have_separate_files() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    let all = [("/a", "m"), ("/b", "m"), ("/a", "n"), ("m", "/a")];
    for (root, mark) in all {
        cache
            .write(root, mark, format!("{root} {mark}").as_bytes())
            .unwrap();
    }
    for (root, mark) in all {
        let kept = cache.read(root, mark).unwrap().unwrap();
        assert_eq!(kept.bytes(), format!("{root} {mark}").as_bytes());
    }
}

#[cfg(unix)]
#[test]
fn cache_is_readable_only_by_the_user() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    cache.write("/skills", "mark", b"text").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(cache.folder()), 0o700);
    assert_eq!(mode(&cache.path("/skills", "mark")), 0o600);
}

#[cfg(unix)]
#[test]
fn cache_writable_by_others_is_not_used() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    cache.write("/skills", "mark", b"text").unwrap();
    let path = cache.path("/skills", "mark");
    let set =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    set(&path, 0o620);
    assert!(read(&cache).unwrap_err().contains("writable by others"));
    set(&path, 0o600);
    set(cache.folder(), 0o777);
    assert!(read(&cache).unwrap_err().contains("writable by others"));
    let error = cache.write("/skills", "mark", b"text").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unwritable);
}

#[cfg(unix)]
#[test]
fn link_in_place_of_a_cache_file_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    cache.write("/skills", "mark", b"text").unwrap();
    let path = cache.path("/skills", "mark");
    let elsewhere = folder.path().join("elsewhere");
    fs::rename(&path, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    assert!(read(&cache).is_err());
    cache.write("/skills", "mark", b"new").unwrap();
    assert_eq!(read(&cache), Ok(Some(b"new".to_vec())));
    assert!(fs::read(&elsewhere).unwrap().ends_with(b"text"));
}

#[test]
fn folder_in_place_of_a_cache_file_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    cache.write("/other", "mark", b"text").unwrap();
    fs::create_dir(cache.path("/skills", "mark")).unwrap();
    assert!(read(&cache).unwrap_err().contains("not a regular file"));
}

#[test]
fn number_of_cached_roots_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    for number in 0..40 {
        cache.write(&format!("/{number}"), "mark", b"text").unwrap();
    }
    assert_eq!(fs::read_dir(cache.folder()).unwrap().count(), 32);
    assert!(cache.read("/39", "mark").unwrap().is_some(), "the newest");
}

#[test]
fn concurrent_writers_and_readers_see_whole_files() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    cache.write("/skills", "mark", &[0; 10_000]).unwrap();
    thread::scope(|scope| {
        for byte in 0..3_u8 {
            let cache = &cache;
            scope.spawn(move || {
                for round in 0..50 {
                    let bytes = vec![byte; 10_000 + round];
                    cache.write("/skills", "mark", &bytes).unwrap();
                }
            });
        }
        for _ in 0..200 {
            let bytes = read(&cache).unwrap().unwrap();
            assert!(bytes.len() >= 10_000 && bytes.iter().all(|byte| *byte == bytes[0]));
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn modified_cache_file_is_not_used(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        at: prop::sample::Index,
        bit in 0_u32..8,
        is_cut: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        cache.write("/skills", "mark", &bytes).unwrap();
        let path = cache.path("/skills", "mark");
        let mut file = fs::read(&path).unwrap();
        let at = at.index(file.len());
        if is_cut {
            file.truncate(at);
        } else {
            file[at] ^= 1 << bit;
        }
        fs::write(&path, &file).unwrap();
        prop_assert!(read(&cache).is_err());
    }

    #[test]
    fn arbitrary_cache_file_is_not_used(file in prop::collection::vec(any::<u8>(), 0..300)) {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        cache.write("/skills", "mark", b"").unwrap();
        fs::write(cache.path("/skills", "mark"), &file).unwrap();
        prop_assert!(read(&cache).is_err());
    }
}
