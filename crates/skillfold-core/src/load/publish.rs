//! A skill as it goes out to another host: its frontmatter as it stands, and all its files with their digests.

use crate::catalog::entry::{Entry, Status};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::load::digest::Digest;
use crate::load::files::{FileKind, FileList, SkillFile, all_files};
use crate::load::loader::{Loader, logged};
use crate::name::ResourcePath;
use crate::read::raw_fields::raw_frontmatter;
use crate::read::rules::is_specified;
use crate::read::source::{FileBytes, SKILL_FILE, Stability};
use crate::read::value::{Fields, ScalarValue, Value};

/// Files of a skill that every host takes, by the extension of the protocol.
const FILES: usize = 512;

/// Bytes of all files of a skill that every host takes.
const BYTES: u64 = 16 * 1024 * 1024;

/// A skill as it goes out to another host. What the host reads is compared with it, field by field and file by file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Publication {
    /// Every field of the frontmatter, as it stands.
    pub frontmatter: Fields,
    /// Every file of the skill, by path; `SKILL.md` is one of them.
    pub files: Vec<PublishedFile>,
}

/// A file of a skill that goes out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PublishedFile {
    /// Its path inside the skill.
    pub path: ResourcePath,
    /// What it is, by its name.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// The digest of these bytes.
    pub digest: Digest,
}

impl Entry<'_> {
    /// Returns why a skill cannot go out to another host, as far as the catalog knows; no file is opened to tell.
    ///
    /// Other hosts read the frontmatter by themselves and compare, so that what had to be repaired here is no skill there.
    /// Such a skill is still given to models by its instructions.
    pub fn unpublished(&self) -> Option<&'static str> {
        let (manifest, skill) = (self.manifest(), self.skill());
        let is_named_by_folder =
            |finding: &Diagnostic| matches!(finding.code, Code::MissingName | Code::UnsafeName);
        if self.status() != Status::Active {
            Some("The skill is not active")
        } else if manifest.disable_model_invocation() {
            Some("Only a person may start the skill")
        } else if skill.repaired {
            Some("The frontmatter needs repair, and other hosts would read it as it is")
        } else if skill.diagnostics.iter().any(is_named_by_folder) {
            Some("The frontmatter has no usable `name`")
        } else if !is_specified(manifest.name().as_str()) {
            Some("The name does not meet the specification")
        } else if self.id() != manifest.name().as_str() {
            Some("The name belongs to another skill")
        } else {
            None
        }
    }

    /// Returns why models get the skill by its instructions and no host gets it as it is; nothing, if hosts get it or
    /// models do not.
    pub fn only_by_instructions(&self) -> Option<&'static str> {
        self.unpublished().filter(|_| self.is_visible())
    }
}

impl Loader {
    /// Returns a skill as it goes out to another host. Files are read for their digests once, and again when they changed.
    ///
    /// The error says why it cannot go out: see [`Entry::unpublished`]; or it has more than 512 files or 16 MiB, a file
    /// that cannot be read or does not hold still, or fields that are not what the specification asks for.
    pub fn publish(&self, entry: &Entry<'_>) -> Result<Publication, Error> {
        logged(entry, SKILL_FILE, self.published(entry))
    }

    /// Returns the files of a skill that may go out to another host, by path; none is opened. The error says why it may
    /// not: see [`Entry::unpublished`]; or it has more than 512 files or 16 MiB, or a folder that cannot be listed.
    pub fn published_files(&self, entry: &Entry<'_>) -> Result<Vec<SkillFile>, Error> {
        logged(entry, SKILL_FILE, files_going_out(entry))
    }

    fn published(&self, entry: &Entry<'_>) -> Result<Publication, Error> {
        let files = files_going_out(entry)?;
        let mut publication = Publication {
            frontmatter: Fields::default(),
            files: Vec::with_capacity(files.len()),
        };
        for file in files {
            let (size, digest) = if file.kind == FileKind::Instructions {
                let content = whole(entry, &file.path)?;
                publication.frontmatter = verbatim(entry, &content.bytes)?;
                (content.bytes.len() as u64, Digest::sha256(&content.bytes))
            } else {
                self.digest(entry, &file.path)?
            };
            publication.files.push(PublishedFile {
                path: file.path,
                kind: file.kind,
                size,
                digest,
            });
        }
        if publication.frontmatter.is_empty() {
            return Err(Error::not_found(format!("{}/{SKILL_FILE}", entry.id())));
        }
        Ok(publication)
    }

    /// Returns the size and the digest of a file, which is read unless it is known in its state.
    fn digest(&self, entry: &Entry<'_>, path: &ResourcePath) -> Result<(u64, Digest), Error> {
        let now_ns = self.now_ns();
        let (source, folder) = (entry.root().source(), &entry.skill().folder);
        let revision = source.read(folder, path, 0..0)?.state.revision;
        if let Some(digest) = self.digests().get(&revision) {
            return Ok((revision.size, digest));
        }
        let content = whole(entry, path)?;
        let digest = Digest::sha256(&content.bytes);
        self.digests()
            .insert(content.state.revision, digest, now_ns);
        Ok((content.bytes.len() as u64, digest))
    }
}

/// Returns the files of a skill that may go out.
fn files_going_out(entry: &Entry<'_>) -> Result<Vec<SkillFile>, Error> {
    let refused = |rule| Error::refused(entry.id(), rule);
    if let Some(rule) = entry.unpublished() {
        return Err(refused(rule));
    }
    let FileList {
        files, findings, ..
    } = all_files(entry, usize::MAX)?;
    let is_bound = |code: Code| matches!(code, Code::BoundReached | Code::FolderUnreadable);
    let bound = findings.iter().find(|one| is_bound(one.diagnostic.code));
    if let Some(bound) = bound {
        return Err(Error::invalid(entry.id(), bound.diagnostic.message.clone()));
    }
    if files.len() > FILES {
        return Err(refused("The skill has more than 512 files"));
    }
    let bytes: u64 = files.iter().map(|file| file.size).sum();
    if bytes > BYTES {
        return Err(refused("The files of the skill have more than 16 MiB"));
    }
    Ok(files)
}

/// Reads a whole file that holds still.
fn whole(entry: &Entry<'_>, path: &ResourcePath) -> Result<FileBytes, Error> {
    let source = entry.root().source();
    // One byte more tells that the file grew.
    let content = source.read(&entry.skill().folder, path, 0..BYTES + 1)?;
    let bytes = content.bytes.len() as u64;
    if content.state.stability == Stability::Changing || bytes != content.state.revision.size {
        let rule = "The file kept changing while it was read, or grew over the limit; try again";
        return Err(Error::refused(path.as_str(), rule));
    }
    Ok(content)
}

/// Returns the frontmatter as it stands, if another host takes it for that of the skill.
fn verbatim(entry: &Entry<'_>, bytes: &[u8]) -> Result<Fields, Error> {
    let limits = &entry.catalog().options().read.walk.limits;
    let fields = raw_frontmatter(bytes, limits)
        .map_err(|finding| Error::malformed(finding.message.clone(), Box::new([finding])))?;
    let text = |name: &str| match fields.get(name) {
        Some(Value::Scalar(scalar)) => match scalar.value() {
            ScalarValue::Text(text) => Some(text),
            _ => None,
        },
        _ => None,
    };
    if text("name") != Some(entry.manifest().name().as_str()) {
        let rule = "The field `name` is not a text that is the skill's name";
        return Err(Error::refused(entry.id(), rule));
    }
    if text("description").is_none_or(str::is_empty) {
        let rule = "The field `description` is not a text";
        return Err(Error::refused(entry.id(), rule));
    }
    Ok(fields)
}
