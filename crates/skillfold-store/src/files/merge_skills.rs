//! Merges two versions of a skill that have a common origin: the user's and the author's.

use std::collections::BTreeSet;

use skillfold_core::Error;
use skillfold_core::name::ResourcePath;

use crate::change::{FileEdit, Merged, merge};
use crate::files::skill_files::SkillFiles;

/// The end of the name under which the author's file is kept beside the user's.
const UPSTREAM: &str = ".upstream";

/// Two versions of a skill in one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergedSkill {
    /// The files.
    pub files: SkillFiles,
    /// The files that both changed in the same lines. The user's stays; the author's is beside it, with `.upstream` at the end of
    /// its name.
    pub conflicts: Vec<String>,
}

/// Merges what the user (`current`) and the author (`new`) made of `base`. Nothing of either is lost.
///
/// # Errors
///
/// [`Invalid`](skillfold_core::ErrorKind::Invalid) if a name is too long to keep a file beside it.
///
/// ```
/// use skillfold_store::{SkillFiles, merge_skills};
///
/// let skill = |text: &str| -> SkillFiles {
///     [("SKILL.md".parse().unwrap(), text.as_bytes().to_vec())].into_iter().collect()
/// };
/// let merged = merge_skills(&skill("a\nb\nc\n"), &skill("A\nb\nc\n"), &skill("a\nb\nC\n"))?;
/// assert_eq!(merged.files, skill("A\nb\nC\n"));
/// # Ok::<(), skillfold_core::Error>(())
/// ```
pub fn merge_skills(
    base: &SkillFiles,
    current: &SkillFiles,
    new: &SkillFiles,
) -> Result<MergedSkill, Error> {
    let all = base.files.keys().chain(current.files.keys());
    let all: BTreeSet<&ResourcePath> = all.chain(new.files.keys()).collect();
    let mut merged = MergedSkill::from(current.clone());
    let (mut added, mut beside) = (Vec::new(), Vec::new());
    for path in all {
        let name = path.as_str();
        let (was, mine, theirs) = (base.get(name), current.get(name), new.get(name));
        if theirs == was || mine == theirs {
            continue;
        }
        if mine == was {
            match theirs {
                Some(theirs) if mine.is_none() => added.push((path, theirs)),
                theirs => merged.set(path.clone(), theirs.map(<[u8]>::to_vec)),
            }
            continue;
        }
        let both = mine
            .zip(theirs)
            .map(|(mine, theirs)| merge(was.unwrap_or_default(), mine, theirs));
        if let Some(Merged::Clean(bytes)) = both {
            merged.set(path.clone(), Some(bytes));
            continue;
        }
        // A file that the author removed and the user changed just stays.
        beside.extend(theirs.map(|theirs| (path, was, theirs)));
        merged.conflicts.push(name.to_owned());
    }
    let taken = Names::of(&merged.files);
    for (path, theirs) in added {
        if taken.has_room_for(path.as_str()) {
            merged.set(path.clone(), Some(theirs.to_vec()));
        } else {
            beside.push((path, None, theirs));
            merged.conflicts.push(path.to_string());
        }
    }
    for (path, was, theirs) in beside {
        merged.set_beside(path.as_str(), was, theirs)?;
    }
    Ok(merged)
}

/// The names of files and folders, as a file system that ignores case compares them.
struct Names {
    files: BTreeSet<String>,
    folders: BTreeSet<String>,
}

impl Names {
    fn of(files: &SkillFiles) -> Self {
        let mut names = Self {
            files: BTreeSet::new(),
            folders: BTreeSet::new(),
        };
        for (path, _) in files.iter() {
            let path = path.to_lowercase();
            let folders = path.match_indices('/').map(|(at, _)| path[..at].to_owned());
            names.folders.extend(folders);
            names.files.insert(path);
        }
        names
    }

    /// Returns whether a new file does not meet one with another path, nor a folder.
    fn has_room_for(&self, path: &str) -> bool {
        let path = path.to_lowercase();
        let mut above = path.match_indices('/').map(|(at, _)| &path[..at]);
        !self.files.contains(&path)
            && !self.folders.contains(&path)
            && !above.any(|folder| self.files.contains(folder))
    }
}

impl From<SkillFiles> for MergedSkill {
    /// Returns a version that needs no merge.
    fn from(files: SkillFiles) -> Self {
        Self {
            files,
            conflicts: Vec::new(),
        }
    }
}

impl MergedSkill {
    fn set(&mut self, path: ResourcePath, new: Option<Vec<u8>>) {
        let old = self.files.get(path.as_str()).map(<[u8]>::to_vec);
        self.files = self.files.edited(&[FileEdit { path, old, new }]);
    }

    /// Keeps the author's file beside the user's. The author's file of the last time is replaced, unless somebody changed it.
    fn set_beside(&mut self, name: &str, was: Option<&[u8]>, theirs: &[u8]) -> Result<(), Error> {
        let taken = Names::of(&self.files);
        // Where a file has the name of one of its folders, beside that.
        let flat = name.replace('/', "-");
        let mut names = (1..).flat_map(|number| {
            let end = match number {
                1 => UPSTREAM.to_owned(),
                number => format!("{UPSTREAM}-{number}"),
            };
            [format!("{name}{end}"), format!("{flat}{end}")]
        });
        let is_free = |beside: &String| match self.files.get(beside) {
            None => taken.has_room_for(beside),
            there => there == was || there == Some(theirs),
        };
        let beside = names.find(is_free).unwrap_or_default();
        let invalid =
            |error: skillfold_core::name::InvalidPath| Error::invalid(&beside, error.rule());
        let path = beside.parse().map_err(invalid)?;
        self.set(path, Some(theirs.to_vec()));
        Ok(())
    }
}
