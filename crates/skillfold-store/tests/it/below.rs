//! A write stays below its folder, and replaces only what was read.

use std::fs;
use std::path::Path;

use skillfold_core::{Error, ErrorKind};
use skillfold_store::{Access, ReadFile, WriteRoot};

use crate::{LIMIT, names};

fn existing(base: &WriteRoot, file: &Path) -> ReadFile {
    base.read(file, LIMIT).unwrap().unwrap()
}

fn kind(result: Result<(), Error>) -> ErrorKind {
    result.unwrap_err().kind()
}

#[test]
fn file_changed_since_it_was_read_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (base, file) = (WriteRoot::open(folder.path()).unwrap(), Path::new("a"));
    let path = folder.path().join(file);
    base.create(file, b"old", Access::Ordinary).unwrap();
    let old = existing(&base, file);
    let tries = || {
        let replaced = base.replace(file, &old, b"new", Access::Ordinary);
        [kind(replaced), kind(base.remove(file, &old))]
    };
    fs::write(&path, "mine").unwrap();
    assert_eq!(tries(), [ErrorKind::Refused; 2]);
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    // The same bytes in another file are another file, where the system can tell them apart.
    #[cfg(unix)]
    {
        fs::write(folder.path().join("b"), "old").unwrap();
        fs::rename(folder.path().join("b"), &path).unwrap();
        assert_eq!(tries(), [ErrorKind::Refused; 2]);
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(tries(), [ErrorKind::Refused; 2]);
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn escaping_path_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("base")).unwrap();
    let base = WriteRoot::open(&folder.path().join("base")).unwrap();
    let absolute = folder.path().join("absolute");
    for path in [
        Path::new("../a"),
        Path::new("b/../../a"),
        &absolute,
        Path::new(""),
    ] {
        assert_eq!(
            kind(base.create(path, b"new", Access::Ordinary)),
            ErrorKind::Refused
        );
        assert_eq!(
            base.read(path, LIMIT).unwrap_err().kind(),
            ErrorKind::Refused
        );
    }
    assert_eq!(names(folder.path()), ["base"]);
    assert_eq!(names(&folder.path().join("base")), [""; 0]);
}

#[test]
fn file_over_the_limit_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "12345").unwrap();
    let base = WriteRoot::open(folder.path()).unwrap();
    assert_eq!(
        base.read("a".as_ref(), 5).unwrap().unwrap().bytes(),
        b"12345"
    );
    assert_eq!(
        base.read("a".as_ref(), 4).unwrap_err().kind(),
        ErrorKind::Unreadable
    );
    assert_eq!(base.read("no/a".as_ref(), 4).unwrap(), None);
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use skillfold_core::ErrorKind;
    use skillfold_store::{Access, WriteRoot};

    use super::{existing, kind};
    use crate::{LIMIT, names};

    #[test]
    fn link_in_the_path_is_refused_with_the_reason() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("a"), "old").unwrap();
        let folder = tempfile::tempdir().unwrap();
        symlink(outside.path(), folder.path().join("link")).unwrap();
        symlink(".", folder.path().join("here")).unwrap();
        let base = WriteRoot::open(folder.path()).unwrap();
        for path in ["link/a", "link/b", "link/new/b", "here/a"] {
            let error = base
                .create(path.as_ref(), b"new", Access::Ordinary)
                .unwrap_err();
            assert_eq!(
                (error.kind(), error.hint()),
                (
                    ErrorKind::Refused,
                    "A parent folder is a symbolic link; replace the link with a folder, or name the file by its real path"
                ),
                "{path}"
            );
        }
        assert_eq!(
            base.read("link/a".as_ref(), LIMIT).unwrap_err().kind(),
            ErrorKind::Refused
        );
        assert_eq!(names(outside.path()), ["a"]);
        // A link on the way to the folder itself is up to the caller.
        let linked = WriteRoot::open(&folder.path().join("link")).unwrap();
        let old = existing(&linked, Path::new("a"));
        linked
            .replace(Path::new("a"), &old, b"new", Access::Ordinary)
            .unwrap();
        assert_eq!(fs::read(outside.path().join("a")).unwrap(), b"new");
    }

    #[test]
    fn folder_swapped_for_a_link_after_reading_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["inside", "outside"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("a"), "old").unwrap();
        }
        let (base, file) = (
            WriteRoot::open(folder.path()).unwrap(),
            Path::new("inside/a"),
        );
        let old = existing(&base, file);
        fs::rename(folder.path().join("inside"), folder.path().join("away")).unwrap();
        symlink("outside", folder.path().join("inside")).unwrap();
        assert_eq!(
            kind(base.replace(file, &old, b"new", Access::Ordinary)),
            ErrorKind::Refused
        );
        assert_eq!(kind(base.remove(file, &old)), ErrorKind::Refused);
        assert_eq!(fs::read(folder.path().join("outside/a")).unwrap(), b"old");
        assert_eq!(names(&folder.path().join("outside")), ["a"]);
    }

    #[test]
    fn read_only_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (base, file) = (WriteRoot::open(folder.path()).unwrap(), Path::new("a"));
        base.create(file, b"old", Access::Ordinary).unwrap();
        let old = existing(&base, file);
        fs::set_permissions(folder.path().join("a"), Permissions::from_mode(0o444)).unwrap();
        let error = base
            .replace(file, &old, b"new", Access::Ordinary)
            .unwrap_err();
        assert_eq!(
            (error.kind(), error.hint()),
            (
                ErrorKind::Refused,
                "The file is read-only; make it writable first"
            )
        );
        assert_eq!(kind(base.remove(file, &old)), ErrorKind::Refused);
        assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"old");
    }

    #[test]
    fn private_write_tightens_existing_permissions() {
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
        let folder = tempfile::tempdir().unwrap();
        let (state, file) = (folder.path().join("state"), Path::new("a"));
        fs::create_dir(&state).unwrap();
        fs::set_permissions(&state, Permissions::from_mode(0o777)).unwrap();
        fs::write(state.join("a"), "old").unwrap();
        fs::set_permissions(state.join("a"), Permissions::from_mode(0o666)).unwrap();
        let base = WriteRoot::open_or_create(&state, Access::Private).unwrap();
        base.replace(file, &existing(&base, file), b"new", Access::Private)
            .unwrap();
        base.create(Path::new("b"), b"new", Access::Private)
            .unwrap();
        assert_eq!(mode(&state), 0o700);
        assert_eq!([mode(&state.join("a")), mode(&state.join("b"))], [0o600; 2]);
    }
}
