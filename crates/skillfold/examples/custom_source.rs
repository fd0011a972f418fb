//! Skills from a place of your own: here an archive in memory, one run of bytes with an index, as in a tar file. The same
//! trait serves a database or an object store.
//!
//! `cargo run -p skillfold --example custom_source`
#![expect(clippy::print_stdout, reason = "the example prints what it did")]

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skillfold::core::name::ResourcePath;
use skillfold::core::source::{
    Cursor, FileBytes, FileState, Folder, FolderPage, ListedFolder, Resource, ResourceKind,
    Resources, Revision, SKILL_FILE, WalkOptions,
};
use skillfold::core::{Error, Limits, Source};
use skillfold::{Environment, Host};

/// An archive. Clones share it, so the program can change what the engine reads.
#[derive(Clone, Debug, Default)]
struct Archive(Arc<Mutex<Contents>>);

#[derive(Debug, Default)]
struct Contents {
    bytes: Vec<u8>,
    /// The place of each file. Neither type can hold `..`, so no path leads out of a skill.
    index: BTreeMap<Folder, BTreeMap<ResourcePath, Range<usize>>>,
}

impl Archive {
    /// Appends a file. Of two with the same path, the newer one counts.
    fn put(&self, folder: &str, path: &str, text: &str) -> Result<(), Box<dyn std::error::Error>> {
        let mut contents = self.lock();
        let start = contents.bytes.len();
        contents.bytes.extend_from_slice(text.as_bytes());
        let files = contents.index.entry(Folder::new(folder)?).or_default();
        files.insert(path.parse()?, start..start + text.len());
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contents {
    fn files(&self, folder: &Folder) -> impl Iterator<Item = (&ResourcePath, &Range<usize>)> {
        self.index.get(folder).into_iter().flatten()
    }

    /// Reads a part of a file; what is past its end is left out.
    fn read(&self, folder: &Folder, path: &str, part: Range<u64>) -> Result<FileBytes, Error> {
        let found = self.files(folder).find(|(file, _)| file.as_str() == path);
        let (_, place) = found.ok_or_else(|| Error::not_found(format!("{folder}/{path}")))?;
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let bytes = self.bytes[place.clone()].iter().copied();
        let bytes = bytes.take(size(part.end)).skip(size(part.start));
        // A file that changed must have another revision. No two copies of a file are at the same place.
        let revision = Revision::new(place.len() as u64).with_inode(1, place.start as u64 + 1);
        Ok(FileBytes::new(bytes.collect(), FileState::stable(revision)))
    }
}

impl Source for Archive {
    fn list(&self, options: &WalkOptions, cursor: Option<&Cursor>) -> Result<FolderPage, Error> {
        let after = cursor.map_or("", Cursor::as_str);
        let (contents, mut page) = (self.lock(), FolderPage::default());
        let folders = contents.index.keys().filter(|one| one.path() > after);
        let listed = folders.filter_map(|folder| {
            let read = contents.read(folder, SKILL_FILE, 0..0).ok()?;
            Some(ListedFolder::new(folder.clone(), read.state.revision))
        });
        page.folders.extend(listed.take(options.page.max(1)));
        // After a full page there may be more.
        let last = page.folders.get(options.page.max(1) - 1);
        page.next = last.map(|last| Cursor::after(last.folder.path()));
        Ok(page)
    }

    fn head(&self, folder: &Folder, bytes: usize, into: &mut Vec<u8>) -> Result<FileState, Error> {
        let read = self.lock().read(folder, SKILL_FILE, 0..bytes as u64)?;
        into.extend(read.bytes);
        Ok(read.state)
    }

    fn read(
        &self,
        folder: &Folder,
        path: &ResourcePath,
        part: Range<u64>,
    ) -> Result<FileBytes, Error> {
        self.lock().read(folder, path.as_str(), part)
    }

    fn resources(
        &self,
        folder: &Folder,
        limits: &Limits,
        cursor: Option<&Cursor>,
    ) -> Result<Resources, Error> {
        let after = cursor.map_or("", Cursor::as_str);
        let (contents, mut page) = (self.lock(), Resources::default());
        let files = (contents.files(folder)).filter(|(path, _)| path.as_str() > after);
        let files = files.map(|(path, place)| Resource::new(path.clone(), place.len() as u64));
        page.files.extend(files.take(limits.resources.max(1)));
        let last = page.files.get(limits.resources.max(1) - 1);
        page.next = last.map(|last| Cursor::after(last.path.as_str()));
        Ok(page)
    }

    fn kind(&self, folder: &Folder, path: &ResourcePath) -> Result<ResourceKind, Error> {
        let (contents, below) = (self.lock(), format!("{}/", path.as_str()));
        let mut files = contents.files(folder);
        if files.any(|(file, _)| file.as_str().starts_with(&below)) {
            return Ok(ResourceKind::Folder);
        }
        contents.read(folder, path.as_str(), 0..0)?;
        Ok(ResourceKind::File)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let archive = Archive::default();
    let pdf = "---\nname: pdf\ndescription: Fills in PDF forms\n---\nRead fields.md first.\n";
    archive.put("pdf", SKILL_FILE, pdf)?;
    archive.put("pdf", "fields.md", "Every field has a name.\n")?;
    let host = Host::new(Environment::new("/nowhere")).bundled("archive", archive.clone());
    let skills = host.discover()?.skills;
    print!("pdf: {}", skills.load("pdf", "")?.text());
    let part = skills.read_range("pdf", "fields.md", 6..11)?;
    println!("bytes 6 to 11 of fields.md: {:?}", part.text());
    assert_eq!(part.text(), Some("field"));
    assert!(skills.read("pdf", "../mail/SKILL.md").is_err());

    // A refresh lists the source again, and reads only the files whose revision differs.
    let mail = "---\nname: mail\ndescription: Writes mail\n---\nBe short.\n";
    archive.put("mail", SKILL_FILE, mail)?;
    archive.put("pdf", SKILL_FILE, &pdf.replace("fields.md", "the form"))?;
    let changes = skills.refresh()?;
    println!("added: {:?}, changed: {:?}", changes.added, changes.changed);
    assert_eq!(skills.load("pdf", "")?.text(), "Read the form first.\n");
    assert!(skills.refresh()?.is_empty());
    Ok(())
}

#[test]
fn example_runs() {
    main().unwrap();
}
