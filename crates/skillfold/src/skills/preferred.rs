//! Which skills to list if there is no room for all: those that are pinned, those that were used, and those that match
//! the names of the project's files.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs;
use std::path::Path;

use skillfold_core::{Catalog, Entry};

/// Maximum names of files that are looked at.
const MAX_NAMES: usize = 1_000;

/// Maximum entries of all folders that are read, whatever they are.
const MAX_ENTRIES: usize = if cfg!(test) { 50 } else { 10_000 };

/// Maximum depth of a folder that is looked at.
const MAX_DEPTH: usize = 4;

/// Folders with files that are not the project's own.
const SKIPPED_FOLDERS: [&str; 8] = [
    "node_modules",
    "target",
    "vendor",
    "dist",
    "build",
    "venv",
    "__pycache__",
    "bin",
];

/// Words for kinds of files, by file name or extension, that the name itself does not have.
const FILE_WORDS: [(&str, &[&str]); 33] = [
    ("cargo.toml", &["rust", "cargo"]),
    ("dockerfile", &["docker", "container"]),
    ("makefile", &["make"]),
    ("package.json", &["npm", "node", "javascript"]),
    ("go.mod", &["golang"]),
    ("c", &["c"]),
    ("cpp", &["c++", "cpp"]),
    ("cs", &["csharp", "dotnet"]),
    ("css", &["css", "frontend"]),
    ("dart", &["dart", "flutter"]),
    ("go", &["golang"]),
    ("html", &["html", "frontend"]),
    ("ipynb", &["jupyter", "notebook", "python"]),
    ("java", &["java"]),
    ("js", &["javascript"]),
    ("jsx", &["javascript", "react"]),
    ("kt", &["kotlin", "android"]),
    ("php", &["php"]),
    ("ps1", &["powershell"]),
    ("py", &["python"]),
    ("rb", &["ruby"]),
    ("rs", &["rust"]),
    ("scala", &["scala"]),
    ("sh", &["shell", "bash"]),
    ("sol", &["solidity"]),
    ("sql", &["sql", "database"]),
    ("svelte", &["svelte", "frontend"]),
    ("swift", &["swift", "ios"]),
    ("tex", &["latex"]),
    ("tf", &["terraform"]),
    ("ts", &["typescript"]),
    ("tsx", &["typescript", "react"]),
    ("vue", &["vue", "frontend"]),
];

/// The words that the names of a project's files stand for.
#[derive(Debug, Default)]
pub(crate) struct ProjectWords(HashSet<String>);

impl ProjectWords {
    /// Reads the names of a project's files. Links are not followed, and no file is opened.
    pub(crate) fn read(project: &Path) -> Self {
        Self(project_words(project))
    }
}

/// Returns the ids of skills to list first, the most important first: `first` in its order, then the skills that match the
/// names of the project's files.
pub(crate) fn preferred(catalog: &Catalog, first: &[&str], words: &ProjectWords) -> Vec<Box<str>> {
    let mut ids: Vec<Box<str>> = Vec::new();
    let mut known = HashSet::new();
    let resolved = first.iter().filter_map(|id| catalog.get(id));
    for entry in resolved.filter(Entry::is_visible) {
        if known.insert(entry.id()) {
            ids.push(entry.id().into());
        }
    }
    let words = &words.0;
    if words.is_empty() {
        return ids;
    }
    let about: Vec<(&str, HashSet<String>)> = catalog
        .visible()
        .filter(|entry| !known.contains(entry.id()))
        .map(|entry| (entry.id(), skill_words(&entry, words)))
        .collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in about.iter().flat_map(|(_, words)| words) {
        *counts.entry(word).or_default() += 1;
    }
    // A word that many skills have says little. Fixed-point numbers make the order exact.
    let weight = |word: &String| 1_000_000 / counts.get(word.as_str()).copied().unwrap_or(1).max(1);
    let mut scored: Vec<(usize, &str)> = about
        .iter()
        .map(|(id, words)| (words.iter().map(weight).sum(), *id))
        .filter(|(score, _)| *score > 0)
        .collect();
    scored.sort_by(|(a, left), (b, right)| b.cmp(a).then_with(|| left.cmp(right)));
    ids.extend(scored.into_iter().map(|(_, id)| id.into()));
    ids
}

/// Returns the words of a skill's name, tags and description that the project has too.
fn skill_words(entry: &Entry<'_>, words: &HashSet<String>) -> HashSet<String> {
    let manifest = entry.manifest();
    let texts = [entry.id(), manifest.description()];
    let texts = texts
        .into_iter()
        .chain(manifest.tags().iter().map(|tag| &**tag));
    texts
        .flat_map(split_words)
        .filter(|word| words.contains(word))
        .collect()
}

/// The search ends at the first folder that does not fit into what is left of [`MAX_ENTRIES`]. Some of its entries would be those
/// that the file system happens to list first.
#[expect(
    clippy::disallowed_methods,
    reason = "only names in the project are read, and nothing of them reaches a model"
)]
fn project_words(project: &Path) -> HashSet<String> {
    let mut words = HashSet::new();
    let mut folders = VecDeque::from([(project.to_owned(), 0)]);
    let (mut names, mut entries_left) = (0, MAX_ENTRIES);
    while let Some((folder, depth)) = folders.pop_front() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        let mut entries: Vec<_> = entries.flatten().take(entries_left + 1).collect();
        let Some(left) = entries_left.checked_sub(entries.len()) else {
            return words;
        };
        entries_left = left;
        // The order of a folder's entries differs between machines.
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().to_lowercase();
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if name.starts_with('.') || kind.is_symlink() {
                continue;
            }
            if kind.is_dir() {
                if depth < MAX_DEPTH && !SKIPPED_FOLDERS.contains(&&*name) {
                    folders.push_back((entry.path(), depth + 1));
                }
                continue;
            }
            names += 1;
            if names > MAX_NAMES {
                return words;
            }
            add_file_words(&name, &mut words);
        }
    }
    words
}

fn add_file_words(name: &str, words: &mut HashSet<String>) {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let stands_for = FILE_WORDS
        .iter()
        .filter(|(known, _)| *known == name || *known == extension);
    let stands_for = stands_for.flat_map(|(_, words)| *words);
    words.extend(stands_for.map(|word| (*word).to_owned()));
    if !extension.is_empty() {
        words.insert(extension.to_owned());
    }
}

fn split_words(text: &str) -> impl Iterator<Item = String> {
    let is_other = |c: char| !(c.is_alphanumeric() || c == '+');
    let words = text.split(is_other).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{MAX_ENTRIES, project_words};

    /// Returns the words of a project with these files.
    fn words(files: impl IntoIterator<Item = String>) -> HashSet<String> {
        let folder = tempfile::tempdir().unwrap();
        let files: Vec<_> = files
            .into_iter()
            .map(|file| (file, String::new()))
            .collect();
        skillfold_testkit::write(folder.path(), &files);
        project_words(folder.path())
    }

    #[test]
    fn nested_folders_count_towards_the_entry_limit() {
        let nested = |folders: usize| {
            let folders = (0..folders).map(|number| format!("a/b{number:03}/.keep"));
            words(folders.chain(["z/main.py".to_owned()]))
        };
        assert!(nested(10).contains("python"));
        // The two folders of the project, those in `a` and `main.py` do not fit.
        assert!(!nested(MAX_ENTRIES - 2).contains("python"));
    }

    #[test]
    fn folder_with_too_many_entries_is_left_out_and_not_sampled() {
        let many = (0..=MAX_ENTRIES).map(|number| format!("sub/{number:03}.rs"));
        assert_eq!(
            words(many.chain(["main.py".to_owned()])),
            ["py", "python"].map(str::to_owned).into()
        );
    }
}
