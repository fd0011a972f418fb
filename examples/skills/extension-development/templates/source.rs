//! Skills from a table of files. Replace the table by your database or archive.
//!
//! Save it as `src/main.rs` of a program that depends on the crate `skillfold`, and run `cargo run`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use skillfold::core::name::ResourcePath;
use skillfold::core::source::{
    Cursor, FileBytes, FileState, Finding, Folder, FolderPage, ListedFolder, Resource, ResourceKind, Resources, Revision,
    SKILL_FILE, WalkOptions,
};
use skillfold::core::{Code, Error, Limits, Root, Scope, Source};
use skillfold::{Environment, Host};

/// The version and the content of each file, by skill and path.
type Rows = BTreeMap<(String, String), (u64, String)>;

#[derive(Clone, Debug, Default)]
struct Table(Arc<Mutex<Rows>>);

impl Table {
    fn put(&self, skill: &str, path: &str, version: u64, text: &str) {
        let key = (skill.to_owned(), path.to_owned());
        self.0.lock().unwrap().insert(key, (version, text.to_owned()));
    }

    fn file(&self, folder: &Folder, path: &str) -> Result<(Vec<u8>, FileState), Error> {
        let key = (folder.path().to_owned(), path.to_owned());
        let rows = self.0.lock().unwrap();
        let (version, text) = rows.get(&key).ok_or_else(|| Error::not_found(path))?;
        Ok((text.clone().into_bytes(), FileState::stable(revision(*version, text))))
    }
}

/// Two equal revisions must mean equal content.
fn revision(version: u64, text: &str) -> Revision {
    Revision::new(text.len() as u64).with_inode(0, version)
}

impl Source for Table {
    fn list(&self, options: &WalkOptions, cursor: Option<&Cursor>) -> Result<FolderPage, Error> {
        let mut page = FolderPage::default();
        for ((skill, path), (version, text)) in self.0.lock().unwrap().iter() {
            let is_before = cursor.is_some_and(|cursor| &**skill <= cursor.as_str());
            if path != SKILL_FILE || is_before {
                continue;
            }
            if page.folders.len() == options.page {
                page.next = page.folders.last().map(|last| Cursor::after(last.folder.path()));
                break;
            }
            match Folder::new(&**skill) {
                Ok(folder) => page.folders.push(ListedFolder::new(folder, revision(*version, text))),
                // Nothing is skipped silently.
                Err(error) => page.findings.push(Finding::new(Code::FolderName, skill, &format!("{error}:"))),
            }
        }
        Ok(page)
    }

    fn head(&self, folder: &Folder, bytes: usize, into: &mut Vec<u8>) -> Result<FileState, Error> {
        let (content, state) = self.file(folder, SKILL_FILE)?;
        into.extend_from_slice(&content[..bytes.min(content.len())]);
        Ok(state)
    }

    fn read(&self, folder: &Folder, path: &ResourcePath, range: Range<u64>) -> Result<FileBytes, Error> {
        let (content, state) = self.file(folder, path.as_str())?;
        let clamp = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(content.len());
        let (start, end) = (clamp(range.start), clamp(range.end));
        Ok(FileBytes::new(content[start..end.max(start)].to_vec(), state))
    }

    fn resources(&self, folder: &Folder, limits: &Limits, cursor: Option<&Cursor>) -> Result<Resources, Error> {
        let mut page = Resources::default();
        for ((skill, path), (_, text)) in self.0.lock().unwrap().iter() {
            if skill != folder.path() || cursor.is_some_and(|cursor| &**path <= cursor.as_str()) {
                continue;
            }
            if page.files.len() == limits.resources {
                page.next = page.files.last().map(|last| Cursor::after(last.path.as_str()));
                break;
            }
            match path.parse() {
                Ok(path) => page.files.push(Resource::new(path, text.len() as u64)),
                Err(error) => page.findings.push(Finding::new(Code::FolderName, path, &format!("{error}:"))),
            }
        }
        Ok(page)
    }

    fn kind(&self, folder: &Folder, path: &ResourcePath) -> Result<ResourceKind, Error> {
        // This table has no folders inside a skill.
        self.file(folder, path.as_str()).map(|_| ResourceKind::File)
    }
}

fn main() -> Result<(), Error> {
    let table = Table::default();
    table.put("pdf", "SKILL.md", 1, "---\nname: pdf\ndescription: Fills in forms\n---\nRead forms.md.\n");
    table.put("pdf", "forms.md", 1, "Every field has a name.\n");

    let root = Root::new(Scope::User, "our table", table.clone());
    let skills = Host::new(Environment::new("/nowhere")).root(root).discover()?.skills;
    assert_eq!(skills.load("pdf", "")?.text(), "Read forms.md.\n");
    assert_eq!(skills.read("pdf", "forms.md")?.text(), Some("Every field has a name.\n"));

    table.put("pdf", "SKILL.md", 2, "---\nname: pdf\ndescription: Fills in forms\n---\nRead forms.md first.\n");
    skills.refresh()?;
    assert_eq!(skills.load("pdf", "")?.text(), "Read forms.md first.\n");
    Ok(())
}
