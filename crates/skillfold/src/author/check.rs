//! Lints skills and applies fixes that are safe.

use std::path::{Path, PathBuf};

use skillfold_core::author::lint_skill;
use skillfold_core::catalog::Lookup;
use skillfold_core::choose::check_triggers;
use skillfold_core::diagnostic::Severity;
use skillfold_core::read::{Profile, ReadOptions, discover, parse};
use skillfold_core::source::{FileBytes, Folder, HiddenPolicy, LinkPolicy, SKILL_FILE};
use skillfold_core::view::NotFor;
use skillfold_core::{Catalog, Diagnostic, Error, FsSource, Limits, Root, Scope, Source};
#[cfg(feature = "store")]
use skillfold_core::{Refusal, source::Stability};

use crate::environment::{Environment, real_path};

/// A `SKILL.md` that was checked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckedSkill {
    /// The file, as the user names it.
    pub file: PathBuf,
    /// The text that the spans of the findings refer to.
    pub text: String,
    /// What the description says the skill is not for.
    pub not_for: Vec<NotFor>,
    /// The problems that remain.
    pub findings: Vec<Diagnostic>,
    /// The problems that were fixed. Their spans refer to the file before the fix.
    pub fixed: Vec<Diagnostic>,
}

impl CheckedSkill {
    /// Returns the number of findings with this severity.
    pub fn count(&self, severity: Severity) -> usize {
        let findings = self.findings.iter();
        findings
            .filter(|finding| finding.severity == severity)
            .count()
    }
}

/// A `SKILL.md` below a root, to be checked.
#[derive(Clone, Debug)]
pub struct CheckTarget {
    root: Root,
    folder: Folder,
}

impl CheckTarget {
    /// Returns all skills of a catalog and all refused folders, ordered by root and folder.
    pub fn all_in(catalog: &Catalog) -> Vec<Self> {
        let skills = catalog
            .entries()
            .map(|entry| (entry.skill().source, &entry.skill().folder));
        let refused = catalog
            .refused()
            .iter()
            .map(|refused| (refused.source, &refused.folder));
        let mut folders: Vec<_> = skills.chain(refused).collect();
        folders.sort();
        let folders = folders.into_iter();
        folders
            .map(|(source, folder)| Self::in_catalog(catalog, source, folder))
            .collect()
    }

    fn in_catalog(catalog: &Catalog, source: usize, folder: &Folder) -> Self {
        Self {
            root: catalog.roots()[source].clone(),
            folder: folder.clone(),
        }
    }

    /// Returns the skill or refused folder with an id, a name or a folder name.
    pub fn by_id(catalog: &Catalog, id: &str) -> Option<Self> {
        let (source, folder) = match catalog.resolve(id) {
            Lookup::Skill(entry) => (entry.skill().source, &entry.skill().folder),
            Lookup::Refused(refused) => (refused.source, &refused.folder),
            _ => return None,
        };
        Some(Self::in_catalog(catalog, source, folder))
    }

    /// Returns the skills at a path: a `SKILL.md`, the folder of a skill, or a folder of skills. Returns an empty list
    /// if there is no skill. Folders that start with a dot are searched too: whoever names a folder means all of it.
    pub fn at_path(
        path: &Path,
        options: &ReadOptions,
        links: LinkPolicy,
    ) -> Result<Vec<Self>, Error> {
        let is_file = path.file_name().is_some_and(|name| name == SKILL_FILE);
        let folder = match path.parent() {
            Some(parent) if is_file => parent,
            _ => path,
        };
        let source = FsSource::open_with(folder, links)?;
        let mut options = options.clone();
        options.walk.hidden = HiddenPolicy::Search;
        let found = discover(&[&source as &dyn Source], &options);
        let skills = found.skills.iter().map(|skill| &skill.folder);
        let refused = found.refused.iter().map(|refused| &refused.folder);
        let mut folders: Vec<Folder> = skills.chain(refused).cloned().collect();
        folders.sort();
        let root = Root::new(Scope::User, folder.to_string_lossy(), source);
        let target = |folder| Self {
            root: root.clone(),
            folder,
        };
        Ok(folders.into_iter().map(target).collect())
    }

    /// Returns the project's folder if the file belongs to the current project and is inside it after links are
    /// resolved.
    pub fn within_project(&self, environment: &Environment) -> Option<PathBuf> {
        let project = environment.project();
        let is_inside = self.root.scope() == Scope::Project && self.is_inside(project);
        is_inside.then(|| project.to_owned())
    }

    /// Returns the root's folder if the file is inside it after links are resolved, or the project's folder if the root
    /// is a folder of the project.
    pub fn within_root(&self, environment: &Environment) -> Option<PathBuf> {
        let root = self.root.source().location()?;
        let bounds = match environment.relative_to_project(root) {
            Some(_) => environment.project(),
            None => root,
        };
        self.is_inside(root).then(|| bounds.to_owned())
    }

    /// Returns the folder that bounds a fix of a skill named by its id: the project for a project's skill, otherwise
    /// the skill's root, or the skill's own folder if a link of the user leads out of that root.
    pub fn fix_bounds(&self, environment: &Environment) -> Option<PathBuf> {
        if self.root.scope() == Scope::Project {
            return Some(environment.project().to_owned());
        }
        self.within_root(environment).or_else(|| self.real_folder())
    }

    fn is_inside(&self, folder: &Path) -> bool {
        let (file, folder) = (real_path(&self.file()), real_path(folder));
        file.zip(folder)
            .is_some_and(|(file, folder)| file.starts_with(folder))
    }

    /// Lints the file and its triggers.
    pub fn check(&self, profile: Profile, limits: &Limits) -> Result<CheckedSkill, Error> {
        let content = self.read(limits)?;
        let mut findings = lint_skill(self.root.unchecked_source(), &self.folder, profile, limits)?;
        let parsed = parse(&content.bytes, self.folder.name());
        let mut not_for = Vec::new();
        if let Some(manifest) = parsed.manifest {
            findings.extend(check_triggers(&manifest));
            not_for = NotFor::all(manifest.description());
        }
        Ok(CheckedSkill {
            not_for,
            file: self.file(),
            text: String::from_utf8_lossy(&content.bytes).into_owned(),
            findings,
            fixed: Vec::new(),
        })
    }

    /// Applies the fixes that do not change what the skill says, writes the file if there were any, and checks the
    /// result.
    ///
    /// After links are resolved, the file must be inside the folder `within`. A file that is not, that could not be
    /// read in full, that changes in the meantime or that may not be written is refused.
    #[cfg(feature = "store")]
    pub fn fix(
        &self,
        within: &Path,
        profile: Profile,
        limits: &Limits,
    ) -> Result<CheckedSkill, Error> {
        let content = self.read(limits)?;
        let fixed = skillfold_core::author::fix(&content.bytes, self.folder.name(), profile);
        if let Some(bytes) = &fixed.bytes {
            self.write(within, content, bytes)?;
        }
        let mut checked = self.check(profile, limits)?;
        if fixed.bytes.is_some() {
            checked.fixed = fixed.fixed;
        }
        Ok(checked)
    }

    /// Replaces the file if it still has the content that was read.
    ///
    /// Links are resolved only to get the file's real path; the store opens that path without following a link.
    #[cfg(feature = "store")]
    fn write(&self, within: &Path, read: FileBytes, bytes: &[u8]) -> Result<(), Error> {
        let file = self.file();
        let refused = |rule| Err(Error::refused(file.to_string_lossy(), Refusal::Write, rule));
        if self.root.source().location().is_none() {
            return refused("Only files are written");
        }
        if read.bytes.len() as u64 != read.state.revision.size() {
            return refused("The file is too large to fix");
        }
        if read.state.stability != Stability::Stable {
            return refused("The file changed while it was being fixed; try again");
        }
        let (Some(path), Some(within)) = (real_path(&file), real_path(within)) else {
            return Err(Error::not_found(file.to_string_lossy()));
        };
        let Ok(inside) = path.strip_prefix(&within) else {
            return refused(
                "A link leaves the folder that may be fixed; name the link's target instead",
            );
        };
        let base = skillfold_store::WriteRoot::open(&within)?;
        let access = skillfold_store::Access::Ordinary;
        base.replace(inside, &read.into(), bytes, access)
    }

    /// Returns the path of the file for display.
    pub fn file(&self) -> PathBuf {
        let file = self.root.source().file_path(&self.folder);
        file.unwrap_or_else(|| {
            let folder = Path::new(self.root.label()).join(self.folder.path());
            folder.join(SKILL_FILE)
        })
    }

    /// Returns the skill's folder after links are resolved: whoever names it can have the file fixed.
    pub fn real_folder(&self) -> Option<PathBuf> {
        Some(real_path(&self.file())?.parent()?.to_owned())
    }

    fn read(&self, limits: &Limits) -> Result<FileBytes, Error> {
        let path = SKILL_FILE
            .parse()
            .map_err(|_| Error::not_found(SKILL_FILE))?;
        // The user asks what is there, also where a model would not get it.
        let source = self.root.unchecked_source();
        source.read(&self.folder, &path, 0..limits.read_bytes)
    }
}
