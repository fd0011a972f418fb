//! The instructions of a skill, read from its file.

use std::borrow::Cow;
use std::sync::Arc;

use crate::catalog::entry::Entry;
use crate::codes::{Code, Severity};
use crate::diagnostic::{Diagnostic, Report, quoted_path};
use crate::error::{Error, Refusal};
use crate::limits::BYTES_PER_TOKEN;
use crate::load::arguments::{Arguments, Dialect};
use crate::load::envelope::{Envelope, EnvelopeParts};
use crate::read::discover::{FoundFolder, Skill, to_found_folder};
use crate::read::manifest::Manifest;
use crate::read::parse::parse_with;
use crate::source::{FileState, Revision, SKILL_FILE, Stability};

/// Whether to load a skill whose file had to be repaired or has an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strictness {
    /// Load it.
    #[default]
    Lenient,
    /// Refuse it, with the findings.
    Strict,
}

/// The instructions of a skill, with the arguments filled in.
#[derive(Clone, PartialEq, Eq)]
pub struct Instructions {
    id: Box<str>,
    skill: Arc<Skill>,
    base_dir: Option<Box<str>>,
    /// The line with the base directory, if there is one, and the instructions.
    text: Box<str>,
    /// Byte offset of the instructions in `text`.
    body_start: usize,
    /// The instructions as they are in the file, if filling in the arguments changed them.
    raw: Option<Box<str>>,
    notes: Box<[Diagnostic]>,
}

impl Instructions {
    /// Reads the instructions of a skill through its source.
    pub(super) fn read(
        entry: &Entry<'_>,
        arguments: &str,
        dialect: Dialect,
        strictness: Strictness,
    ) -> Result<(Self, FileState), Error> {
        let limits = &entry.catalog().options().read.walk.limits;
        let limit = usize::try_from(limits.read_bytes).unwrap_or(usize::MAX);
        let file = || format!("{}/{SKILL_FILE}", entry.skill().folder);
        let mut bytes = Vec::new();
        let source = entry.root().source();
        let max_bytes = limit.saturating_add(1);
        let state = source.head(&entry.skill().folder, max_bytes, &mut bytes)?;
        if bytes.len() > limit {
            let rule = "The instructions are longer than the limit, and are never cut";
            return Err(Error::refused(file(), Refusal::TooLarge, rule));
        }
        let mut notes = Vec::new();
        let skill = current_skill(entry, &bytes, state, &mut notes)?;
        let start = usize::try_from(skill.body_start).unwrap_or(usize::MAX);
        let raw = decode_body(bytes.get(start..).unwrap_or_default(), &mut notes);
        if strictness == Strictness::Strict {
            check_strict(entry.id(), &skill, &notes)?;
        }
        let base_dir = base_dir(entry, &mut notes);
        let filled = Arguments::new(dialect, arguments, &skill.manifest, base_dir.as_deref())
            .fill(&raw, limit)
            .ok_or_else(|| {
                let rule = "The instructions with their arguments are longer than the limit";
                Error::refused(file(), Refusal::TooLarge, rule)
            })?;
        let parts = EnvelopeParts {
            body: &filled,
            base_dir: base_dir.as_deref(),
            ..EnvelopeParts::default()
        };
        let text: Box<str> = Envelope::Plain.render(&parts).text.into();
        let is_changed = matches!(filled, Cow::Owned(_));
        let raw = is_changed.then(|| raw.clone().into_owned().into());
        let instructions = Self {
            id: entry.id().into(),
            body_start: text.len() - filled.len(),
            base_dir,
            text,
            raw,
            skill,
            notes: notes.into(),
        };
        Ok((instructions, state))
    }

    /// Returns the id of the skill.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the manifest of the file that was read.
    pub fn manifest(&self) -> &Manifest {
        &self.skill.manifest
    }

    /// Returns the skill as parsed from the file that was read.
    pub fn skill(&self) -> &Arc<Skill> {
        &self.skill
    }

    /// Returns the revision of the file that was read.
    pub fn revision(&self) -> Revision {
        self.skill.revision
    }

    /// Returns the path of the skill's folder, if its root is in the file system. The skill's file paths are relative
    /// to it.
    pub fn base_dir(&self) -> Option<&str> {
        self.base_dir.as_deref()
    }

    /// Returns the text for a model: `Base directory for this skill: ...`, a blank line, and the [body](Self::body);
    /// only the body if the skill has no folder.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the instructions with the arguments filled in, or appended where there is no placeholder.
    pub fn body(&self) -> &str {
        &self.text[self.body_start..]
    }

    /// Returns the instructions as they are in the file, without the frontmatter.
    pub fn raw(&self) -> &str {
        self.raw.as_deref().unwrap_or_else(|| self.body())
    }

    /// Returns an estimate of the body's tokens, from its size in bytes.
    pub fn tokens(&self) -> u64 {
        (self.body().len() as u64).div_ceil(BYTES_PER_TOKEN)
    }

    /// Returns the ids of the skills that this one requires to be loaded first.
    pub fn requires(&self) -> &[Box<str>] {
        self.skill.manifest.requires()
    }

    /// Returns findings about this load, such as that the file changed since discovery or that bytes were replaced.
    pub fn notes(&self) -> &[Diagnostic] {
        &self.notes
    }

    /// Returns the approximate memory use in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        let texts = [Some(&self.text), self.raw.as_ref(), self.base_dir.as_ref()];
        let text_bytes: usize = texts.into_iter().flatten().map(|text| text.len()).sum();
        size_of::<Self>() + text_bytes + self.id.len()
    }
}

debug!(Instructions, "Instructions", |it| "id": it.id, "bytes": it.body().len());

/// Returns the skill that the file contains now: the discovered one, unless the file changed since.
fn current_skill(
    entry: &Entry<'_>,
    bytes: &[u8],
    state: FileState,
    notes: &mut Vec<Diagnostic>,
) -> Result<Arc<Skill>, Error> {
    let known = entry.skill();
    let is_equal = state.revision == known.revision && state.stability == Stability::Stable;
    if is_equal && entry.is_settled() {
        return Ok(Arc::clone(known));
    }
    let options = &entry.catalog().options().read;
    let folder = known.folder.clone();
    let parsed = parse_with(bytes, folder.name(), options.reader, &options.walk.limits);
    match to_found_folder(known.source, folder, parsed, state) {
        // The file may be half written. Once it is settled, a refresh finds the skill without a description.
        FoundFolder::Skill(skill) if known.describes_itself() && !skill.describes_itself() => {
            let what = "changed since it was found, and has no description any more";
            let message = format!("{} {what}", quoted_path(entry.id()));
            Err(Error::malformed(message, skill.diagnostics.clone()))
        }
        FoundFolder::Skill(skill) => {
            if state.stability == Stability::Changing {
                let message = "File kept changing while it was read";
                notes.report(Code::Changing, None, message);
            }
            if state.revision != known.revision || skill.manifest != known.manifest {
                let message = format!("{} changed since it was found", quoted_path(entry.id()));
                notes.report(Code::ChangedSince, None, message);
            }
            Ok(skill)
        }
        FoundFolder::Refused(refused) => Err(Error::malformed(
            format!(
                "{} changed since it was found, and is no longer a valid skill",
                quoted_path(entry.id())
            ),
            refused.diagnostics.clone(),
        )),
    }
}

/// Decodes the instructions; bytes that are not UTF-8 are replaced, with a note.
fn decode_body<'a>(body: &'a [u8], notes: &mut Vec<Diagnostic>) -> Cow<'a, str> {
    // Fast path: nearly all bodies are valid UTF-8.
    if let Ok(text) = str::from_utf8(body) {
        return Cow::Borrowed(text);
    }
    let message = "Instructions have bytes that are not UTF-8";
    notes.report(Code::BodyNotUtf8, None, message);
    String::from_utf8_lossy(body)
}

/// Refuses a skill that was repaired or has an error.
fn check_strict(id: &str, skill: &Skill, notes: &[Diagnostic]) -> Result<(), Error> {
    let all = || skill.diagnostics.iter().chain(notes);
    let is_fatal = |finding: &Diagnostic| {
        finding.severity == Severity::Error
            || matches!(finding.code, Code::BodyNotUtf8 | Code::Changing)
    };
    if !skill.repaired && !all().any(is_fatal) {
        return Ok(());
    }
    let message = format!("{} has errors, and loading is strict", quoted_path(id));
    Err(Error::malformed(message, all().cloned().collect()))
}

/// Returns the path of the skill's folder, if it has one and the path is UTF-8.
fn base_dir(entry: &Entry<'_>, notes: &mut Vec<Diagnostic>) -> Option<Box<str>> {
    let path = entry.base_dir()?;
    let text = path.to_str();
    if text.is_none() {
        let message = "Path of the skill's folder is not UTF-8, and is not given";
        notes.report(Code::BaseDirNotUtf8, None, message);
    }
    text.map(Into::into)
}
