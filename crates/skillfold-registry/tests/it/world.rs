//! A repository, and the cache of a machine.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use skillfold_registry::{Address, FetchOptions, Fetcher, Pin};
use tempfile::TempDir;

const DAY: u64 = 24 * 60 * 60;
/// The day on which the tests start.
pub(crate) const TODAY: u64 = 20_000;

pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_format("sha1")
    }

    /// Makes a repository whose ids are hashes of a kind.
    pub(crate) fn with_format(format: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("repository")).unwrap();
        let world = Self { folder };
        let format = format!("--object-format={format}");
        world.git(&["init", "--quiet", "--initial-branch=main", &format]);
        world.git(&["config", "uploadpack.allowFilter", "true"]);
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.path("repository")
    }

    pub(crate) fn source(&self) -> String {
        format!("file://{}", self.repository().display())
    }

    /// Returns the address of a version.
    pub(crate) fn address(&self, version: &str) -> Address {
        Address::parse(&format!("{}@{version}", self.source())).unwrap()
    }

    /// Runs git in the repository, today.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_on(arguments, TODAY, b"")
    }

    /// Runs git in the repository on a day, with some input.
    pub(crate) fn git_on(&self, arguments: &[&str], day: u64, input: &[u8]) -> String {
        let date = format!("{} +0000", day * DAY);
        let mut git = Command::new("git");
        git.current_dir(self.repository()).args(arguments);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        for role in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{role}_NAME"), "Ada <x> 99999999999");
            git.env(format!("GIT_{role}_EMAIL"), "ada@example.com");
            git.env(format!("GIT_{role}_DATE"), &date);
        }
        let mut child = git
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Writes a file, to be committed.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.repository().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Writes the `SKILL.md` of some folders.
    pub(crate) fn skills(&self, folders: &[&str]) {
        for folder in folders {
            let text = format!("---\ndescription: Of {folder}.\n---\n");
            self.write(&format!("{folder}/SKILL.md"), text);
        }
    }

    /// Commits everything, and returns the commit.
    pub(crate) fn commit(&self) -> String {
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "--message", "commit"]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Makes a commit of a tree, and returns it.
    pub(crate) fn commit_tree(&self, tree: &str) -> String {
        let commit = self.git(&["commit-tree", "-m", "commit", tree]);
        self.git(&["update-ref", "refs/heads/main", &commit]);
        commit
    }

    /// Makes a tree of lines as `git ls-tree` writes them.
    pub(crate) fn tree(&self, lines: &str) -> String {
        self.git_on(&["mktree"], TODAY, lines.as_bytes())
    }

    /// Returns options with an empty git configuration.
    pub(crate) fn options(&self) -> FetchOptions {
        let mut options = FetchOptions::new(self.path("cache"), self.repository());
        let variable = |name: &str, value: OsString| (OsString::from(name), value);
        options.environment = vec![
            variable("PATH", std::env::var_os("PATH").unwrap()),
            variable("HOME", self.path("home").into()),
            variable("GIT_CONFIG_GLOBAL", self.path("gitconfig").into()),
        ];
        options
    }

    /// Sets the user's git configuration.
    pub(crate) fn configure(&self, text: &str) {
        fs::write(self.path("gitconfig"), text).unwrap();
    }

    pub(crate) fn fetcher(&self) -> Fetcher {
        Fetcher::new(self.options())
    }

    /// Reads a skill of a commit with an empty memory, and returns its files or the error.
    pub(crate) fn read(&self, commit: &str, folder: &str) -> String {
        shown(&self.source(), || {
            let (address, pin) = (self.address(commit), Pin::commit(commit, None));
            let mut fetcher = self.fetcher();
            let files = fetcher.open(&address, &pin)?.read(folder)?;
            let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
            Ok(paths.join(", "))
        })
    }

    /// Returns the folder of the one copy in the cache.
    pub(crate) fn copy(&self) -> PathBuf {
        let entries = fs::read_dir(self.path("cache/git")).unwrap();
        let mut folders = entries.map(|entry| entry.unwrap().path());
        folders.find(|path| path.is_dir()).unwrap()
    }

    /// Returns whether the copy in the cache has an object.
    pub(crate) fn has(&self, id: &str) -> bool {
        let copy = self.copy();
        let copy = copy.to_str().unwrap();
        let found = self.git_on(
            &["--git-dir", copy, "cat-file", "--batch-check"],
            TODAY,
            id.as_bytes(),
        );
        !found.ends_with("missing")
    }

    /// Makes a git that writes what it is called with into the file `log`, and returns options with it.
    #[cfg(unix)]
    pub(crate) fn logging(&self) -> FetchOptions {
        use std::os::unix::fs::PermissionsExt as _;

        let (git, log) = (self.path("git"), self.path("log"));
        let text = format!(
            "#!/bin/sh\necho \"pid=$$ ssh=$GIT_SSH_COMMAND protocols=$GIT_ALLOW_PROTOCOL $@\" >> '{}'\nexec git \"$@\"\n",
            log.display()
        );
        fs::write(&git, text).unwrap();
        fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
        let mut options = self.options();
        options.git = git.into();
        options
    }

    /// Returns the lines of the log that have a word.
    #[cfg(unix)]
    pub(crate) fn logged(&self, word: &str) -> Vec<String> {
        let log = fs::read_to_string(self.path("log")).unwrap();
        let lines = log.lines().filter(|line| line.contains(word));
        lines.map(str::to_owned).collect()
    }
}

/// Shows a result, with the source and ids replaced.
pub(crate) fn shown(
    source: &str,
    result: impl FnOnce() -> Result<String, skillfold_core::Error>,
) -> String {
    let text = result().unwrap_or_else(|error| format!("{error}\nhint: {}", error.hint()));
    text.replace(source, "SOURCE")
}
