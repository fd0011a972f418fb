//! Publishing a skill to another host: its raw frontmatter, and all its files with their digests.

use crate::catalog::entry::{Entry, Status};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, Refusal};
use crate::load::digest::Digest;
use crate::load::files::{FileKind, FileList, SkillFile, list_all};
use crate::load::loader::{Loader, log_refusal};
use crate::name::ResourcePath;
use crate::read::raw_fields::raw_frontmatter;
use crate::read::rules::is_spec_name;
use crate::read::value::{Fields, ScalarValue, Value};
use crate::source::{FileBytes, SKILL_FILE, Stability};

/// Maximum files of a published skill: as many as the protocol extension requires every host to accept.
const MAX_FILES: usize = 512;

/// Maximum total bytes of a published skill's files: as many as every host must accept.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A skill as it is published to another host, which compares what it reads with this, field by field and file by file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Publication {
    /// Every field of the frontmatter, unrepaired.
    pub frontmatter: Fields,
    /// Every file of the skill, including `SKILL.md`, sorted by path.
    pub files: Vec<PublishedFile>,
}

/// A file of a published skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PublishedFile {
    /// The path inside the skill.
    pub path: ResourcePath,
    /// The kind of file, derived from its name.
    pub kind: FileKind,
    /// The size in bytes.
    pub size: u64,
    /// The digest of the content.
    pub digest: Digest,
}

impl Entry<'_> {
    /// Returns why the skill cannot be published to another host, as far as the catalog knows. Opens no file.
    ///
    /// Other hosts parse the frontmatter themselves and compare, so a skill that had to be repaired here is not valid
    /// there. Models can still load its instructions.
    pub fn unpublishable_reason(&self) -> Option<&'static str> {
        let (manifest, skill) = (self.manifest(), self.skill());
        let is_named_by_folder =
            |finding: &Diagnostic| matches!(finding.code, Code::MissingName | Code::UnsafeName);
        if self.status() != Status::Active {
            Some("The skill is not active")
        } else if manifest.disable_model_invocation() {
            Some("Only the user may start the skill")
        } else if skill.repaired {
            Some("The frontmatter needs repair, and other clients would read it unrepaired")
        } else if skill.diagnostics.iter().any(is_named_by_folder) {
            Some("The frontmatter has no usable `name`")
        } else if !is_spec_name(manifest.name().as_str()) {
            Some("The name does not follow the specification")
        } else if self.id() != manifest.name().as_str() {
            Some("The name belongs to another skill")
        } else {
            None
        }
    }

    /// Returns why the skill cannot be published although models can load its instructions. `None` if it can be
    /// published, or if models cannot see it.
    pub fn instructions_only_reason(&self) -> Option<&'static str> {
        self.unpublishable_reason().filter(|_| self.is_visible())
    }
}

impl Loader {
    /// Returns a skill as it is published to another host. Digests are cached; a file is read again only when it
    /// changed.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`Entry::unpublishable_reason`], or if the skill has more than 512 files or 16 MiB, a file that
    /// cannot be read or keeps changing, or fields that do not meet the specification.
    pub fn publish(&self, entry: &Entry<'_>) -> Result<Publication, Error> {
        log_refusal(entry, SKILL_FILE, self.build_publication(entry))
    }

    /// Returns the files of a publishable skill, sorted by path. Opens no file.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`Entry::unpublishable_reason`], or if the skill has more than 512 files or 16 MiB, or a folder
    /// that cannot be listed.
    pub fn published_files(&self, entry: &Entry<'_>) -> Result<Vec<SkillFile>, Error> {
        log_refusal(entry, SKILL_FILE, publishable_files(entry))
    }

    fn build_publication(&self, entry: &Entry<'_>) -> Result<Publication, Error> {
        let files = publishable_files(entry)?;
        let mut publication = Publication {
            frontmatter: Fields::default(),
            files: Vec::with_capacity(files.len()),
        };
        for file in files {
            let (size, digest) = if file.kind == FileKind::Instructions {
                let content = read_whole(entry, &file.path)?;
                publication.frontmatter = publishable_frontmatter(entry, &content.bytes)?;
                (content.bytes.len() as u64, Digest::sha256(&content.bytes))
            } else {
                self.size_and_digest(entry, &file.path)?
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

    /// Returns the size and the digest of a file, which is read unless the digest of its revision is cached.
    fn size_and_digest(
        &self,
        entry: &Entry<'_>,
        path: &ResourcePath,
    ) -> Result<(u64, Digest), Error> {
        let now = self.now();
        let (source, folder) = (entry.root().source(), &entry.skill().folder);
        let revision = source.read(folder, path, 0..0)?.state.revision;
        if let Some(digest) = self.digests().get(&revision) {
            return Ok((revision.size(), digest));
        }
        let content = read_whole(entry, path)?;
        let digest = Digest::sha256(&content.bytes);
        self.digests().insert(content.state.revision, digest, now);
        Ok((content.bytes.len() as u64, digest))
    }
}

/// Returns the files of a skill, if it can be published.
fn publishable_files(entry: &Entry<'_>) -> Result<Vec<SkillFile>, Error> {
    let refused = |refusal, rule| Error::refused(entry.id(), refusal, rule);
    if let Some(rule) = entry.unpublishable_reason() {
        return Err(refused(Refusal::NotPublishable, rule));
    }
    let FileList {
        files, findings, ..
    } = list_all(entry, usize::MAX)?;
    if let Some(finding) = findings.iter().find(|it| it.leaves_out_files()) {
        let message = finding.diagnostic.message.clone();
        return Err(Error::invalid(entry.id(), message));
    }
    if files.len() > MAX_FILES {
        return Err(refused(
            Refusal::TooLarge,
            "The skill has more than 512 files",
        ));
    }
    let bytes: u64 = files.iter().map(|file| file.size).sum();
    if bytes > MAX_BYTES {
        return Err(refused(
            Refusal::TooLarge,
            "The skill's files have more than 16 MiB",
        ));
    }
    Ok(files)
}

/// Reads a whole file; refuses one that changes during the read.
fn read_whole(entry: &Entry<'_>, path: &ResourcePath) -> Result<FileBytes, Error> {
    let source = entry.root().source();
    // One byte more reveals that the file grew.
    let content = source.read(&entry.skill().folder, path, 0..MAX_BYTES + 1)?;
    let bytes = content.bytes.len() as u64;
    if content.state.stability == Stability::Changing || bytes != content.state.revision.size() {
        let rule = "The file kept changing while it was read, or grew over the limit; try again";
        return Err(Error::refused(path.as_str(), Refusal::Changing, rule));
    }
    Ok(content)
}

/// Returns the raw frontmatter, if another host would accept it as that of the skill.
fn publishable_frontmatter(entry: &Entry<'_>, bytes: &[u8]) -> Result<Fields, Error> {
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
        let rule = "The field `name` is not a string that is the skill's name";
        return Err(Error::refused(entry.id(), Refusal::NotPublishable, rule));
    }
    if text("description").is_none_or(str::is_empty) {
        let rule = "The field `description` is not a string";
        return Err(Error::refused(entry.id(), Refusal::NotPublishable, rule));
    }
    Ok(fields)
}
