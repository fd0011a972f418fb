//! A project and a home to look at.

use std::path::{Path, PathBuf};

use skillfold::{Environment, Host, Skills, discovery::DiscoveryReport};
use skillfold_testkit::{files, folder};
use tempfile::TempDir;

/// A temporary folder that holds `person`, a home, and `person/app`, a project.
pub(crate) struct World {
    folder: TempDir,
}

impl World {
    /// Lays out a tree below the folder; `person/app/.git/HEAD` makes the project one.
    pub(crate) fn new(tree: &str) -> Self {
        let folder = folder(tree);
        skillfold_testkit::write(
            folder.path(),
            &[("person/app/.git/HEAD".to_owned(), String::new())],
        );
        Self { folder }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, tree: &str) {
        skillfold_testkit::write(self.folder.path(), &files(tree));
    }

    pub(crate) fn environment(&self, directory: &str) -> Environment {
        Environment::new(self.path(directory)).home(self.path("person"))
    }

    pub(crate) fn host(&self) -> Host {
        Host::new(self.environment("person/app"))
    }

    pub(crate) fn skills(&self) -> Skills {
        self.host().discover().unwrap().skills
    }

    /// Returns a text without the path of the temporary folder.
    pub(crate) fn shown(&self, text: &str) -> String {
        text.replace(&*self.folder.path().to_string_lossy(), "")
    }

    /// Returns the catalog of a host as text: id, standing, place.
    pub(crate) fn listed(&self, skills: &Skills) -> String {
        let catalog = skills.catalog();
        let lines = catalog.entries().map(|entry| {
            let root = entry.root().label();
            format!(
                "{} {} {root}/{}\n",
                entry.id(),
                entry.status(),
                entry.skill().folder
            )
        });
        self.shown(&lines.collect::<String>())
    }

    /// Returns what is wrong with the settings as text: origin, finding.
    pub(crate) fn findings(&self, report: &DiscoveryReport) -> String {
        let findings = report.settings.findings.iter();
        let lines = findings.map(|finding| format!("{} {}\n", finding.origin, finding.diagnostic));
        self.shown(&lines.collect::<String>())
    }
}

/// Returns a file of a skill in the fixture's notation.
pub(crate) fn skill(path: &str) -> String {
    let name = Path::new(path)
        .file_name()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    format!("//- {path}/SKILL.md\n---\nname: {name}\ndescription: Does {name}\n---\n")
}

pub(crate) fn tree(skills: &[&str]) -> String {
    skills.iter().map(|path| skill(path)).collect()
}

/// Returns what an answer says to a program.
pub(crate) fn value(answer: &skillfold::ToolAnswer) -> serde_json::Value {
    serde_json::to_value(answer.to_json()).unwrap()
}
