//! What lost its name to a write gets it back, unless it is what was read.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek};

use crate::dir::{Dir, identity};
use crate::fault::{CHANGED, WriteFault, WriteResult};
use crate::staged::random_name;

/// How a name starts that nobody removes.
const KEPT_PREFIX: &str = ".skillfold-kept-";
const KEPT: &str = "The file changed twice in the meantime; the other content is beside it, in the newest file whose name starts \
     with `.skillfold-kept-`";

/// Removes what had a name and has a temporary one now, if it is still the file that was opened, with the content that was
/// read. Otherwise it gets its name back.
pub(crate) fn remove_aside(
    dir: &Dir,
    aside: &OsStr,
    name: &OsStr,
    opened: &mut File,
    bytes: &[u8],
) -> WriteResult<()> {
    let removed = is_still(dir, aside, opened, bytes).and_then(|is_still| {
        if is_still {
            dir.remove(aside)?;
        }
        Ok(is_still)
    });
    if let Ok(true) = removed {
        return Ok(());
    }
    put_back(dir, aside, name)?;
    Err(removed.map_or_else(WriteFault::System, |_| WriteFault::Refused(CHANGED)))
}

/// Gives what has a temporary name the name that it had; if another file has that by now, a name that nobody removes.
pub(crate) fn put_back(dir: &Dir, temporary: &OsStr, name: &OsStr) -> WriteResult<()> {
    match dir.rename_to_free(temporary, name) {
        Ok(()) => Ok(()),
        // Somebody else removed it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) => {
            dir.rename_to_free(temporary, &random_name(KEPT_PREFIX))?;
            Err(WriteFault::Refused(KEPT))
        }
    }
}

/// Returns whether a name is that of the file that was opened, with the content that was read. A name that is gone is not.
pub(crate) fn is_still(
    dir: &Dir,
    name: &OsStr,
    opened: &mut File,
    bytes: &[u8],
) -> io::Result<bool> {
    let found = dir.look(name)?;
    let own = identity(&opened.metadata()?);
    Ok(found.is_some_and(|found| found.identity == own) && has_content(opened, bytes)?)
}

pub(crate) fn has_content(file: &mut File, bytes: &[u8]) -> io::Result<bool> {
    file.rewind()?;
    let mut now = Vec::with_capacity(bytes.len() + 1);
    file.take(bytes.len() as u64 + 1).read_to_end(&mut now)?;
    Ok(now == bytes)
}

#[cfg(test)]
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[expect(
    clippy::disallowed_methods,
    reason = "a test looks at the disk behind the store's back"
)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::path::Path;

    use super::*;
    use crate::staged::{Rights, Staged};

    /// A file `a` that was read as `old`, and the folder that it is in.
    struct Read {
        folder: tempfile::TempDir,
        dir: Dir,
        opened: File,
    }

    impl Read {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("a"), "old").unwrap();
            let dir = Dir::open(folder.path()).unwrap();
            let opened = dir.open_to_change("a".as_ref()).unwrap();
            Self {
                folder,
                dir,
                opened,
            }
        }

        /// Another program puts its file in the place of a name.
        fn put(&self, name: &Path, content: &str) {
            let other = self.folder.path().join("other");
            fs::write(&other, content).unwrap();
            fs::rename(other, self.folder.path().join(name)).unwrap();
        }

        /// Exchanges `a` for `new`, with what others do before and after, and returns the hint and what is there.
        fn exchange(mut self, before: fn(&Self), after: fn(&Self, &Path)) -> String {
            let staged = Staged::write(&self.dir, b"new", &Rights::Ordinary).unwrap();
            let temporary = staged.name().to_owned();
            before(&self);
            self.dir.exchange(&temporary, "a".as_ref()).unwrap();
            after(&self, temporary.as_ref());
            let settled = staged.settle("a".as_ref(), &mut self.opened, b"old");
            self.shown(settled)
        }

        /// Takes `a` away, with what others do before and after, and returns the hint and what is there.
        fn remove(mut self, before: fn(&Self), after: fn(&Self, &Path)) -> String {
            let aside = crate::staged::temporary_name();
            before(&self);
            self.dir.rename("a".as_ref(), &aside).unwrap();
            after(&self, aside.as_ref());
            let removed = remove_aside(&self.dir, &aside, "a".as_ref(), &mut self.opened, b"old");
            self.shown(removed)
        }

        fn shown(&self, done: WriteResult<()>) -> String {
            let done = match done {
                Ok(()) => "done".to_owned(),
                Err(WriteFault::Refused(CHANGED)) => "changed".to_owned(),
                Err(WriteFault::Refused(KEPT)) => "kept".to_owned(),
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

    fn nothing(_: &Read) {}

    #[test]
    fn file_that_is_still_the_one_that_was_read_goes() {
        assert_eq!(Read::new().exchange(nothing, |_, _| {}), "done: a=new");
        assert_eq!(Read::new().remove(nothing, |_, _| {}), "done: ");
    }

    #[test]
    fn file_of_another_writer_gets_its_name_back() {
        let before = |read: &Read| read.put("a".as_ref(), "third");
        assert_eq!(Read::new().exchange(before, |_, _| {}), "changed: a=third");
        assert_eq!(Read::new().remove(before, |_, _| {}), "changed: a=third");
    }

    #[test]
    fn file_of_another_writer_gets_its_name_back_when_the_new_one_was_removed() {
        let before = |read: &Read| read.put("a".as_ref(), "third");
        let after = |read: &Read, _: &Path| fs::remove_file(read.folder.path().join("a")).unwrap();
        assert_eq!(Read::new().exchange(before, after), "changed: a=third");
    }

    #[test]
    fn files_of_two_other_writers_both_stay() {
        let before = |read: &Read| read.put("a".as_ref(), "third");
        let after = |read: &Read, _: &Path| read.put("a".as_ref(), "fourth");
        assert_eq!(
            Read::new().exchange(before, after),
            "kept: .skillfold-kept-=fourth a=third"
        );
        assert_eq!(
            Read::new().remove(before, after),
            "kept: .skillfold-kept-=third a=fourth"
        );
    }

    #[test]
    fn old_file_that_is_gone_or_another_has_changed() {
        let gone = |read: &Read, temporary: &Path| {
            fs::remove_file(read.folder.path().join(temporary)).unwrap();
        };
        assert_eq!(Read::new().exchange(nothing, gone), "changed: a=new");
        let other = |read: &Read, temporary: &Path| read.put(temporary, "third");
        assert_eq!(Read::new().exchange(nothing, other), "changed: a=third");
        assert_eq!(Read::new().remove(nothing, other), "changed: a=third");
    }

    #[test]
    fn old_content_is_back_when_it_cannot_be_compared() {
        for act in [Read::exchange as fn(_, _, _) -> _, Read::remove] {
            let mut read = Read::new();
            let file = read.folder.path().join("a");
            // It cannot be read by this handle.
            read.opened = OpenOptions::new().write(true).open(file).unwrap();
            assert_eq!(act(read, nothing, |_, _| {}), "failed: a=old");
        }
    }

    #[test]
    fn temporary_name_of_another_file_stays() {
        let read = Read::new();
        let staged = Staged::write(&read.dir, b"new", &Rights::Ordinary).unwrap();
        read.put(staged.name().as_ref(), "third");
        drop(staged);
        assert_eq!(read.shown(Ok(())), "done: .skillfold-write-=third a=old");
    }
}
