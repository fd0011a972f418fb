//! The commands of Claude Code: each Markdown file below a folder is a skill without other files.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::codes::Code;
use crate::error::Error;
use crate::limits::Limits;
use crate::name::ResourcePath;
use crate::source::fs::budget::WalkCounts;
use crate::source::fs::tree::{AccessRule, Stat};
use crate::source::fs::{FsSource, classify_error, display_path, resolve_links};
use crate::source::{
    Cursor, FileBytes, FileState, Finding, Folder, FolderPage, HiddenPolicy, ListedFolder,
    Resource, ResourceKind, Resources, Revision, SKILL_FILE, SkillLayout, Source, WalkOptions,
};

const EXTENSION: &str = ".md";

/// A source of commands, such as `.claude/commands`, whose files Claude Code lists to its model as skills.
///
/// The file `git/commit.md` is the skill in the folder `git/commit`; so is `git/commit/SKILL.md`. It has no other files.
/// Links are not followed.
pub struct CommandSource {
    files: FsSource,
    /// The folder of commands, as the folder of a skill that has all of them as files.
    root: Folder,
}

impl CommandSource {
    /// Creates a source of the commands in a folder.
    pub fn new(files: FsSource) -> Self {
        let root = Folder::root(files.root_name());
        Self { files, root }
    }

    /// Returns all commands with their files, ordered by folder, and what was skipped.
    fn commands(&self, options: &WalkOptions) -> Result<(Vec<ListedFolder>, Vec<Finding>), Error> {
        let budget = self.files.budget.as_ref();
        let restricted = budget.map(|budget| budget.restrict(options));
        let options = restricted.as_ref().unwrap_or(options);
        let Resources {
            files,
            mut findings,
            next,
        } = self.files.resources(&self.root, &options.limits, None)?;
        let entries = files.len();
        let mut commands: Vec<ListedFolder> = Vec::new();
        let mut is_cut = next.is_some();
        for file in files {
            let Some(folder) = command_folder(&file.path) else {
                continue;
            };
            let is_hidden = file.path.components().any(|name| name.starts_with('.'));
            if is_hidden && options.hidden == HiddenPolicy::Skip {
                let what = "Command was skipped:";
                findings.push(Finding::new(Code::Skipped, file.path.as_str(), what));
                continue;
            }
            if commands.len() >= options.limits.skills {
                is_cut = true;
                break;
            }
            match (Folder::new(folder), self.stat(&file.path)) {
                (Ok(folder), Ok(stat)) => commands.push(ListedFolder::new(folder, stat.revision)),
                _ => findings.push(Finding::new(
                    Code::FolderName,
                    file.path.as_str(),
                    "Command cannot be read:",
                )),
            }
        }
        if is_cut {
            let what = "Search stopped after too many files in";
            findings.push(Finding::new(Code::BoundReached, "", what));
        }
        commands.sort_by(|a, b| a.folder.cmp(&b.folder));
        commands.dedup_by(|a, b| a.folder == b.folder);
        if let Some(budget) = budget {
            let used = WalkCounts {
                folders: 1,
                entries,
                skills: commands.len(),
            };
            budget.spend(used, &mut findings);
        }
        Ok((commands, findings))
    }

    fn stat(&self, file: &ResourcePath) -> Result<Stat, Error> {
        let stat = self.files.tree.stat_beneath(&self.root, file);
        let stat = stat.and_then(|stat| {
            AccessRule::check_readable(stat.kind)?;
            Ok(stat)
        });
        stat.map_err(|error| classify_error(display_path(&self.root, file.as_str()), error))
    }

    /// Returns the file of a command with its state.
    fn find(&self, folder: &Folder) -> Result<(ResourcePath, Stat), Error> {
        let not_found = || Error::not_found(display_path(folder, SKILL_FILE));
        let names = [
            format!("{}{EXTENSION}", folder.path()),
            format!("{}/{SKILL_FILE}", folder.path()),
        ];
        let mut failure = None;
        for name in names {
            let path: ResourcePath = name.parse().map_err(|_| not_found())?;
            match self.stat(&path) {
                Ok(stat) => return Ok((path, stat)),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        Err(failure.unwrap_or_else(not_found))
    }
}

debug!(CommandSource, "CommandSource", |it| "path": it.files.path);

/// Returns the path of the folder that stands for a command; `None` if the file is not one.
fn command_folder(file: &ResourcePath) -> Option<&str> {
    let path = file.as_str();
    let folder = match path.rsplit_once('/') {
        Some((folder, SKILL_FILE)) => folder,
        _ => path.strip_suffix(EXTENSION)?,
    };
    (!folder.is_empty() && !folder.ends_with('/')).then_some(folder)
}

/// Refuses a path that is not the file of a command.
fn check_file(folder: &Folder, path: &ResourcePath) -> Result<(), Error> {
    if path.as_str() == SKILL_FILE {
        return Ok(());
    }
    Err(Error::not_found(display_path(folder, path.as_str())))
}

impl Source for CommandSource {
    fn list(&self, options: &WalkOptions, cursor: Option<&Cursor>) -> Result<FolderPage, Error> {
        let (mut folders, mut findings) = self.commands(options)?;
        if let Some(cursor) = cursor {
            folders.retain(|listed| listed.folder.path() > cursor.as_str());
            findings.clear();
        }
        let page_size = options.page.max(1);
        let is_last = folders.len() <= page_size;
        folders.truncate(page_size);
        let last = folders.last().filter(|_| !is_last);
        Ok(FolderPage {
            next: last.map(|last| Cursor::after(last.folder.path())),
            folders,
            findings,
        })
    }

    fn head(&self, folder: &Folder, bytes: usize, into: &mut Vec<u8>) -> Result<FileState, Error> {
        if let Some(budget) = &self.files.budget {
            budget.take_bytes(bytes, &display_path(folder, SKILL_FILE))?;
        }
        let (file, _) = self.find(folder)?;
        let read = self.files.read(&self.root, &file, 0..bytes as u64)?;
        into.extend(read.bytes);
        Ok(read.state)
    }

    fn revision(&self, folder: &Folder) -> Result<Revision, Error> {
        Ok(self.find(folder)?.1.revision)
    }

    fn read(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        range: Range<u64>,
    ) -> Result<FileBytes, Error> {
        check_file(folder, path)?;
        let (file, _) = self.find(folder)?;
        self.files.read(&self.root, &file, range)
    }

    fn resources(
        &self,
        folder: &Folder,
        _: &Limits,
        cursor: Option<&Cursor>,
    ) -> Result<Resources, Error> {
        let (_, stat) = self.find(folder)?;
        let path = SKILL_FILE.parse().ok();
        let path = path.filter(|_| cursor.is_none_or(|cursor| cursor.as_str() < SKILL_FILE));
        let file = path.map(|path| Resource::new(path, stat.revision.size));
        Ok(Resources {
            files: file.into_iter().collect(),
            ..Resources::default()
        })
    }

    fn location(&self) -> Option<&Path> {
        Some(&self.files.path)
    }

    fn layout(&self) -> SkillLayout {
        SkillLayout::Files
    }

    fn file_path(&self, folder: &Folder) -> Option<PathBuf> {
        let file = self.find(folder).ok().map(|(file, _)| file.to_string());
        let file = file.unwrap_or_else(|| format!("{}{EXTENSION}", folder.path()));
        Some(self.files.path.join(file))
    }

    fn real_path(&self, folder: &Folder) -> Option<PathBuf> {
        Some(resolve_links(&self.file_path(folder)?))
    }

    fn kind(&self, folder: &Folder, path: &ResourcePath) -> Result<ResourceKind, Error> {
        check_file(folder, path)?;
        self.find(folder).map(|_| ResourceKind::File)
    }
}
