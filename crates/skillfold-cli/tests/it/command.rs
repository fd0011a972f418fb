//! The command in a project and a home of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use skillfold_testkit::{files, folder, write};
use tempfile::TempDir;

/// A temporary folder with `person`, a home, and `app`, a project.
pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new(tree: &str) -> Self {
        let folder = folder(tree);
        let empty = |path: &str| (path.to_owned(), String::new());
        write(
            folder.path(),
            &[empty("app/.git/HEAD"), empty("person/.keep")],
        );
        Self { folder }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, tree: &str) {
        write(self.folder.path(), &files(tree));
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    /// Runs the command in the project, and returns stdout, stderr and the exit code as text.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let output = skillfold(&self.path("app"), &self.path("person"))
            .args(arguments)
            .output()
            .unwrap();
        self.shown(&output)
    }

    /// Returns what is on stdout.
    pub(crate) fn data(&self, arguments: &[&str]) -> String {
        let output = skillfold(&self.path("app"), &self.path("person"))
            .args(arguments)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn shown(&self, output: &Output) -> String {
        let text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            let root = self.folder.path().canonicalize().unwrap();
            let text = text.replace(&*root.to_string_lossy(), "ROOT");
            text.replace(&*program().to_string_lossy(), "PROGRAM")
        };
        let (data, talk) = (text(&output.stdout), text(&output.stderr));
        let talk: String = talk.lines().map(|line| format!("! {line}\n")).collect();
        format!("{data}{talk}exit {}\n", output.status.code().unwrap())
    }
}

/// Returns the real path of the command.
pub(crate) fn program() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_skillfold"))
        .canonicalize()
        .unwrap()
}

/// Returns the command, in a folder, with a home and nothing else around it.
pub(crate) fn skillfold(directory: &Path, home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillfold"));
    command
        .current_dir(directory)
        .env_clear()
        .env("HOME", home)
        .env("SKILLFOLD_NO_HOME_LOOKUP", "1");
    command
}

pub(crate) fn skill(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\nDo it.\n")
}
