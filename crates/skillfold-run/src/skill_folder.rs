//! A skill's files in a temporary folder, for sandboxes that have no file system of their own.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::request::{RunFile, RunRequest};

/// Who may read the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Only this user.
    Owner,
    /// Every user who may enter the folder.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(
            dead_code,
            reason = "of Linux alone: there a run has another user than root"
        )
    )]
    Everybody,
}

/// The skill, and what the runner puts beside it. Removed on drop.
#[derive(Debug)]
pub(crate) struct SkillFolder(TempDir);

impl SkillFolder {
    /// Writes a request's files.
    pub(crate) fn create(request: &RunRequest<'_>, readers: Readers) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("skillfold-run-")
            .tempdir()?;
        let folder = Self(folder);
        let skill = folder.skill();
        fs::create_dir(&skill)?;
        for file in request.files(&skill) {
            file.path.parent().map_or(Ok(()), fs::create_dir_all)?;
            write(&file, readers)?;
        }
        Ok(folder)
    }

    /// Adds a scratch folder, and a link to the packages.
    pub(crate) fn with_scratch(self, request: &RunRequest<'_>) -> io::Result<Self> {
        fs::create_dir(self.scratch())?;
        if let Some(packages) = request.packages {
            symlink(packages.source(), packages.path(&self.skill()))?;
        }
        Ok(self)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn skill(&self) -> PathBuf {
        self.path().join("skill")
    }

    pub(crate) fn scratch(&self) -> PathBuf {
        self.path().join("tmp")
    }
}

fn write(file: &RunFile<'_>, readers: Readers) -> io::Result<()> {
    let mode = match (file.is_executable, readers) {
        (true, Readers::Owner) => 0o500,
        (false, Readers::Owner) => 0o400,
        (true, Readers::Everybody) => 0o555,
        (false, Readers::Everybody) => 0o444,
    };
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(mode);
    options.open(&file.path)?.write_all(file.bytes)
}
