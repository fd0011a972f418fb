//! Restores a file that a write displaced, unless it is the one that was read.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek};

use crate::dir::{Dir, identity};
use crate::fault::{CHANGED, WriteFault, WriteResult};
use crate::staged::random_name;

/// Prefix of names that are never cleaned up.
const KEPT_PREFIX: &str = ".skillfold-kept-";
const KEPT_ASIDE: &str = "The file changed twice in the meantime; the other content is beside it, in the newest file whose name starts \
     with `.skillfold-kept-`";

/// Removes a file that was renamed aside if it is still the one that was opened, with the content that was read.
/// Otherwise restores its name.
pub(crate) fn remove_aside(
    dir: &Dir,
    aside: &OsStr,
    name: &OsStr,
    opened: &mut File,
    bytes: &[u8],
) -> WriteResult<()> {
    let removed = is_unchanged(dir, aside, opened, bytes).and_then(|is_unchanged| {
        if is_unchanged {
            dir.remove(aside)?;
        }
        Ok(is_unchanged)
    });
    if let Ok(true) = removed {
        return Ok(());
    }
    restore_name(dir, aside, name)?;
    Err(removed.map_or_else(WriteFault::System, |_| WriteFault::Refused(CHANGED)))
}

/// Renames a temporary file back to `name`, or, if another file has taken `name`, to a name that is never cleaned up.
pub(crate) fn restore_name(dir: &Dir, temporary: &OsStr, name: &OsStr) -> WriteResult<()> {
    match dir.rename_no_replace(temporary, name) {
        Ok(()) => Ok(()),
        // Another process removed it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) => {
            dir.rename_no_replace(temporary, &random_name(KEPT_PREFIX))?;
            Err(WriteFault::Refused(KEPT_ASIDE))
        }
    }
}

/// Returns whether `name` is still the file that was opened, with the content that was read. A missing file is not.
pub(crate) fn is_unchanged(
    dir: &Dir,
    name: &OsStr,
    opened: &mut File,
    bytes: &[u8],
) -> io::Result<bool> {
    let found = dir.stat(name)?;
    let opened_identity = identity(&opened.metadata()?);
    Ok(found.is_some_and(|found| found.identity == opened_identity) && has_content(opened, bytes)?)
}

pub(crate) fn has_content(file: &mut File, bytes: &[u8]) -> io::Result<bool> {
    file.rewind()?;
    let mut current = Vec::with_capacity(bytes.len() + 1);
    file.take(bytes.len() as u64 + 1)
        .read_to_end(&mut current)?;
    Ok(current == bytes)
}

#[cfg(test)]
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[expect(
    clippy::disallowed_methods,
    reason = "tests check the disk without the store"
)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::path::Path;

    use super::*;
    use crate::staged::{FileMode, Staged};

    /// A file `a` that was read as `old`, and its folder.
    struct Fixture {
        folder: tempfile::TempDir,
        dir: Dir,
        opened: File,
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("a"), "old").unwrap();
            let dir = Dir::open(folder.path()).unwrap();
            let opened = dir.open_read_write("a".as_ref()).unwrap();
            Self {
                folder,
                dir,
                opened,
            }
        }

        /// Replaces `name` as another program would.
        fn replace_file(&self, name: &Path, content: &str) {
            let other = self.folder.path().join("other");
            fs::write(&other, content).unwrap();
            fs::rename(other, self.folder.path().join(name)).unwrap();
        }

        /// Exchanges `a` for `new`, running `before` and `after` around it, and describes the result.
        fn exchange(mut self, before: fn(&Self), after: fn(&Self, &Path)) -> String {
            let staged = Staged::write(&self.dir, b"new", &FileMode::Ordinary).unwrap();
            let temporary = staged.name().to_owned();
            before(&self);
            self.dir.exchange(&temporary, "a".as_ref()).unwrap();
            after(&self, temporary.as_ref());
            let settled = staged.finish_exchange("a".as_ref(), &mut self.opened, b"old");
            self.describe(settled)
        }

        /// Removes `a`, running `before` and `after` around the rename, and describes the result.
        fn remove(mut self, before: fn(&Self), after: fn(&Self, &Path)) -> String {
            let aside = crate::staged::temporary_name();
            before(&self);
            self.dir.rename("a".as_ref(), &aside).unwrap();
            after(&self, aside.as_ref());
            let removed = remove_aside(&self.dir, &aside, "a".as_ref(), &mut self.opened, b"old");
            self.describe(removed)
        }

        fn describe(&self, done: WriteResult<()>) -> String {
            let done = match done {
                Ok(()) => "done".to_owned(),
                Err(WriteFault::Refused(CHANGED)) => "changed".to_owned(),
                Err(WriteFault::Refused(KEPT_ASIDE)) => "kept".to_owned(),
                Err(WriteFault::System(_)) => "failed".to_owned(),
                Err(other) => panic!("{other:?}"),
            };
            let entries = fs::read_dir(self.folder.path()).unwrap();
            let mut files: Vec<String> = entries
                .map(|entry| {
                    let path = entry.unwrap().path();
                    let name = path.file_name().unwrap().to_str().unwrap();
                    let name = name.trim_end_matches(|digit: char| digit.is_ascii_hexdigit());
                    let name = if name.is_empty() { "a" } else { name };
                    format!("{name}={}", fs::read_to_string(&path).unwrap())
                })
                .collect();
            files.sort();
            format!("{done}: {}", files.join(" "))
        }
    }

    fn noop(_: &Fixture) {}

    #[test]
    fn file_that_is_still_the_one_that_was_read_goes() {
        assert_eq!(Fixture::new().exchange(noop, |_, _| {}), "done: a=new");
        assert_eq!(Fixture::new().remove(noop, |_, _| {}), "done: ");
    }

    #[test]
    fn file_of_another_writer_gets_its_name_back() {
        let before = |fixture: &Fixture| fixture.replace_file("a".as_ref(), "third");
        assert_eq!(
            Fixture::new().exchange(before, |_, _| {}),
            "changed: a=third"
        );
        assert_eq!(Fixture::new().remove(before, |_, _| {}), "changed: a=third");
    }

    #[test]
    fn file_of_another_writer_gets_its_name_back_when_the_new_one_was_removed() {
        let before = |fixture: &Fixture| fixture.replace_file("a".as_ref(), "third");
        let after =
            |fixture: &Fixture, _: &Path| fs::remove_file(fixture.folder.path().join("a")).unwrap();
        assert_eq!(Fixture::new().exchange(before, after), "changed: a=third");
    }

    #[test]
    fn files_of_two_other_writers_both_stay() {
        let before = |fixture: &Fixture| fixture.replace_file("a".as_ref(), "third");
        let after = |fixture: &Fixture, _: &Path| fixture.replace_file("a".as_ref(), "fourth");
        assert_eq!(
            Fixture::new().exchange(before, after),
            "kept: .skillfold-kept-=fourth a=third"
        );
        assert_eq!(
            Fixture::new().remove(before, after),
            "kept: .skillfold-kept-=third a=fourth"
        );
    }

    #[test]
    fn old_file_that_is_gone_or_another_has_changed() {
        let gone = |fixture: &Fixture, temporary: &Path| {
            fs::remove_file(fixture.folder.path().join(temporary)).unwrap();
        };
        assert_eq!(Fixture::new().exchange(noop, gone), "changed: a=new");
        let other = |fixture: &Fixture, temporary: &Path| fixture.replace_file(temporary, "third");
        assert_eq!(Fixture::new().exchange(noop, other), "changed: a=third");
        assert_eq!(Fixture::new().remove(noop, other), "changed: a=third");
    }

    #[test]
    fn old_content_is_back_when_it_cannot_be_compared() {
        for act in [Fixture::exchange as fn(_, _, _) -> _, Fixture::remove] {
            let mut fixture = Fixture::new();
            let file = fixture.folder.path().join("a");
            // This handle is write-only.
            fixture.opened = OpenOptions::new().write(true).open(file).unwrap();
            assert_eq!(act(fixture, noop, |_, _| {}), "failed: a=old");
        }
    }

    #[test]
    fn temporary_name_of_another_file_stays() {
        let fixture = Fixture::new();
        let staged = Staged::write(&fixture.dir, b"new", &FileMode::Ordinary).unwrap();
        fixture.replace_file(staged.name().as_ref(), "third");
        drop(staged);
        assert_eq!(
            fixture.describe(Ok(())),
            "done: .skillfold-write-=third a=old"
        );
    }
}
