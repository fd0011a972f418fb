//! The workspace's text files.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{fs, io};

/// Folders with generated, untracked files: by name anywhere, or by path.
const NOT_KEPT: [&str; 8] = [
    ".git",
    "target",
    "dist",
    "node_modules",
    "fuzz/target",
    "fuzz/corpus",
    "fuzz/artifacts",
    "fuzz/coverage",
];

/// A text file: its path from the workspace root, with `/`, and its content.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    pub(crate) fn is_rust(&self) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|extension| extension == "rs")
    }

    pub(crate) fn is_manifest(&self) -> bool {
        self.path == "Cargo.toml" || self.path.ends_with("/Cargo.toml")
    }

    /// Returns the path below `crates/NAME/FOLDER/`, if the file is there.
    pub(crate) fn inside_crate(&self, folder: &str) -> Option<&str> {
        let (_, path) = self.path.strip_prefix("crates/")?.split_once('/')?;
        path.strip_prefix(folder)?.strip_prefix('/')
    }

    /// Returns whether the file belongs to the tidy test itself.
    pub(crate) fn is_tidy(&self) -> bool {
        self.path
            .starts_with("crates/skillfold-testkit/tests/tidy/")
    }
}

/// Returns the workspace folder.
pub(crate) fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| skillfold_testkit::in_checkout(""));
    &ROOT
}

/// Returns every text file that is or could be tracked, ordered by path.
pub(crate) fn files() -> &'static [File] {
    static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
        let mut paths = Vec::new();
        collect(root(), &mut paths);
        let mut files: Vec<File> = paths.iter().filter_map(|path| read(path)).collect();
        files.sort_by(|left, right| left.path.cmp(&right.path));
        files
    });
    &FILES
}

/// Returns the file at a path from the root, if there is one.
pub(crate) fn file(path: &str) -> Option<&'static File> {
    files().iter().find(|file| file.path == path)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the tree can be listed") {
        let entry = entry.expect("an entry of the tree can be read");
        let path = entry.path();
        let kind = entry.file_type().expect("an entry has a type");
        if is_not_kept(&relative(&path)) {
            continue;
        }
        if kind.is_dir() {
            collect(&path, paths);
        } else if kind.is_file() {
            paths.push(path);
        }
    }
}

fn is_not_kept(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    NOT_KEPT.contains(&path) || NOT_KEPT.contains(&name)
}

/// Reads a file, unless it is not text or was removed after it was listed.
fn read(path: &Path) -> Option<File> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => panic!("Could not read `{}`: {error}", path.display()),
    };
    Some(File {
        path: relative(path),
        text: String::from_utf8(bytes).ok()?,
    })
}

fn relative(path: &Path) -> String {
    let path = path
        .strip_prefix(root())
        .expect("the walk stays below the root");
    path.to_string_lossy().replace('\\', "/")
}

#[test]
fn tree_has_source_files_and_no_build_output() {
    assert!(file("crates/skillfold-testkit/tests/tidy/tree.rs").is_some());
    assert!(files().iter().all(|file| !file.path.starts_with("target/")));
    assert!(is_not_kept("fuzz/corpus") && is_not_kept("crates/a/target"));
    assert!(!is_not_kept("crates/a/corpus"));
}

#[test]
fn file_knows_its_position_in_its_crate() {
    let file = File {
        path: "crates/a/src/read/mod.rs".to_owned(),
        text: String::new(),
    };
    assert_eq!(file.inside_crate("src"), Some("read/mod.rs"));
    assert_eq!(file.inside_crate("tests"), None);
}
