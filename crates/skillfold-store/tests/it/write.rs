//! Single writes, and what they refuse.

use std::fs;
use std::path::Path;

use skillfold_core::{Error, ErrorKind};

use crate::{create, names, put, remove};

/// Returns an error as a caller sees it, with `ROOT` for the folder.
fn show(error: &Error, root: &Path) -> String {
    let text = format!("{:?}: {error} ({})", error.kind(), error.hint());
    text.replace(root.to_str().unwrap(), "ROOT")
}

#[test]
fn file_is_created_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    put(&file, b"a longer first content").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"a longer first content");
    put(&file, b"second").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"second");
    put(&file, b"").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"");
    assert_eq!(names(folder.path()), ["a"]);
}

#[test]
fn create_does_not_overwrite() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    create(&file, b"old").unwrap();
    let error = create(&file, b"new").unwrap_err();
    assert_eq!(
        show(&error, folder.path()),
        "Exists: File already exists: `ROOT/a` (Choose another name; the existing file was not changed)"
    );
    assert_eq!(fs::read(&file).unwrap(), b"old");
}

#[test]
fn remove_deletes_one_regular_file_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    create(&file, b"old").unwrap();
    create(&folder.path().join("b"), b"other").unwrap();
    remove(&file).unwrap();
    assert_eq!(names(folder.path()), ["b"]);
    assert_eq!(
        remove(folder.path()).unwrap_err().kind(),
        ErrorKind::Refused
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path().join("b"), &file).unwrap();
        assert_eq!(remove(&file).unwrap_err().kind(), ErrorKind::Refused);
        assert_eq!(names(folder.path()), ["a", "b"]);
    }
}

#[test]
fn create_makes_parent_folders() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new/folder/a");
    create(&file, b"first").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"first");
}

#[test]
fn file_in_place_of_a_folder_is_an_error_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    fs::write(&file, "old").unwrap();
    for (write, kind) in [
        (create as fn(&Path, &[u8]) -> _, ErrorKind::Unwritable),
        (put, ErrorKind::Unreadable),
    ] {
        assert_eq!(write(&file.join("b"), b"new").unwrap_err().kind(), kind);
    }
    assert_eq!(fs::read(&file).unwrap(), b"old");
}

#[test]
fn only_regular_files_with_a_name_are_written() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("a")).unwrap();
    let show_both = |path: &str| {
        let path = folder.path().join(path);
        let errors = [create, put].map(|write| write(&path, b"new").unwrap_err());
        let [created, replaced] = errors.map(|error| show(&error, folder.path()));
        assert_eq!(created, replaced);
        created
    };
    assert_eq!(
        show_both("a"),
        "Refused: Refused to write `ROOT/a` (Only regular files are written)"
    );
    assert_eq!(
        show_both("a/.."),
        "Refused: Refused to write `ROOT/a/..` (The path leaves the folder that may be written to)"
    );
    assert_eq!(
        show_both(".skillfold-write-a"),
        "Refused: Refused to write `ROOT/.skillfold-write-a` (Names that start with `.skillfold-write-` are reserved for \
         temporary files)"
    );
}

#[test]
fn message_cannot_carry_a_terminal_escape() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a\u{1b}[31m\n\u{202e}b");
    fs::create_dir(&file).unwrap();
    let error = create(&file, b"").unwrap_err();
    assert_eq!(
        show(&error, folder.path()),
        "Refused: Refused to write `ROOT/a\\u{1b}[31m\\u{a}\\u{202e}b` (Only regular files are written)"
    );
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use skillfold_core::ErrorKind;

    use super::show;
    use crate::{create, names, put};

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn permissions_of_a_replaced_file_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        fs::write(&file, "old").unwrap();
        for kept in [0o600, 0o640, 0o755, 0o666, 0o644] {
            fs::set_permissions(&file, Permissions::from_mode(kept)).unwrap();
            put(&file, b"new").unwrap();
            assert_eq!(mode(&file), kept, "{kept:o}");
        }
    }

    #[test]
    fn replaced_file_loses_its_setuid_and_setgid_bits() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o6755)).unwrap();
        put(&file, b"new").unwrap();
        assert_eq!(mode(&file), 0o755);
    }

    #[test]
    fn new_file_has_ordinary_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain");
        fs::write(&plain, "").unwrap();
        let expected = mode(&plain) & 0o644;
        for (write, name) in [
            (create as fn(&Path, &[u8]) -> _, "created"),
            (put, "replaced"),
        ] {
            let file = folder.path().join(name);
            write(&file, b"new").unwrap();
            assert_eq!(mode(&file), expected, "{name}");
        }
    }

    #[test]
    fn link_is_refused_and_its_target_untouched() {
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().join("target");
        fs::write(&target, "old").unwrap();
        let folder = tempfile::tempdir().unwrap();
        symlink(&target, folder.path().join("link")).unwrap();
        symlink(outside.path(), folder.path().join("folder")).unwrap();
        symlink(outside.path().join("no"), folder.path().join("dangling")).unwrap();
        // A trailing slash would lead through the link.
        for (name, shown) in [
            ("link", "link"),
            ("folder", "folder"),
            ("folder/", "folder"),
            ("dangling", "dangling"),
        ] {
            for write in [create, put] {
                let error = write(&folder.path().join(name), b"new").unwrap_err();
                assert_eq!(
                    show(&error, folder.path()),
                    format!(
                        "Refused: Refused to write `ROOT/{shown}` (Skillfold does not write through links; name the \
                         link's target instead)"
                    )
                );
            }
        }
        assert_eq!(fs::read(&target).unwrap(), b"old");
        assert_eq!(names(outside.path()), ["target"]);
        assert_eq!(names(folder.path()), ["dangling", "folder", "link"]);
    }

    #[test]
    fn other_hard_links_keep_the_old_content() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&file, "old").unwrap();
        fs::hard_link(&file, &other).unwrap();
        put(&file, b"new").unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"old");
    }

    #[test]
    #[ignore = "needs a user whom permissions bind"]
    fn read_only_folder_is_an_error_that_names_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let locked = folder.path().join("locked");
        fs::create_dir(&locked).unwrap();
        fs::write(locked.join("a"), "old").unwrap();
        fs::set_permissions(&locked, Permissions::from_mode(0o555)).unwrap();
        for (write, name) in [(create as fn(&Path, &[u8]) -> _, "b"), (put, "a")] {
            let error = write(&locked.join(name), b"new").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unwritable);
            let shown = error
                .to_string()
                .replace(folder.path().to_str().unwrap(), "ROOT");
            assert_eq!(shown, format!("Could not write `ROOT/locked/{name}`"));
        }
        assert_eq!(names(&locked), ["a"]);
        assert_eq!(fs::read(locked.join("a")).unwrap(), b"old");
        // Otherwise it could not be deleted.
        fs::set_permissions(&locked, Permissions::from_mode(0o755)).unwrap();
    }
}
