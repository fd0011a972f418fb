//! Judges skills, and corrects what can be corrected safely.

use std::path::{Path, PathBuf};

use skillfold_core::{
    Catalog, Diagnostic, Error, Folder, FsSource, Limits, Lookup, Profile, Reading, Root, Scope,
    Severity, Source, discover, lint_skill,
};

/// A `SKILL.md` that was judged.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Checked {
    /// The file, as the person names it.
    pub file: PathBuf,
    /// The text that the places in the findings are of.
    pub text: String,
    /// What was found.
    pub findings: Vec<Diagnostic>,
    /// What was corrected, with places in the file as it was.
    pub fixed: Vec<Diagnostic>,
}

impl Checked {
    /// Returns how many findings are this bad.
    pub fn count(&self, severity: Severity) -> usize {
        let findings = self.findings.iter();
        findings
            .filter(|finding| finding.severity == severity)
            .count()
    }
}

/// What is to be judged: a `SKILL.md` of a root.
#[derive(Clone, Debug)]
pub struct Target {
    root: Root,
    folder: Folder,
}

impl Target {
    /// Returns all skills of a catalog and all folders that were refused, ordered by root and folder.
    pub fn all(catalog: &Catalog) -> Vec<Self> {
        let skills = catalog
            .entries()
            .map(|entry| (entry.skill().source, &entry.skill().folder));
        let refused = catalog
            .refused()
            .iter()
            .map(|refused| (refused.source, &refused.folder));
        let mut places: Vec<_> = skills.chain(refused).collect();
        places.sort();
        let target = |(source, folder): (usize, &Folder)| Self {
            root: catalog.roots()[source].clone(),
            folder: folder.clone(),
        };
        places.into_iter().map(target).collect()
    }

    /// Returns what an id, a name or a folder's name of a catalog leads to.
    pub fn named(catalog: &Catalog, id: &str) -> Option<Self> {
        let (source, folder) = match catalog.find(id) {
            Lookup::Skill(entry) => (entry.skill().source, &entry.skill().folder),
            Lookup::Refused(refused) => (refused.source, &refused.folder),
            _ => return None,
        };
        Some(Self {
            root: catalog.roots()[source].clone(),
            folder: folder.clone(),
        })
    }

    /// Returns the skills at a path: a `SKILL.md`, the folder of a skill, or a folder of skills. None where there is no
    /// skill.
    pub fn at(path: &Path, reading: &Reading) -> Result<Vec<Self>, Error> {
        let is_file = path.file_name().is_some_and(|name| name == "SKILL.md");
        let folder = match path.parent() {
            Some(parent) if is_file && parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) if is_file => parent,
            _ => path,
        };
        let source = FsSource::open(folder)?;
        let found = discover(&[&source as &dyn Source], reading);
        let skills = found.skills.iter().map(|skill| &skill.folder);
        let mut folders: Vec<Folder> = skills
            .chain(found.refused.iter().map(|refused| &refused.folder))
            .cloned()
            .collect();
        folders.sort();
        let root = Root::new(Scope::User, folder.to_string_lossy(), source);
        let target = |folder| Self {
            root: root.clone(),
            folder,
        };
        Ok(folders.into_iter().map(target).collect())
    }

    /// Judges the file.
    pub fn check(&self, profile: Profile, limits: &Limits) -> Result<Checked, Error> {
        let text = self.read(limits)?;
        Ok(Checked {
            file: self.file(),
            text: String::from_utf8_lossy(&text).into_owned(),
            findings: lint_skill(self.root.source(), &self.folder, profile, limits)?,
            fixed: Vec::new(),
        })
    }

    /// Corrects what can be corrected without changing what the skill says, writes the file if anything was, and judges
    /// it then.
    #[cfg(feature = "store")]
    pub fn fix(&self, profile: Profile, limits: &Limits) -> Result<Checked, Error> {
        let bytes = self.read(limits)?;
        let fixed = skillfold_core::fix(&bytes, self.folder.name(), profile);
        if let Some(bytes) = &fixed.bytes {
            let path = self.root.path_of(&self.folder);
            let path = path.ok_or_else(|| {
                Error::refused_write(self.file().to_string_lossy(), "Only files are written")
            })?;
            skillfold_store::replace(&path.join("SKILL.md"), bytes)?;
        }
        let mut checked = self.check(profile, limits)?;
        checked.fixed = fixed.fixed;
        Ok(checked)
    }

    /// Returns the file as the person names it.
    fn file(&self) -> PathBuf {
        let folder = self.root.path_of(&self.folder);
        let folder =
            folder.unwrap_or_else(|| Path::new(self.root.label()).join(self.folder.path()));
        let file = folder.join("SKILL.md");
        file.strip_prefix(".").map(Path::to_owned).unwrap_or(file)
    }

    fn read(&self, limits: &Limits) -> Result<Vec<u8>, Error> {
        let path = "SKILL.md"
            .parse()
            .map_err(|_| Error::not_found("SKILL.md"))?;
        let content = self
            .root
            .source()
            .read(&self.folder, &path, 0..limits.read_bytes)?;
        Ok(content.bytes)
    }
}
